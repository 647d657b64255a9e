//! From a program to a better one: candidates are placed by the optimizer, and the cheapest is
//! taken if it is shown equal.

use std::time::{Duration, Instant};

use noisy_analyses::{
    self as analyses, Document, Objective, Options as Placing, Outcome, Program, TextEdit, Verdict,
    insert_reduces,
};
use noisy_syntax::{Form, Op, OpKind, parallel};

use crate::bound;
use crate::clock::Clock;
use crate::equality::{Equality, equal_unless};
use crate::extract::{Extracted, Extraction};
use crate::race::Race;
use crate::scale::Scale;
use crate::search::{Effort, Variant, search};
use crate::write::{self, Change};

/// Candidates of a function that the optimizer judges, at most.
const MOST_CANDIDATES: usize = 4;

/// Operations beyond which the optimizer judges fewer candidates: each takes its time.
const MANY_OPS: usize = 3000;

/// The part of the time limit that is left for what follows: the result is placed and analyzed once
/// more.
const LAST_PART: f64 = 0.05;

/// Operations for each second of the time limit, at most: with less time the search would only take
/// time from the placement of the program as it is.
const MOST_OPS_PER_SECOND: f64 = 10_000.0;

/// Time for the bound on all rewritings.
const BOUND_TIME: Duration = Duration::from_millis(50);

/// Operations of a block that is rewritten, at most.
const MOST_OPS: usize = 50_000;

/// The time limit if there is none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// Lines of an opened loop, at most, as a multiple of the lines of the loop, beyond a few.
const MOST_CODE_GROWTH: usize = 8;

/// Lines of an opened loop that are always few enough.
const SMALL: usize = 64;

/// Time to place the result, if rewriting took all of it: the cache does not know placements that
/// took less.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// The time that is left for placing the result, of a limit that began with [`rewrite`].
pub fn time_left(limit: Duration, start: Instant) -> Duration {
    limit.saturating_sub(start.elapsed()).max(LEAST_TIME.min(limit))
}

/// Options of [`rewrite`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of the placement of the result. Its time limit is that of all.
    pub placing: Placing,
    /// The search and the first placements of its candidates take no longer than this, nor than
    /// half of the time limit.
    pub time: Duration,
    /// Operations that the result executes, at most, as a multiple of those before.
    pub growth: f64,
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
    /// No placement of it rewritten costs less.
    pub least_after: f64,
    /// No function that computes the same by the laws of rewriting costs less.
    pub least: f64,
    /// The proof that it computes the same.
    pub equality: Equality,
}

impl Saving {
    /// Returns true if no rewriting by these laws needs fewer reductions.
    pub fn is_least(&self) -> bool {
        self.after <= self.least
    }
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
///
/// *Law.* The program as it is gets a placement with the whole time limit, beside the search. A
/// rewriting is returned only if its own placement costs less than that one. Both placements are
/// put into the cache of the options, so that placing the result takes no time and costs no more.
pub fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    let scale = Scale::of(program.model())?;
    let limits = &options.placing.limits;
    let limit = limits.time.unwrap_or(DEFAULT_LIMIT);
    let clock = Clock::new(limit.mul_f64(1.0 - LAST_PART), limits.cancel.clone());
    let (seconds, race) = (limit.as_secs_f64(), Race::new(program));
    let run = Run { program, functions, options, scale, seconds, race };
    let told = |placing: Placing| Placing { watch: options.placing.watch.clone(), ..placing };
    let (before, found) = if cfg!(target_family = "wasm") {
        // No threads: half of the time for each.
        let before = insert_reduces(program, functions, &told(run.placing(&clock.part(0.5))));
        run.race.end();
        (before, run.find(&clock))
    } else {
        let place = || {
            let placing = run.race.watched(told(run.placing(&clock)));
            let outcome = insert_reduces(program, functions, &placing);
            run.race.end();
            outcome
        };
        let find = || {
            let found = run.find(&clock);
            run.race.widen();
            found
        };
        parallel::beside(place, find)
    };
    run.cheaper(&before.ok()?, found?)
}

