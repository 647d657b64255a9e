//! Local cuts: what the chosen sites of a small window weigh at least, found exactly, as a row of the relaxation of a larger one.
//!
//! A round first adds halves of sums of rows ([`crate::zero_half`]) as long as they raise the bound: they are found wherever they lie, at the price
//! of a solve. Then it asks many small windows for the deepest cut at the point ([`crate::deepest_cut`]), adds what they have, and solves again.
//! There are two kinds of windows:
//!
//! - the sites of a half that the point violates still, where few of them are fractional: what hangs together by several long cores;
//! - sites that hang together by what binds, so many of them fractional. Small windows first, since many of them take no time; larger
//!   ones when these give little more.
//!
//! A cut carries its proof, so that the relaxation with cuts has a certificate as it has without.
//!
//! Cost: that of the solves, and some dozens of small trees for each window.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use noisy_solver::{Basis, Optimum};

use crate::anneal::Random;
use crate::certificate::{Cut, Proof, Row};
use crate::cores::Cores;
use crate::deal::{Binding, adjacency, shuffle};
use crate::deepest_cut::deepest_cut;
use crate::fixed_point::SCALE;
use crate::graph::{Graph, NONE};
use crate::limits::Budget;
use crate::partition::grow;
use crate::relax::{SPARE, Tight};
use crate::repeats::{Copies, Repeats};
use crate::window::{Fixed, Window};
use crate::workers::side_by_side;
use crate::zero_half::{Whole, zero_half};

/// Fractional sites of a deep window, to begin with and at last.
pub(crate) const DEEP: [usize; 2] = [16, 64];
/// Rounds that raise the bound by less than this part are too many after so many.
const LITTLE: i128 = 20000;
const PATIENCE: usize = 3;
/// Rounds that together raise it by less than this part are slow.
const SLOW: i128 = 100;
/// Where halves are looked for, cores are while a solve raises it by more than this part: the last of them take most of the solves.
const TAIL: i128 = 5000;
/// Copies are looked for so many times in a round, each violated by at least this part of its least weight, and taken while one of its
/// sites is in fewer than so many.
const COPIES: usize = 4;
const DEPTH: f64 = 1e-2;
const SHARE: u8 = 3;
/// And rows rest there that spare more than this part of their least weight. In parts of large programs solves are fast as it is.
const REST: f64 = 1e-2;
/// Halves are looked for again while they raise the bound by more than this part.
const ENOUGH: i128 = 2000;
/// Of each so many, a quarter of whose columns at least are in fewer than so many others.
const MOST: usize = 150;
const USES: u8 = 6;
/// Weights of rows that are halved: those of a deepest cut are no small numbers.
const PLAIN: u64 = 16;
/// The sites of a half are a window where so many of them at most are fractional.
const WINDOW: usize = 24;

/// Where a tightening goes on later.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    rounds: usize,
    /// The size of the next deep windows.
    size: usize,
    n_little: usize,
    /// The last rounds together raised the bound little.
    is_slow: bool,
    rows: Vec<Row>,
    basis: Basis,
}

impl Resume {
    /// From the start, with some rows that are known and deep windows of so many fractional sites.
    pub(crate) fn new(rows: Vec<Row>, size: usize) -> Resume {
        Resume { size, rows, ..Resume::default() }
    }

    /// The rows that are known by now.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// The basis of the relaxation over them.
    pub(crate) fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Takes in rows that hold.
    pub(crate) fn learn(&mut self, rows: Vec<Row>) {
        if !self.basis.rows.is_empty() {
            self.basis.rows.resize(self.rows.len() + rows.len(), Basis::BASIC);
        }
        self.rows.extend(rows);
    }

