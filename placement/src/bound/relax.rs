//! The linear relaxation over conflict cores: a bound for instances of any size, verified in
//! integers.
//!
//! Start without rows; solve; separate violated cores ([`crate::bound::cores`]); add them; repeat
//! until none is violated. Rows that are not binding any more are dropped. After each solve the
//! multipliers `y >= 0` of the rows give a bound that does not depend on the correctness of the
//! solver: for any multipliers, every choice that hits all cores costs at least
//!
//! ```text
//! sum of y  +  sum over sites s of min(0, cost(s) - sum of y over the cores with s)
//! ```
//!
//! computed in integers after rounding the multipliers down. With multipliers 0 and 1, this is a
//! packing: `k` disjoint cores prove that `k` sites are needed.
//!
//! *Clusters.* The simplex method takes superlinear time, and most cores are local. So a large
//! graph is first partitioned into clusters ([`crate::bound::partition`]), each with the cores
//! inside it. The sum of their bounds is an early bound. Their optimal bases together are an
//! optimal basis for all their rows, which is the start for larger clusters, and finally for the
//! whole.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bound::cores::CoreSeparator;
use crate::bound::partition::{self, Cluster};
use crate::bound::workers::{n_workers, run_on_workers};
use crate::certificate::{Proof, ProofRow, SCALE, ceil_cost};
use crate::question::graph::NoiseGraph;
use crate::question::limits::EffortBudget;
use crate::search::incumbent::{Incumbent, ProofSource, SourceKind};
use noisy_solver::{Basis, Column, LinearProgram, Optimum};

/// Sites per cluster, by level. A graph with less than three times the first size is solved as a
/// whole.
const CLUSTER_SIZES: [usize; 3] = [400, 8000, 40_000];
/// Sites per cluster if local cuts follow. A graph with more than three times the last size is then
/// not solved as a whole, because cuts of its parts ([`crate::bound::cost_partition`]) gain more in
/// the same time.
const CLUSTER_SIZES_BEFORE_CUTS: [usize; 2] = [400, 2000];

/// Solves the relaxation within the budget, offers bounds to the incumbent, and returns the
/// relaxation over all sites. `None` if the solver fails or the clusters are not finished.
pub(crate) fn relax(
    cores: &mut CoreSeparator,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> Option<Relaxation> {
    let n_workers = n_workers(budget);
    let (sizes, most_sites): (&[usize], usize) = match (budget.steps.partition, budget.steps.cuts) {
        (true, true) => (&CLUSTER_SIZES_BEFORE_CUTS, 3 * CLUSTER_SIZES_BEFORE_CUTS[1]),
        (true, false) => (&CLUSTER_SIZES, usize::MAX),
        (false, _) => (&[], usize::MAX),
    };
    relax_in_clusters(&Clustering { sizes, most_sites, n_workers }, cores, incumbent, budget)
}

/// The parameters of the clusters.
struct Clustering<'a> {
    /// Sites per cluster, level by level.
    sizes: &'a [usize],
    /// Above this number of sites, a graph with clusters is not solved as a whole.
    most_sites: usize,
    /// The number of clusters that are solved at the same time.
    n_workers: usize,
}

