//! Local cuts: what the chosen sites of a small window weigh at least, found exactly, as a row of the relaxation of a larger one.
//!
//! A round asks many small windows for a cut, adds those that the point violates, and solves again. There are two kinds of windows:
//!
//! - *priced*, for the first round of a program that is small enough to be solved as a whole: what binds is dealt to groups
//!   ([`crate::deal`]), and each is asked for its least choice at its prices. Together these cuts raise the bound by all that the groups
//!   have gained at once. In a large program deep windows and their copies ([`crate::repeats`]) gain as much in a third of the time;
//! - *deep*, for all others: the deepest cut at the point ([`crate::deepest_cut`]) of sites that hang together, so many of them
//!   fractional. Small windows first, since many of them take no time; larger ones when these give little more.
//!
//! A cut carries its proof, so that the relaxation with cuts has a certificate as it has without.
//!
//! Cost: a tree of some dozens of nodes for each priced window, some dozens of small trees for each deep one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use noisy_solver::{Basis, Optimum};

use crate::anneal::Random;
use crate::branch::Effort;
use crate::certificate::{Cut, Row};
use crate::cores::Cores;
use crate::deal::{Binding, adjacency, deal, shuffle};
use crate::deepest_cut::deepest_cut;
use crate::graph::{Graph, NONE};
use crate::limits::Budget;
use crate::partition::grow;
use crate::relax::Tight;
use crate::repeats::{Copies, Repeats};
use crate::window::{Fixed, Window};
use crate::workers::side_by_side;

/// Sites of a priced window, and the units that their mean weight has.
const PRICED: usize = 120;
const UNIT: f64 = 4096.0;
/// A priced window is given up after so many nodes; a bound so much below its best choice will do.
const NODES: usize = 200;
const TOLERANCE: u64 = 64;
/// Fractional sites of a deep window, to begin with and at last.
pub(crate) const DEEP: [usize; 2] = [16, 64];
/// Rounds that raise the bound by less than this part are too many after so many.
const LITTLE: i128 = 20000;
const PATIENCE: usize = 3;
/// Copies are looked for so many times in a round, each violated by at least this part of its least weight, and taken while one of its
/// sites is in fewer than so many.
const COPIES: usize = 4;
const DEPTH: f64 = 1e-2;
const SHARE: u8 = 3;
/// Idle rows are dropped every so many rounds.
const DROP: usize = 6;

/// Where a tightening goes on later.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    rounds: usize,
    /// The size of the next deep windows.
    size: usize,
    n_little: usize,
    rows: Vec<Row>,
    basis: Basis,
}

impl Resume {
    /// From the start, with some rows that are known.
    pub(crate) fn new(rows: Vec<Row>) -> Resume {
        Resume { rows, size: DEEP[0], ..Resume::default() }
    }

    /// After the priced round, with deep windows of so many fractional sites.
    pub(crate) fn later(rows: Vec<Row>, size: usize) -> Resume {
        Resume { rounds: 1, size, ..Resume::new(rows) }
    }

    /// The rows that are known by now.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Whether nothing more is to be expected.
    pub(crate) fn is_done(&self) -> bool {
        self.size > DEEP[1]
    }
}

/// How a tightening works.
pub(crate) struct Way<'w> {
    pub weights: &'w [u64],
    /// A legal choice, by column.
    pub known: &'w [bool],
    /// So many windows are asked at a time.
    pub n_workers: usize,
    /// At most so many rounds.
    pub rounds: usize,
    /// Cuts that are known of the whole graph.
    pub repeats: &'w Repeats,
}

