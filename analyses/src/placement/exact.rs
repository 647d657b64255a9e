//! Bounds and proofs for one part: the relaxation over conflict cores, what it fixes, and branch and bound.
//!
//! Phases:
//!
//! 1. *Relaxation* ([`super::relax`]): a bound, reduced costs, and the cores that matter.
//! 2. *Fixing.* A site whose reduced cost lifts the bound to the incumbent cannot differ in a better choice. Fix
//!    all such, simplify what is left, and start over on its parts.
//! 3. *Sweep.* A program that is narrow in some order is decided by dynamic programming ([`super::sweep`]).
//! 4. *Branch and bound* over the cores found. Where its optimum violates further cores they are added and it is
//!    solved again (implicit hitting set); where it violates none, it is optimal.
//!
//! Law kept: what is posted as a bound is one, whatever was interrupted.
//!
//! Source of the idea: implicit hitting sets as in `MaxSAT` (Davies, Bacchus) with the cores of this problem.

use std::collections::HashSet;

use super::Steps;
use super::board::Board;
use super::compact;
use super::cores::{Core, Cores};
use super::graph::Graph;
use super::greedy;
use super::highs::{Column, Effort, Mip, Row};
use super::relax::{Relaxed, SCALE, relax, separate};
use super::simplify::{Fixed, simplify};
use super::state::State;
use super::sweep::{self, Frontier, Swept, Terms};

/// How much may be spent, and what was.
pub(super) struct Budget<'a> {
    /// Asked often; true ends everything.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Steps of work left; a step is about a node visit.
    pub left: u64,
    /// Which steps are on.
    pub steps: Steps,
}

impl Budget<'_> {
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0 || (self.stop)()
    }

    pub(super) fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }

    /// Spends for simplex iterations on a program of `n` columns; at least one, so that loops of free solves end.
    pub(super) fn spend_iterations(&mut self, iterations: u64, n: usize) {
        self.spend((iterations + 1).saturating_mul(iteration(n)));
    }

    /// What the solver may use of what is left, on a program of `n` columns.
    pub(super) fn effort(&self, n: usize) -> Effort<'_> {
        let all = self.left == u64::MAX;
        let iterations = if all { u64::MAX } else { self.left / iteration(n) + 1 };
        Effort { stop: self.stop, iterations, nodes: u64::MAX }
    }
}

/// Branch and bound does much that its count of iterations does not show (cuts, heuristics): this times as much as
/// its iterations.
const BRANCHING: u64 = 10;

/// What the root of branch and bound costs on `n` columns, in node visits: with less it is not begun.
fn root(n: usize) -> u64 {
    n as u64 * 5000
}

/// A simplex iteration costs about this many node visits, as measured with 250 and with 33,000 columns.
fn iteration(n: usize) -> u64 {
    200 + n as u64 / 7
}

/// Proves what it can about a graph and posts bounds and better choices on the board.
pub(super) fn prove(graph: &Graph, board: &Board, budget: &mut Budget) {
    let cores = if budget.steps.cores { Cores::new(graph) } else { None };
    match cores {
        Some(cores) => by_cores(graph, cores, board, budget),
        None => by_rows(graph, board, budget),
    }
}

/// The compact model, solved once.
fn by_rows(graph: &Graph, board: &Board, budget: &mut Budget) {
    if !budget.steps.branch {
        return;
    }
    let (mip, sane) = compact::rows(graph);
    let best = board.best();
    let state = State::new(graph, best);
    let start: Vec<f64> = (state.chosen.iter().map(|&c| f64::from(u8::from(c))))
        .chain(state.e.iter().map(|&e| f64::from(e)))
        .collect();
    let start = state.is_legal().then_some(&start[..]);
    let Some(answer) = mip.solve(start, &budget.effort(graph.n_sites())) else { return };
    budget.spend_iterations(answer.iterations, graph.n_sites());
    if let Some(values) = &answer.values {
        offer(graph, compact::choice(graph, values), board);
    }
    if sane {
        // NB: there is an incumbent, so a solver that says infeasible is wrong.
        board.prove(if answer.infeasible { 0 } else { whole(answer.bound) });
    }
}

/// The integer at or above a bound from floating point, generous to its error.
fn whole(bound: f64) -> u64 {
    if bound.is_finite() && bound > 0.0 { (bound - 1e-5).ceil().max(0.0) as u64 } else { 0 }
}

