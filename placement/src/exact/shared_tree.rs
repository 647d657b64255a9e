//! Branch and bound over a relaxation with many cuts, with a tree of a few dozen nodes. It is used
//! when further cuts gain little. Threads share the tree and its rows.
//!
//! Each solve takes hundreds of iterations, and the gap is too large to finish the tree. So the
//! goal is a high gain of the bound per solve.
//!
//! *Levels.* Most nodes branch at a level of noise: in one branch the noise after a value is below
//! the level, in the other it is at least the level. In the first branch, the part of each core up
//! to the value is a core; in the second, the part after the value is a core
//! ([`crate::bound::cores`]). Either branch raises the bound by about half of the share of these
//! cores in the bound. This is much more than the gain of a decision about one site, which changes
//! one term of each core. The gains of levels at distant values add up. The multipliers of the rows
//! predict the best value and level ([`LocalProblem::branching_levels`]). These cores are valid
//! only in their subtree.
//!
//! If there is no suitable level, the tree branches at a column. Candidates are selected by their
//! earlier gains, and tried (strong branching).
//!
//! *Cuts.* Before a leaf is branched, violated cores and zero-half cuts
//! ([`crate::bound::zero_half`]) are added. A decision moves the point to a region without cuts, so
//! that new cuts gain as much as the decision. They are valid everywhere, and all leaves get them.
//!
//! Cost: some solves for each branch of a try, and for the cuts of a leaf. Memory: a point and a
//! basis per leaf.
//!
//! Sources: strong branching (Applegate, Bixby, Chvátal and Cook), branch and cut (Padberg and
//! Rinaldi). Branching at levels is new.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use noisy_solver::{Basis, Optimum};
use rustc_hash::FxHashMap;

use crate::bound::cores::{CoreSeparator, NoiseAssumptions};
use crate::bound::local_problem::{ColumnDecision, LocalProblem, MultiplierList, PseudoCosts};
use crate::bound::tree::{BranchTree, Branching};
use crate::bound::workers::run_on_workers;
use crate::certificate::{Proof, ProofRow};
use crate::question::graph::NoiseGraph;
use crate::question::instance::NoiseBits;
use crate::question::limits::EffortBudget;
use crate::random::Random;

/// Rows without a multiplier rest if their slack, relative to their least weight, exceeds this.
const REST: f64 = 1e-6;
/// Number of levels to try at the first node; later nodes try one.
const LEVELS: usize = 2;
/// Number of columns to try at the first node if there are no levels; half as many at the next two
/// nodes, and so on, but at least `LEAST_COLUMNS`.
const COLUMNS: usize = 8;
const LEAST_COLUMNS: usize = 2;
/// Maximum number of rounds of cuts at a leaf.
const ROUNDS: usize = 4;
/// Maximum number of rounds of cores when a level is tried.
const ROUNDS_OF_TRIES: usize = 2;
/// Least gain of a round; smaller gains end the rounds.
const ENOUGH: f64 = 0.02;
/// Least violation of an added core.
const SLACK: f32 = 1e-3;
/// Like [`REST`], between rounds of cuts.
const REST_OF_CUTS: f64 = 1e-2;

/// The bound of a node without a legal choice.
const INFEASIBLE_BOUND: i128 = i128::MAX >> 8;

/// The input of the search.
pub(crate) struct TreeProblem<'q, 'g> {
    pub graph: &'g NoiseGraph,
    /// Valid rows, and an optimal basis of the relaxation over them.
    pub rows: &'q [ProofRow],
    pub basis: &'q Basis,
    /// A legal choice.
    pub known: Vec<bool>,
    /// Number of nodes to branch.
    pub nodes: usize,
    pub n_workers: usize,
}