impl Window<'_, '_> {
    /// Raises the bound of the relaxation by rounds of local cuts. `tell` is told of each better bound, and says whether to go on.
    /// `None` when it ended early.
    pub(crate) fn tighten(
        &mut self,
        way: &Way,
        resume: &mut Resume,
        tell: &mut dyn FnMut(&Tight) -> bool,
        budget: &mut Budget,
    ) -> Option<()> {
        self.set_weights(way.weights)?;
        self.add(resume.rows.drain(..))?;
        if resume.basis.rows.len() == self.rows.len() {
            self.lp.set_basis(&resume.basis).ok()?;
        }
        let mut best = Tight::default();
        let mut answer = self.relaxed(way.weights, &mut best, tell, budget)?;
        for _ in 0..way.rounds {
            if resume.is_done() || budget.is_spent() {
                break;
            }
            let start = best.bound;
            for _ in 0..COPIES {
                let before = best.bound;
                let copies = self.copies(way.repeats, budget);
                if copies.is_empty() {
                    break;
                }
                self.add(copies)?;
                answer = self.relaxed(way.weights, &mut best, tell, budget)?;
                if best.bound - before < before / LITTLE {
                    break;
                }
            }
            let mut random = Random::new(1 + resume.rounds as u64);
            let is_priced = resume.rounds == 0;
            let mut jobs = if is_priced {
                self.priced(way, &answer, &mut random)
            } else {
                self.deep(way.known, &answer, resume.size, &mut random)
            };
            run(self.graph, self.cores, &mut jobs, way.n_workers, budget);
            let cuts: Vec<Row> = jobs.into_iter().filter_map(|it| it.cut).collect();
            resume.rounds += 1;
            let before = start;
            if !cuts.is_empty() {
                way.repeats.learn(self.graph, &cuts);
                self.add(cuts)?;
                answer = self.relaxed(way.weights, &mut best, tell, budget)?;
            }
            let is_little = best.bound - before < before / LITTLE;
            if is_little && !is_priced {
                resume.n_little += 1;
                if resume.n_little >= PATIENCE {
                    (resume.n_little, resume.size) = (0, resume.size * 2);
                }
            } else {
                resume.n_little = 0;
            }
            if resume.rounds.is_multiple_of(DROP) {
                self.drop_idle(&answer)?;
            }
        }
        resume.basis = self.lp.basis().unwrap_or_default();
        resume.rows.clone_from(&self.rows);
        Some(())
    }

    /// Solves and separates cores until none is violated.
    fn relaxed(
        &mut self,
        weights: &[u64],
        best: &mut Tight,
        tell: &mut dyn FnMut(&Tight) -> bool,
        budget: &mut Budget,
    ) -> Option<Optimum> {
        let fixed = vec![Fixed::Open; self.sites.len()];
        loop {
            let answer = self.solve(budget)?;
            let proven = self.certified(weights, &fixed, &answer);
            if proven.bound > best.bound {
                let rows = proven.list.iter().map(|&(row, y)| (self.rows[row as usize].clone(), y));
                let rows = Arc::new(rows.collect());
                *best = Tight { bound: proven.bound, rows, reduced: proven.reduced };
                if !tell(best) {
                    return None;
                }
            }
            self.set_point(&answer.values);
            if self.separate(1e-4, budget)? == 0 || budget.is_spent() {
                return Some(answer);
            }
        }
    }