/// Like [`relax`], with given parameters of the clusters.
fn relax_in_clusters(
    &Clustering { sizes, most_sites, n_workers }: &Clustering,
    cores: &mut CoreSeparator,
    incumbent: &Incumbent,
    budget: &mut EffortBudget,
) -> Option<Relaxation> {
    let graph = cores.graph;
    let n = graph.n_sites();
    let all =
        Cluster { sites: (0..n as u32).collect(), nodes: graph.order.clone(), pieces: Vec::new() };
    let mut start = WarmStart { statuses: vec![0; n], solved: Vec::new(), n_workers };
    let n_levels = sizes.iter().take_while(|&&size| n >= 3 * size).count();
    if n_levels > 0 {
        for clusters in partition::cluster_levels(graph, &sizes[..n_levels]) {
            start.solve_level(clusters, cores, incumbent, budget)?;
        }
    }
    let pieces: Vec<usize> = (0..start.solved.len()).collect();
    let before = start.take_pieces(&pieces);
    let ledger = Arc::new(BoundLedger::new(n, vec![(before.bound, before.proof.clone())]));
    incumbent.set_source(SourceKind::Relaxation, ledger.clone());
    if n_levels > 0 && n > most_sites {
        let mut whole = Relaxation::new(graph, all.sites, all.nodes)?;
        whole.take(graph, before);
        return Some(whole);
    }
    let mut whole = Relaxation::warm_started(graph, all, before, &start.statuses)?;
    drop(start);
    whole.solve_rounds(cores, &LedgerEntry { ledger: &ledger, at: 0, incumbent }, budget)?;
    Some(whole)
}

/// A row without a multiplier is dropped if its slack at the point, relative to its least weight,
/// is larger than this: it will not become binding soon, and each row makes solves slower.
pub(crate) const MAX_IDLE_SLACK: f64 = 0.1;
/// A cluster ends after a round that raises its bound by less than `bound / ENOUGH`.
const ENOUGH: i128 = 200;

/// The results of the clusters of a level, for the level above: together an optimal basis of all
/// their rows.
struct WarmStart {
    /// Basis status of the column of each site, in the encoding of the solver.
    statuses: Vec<std::ffi::c_int>,
    solved: Vec<SolvedCluster>,
    /// The number of clusters that are solved at the same time.
    n_workers: usize,
}

/// Rows with their multipliers, times `2^SCALE`.
pub(crate) type WeightedRows = Arc<Vec<(ProofRow, i128)>>;

/// A bound that multipliers of rows prove for some columns, in units of `2^-SCALE` times the unit
/// of their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct DualBound {
    pub bound: i128,
    /// The rows that prove the bound.
    pub rows: WeightedRows,
    /// The reduced cost of each column.
    pub reduced: Vec<i128>,
}

impl DualBound {
    /// Returns the bound that rows prove for the costs of all sites.
    pub(crate) fn new(graph: &NoiseGraph, rows: WeightedRows) -> DualBound {
        let (bound, reduced) = bound_of(graph, rows.iter().map(|it| (&it.0, it.1)));
        DualBound { bound, rows, reduced }
    }

    /// Returns the proof of the bound. The columns must be all sites.
    pub(crate) fn proof(&self) -> Proof {
        let sites = (0..self.reduced.len() as u32).collect();
        Proof::from_multipliers(sites, self.rows.iter().cloned(), ceil_cost(self.bound))
    }
}

/// Returns the bound of the module header, and the reduced cost of each site.
fn bound_of<'r>(
    graph: &NoiseGraph,
    rows: impl Iterator<Item = (&'r ProofRow, i128)>,
) -> (i128, Vec<i128>) {
    let mut reduced: Vec<i128> = graph.cost.iter().map(|&it| i128::from(it) << SCALE).collect();
    let mut bound = 0;
    for (row, y) in rows {
        bound += y * i128::from(row.least());
        row.for_each(|s, weight| reduced[s as usize] -= y * i128::from(weight));
    }
    bound += reduced.iter().map(|&it| it.min(0)).sum::<i128>();
    (bound, reduced)
}

/// The result of one cluster.
#[derive(Default)]
struct SolvedCluster {
    rows: Vec<ProofRow>,
    /// Basis statuses of the rows.
    statuses: Vec<std::ffi::c_int>,
    bound: i128,
    /// The rows that prove the bound.
    proof: WeightedRows,
    /// The sites with the basis statuses of their columns.
    columns: Vec<(u32, std::ffi::c_int)>,
}