/// Offers a choice made by rounding, if it is legal, without what it does not need.
fn offer(graph: &Graph, chosen: Vec<bool>, board: &Board) {
    let mut state = State::new(graph, chosen);
    if state.is_legal() {
        greedy::prune(graph, &mut state);
        board.offer(state.cost, &state.chosen);
    }
}

fn by_cores(graph: &Graph, mut cores: Cores, board: &Board, budget: &mut Budget) {
    let Some(mut relaxed) = relax(graph, &mut cores, board, budget) else { return };
    if board.is_proven() || budget.is_spent() {
        return;
    }
    if budget.steps.fix && fix(graph, &relaxed, board, budget) {
        return;
    }
    // A little of each, then much of each: either may decide at once where the other never ends. What is narrow is swept at once.
    let frontier = budget.steps.sweep.then(|| Frontier::new(graph, cores.levels()));
    let is_narrow = frontier.as_ref().is_some_and(|it| it.bits <= NARROW);
    let few = if is_narrow { MOST_STATES } else { 1 << 12 };
    for (states, iterations) in [(few, 20_000), (MOST_STATES, u64::MAX)] {
        if let Some(frontier) = &frontier
            && narrow(graph, &cores, &relaxed, frontier, states, board, budget)
        {
            return;
        }
        if relaxed.complete && budget.steps.branch && !budget.is_spent() {
            branch(graph, &mut cores, &mut relaxed, iterations, board, budget);
        }
        if board.is_proven() || budget.is_spent() {
            return;
        }
    }
    // In a loop a core can hide; then the rows decide.
    if graph.cyclic && !board.is_proven() && !budget.is_spent() {
        by_rows(graph, board, budget);
    }
}

/// Phase 2. Says whether it took over: then nothing is left to do here.
fn fix(graph: &Graph, relaxed: &Relaxed, board: &Board, budget: &mut Budget) -> bool {
    let better = (i128::from(board.upper()) - 1) << SCALE;
    let mut fixed = vec![Fixed::Open; graph.n_sites()];
    let mut n_fixed = 0;
    for (s, &reduced) in relaxed.reduced.iter().enumerate() {
        if relaxed.bound + reduced.abs() > better {
            fixed[s] = if reduced > 0 { Fixed::Absent } else { Fixed::Chosen };
            n_fixed += 1;
        }
    }
    if n_fixed * 10 < graph.n_sites() {
        return false;
    }
    let Ok(simple) = simplify(graph, fixed, true, true) else {
        // Nothing better is legal.
        board.prove(board.upper());
        return true;
    };
    let base: u64 = (simple.fixed.iter().zip(&graph.cost))
        .filter(|(f, _)| **f == Fixed::Chosen)
        .fold(0, |acc, (_, &cost)| acc.saturating_add(cost));
    let mut chosen: Vec<bool> = simple.fixed.iter().map(|&f| f == Fixed::Chosen).collect();
    let graphs: Vec<Graph> = simple.parts.iter().map(|part| Graph::new(&part.instance)).collect();
    let mut boards = Vec::new();
    for graph in &graphs {
        let Some(greedy) = greedy::greedy(graph) else { return false };
        let mut state = State::new(graph, greedy);
        greedy::prune(graph, &mut state);
        boards.push(Board::new(state.cost, state.chosen));
    }
    for (graph, part) in graphs.iter().zip(&boards) {
        let visits = (graph.n_sites() as u64 * 2000).min(budget.left);
        super::search::quick(graph, part, visits, budget);
        prove(graph, part, budget);
    }
    for (part, board) in simple.parts.iter().zip(&boards) {
        for (&s, c) in part.sites.iter().zip(board.best()) {
            chosen[s as usize] = c;
        }
    }
    offer(graph, chosen, board);
    let lower = boards.iter().fold(base, |acc, part| acc.saturating_add(part.lower()));
    board.prove(lower.min(board.upper()));
    true
}

/// Most states of a sweep at a time.
const MOST_STATES: usize = 1 << 19;
/// A frontier of so many bits is swept before anything else.
const NARROW: u32 = 48;