/// Runs the search, and calls `tell` with proofs of better bounds. Returns the new rows that are
/// binding at a leaf. `None` if the solver fails immediately.
pub(crate) fn shared_tree<'q, 'g>(
    problem: TreeProblem<'q, 'g>,
    cores: &mut CoreSeparator<'g>,
    tell: &'q (dyn Fn(Proof) + Sync),
    budget: &mut EffortBudget,
) -> Option<Vec<ProofRow>> {
    let graph = problem.graph;
    let mut local = problem.local(cores)?;
    let rows = local.rows.clone();
    let n_rows = rows.len();
    let fixed = vec![ColumnDecision::Open; graph.n_sites()];
    let root = {
        let answer = local.solve(budget)?;
        let proven = local.multiplier_bound(&graph.cost, &fixed, &answer);
        let (list, bound) = (proven.list, proven.bound);
        local.set_point(&answer.values);
        let levels = local.branching_levels(&answer);
        let mut start =
            LeafState::new(&mut local, fixed.clone(), NoiseAssumptions::default(), answer)?;
        start.is_cut = true;
        start.levels = levels;
        Leaf { list, bound, start: Some(Arc::new(start)) }
    };
    drop(local);
    let (weights, known) = (graph.cost.clone(), problem.known.clone());
    let tree = BranchTree::new(weights, known, fixed, root.list, root.bound);
    let told = tree.lower();
    let state = TreeState {
        tree,
        rows,
        starts: root.start.map(|it| (0, it)).into_iter().collect(),
        gains: PseudoCosts::new(graph.n_sites()),
        trials: Vec::new(),
        cutting: Vec::new(),
        n_branched: 0,
        told,
        is_over: false,
    };
    let shared = SharedTree { problem, state: Mutex::new(state), changed: Condvar::new(), tell };
    run_on_workers(shared.problem.n_workers, cores, budget, |cores, budget| {
        let _ends = EndOnDrop(&shared);
        let _ = shared.work(cores, budget);
    });
    cores.assume(&NoiseAssumptions::default());
    let TreeState { tree, rows, .. } =
        shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let lists = tree.open.iter().flat_map(|&at| tree.nodes[at as usize].list.iter());
    let found: BTreeSet<u32> = lists.map(|it| it.0).filter(|&row| row as usize >= n_rows).collect();
    let found = found.into_iter().map(|row| &rows[row as usize]);
    // Conditional cores are valid only in a part of this tree.
    Some(found.filter(|row| !matches!(row, ProofRow::CoreWhere(_))).cloned().collect())
}

/// Ends all threads when one of them ends, even by a panic, so that no thread waits forever.
struct EndOnDrop<'s, 'q, 'g>(&'s SharedTree<'q, 'g>);

impl Drop for EndOnDrop<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl<'g> TreeProblem<'_, 'g> {
    fn local<'a>(&self, cores: &'a mut CoreSeparator<'g>) -> Option<LocalProblem<'a, 'g>> {
        let sites = (0..self.graph.n_sites() as u32).collect();
        let mut local = LocalProblem::new(cores, sites)?;
        local.set_weights(&self.graph.cost)?;
        local.add_rows(self.rows.iter().cloned())?;
        if self.basis.rows.len() == self.rows.len() {
            local.set_basis(self.basis)?;
        }
        Some(local)
    }
}

/// The state of the solver at a leaf.
struct LeafState {
    fixed: Vec<ColumnDecision>,
    assumed: NoiseAssumptions,
    values: Vec<f64>,
    cost: f64,
    basis: Basis,
    /// True if cuts were added at this leaf.
    is_cut: bool,
    /// Nodes with levels to branch at, the most promising first.
    levels: Vec<(u32, NoiseBits)>,
}

impl LeafState {
    fn new(
        local: &mut LocalProblem,
        fixed: Vec<ColumnDecision>,
        assumed: NoiseAssumptions,
        answer: Optimum,
    ) -> Option<LeafState> {
        let basis = local.basis()?;
        let (values, cost) = (answer.values, answer.cost);
        Some(LeafState { fixed, assumed, values, cost, basis, is_cut: false, levels: Vec::new() })
    }
}

/// A leaf with its bound.
struct Leaf {
    list: MultiplierList,
    bound: i128,
    /// `None` if the leaf has no legal choice.
    start: Option<Arc<LeafState>>,
}

/// The result of trying a branching.
struct TriedBranching {
    by: Branching,
    worth: f64,
    /// Without and with the column; or below the level and from the level on.
    leaves: [Leaf; 2],
}

/// A leaf at which branchings are being tried.
struct Trial {
    at: u32,
    start: Arc<LeafState>,
    /// Branchings that were not started, the most promising last.
    left: Vec<Branching>,
    n_pending: usize,
    best: Option<TriedBranching>,
}

/// The next task of a thread at a leaf.
enum LeafJob {
    /// Add cuts.
    Cut,
    /// Try a branching.
    Try(Branching),
}

