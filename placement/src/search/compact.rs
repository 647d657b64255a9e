//! The placement problem as a mixed-integer program: one binary column per site, one continuous
//! column per node.
//!
//! Notation: `d(s)` is 1 if site `s` is chosen, and `e(v)` is the noise after node `v`, with `lo <=
//! e <= limit`. Only `>=` rows are needed: a point that satisfies them is above the least solution,
//! so the least solution is legal too, even with cycles.
//!
//! ```text
//! each operand u of Max(c):   e(v) >= e(u) + c - M d        and   e(u) + c <= limit
//! Sum(c):                     e(v) >= sum of e(u) + c - M d  and   sum of e(u) + c <= limit
//! a reset above lo:           e(v) >= reset d
//! ```
//!
//! with `M = max e(v) - lo(v)`, the smallest constant that disables a row. The model finds choices
//! in cases in which cores do not (different resets, huge budgets, cycles that hide cores), and
//! detects instances without a legal choice. No bound is derived from it. Rows cannot express
//! unbounded noise without a limit.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::{NodeRule, NoiseBits};
use crate::question::least_noise::extreme_noise;
use crate::question::limits::EffortBudget;
use crate::search::state::ChoiceState;
use noisy_solver::{Column, MixedIntegerProgram, Row, SolveStatus};

/// Returns the model of a graph. The columns are the sites, then the nodes. The flag is true if the
/// numbers are small enough for a solver in floating point.
pub(crate) fn compact_model(graph: &NoiseGraph) -> (MixedIntegerProgram, bool) {
    let n_sites = graph.n_sites();
    let (_, lo) = extreme_noise(graph, true, NoiseBits::MAX);
    let (hi_p, hi) = extreme_noise(graph, false, NoiseBits::MAX);
    let mut mip = MixedIntegerProgram::default();
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
            if site != NO_INDEX {
                terms.push((site, slack));
            }
            merge(&mut terms);
            Row { lower: least, upper: f64::INFINITY, terms }
        };
        let limited = |terms: &[(u32, f64)], c: NoiseBits| Row {
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
                    if graph.limit[i] != NoiseBits::MAX {
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
                if graph.limit[i] != NoiseBits::MAX {
                    mip.rows.push(limited(&terms, c));
                }
                for (_, k) in &mut terms {
                    *k = -*k;
                }
                mip.rows.push(switched(f64::from(c), terms));
            }
        }
        if site != NO_INDEX && graph.reset[site as usize] > lo[i] {
            let rise = f64::from(graph.reset[site as usize] - lo[i]);
            let terms = vec![(node(v), 1.0), (site, -rise)];
            mip.rows.push(Row { lower: f64::from(lo[i]), upper: f64::INFINITY, terms });
        }
    }
    (mip, sane)
}

/// Adds up the terms of each column (a node may be its own operand).
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

/// Returns the choice of sites of a solution.
pub(crate) fn chosen_sites(graph: &NoiseGraph, values: &[f64]) -> Vec<bool> {
    values[..graph.n_sites()].iter().map(|x| *x > 0.5).collect()
}

/// The result of the search for any legal choice.
pub(crate) enum AnyLegalResult {
    /// A legal choice.
    Choice(Vec<bool>),
    /// No choice is legal.
    None,
    /// The limits were reached before the search was complete.
    Unknown,
}

/// Searches for any legal choice with the compact model.
pub(crate) fn find_any_legal(graph: &NoiseGraph, budget: &EffortBudget) -> AnyLegalResult {
    let (mip, sane) = compact_model(graph);
    match mip.solve(None, &budget.for_solver(graph.n_sites())) {
        Ok(answer) if answer.status == SolveStatus::Infeasible && sane => AnyLegalResult::None,
        Ok(answer) => {
            let chosen = answer.values.map(|values| chosen_sites(graph, &values));
            match chosen.filter(|chosen| ChoiceState::new(graph, chosen.clone()).is_legal()) {
                Some(chosen) => AnyLegalResult::Choice(chosen),
                None => AnyLegalResult::Unknown,
            }
        }
        Err(_) => AnyLegalResult::Unknown,
    }
}
