//! Placement of programs during rewriting: options, time, costs.

pub(crate) mod clock;
pub(crate) mod race;

use std::time::Duration;

use noisy_analyses::{
    self as analyses, Document, PlacementOptions, PlacementOutcome, PlacementVerdict, Program,
    TextEdit, insert_reduces,
};
use noisy_syntax::{Form, Op};

use self::clock::TimeLimit;
use crate::scale::NoiseParameters;

/// Maximum growth of a loop by unrolling: the unrolled loop has at most the ops of the loop times
/// this factor, plus [`SMALL_CODE`].
pub(crate) const MAX_CODE_GROWTH: usize = 8;

/// Number of ops that an unrolled loop may have, however small the loop is.
pub(crate) const SMALL_CODE: usize = 64;

/// Options of [`crate::rewrite`].
#[derive(Clone, Debug)]
pub struct RewriteOptions {
    /// Options of the placements. Their time limit applies to the whole call.
    pub placement: PlacementOptions,
    /// Maximum time for the search and the first placements of its candidates; they also take at
    /// most half of the time limit.
    pub search_time: Duration,
    /// Maximum growth: the number of executed operations of the result relative to that of the
    /// original program.
    pub max_growth: f64,
    /// True if loops and branches are not restructured; loops may still be unrolled.
    pub keeps_structure: bool,
}

/// The functions to rewrite, and the parameters of their placement.
pub(crate) struct Placer<'a> {
    pub options: &'a RewriteOptions,
    pub noise_parameters: NoiseParameters,
    /// The time limit in seconds.
    pub time_limit_seconds: f64,
    /// The indices of the functions among all functions of the program.
    pub function_indices: Vec<usize>,
}

impl Placer<'_> {
    pub(crate) fn placement_options(&self, clock: &TimeLimit) -> PlacementOptions {
        let mut placing = self.options.placement.clone();
        placing.wants_proofs = false;
        placing.watch = None;
        placing.limits.time = Some(clock.remaining());
        placing
    }

    /// Returns the functions of a rewritten program, and their placement.
    pub(crate) fn place(
        &self,
        after: &Document,
        clock: &TimeLimit,
    ) -> Option<(Vec<Op>, PlacementOutcome)> {
        let functions = functions_at(after, &self.function_indices)?;
        let outcome = insert_reduces(after, &functions, &self.placement_options(clock)).ok()?;
        Some((functions, outcome))
    }
}

/// Returns a program after some edits, unless they introduce problems.
pub(crate) fn apply_edits(program: &Program, edits: &[TextEdit]) -> Option<Document> {
    let text = TextEdit::apply_all(edits, &program.source().text().to_string());
    let after = Document::with_model(&text, program.model().clone());
    let is_clean = after.source().problems().len() <= program.source().problems().len();
    is_clean.then_some(after)
}

/// Returns functions of a program by their indices among all functions.
pub(crate) fn functions_at(program: &Program, places: &[usize]) -> Option<Vec<Op>> {
    let all = program.ir().functions();
    places.iter().map(|&it| all.get(it).copied()).collect()
}

/// Returns the cost and the lower bound of each function, as numbers of executed reductions of
/// noise; `None` for a function without a placement.
pub(crate) fn costs_and_bounds(outcome: &PlacementOutcome) -> Vec<Option<(f64, f64)>> {
    let cost = |it: &analyses::FunctionOutcome| match &it.verdict {
        PlacementVerdict::Legal => Some((0.0, 0.0)),
        PlacementVerdict::Fixed(it) => {
            let unit = it.unit.max(1) as f64;
            Some((it.cost as f64 / unit, it.lower_bound.min(it.cost) as f64 / unit))
        }
        PlacementVerdict::Refused(_) => None,
    };
    outcome.functions.iter().map(cost).collect()
}

/// Returns true if all ops of a function were fully parsed, so that all uses of values are known.
pub(crate) fn is_fully_parsed(program: &Program, function: Op) -> bool {
    let ir = program.ir();
    let mut is_read = true;
    let mut look = |op: Op| {
        is_read &= !matches!(ir.op(op).form, Form::Broken | Form::Opaque) && !ir.has_problem(op);
    };
    look(function);
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut look);
    }
    is_read
}
