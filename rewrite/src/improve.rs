//! From a program to a better one: candidates are placed by the optimizer, and the cheapest is taken if it is shown equal.

use std::time::{Duration, Instant};

use noisy_analyses::{self as analyses, Document, Program, TextEdit, Verdict, insert_reduces};
use noisy_syntax::Op;

use crate::extract::{Extracted, Extraction};
use crate::scale::Scale;
use crate::search::{Effort, Variant, search};
use crate::write::{self, Change};

/// Candidates of a function that the optimizer judges, at most.
const MOST_CANDIDATES: usize = 4;

/// What is wanted of [`rewrite`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How the result is placed. Its time limit is that of rewriting and of placing all candidates.
    pub placing: analyses::Options,
    /// Operations that the result executes, at most, as a multiple of those before.
    pub growth: f64,
}

/// The cost of a function before and after, in executed reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// The name of the function, without `@`.
    pub function: String,
    /// The cost of placing it as it was.
    pub before: f64,
    /// The cost of placing it rewritten.
    pub after: f64,
}

/// A rewritten program, not placed yet.
#[derive(Debug)]
pub struct Rewritten {
    /// The edits, in order.
    pub edits: Vec<TextEdit>,
    /// The program that they make.
    pub document: Document,
    /// The functions that were rewritten.
    pub savings: Vec<Saving>,
}

/// The variants of a block.
struct Choice {
    function: usize,
    extracted: Extracted,
    variants: Vec<Variant>,
}

/// Rewrites functions of a program so that they need fewer reductions; `None` if no rewriting saves any. Functions that cannot be placed
/// are left as they are.
pub fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    let scale = Scale::of(program.model())?;
    let start = Instant::now();
    let limit = options.placing.limits.time.unwrap_or(Duration::from_secs(10));
    let slice = |share: f64| {
        let mut placing = options.placing.clone();
        placing.wants_proofs = false;
        placing.limits.time = Some(limit.mul_f64(share));
        placing
    };
    let before = insert_reduces(program, functions, &slice(0.3)).ok()?;
    let costs = costs(&before);
    // What costs nothing and what cannot be placed stays.
    let wanted: Vec<bool> = costs.iter().map(|it| it.is_some_and(|it| it > 0.0)).collect();
    if !wanted.contains(&true) {
        return None;
    }
    let search_end = start + limit.mul_f64(0.5);
    let mut choices: Vec<Choice> = Vec::new();
    for (at, &function) in functions.iter().enumerate().filter(|it| wanted[it.0]) {
        choices.extend(of_function(program, at, function, options, scale, search_end));
    }
    if choices.is_empty() {
        return None;
    }
    let most = choices.iter().map(|it| it.variants.len()).max()?.min(MOST_CANDIDATES);
    // Of each function the candidate that costs least: the number of its variants, or none.
    let mut best: Vec<(f64, Option<usize>)> =
        costs.iter().map(|it| (it.unwrap_or(0.0), None)).collect();
    for candidate in 0..most {
        let choose = |choice: &Choice| Some(candidate.min(choice.variants.len() - 1));
        let Some((after, _)) = apply(program, &choices, &choose) else { continue };
        let functions = matching(program, &after, functions)?;
        let left = limit.saturating_sub(start.elapsed()).mul_f64(0.5);
        let mut placing = slice(0.3);
        placing.limits.time = Some(left.min(limit.mul_f64(0.2)));
        let Ok(outcome) = insert_reduces(&after, &functions, &placing) else { continue };
        for (at, cost) in self::costs(&outcome).into_iter().enumerate() {
            if let Some(cost) = cost.filter(|&it| wanted[at] && it < best[at].0) {
                best[at] = (cost, Some(candidate));
            }
        }
    }
    let choose = |choice: &Choice| {
        best[choice.function].1.map(|it| it.min(choice.variants.len() - 1))
    };
    if best.iter().all(|it| it.1.is_none()) {
        return None;
    }
    let (after, edits) = apply(program, &choices, &choose)?;
    let savings = best.iter().enumerate().filter(|it| it.1.1.is_some()).map(|(at, it)| Saving {
        function: program.function_name(functions[at]),
        before: costs[at].unwrap_or(0.0),
        after: it.0,
    });
    Some(Rewritten { edits, savings: savings.collect(), document: after })
}

fn of_function(
    program: &Program,
    at: usize,
    function: Op,
    options: &Options,
    scale: Scale,
    end: Instant,
) -> Vec<Choice> {
    let ir = program.ir();
    let extraction = Extraction {
        program,
        scale,
        drops_reductions: options.placing.replace,
        opens_loops: true,
    };
    let mut out = Vec::new();
    let mut opened: Vec<Op> = Vec::new();
    for block in write::blocks(ir, function) {
        let holder = ir.region(ir.block(block).region).parent;
        if holder.is_some_and(|it| opened.iter().any(|&of| ir.is_within(it, of) || it == of)) {
            continue;
        }
        let Some(extracted) = extraction.block(block) else { continue };
        let n_ops = extracted.straight.lines.len() - extracted.straight.leaves.len();
        let effort = Effort { end, most_ops: (n_ops as f64 * options.growth) as usize };
        let variants = search(&extracted.straight, scale, effort);
        if variants.is_empty() {
            continue;
        }
        let loops = extracted.members.iter().filter(|&&it| !ir.op(it).regions.is_empty());
        opened.extend(loops);
        out.push(Choice { function: at, extracted, variants });
    }
    out
}

/// The program with some variants, and the edits that make it.
fn apply(
    program: &Program,
    choices: &[Choice],
    choose: &dyn Fn(&Choice) -> Option<usize>,
) -> Option<(Document, Vec<TextEdit>)> {
    let changes: Vec<Change<'_>> = choices
        .iter()
        .filter_map(|it| Some(Change { block: &it.extracted, variant: &it.variants[choose(it)?] }))
        .collect();
    let edits = write::edits(program, &changes)?;
    let text = TextEdit::apply_all(&edits, &program.source().text().to_string());
    let after = Document::with_model(&text, program.model().clone());
    let is_clean = after.source().problems().len() <= program.source().problems().len();
    is_clean.then_some((after, edits))
}

/// The functions of a program after an edit that correspond to some before it.
fn matching(before: &Program, after: &Program, functions: &[Op]) -> Option<Vec<Op>> {
    let (old, new) = (before.ir().functions(), after.ir().functions());
    let place = |it: &Op| old.iter().position(|of| of == it);
    (old.len() == new.len()).then(|| functions.iter().filter_map(|it| Some(new[place(it)?])).collect())
}

/// The cost of each function that was placed, in executions.
fn costs(outcome: &analyses::Outcome) -> Vec<Option<f64>> {
    let cost = |it: &analyses::FunctionOutcome| match &it.verdict {
        Verdict::Legal => Some(0.0),
        Verdict::Fixed(it) => Some(it.cost as f64 / it.unit.max(1) as f64),
        Verdict::Refused(_) => None,
    };
    outcome.functions.iter().map(cost).collect()
}
