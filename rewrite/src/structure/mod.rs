//! Loops and branches take another form before arithmetic is rewritten, and invariant arithmetic
//! leaves loops after it.
//!
//! Each form is a program of its own: the search rewrites its arithmetic, the optimizer places it,
//! and of each function the cheapest is taken that is shown equal. Nothing here has to be trusted.

mod branches;
mod hoist;
mod stride;
mod text;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use noisy_analyses::{Document, Program, TextEdit, insert_reduces};
use noisy_dataflow::flow::Flow;
use noisy_syntax::{Op, OpKind};

use self::stride::Size;
use crate::equality::{equal, equal_within, work_in};
use crate::extract::arithmetic;
use crate::improve::{
    self, DEFAULT_LIMIT, MOST_CODE_GROWTH, Options, Rewritten, SMALL, Saving, costs, is_read,
    worthwhile,
};
use crate::scale::Scale;

/// Passes over loops or branches within others, at most.
const MOST_PASSES: usize = 8;

/// Numbers of iterations that loops take at once.
const SIZES: &[Size] = &[Size::Share(4), Size::Share(1), Size::Period];

/// Ops of functions of which other forms are tried, at most: each takes its time.
const MOST_OPS: usize = 3000;

/// Times that loops of the best form take several iterations at once again, at most.
const MOST_AGAIN: usize = 2;

/// The share of the time in which programs are placed to compare them.
const PLACING: f64 = 0.1;

/// Rewrites functions of a program so that they need fewer reductions; `None` if no rewriting that
/// was found and shown equal saves any. Functions that cannot be placed are left as they are.
pub fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    Scale::of(program.model())?;
    let all = program.ir().functions();
    let place_of = |it: &Op| all.iter().position(|of| of == it);
    let places: Vec<usize> = functions.iter().map(place_of).collect::<Option<_>>()?;
    let forms = if options.keeps_structure { Vec::new() } else { forms(program, &places) };
    if forms.is_empty() {
        return improve::rewrite(program, functions, options);
    }
    let n_parts = (1 + forms.len() + MOST_AGAIN) as f64;
    let mut choice = Choice::of(program, functions, places, options, n_parts)?;
    let mut waiting: VecDeque<Option<Document>> = forms.into_iter().map(Some).collect();
    waiting.push_front(None);
    let mut n_again = 0;
    while let Some(form) = waiting.pop_front() {
        if choice.is_done() {
            break;
        }
        choice.offer(form);
        // A body that became short may be repeated once more.
        if waiting.is_empty() && n_again < MOST_AGAIN {
            n_again += 1;
            let last = choice.found.last();
            let next = last.and_then(|it| strided(&it.0, &choice.places, Size::Again));
            waiting.extend(next.map(Some));
        }
    }
    choice.taken()
}

/// Of each function the form that costs least.
struct Choice<'a> {
    program: &'a Program,
    functions: &'a [Op],
    /// The places of the functions among all of the program.
    places: Vec<usize>,
    options: &'a Options,
    start: Instant,
    limit: Duration,
    /// Options of the search in one form, and of placing it.
    search: Options,
    trial: Options,
    before: Vec<Option<(f64, f64)>>,
    /// The least cost of each function, and the program that has it.
    best: Vec<(f64, Option<usize>)>,
    found: Vec<(Document, Vec<Op>)>,
}

impl<'a> Choice<'a> {
    fn of(
        program: &'a Program,
        functions: &'a [Op],
        places: Vec<usize>,
        options: &'a Options,
        n_parts: f64,
    ) -> Option<Self> {
        let start = Instant::now();
        let limit = options.placing.limits.time.unwrap_or(DEFAULT_LIMIT);
        let part = |share: f64| {
            let mut part = options.clone();
            part.placing.wants_proofs = false;
            part.placing.limits.time = Some(limit.mul_f64(share));
            part
        };
        let search = part((1.0 - PLACING) / n_parts);
        let trial = part(PLACING / (1.0 + n_parts));
        let before = costs(&insert_reduces(program, functions, &trial.placing).ok()?);
        let worth = |it: &Option<(f64, f64)>| it.map_or(0.0, |it| worthwhile(it.0, it.1));
        let best = before.iter().map(|it| (worth(it), None)).collect();
        let found = Vec::new();
        Some(Self {
            program,
            functions,
            places,
            options,
            start,
            limit,
            search,
            trial,
            before,
            best,
            found,
        })
    }

