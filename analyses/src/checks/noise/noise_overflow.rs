//! noise-overflow: noise over the budget
//!
//! The noise of a value may exceed the budget. Decoding this value, or a value computed from it,
//! may then give a wrong plaintext. The error is reported once, at the first op of a chain that
//! exceeds the budget. The message counts the later values that exceed the budget because of this
//! one. The related locations are the ops from which the noise comes.
//!
//! ```mlir
//! func.func @f(%x: i5) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // 12 + 12 = 24
//!   %2 = noisy.mul %1, %1 : !noisy.i32      // 24 + 24 = 48, over the 26-bit budget
//!   %3 = noisy.decode %2 : !noisy.i32 -> i5
//!   return %3 : i5
//! }
//! ```
//!
//! Reduce an operand before the op.
//!
//! ```mlir
//! func.func @f(%x: i5) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // 24
//!   %2 = noisy.reduce_noise %1 : !noisy.i32 // 12
//!   %3 = noisy.mul %2, %2 : !noisy.i32      // 24
//!   %4 = noisy.decode %3 : !noisy.i32 -> i5
//!   return %4 : i5
//! }
//! ```

use std::collections::VecDeque;
use std::fmt::Write as _;

use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use crate::checks::{Check, Index};
use crate::explain::{SaturationCache, core_range, derivation, excess_in_words, value_range};
use crate::facts::noise::Overflow;
use crate::facts::noise::model::Bits;
use crate::facts::noise::model::GrowthKind;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation, RepairKind};
use noisy_dataflow::flow::{self, Flow};

/// Maximum number of later values over the budget that are counted.
const MAX_LATER: usize = 100;
/// Maximum number of steps of a derivation that are shown.
const MAX_SHOWN_STEPS: usize = 8;
/// Maximum number of decodes that are shown.
const MAX_SHOWN_DECODES: usize = 3;

pub(in crate::checks) const CHECK: Check = Check {
    code: "noise-overflow",
    repair: RepairKind::Placement,
    header: header!("noise_overflow.rs"),
    run: check,
    run_in_brief: Some(in_brief),
    ..Check::ERROR
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let mut known = SaturationCache::default();
    for (value, root) in program.overflows() {
        let mut it = found(program, value, root);
        it.related = causing_call(program, value, root).into_iter().collect();
        it.related.extend(derivation_locations(program, value, &mut known));
        describe_round(program, value, root, &mut it);
        let later = later_overflows(program, [value], MAX_LATER);
        it.help = Some(help(program, value, later.n_values));
        if later.n_values < MAX_LATER {
            it.related.extend(decode_locations(program, later.decodes));
        }
        out.push(it);
    }
}

/// Changes the message of the related location at the value itself: it then states the noise in the
/// reported iteration and the largest noise in any iteration.
fn describe_round(program: &Program, value: Value, root: &Overflow, it: &mut Diagnostic) {
    let Some(round) = root.rounds.iter().rev().find(|it| it.number > 1) else { return };
    let (now, Some(most)) = (root.noise, program.noise(value).hi()) else { return };
    if now == most {
        return;
    }
    let name = program.ir().value_text(value);
    let most = match most {
        Bits::MAX => "unbounded in later iterations".to_owned(),
        most => format!("at most {most} in any iteration"),
    };
    let range = it.range.clone();
    if let Some(own) = it.related.iter_mut().find(|it| it.range == range) {
        own.message = format!("{name}: {now} at iteration {}, {most}", round.number);
    }
}

fn in_brief(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    out.extend(program.overflows().into_iter().map(|(value, root)| found(program, value, root)));
}

fn found(program: &Program, value: Value, root: &Overflow) -> Diagnostic {
    let ir = program.ir();
    let mut at = String::new();
    if let Some(round) = root.rounds.iter().rev().find(|it| it.number > 1) {
        let what = match Flow::of(ir, round.op) {
            Flow::Reduce => "reduction",
            flow if flow.is_loop() => "loop",
            _ => "cycle of blocks",
        };
        let _ = write!(at, " at iteration {} of the {what}", round.number);
    }
    if root.recursion_round > 1 {
        let _ = write!(at, " at recursion depth {}", root.recursion_round);
    }
    let message = excess_in_words(program, value, root.noise, &at);
    CHECK.diagnostic_at(value_range(ir, value), message)
}

/// Returns the call that causes the overflow; `None` if the overflow occurs with the assumed noise
/// of arguments.
fn causing_call(program: &Program, value: Value, root: &Overflow) -> Option<RelatedLocation> {
    let ir = program.ir();
    let function = ir.function_of(ir.definition_site(value)?)?;
    let contexts = program.contexts(function);
    let context =
        contexts.iter().find(|it| Some(it.id) == root.context).filter(|it| !it.is_assumed)?;
    let call = context.calls().min_by_key(|&it| ir.start(it))?;
    let noisy = context.args.iter().filter_map(|it| match it.hi()? {
        Bits::MAX => Some("unbounded".to_owned()),
        hi => Some(hi.to_string()),
    });
    let noisy: Vec<String> = noisy.collect();
    let name = program.function_name(function);
    let message = match noisy.as_slice() {
        [] => format!("@{name} is called here"),
        [one] => format!("@{name} is called here; noise of the argument: {one}"),
        all => format!("@{name} is called here; noise of the arguments: {}", all.join(", ")),
    };
    Some(RelatedLocation { range: core_range(ir, call), message })
}