/// A cluster of a level, before and after it is solved.
struct ClusterJob {
    /// Taken by the thread that solves it.
    cluster: Option<Cluster>,
    /// First the result of its smaller clusters, then its own result.
    solved: SolvedCluster,
    /// True if the cluster was solved to the end.
    is_done: bool,
}

/// The current bounds of all clusters of a level. Their sum is a bound of the whole.
pub(crate) struct BoundLedger {
    n_sites: usize,
    entries: Mutex<LedgerEntries>,
}

struct LedgerEntries {
    sum: i128,
    of: Vec<(i128, WeightedRows)>,
}

impl BoundLedger {
    pub(crate) fn new(n_sites: usize, of: Vec<(i128, WeightedRows)>) -> BoundLedger {
        let sum = of.iter().map(|it| it.0).sum();
        BoundLedger { n_sites, entries: Mutex::new(LedgerEntries { sum, of }) }
    }
}

impl ProofSource for BoundLedger {
    fn proof(&self) -> Proof {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (bound, of) = (ceil_cost(entries.sum), entries.of.clone());
        drop(entries);
        let rows = of.iter().flat_map(|it| it.1.iter().cloned());
        Proof::from_multipliers((0..self.n_sites as u32).collect(), rows, bound)
    }
}

/// The entry of one cluster in a ledger.
pub(crate) struct LedgerEntry<'a> {
    ledger: &'a BoundLedger,
    at: usize,
    incumbent: &'a Incumbent,
}

impl<'a> LedgerEntry<'a> {
    pub(crate) fn new(
        ledger: &'a BoundLedger,
        at: usize,
        incumbent: &'a Incumbent,
    ) -> LedgerEntry<'a> {
        LedgerEntry { ledger, at, incumbent }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.incumbent.is_proven()
    }

    pub(crate) fn enter(&self, bound: i128, proof: &WeightedRows) {
        let mut entries = self.ledger.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let before = entries.of[self.at].0;
        if bound > before {
            entries.sum += bound - before;
            entries.of[self.at] = (bound, proof.clone());
            let sum = entries.sum;
            drop(entries);
            self.incumbent.raise_bound(ceil_cost(sum));
        }
    }
}

impl WarmStart {
    /// Combines the results of some clusters of the level below.
    fn take_pieces(&mut self, pieces: &[usize]) -> SolvedCluster {
        let mut out = SolvedCluster::default();
        let mut proof = Vec::new();
        for &piece in pieces {
            let mut piece = std::mem::take(&mut self.solved[piece]);
            out.rows.append(&mut piece.rows);
            out.statuses.append(&mut piece.statuses);
            out.bound += piece.bound;
            proof.extend(piece.proof.iter().cloned());
        }
        out.proof = Arc::new(proof);
        out
    }

    /// Solves the clusters of a level concurrently; sequentially if work is limited. `None` if not
    /// all are solved.
    fn solve_level(
        &mut self,
        clusters: Vec<Cluster>,
        cores: &mut CoreSeparator,
        incumbent: &Incumbent,
        budget: &mut EffortBudget,
    ) -> Option<()> {
        let n_sites = cores.graph.n_sites();
        let jobs: Vec<Mutex<ClusterJob>> = clusters
            .into_iter()
            .map(|it| {
                let solved = self.take_pieces(&it.pieces);
                Mutex::new(ClusterJob { cluster: Some(it), solved, is_done: false })
            })
            .collect();
        let entries = jobs.iter().map(|job| {
            let solved = &locked(job).solved;
            (solved.bound, solved.proof.clone())
        });
        let ledger = Arc::new(BoundLedger::new(n_sites, entries.collect()));
        incumbent.set_source(SourceKind::Relaxation, ledger.clone());
        let next = AtomicUsize::new(0);
        let statuses = &self.statuses;
        let work = |cores: &mut CoreSeparator, budget: &mut EffortBudget| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { break };
                if budget.is_spent() || incumbent.is_proven() {
                    break;
                }
                let entry = LedgerEntry { ledger: &ledger, at, incumbent };
                locked(job).solve(statuses, cores, &entry, budget);
            }
        };
        incumbent.with_sleeping_search(1, || {
            run_on_workers(self.n_workers.min(jobs.len()), cores, budget, work);
        });
        let jobs: Vec<ClusterJob> = (jobs.into_iter())
            .map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        if incumbent.is_proven() || jobs.iter().any(|it| !it.is_done) {
            return None;
        }
        for job in jobs {
            for &(s, status) in &job.solved.columns {
                self.statuses[s as usize] = status;
            }
            self.solved.push(job.solved);
        }
        Some(())
    }
}

