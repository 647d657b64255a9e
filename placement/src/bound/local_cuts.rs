//! Local cuts: the exact least weight of the chosen sites of a small local problem is a valid row
//! of a larger relaxation.
//!
//! A round first adds zero-half cuts ([`crate::bound::zero_half`]) while they raise the bound;
//! their search covers the whole problem, but each attempt costs a solve. Then the round solves
//! many small local problems for the deepest cut at the point ([`crate::bound::deepest_cut`]), adds
//! these cuts, and solves the relaxation again. There are two kinds of local problems:
//!
//! - the sites of a zero-half cut, if few of them are fractional. Several long cores connect them;
//! - connected groups of a given number of fractional sites, grown along the binding rows. Small
//!   groups come first, because they are fast, and larger ones when the small ones gain little.
//!
//! A cut contains its proof, so a relaxation with cuts has a certificate too.
//!
//! Cost: the solves, and dozens of small trees for each local problem.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use noisy_solver::{Basis, Optimum};

use crate::bound::cores::CoreSeparator;
use crate::bound::cost_shares::{BindingRow, adjacency};
use crate::bound::cut_patterns::{CutPatterns, PatternMatcher};
use crate::bound::deepest_cut::deepest_cut;
use crate::bound::local_problem::{ColumnDecision, LocalProblem};
use crate::bound::partition::grow_groups;
use crate::bound::relax::{DualBound, MAX_IDLE_SLACK};
use crate::bound::workers::run_on_workers;
use crate::bound::zero_half::{IntegerRow, zero_half};
use crate::certificate::{Cut, Proof, ProofRow, SCALE};
use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::limits::EffortBudget;
use crate::random::Random;

/// Number of fractional sites of a grown local problem: initial and maximum.
pub(crate) const LOCAL_SIZES: [usize; 2] = [16, 64];
/// A round gains little if it raises the bound by less than `bound / LITTLE`. After `PATIENCE`
/// consecutive rounds with little gain, local problems become larger.
const LITTLE: i128 = 20000;
const PATIENCE: usize = 3;
/// Rounds are slow if together they raise the bound by less than `bound / SLOW`.
const SLOW: i128 = 100;
/// With zero-half cuts, the separation of cores ends when a solve raises the bound by less than
/// `bound / TAIL`, because the last separations take most of the solves.
const TAIL: i128 = 5000;
/// Copies of cuts are searched at most `COPIES` times per round. A copy must be violated by at
/// least `DEPTH`, relative to its least weight, and have a site that is in fewer than `SHARE` other
/// copies.
const COPIES: usize = 4;
const DEPTH: f64 = 1e-2;
const SHARE: u8 = 3;
/// With zero-half cuts, rows with more slack than this, relative to their least weight, rest: they
/// are removed from the solver until a point violates them. Without zero-half cuts (in parts of
/// large programs), solves are fast enough.
const REST_SLACK: f64 = 1e-2;
/// Zero-half cuts are searched again while they raise the bound by at least `bound / ENOUGH`.
const ENOUGH: i128 = 2000;
/// Maximum number of zero-half cuts at a time. At least a quarter of the columns of each cut must
/// be in fewer than `MAX_USES` other cuts.
const MAX_ZERO_HALF_CUTS: usize = 150;
const MAX_USES: u8 = 6;
/// Largest weight in rows for zero-half cuts. Weights of deepest cuts are larger.
const MAX_PLAIN_WEIGHT: u64 = 16;
/// Maximum number of fractional sites of a zero-half cut whose sites become a local problem.
const MAX_FRACTIONAL_SITES: usize = 24;

/// The progress of a tightening, so that it can be continued later.
#[derive(Debug, Default)]
pub(crate) struct CutProgress {
    rounds: usize,
    /// The size of the next grown local problems.
    size: usize,
    n_little: usize,
    /// True if the last call raised the bound only a little (`SLOW`).
    is_slow: bool,
    rows: Vec<ProofRow>,
    basis: Basis,
}