/// Phase 3. Says whether it decided the matter.
fn narrow(
    graph: &Graph,
    cores: &Cores,
    relaxed: &Relaxed,
    frontier: &Frontier,
    states: usize,
    board: &Board,
    budget: &mut Budget,
) -> bool {
    let upper = board.upper();
    let terms = Terms {
        frontier,
        levels: cores.levels(),
        bound: relaxed.bound,
        better: (i128::from(upper) - 1) << SCALE,
        cores: &relaxed.proof,
        multipliers: &relaxed.multipliers,
        reduced: &relaxed.reduced,
        states,
        work: budget.left,
        stop: budget.stop,
    };
    let (swept, work) = sweep::sweep(graph, &terms);
    budget.spend(work);
    match swept {
        Swept::NoneBetter => board.prove(upper),
        Swept::Better(chosen) => {
            let cost = graph.cost_of(&chosen);
            offer(graph, chosen, board);
            board.prove(cost);
        }
        Swept::GaveUp => return false,
    }
    true
}

/// Phase 4.
fn branch(
    graph: &Graph,
    cores: &mut Cores,
    relaxed: &mut Relaxed,
    iterations: u64,
    board: &Board,
    budget: &mut Budget,
) {
    let columns: Vec<Column> = graph
        .cost
        .iter()
        .map(|&cost| Column { cost: cost as f64, lower: 0.0, upper: 1.0, integer: true })
        .collect();
    // Beyond this a solver in floating point cannot tell costs apart.
    if graph.cost.iter().fold(0, |acc: u64, &c| acc.saturating_add(c)) > 1 << 40 {
        return;
    }
    let row = |core: &Core| Row { least: 1.0, terms: core.iter().map(|&s| (s, 1.0)).collect() };
    let mut mip = Mip { columns, rows: relaxed.cores.iter().map(row).collect() };
    let mut known: HashSet<Core> = relaxed.cores.iter().cloned().collect();
    loop {
        let start: Vec<f64> = board.best().iter().map(|&c| f64::from(u8::from(c))).collect();
        if budget.left < root(graph.n_sites()) {
            return;
        }
        let mut effort = budget.effort(graph.n_sites());
        effort.iterations /= if budget.left == u64::MAX { 1 } else { BRANCHING };
        effort.iterations = effort.iterations.min(iterations);
        let Some(answer) = mip.solve(Some(&start), &effort) else { return };
        budget.spend_iterations(answer.iterations.saturating_mul(BRANCHING), graph.n_sites());
        if answer.infeasible {
            return;
        }
        board.prove(whole(answer.bound));
        let Some(values) = answer.values else { return };
        let mut chosen: Vec<bool> = values.iter().map(|x| *x > 0.5).collect();
        // Hit new cores by their cheapest site until the choice is legal: a choice to offer, and many cores.
        let mut legal_at_once = true;
        loop {
            let x: Vec<f32> = chosen.iter().map(|&c| f32::from(u8::from(c))).collect();
            let found = separate(graph, cores, &graph.order, &x, 0.5, &mut known, budget);
            if found.is_empty() {
                break;
            }
            legal_at_once = false;
            for core in &found {
                if core.iter().all(|&s| !chosen[s as usize]) {
                    let last = core.iter().min_by_key(|&&s| (graph.cost[s as usize], u32::MAX - s));
                    if let Some(&s) = last {
                        chosen[s as usize] = true;
                    }
                }
                mip.rows.push(row(core));
            }
            relaxed.cores.extend(found);
        }
        offer(graph, chosen, board);
        if board.is_proven() || legal_at_once || !answer.finished || budget.is_spent() {
            return;
        }
    }
}

/// What came of looking for any legal choice.
pub(super) enum Found {
    /// This one is legal.
    Choice(Vec<bool>),
    /// There is none.
    None,
    /// The effort ended first.
    Unknown,
}

/// Any legal choice, by the compact model.
pub(super) fn any_legal(graph: &Graph, budget: &Budget) -> Found {
    let (mip, sane) = compact::rows(graph);
    match mip.solve(None, &budget.effort(graph.n_sites())) {
        Some(answer) if answer.infeasible && sane => Found::None,
        Some(answer) => {
            let chosen = answer.values.map(|values| compact::choice(graph, &values));
            match chosen.filter(|chosen| State::new(graph, chosen.clone()).is_legal()) {
                Some(chosen) => Found::Choice(chosen),
                None => Found::Unknown,
            }
        }
        None => Found::Unknown,
    }
}
