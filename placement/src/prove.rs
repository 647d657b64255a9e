//! Bounds and proofs for one part: the relaxation over conflict cores, what it fixes, and branch and bound.
//!
//! Phases:
//!
//! 1. *Relaxation* ([`crate::relax`]): a bound, reduced costs, and the cores that matter.
//! 2. *Fixing.* A site whose reduced cost lifts the bound to the incumbent cannot differ in a better choice. Fix
//!    all such, simplify what is left, and start over on its parts.
//! 3. *Sweep.* A program that is narrow in some order is decided by dynamic programming ([`crate::frontier_dp`]).
//! 4. *Branch and bound* over the cores found. Where its optimum violates further cores they are added and it is
//!    solved again (implicit hitting set); where it violates none, it is optimal.
//!
//! Law kept: what is posted as a bound is one, whatever was interrupted.
//!
//! Source of the idea: implicit hitting sets as in `MaxSAT` (Davies, Bacchus) with the cores of this problem.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::compact;
use crate::cores::{Core, Cores};
use crate::fixed_point::SCALE;
use crate::frontier_dp::{Frontier, Outcome, Terms, frontier_dp};
use crate::graph::Graph;
use crate::greedy;
use crate::incumbent::Incumbent;
use crate::limits::Budget;
use crate::piece::Piece;
use crate::relax::{Relaxed, relax, separate};
use crate::simplify::{Fixed, simplify};
use crate::state::State;
use crate::walk::walk_for;
use noisy_solver::{Column, Model, Row, Status};

/// Branch and bound does much that its count of iterations does not show (cuts, heuristics): this times as much as
/// its iterations.
const BRANCHING: u64 = 10;

/// What the root of branch and bound costs on `n` columns, in node visits: with less it is not begun.
fn root(n: usize) -> u64 {
    n as u64 * 5000
}

/// Proves what it can about a graph and posts bounds and better choices on the incumbent.
pub(crate) fn prove(graph: &Graph, incumbent: &Arc<Incumbent>, budget: &mut Budget) {
    let cores = if budget.steps.cores { Cores::new(graph) } else { None };
    match cores {
        Some(cores) => by_cores(graph, cores, incumbent, budget),
        None => by_rows(graph, incumbent, budget),
    }
}

/// The compact model, solved once.
fn by_rows(graph: &Graph, incumbent: &Incumbent, budget: &mut Budget) {
    if !budget.steps.branch {
        return;
    }
    let (mip, sane) = compact::rows(graph);
    let best = incumbent.best();
    let state = State::new(graph, best);
    let start: Vec<f64> = (state.chosen.iter().map(|&c| f64::from(u8::from(c))))
        .chain(state.e.iter().map(|&e| f64::from(e)))
        .collect();
    let start = state.is_legal().then_some(&start[..]);
    let Ok(answer) = mip.solve(start, &budget.for_solver(graph.n_sites())) else { return };
    budget.spend_iterations(answer.iterations, graph.n_sites());
    if let Some(values) = &answer.values {
        offer(graph, compact::choice(graph, values), incumbent);
    }
    if sane {
        // NB: there is an incumbent, so a solver that says infeasible is wrong.
        incumbent.prove(if answer.status == Status::Infeasible {
            0
        } else {
            ceil_bound(answer.bound)
        });
    }
}

/// The integer at or above a bound from floating point, generous to its error.
fn ceil_bound(bound: f64) -> u64 {
    if bound.is_finite() && bound > 0.0 { (bound - 1e-5).ceil().max(0.0) as u64 } else { 0 }
}

/// Offers a choice made by rounding, if it is legal, without what it does not need.
fn offer(graph: &Graph, chosen: Vec<bool>, incumbent: &Incumbent) {
    let mut state = State::new(graph, chosen);
    if state.is_legal() {
        greedy::prune(graph, &mut state);
        incumbent.offer(state.cost, &state.chosen);
    }
}

fn by_cores(graph: &Graph, mut cores: Cores, incumbent: &Arc<Incumbent>, budget: &mut Budget) {
    let Some(mut relaxed) = relax(graph, &mut cores, incumbent, budget) else { return };
    if incumbent.is_proven() || budget.is_spent() {
        return;
    }
    if budget.steps.fix && fix(graph, &relaxed, incumbent, budget) {
        return;
    }
    // A little of each, then much of each: either may decide at once where the other never ends. What is narrow is decided at once.
    let frontier = budget.steps.frontier_dp.then(|| Frontier::new(graph, cores.levels()));
    let is_narrow = frontier.as_ref().is_some_and(|it| it.bits <= NARROW);
    let few = if is_narrow { MOST_STATES } else { 1 << 12 };
    for (states, iterations) in [(few, 20_000), (MOST_STATES, u64::MAX)] {
        if let Some(frontier) = &frontier
            && narrow(graph, &cores, &relaxed, frontier, states, incumbent, budget)
        {
            return;
        }
        if relaxed.complete && budget.steps.branch && !budget.is_spent() {
            branch(graph, &mut cores, &mut relaxed, iterations, incumbent, budget);
        }
        if incumbent.is_proven() || budget.is_spent() {
            return;
        }
    }
    // In a loop a core can hide; then the rows decide.
    if graph.cyclic && !incumbent.is_proven() && !budget.is_spent() {
        by_rows(graph, incumbent, budget);
    }
}