impl CutProgress {
    /// Returns the initial progress with some valid rows, and with grown local problems of `size`
    /// fractional sites.
    pub(crate) fn new(rows: Vec<ProofRow>, size: usize) -> CutProgress {
        CutProgress { size, rows, ..CutProgress::default() }
    }

    /// Returns all known rows.
    pub(crate) fn rows(&self) -> &[ProofRow] {
        &self.rows
    }

    /// Returns all known rows.
    pub(crate) fn into_rows(self) -> Vec<ProofRow> {
        self.rows
    }

    /// Returns the basis of the relaxation over [`CutProgress::rows`].
    pub(crate) fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Adds valid rows.
    pub(crate) fn add_rows(&mut self, rows: Vec<ProofRow>) {
        if !self.basis.rows.is_empty() {
            self.basis.rows.resize(self.rows.len() + rows.len(), Basis::BASIC);
        }
        self.rows.extend(rows);
    }

    /// Returns true if the last call raised the bound only a little.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Returns true if no further gain is expected.
    pub(crate) fn is_done(&self) -> bool {
        self.size > LOCAL_SIZES[1]
    }
}

/// The parameters of a tightening.
pub(crate) struct CutSettings<'w> {
    pub weights: &'w [u64],
    /// A legal choice, by column.
    pub known: &'w [bool],
    /// Number of local problems that are solved concurrently.
    pub n_workers: usize,
    /// Maximum number of rounds.
    pub rounds: usize,
    /// Maximum number of attempts at zero-half cuts per round.
    pub zero_half_attempts: usize,
    /// Patterns of cuts in the whole graph.
    pub patterns: &'w CutPatterns,
}

impl LocalProblem<'_, '_> {
    /// Raises the bound of the relaxation with rounds of local cuts. `tell` is called with each
    /// better bound and returns false to end the tightening. `None` if `tell` returned false or the
    /// solver failed.
    pub(crate) fn tighten(
        &mut self,
        settings: &CutSettings,
        progress: &mut CutProgress,
        tell: &mut dyn FnMut(&DualBound) -> bool,
        budget: &mut EffortBudget,
    ) -> Option<()> {
        self.set_weights(settings.weights)?;
        self.add_rows(progress.rows.drain(..))?;
        if progress.basis.rows.len() == self.rows.len() {
            self.set_basis(&progress.basis)?;
        }
        let mut best = DualBound::default();
        let mut answer = self.solve_and_separate(settings, &mut best, tell, budget)?;
        let begin = best.bound;
        for _ in 0..settings.rounds {
            if progress.is_done() || budget.is_spent() {
                break;
            }
            let start = best.bound;
            for _ in 0..COPIES {
                let before = best.bound;
                let copies = self.violated_copies(settings.patterns, budget);
                if copies.is_empty() {
                    break;
                }
                self.add_rows(copies)?;
                answer = self.solve_and_separate(settings, &mut best, tell, budget)?;
                if best.bound - before < before / LITTLE {
                    break;
                }
            }
            let mut random = Random::new(1 + progress.rounds as u64);
            let mut halves = Vec::new();
            for looks in 0..settings.zero_half_attempts {
                let before = best.bound;
                if looks > 0 {
                    self.add_rows(std::mem::take(&mut halves))?;
                    answer = self.solve_and_separate(settings, &mut best, tell, budget)?;
                }
                halves = self.zero_half_cuts(&answer, &mut random, budget);
                let is_little = looks > 0 && best.bound - before < before / ENOUGH;
                if is_little || halves.is_empty() || budget.is_spent() {
                    break;
                }
            }
            let mut jobs = self.grown_jobs(settings.known, &answer, progress.size, &mut random);
            jobs.extend(self.jobs_around_cuts(settings.known, &answer, halves));
            run_jobs(self.cores, &mut jobs, settings.n_workers, budget);
            let (mut cuts, mut halves) = (Vec::new(), Vec::new());
            for job in jobs {
                match job.cut {
                    Some(cut) => cuts.push(cut),
                    None => halves.extend(job.half),
                }
            }
            progress.rounds += 1;
            if !cuts.is_empty() || !halves.is_empty() {
                settings.patterns.add_cuts(self.graph, &cuts);
                self.add_rows(cuts)?;
                self.add_rows(halves)?;
                answer = self.solve_and_separate(settings, &mut best, tell, budget)?;
            }
            if best.bound - start < start / LITTLE {
                progress.n_little += 1;
                if progress.n_little >= PATIENCE {
                    (progress.n_little, progress.size) = (0, progress.size * 2);
                }
            } else {
                progress.n_little = 0;
            }
        }
        progress.is_slow = best.bound - begin < begin / SLOW;
        progress.basis = self.basis().unwrap_or_default();
        progress.rows.clone_from(&self.rows);
        Some(())
    }