/// Returns the steps that explain the noise of a value; the last one is the value itself. `known`
/// is a cache that several calls of this function share.
pub(in crate::checks) fn derivation_locations(
    program: &Program,
    value: Value,
    known: &mut SaturationCache,
) -> Vec<RelatedLocation> {
    let derivation = derivation(program, value, known);
    let (steps, gap) = derivation.brief(MAX_SHOWN_STEPS);
    let mut out: Vec<RelatedLocation> = steps
        .iter()
        .map(|step| RelatedLocation {
            range: step.range.clone(),
            message: format!("{}: {}", program.ir().value_text(step.value), step.rule),
        })
        .collect();
    if let Some((after, n)) = gap
        && let Some(related) = out.get_mut(after)
    {
        let steps = if n == 1 { "1 step" } else { &format!("{n} steps") };
        related.message = format!("... {steps} not shown ... {}", related.message);
    }
    out
}

fn help(program: &Program, value: Value, n_spoilt: usize) -> String {
    let mut out = match noisiest_operand(program, value) {
        Some(operand) => {
            let (op, name) = (&program.model().reset_op, program.ir().value_text(operand));
            format!("Insert {op} for {name} before this op, or use the quick fix (--fix)")
        }
        None => "Reduce the noise of the value passed in here".to_owned(),
    };
    let _ = match n_spoilt {
        0 => Ok(()),
        1 => write!(out, ". 1 later value also exceeds the budget"),
        MAX_LATER => write!(out, ". {MAX_LATER} or more later values also exceed the budget"),
        n => write!(out, ". {n} later values also exceed the budget"),
    };
    out
}

fn noisiest_operand(program: &Program, value: Value) -> Option<Value> {
    let ir = program.ir();
    let Def::Result(op, _) = ir.value(value).def else { return None };
    let rule = program.model().rule(ir.op_name(op))?;
    if matches!(rule.kind(), GrowthKind::Fresh | GrowthKind::Reset) {
        return None;
    }
    let operands = program.model().carriers(ir, op, rule).flatten();
    operands.fold(None, |best: Option<Value>, it| match best {
        Some(best) if program.noise(best).hi() >= program.noise(it).hi() => Some(best),
        _ => Some(it),
    })
}

/// The effects of a value over the budget on later values.
#[derive(Debug, Default)]
pub(in crate::checks) struct LaterOverflows {
    /// Number of later values that are over the budget because of it, up to the limit.
    pub(in crate::checks) n_values: usize,
    /// The decodes of these values, in no particular order. Complete if the limit is not reached.
    pub(in crate::checks) decodes: Vec<Op>,
}

/// Finds the values over the budget that depend on `roots`, up to `limit` values.
///
/// *Cost.* Each value is visited at most once.
pub(in crate::checks) fn later_overflows(
    program: &Program,
    roots: impl IntoIterator<Item = Value>,
    limit: usize,
) -> LaterOverflows {
    let (ir, budget) = (program.ir(), program.model().budget);
    let mut queue: VecDeque<Value> = roots.into_iter().collect();
    let mut seen: FxHashSet<Value> = queue.iter().copied().collect();
    let mut out = LaterOverflows::default();
    while let Some(value) = queue.pop_front() {
        for &(user, index) in &ir.value(value).uses {
            if ir.op(user).kind == OpKind::NoisyDecode && program.noise_solver().is_live(ir, user) {
                out.decodes.push(user);
            }
            let mut fed = flow::fed_values(ir, user, index as usize);
            fed.extend(receivers(ir, user, index as usize));
            for &it in ir.op(user).results.iter().chain(&fed) {
                if program.noise(it).is_over(budget) && seen.insert(it) {
                    out.n_values += 1;
                    queue.push_back(it);
                    if out.n_values == limit {
                        return out;
                    }
                }
            }
        }
    }
    out
}

/// Returns the values that receive an operand of a call or a return.
fn receivers(ir: &Ir, user: Op, index: usize) -> Vec<Value> {
    match ir.op(user).kind {
        OpKind::FuncCall => {
            let body = flow::callee(ir, user).and_then(|it| flow::function_body(ir, it));
            let args = body.map(|it| &ir.block(flow::entry_block(ir, it)).args);
            args.and_then(|it| it.get(index)).copied().into_iter().collect()
        }
        OpKind::FuncReturn => {
            let function = ir.function_of(user);
            let calls = function.map_or(Vec::new(), |it| flow::calls_of(ir, it).0);
            calls.into_iter().filter_map(|it| ir.op(it).results.get(index).copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns related locations for the first decodes in the text.
fn decode_locations(program: &Program, mut decodes: Vec<Op>) -> Vec<RelatedLocation> {
    let ir = program.ir();
    decodes.sort_by_cached_key(|&it| ir.start(it));
    decodes.dedup();
    let reported = decodes.into_iter().take(MAX_SHOWN_DECODES);
    reported
        .map(|op| RelatedLocation {
            range: core_range(ir, op),
            message: "decoded here; the plaintext may be wrong".to_owned(),
        })
        .collect()
}
