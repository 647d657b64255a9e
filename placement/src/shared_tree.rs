//! A tree over a relaxation with many cuts, of a few dozen nodes, for when more cuts gain little.
//!
//! Each solve takes hundreds of iterations, and the gap is far too wide for the tree to end. So what counts is how much its leaves gain
//! for each solve.
//!
//! *Levels.* Below most nodes either less than some level of noise leaves a value, or at least that level. Where less does, the first part
//! of each core through the value is a core, up to the value; where at least the level does, the second part is, behind it
//! ([`crate::cores`]). Both raise the bound by about half of what the cores through the value have of it, far more than a decision about one
//! site, which changes one term of each core; and what levels of values far from each other gain adds up. The value and the level are
//! those at which the multipliers of the rows promise most ([`Window::levels`]). Such cores hold below their node only.
//!
//! Where no level is left, columns are branched at: which, is found out by trying, and what a column gained once says which are
//! tried elsewhere.
//!
//! *Cuts.* Before a leaf is branched, cores and halves ([`crate::zero_half`]) are looked for that its point violates. A decision moves
//! the point to where no cuts are yet, so that they gain there as much as the decision did. They hold everywhere, and all leaves have them.
//!
//! Threads share the tree and its rows.
//!
//! Costs: some solves for each of the two branches of a try, and for the cuts of a leaf; memory a point and a basis for each leaf.
//!
//! Source of the idea: strong branching (Applegate, Bixby, Chvátal and Cook), branch and cut (Padberg and Rinaldi); levels are ours.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use noisy_solver::{Basis, Optimum};
use rustc_hash::FxHashMap;

use crate::anneal::Random;
use crate::certificate::{Proof, Row};
use crate::cores::{Assumed, Cores};
use crate::graph::{Graph, NONE};
use crate::instance::Bits;
use crate::limits::Budget;
use crate::tree::{Body, By, Tree, TreeNode};
use crate::window::{Fixed, Gains, List, Window};
use crate::workers::side_by_side;

/// Rows without a multiplier rest in all solves where they spare more than this part of their least weight.
const REST: f64 = 1e-6;
/// Levels that are tried at the first node; one at each other.
const LEVELS: usize = 2;
/// Columns that are tried where there are no levels, half as many at the next two nodes, and so on, at least so many.
const COLUMNS: usize = 8;
const LEAST_COLUMNS: usize = 2;
/// Rounds of cuts at a leaf, and of cores where a level is tried, while each raises its bound by so much. Cores are violated by so much at
/// least.
const ROUNDS: usize = 4;
const ROUNDS_OF_TRIES: usize = 2;
const ENOUGH: f64 = 0.02;
const SLACK: f32 = 1e-3;
/// Between them rows rest that spare more than this part of their least weight.
const REST_OF_CUTS: f64 = 1e-2;

/// The bound of a node where nothing is legal.
const NOTHING: i128 = i128::MAX >> 8;

/// What the tree is about.
pub(crate) struct Question<'q, 'g> {
    pub graph: &'g Graph,
    /// Rows that hold, and an optimal basis of the relaxation over them.
    pub rows: &'q [Row],
    pub basis: &'q Basis,
    /// A legal choice.
    pub known: Vec<bool>,
    /// So many nodes are branched.
    pub nodes: usize,
    pub n_workers: usize,
}

/// Branches, and tells proofs of better and better bounds. The rows that were found and bind at a leaf; `None` when the solver fails at
/// once.
pub(crate) fn shared_tree<'q, 'g>(
    question: Question<'q, 'g>,
    cores: &mut Cores<'g>,
    tell: &'q (dyn Fn(Proof) + Sync),
    budget: &mut Budget,
) -> Option<Vec<Row>> {
    let graph = question.graph;
    let mut window = question.window(cores)?;
    let rows = window.rows.clone();
    let n_rows = rows.len();
    let fixed = vec![Fixed::Open; graph.n_sites()];
    let root = {
        let answer = window.solve(budget)?;
        let proven = window.certified(&graph.cost, &fixed, &answer);
        let (list, bound) = (proven.list, proven.bound);
        window.set_point(&answer.values);
        let levels = window.levels(&answer);
        let mut start = Start::new(&mut window, fixed.clone(), Assumed::default(), answer)?;
        start.is_cut = true;
        start.levels = levels;
        Leaf { list, bound, start: Some(Arc::new(start)) }
    };
    drop(window);
    let tree = Tree {
        upper: graph.cost_of(&question.known),
        choice: question.known.clone(),
        nodes: vec![TreeNode {
            parent: NONE,
            decided: None,
            settled: None,
            list: root.list,
            bound: root.bound,
            body: Body::Open,
        }],
        open: vec![0],
        given_up: u64::MAX,
        fixed,
        weights: graph.cost.clone(),
    };
    let told = tree.lower();
    let state = State {
        tree,
        rows,
        starts: root.start.map(|it| (0, it)).into_iter().collect(),
        gains: Gains::new(graph.n_sites()),
        trials: Vec::new(),
        cutting: Vec::new(),
        n_branched: 0,
        told,
        is_over: false,
    };
    let shared = Shared { question, state: Mutex::new(state), changed: Condvar::new(), tell };
    side_by_side(shared.question.n_workers, cores, budget, |cores, budget| {
        let _ends = Ends(&shared);
        let _ = shared.work(cores, budget);
    });
    cores.assume(&Assumed::default());
    let State { tree, rows, .. } =
        shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let lists = tree.open.iter().flat_map(|&at| tree.nodes[at as usize].list.iter());
    let found: BTreeSet<u32> = lists.map(|it| it.0).filter(|&row| row as usize >= n_rows).collect();
    let found = found.into_iter().map(|row| &rows[row as usize]);
    // What holds below a level, or from it on, is of no use elsewhere.
    Some(found.filter(|row| !matches!(row, Row::CoreWhere(_))).cloned().collect())
}