    /// Solves the relaxation and separates cores until no core is violated or the gain is small.
    fn solve_and_separate(
        &mut self,
        settings: &CutSettings,
        best: &mut DualBound,
        tell: &mut dyn FnMut(&DualBound) -> bool,
        budget: &mut EffortBudget,
    ) -> Option<Optimum> {
        let fixed = vec![ColumnDecision::Open; self.sites.len()];
        let rest = if settings.zero_half_attempts > 0 { REST_SLACK } else { MAX_IDLE_SLACK };
        let (mut dropped, mut earlier) = (0, 0);
        loop {
            let mut answer = self.solve(budget)?;
            let proven = self.multiplier_bound(settings.weights, &fixed, &answer);
            if proven.bound > best.bound {
                let rows = proven.list.iter().map(|&(row, y)| (self.rows[row as usize].clone(), y));
                let rows = Arc::new(rows.collect());
                *best = DualBound { bound: proven.bound, rows, reduced: proven.reduced };
                if !tell(best) {
                    return None;
                }
            }
            // Rows are dropped only when the bound rises. Otherwise the same rows might be dropped
            // and added again in an endless loop.
            if proven.bound > dropped {
                dropped = proven.bound;
                self.drop_idle(&mut answer, rest)?;
            }
            self.set_point(&answer.values);
            let is_little =
                settings.zero_half_attempts > 0 && proven.bound - earlier < proven.bound / TAIL;
            earlier = proven.bound;
            if is_little || self.separate(1e-4, budget)? == 0 || budget.is_spent() {
                return Some(answer);
            }
        }
    }