struct TreeState {
    tree: BranchTree,
    /// All known rows. The local problem of each thread has a prefix of them.
    rows: Vec<ProofRow>,
    /// The state of the solver, by leaf.
    starts: FxHashMap<u32, Arc<LeafState>>,
    gains: PseudoCosts,
    trials: Vec<Trial>,
    /// Leaves at which threads are adding cuts.
    cutting: Vec<u32>,
    n_branched: usize,
    /// The last bound with a call of `tell`.
    told: u64,
    is_over: bool,
}

struct SharedTree<'q, 'g> {
    problem: TreeProblem<'q, 'g>,
    state: Mutex<TreeState>,
    changed: Condvar,
    tell: &'q (dyn Fn(Proof) + Sync),
}

impl<'g> SharedTree<'_, 'g> {
    fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks until the tree is large enough or there are no more tasks. `None` if the solver
    /// fails.
    fn work(&self, cores: &mut CoreSeparator<'g>, budget: &mut EffortBudget) -> Option<()> {
        let mut local = self.problem.local(cores)?;
        local.start_from_set_basis()?;
        let mut fixed = vec![ColumnDecision::Open; self.problem.graph.n_sites()];
        while let Some((at, start, job)) = self.next() {
            self.add_new_rows(&mut local);
            match job {
                LeafJob::Cut => {
                    let start = self.add_cuts(&mut local, &mut fixed, at, &start, budget)?;
                    self.lock().resume(at, start);
                }
                LeafJob::Try(by) => {
                    let tried = self.try_branching(&mut local, &mut fixed, &start, by, budget)?;
                    let mut state = self.lock();
                    if let Branching::Site(column) = by {
                        for (is_chosen, leaf) in [false, true].into_iter().zip(&tried.leaves) {
                            let gain =
                                leaf.start.as_ref().map_or(start.cost, |it| it.cost - start.cost);
                            let x = start.values[column as usize];
                            state.gains.record(column, x, is_chosen, gain.max(0.0));
                        }
                    }
                    state.record_try(at, tried);
                }
            }
            self.report_bound(self.lock());
            self.changed.notify_all();
            if budget.is_spent() {
                break;
            }
        }
        Some(())
    }

    /// Calls `tell` if the bound has risen.
    fn report_bound(&self, mut state: MutexGuard<'_, TreeState>) {
        let lower = state.tree.lower();
        if lower > state.told {
            state.told = lower;
            let graph = self.problem.graph;
            let sites: Vec<u32> = (0..graph.n_sites() as u32).collect();
            (self.tell)(state.tree.proof(&sites, &state.rows, &graph.cost, 1));
        }
    }

    /// Adds the rows that other threads found.
    fn add_new_rows(&self, local: &mut LocalProblem) {
        let new = self.lock().rows[local.rows.len()..].to_vec();
        local.append_resting(&new);
    }

    /// Raises the bound of a leaf with violated cores and zero-half cuts. Returns `Err` with a row
    /// that cannot be satisfied if the leaf has no legal choice. `None` if the solver fails.
    fn add_cuts(
        &self,
        local: &mut LocalProblem,
        fixed: &mut [ColumnDecision],
        at: u32,
        start: &LeafState,
        budget: &mut EffortBudget,
    ) -> Option<Result<LeafState, u32>> {
        local.assume(&start.assumed)?;
        local.set_decisions(fixed, &start.fixed)?;
        local.set_basis(&start.basis)?;
        let answer = local.solve(budget)?;
        let mut random = Random::new(u64::from(at));
        let mut better = |local: &LocalProblem, answer: &Optimum| {
            let proven = local.multiplier_bound(&self.problem.graph.cost, &start.fixed, answer);
            let mut state = self.lock();
            state.tree.nodes[at as usize].prove(&proven.list, proven.bound);
            self.report_bound(state);
        };
        let found =
            self.rounds(local, &start.fixed, answer, Some(&mut random), &mut better, budget)?;
        let answer = match found {
            Ok(answer) => answer,
            Err(row) => return Some(Err(row)),
        };
        local.set_point(&answer.values);
        let levels = local.branching_levels(&answer);
        local.deactivate_idle(&answer, REST)?;
        let assumed = start.assumed.clone();
        let start = LeafState::new(local, start.fixed.clone(), assumed, answer)?;
        Some(Ok(LeafState { is_cut: true, levels, ..start }))
    }

    /// Adds violated cores, and zero-half cuts if `halves` is `Some`, and solves again while this
    /// raises the bound. Returns `Err` with a row that cannot be satisfied if there is no legal
    /// choice. `None` if the solver fails.
    fn rounds(
        &self,
        local: &mut LocalProblem,
        fixed: &[ColumnDecision],
        mut answer: Optimum,
        mut halves: Option<&mut Random>,
        better: &mut dyn FnMut(&LocalProblem, &Optimum),
        budget: &mut EffortBudget,
    ) -> Option<Result<Optimum, u32>> {
        let n = if halves.is_some() { ROUNDS } else { ROUNDS_OF_TRIES };
        for _ in 0..n {
            local.set_point(&answer.values);
            let mut found = local.violated_cores(SLACK, budget);
            if let Some(random) = &mut halves {
                found.extend(local.zero_half_cuts(&answer, random, budget));
            }
            if found.is_empty() || budget.is_spent() {
                break;
            }
            {
                let rows = &mut self.lock().rows;
                let unseen = rows[local.rows.len()..].to_vec();
                rows.extend(found.into_iter().filter(|it| !unseen.contains(it)));
            }
            self.add_new_rows(local);
            local.deactivate_idle(&answer, REST_OF_CUTS)?;
            if let Some(row) = local.unsatisfiable_row(|it| fixed[it as usize]) {
                return Some(Err(row));
            }
            let before = answer.cost;
            answer = local.solve(budget)?;
            better(local, &answer);
            if answer.cost - before < ENOUGH {
                break;
            }
        }
        Some(Ok(answer))
    }

    /// Waits for the next task. `None` at the end.
    fn next(&self) -> Option<(u32, Arc<LeafState>, LeafJob)> {
        let mut state = self.lock();
        loop {
            if state.is_over || state.n_branched >= self.problem.nodes {
                return None;
            }
            if let Some(trial) = state.trials.iter_mut().find(|it| !it.left.is_empty()) {
                trial.n_pending += 1;
                let column = trial.left.pop()?;
                return Some((trial.at, trial.start.clone(), LeafJob::Try(column)));
            }
            let Some((at, start)) = state.take_free_leaf() else {
                if state.trials.is_empty() && state.cutting.is_empty() {
                    return None;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if !start.is_cut {
                state.cutting.push(at);
                return Some((at, start, LeafJob::Cut));
            }
            state.begin_trial(at, start, self.problem.graph);
        }
    }

    /// Tries a branching: solves both branches.
    fn try_branching(
        &self,
        local: &mut LocalProblem,
        fixed: &mut [ColumnDecision],
        start: &LeafState,
        by: Branching,
        budget: &mut EffortBudget,
    ) -> Option<TriedBranching> {
        let weights = &self.problem.graph.cost;
        let mut leaf = |value: bool| {
            let (mut decided, mut assumed) = (start.fixed.clone(), start.assumed.clone());
            match by {
                Branching::Site(column) => {
                    decided[column as usize] =
                        if value { ColumnDecision::Chosen } else { ColumnDecision::Absent };
                }
                Branching::Level { node, level, absent } => {
                    let list = if value { &mut assumed.least } else { &mut assumed.below };
                    list.push((node, level));
                    if value {
                        decided[absent as usize] = ColumnDecision::Absent;
                    }
                }
            }
            let nothing = |row: u32| {
                let list = self.lock().tree.infeasibility_multipliers(row);
                Some(Leaf { list, bound: INFEASIBLE_BOUND, start: None })
            };
            local.assume(&assumed)?;
            if let Some(row) = local.unsatisfiable_row(|it| decided[it as usize]) {
                return nothing(row);
            }
            local.set_decisions(fixed, &decided)?;
            local.set_basis(&start.basis)?;
            let mut answer = local.solve(budget)?;
            // A level gains nothing without the conditional cores that it makes valid.
            if matches!(by, Branching::Level { .. }) {
                let found = self.rounds(local, &decided, answer, None, &mut |_, _| (), budget)?;
                answer = match found {
                    Ok(answer) => answer,
                    Err(row) => return nothing(row),
                };
            }
            let proven = local.multiplier_bound(weights, &decided, &answer);
            local.deactivate_idle(&answer, REST)?;
            let start = Some(Arc::new(LeafState::new(local, decided, assumed, answer)?));
            Some(Leaf { list: proven.list, bound: proven.bound, start })
        };
        let leaves = [leaf(false)?, leaf(true)?];
        let gain = |it: &Leaf| it.start.as_ref().map_or(start.cost, |it| it.cost - start.cost);
        let worth = leaves.iter().map(|it| gain(it).max(1e-4)).product();
        Some(TriedBranching { by, worth, leaves })
    }
}

impl TreeState {
    /// Removes and returns the free leaf with the least bound.
    fn take_free_leaf(&mut self) -> Option<(u32, Arc<LeafState>)> {
        let (tree, starts) = (&self.tree, &self.starts);
        let free = tree.open.iter().copied().filter(|at| starts.contains_key(at));
        let at = free.min_by_key(|&at| (tree.nodes[at as usize].bound, at))?;
        Some((at, self.starts.remove(&at)?))
    }

    /// Makes a leaf free again after cuts were added.
    fn resume(&mut self, at: u32, start: Result<LeafState, u32>) {
        self.cutting.retain(|&it| it != at);
        let start = match start {
            Ok(start) => start,
            Err(row) => {
                let list = self.tree.infeasibility_multipliers(row);
                self.tree.nodes[at as usize].prove(&list, INFEASIBLE_BOUND);
                return self.tree.close(at);
            }
        };
        if !self.tree.close_if_dominated(at) {
            self.starts.insert(at, Arc::new(start));
        }
    }

    /// Starts to try levels at a leaf, or columns if there are no levels.
    fn begin_trial(&mut self, at: u32, start: Arc<LeafState>, graph: &NoiseGraph) {
        let n_before = self.n_branched + self.trials.len();
        // In this tree, columns and sites have the same indices.
        let by = |&(node, level): &(u32, NoiseBits)| {
            let site = graph.site[node as usize];
            let is_open = start.fixed[site as usize] == ColumnDecision::Open;
            is_open.then_some(Branching::Level { node, level, absent: site })
        };
        let n = if n_before == 0 { LEVELS } else { 1 };
        let mut tried: Vec<Branching> = start.levels.iter().filter_map(by).take(n).collect();
        if tried.is_empty() {
            let n = COLUMNS.checked_shr((n_before + 1).ilog2()).unwrap_or(0);
            tried = self.columns(&start).take(n.max(LEAST_COLUMNS)).map(Branching::Site).collect();
        }
        if tried.is_empty() {
            self.tree.give_up(at);
        } else {
            tried.reverse();
            let left = tried;
            self.trials.push(Trial { at, start, left, n_pending: 0, best: None });
        }
    }

    /// Returns the open fractional columns, the most promising first.
    fn columns(&self, start: &LeafState) -> impl Iterator<Item = u32> {
        let unknown = self.gains.mean();
        let mut columns: Vec<(f64, u32)> = (0..)
            .zip(&start.values)
            .filter(|it| {
                start.fixed[it.0 as usize] == ColumnDecision::Open
                    && (it.1 - it.1.round()).abs() > 1e-6
            })
            .map(|(column, &x)| (self.gains.score(column, x, unknown), column))
            .collect();
        columns.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        columns.into_iter().map(|it| it.1)
    }

    /// Records the result of a try. After the last try, branches the node with the best result.
    fn record_try(&mut self, at: u32, tried: TriedBranching) {
        let Some(place) = self.trials.iter().position(|it| it.at == at) else { return };
        let trial = &mut self.trials[place];
        trial.n_pending -= 1;
        if trial.best.as_ref().is_none_or(|it| tried.worth > it.worth) {
            trial.best = Some(tried);
        }
        if !trial.left.is_empty() || trial.n_pending > 0 {
            return;
        }
        let Some(best) = self.trials.swap_remove(place).best else { return };
        let first = self.tree.branch(at, best.by);
        self.n_branched += 1;
        for (at, leaf) in (first..).zip(best.leaves) {
            self.tree.nodes[at as usize].prove(&leaf.list, leaf.bound);
            match leaf.start {
                Some(start) if !self.tree.close_if_dominated(at) => {
                    self.starts.insert(at, start);
                }
                Some(_) => {}
                None => self.tree.close(at),
            }
        }
    }
}

#[cfg(test)]
mod tests;