    /// Copies of cuts that are known, where the point violates them: the deepest first, each site in a few of them only.
    fn copies(&self, repeats: &Repeats, budget: &mut Budget) -> Vec<Row> {
        let patterns = repeats.patterns();
        let mut out = Vec::new();
        if patterns.is_empty() {
            return out;
        }
        let graph = self.graph;
        let nodes = self.sites.iter().flat_map(|&s| graph.nodes_of.of(s).iter().copied());
        let by_color = repeats.by_color(nodes);
        let mut copies = Copies::new(repeats, graph);
        let value = |s: u32| {
            let is_inside = s != NONE && self.column[s as usize] != NONE;
            is_inside.then(|| self.x[s as usize])
        };
        let mut found: Vec<(f64, usize, u32)> = Vec::new();
        for (at, pattern) in patterns.iter().enumerate() {
            for &start in repeats.starts(&by_color, pattern) {
                let depth = copies.violation(pattern, start, value);
                found.extend(depth.filter(|it| *it > DEPTH).map(|depth| (depth, at, start)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut uses = vec![0_u8; self.sites.len()];
        for (_, at, start) in found {
            if budget.is_spent() {
                break;
            }
            let Some(row) = copies.copy(self.cores, &patterns[at], start) else { continue };
            let mut is_fresh = false;
            row.for_each(|s, _| is_fresh |= uses[self.column[s as usize] as usize] < SHARE);
            if is_fresh {
                row.for_each(|s, _| {
                    let uses = &mut uses[self.column[s as usize] as usize];
                    *uses = uses.saturating_add(1);
                });
                out.push(row);
            }
        }
        budget.spend(copies.work);
        out
    }

    fn binding(&self, answer: &Optimum) -> Vec<Binding<'_>> {
        let most = answer.multipliers.iter().copied().fold(0.0, f64::max);
        let rows = self.rows.iter().zip(&self.terms).zip(&answer.multipliers);
        rows.filter(|it| *it.1 > most * 1e-9)
            .map(|((row, terms), &y)| Binding { terms, y: y / row.least() as f64 })
            .collect()
    }

    /// Windows at the prices of groups; not those whose cut cannot be violated.
    fn priced(&self, way: &Way, answer: &Optimum, random: &mut Random) -> Vec<Job> {
        let costs: Vec<f64> = way.weights.iter().map(|&it| it as f64).collect();
        let mean = costs.iter().sum::<f64>() / costs.len().max(1) as f64;
        let groups = deal(&costs, &self.binding(answer), &self.neighbors(), PRICED, random);
        let mut inside = vec![false; costs.len()];
        let mut jobs = Vec::new();
        for group in groups {
            let priced = group.columns.iter().zip(&group.prices);
            let priced = priced.map(|(&at, price)| (at, (price / mean * UNIT).round() as u64));
            let (columns, weights): (Vec<u32>, Vec<u64>) = priced.filter(|it| it.1 > 0).unzip();
            let is_whole = |&at: &u32| is_whole(answer.values[at as usize]);
            if !columns.iter().all(is_whole) {
                let wanted = Wanted::Least(weights);
                jobs.push(self.job(&columns, way.known, answer, wanted, &mut inside));
            }
        }
        jobs
    }

    /// Windows with so many fractional columns, and those around them that the point does not choose.
    fn deep(&self, known: &[bool], answer: &Optimum, size: usize, random: &mut Random) -> Vec<Job> {
        let x = &answer.values;
        let n = x.len();
        let is_open = |at: usize| x[at] < 1.0 - 1e-6;
        let weight: Vec<usize> = x.iter().map(|&x| usize::from(!is_whole(x))).collect();
        let mut adjacency = adjacency(&self.binding(answer), &self.neighbors());
        for (at, list) in adjacency.iter_mut().enumerate() {
            list.retain(|it| is_open(at) && is_open(it.0 as usize));
        }
        let mut seeds: Vec<u32> = (0..n as u32).filter(|&at| weight[at as usize] > 0).collect();
        shuffle(&mut seeds, random);
        let group_of = grow(&adjacency, &weight, size, seeds.into_iter());
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (at, &group) in (0..).zip(&group_of).filter(|it| *it.1 != NONE) {
            if groups.len() <= group as usize {
                groups.resize(group as usize + 1, Vec::new());
            }
            groups[group as usize].push(at);
        }
        // What has fewer has no cut.
        groups.retain(|it| it.iter().map(|&at| weight[at as usize]).sum::<usize>() >= 3);
        let mut inside = vec![false; n];
        groups
            .iter()
            .map(|columns| self.job(columns, known, answer, Wanted::Deepest, &mut inside))
            .collect()
    }

    fn job(
        &self,
        columns: &[u32],
        known: &[bool],
        answer: &Optimum,
        wanted: Wanted,
        inside: &mut [bool],
    ) -> Job {
        for &at in columns {
            inside[at as usize] = true;
        }
        // Cuts of cuts would be proofs within proofs.
        let rows = self.rows.iter().zip(&self.terms).filter(|(row, terms)| {
            matches!(row, Row::Core(_)) && terms.iter().all(|it| inside[it.0 as usize])
        });
        let rows = rows.map(|it| it.0.clone()).collect();
        for &at in columns {
            inside[at as usize] = false;
        }
        Job {
            sites: columns.iter().map(|&at| self.sites[at as usize]).collect(),
            point: columns.iter().map(|&at| answer.values[at as usize].clamp(0.0, 1.0)).collect(),
            known: columns.iter().map(|&at| known[at as usize]).collect(),
            rows,
            wanted,
            cut: None,
        }
    }

    /// The columns next to each, through one node.
    fn neighbors(&self) -> Vec<Vec<u32>> {
        let column = |s: u32| Some(self.column[s as usize]).filter(|&at| at != NONE);
        self.sites.iter().map(|&s| neighbors(self.graph, s).filter_map(column).collect()).collect()
    }
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6
}

/// The sites next to a site, through one node.
pub(crate) fn neighbors(graph: &Graph, s: u32) -> impl Iterator<Item = u32> + '_ {
    let near = |&v: &u32| graph.users.of(v).iter().chain(graph.operands.of(v));
    let near = graph.nodes_of.of(s).iter().flat_map(near).map(|&w| graph.site[w as usize]);
    near.filter(move |&it| it != NONE && it != s)
}

/// What a small window is asked for.
enum Wanted {
    /// Its least choice at these weights.
    Least(Vec<u64>),
    Deepest,
}

/// A small window that is to be asked.
struct Job {
    sites: Vec<u32>,
    /// The point, by site.
    point: Vec<f64>,
    /// A legal choice, by site.
    known: Vec<bool>,
    /// Cores within it.
    rows: Vec<Row>,
    wanted: Wanted,
    cut: Option<Row>,
}

/// Asks windows, some at a time; one after the other if work is counted.
fn run<'g>(
    graph: &'g Graph,
    cores: &mut Cores<'g>,
    jobs: &mut [Job],
    n_workers: usize,
    budget: &mut Budget,
) {
    let jobs: Vec<Mutex<&mut Job>> = jobs.iter_mut().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    side_by_side(n_workers.min(jobs.len()), cores, budget, |cores, budget| {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
            job.ask(graph, cores, budget);
        }
    });
}