/// One call of [`rewrite`].
struct Run<'a> {
    program: &'a Program,
    functions: &'a [Op],
    options: &'a Options,
    scale: Scale,
    /// The time limit.
    seconds: f64,
    race: Race,
}

/// A program with the best candidate of each function, shown equal and placed.
struct Found {
    choices: Vec<Choice>,
    /// By function: the candidate, if it is rewritten.
    chosen: Vec<Option<Candidate>>,
    shown: Shown,
    placed: Outcome,
}

/// A program that is shown equal.
struct Shown {
    after: Document,
    edits: Vec<TextEdit>,
    /// By function: the proof, if it is rewritten.
    equalities: Vec<Option<Equality>>,
}

impl Run<'_> {
    fn placing(&self, clock: &Clock) -> Placing {
        let mut placing = self.options.placing.clone();
        placing.wants_proofs = false;
        placing.watch = None;
        placing.limits.time = Some(clock.left());
        placing
    }

    /// The placement of a program after an edit.
    fn place(&self, after: &Document, clock: &Clock) -> Option<Outcome> {
        let functions = matching(self.program, after, self.functions)?;
        insert_reduces(after, &functions, &self.placing(clock)).ok()
    }

    /// Finds the best candidate of each function, and places them.
    fn find(&self, clock: &Clock) -> Option<Found> {
        let trying = clock.part(0.5).at_most(self.options.time);
        let choices = self.choices(&trying.part(0.7));
        let mut chosen = self.tried(&choices, &trying)?;
        let shown = self.shown(&choices, &mut chosen, &clock.part(0.5))?;
        // A first answer, which the cache knows from the trial.
        let first = self.place(&shown.after, &clock.part(0.1))?;
        self.race.widen();
        // A rewriting that cannot be placed has lost; other functions may be refused as they were.
        let refused = |at: usize| if chosen[at].is_some() { f64::INFINITY } else { 0.0 };
        let all = costs(&first).into_iter().enumerate();
        let cost = all.map(|(at, it)| it.map_or_else(|| refused(at), |it| it.0)).sum();
        let is_optimal = first.functions.iter().all(|it| it.verdict.is_optimal());
        if self.race.is_lost(cost) {
            return None;
        }
        if is_optimal {
            self.race.finish(cost);
            return Some(Found { choices, chosen, shown, placed: first });
        }
        self.race.enter(cost);
        let placed = self.place(&shown.after, clock).unwrap_or(first);
        Some(Found { choices, chosen, shown, placed })
    }

    /// The variants of all blocks.
    fn choices(&self, clock: &Clock) -> Vec<Choice> {
        let mut out: Vec<Choice> = Vec::new();
        for (at, &function) in self.functions.iter().enumerate() {
            if !is_read(self.program, function) {
                continue;
            }
            let clock = clock.part(1.0 / (self.functions.len() - at) as f64);
            let mut has_regions = false;
            let ir = self.program.ir();
            for &(_, region) in &ir.op(function).regions {
                ir.walk(region, &mut |op| has_regions |= !ir.op(op).regions.is_empty());
            }
            let part = if has_regions { clock.part(0.5) } else { clock.clone() };
            let opened = self.of_function(at, &part, true);
            let has_opened = opened.iter().any(|it| it.extracted.has_opened);
            out.extend(opened);
            if has_opened {
                out.extend(self.of_function(at, &clock, false));
            }
        }
        out
    }

    /// Of each function the candidate that costs least; `None` if there is none at all.
    fn tried(&self, choices: &[Choice], clock: &Clock) -> Option<Vec<Option<Candidate>>> {
        // If a simple placement saves nothing, a better one hardly does.
        let is_promising = |at: usize| {
            let mut its = choices.iter().filter(|it| it.function == at);
            its.any(|it| it.extracted.has_opened || it.variants[0].n_reductions < it.n_before)
        };
        let promising: Vec<bool> = (0..self.functions.len()).map(is_promising).collect();
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
        let mut best: Vec<(f64, Option<Candidate>)> = vec![(f64::INFINITY, None); promising.len()];
        for (at, &candidate) in candidates.iter().enumerate() {
            // The first is always tried.
            if at > 0 && clock.is_over() {
                break;
            }
            let choose = |at: usize| promising[at].then_some(candidate);
            // Functions that the candidate does not suit are tried one by one by the next.
            let Some((after, _)) = apply(self.program, choices, &choose) else { continue };
            let part = clock.part(1.0 / (candidates.len() - at) as f64);
            let Some(placed) = self.place(&after, &part) else { continue };
            for (at, cost) in costs(&placed).into_iter().enumerate() {
                if let Some((cost, _)) = cost.filter(|it| promising[at] && it.0 < best[at].0) {
                    best[at] = (cost, Some(candidate));
                }
            }
        }
        Some(best.into_iter().map(|it| it.1).collect())
    }

    /// The program with the chosen candidates. A function that is not shown equal is left as it is;
    /// `None` if all are.
    fn shown(
        &self,
        choices: &[Choice],
        chosen: &mut [Option<Candidate>],
        clock: &Clock,
    ) -> Option<Shown> {
        while chosen.iter().any(Option::is_some) {
            let (after, edits) = apply(self.program, choices, &|at| chosen[at])?;
            let new = matching(self.program, &after, self.functions)?;
            let mut equalities = vec![None; chosen.len()];
            let mut is_shown = true;
            for (at, chosen) in chosen.iter_mut().enumerate().filter(|it| it.1.is_some()) {
                let old = (self.program, self.functions[at]);
                equalities[at] = equal_unless(old, (&after, new[at]), &|| clock.is_over()).ok();
                if equalities[at].is_none() {
                    *chosen = None;
                    is_shown = false;
                }
            }
            if is_shown {
                return Some(Shown { after, edits, equalities });
            }
        }
        None
    }

    /// Reductions that a function executes at least, however it is rewritten; 0 if it is not one
    /// computation of its arguments and of encoded values.
    fn least(&self, at: usize, choices: &[Choice]) -> u64 {
        let (ir, function) = (self.program.ir(), self.functions[at]);
        let mut its = choices.iter().filter(|it| it.function == at && it.opens_loops);
        let (Some(Choice { extracted, .. }), None) = (its.next(), its.next()) else { return 0 };
        let &[(_, region)] = ir.op(function).regions.as_slice() else { return 0 };
        let counts_executions = self.options.placing.objective == Objective::Executed;
        if ir.only_block(region) != Some(extracted.block)
            || extracted.has_opened && !counts_executions
        {
            return 0;
        }
        let is_noisy = |op: Op| {
            let data = ir.op(op);
            let operands = data.operands.iter().filter_map(|it| it.value);
            operands.chain(data.results.iter().copied()).any(|it| self.program.is_noisy(it))
        };
        let mut is_whole = true;
        ir.walk(region, &mut |op| {
            let mut outer = std::iter::successors(Some(op), |&it| ir.parent_op(it));
            let is_taken = outer.any(|it| extracted.members.contains(&it));
            let is_edge = matches!(
                ir.op(op).kind,
                OpKind::NoisyEncode | OpKind::NoisyDecode | OpKind::FuncReturn
            );
            is_whole &= is_taken || is_edge || !is_noisy(op);
        });
        // The noise of arguments may depend on a caller.
        let mut has_calls = false;
        for it in ir.functions() {
            for &(_, region) in &ir.op(it).regions {
                ir.walk(region, &mut |op| has_calls |= ir.op(op).kind == OpKind::FuncCall);
            }
        }
        if !is_whole || has_calls {
            return 0;
        }
        let clock = Clock::new(BOUND_TIME, self.options.placing.limits.cancel.clone());
        bound::least(&extracted.straight, self.scale, &|| clock.is_over())
    }

    /// The functions whose rewriting costs less than what they are now. Functions that call each
    /// other are kept or left together.
    fn cheaper(&self, before: &Outcome, found: Found) -> Option<Rewritten> {
        let Found { choices, mut chosen, mut shown, placed } = found;
        let (old, new) = (costs(before), costs(&placed));
        let group = groups(self.functions, before);
        let mut is_left = false;
        for first in 0..group.len() {
            let its = || (0..group.len()).filter(|&it| group[it] == first);
            let sum = |of: &[Option<(f64, f64)>]| -> Option<f64> {
                its().map(|it| Some(of[it]?.0)).sum()
            };
            let is_cheaper = sum(&old).zip(sum(&new)).is_some_and(|(old, new)| new < old);
            for at in its().filter(|_| !is_cheaper) {
                is_left |= chosen[at].take().is_some();
            }
        }
        if is_left {
            // The others were shown equal and placed already, in as little time.
            let clock =
                Clock::new(Duration::from_secs(1), self.options.placing.limits.cancel.clone());
            shown = self.shown(&choices, &mut chosen, &clock)?;
        }
        let mut savings = Vec::new();
        for (at, equality) in shown.equalities.into_iter().enumerate() {
            let (Some(equality), Some((before, least_before)), Some((after, least_after))) =
                (equality, old[at], new[at])
            else {
                continue;
            };
            let function = self.program.function_name(self.functions[at]);
            let least = if after > 0.0 { self.least(at, &choices) as f64 } else { 0.0 };
            savings.push(Saving {
                at,
                function,
                before,
                least_before,
                after,
                least_after,
                least,
                equality,
            });
        }
        (!savings.is_empty()).then_some(Rewritten {
            edits: shown.edits,
            document: shown.after,
            savings,
        })
    }

    fn of_function(&self, at: usize, clock: &Clock, opens_loops: bool) -> Vec<Choice> {
        let Self { program, options, scale, .. } = *self;
        let (ir, function) = (program.ir(), self.functions[at]);
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
            if n_ops > MOST_OPS || n_ops as f64 > MOST_OPS_PER_SECOND * self.seconds {
                continue;
            }
            let most_ops = (n_ops as f64 * options.growth) as usize;
            let effort = Effort { clock: clock.clone(), most_ops };
            let mut variants = search(&extracted.straight, scale, &effort);
            let loops: Vec<Op> = extracted
                .members
                .iter()
                .copied()
                .filter(|&it| !ir.op(it).regions.is_empty())
                .collect();
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
}