fn locked(job: &Mutex<ClusterJob>) -> MutexGuard<'_, ClusterJob> {
    job.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClusterJob {
    fn solve(
        &mut self,
        statuses: &[std::ffi::c_int],
        cores: &mut CoreSeparator,
        entry: &LedgerEntry,
        budget: &mut EffortBudget,
    ) {
        let Some(cluster) = self.cluster.take() else { return };
        let mut before = std::mem::take(&mut self.solved);
        let (bound, proof) = (before.bound, std::mem::take(&mut before.proof));
        (self.solved.bound, self.solved.proof) = (bound, proof);
        let graph = cores.graph;
        let Some(mut relaxation) = Relaxation::warm_started(graph, cluster, before, statuses)
        else {
            return;
        };
        let done = relaxation.solve_rounds(cores, entry, budget);
        if relaxation.bound > bound {
            self.solved.bound = relaxation.bound;
            self.solved.proof = relaxation.proof.clone();
        }
        if done.is_none() || budget.is_spent() {
            return;
        }
        let Some(basis) = relaxation.basis() else { return };
        self.solved.columns = relaxation.sites.iter().copied().zip(basis.columns).collect();
        // A row that is not binding is basic. Without the row and its status, the basis is still a
        // basis.
        let binding = relaxation.rows.into_iter().zip(basis.rows);
        (self.solved.rows, self.solved.statuses) =
            binding.filter(|it| it.1 != Basis::BASIC).unzip();
        self.is_done = true;
    }
}

/// The linear program over some sites and the cores among them.
pub(crate) struct Relaxation {
    lp: LinearProgram,
    /// The site of each column.
    pub sites: Vec<u32>,
    /// The column of each site; `u32::MAX` for sites outside of the cluster.
    column: Vec<u32>,
    /// The nodes of the cluster, in the order of the graph.
    nodes: Vec<u32>,
    pub rows: Vec<ProofRow>,
    known: HashSet<ProofRow>,
    /// The point, by site of the graph. It is 1 for sites outside of the cluster, so that no core
    /// with such a site is violated.
    pub x: Vec<f32>,
    /// The best bound, times `2^SCALE`.
    pub bound: i128,
    /// The rows that prove the bound.
    pub proof: WeightedRows,
    /// The reduced cost of each site, times `2^SCALE`.
    pub reduced: Vec<i128>,
    /// The multipliers of the last solution, by row.
    pub last_multipliers: Vec<f64>,
    /// True if no core is violated.
    pub is_complete: bool,
}

impl Relaxation {
    /// Returns the relaxation of a cluster, starting from the basis of its smaller clusters.
    fn warm_started(
        graph: &NoiseGraph,
        cluster: Cluster,
        before: SolvedCluster,
        statuses: &[std::ffi::c_int],
    ) -> Option<Relaxation> {
        let mut relaxation = Relaxation::new(graph, cluster.sites, cluster.nodes)?;
        if !before.rows.is_empty() {
            let columns = relaxation.sites.iter().map(|&s| statuses[s as usize]).collect();
            relaxation.start(before.rows, &Basis { columns, rows: before.statuses })?;
        }
        Some(relaxation)
    }