impl Job {
    fn ask<'g>(&mut self, graph: &'g Graph, cores: &mut Cores<'g>, budget: &mut Budget) {
        if !budget.is_spent() {
            self.cut = self.answer(graph, cores, budget);
        }
    }

    /// A cut that the point violates.
    fn answer<'g>(
        &mut self,
        graph: &'g Graph,
        cores: &mut Cores<'g>,
        budget: &mut Budget,
    ) -> Option<Row> {
        let mut window = Window::new(graph, cores, self.sites.clone())?;
        window.add(self.rows.drain(..))?;
        let Wanted::Least(weights) = &self.wanted else {
            return deepest_cut(&mut window, &self.point, &self.known, budget);
        };
        let effort = Effort { nodes: NODES, tolerance: TOLERANCE, enough: 0 };
        let known = Some(self.known.clone());
        let proof = window.least(weights, known, effort, &mut |_, _, _| (), budget)?.proof;
        let now: f64 = weights.iter().zip(&self.point).map(|(&it, x)| it as f64 * x).sum();
        let least = proof.bound;
        (least as f64 > now * (1.0 + 1e-4) + 1.0).then(|| {
            let terms = self.sites.iter().copied().zip(weights.iter().copied()).collect();
            Row::Cut(Arc::new(Cut { terms, least, proof }))
        })
    }
}