    /// Whether the last rounds gave little.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
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
    /// Halves are looked for so many times in a round.
    pub halves: usize,
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
            self.set_basis(&resume.basis)?;
        }
        let mut best = Tight::default();
        let mut answer = self.relaxed(way, &mut best, tell, budget)?;
        let begin = best.bound;
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
                answer = self.relaxed(way, &mut best, tell, budget)?;
                if best.bound - before < before / LITTLE {
                    break;
                }
            }
            let mut random = Random::new(1 + resume.rounds as u64);
            let mut halves = Vec::new();
            for looks in 0..way.halves {
                let before = best.bound;
                if looks > 0 {
                    self.add(std::mem::take(&mut halves))?;
                    answer = self.relaxed(way, &mut best, tell, budget)?;
                }
                halves = self.halves(&answer, &mut random, budget);
                let is_little = looks > 0 && best.bound - before < before / ENOUGH;
                if is_little || halves.is_empty() || budget.is_spent() {
                    break;
                }
            }
            let mut jobs = self.deep(way.known, &answer, resume.size, &mut random);
            jobs.extend(self.around(way.known, &answer, halves));
            run(self.graph, self.cores, &mut jobs, way.n_workers, budget);
            let (mut cuts, mut halves) = (Vec::new(), Vec::new());
            for job in jobs {
                match job.cut {
                    Some(cut) => cuts.push(cut),
                    None => halves.extend(job.half),
                }
            }
            resume.rounds += 1;
            if !cuts.is_empty() || !halves.is_empty() {
                way.repeats.learn(self.graph, &cuts);
                self.add(cuts)?;
                self.add(halves)?;
                answer = self.relaxed(way, &mut best, tell, budget)?;
            }
            if best.bound - start < start / LITTLE {
                resume.n_little += 1;
                if resume.n_little >= PATIENCE {
                    (resume.n_little, resume.size) = (0, resume.size * 2);
                }
            } else {
                resume.n_little = 0;
            }
        }
        resume.is_slow = best.bound - begin < begin / SLOW;
        resume.basis = self.basis().unwrap_or_default();
        resume.rows.clone_from(&self.rows);
        Some(())
    }

    /// Solves and separates cores until none is violated, or they add little.
    fn relaxed(
        &mut self,
        way: &Way,
        best: &mut Tight,
        tell: &mut dyn FnMut(&Tight) -> bool,
        budget: &mut Budget,
    ) -> Option<Optimum> {
        let fixed = vec![Fixed::Open; self.sites.len()];
        let rest = if way.halves > 0 { REST } else { SPARE };
        let (mut dropped, mut earlier) = (0, 0);
        loop {
            let mut answer = self.solve(budget)?;
            let proven = self.certified(way.weights, &fixed, &answer);
            if proven.bound > best.bound {
                let rows = proven.list.iter().map(|&(row, y)| (self.rows[row as usize].clone(), y));
                let rows = Arc::new(rows.collect());
                *best = Tight { bound: proven.bound, rows, reduced: proven.reduced };
                if !tell(best) {
                    return None;
                }
            }
            // Not where the bound stands still: what is dropped might come again for ever.
            if proven.bound > dropped {
                dropped = proven.bound;
                self.drop_idle(&mut answer, rest)?;
            }
            self.set_point(&answer.values);
            let is_little = way.halves > 0 && proven.bound - earlier < proven.bound / TAIL;
            earlier = proven.bound;
            if is_little || self.separate(1e-4, budget)? == 0 || budget.is_spent() {
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

    /// Halves of sums of rows that the point violates, the deepest first, each with columns that are in few before it.
    pub(crate) fn halves(
        &self,
        answer: &Optimum,
        random: &mut Random,
        budget: &mut Budget,
    ) -> Vec<Row> {
        let rows: Vec<Whole> = (self.rows.iter().zip(&self.terms))
            .filter(|it| is_plain(it.0))
            .map(|(row, terms)| Whole { row, terms, least: row.least() })
            .collect();
        let mut uses = vec![0_u8; self.sites.len()];
        let mut out = Vec::new();
        for half in zero_half(&rows, &answer.values, random, budget) {
            let fresh = half.terms.iter().filter(|it| uses[it.0 as usize] < USES).count();
            if fresh * 4 < half.terms.len() {
                continue;
            }
            half.terms.iter().for_each(|it| uses[it.0 as usize] += 1);
            let terms = half.terms.iter().map(|&(at, weight)| (self.sites[at as usize], weight));
            let terms: Vec<(u32, u64)> = terms.collect();
            let sites = terms.iter().map(|it| it.0).collect();
            let sum = half.rows.iter().map(|&at| (rows[at as usize].row.clone(), 1 << (SCALE - 1)));
            let proof = Proof::by_rows(sites, sum, half.least);
            out.push(Row::Cut(Arc::new(Cut { terms, least: half.least, proof })));
            if out.len() >= MOST {
                break;
            }
        }
        out
    }

    /// Windows around halves, where they are small; the others as they are.
    fn around(&self, known: &[bool], answer: &Optimum, halves: Vec<Row>) -> Vec<Job> {
        let x = &answer.values;
        let mut inside = vec![false; x.len()];
        let job = |half: Row| {
            let mut columns = Vec::new();
            half.for_each(|s, _| columns.push(self.column[s as usize]));
            columns.retain(|&at| x[at as usize] < 1.0 - 1e-6);
            if columns.iter().filter(|&&at| !is_whole(x[at as usize])).count() > WINDOW {
                columns.clear();
            }
            Job { half: Some(half), ..self.job(&columns, known, answer, &mut inside) }
        };
        halves.into_iter().map(job).collect()
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
        groups.iter().map(|columns| self.job(columns, known, answer, &mut inside)).collect()
    }

    fn job(&self, columns: &[u32], known: &[bool], answer: &Optimum, inside: &mut [bool]) -> Job {
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
            half: None,
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

/// A core, or a cut that is proven by cores, in small numbers: proofs within proofs within proofs would grow out of hand.
fn is_plain(row: &Row) -> bool {
    match row {
        Row::Core(_) => true,
        Row::Cut(cut) => {
            let is_core = |row: &Row| matches!(row, Row::Core(_));
            cut.terms.iter().all(|it| it.1 <= PLAIN) && cut.proof.rows.iter().all(is_core)
        }
        // It does not hold everywhere.
        Row::CoreWhere(_) => false,
    }
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
    /// What it is around; none, or it is too large for a window.
    half: Option<Row>,
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
        if !budget.is_spent() && !self.sites.is_empty() {
            self.cut = self.answer(graph, cores, budget);
        }
    }

    /// The deepest cut.
    fn answer<'g>(
        &mut self,
        graph: &'g Graph,
        cores: &mut Cores<'g>,
        budget: &mut Budget,
    ) -> Option<Row> {
        let mut window = Window::new(graph, cores, self.sites.clone())?;
        window.add(self.rows.drain(..))?;
        deepest_cut(&mut window, &self.point, &self.known, budget)
    }
}
