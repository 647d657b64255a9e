//! The linear relaxation over conflict cores: a bound for any size, in integers.
//!
//! Start without rows; solve; separate violated cores ([`crate::cores`]); add them; repeat until none is violated.
//! Rows that stopped binding are dropped now and then. After each solve the multipliers `y >= 0` of the rows
//! give a bound that does not trust the solver: whatever they are, every choice that hits all cores costs at
//! least
//!
//! ```text
//! sum of y  +  sum over sites s of min(0, cost(s) - sum of y over the cores with s)
//! ```
//!
//! computed in integers after rounding the multipliers down. Where every core counts once this is a packing: `k`
//! disjoint cores prove that `k` sites are needed.
//!
//! *Clusters.* The simplex method is superlinear, and most cores are local. So a large graph is first cut into clusters
//! ([`crate::partition`]), each with the cores that lie wholly in it. Their bounds add up, so there is a bound early;
//! and their optimal bases together are an optimal basis of all their rows, from which larger clusters, and at last the whole, go on.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::certificate::{Proof, Row};
use crate::cores::Cores;
use crate::fixed_point::{SCALE, ceil_cost};
use crate::graph::Graph;
use crate::incumbent::{Incumbent, Of, Source};
use crate::limits::Budget;
use crate::partition::{self, Cluster};
use crate::workers::{side_by_side, workers};
use noisy_solver::{Basis, Column, LinearProgram, Optimum};

/// Sites per cluster, level by level; what has less than three times the first is solved whole at once.
const SIZES: [usize; 3] = [400, 8000, 40_000];
/// The same where local cuts follow: what has three times the last is not solved whole, for cuts gain more in its parts
/// ([`crate::cost_partition`]) than larger clusters in the same time.
const BEFORE_CUTS: [usize; 2] = [400, 2000];

/// Solves the relaxation as far as the budget goes, posting bounds, and gives the program over all sites. `None` when the solver fails
/// at once.
pub(crate) fn relax(
    graph: &Graph,
    cores: &mut Cores,
    incumbent: &Incumbent,
    budget: &mut Budget,
) -> Option<Program> {
    let n_workers = workers(budget);
    let (sizes, most): (&[usize], usize) = match (budget.steps.partition, budget.steps.cuts) {
        (true, true) => (&BEFORE_CUTS, 3 * BEFORE_CUTS[1]),
        (true, false) => (&SIZES, usize::MAX),
        (false, _) => (&[], usize::MAX),
    };
    relax_with(graph, cores, incumbent, budget, sizes, most, n_workers)
}

/// [`relax`] with clusters of some sizes, so many at a time, and not as a whole beyond so many sites.
fn relax_with(
    graph: &Graph,
    cores: &mut Cores,
    incumbent: &Incumbent,
    budget: &mut Budget,
    sizes: &[usize],
    most: usize,
    n_workers: usize,
) -> Option<Program> {
    let n = graph.n_sites();
    let all =
        Cluster { sites: (0..n as u32).collect(), nodes: graph.order.clone(), pieces: Vec::new() };
    let mut start = Start { statuses: vec![0; n], solved: Vec::new(), n_workers };
    let n_levels = sizes.iter().take_while(|&&size| n >= 3 * size).count();
    if n_levels > 0 {
        for clusters in partition::levels(graph, &sizes[..n_levels]) {
            start.level(graph, clusters, cores, incumbent, budget)?;
        }
    }
    let pieces: Vec<usize> = (0..start.solved.len()).collect();
    let before = start.take(&pieces);
    let ledger = Arc::new(Ledger::new(n, vec![(before.bound, before.proof.clone())]));
    incumbent.ask(Of::Relaxation, ledger.clone());
    if n_levels > 0 && n > most {
        let mut whole = Program::new(graph, all.sites, all.nodes)?;
        whole.take(graph, before);
        return Some(whole);
    }
    let mut whole = Program::begin(graph, all, before, &start.statuses)?;
    drop(start);
    whole.rounds(graph, cores, &Post { ledger: &ledger, at: 0, incumbent }, budget)?;
    Some(whole)
}

