//! Restructuring of loops and branches before arithmetic is rewritten, and hoisting of invariant
//! arithmetic afterwards.
//!
//! Each form is a separate program: the search rewrites its arithmetic, the optimizer places it,
//! and the cheapest form of each function that is proven equivalent is taken. So the
//! transformations here need not be correct for the result to be correct.

mod branches;
mod hoist;
mod stride;
mod text;

use std::collections::VecDeque;

use noisy_analyses::{Document, Program, TextEdit};
use noisy_dataflow::flow::Flow;
use noisy_syntax::Op;

use self::stride::StrideSize;
use crate::extract::is_ring_op;
use crate::placing::{
    MAX_CODE_GROWTH, Placer, SMALL_CODE, apply_edits, functions_at, is_fully_parsed,
};

/// Maximum number of passes over nested loops or branches.
const MAX_PASSES: usize = 8;

/// The strides to try: numbers of iterations that are combined.
const STRIDE_SIZES: &[StrideSize] =
    &[StrideSize::Share(4), StrideSize::Share(1), StrideSize::Period];

/// Maximum number of ops of functions for which other forms are tried, because each form takes
/// time.
const MAX_OPS: usize = 3000;

/// Maximum number of times that the loops of the best form are strided again.
const MAX_REPEATS: usize = 2;

/// The remaining restructured forms of a program.
pub(crate) struct StructureForms<'a> {
    waiting: VecDeque<Document>,
    placer: &'a Placer<'a>,
    n_again: usize,
}

impl<'a> StructureForms<'a> {
    pub(crate) fn of(program: &Program, placer: &'a Placer<'a>) -> Self {
        let keeps = placer.options.keeps_structure;
        let forms = if keeps { Vec::new() } else { forms(program, &placer.function_indices) };
        let n_again = if forms.is_empty() { 0 } else { MAX_REPEATS };
        Self { waiting: forms.into(), placer, n_again }
    }

    /// Maximum number of remaining forms.
    pub(crate) fn n_left(&self) -> usize {
        self.waiting.len() + self.n_again
    }

    /// Returns the next form. After all other forms, it is the best form `last` with longer
    /// strides, because a body that became short may be repeated more often.
    pub(crate) fn next(&mut self, last: Option<&Program>) -> Option<Document> {
        if let Some(it) = self.waiting.pop_front() {
            return Some(it);
        }
        self.n_again = self.n_again.checked_sub(1)?;
        strided(last?, &self.placer.function_indices, StrideSize::Again)
    }

    /// Returns a form with rewritten arithmetic after the final passes: hoisting and removal of
    /// unused ops.
    pub(crate) fn finished(form: Document, placer: &Placer<'_>) -> Document {
        let places = &placer.function_indices;
        let after = run_pass_repeatedly(&form, places, hoist::hoist_invariants).unwrap_or(form);
        run_pass_repeatedly(&after, places, text::remove_unused).unwrap_or(after)
    }
}

/// Returns true if a function has changed within the limits of growth.
pub(crate) fn is_allowed_form(old: (&Program, Op), new: (&Program, Op), most_growth: f64) -> bool {
    let text = |it: (&Program, Op)| it.0.source().slice(it.0.ir().range(it.1));
    let growth = n_executed(new.0, new.1) / n_executed(old.0, old.1).max(1.0);
    let most = MAX_CODE_GROWTH * n_ops(old.0, old.1) + SMALL_CODE;
    // The texts must differ, because the cost of an unchanged callee may fall when its callers
    // change.
    text(old) != text(new)
        && growth <= most_growth
        && n_ops(new.0, new.1) <= most
        && is_fully_parsed(old.0, old.1)
}

/// Returns the restructured forms of a program.
fn forms(program: &Program, places: &[usize]) -> Vec<Document> {
    let mut out: Vec<Document> = Vec::new();
    let Some(functions) = functions_at(program, places) else { return out };
    if functions.iter().map(|&it| n_ops(program, it)).sum::<usize>() > MAX_OPS {
        return out;
    }
    // Merges branches first, and then hoists arithmetic out of loops, both from the inside out.
    let merged = run_pass_repeatedly(program, places, branches::merge_branches);
    let merged =
        merged.map(|it| run_pass_repeatedly(&it, places, text::remove_unused).unwrap_or(it));
    let hoisted =
        run_pass_repeatedly(merged.as_deref().unwrap_or(program), places, hoist::hoist_invariants);
    let base = hoisted.or(merged);
    for &size in STRIDE_SIZES {
        let form = strided(base.as_deref().unwrap_or(program), places, size);
        let is_new = |form: &Document| {
            out.iter().all(|it: &Document| it.source().text() != form.source().text())
        };
        out.extend(form.filter(is_new));
    }
    out.extend(base);
    out
}

/// Returns a program in which loops combine several iterations.
fn strided(program: &Program, places: &[usize], size: StrideSize) -> Option<Document> {
    run_pass(program, places, &|program, functions| stride::stride_loops(program, functions, size))
}

/// A pass: returns the edits of some functions.
type PassFn<'a> = &'a dyn Fn(&Program, &[Op]) -> Option<Vec<TextEdit>>;

/// Returns a program after a pass over some functions; `None` if nothing changes.
fn run_pass(program: &Program, places: &[usize], pass: PassFn<'_>) -> Option<Document> {
    let mut functions = functions_at(program, places)?;
    functions.retain(|&it| is_fully_parsed(program, it));
    apply_edits(program, &pass(program, &functions)?)
}

/// Returns a program after a pass that is repeated until nothing changes.
fn run_pass_repeatedly(
    program: &Program,
    places: &[usize],
    pass: impl Fn(&Program, &[Op]) -> Option<Vec<TextEdit>>,
) -> Option<Document> {
    let mut out = run_pass(program, places, &pass)?;
    for _ in 1..MAX_PASSES {
        let Some(next) = run_pass(&out, places, &pass) else { break };
        out = next;
    }
    Some(out)
}

/// Number of ops of a function.
fn n_ops(program: &Program, function: Op) -> usize {
    let mut n = 0;
    for &(_, region) in &program.ir().op(function).regions {
        program.ir().walk(region, &mut |_| n += 1);
    }
    n
}

/// Number of sums, differences and products that a function executes. All branches count, and loops
/// with unknown trip counts count as one iteration.
fn n_executed(program: &Program, function: Op) -> f64 {
    let ir = program.ir();
    let mut out = 0.0;
    let mut stack: Vec<(Op, f64)> = vec![(function, 1.0)];
    while let Some((op, n)) = stack.pop() {
        if is_ring_op(ir, op) {
            out += n;
        }
        let trips = match Flow::of(ir, op) {
            Flow::For { .. } => program.integers().trips(ir, op).exact().unwrap_or(1) as f64,
            _ => 1.0,
        };
        for &(_, region) in &ir.op(op).regions {
            stack.extend(ir.items(region).map(|it| (it, n * trips)));
        }
    }
    out
}
