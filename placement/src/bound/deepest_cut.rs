//! The most violated cut of a local problem at a point.
//!
//! Among all weights `a >= 0` for which every legal choice weighs at least 1, find the weights for
//! which the point weighs least. If the point weighs less than 1, `a x >= 1` is the deepest cut.
//! There are too many choices to list them. So the weights are computed for some choices; then
//! branch and bound ([`crate::bound::branch`]) finds the lightest choice for these weights, which
//! is added; and so on, until no choice weighs less than 1. Every proof on the way also gives a
//! cut, and the best cut is kept.
//!
//! Sites with value 1 at the point get no weight, so that they count as chosen. For sites with
//! value 0, a weight of 1 costs nothing. So only the fractional sites are difficult.
//!
//! Cost: about as many choices as fractional sites, each found with a tree of a few nodes.
//!
//! Source of the idea: local cuts by Fenchel separation (Boyd; Applegate, Bixby, Chvátal and Cook
//! for the travelling salesman).

use std::sync::Arc;

use noisy_solver::{Column, LinearProgram};

use crate::bound::branch::SearchEffort;
use crate::bound::local_problem::LocalProblem;
use crate::certificate::{Cut, ProofRow};
use crate::question::limits::EffortBudget;

/// The integer that represents the weight 1.
const UNIT: u64 = 1 << 16;
/// Maximum number of choices.
const MAX_CHOICES: usize = 100;
/// Maximum number of nodes of the tree for a choice.
const MAX_NODES: usize = 100;
/// Minimum violation of a cut, relative to its least weight.
const MIN_VIOLATION: f64 = 5e-3;

/// Returns the best cut at a point; `point` and the legal choice `known` are by column.
pub(crate) fn deepest_cut(
    local: &mut LocalProblem,
    point: &[f64],
    known: &[bool],
    budget: &mut EffortBudget,
) -> Option<ProofRow> {
    let n = point.len();
    // The small constant keeps weights small where the point is zero.
    let column = |&x: &f64| Column { cost: x + 1e-3, lower: 0.0, upper: 1.0, is_integer: false };
    let mut weigher =
        LinearProgram::new(&point.iter().map(column).collect::<Vec<Column>>()).ok()?;
    let ones = vec![1; n];
    let mut choices = vec![
        local.round_to_legal(point, &ones, budget)?,
        local.round_to_legal(&as_point(known), &ones, budget)?,
    ];
    let mut n_told = 0;
    let mut best: Option<(f64, ProofRow)> = None;
    while choices.len() < MAX_CHOICES && !budget.is_spent() {
        for choice in &choices[n_told..] {
            let chosen = (0..).zip(choice).filter(|it| *it.1);
            let terms: Vec<(u32, f64)> = chosen.map(|it| (it.0, 1.0)).collect();
            if terms.is_empty() {
                // The empty choice is legal.
                return None;
            }
            weigher.add_rows(std::iter::once((1.0, &terms[..]))).ok()?;
        }
        n_told = choices.len();
        let answer = weigher.solve(&budget.for_solver(n)).ok()?;
        budget.spend_iterations(answer.iterations + 10, n);
        let weights: Vec<u64> =
            answer.values.iter().map(|a| (a * UNIT as f64).round().max(0.0) as u64).collect();
        let now: f64 = weights.iter().zip(point).map(|(&a, x)| a as f64 * x).sum();
        if now > UNIT as f64 * (1.0 - MIN_VIOLATION) {
            break;
        }
        let weigh = |choice: &[bool]| -> u64 {
            weights.iter().zip(choice).filter(|it| *it.1).map(|it| *it.0).sum()
        };
        let lightest = choices.iter().min_by_key(|it| weigh(it))?.clone();
        let known = weigh(&lightest);
        let effort =
            SearchEffort { nodes: MAX_NODES, tolerance: UNIT / 512, enough: known - known / 32 };
        let answer =
            local.find_least_weight(&weights, lightest, effort, &mut |_, _, _| (), budget)?;
        let least = answer.proof.bound;
        let depth = (least as f64 - now) / least.max(1) as f64;
        if depth > best.as_ref().map_or(MIN_VIOLATION, |it| it.0) {
            let terms = local.sites.iter().copied().zip(weights.iter().copied());
            let terms = terms.filter(|it| it.1 > 0).collect();
            best =
                Some((depth, ProofRow::Cut(Arc::new(Cut { terms, least, proof: answer.proof }))));
        }
        if weigh(&answer.choice) > known - known / 512 {
            break;
        }
        // Remove useless sites from the choice, including sites without weight.
        let padded: Vec<u64> = weights.iter().map(|it| it.max(&1)).copied().collect();
        let lean = local.round_to_legal(&as_point(&answer.choice), &padded, budget)?;
        choices.push(if weigh(&lean) < known { lean } else { answer.choice });
    }
    best.map(|it| it.1)
}

fn as_point(choice: &[bool]) -> Vec<f64> {
    choice.iter().map(|&it| f64::from(u8::from(it))).collect()
}