/// A row without a multiplier is dropped where the point has so much more than it needs: it would not bind soon, and each row makes a
/// solve slower.
pub(crate) const SPARE: f64 = 0.1;
/// A round in a cluster that gains less than this part of its bound is its last.
const ENOUGH: i128 = 200;

/// What the clusters of a level leave to the level above: an optimal basis of all their rows.
struct Start {
    /// Of the columns, by site, in the solver's numbers.
    statuses: Vec<std::ffi::c_int>,
    solved: Vec<Solved>,
    /// How many clusters are solved at a time.
    n_workers: usize,
}

/// Rows with their multipliers, times `2^SCALE`.
pub(crate) type Weighed = Arc<Vec<(Row, i128)>>;

/// What multipliers on rows prove of some columns, in units of `2^-SCALE` of their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tight {
    pub bound: i128,
    /// The rows that prove it.
    pub rows: Weighed,
    /// What is left of the weight of each column then.
    pub reduced: Vec<i128>,
}

impl Tight {
    /// The proof of the bound, where the columns are all sites.
    pub(crate) fn proof(&self) -> Proof {
        let sites = (0..self.reduced.len() as u32).collect();
        Proof::by_rows(sites, self.rows.iter().cloned(), ceil_cost(self.bound))
    }
}

/// What one cluster leaves.
#[derive(Default)]
struct Solved {
    rows: Vec<Row>,
    /// Of the rows.
    statuses: Vec<std::ffi::c_int>,
    bound: i128,
    /// The rows that prove the bound.
    proof: Weighed,
    /// The sites with the statuses of their columns.
    columns: Vec<(u32, std::ffi::c_int)>,
}

/// A cluster of a level, before it is solved and after.
struct Job {
    /// Taken by whoever solves it.
    cluster: Option<Cluster>,
    /// What its pieces left, and then what it leaves.
    solved: Solved,
    /// It was solved as far as is wanted.
    is_done: bool,
}

/// What is proven of each cluster of a level, as it grows.
pub(crate) struct Ledger {
    n_sites: usize,
    entries: Mutex<Entries>,
}

struct Entries {
    sum: i128,
    of: Vec<(i128, Weighed)>,
}

impl Ledger {
    pub(crate) fn new(n_sites: usize, of: Vec<(i128, Weighed)>) -> Ledger {
        let sum = of.iter().map(|it| it.0).sum();
        Ledger { n_sites, entries: Mutex::new(Entries { sum, of }) }
    }
}

impl Source for Ledger {
    fn proof(&self) -> Proof {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (bound, of) = (ceil_cost(entries.sum), entries.of.clone());
        drop(entries);
        let rows = of.iter().flat_map(|it| it.1.iter().cloned());
        Proof::by_rows((0..self.n_sites as u32).collect(), rows, bound)
    }
}

/// Where a program enters what it proves.
pub(crate) struct Post<'a> {
    ledger: &'a Ledger,
    at: usize,
    incumbent: &'a Incumbent,
}

impl<'a> Post<'a> {
    pub(crate) fn new(ledger: &'a Ledger, at: usize, incumbent: &'a Incumbent) -> Post<'a> {
        Post { ledger, at, incumbent }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.incumbent.is_proven()
    }

    pub(crate) fn enter(&self, bound: i128, proof: &Weighed) {
        let mut entries = self.ledger.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let before = entries.of[self.at].0;
        if bound > before {
            entries.sum += bound - before;
            entries.of[self.at] = (bound, proof.clone());
            let sum = entries.sum;
            drop(entries);
            self.incumbent.prove(ceil_cost(sum));
        }
    }
}