/// Whoever ends for whatever reason, by a panic too, ends all: what is left is not worth a thread, and nobody waits for ever.
struct Ends<'s, 'q, 'g>(&'s Shared<'q, 'g>);

impl Drop for Ends<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl<'g> Question<'_, 'g> {
    fn window<'a>(&self, cores: &'a mut Cores<'g>) -> Option<Window<'a, 'g>> {
        let sites = (0..self.graph.n_sites() as u32).collect();
        let mut window = Window::new(self.graph, cores, sites)?;
        window.set_weights(&self.graph.cost)?;
        window.add(self.rows.iter().cloned())?;
        if self.basis.rows.len() == self.rows.len() {
            window.set_basis(self.basis)?;
        }
        Some(window)
    }
}

/// Where the solver stood at a leaf.
struct Start {
    fixed: Vec<Fixed>,
    assumed: Assumed,
    values: Vec<f64>,
    cost: f64,
    basis: Basis,
    /// Cuts were looked for.
    is_cut: bool,
    /// Nodes and levels to branch at, the most promising first.
    levels: Vec<(u32, Bits)>,
}

impl Start {
    fn new(
        window: &mut Window,
        fixed: Vec<Fixed>,
        assumed: Assumed,
        answer: Optimum,
    ) -> Option<Start> {
        let basis = window.basis()?;
        let (values, cost) = (answer.values, answer.cost);
        Some(Start { fixed, assumed, values, cost, basis, is_cut: false, levels: Vec::new() })
    }
}

/// What is known of a leaf.
struct Leaf {
    list: List,
    bound: i128,
    /// None where nothing is legal.
    start: Option<Arc<Start>>,
}

/// What was tried at a node.
struct Tried {
    by: By,
    worth: f64,
    /// Without the column, and with it; or below the level, and from it on.
    leaves: [Leaf; 2],
}

/// A node at which something is being tried.
struct Trial {
    at: u32,
    start: Arc<Start>,
    /// What nobody tries yet, the most promising last.
    left: Vec<By>,
    n_pending: usize,
    best: Option<Tried>,
}

/// What a thread does next, at some leaf.
enum Job {
    /// Looks for cuts.
    Cut,
    /// Tries to branch.
    Try(By),
}

struct State {
    tree: Tree,
    /// All that are known; each window has the first of them.
    rows: Vec<Row>,
    /// By leaf.
    starts: FxHashMap<u32, Arc<Start>>,
    gains: Gains,
    trials: Vec<Trial>,
    /// Leaves that cuts are being looked for at.
    cutting: Vec<u32>,
    n_branched: usize,
    /// The bound that was told.
    told: u64,
    is_over: bool,
}

struct Shared<'q, 'g> {
    question: Question<'q, 'g>,
    state: Mutex<State>,
    changed: Condvar,
    tell: &'q (dyn Fn(Proof) + Sync),
}