    fn new(graph: &NoiseGraph, sites: Vec<u32>, nodes: Vec<u32>) -> Option<Relaxation> {
        let columns: Vec<Column> = sites
            .iter()
            .map(|&s| Column {
                cost: graph.cost[s as usize] as f64,
                lower: 0.0,
                upper: 1.0,
                is_integer: false,
            })
            .collect();
        let mut column = vec![u32::MAX; graph.n_sites()];
        let mut x = vec![1.0; graph.n_sites()];
        for (i, &s) in sites.iter().enumerate() {
            column[s as usize] = i as u32;
            x[s as usize] = 0.0;
        }
        Some(Relaxation {
            lp: LinearProgram::new(&columns).ok()?,
            sites,
            column,
            nodes,
            rows: Vec::new(),
            known: HashSet::new(),
            x,
            bound: 0,
            proof: WeightedRows::default(),
            last_multipliers: Vec::new(),
            reduced: graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect(),
            is_complete: false,
        })
    }

    /// Adds the initial rows, and sets a basis over them.
    fn start(&mut self, rows: Vec<ProofRow>, basis: &Basis) -> Option<()> {
        self.add(&rows)?;
        self.known.extend(rows.iter().filter(|row| matches!(row, ProofRow::Core(_))).cloned());
        self.rows = rows;
        self.lp.set_basis(basis).ok()
    }

    fn add(&mut self, rows: &[ProofRow]) -> Option<()> {
        let terms: Vec<Vec<(u32, f64)>> =
            rows.iter().map(|row| row.scaled_terms(|s| self.column[s as usize])).collect();
        self.lp.add_rows(terms.iter().map(|it| (1.0, &it[..]))).ok()
    }

    /// Solves and separates until no core is violated, and enters bounds in the ledger. If the
    /// budget is spent, the results up to then are kept. `None` if the solver fails.
    fn solve_rounds(
        &mut self,
        cores: &mut CoreSeparator,
        entry: &LedgerEntry,
        budget: &mut EffortBudget,
    ) -> Option<()> {
        let graph = cores.graph;
        let mut round = 0_u32;
        let (mut earlier, mut dropped) = (0, 0);
        // With initial rows, a solve comes before the first separation.
        let mut found: Vec<ProofRow> = Vec::new();
        loop {
            if round > 0 || self.rows.is_empty() {
                let (nodes, known) = (&self.nodes, &mut self.known);
                found = cores.separate(nodes, &self.x, 1e-4, known, budget);
                if found.is_empty() {
                    self.is_complete = !budget.is_spent();
                    return Some(());
                }
            }
            if budget.is_spent() {
                return Some(());
            }
            if !found.is_empty() {
                self.add(&found)?;
            }
            self.rows.append(&mut found);
            let Some(answer) = self.lp.solve(&budget.for_solver(self.sites.len())).ok() else {
                return Some(());
            };
            budget.spend_iterations(answer.iterations, self.sites.len());
            for (&s, value) in self.sites.iter().zip(&answer.values) {
                self.x[s as usize] = *value as f32;
            }
            self.certify(graph, &answer);
            entry.enter(self.bound, &self.proof);
            if entry.incumbent.is_proven() {
                return Some(());
            }
            // A cluster only provides a start for the whole, so it ends when gains become small.
            let local = self.sites.len() < graph.n_sites();
            if local && round > 1 && self.bound - earlier < self.bound / ENOUGH {
                return Some(());
            }
            earlier = self.bound;
            round += 1;
            // Rows are dropped only when the bound rises, or in every tenth round. Otherwise the
            // same rows might be dropped and added again in an endless loop.
            if self.bound > dropped || round.is_multiple_of(10) {
                dropped = self.bound;
                self.drop_idle(&answer)?;
            }
        }
    }

