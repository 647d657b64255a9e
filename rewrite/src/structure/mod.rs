//! Loops and branches take another form before arithmetic is rewritten, and invariant arithmetic
//! leaves loops after it.
//!
//! Each form is a program of its own: the search rewrites its arithmetic, the optimizer places it,
//! and of each function the cheapest is taken that is shown equal. Nothing here has to be trusted.

mod branches;
mod hoist;
mod stride;
mod text;

use std::time::Instant;

use noisy_analyses::{Document, Program, TextEdit, insert_reduces};
use noisy_dataflow::flow::Flow;
use noisy_syntax::{Op, OpKind};

use crate::equality::{equal, equal_within, work_in};
use crate::extract::arithmetic;
use crate::improve::{self, DEFAULT_LIMIT, Options, Rewritten, Saving, costs, is_read, worthwhile};
use crate::scale::Scale;

/// Passes over loops or branches within others, at most.
const MOST_PASSES: usize = 8;

/// Shares of the allowed code growth that loops use when they take several iterations at once.
const SHARES: &[usize] = &[4, 1];

/// The share of the time in which programs are placed to compare them.
const PLACING: f64 = 0.1;

/// Rewrites functions of a program so that they need fewer reductions; `None` if no rewriting that
/// was found and shown equal saves any. Functions that cannot be placed are left as they are.
pub fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    Scale::of(program.model())?;
    let start = Instant::now();
    let limit = options.placing.limits.time.unwrap_or(DEFAULT_LIMIT);
    let all = program.ir().functions();
    let place_of = |it: &Op| all.iter().position(|of| of == it);
    let places: Vec<usize> = functions.iter().map(place_of).collect::<Option<_>>()?;
    let forms = if options.keeps_structure { Vec::new() } else { forms(program, &places) };
    if forms.is_empty() {
        return improve::rewrite(program, functions, options);
    }
    let part = |share: f64| {
        let mut part = options.clone();
        part.placing.wants_proofs = false;
        part.placing.limits.time = Some(limit.mul_f64(share));
        part
    };
    let n_parts = (1 + forms.len()) as f64;
    let trial = part(PLACING / (1.0 + n_parts));
    let share = part((1.0 - PLACING) / n_parts);
    let place = |program: &Program, functions: &[Op]| {
        insert_reduces(program, functions, &trial.placing).ok().map(|it| costs(&it))
    };
    let before = place(program, functions)?;
    // Of each function the least cost, and the program that has it.
    let mut best: Vec<(f64, Option<usize>)> =
        before.iter().map(|it| (it.map_or(0.0, |it| worthwhile(it.0, it.1)), None)).collect();
    let mut found: Vec<(Document, Vec<Op>)> = Vec::new();
    for form in std::iter::once(None).chain(forms.into_iter().map(Some)) {
        let is_late = start.elapsed() > limit.mul_f64(0.6);
        if found.len() > 1 && is_late || best.iter().all(|it| it.0 <= 0.0) {
            break;
        }
        let Some(after) = searched(program, form, &places, &share) else { continue };
        let Some(new) = functions_at(&after, &places) else { continue };
        let Some(costs) = place(&after, &new) else { continue };
        let mut is_better = false;
        for (at, cost) in costs.into_iter().enumerate() {
            let Some((cost, _)) = cost.filter(|it| it.0 < best[at].0) else { continue };
            let growth = n_executed(&after, new[at]) / n_executed(program, functions[at]).max(1.0);
            let work = work_in(limit.saturating_sub(start.elapsed()));
            let is_fine = growth <= options.growth
                && is_read(program, functions[at])
                && equal_within(work, (program, functions[at]), (&after, new[at])).is_ok();
            if is_fine {
                best[at] = (cost, Some(found.len()));
                is_better = true;
            }
        }
        if is_better {
            found.push((after, new));
        }
    }
    let mut edits = Vec::new();
    for (at, &function) in functions.iter().enumerate() {
        let Some((document, new)) = best[at].1.and_then(|it| found.get(it)) else { continue };
        let text = document.source().slice(document.ir().range(new[at]));
        edits.push(TextEdit { range: program.ir().range(function), text });
    }
    let edits = TextEdit::in_order(edits).filter(|it| !it.is_empty())?;
    let document = edited(program, &edits)?;
    let new = functions_at(&document, &places)?;
    // Functions of several forms may call each other.
    let after = place(&document, &new)?;
    let mut savings = Vec::new();
    for (at, &function) in functions.iter().enumerate() {
        let ((before, least_before), (after, _)) = (before[at].unwrap_or_default(), after[at]?);
        if after >= before && best[at].1.is_some() {
            return None;
        }
        if best[at].1.is_some() {
            savings.push(Saving {
                at,
                function: program.function_name(function),
                before,
                least_before,
                after,
                equality: equal((program, function), (&document, new[at])).ok()?,
            });
        }
    }
    Some(Rewritten { document, savings })
}

