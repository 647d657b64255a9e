//! From a program to a better one: candidates are placed by the optimizer, and the cheapest is
//! taken if it is shown equal.

use std::time::{Duration, Instant};

use noisy_analyses::{self as analyses, Document, Program, TextEdit, Verdict, insert_reduces};
use noisy_syntax::{Form, Op};

use crate::equality::{Equality, equal_within, work_in};
use crate::extract::{Extracted, Extraction};
use crate::scale::Scale;
use crate::search::{Effort, Variant, search};
use crate::write::{self, Change};

/// Candidates of a function that the optimizer judges, at most.
const MOST_CANDIDATES: usize = 4;

/// Operations beyond which the optimizer judges fewer candidates: each takes its time.
const MANY_OPS: usize = 3000;

/// Operations of a block that is rewritten, at most.
const MOST_OPS: usize = 50_000;

/// The time limit if there is none.
pub(crate) const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// Lines of an opened loop, at most, as a multiple of the lines of the loop, beyond a few.
pub(crate) const MOST_CODE_GROWTH: usize = 8;

/// Lines of an opened loop that are always few enough.
pub(crate) const SMALL: usize = 64;

/// Options of [`rewrite`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of the placement of the result. Its time limit is that of rewriting and of placing
    /// all candidates.
    pub placing: analyses::Options,
    /// Operations that the result executes, at most, as a multiple of those before.
    pub growth: f64,
    /// True if loops and branches stay as they are, unless loops are unrolled.
    pub keeps_structure: bool,
}

/// The cost of a function before and after, in executed reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// The position of the function among those that were asked for.
    pub at: usize,
    /// The name of the function, without `@`.
    pub function: String,
    /// The cost of placing it as it was.
    pub before: f64,
    /// No placement of it as it was costs less.
    pub least_before: f64,
    /// The cost of placing it rewritten.
    pub after: f64,
    /// The proof that it computes the same.
    pub equality: Equality,
}

impl Saving {
    /// Returns true if no rewriting needs fewer reductions: the rewritten function needs none.
    pub fn is_least(&self) -> bool {
        self.after <= 0.0
    }
}

/// A rewritten program, not placed yet.
#[derive(Debug)]
pub struct Rewritten {
    /// The program that they make.
    pub document: Document,
    /// The functions that were rewritten.
    pub savings: Vec<Saving>,
}

/// The variants of a block.
struct Choice {
    function: usize,
    /// True if loops are opened.
    opens_loops: bool,
    extracted: Extracted,
    variants: Vec<Variant>,
    /// Number of reductions that a simple placement needs before.
    n_before: u64,
}

/// A candidate of a function: with loops opened or not, and the number of the variant of each of
/// its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    opens_loops: bool,
    variant: usize,
}

/// Rewrites functions of a program so that they need fewer reductions; `None` if no rewriting that
/// was found and shown equal saves any. Functions that cannot be placed are left as they are.
pub(crate) fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    let scale = Scale::of(program.model())?;
    let start = Instant::now();
    let limit = options.placing.limits.time.unwrap_or(DEFAULT_LIMIT);
    let left = || limit.saturating_sub(start.elapsed());
    let placing = |time: Duration| {
        let mut placing = options.placing.clone();
        placing.wants_proofs = false;
        placing.limits.time = Some(time);
        placing
    };
    let end = start + limit.mul_f64(0.25);
    let mut choices: Vec<Choice> = Vec::new();
    for (at, &function) in functions.iter().enumerate() {
        if !is_read(program, function) || Instant::now() >= end {
            continue;
        }
        let opened = of_function(program, at, function, options, scale, end, true);
        let has_opened = opened.iter().any(|it| it.extracted.has_opened);
        choices.extend(opened);
        if has_opened {
            choices.extend(of_function(program, at, function, options, scale, end, false));
        }
    }
    // Where a simple placement saves nothing, placing goes on with the program as it is.
    let is_promising = |at: usize| {
        let its = choices.iter().filter(|it| it.function == at);
        its.into_iter()
            .any(|it| it.extracted.has_opened || it.variants[0].n_reductions < it.n_before)
    };
    let promising: Vec<bool> = (0..functions.len()).map(is_promising).collect();
    if !promising.contains(&true) {
        return None;
    }
    let most = choices.iter().map(|it| it.variants.len()).max()?.min(MOST_CANDIDATES);
    let mut candidates = Vec::new();
    for opens_loops in [true, false] {
        let variants = (0..most).map(|variant| Candidate { opens_loops, variant });
        if choices.iter().any(|it| it.opens_loops == opens_loops) {
            candidates.extend(variants);
        }
    }
    if choices.iter().map(|it| it.extracted.straight.lines.len()).sum::<usize>() > MANY_OPS {
        candidates.retain(|it| it.variant == 0);
    }
    // The program and each candidate are placed in the same time, so that costs can be compared.
    // The other half is for placing the result.
    let trial = left().mul_f64(0.5).div_f64((1 + candidates.len()) as f64);
    let before = insert_reduces(program, functions, &placing(trial)).ok()?;
    let costs = costs(&before);
    // A function that costs nothing or cannot be placed stays as it is.
    let wanted: Vec<bool> =
        costs.iter().zip(promising).map(|(it, is)| is && it.is_some_and(|it| it.0 > 0.0)).collect();
    choices.retain(|it| wanted[it.function]);
    if choices.is_empty() {
        return None;
    }
    // Of each function the candidate that costs least.
    let mut best: Vec<(f64, Option<Candidate>)> =
        costs.iter().map(|it| (it.map_or(0.0, |it| worthwhile(it.0, it.1)), None)).collect();
    for candidate in candidates {
        if left() < limit.mul_f64(0.1) {
            break;
        }
        // Functions that the candidate does not suit are tried one by one by the next.
        let Some(after) = apply(program, &choices, &|_| Some(candidate)) else { continue };
        let functions = matching(program, &after, functions)?;
        let Ok(outcome) = insert_reduces(&after, &functions, &placing(trial)) else { continue };
        for (at, cost) in self::costs(&outcome).into_iter().enumerate() {
            if let Some((cost, _)) = cost.filter(|it| wanted[at] && it.0 < best[at].0) {
                best[at] = (cost, Some(candidate));
            }
        }
    }
    let mut equalities: Vec<Option<Equality>> = vec![None; functions.len()];
    // A rewrite that is not shown equal is not offered.
    loop {
        if best.iter().all(|it| it.1.is_none()) {
            return None;
        }
        let after = apply(program, &choices, &|at| best[at].1)?;
        let new = matching(program, &after, functions)?;
        let mut is_shown = true;
        for (at, &function) in functions.iter().enumerate() {
            if best[at].1.is_some() {
                let work = work_in(left());
                equalities[at] = equal_within(work, (program, function), (&after, new[at])).ok();
                if equalities[at].is_none() {
                    best[at].1 = None;
                    is_shown = false;
                }
            }
        }
        if is_shown {
            let mut savings = Vec::new();
            for (at, &function) in functions.iter().enumerate() {
                let Some(equality) = equalities[at].take().filter(|_| best[at].1.is_some()) else {
                    continue;
                };
                let (before, least_before) = costs[at].unwrap_or_default();
                savings.push(Saving {
                    at,
                    function: program.function_name(function),
                    before,
                    least_before,
                    after: best[at].0,
                    equality,
                });
            }
            return Some(Rewritten { document: after, savings });
        }
    }
}