impl<'g> Shared<'_, 'g> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tries columns until the tree is large enough, or nothing is left; `None` when the solver stops.
    fn work(&self, cores: &mut Cores<'g>, budget: &mut Budget) -> Option<()> {
        let mut window = self.question.window(cores)?;
        window.starts_from_bases()?;
        let mut fixed = vec![Fixed::Open; self.question.graph.n_sites()];
        while let Some((at, start, job)) = self.next() {
            self.catch_up(&mut window);
            match job {
                Job::Cut => {
                    let start = self.cut(&mut window, &mut fixed, at, &start, budget)?;
                    self.lock().resume(at, start);
                }
                Job::Try(by) => {
                    let tried = self.attempt(&mut window, &mut fixed, &start, by, budget)?;
                    let mut state = self.lock();
                    if let By::Site(column) = by {
                        for (is_chosen, leaf) in [false, true].into_iter().zip(&tried.leaves) {
                            let gain =
                                leaf.start.as_ref().map_or(start.cost, |it| it.cost - start.cost);
                            let x = start.values[column as usize];
                            state.gains.learn(column, x, is_chosen, gain.max(0.0));
                        }
                    }
                    state.enter(at, tried);
                }
            }
            self.tell(self.lock());
            self.changed.notify_all();
            if budget.is_spent() {
                break;
            }
        }
        Some(())
    }

    /// Tells of a better bound.
    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let lower = state.tree.lower();
        if lower > state.told {
            state.told = lower;
            let graph = self.question.graph;
            let sites: Vec<u32> = (0..graph.n_sites() as u32).collect();
            (self.tell)(state.tree.proof(&sites, &state.rows, &graph.cost, 1));
        }
    }

    /// Gives a window the rows that others found.
    fn catch_up(&self, window: &mut Window) {
        let new = self.lock().rows[window.rows.len()..].to_vec();
        window.append(&new);
    }

    /// Raises the bound of a leaf by cores and halves that its point violates. The row that cannot hold where nothing is
    /// legal; `None` when the solver stops.
    fn cut(
        &self,
        window: &mut Window,
        fixed: &mut [Fixed],
        at: u32,
        start: &Start,
        budget: &mut Budget,
    ) -> Option<Result<Start, u32>> {
        window.assume(&start.assumed)?;
        window.go_to(fixed, &start.fixed)?;
        window.set_basis(&start.basis)?;
        let answer = window.solve(budget)?;
        let mut random = Random::new(u64::from(at));
        let mut better = |window: &Window, answer: &Optimum| {
            let proven = window.certified(&self.question.graph.cost, &start.fixed, answer);
            let mut state = self.lock();
            state.tree.nodes[at as usize].prove(&proven.list, proven.bound);
            self.tell(state);
        };
        let found =
            self.rounds(window, &start.fixed, answer, Some(&mut random), &mut better, budget)?;
        let answer = match found {
            Ok(answer) => answer,
            Err(row) => return Some(Err(row)),
        };
        window.set_point(&answer.values);
        let levels = window.levels(&answer);
        window.rest(&answer, REST)?;
        let assumed = start.assumed.clone();
        let start = Start::new(window, start.fixed.clone(), assumed, answer)?;
        Some(Ok(Start { is_cut: true, levels, ..start }))
    }

    /// Adds cores that a point violates, and halves, and solves again, as long as that raises the bound. The row that cannot hold where
    /// nothing is legal; `None` when the solver stops.
    fn rounds(
        &self,
        window: &mut Window,
        fixed: &[Fixed],
        mut answer: Optimum,
        mut halves: Option<&mut Random>,
        better: &mut dyn FnMut(&Window, &Optimum),
        budget: &mut Budget,
    ) -> Option<Result<Optimum, u32>> {
        let n = if halves.is_some() { ROUNDS } else { ROUNDS_OF_TRIES };
        for _ in 0..n {
            window.set_point(&answer.values);
            let mut found = window.violated(SLACK, budget);
            if let Some(random) = &mut halves {
                found.extend(window.halves(&answer, random, budget));
            }
            if found.is_empty() || budget.is_spent() {
                break;
            }
            {
                let rows = &mut self.lock().rows;
                let unseen = rows[window.rows.len()..].to_vec();
                rows.extend(found.into_iter().filter(|it| !unseen.contains(it)));
            }
            self.catch_up(window);
            window.rest(&answer, REST_OF_CUTS)?;
            if let Some(row) = window.dead_row(|it| fixed[it as usize]) {
                return Some(Err(row));
            }
            let before = answer.cost;
            answer = window.solve(budget)?;
            better(window, &answer);
            if answer.cost - before < ENOUGH {
                break;
            }
        }
        Some(Ok(answer))
    }

    /// What to do next; `None` at the end.
    fn next(&self) -> Option<(u32, Arc<Start>, Job)> {
        let mut state = self.lock();
        loop {
            if state.is_over || state.n_branched >= self.question.nodes {
                return None;
            }
            if let Some(trial) = state.trials.iter_mut().find(|it| !it.left.is_empty()) {
                trial.n_pending += 1;
                let column = trial.left.pop()?;
                return Some((trial.at, trial.start.clone(), Job::Try(column)));
            }
            let Some((at, start)) = state.free() else {
                if state.trials.is_empty() && state.cutting.is_empty() {
                    return None;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if !start.is_cut {
                state.cutting.push(at);
                return Some((at, start, Job::Cut));
            }
            state.begin(at, start, self.question.graph);
        }
    }

    /// Solves both branches.
    fn attempt(
        &self,
        window: &mut Window,
        fixed: &mut [Fixed],
        start: &Start,
        by: By,
        budget: &mut Budget,
    ) -> Option<Tried> {
        let weights = &self.question.graph.cost;
        let mut leaf = |value: bool| {
            let (mut decided, mut assumed) = (start.fixed.clone(), start.assumed.clone());
            match by {
                By::Site(column) => {
                    decided[column as usize] = if value { Fixed::Chosen } else { Fixed::Absent };
                }
                By::Level { node, level, absent } => {
                    let list = if value { &mut assumed.least } else { &mut assumed.below };
                    list.push((node, level));
                    if value {
                        decided[absent as usize] = Fixed::Absent;
                    }
                }
            }
            let nothing = |row: u32| {
                let list = self.lock().tree.against(row);
                Some(Leaf { list, bound: NOTHING, start: None })
            };
            window.assume(&assumed)?;
            if let Some(row) = window.dead_row(|it| decided[it as usize]) {
                return nothing(row);
            }
            window.go_to(fixed, &decided)?;
            window.set_basis(&start.basis)?;
            let mut answer = window.solve(budget)?;
            // A level says nothing without the cores that follow from it.
            if matches!(by, By::Level { .. }) {
                let found = self.rounds(window, &decided, answer, None, &mut |_, _| (), budget)?;
                answer = match found {
                    Ok(answer) => answer,
                    Err(row) => return nothing(row),
                };
            }
            let proven = window.certified(weights, &decided, &answer);
            window.rest(&answer, REST)?;
            let start = Some(Arc::new(Start::new(window, decided, assumed, answer)?));
            Some(Leaf { list: proven.list, bound: proven.bound, start })
        };
        let leaves = [leaf(false)?, leaf(true)?];
        let gain = |it: &Leaf| it.start.as_ref().map_or(start.cost, |it| it.cost - start.cost);
        let worth = leaves.iter().map(|it| gain(it).max(1e-4)).product();
        Some(Tried { by, worth, leaves })
    }
}

impl State {
    /// The leaf with the least bound that nobody works on.
    fn free(&mut self) -> Option<(u32, Arc<Start>)> {
        let (tree, starts) = (&self.tree, &self.starts);
        let free = tree.open.iter().copied().filter(|at| starts.contains_key(at));
        let at = free.min_by_key(|&at| (tree.nodes[at as usize].bound, at))?;
        Some((at, self.starts.remove(&at)?))
    }

    /// Takes back a leaf that cuts were looked for at.
    fn resume(&mut self, at: u32, start: Result<Start, u32>) {
        self.cutting.retain(|&it| it != at);
        let start = match start {
            Ok(start) => start,
            Err(row) => {
                let list = self.tree.against(row);
                self.tree.nodes[at as usize].prove(&list, NOTHING);
                return self.tree.close(at);
            }
        };
        if !self.tree.is_closed(at) {
            self.starts.insert(at, Arc::new(start));
        }
    }

    /// Begins to try levels of a leaf; columns where there are none.
    fn begin(&mut self, at: u32, start: Arc<Start>, graph: &Graph) {
        let n_before = self.n_branched + self.trials.len();
        // The sites are the columns here.
        let by = |&(node, level): &(u32, Bits)| {
            let site = graph.site[node as usize];
            let is_open = start.fixed[site as usize] == Fixed::Open;
            is_open.then_some(By::Level { node, level, absent: site })
        };
        let n = if n_before == 0 { LEVELS } else { 1 };
        let mut tried: Vec<By> = start.levels.iter().filter_map(by).take(n).collect();
        if tried.is_empty() {
            let n = COLUMNS.checked_shr((n_before + 1).ilog2()).unwrap_or(0);
            tried = self.columns(&start).take(n.max(LEAST_COLUMNS)).map(By::Site).collect();
        }
        if tried.is_empty() {
            self.tree.give_up(at);
        } else {
            tried.reverse();
            let left = tried;
            self.trials.push(Trial { at, start, left, n_pending: 0, best: None });
        }
    }

    /// Fractional columns, the most promising first.
    fn columns(&self, start: &Start) -> impl Iterator<Item = u32> {
        let unknown = self.gains.mean();
        let mut columns: Vec<(f64, u32)> = (0..)
            .zip(&start.values)
            .filter(|it| {
                start.fixed[it.0 as usize] == Fixed::Open && (it.1 - it.1.round()).abs() > 1e-6
            })
            .map(|(column, &x)| (self.gains.score(column, x, unknown), column))
            .collect();
        columns.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        columns.into_iter().map(|it| it.1)
    }

    /// Takes in what came of a try, and branches where it was the last.
    fn enter(&mut self, at: u32, tried: Tried) {
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
                Some(start) if !self.tree.is_closed(at) => {
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