    /// True if nothing can be saved any more, or it is late.
    fn is_done(&self) -> bool {
        let is_late = self.start.elapsed() > self.limit.mul_f64(0.6) && !self.found.is_empty();
        is_late || self.best.iter().all(|it| it.0 <= 0.0)
    }

    /// Tries a form, or the program as it is.
    fn offer(&mut self, form: Option<Document>) {
        let (program, limit) = (self.program, self.limit);
        let Some(after) = searched(program, form, &self.places, &self.search) else { return };
        let Some(new) = functions_at(&after, &self.places) else { return };
        let Ok(outcome) = insert_reduces(&after, &new, &self.trial.placing) else { return };
        let mut is_better = false;
        for (at, cost) in costs(&outcome).into_iter().enumerate() {
            let Some((cost, _)) = cost.filter(|it| it.0 < self.best[at].0) else { continue };
            let pair = ((program, self.functions[at]), (&*after, new[at]));
            let growth = n_executed(pair.1.0, pair.1.1) / n_executed(program, pair.0.1).max(1.0);
            let work = work_in(limit.saturating_sub(self.start.elapsed()));
            let n_written = |it: (&Program, Op)| n_ops(it.0, it.1);
            let most = MOST_CODE_GROWTH * n_written(pair.0) + SMALL;
            // A callee may cost less because its callers do.
            let text = |it: (&Program, Op)| it.0.source().slice(it.0.ir().range(it.1));
            let is_fine = text(pair.0) != text(pair.1)
                && growth <= self.options.growth
                && n_written(pair.1) <= most
                && is_read(program, pair.0.1)
                && equal_within(work, pair.0, pair.1).is_ok();
            if is_fine {
                self.best[at] = (cost, Some(self.found.len()));
                is_better = true;
            }
        }
        if is_better {
            self.found.push((after, new));
        }
    }

    /// The program with the best form of each function.
    fn taken(self) -> Option<Rewritten> {
        let program = self.program;
        let mut edits = Vec::new();
        for (best, &function) in self.best.iter().zip(self.functions) {
            let Some((document, new)) = best.1.and_then(|it| self.found.get(it)) else { continue };
            let at = self.functions.iter().position(|&it| it == function)?;
            let text = document.source().slice(document.ir().range(new[at]));
            edits.push(TextEdit { range: program.ir().range(function), text });
        }
        let edits = TextEdit::in_order(edits).filter(|it| !it.is_empty())?;
        let document = edited(program, &edits)?;
        let new = functions_at(&document, &self.places)?;
        // Functions of several forms may call each other.
        let after = costs(&insert_reduces(&document, &new, &self.trial.placing).ok()?);
        let mut savings = Vec::new();
        for (at, &function) in self.functions.iter().enumerate() {
            let Some((before, least_before)) = self.before[at] else { continue };
            let after = after[at]?.0;
            if after > before {
                return None;
            }
            if self.best[at].1.is_some() && after < before {
                let equality = equal((program, function), (&document, new[at])).ok()?;
                let function = program.function_name(function);
                savings.push(Saving { at, function, before, least_before, after, equality });
            }
        }
        (!savings.is_empty()).then_some(Rewritten { document, savings })
    }
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
    let Some(functions) = functions_at(program, places) else { return out };
    if functions.iter().map(|&it| n_ops(program, it)).sum::<usize>() > MOST_OPS {
        return out;
    }
    // Terms of sums before factors of products, from the inside out.
    let merged = repeated(program, places, branches::merged);
    let merged = merged.map(|it| repeated(&it, places, text::without_unused).unwrap_or(it));
    let hoisted = repeated(merged.as_deref().unwrap_or(program), places, hoist::hoisted);
    let base = hoisted.or(merged);
    for &size in SIZES {
        let form = strided(base.as_deref().unwrap_or(program), places, size);
        let is_new = |form: &Document| {
            out.iter().all(|it: &Document| it.source().text() != form.source().text())
        };
        out.extend(form.filter(is_new));
    }
    out.extend(base);
    out
}

/// A program of which loops take several iterations at once.
fn strided(program: &Program, places: &[usize], size: Size) -> Option<Document> {
    changed(program, places, &|program, functions| stride::strided(program, functions, size))
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

/// Number of ops of a function.
fn n_ops(program: &Program, function: Op) -> usize {
    let mut n = 0;
    for &(_, region) in &program.ir().op(function).regions {
        program.ir().walk(region, &mut |_| n += 1);
    }
    n
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