/// A form of a program with rewritten arithmetic, or the program itself.
fn searched(
    program: &Program,
    form: Option<Document>,
    places: &[usize],
    options: &Options,
) -> Option<Document> {
    let Some(form) = form else {
        let functions = functions_at(program, places)?;
        return improve::rewrite(program, &functions, options).map(|it| it.document);
    };
    let functions = functions_at(&form, places)?;
    let after = improve::rewrite(&form, &functions, options).map_or(form, |it| it.document);
    let after = repeated(&after, places, hoist::hoisted).unwrap_or(after);
    Some(repeated(&after, places, text::without_unused).unwrap_or(after))
}

/// The other forms of a program.
fn forms(program: &Program, places: &[usize]) -> Vec<Document> {
    let mut out: Vec<Document> = Vec::new();
    // Terms of sums before factors of products, from the inside out.
    let merged =
        repeated(program, places, |program, functions| branches::merged(program, functions));
    let merged = merged.map(|it| repeated(&it, places, text::without_unused).unwrap_or(it));
    let hoisted = repeated(merged.as_deref().unwrap_or(program), places, hoist::hoisted);
    out.extend(hoisted.or(merged));
    for &share in SHARES {
        let base: &Program = out.first().map_or(program, |it| it);
        let strided =
            |program: &Program, functions: &[Op]| stride::strided(program, functions, share);
        let Some(form) = changed(base, places, &strided) else { continue };
        let is_new = |it: &Document| it.source().text() != form.source().text();
        if out.iter().all(is_new) {
            out.push(form);
        }
    }
    out
}

/// The edits of some functions.
type Pass<'a> = &'a dyn Fn(&Program, &[Op]) -> Option<Vec<TextEdit>>;

/// A program after a pass over some functions; `None` if there is nothing to change.
fn changed(program: &Program, places: &[usize], pass: Pass<'_>) -> Option<Document> {
    let mut functions = functions_at(program, places)?;
    functions.retain(|&it| is_read(program, it));
    edited(program, &pass(program, &functions)?)
}

/// A program after a pass that is repeated as long as it changes something.
fn repeated(
    program: &Program,
    places: &[usize],
    pass: impl Fn(&Program, &[Op]) -> Option<Vec<TextEdit>>,
) -> Option<Document> {
    let mut out = changed(program, places, &pass)?;
    for _ in 1..MOST_PASSES {
        let Some(next) = changed(&out, places, &pass) else { break };
        out = next;
    }
    Some(out)
}

/// A program after some edits, if they bring no problems.
fn edited(program: &Program, edits: &[TextEdit]) -> Option<Document> {
    let text = TextEdit::apply_all(edits, &program.source().text().to_string());
    let after = Document::with_model(&text, program.model().clone());
    let is_clean = after.source().problems().len() <= program.source().problems().len();
    is_clean.then_some(after)
}

/// The functions of a program by their places among all.
fn functions_at(program: &Program, places: &[usize]) -> Option<Vec<Op>> {
    let all = program.ir().functions();
    places.iter().map(|&it| all.get(it).copied()).collect()
}

/// Number of sums, differences and products that a function executes, in the worst case; loops of
/// unknown trip counts run once.
fn n_executed(program: &Program, function: Op) -> f64 {
    let ir = program.ir();
    let mut out = 0.0;
    let mut stack: Vec<(Op, f64)> = vec![(function, 1.0)];
    while let Some((op, n)) = stack.pop() {
        if arithmetic(ir, op).is_some_and(|it| it != OpKind::NoisyReduceNoise) {
            out += n;
        }
        let trips = match Flow::of(ir, op) {
            Flow::For { .. } => program.integers().trips(ir, op).count().unwrap_or(1) as f64,
            _ => 1.0,
        };
        for &(_, region) in &ir.op(op).regions {
            stack.extend(ir.items(region).map(|it| (it, n * trips)));
        }
    }
    out
}