    /// Returns copies of known cuts that the point violates, the deepest first. Each site is in
    /// only a few of them.
    fn violated_copies(&self, repeats: &CutPatterns, budget: &mut EffortBudget) -> Vec<ProofRow> {
        let patterns = repeats.patterns();
        let mut out = Vec::new();
        if patterns.is_empty() {
            return out;
        }
        let graph = self.graph;
        let nodes = self.sites.iter().flat_map(|&s| graph.nodes_of.of(s).iter().copied());
        let by_color = repeats.by_color(nodes);
        let mut copies = PatternMatcher::new(repeats, graph);
        let value = |s: u32| {
            let is_inside = s != NO_INDEX && self.column[s as usize] != NO_INDEX;
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

    fn binding(&self, answer: &Optimum) -> Vec<BindingRow<'_>> {
        let most = answer.multipliers.iter().copied().fold(0.0, f64::max);
        let rows = self.rows.iter().zip(&self.terms).zip(&answer.multipliers);
        rows.filter(|it| *it.1 > most * 1e-9)
            .map(|((row, terms), &y)| BindingRow { terms, y: y / row.least() as f64 })
            .collect()
    }

    /// Returns zero-half cuts that the point violates, the deepest first. Each one has columns that
    /// are in few preceding cuts.
    pub(crate) fn zero_half_cuts(
        &self,
        answer: &Optimum,
        random: &mut Random,
        budget: &mut EffortBudget,
    ) -> Vec<ProofRow> {
        let rows: Vec<IntegerRow> = (self.rows.iter().zip(&self.terms))
            .filter(|it| is_plain(it.0))
            .map(|(row, terms)| IntegerRow { row, terms, least: row.least() })
            .collect();
        let mut uses = vec![0_u8; self.sites.len()];
        let mut out = Vec::new();
        for half in zero_half(&rows, &answer.values, random, budget) {
            let fresh = half.terms.iter().filter(|it| uses[it.0 as usize] < MAX_USES).count();
            if fresh * 4 < half.terms.len() {
                continue;
            }
            half.terms.iter().for_each(|it| uses[it.0 as usize] += 1);
            let terms = half.terms.iter().map(|&(at, weight)| (self.sites[at as usize], weight));
            let terms: Vec<(u32, u64)> = terms.collect();
            let sites = terms.iter().map(|it| it.0).collect();
            let sum = half.rows.iter().map(|&at| (rows[at as usize].row.clone(), 1 << (SCALE - 1)));
            let proof = Proof::from_multipliers(sites, sum, half.least);
            out.push(ProofRow::Cut(Arc::new(Cut { terms, least: half.least, proof })));
            if out.len() >= MAX_ZERO_HALF_CUTS {
                break;
            }
        }
        out
    }

    /// Returns local problems for the sites of zero-half cuts. A cut with too many fractional sites
    /// gets an empty local problem, and the cut itself is used.
    fn jobs_around_cuts(
        &self,
        known: &[bool],
        answer: &Optimum,
        halves: Vec<ProofRow>,
    ) -> Vec<CutJob> {
        let x = &answer.values;
        let mut inside = vec![false; x.len()];
        let job = |half: ProofRow| {
            let mut columns = Vec::new();
            half.for_each(|s, _| columns.push(self.column[s as usize]));
            columns.retain(|&at| x[at as usize] < 1.0 - 1e-6);
            if columns.iter().filter(|&&at| !is_whole(x[at as usize])).count()
                > MAX_FRACTIONAL_SITES
            {
                columns.clear();
            }
            CutJob { half: Some(half), ..self.job(&columns, known, answer, &mut inside) }
        };
        halves.into_iter().map(job).collect()
    }

    /// Returns connected local problems with `size` fractional columns and the adjacent columns
    /// with value 0 at the point.
    fn grown_jobs(
        &self,
        known: &[bool],
        answer: &Optimum,
        size: usize,
        random: &mut Random,
    ) -> Vec<CutJob> {
        let x = &answer.values;
        let n = x.len();
        let is_open = |at: usize| x[at] < 1.0 - 1e-6;
        let weight: Vec<usize> = x.iter().map(|&x| usize::from(!is_whole(x))).collect();
        let mut adjacency = adjacency(&self.binding(answer), &self.neighbors());
        for (at, list) in adjacency.iter_mut().enumerate() {
            list.retain(|it| is_open(at) && is_open(it.0 as usize));
        }
        let mut seeds: Vec<u32> = (0..n as u32).filter(|&at| weight[at as usize] > 0).collect();
        random.shuffle(&mut seeds);
        let group_of = grow_groups(&adjacency, &weight, size, seeds.into_iter());
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (at, &group) in (0..).zip(&group_of).filter(|it| *it.1 != NO_INDEX) {
            if groups.len() <= group as usize {
                groups.resize(group as usize + 1, Vec::new());
            }
            groups[group as usize].push(at);
        }
        // There are no useful cuts for fewer fractional columns.
        groups.retain(|it| it.iter().map(|&at| weight[at as usize]).sum::<usize>() >= 3);
        let mut inside = vec![false; n];
        groups.iter().map(|columns| self.job(columns, known, answer, &mut inside)).collect()
    }

    fn job(
        &self,
        columns: &[u32],
        known: &[bool],
        answer: &Optimum,
        inside: &mut [bool],
    ) -> CutJob {
        for &at in columns {
            inside[at as usize] = true;
        }
        // Only cores are used, because cuts that are proven with cuts would need nested proofs.
        let rows = self.rows.iter().zip(&self.terms).filter(|(row, terms)| {
            matches!(row, ProofRow::Core(_)) && terms.iter().all(|it| inside[it.0 as usize])
        });
        let rows = rows.map(|it| it.0.clone()).collect();
        for &at in columns {
            inside[at as usize] = false;
        }
        CutJob {
            sites: columns.iter().map(|&at| self.sites[at as usize]).collect(),
            point: columns.iter().map(|&at| answer.values[at as usize].clamp(0.0, 1.0)).collect(),
            known: columns.iter().map(|&at| known[at as usize]).collect(),
            rows,
            half: None,
            cut: None,
        }
    }

    /// Returns the neighbors of each column: columns of sites of adjacent nodes.
    fn neighbors(&self) -> Vec<Vec<u32>> {
        let column = |s: u32| Some(self.column[s as usize]).filter(|&at| at != NO_INDEX);
        self.sites.iter().map(|&s| neighbors(self.graph, s).filter_map(column).collect()).collect()
    }
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6
}

/// Returns the neighbors of a site: the sites of the operands and users of its nodes.
pub(crate) fn neighbors(graph: &NoiseGraph, s: u32) -> impl Iterator<Item = u32> + '_ {
    let near = |&v: &u32| graph.users.of(v).iter().chain(graph.operands.of(v));
    let near = graph.nodes_of.of(s).iter().flat_map(near).map(|&w| graph.site[w as usize]);
    near.filter(move |&it| it != NO_INDEX && it != s)
}

