//! The cut of a window that a point violates most.
//!
//! Of all weights `a >= 0` that give every legal choice of the window at least 1 those are wanted that weigh least at the point: if
//! that is under 1, `a x >= 1` is the deepest cut. There are too many choices to list. So the weights are found for some choices, then
//! the lightest choice is found for the weights by branch and bound ([`crate::branch`]), and so on, until no choice weighs less
//! than 1. Every proof on the way gives a cut, too; the best is kept.
//!
//! Where the point is 1 the weight is 0, so that such sites count as chosen, and where it is 0 a weight of 1 costs nothing: what is
//! left to find out is about the sites between.
//!
//! Cost: some dozens of choices for as many sites between, each by a tree of a few nodes.
//!
//! Source of the idea: local cuts by Fenchel separation (Boyd; Applegate, Bixby, Chvátal and Cook for the travelling salesman).

use std::sync::Arc;

use noisy_solver::{Column, LinearProgram};

use crate::branch::Effort;
use crate::certificate::{Cut, Row};
use crate::limits::Budget;
use crate::window::Window;

/// Weights are counted in so many parts.
const UNIT: u64 = 1 << 16;
/// So many choices are looked at.
const CHOICES: usize = 100;
/// A proof takes at most so many nodes.
const NODES: usize = 100;
/// A cut is violated by at least this part of its least weight.
const DEPTH: f64 = 5e-3;

/// The best cut that was found at a point, by column; `known` is a legal choice.
pub(crate) fn deepest_cut(
    window: &mut Window,
    point: &[f64],
    known: &[bool],
    budget: &mut Budget,
) -> Option<Row> {
    let n = point.len();
    // A little for where the point is zero: weights there are no higher than needed.
    let column = |&x: &f64| Column { cost: x + 1e-3, lower: 0.0, upper: 1.0, is_integer: false };
    let mut weigher =
        LinearProgram::new(&point.iter().map(column).collect::<Vec<Column>>()).ok()?;
    let ones = vec![1; n];
    let mut choices =
        vec![window.round(point, &ones, budget)?, window.round(&as_point(known), &ones, budget)?];
    let mut n_told = 0;
    let mut best: Option<(f64, Row)> = None;
    while choices.len() < CHOICES && !budget.is_spent() {
        for choice in &choices[n_told..] {
            let chosen = (0..).zip(choice).filter(|it| *it.1);
            let terms: Vec<(u32, f64)> = chosen.map(|it| (it.0, 1.0)).collect();
            if terms.is_empty() {
                // Nothing is legal, too.
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
        if now > UNIT as f64 * (1.0 - DEPTH) {
            break;
        }
        let weigh = |choice: &[bool]| -> u64 {
            weights.iter().zip(choice).filter(|it| *it.1).map(|it| *it.0).sum()
        };
        let lightest = choices.iter().min_by_key(|it| weigh(it))?.clone();
        let known = weigh(&lightest);
        let effort = Effort { nodes: NODES, tolerance: UNIT / 512, enough: known - known / 32 };
        let answer = window.least(&weights, Some(lightest), effort, &mut |_, _, _| (), budget)?;
        let least = answer.proof.bound;
        let depth = (least as f64 - now) / least.max(1) as f64;
        if depth > best.as_ref().map_or(DEPTH, |it| it.0) {
            let terms = window.sites.iter().copied().zip(weights.iter().copied());
            let terms = terms.filter(|it| it.1 > 0).collect();
            best = Some((depth, Row::Cut(Arc::new(Cut { terms, least, proof: answer.proof }))));
        }
        if weigh(&answer.choice) > known - known / 512 {
            break;
        }
        // Without what it does not need; a site without weight may be that, too.
        let padded: Vec<u64> = weights.iter().map(|it| it.max(&1)).copied().collect();
        let lean = window.round(&as_point(&answer.choice), &padded, budget)?;
        choices.push(if weigh(&lean) < known { lean } else { answer.choice });
    }
    best.map(|it| it.1)
}

fn as_point(choice: &[bool]) -> Vec<f64> {
    choice.iter().map(|&it| f64::from(u8::from(it))).collect()
}