    /// Computes the bound of the module header, and keeps it if it is better.
    fn certify(&mut self, graph: &NoiseGraph, answer: &Optimum) {
        let multipliers: Vec<i128> =
            self.rows.iter().zip(&answer.multipliers).map(|(row, &y)| row.multiplier(y)).collect();
        let positive = self.rows.iter().zip(multipliers.iter().copied()).filter(|it| it.1 > 0);
        let (bound, reduced) = bound_of(graph, positive.clone());
        self.last_multipliers.clone_from(&answer.multipliers);
        if bound > self.bound {
            self.bound = bound;
            self.reduced = reduced;
            self.proof = Arc::new(positive.map(|(row, y)| (row.clone(), y)).collect());
        }
    }

    /// Drops the rows without a multiplier that have much slack at the point.
    fn drop_idle(&mut self, answer: &Optimum) -> Option<()> {
        let slack = |row: &ProofRow| {
            let mut value = 0.0;
            row.for_each(|s, weight| value += f64::from(self.x[s as usize]) * weight as f64);
            value / row.least() as f64 - 1.0
        };
        let rows = self.rows.iter().zip(&answer.multipliers);
        let idle: Vec<bool> =
            rows.map(|(row, &y)| y < 1e-9 && slack(row) > MAX_IDLE_SLACK).collect();
        self.lp.remove_rows(&idle).ok()?;
        let mut i = 0;
        let known = &mut self.known;
        self.rows.retain(|row| {
            let keep = !idle[i];
            i += 1;
            if !keep {
                known.remove(row);
            }
            keep
        });
        debug_assert_eq!(self.lp.n_rows(), self.rows.len());
        Some(())
    }

    /// Sets the bound that the clusters proved.
    fn take(&mut self, graph: &NoiseGraph, solved: SolvedCluster) {
        self.bound = solved.bound;
        self.proof = solved.proof;
        self.reduced = bound_of(graph, self.proof.iter().map(|it| (&it.0, it.1))).1;
    }

    /// Returns the best bound with its proof.
    pub(crate) fn dual_bound(&self) -> DualBound {
        let (bound, rows, reduced) = (self.bound, self.proof.clone(), self.reduced.clone());
        DualBound { bound, rows, reduced }
    }

    /// Returns the binding rows.
    pub(crate) fn binding_rows(&self) -> Vec<ProofRow> {
        let rows = self.rows.iter().zip(&self.last_multipliers).filter(|it| *it.1 > 1e-9);
        rows.map(|it| it.0.clone()).collect()
    }

    /// Returns the basis of the last solution.
    fn basis(&mut self) -> Option<Basis> {
        self.lp.basis().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::window_program;
    use crate::question::limits::EnabledSteps;
    use crate::random::Random;

    #[test]
    fn proves_the_same_bound_with_any_number_of_threads() {
        let graph = NoiseGraph::new(&window_program(&mut Random::new(21), 700));
        let (n, stop) = (graph.n_sites(), || false);
        let run = |sizes: &[usize], n_workers| {
            let incumbent = Incumbent::new(graph.cost_of(&vec![true; n]), vec![true; n]);
            let mut cores = CoreSeparator::new(&graph);
            let mut budget =
                EffortBudget { stop: &stop, remaining: u64::MAX, steps: EnabledSteps::default() };
            let clustering = Clustering { sizes, most_sites: usize::MAX, n_workers };
            let it = relax_in_clusters(&clustering, &mut cores, &incumbent, &mut budget).unwrap();
            assert!(it.is_complete);
            // The clusters did not enter a higher bound on the way.
            assert_eq!(incumbent.lower(), ceil_cost(it.bound));
            assert_eq!(incumbent.proof().bound, incumbent.lower());
            (it.bound, it.proof)
        };
        let one = run(&[50, 200], 1);
        assert!(ceil_cost(one.0) > 50);
        for n_workers in [2, 3, 8] {
            assert!(run(&[50, 200], n_workers) == one, "{n_workers} at a time");
        }
        // Without clusters, the bound is the same up to rounding.
        assert_eq!(ceil_cost(run(&[], 1).0), ceil_cost(one.0));
    }
}