impl Start {
    /// What some pieces left, together.
    fn take(&mut self, pieces: &[usize]) -> Solved {
        let mut out = Solved::default();
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

    /// Solves the clusters of a level, some at a time; one after the other if work is counted. Their bounds add up. `None` when
    /// something is left undone.
    fn level(
        &mut self,
        graph: &Graph,
        clusters: Vec<Cluster>,
        cores: &mut Cores,
        incumbent: &Incumbent,
        budget: &mut Budget,
    ) -> Option<()> {
        let jobs: Vec<Mutex<Job>> = clusters
            .into_iter()
            .map(|it| {
                let solved = self.take(&it.pieces);
                Mutex::new(Job { cluster: Some(it), solved, is_done: false })
            })
            .collect();
        let entries = jobs.iter().map(|job| {
            let solved = &locked(job).solved;
            (solved.bound, solved.proof.clone())
        });
        let ledger = Arc::new(Ledger::new(graph.n_sites(), entries.collect()));
        incumbent.ask(Of::Relaxation, ledger.clone());
        let next = AtomicUsize::new(0);
        let statuses = &self.statuses;
        let work = |cores: &mut Cores, budget: &mut Budget| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { break };
                if budget.is_spent() || incumbent.is_proven() {
                    break;
                }
                let post = Post { ledger: &ledger, at, incumbent };
                locked(job).solve(graph, statuses, cores, &post, budget);
            }
        };
        incumbent.crowd(1, || side_by_side(self.n_workers.min(jobs.len()), cores, budget, work));
        let jobs: Vec<Job> = (jobs.into_iter())
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

fn locked(job: &Mutex<Job>) -> MutexGuard<'_, Job> {
    job.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    fn solve(
        &mut self,
        graph: &Graph,
        statuses: &[std::ffi::c_int],
        cores: &mut Cores,
        post: &Post,
        budget: &mut Budget,
    ) {
        let Some(cluster) = self.cluster.take() else { return };
        let mut before = std::mem::take(&mut self.solved);
        let (bound, proof) = (before.bound, std::mem::take(&mut before.proof));
        (self.solved.bound, self.solved.proof) = (bound, proof);
        let Some(mut program) = Program::begin(graph, cluster, before, statuses) else { return };
        let done = program.rounds(graph, cores, post, budget);
        if program.bound > bound {
            self.solved.bound = program.bound;
            self.solved.proof = program.proof.clone();
        }
        if done.is_none() || budget.is_spent() {
            return;
        }
        let Some(basis) = program.basis() else { return };
        self.solved.columns = program.sites.iter().copied().zip(basis.columns).collect();
        // A row that does not bind is basic: without both the basis is one still.
        let binding = program.rows.into_iter().zip(basis.rows);
        (self.solved.rows, self.solved.statuses) =
            binding.filter(|it| it.1 != Basis::BASIC).unzip();
        self.is_done = true;
    }
}

/// A linear program over some sites and the cores among them.
pub(crate) struct Program {
    lp: LinearProgram,
    /// Its columns as sites.
    pub sites: Vec<u32>,
    /// Sites as columns; `u32::MAX` for those outside.
    column: Vec<u32>,
    /// The nodes it looks at, in their order.
    nodes: Vec<u32>,
    pub rows: Vec<Row>,
    known: HashSet<Row>,
    /// The point, per site of the graph; 1 outside, so that no core with such a site is violated.
    pub x: Vec<f32>,
    /// The best bound, times `2^SCALE`.
    pub bound: i128,
    /// The rows that prove it.
    pub proof: Weighed,
    /// What is left of the cost of each site then, times `2^SCALE`.
    pub reduced: Vec<i128>,
    /// The multipliers of the last solution, row by row.
    pub last: Vec<f64>,
    /// No core is violated.
    pub complete: bool,
}

impl Program {
    /// The program of a cluster, beginning where its pieces ended.
    fn begin(
        graph: &Graph,
        cluster: Cluster,
        before: Solved,
        statuses: &[std::ffi::c_int],
    ) -> Option<Program> {
        let mut program = Program::new(graph, cluster.sites, cluster.nodes)?;
        if !before.rows.is_empty() {
            let columns = program.sites.iter().map(|&s| statuses[s as usize]).collect();
            program.start(before.rows, &Basis { columns, rows: before.statuses })?;
        }
        Some(program)
    }