/// True if all ops of a function are known, so that all uses of values are.
fn is_read(program: &Program, function: Op) -> bool {
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

/// The program with a candidate of each function, and the edits that make it.
fn apply(
    program: &Program,
    choices: &[Choice],
    choose: &dyn Fn(usize) -> Option<Candidate>,
) -> Option<(Document, Vec<TextEdit>)> {
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
    is_clean.then_some((after, edits))
}

/// The functions of a program after an edit that correspond to some before it.
fn matching(before: &Program, after: &Program, functions: &[Op]) -> Option<Vec<Op>> {
    let (old, new) = (before.ir().functions(), after.ir().functions());
    let place = |it: &Op| old.iter().position(|of| of == it);
    let found: Vec<Op> = functions.iter().filter_map(|it| new.get(place(it)?).copied()).collect();
    (old.len() == new.len() && found.len() == functions.len()).then_some(found)
}

/// The cost of each function that was placed and the least that it may cost, in executions.
fn costs(outcome: &Outcome) -> Vec<Option<(f64, f64)>> {
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

/// For each function, the first of those that are placed together with it.
fn groups(functions: &[Op], outcome: &Outcome) -> Vec<usize> {
    let mut group: Vec<usize> = (0..functions.len()).collect();
    for it in &outcome.groups {
        let its: Vec<usize> =
            (0..functions.len()).filter(|&at| it.functions.contains(&functions[at])).collect();
        for &at in &its {
            group[at] = its[0];
        }
    }
    group
}
