//! The placement problem as rows for a solver: one binary column per site, one number per node.
//!
//! Notation: `d(s)` is 1 if site `s` is chosen, `e(v)` is the noise that leaves node `v`,
//! `lo <= e <= limit`. Only `>=` rows are needed: a point that satisfies them is above the
//! least solution, so the least solution is legal too, also in loops.
//!
//! ```text
//! each operand u of Max(c):   e(v) >= e(u) + c - M d        and   e(u) + c <= limit
//! Sum(c):                     e(v) >= sum of e(u) + c - M d  and   sum of e(u) + c <= limit
//! a reset above lo:           e(v) >= reset d
//! ```
//!
//! with `M` the most that `e(v)` may be above `lo(v)`, the smallest constant that switches a row
//! off. The model finds choices where cores do not (mixed resets, huge budgets, loops where cores
//! hide) and detects that nothing is legal. No bound is taken from it. Rows cannot express noise
//! that grows without end where no limit forbids it.

use crate::question::graph::{Graph, NONE};
use crate::question::instance::{Bits, NodeRule};
use crate::question::least_noise::extreme;
use crate::question::limits::Budget;
use crate::search::state::ChoiceState;
use noisy_solver::{Column, Model, Row, Status};

/// Returns the rows of a graph. Columns are the sites, then the nodes. The flag is true if the
/// numbers are small enough for a solver in floating point to be trusted.
pub(crate) fn rows(graph: &Graph) -> (Model, bool) {
    let n_sites = graph.n_sites();
    let (_, lo) = extreme(graph, true, Bits::MAX);
    let (hi_p, hi) = extreme(graph, false, Bits::MAX);
    let mut mip = Model::default();
    for &cost in &graph.cost {
        mip.columns.push(Column { cost: cost as f64, lower: 0.0, upper: 1.0, is_integer: true });
    }
    let mut sane = graph.cost.iter().all(|&cost| cost < 1 << 40);
    for v in 0..graph.n_nodes() {
        let (lower, upper) = (f64::from(lo[v]), f64::from(hi[v].max(lo[v])));
        mip.columns.push(Column { cost: 0.0, lower, upper, is_integer: false });
        sane &= hi_p[v].saturating_sub(lo[v]) < 1 << 20;
    }
    let node = |v: u32| n_sites as u32 + v;
    for v in 0..graph.n_nodes() as u32 {
        let i = v as usize;
        let site = graph.site[i];
        let slack = f64::from(hi_p[i].saturating_sub(lo[i]));
        let switched = |least: f64, mut terms: Vec<(u32, f64)>| {
            terms.push((node(v), 1.0));
            if site != NONE {
                terms.push((site, slack));
            }
            merge(&mut terms);
            Row { lower: least, upper: f64::INFINITY, terms }
        };
        let limited = |terms: &[(u32, f64)], c: Bits| Row {
            lower: f64::from(c) - f64::from(graph.limit[i]),
            upper: f64::INFINITY,
            terms: terms.iter().map(|&(col, k)| (col, -k)).collect(),
        };
        match graph.rule[i] {
            NodeRule::Source(noise) => mip.rows.push(switched(f64::from(noise), Vec::new())),
            NodeRule::Max(c) => {
                let mut seen: Vec<u32> = Vec::new();
                for &u in graph.operands.of(v) {
                    if seen.contains(&u) {
                        continue;
                    }
                    seen.push(u);
                    mip.rows.push(switched(f64::from(c), vec![(node(u), -1.0)]));
                    if graph.limit[i] != Bits::MAX {
                        mip.rows.push(limited(&[(node(u), 1.0)], c));
                    }
                }
            }
            NodeRule::Sum(c) => {
                let mut terms: Vec<(u32, f64)> = Vec::new();
                for &u in graph.operands.of(v) {
                    match terms.iter_mut().find(|(col, _)| *col == node(u)) {
                        Some((_, times)) => *times += 1.0,
                        None => terms.push((node(u), 1.0)),
                    }
                }
                if graph.limit[i] != Bits::MAX {
                    mip.rows.push(limited(&terms, c));
                }
                for (_, k) in &mut terms {
                    *k = -*k;
                }
                mip.rows.push(switched(f64::from(c), terms));
            }
        }
        if site != NONE && graph.reset[site as usize] > lo[i] {
            let rise = f64::from(graph.reset[site as usize] - lo[i]);
            let terms = vec![(node(v), 1.0), (site, -rise)];
            mip.rows.push(Row { lower: f64::from(lo[i]), upper: f64::INFINITY, terms });
        }
    }
    (mip, sane)
}

/// Adds up terms of the same column (a node that is its own operand).
fn merge(terms: &mut Vec<(u32, f64)>) {
    let mut merged: Vec<(u32, f64)> = Vec::with_capacity(terms.len());
    for &(col, k) in terms.iter() {
        match merged.iter_mut().find(|(c, _)| *c == col) {
            Some((_, sum)) => *sum += k,
            None => merged.push((col, k)),
        }
    }
    *terms = merged;
}

/// Returns the choice that a point stands for.
pub(crate) fn choice(graph: &Graph, values: &[f64]) -> Vec<bool> {
    values[..graph.n_sites()].iter().map(|x| *x > 0.5).collect()
}

/// The result of looking for any legal choice.
pub(crate) enum AnyLegal {
    /// A legal choice.
    Choice(Vec<bool>),
    /// No choice is legal.
    None,
    /// The limits ended the search first.
    Unknown,
}

/// Looks for any legal choice with the compact model.
pub(crate) fn any_legal(graph: &Graph, budget: &Budget) -> AnyLegal {
    let (mip, sane) = rows(graph);
    match mip.solve(None, &budget.for_solver(graph.n_sites())) {
        Ok(answer) if answer.status == Status::Infeasible && sane => AnyLegal::None,
        Ok(answer) => {
            let chosen = answer.values.map(|values| choice(graph, &values));
            match chosen.filter(|chosen| ChoiceState::new(graph, chosen.clone()).is_legal()) {
                Some(chosen) => AnyLegal::Choice(chosen),
                None => AnyLegal::Unknown,
            }
        }
        Err(_) => AnyLegal::Unknown,
    }
}
