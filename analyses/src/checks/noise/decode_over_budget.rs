//! decode-over-budget: a value over the budget is decoded
//!
//! The decoded value may have more noise than the budget, and the plaintext may then be wrong.
//! Normally this is part of the error at the op that first exceeds the budget. It is reported at
//! the decode itself if that error is suppressed by a comment.
//!
//! ```mlir
//! func.func @f(%x: i5) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32
//!   %2 = noisy.mul %1, %1 : !noisy.i32      // noisy: allow(noise-overflow)
//!   %3 = noisy.decode %2 : !noisy.i32 -> i5 // noise 48, over the 26-bit budget
//!   return %3 : i5
//! }
//! ```
//!
//! Reduce the value before it exceeds the budget. If you suppress this diagnostic, the plaintext
//! may be wrong.
//!
//! ```mlir
//! func.func @f(%x: i5) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32
//!   %2 = noisy.mul %1, %1 : !noisy.i32      // noisy: allow(noise-overflow)
//!   %3 = noisy.decode %2 : !noisy.i32 -> i5 // noisy: allow(decode-over-budget)
//!   return %3 : i5
//! }
//! ```

use noisy_syntax::{Op, Value};
use rustc_hash::FxHashSet;

use super::noise_grows;
use super::noise_overflow::{self, derivation_locations, later_overflows};
use crate::checks::suppression::Suppressions;
use crate::checks::{Check, Index};
use crate::explain::{SaturationCache, core_range, excess_in_words, value_range};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RepairKind};

pub(in crate::checks) const CHECK: Check = Check {
    code: "decode-over-budget",
    repair: RepairKind::Placement,
    header: header!("decode_over_budget.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    let allowed = Suppressions::of(program, index);
    if allowed.is_empty() {
        return;
    }
    let overflows = program
        .overflows()
        .into_iter()
        .map(|(value, _)| (value, value_range(ir, value), noise_overflow::CHECK.code));
    let growing = program.growing_loops().into_iter().map(|(op, growing)| {
        let range = noise_grows::carried_range(ir, op, growing);
        (growing.root, range, noise_grows::CHECK.code)
    });
    let (silenced, reported): (Vec<_>, Vec<_>) = overflows
        .chain(growing)
        .partition(|(_, range, code)| allowed.is_suppressed(program, code, range));
    let decodes = |values: Vec<(Value, _, _)>| {
        later_overflows(program, values.into_iter().map(|it| it.0), usize::MAX).decodes
    };
    let reported: FxHashSet<Op> = decodes(reported).into_iter().collect();
    let mut silent = decodes(silenced);
    silent.sort_unstable();
    silent.dedup();
    let mut known = SaturationCache::default();
    for op in silent.into_iter().filter(|it| !reported.contains(it)) {
        let Some(value) = ir.op(op).operands.first().and_then(|it| it.value) else { continue };
        let Some(noise) = program.noise(value).hi() else { continue };
        let message = excess_in_words(program, value, noise, "");
        let message = format!("{message}; the decoded plaintext may be wrong");
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        it.related = derivation_locations(program, value, &mut known);
        let name = ir.value_text(value);
        it.help = Some(format!("Reduce {name} before it is decoded"));
        out.push(it);
    }
}