/// Returns true for a core, or a cut with small weights that is proven with cores only: deeper
/// nesting of proofs would grow without bound.
fn is_plain(row: &ProofRow) -> bool {
    match row {
        ProofRow::Core(_) => true,
        ProofRow::Cut(cut) => {
            let is_core = |row: &ProofRow| matches!(row, ProofRow::Core(_));
            cut.terms.iter().all(|it| it.1 <= MAX_PLAIN_WEIGHT)
                && cut.proof.rows.iter().all(is_core)
        }
        // A conditional core is valid only under its assumptions.
        ProofRow::CoreWhere(_) => false,
    }
}

/// The task of finding the deepest cut of a small local problem.
struct CutJob {
    sites: Vec<u32>,
    /// The point, by site.
    point: Vec<f64>,
    /// A legal choice, by site.
    known: Vec<bool>,
    /// Cores inside the local problem.
    rows: Vec<ProofRow>,
    /// The zero-half cut with these sites. If `sites` is empty, the cut is too large for a local
    /// problem.
    half: Option<ProofRow>,
    cut: Option<ProofRow>,
}

/// Solves local problems concurrently; sequentially if work is limited.
fn run_jobs(
    cores: &mut CoreSeparator,
    jobs: &mut [CutJob],
    n_workers: usize,
    budget: &mut EffortBudget,
) {
    let jobs: Vec<Mutex<&mut CutJob>> = jobs.iter_mut().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    run_on_workers(n_workers.min(jobs.len()), cores, budget, |cores, budget| {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
            job.run(cores, budget);
        }
    });
}

impl CutJob {
    fn run(&mut self, cores: &mut CoreSeparator, budget: &mut EffortBudget) {
        if !budget.is_spent() && !self.sites.is_empty() {
            self.cut = self.deepest_cut(cores, budget);
        }
    }

    /// Finds the deepest cut.
    fn deepest_cut(
        &mut self,
        cores: &mut CoreSeparator,
        budget: &mut EffortBudget,
    ) -> Option<ProofRow> {
        let mut local = LocalProblem::new(cores, self.sites.clone())?;
        local.add_rows(self.rows.drain(..))?;
        deepest_cut(&mut local, &self.point, &self.known, budget)
    }
}