fn of_function(
    program: &Program,
    at: usize,
    function: Op,
    options: &Options,
    scale: Scale,
    end: Instant,
    opens_loops: bool,
) -> Vec<Choice> {
    let ir = program.ir();
    let drops_reductions = options.placing.replace;
    let extraction = Extraction { program, scale, drops_reductions, opens_loops };
    let mut out = Vec::new();
    let mut opened: Vec<Op> = Vec::new();
    for block in write::blocks(ir, function) {
        let holder = ir.region(ir.block(block).region).parent;
        if holder.is_some_and(|it| opened.iter().any(|&of| ir.is_within(it, of) || it == of)) {
            continue;
        }
        let Some(extracted) = extraction.block(block) else { continue };
        let n_ops = extracted.straight.lines.len() - extracted.straight.leaves.len();
        if n_ops > MOST_OPS {
            continue;
        }
        let effort = Effort { end, most_ops: (n_ops as f64 * options.growth) as usize };
        let mut variants = search(&extracted.straight, scale, effort);
        let loops: Vec<Op> =
            extracted.members.iter().copied().filter(|&it| !ir.op(it).regions.is_empty()).collect();
        if !loops.is_empty() {
            let mut n_written = extracted.members.len();
            for &it in &loops {
                ir.op(it).regions.iter().for_each(|it| ir.walk(it.1, &mut |_| n_written += 1));
            }
            variants.retain(|it| it.n_ops <= MOST_CODE_GROWTH * n_written + SMALL);
        }
        if variants.is_empty() {
            continue;
        }
        opened.extend(loops);
        let n_before = extracted.straight.greedy_reductions(scale);
        out.push(Choice { function: at, opens_loops, extracted, variants, n_before });
    }
    out
}

/// The cost below which a rewriting is taken. With all of the time, placement alone might close a
/// part of the gap to its bound, while the rewritten program gets less time.
pub(crate) fn worthwhile(cost: f64, bound: f64) -> f64 {
    cost - (0.5 * (cost - bound)).clamp(0.0, 0.05 * cost)
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

/// The program with a candidate of each function.
fn apply(
    program: &Program,
    choices: &[Choice],
    choose: &dyn Fn(usize) -> Option<Candidate>,
) -> Option<Document> {
    let has_closed = |at: usize| choices.iter().any(|it| it.function == at && !it.opens_loops);
    let changes: Vec<Change<'_>> = choices
        .iter()
        .filter_map(|it| {
            let candidate = choose(it.function)?;
            let is_opened = candidate.opens_loops || !has_closed(it.function);
            let variant = candidate.variant.min(it.variants.len() - 1);
            (it.opens_loops == is_opened)
                .then(|| Change { block: &it.extracted, variant: &it.variants[variant] })
        })
        .collect();
    let edits = write::edits(program, &changes)?;
    let text = TextEdit::apply_all(&edits, &program.source().text().to_string());
    let after = Document::with_model(&text, program.model().clone());
    let is_clean = after.source().problems().len() <= program.source().problems().len();
    is_clean.then_some(after)
}

/// The functions of a program after an edit that correspond to some before it.
fn matching(before: &Program, after: &Program, functions: &[Op]) -> Option<Vec<Op>> {
    let (old, new) = (before.ir().functions(), after.ir().functions());
    let place = |it: &Op| old.iter().position(|of| of == it);
    let found: Vec<Op> = functions.iter().filter_map(|it| new.get(place(it)?).copied()).collect();
    (old.len() == new.len() && found.len() == functions.len()).then_some(found)
}

/// The cost of each function that was placed and the least that it may cost, in executions.
pub(crate) fn costs(outcome: &analyses::Outcome) -> Vec<Option<(f64, f64)>> {
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