/// Phase 2. Says whether it took over: then nothing is left to do here.
fn fix(graph: &Graph, relaxed: &Relaxed, incumbent: &Arc<Incumbent>, budget: &mut Budget) -> bool {
    let better = (i128::from(incumbent.upper()) - 1) << SCALE;
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
        incumbent.prove(incumbent.upper());
        return true;
    };
    let base: u64 = (simple.fixed.iter().zip(&graph.cost))
        .filter(|(f, _)| **f == Fixed::Chosen)
        .fold(0, |acc, (_, &cost)| acc.saturating_add(cost));
    let mut chosen: Vec<bool> = simple.fixed.iter().map(|&f| f == Fixed::Chosen).collect();
    // What is proven of the pieces is at once of the whole: no choice costs less than `upper` without being one of them.
    let upper = incumbent.upper();
    let sum = Arc::new(Mutex::new((base, Vec::new())));
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, part) in simple.parts.into_iter().enumerate() {
        let Ok(piece) = Piece::new(part, budget) else { return false };
        sum.lock().unwrap_or_else(PoisonError::into_inner).1.push(0);
        let (sum, whole, grain) = (Arc::clone(&sum), Arc::clone(incumbent), piece.grain);
        pieces.push(piece.with_listener(move |bound| {
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            sum.1[at] = bound.saturating_mul(grain).max(sum.1[at]);
            let lower = sum.1.iter().fold(sum.0, |all: u64, &it| all.saturating_add(it));
            whole.prove(lower.min(upper));
        }));
    }
    let mut by_size: Vec<&Piece> = pieces.iter().collect();
    by_size.sort_by_key(|it| it.graph.n_sites());
    for piece in by_size {
        let visits = (piece.graph.n_sites() as u64 * 2000).min(budget.left);
        walk_for(&piece.graph, &piece.incumbent, 1, visits, budget);
        prove(&piece.graph, &piece.incumbent, budget);
    }
    for piece in &pieces {
        for (&s, c) in piece.sites.iter().zip(piece.incumbent.best()) {
            chosen[s as usize] = c;
        }
    }
    offer(graph, chosen, incumbent);
    let lower = pieces.iter().fold(base, |sum, it| sum.saturating_add(it.cost_and_bound().1));
    incumbent.prove(lower.min(upper));
    true
}

/// Most states of the frontier at a time.
const MOST_STATES: usize = 1 << 19;
/// A frontier of so many bits is outcome before anything else.
const NARROW: u32 = 48;

/// Phase 3. Says whether it decided the matter.
fn narrow(
    graph: &Graph,
    cores: &Cores,
    relaxed: &Relaxed,
    frontier: &Frontier,
    states: usize,
    incumbent: &Incumbent,
    budget: &mut Budget,
) -> bool {
    let upper = incumbent.upper();
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
    let (outcome, work) = frontier_dp(graph, &terms);
    budget.spend(work);
    match outcome {
        Outcome::NoneBetter => incumbent.prove(upper),
        Outcome::Better(chosen) => {
            let cost = graph.cost_of(&chosen);
            offer(graph, chosen, incumbent);
            incumbent.prove(cost);
        }
        Outcome::GaveUp => return false,
    }
    true
}

/// Phase 4.
fn branch(
    graph: &Graph,
    cores: &mut Cores,
    relaxed: &mut Relaxed,
    iterations: u64,
    incumbent: &Incumbent,
    budget: &mut Budget,
) {
    let columns: Vec<Column> = graph
        .cost
        .iter()
        .map(|&cost| Column { cost: cost as f64, lower: 0.0, upper: 1.0, is_integer: true })
        .collect();
    // Beyond this a solver in floating point cannot tell costs apart.
    if graph.cost.iter().fold(0, |acc: u64, &c| acc.saturating_add(c)) > 1 << 40 {
        return;
    }
    let row = |core: &Core| Row {
        lower: 1.0,
        upper: f64::INFINITY,
        terms: core.iter().map(|&s| (s, 1.0)).collect(),
    };
    let mut mip = Model { columns, rows: relaxed.cores.iter().map(row).collect() };
    let mut known: HashSet<Core> = relaxed.cores.iter().cloned().collect();
    loop {
        let start: Vec<f64> = incumbent.best().iter().map(|&c| f64::from(u8::from(c))).collect();
        if budget.left < root(graph.n_sites()) {
            return;
        }
        let mut limits = budget.for_solver(graph.n_sites());
        limits.iterations /= if budget.left == u64::MAX { 1 } else { BRANCHING };
        limits.iterations = limits.iterations.min(iterations);
        let Ok(answer) = mip.solve(Some(&start), &limits) else { return };
        budget.spend_iterations(answer.iterations.saturating_mul(BRANCHING), graph.n_sites());
        if answer.status == Status::Infeasible {
            return;
        }
        incumbent.prove(ceil_bound(answer.bound));
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
        offer(graph, chosen, incumbent);
        if incumbent.is_proven()
            || legal_at_once
            || answer.status == Status::Stopped
            || budget.is_spent()
        {
            return;
        }
    }
}
