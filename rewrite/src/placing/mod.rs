//! The placement of programs while they are rewritten: options, time, costs.

pub(crate) mod clock;
pub(crate) mod race;

use std::time::Duration;

use noisy_analyses::{
    self as analyses, Document, Options as PlacementOptions, Outcome, Program, TextEdit, Verdict,
    insert_reduces,
};
use noisy_syntax::{Form, Op};

use self::clock::Clock;
use crate::scale::Scale;

/// Lines of an opened loop, at most, as a multiple of the lines of the loop, beyond a few.
pub(crate) const MOST_CODE_GROWTH: usize = 8;

/// Lines of an opened loop that are always few enough.
pub(crate) const SMALL: usize = 64;

/// Options of [`crate::rewrite`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of the placement of the result. Its time limit is that of all.
    pub placing: PlacementOptions,
    /// The search and the first placements of its candidates take no longer than this, nor than
    /// half of the time limit.
    pub time: Duration,
    /// Operations that the result executes, at most, as a multiple of those before.
    pub growth: f64,
    /// True if loops and branches stay as they are, unless loops are unrolled.
    pub keeps_structure: bool,
}

/// The functions that are rewritten, by their places, and how programs are placed.
pub(crate) struct Placer<'a> {
    pub options: &'a Options,
    pub scale: Scale,
    /// The time limit.
    pub seconds: f64,
    /// The places of the functions among all of the program.
    pub places: Vec<usize>,
}

impl Placer<'_> {
    pub(crate) fn placing(&self, clock: &Clock) -> PlacementOptions {
        let mut placing = self.options.placing.clone();
        placing.wants_proofs = false;
        placing.watch = None;
        placing.limits.time = Some(clock.left());
        placing
    }

    /// The functions of a form of the program, and their placement.
    pub(crate) fn place(&self, after: &Document, clock: &Clock) -> Option<(Vec<Op>, Outcome)> {
        let functions = functions_at(after, &self.places)?;
        let outcome = insert_reduces(after, &functions, &self.placing(clock)).ok()?;
        Some((functions, outcome))
    }
}

/// A program after some edits, if they bring no problems.
pub(crate) fn edited(program: &Program, edits: &[TextEdit]) -> Option<Document> {
    let text = TextEdit::apply_all(edits, &program.source().text().to_string());
    let after = Document::with_model(&text, program.model().clone());
    let is_clean = after.source().problems().len() <= program.source().problems().len();
    is_clean.then_some(after)
}

/// The functions of a program by their places among all.
pub(crate) fn functions_at(program: &Program, places: &[usize]) -> Option<Vec<Op>> {
    let all = program.ir().functions();
    places.iter().map(|&it| all.get(it).copied()).collect()
}

/// The cost of each function that was placed and the least that it may cost, in executions.
pub(crate) fn costs(outcome: &Outcome) -> Vec<Option<(f64, f64)>> {
    let cost = |it: &analyses::FunctionOutcome| match &it.verdict {
        Verdict::Legal => Some((0.0, 0.0)),
        Verdict::Fixed(it) => {
            let unit = it.unit.max(1) as f64;
            Some((it.cost as f64 / unit, it.lower_bound.min(it.cost) as f64 / unit))
        }
        Verdict::Refused(_) => None,
    };
    outcome.functions.iter().map(cost).collect()
}

/// True if all ops of a function are known, so that all uses of values are.
pub(crate) fn is_read(program: &Program, function: Op) -> bool {
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