    fn new(graph: &Graph, sites: Vec<u32>, nodes: Vec<u32>) -> Option<Program> {
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
        Some(Program {
            lp: LinearProgram::new(&columns).ok()?,
            sites,
            column,
            nodes,
            rows: Vec::new(),
            known: HashSet::new(),
            x,
            bound: 0,
            proof: Weighed::default(),
            last: Vec::new(),
            reduced: graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect(),
            complete: false,
        })
    }

    /// Rows that are known to matter, and a basis for them.
    fn start(&mut self, rows: Vec<Row>, basis: &Basis) -> Option<()> {
        self.add(&rows)?;
        self.known.extend(rows.iter().filter(|row| matches!(row, Row::Core(_))).cloned());
        self.rows = rows;
        self.lp.set_basis(basis).ok()
    }

    fn add(&mut self, rows: &[Row]) -> Option<()> {
        let terms: Vec<Vec<(u32, f64)>> =
            rows.iter().map(|row| row.scaled(|s| self.column[s as usize])).collect();
        self.lp.add_rows(terms.iter().map(|it| (1.0, &it[..]))).ok()
    }

    /// Solves and separates until nothing is violated, and enters bounds in the ledger. What was reached stays when the budget
    /// ends; `None` when the solver fails.
    fn rounds(
        &mut self,
        graph: &Graph,
        cores: &mut Cores,
        post: &Post,
        budget: &mut Budget,
    ) -> Option<()> {
        let mut round = 0_u32;
        let (mut earlier, mut dropped) = (0, 0);
        // Rows to begin with are solved before the first separation.
        let mut found: Vec<Row> = Vec::new();
        loop {
            if round > 0 || self.rows.is_empty() {
                let (nodes, known) = (&self.nodes, &mut self.known);
                found = separate(graph, cores, nodes, &self.x, 1e-4, known, budget);
                if found.is_empty() {
                    self.complete = !budget.is_spent();
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
            post.enter(self.bound, &self.proof);
            if post.incumbent.is_proven() {
                return Some(());
            }
            // A cluster is only a beginning: its last hundredths are left to the whole.
            let local = self.sites.len() < graph.n_sites();
            if local && round > 1 && self.bound - earlier < self.bound / ENOUGH {
                return Some(());
            }
            earlier = self.bound;
            round += 1;
            // Not where the bound stands still: what is dropped might come again for ever.
            if self.bound > dropped || round.is_multiple_of(10) {
                dropped = self.bound;
                self.drop_idle(&answer)?;
            }
        }
    }

    /// The bound of the module's header, kept if it is better.
    fn certify(&mut self, graph: &Graph, answer: &Optimum) {
        let mut reduced: Vec<i128> = graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect();
        let mut bound = 0_i128;
        let multipliers: Vec<i128> =
            self.rows.iter().zip(&answer.multipliers).map(|(row, &y)| row.multiplier(y)).collect();
        for (row, &y) in self.rows.iter().zip(&multipliers).filter(|it| *it.1 > 0) {
            bound += y * i128::from(row.least());
            row.for_each(|s, weight| reduced[s as usize] -= y * i128::from(weight));
        }
        bound += reduced.iter().map(|&r| r.min(0)).sum::<i128>();
        self.last.clone_from(&answer.multipliers);
        if bound > self.bound {
            self.bound = bound;
            self.reduced = reduced;
            let proof = self.rows.iter().zip(multipliers).filter(|it| it.1 > 0);
            self.proof = Arc::new(proof.map(|(row, y)| (row.clone(), y)).collect());
        }
    }

    /// Drops the rows without a multiplier that spare much at the point.
    fn drop_idle(&mut self, answer: &Optimum) -> Option<()> {
        let spares = |row: &Row| {
            let mut value = 0.0;
            row.for_each(|s, weight| value += f64::from(self.x[s as usize]) * weight as f64);
            value / row.least() as f64 - 1.0
        };
        let rows = self.rows.iter().zip(&answer.multipliers);
        let idle: Vec<bool> = rows.map(|(row, &y)| y < 1e-9 && spares(row) > SPARE).collect();
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

    /// Takes over what clusters proved.
    fn take(&mut self, graph: &Graph, solved: Solved) {
        self.bound = solved.bound;
        self.proof = solved.proof;
        self.reduced = graph.cost.iter().map(|&c| i128::from(c) << SCALE).collect();
        for (row, y) in &*self.proof {
            row.for_each(|s, weight| self.reduced[s as usize] -= y * i128::from(weight));
        }
    }

    /// What is proven.
    pub(crate) fn tight(&self) -> Tight {
        let (bound, rows, reduced) = (self.bound, self.proof.clone(), self.reduced.clone());
        Tight { bound, rows, reduced }
    }

    /// The rows that bind.
    pub(crate) fn binding(&self) -> Vec<Row> {
        let rows = self.rows.iter().zip(&self.last).filter(|it| *it.1 > 1e-9);
        rows.map(|it| it.0.clone()).collect()
    }

    /// The basis of the last solution.
    fn basis(&mut self) -> Option<Basis> {
        self.lp.basis().ok()
    }
}

/// Cores that a point violates, each site in a few of them only, none known already.
pub(crate) fn separate(
    graph: &Graph,
    cores: &mut Cores,
    nodes: &[u32],
    x: &[f32],
    slack: f32,
    known: &mut HashSet<Row>,
    budget: &mut Budget,
) -> Vec<Row> {
    /// New cores per site and round.
    const SHARE: u8 = 3;
    let before = cores.work;
    cores.fill(x, nodes);
    budget.spend(cores.work - before);
    let mut uses = vec![0_u8; graph.n_sites()];
    let mut found = Vec::new();
    for over in cores.violated(x, nodes, slack) {
        // To read off one core may take as long as to find the steps of all nodes. None found would say that none is violated.
        if !found.is_empty() && (budget.stop)() {
            break;
        }
        let Some(core) = cores.core(x, over) else { continue };
        let mut is_fresh = false;
        core.for_each(|s, _| is_fresh |= uses[s as usize] < SHARE);
        if !(is_fresh || over.weight == 0.0) || !known.insert(core.clone()) {
            continue;
        }
        core.for_each(|s, _| uses[s as usize] = uses[s as usize].saturating_add(1));
        found.push(core);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anneal::Random;
    use crate::limits::Steps;
    use crate::tests::window_program;

    #[test]
    fn the_bound_does_not_depend_on_how_many_clusters_are_solved_at_a_time() {
        let graph = Graph::new(&window_program(&mut Random::new(21), 700));
        let (n, stop) = (graph.n_sites(), || false);
        let run = |sizes: &[usize], n_workers| {
            let incumbent = Incumbent::new(graph.cost_of(&vec![true; n]), vec![true; n]);
            let mut cores = Cores::new(&graph);
            let mut budget = Budget { stop: &stop, left: u64::MAX, steps: Steps::default() };
            let it = relax_with(
                &graph,
                &mut cores,
                &incumbent,
                &mut budget,
                sizes,
                usize::MAX,
                n_workers,
            )
            .unwrap();
            assert!(it.complete);
            // What the clusters posted on the way is not above it.
            assert_eq!(incumbent.lower(), ceil_cost(it.bound));
            assert_eq!(incumbent.proof().bound, incumbent.lower());
            (it.bound, it.proof)
        };
        let one = run(&[50, 200], 1);
        assert!(ceil_cost(one.0) > 50);
        for n_workers in [2, 3, 8] {
            assert!(run(&[50, 200], n_workers) == one, "{n_workers} at a time");
        }
        // The same program as a whole: equal but for rounding.
        assert_eq!(ceil_cost(run(&[], 1).0), ceil_cost(one.0));
    }
}
