//! noise-grows: noise grows with each iteration of a loop
//!
//! Each iteration of a loop adds noise to a carried value, and the number of iterations has no
//! known limit. After enough iterations the noise exceeds the budget. The error is reported at the
//! operand that the loop carries into the next iteration, or that a branch passes back to an
//! earlier block, with the first iteration over the budget. Loops that are known to run fewer
//! iterations are legal and not reported.
//!
//! ```mlir
//! func.func @f(%x: i5, %from: index, %to: index, %step: index) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = scf.for %i = %from to %to step %step iter_args(%sum = %0) -> !noisy.i32 {
//!     %2 = noisy.add %sum, %0 : !noisy.i32
//!     scf.yield %2 : !noisy.i32             // noise grows 1 bit per iteration
//!   }
//!   %3 = noisy.decode %1 : !noisy.i32 -> i5
//!   return %3 : i5
//! }
//! ```
//!
//! Reduce the carried value inside the loop, or give the loop constant bounds.
//!
//! ```mlir
//! func.func @f(%x: i5, %from: index, %to: index, %step: index) -> i5 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = scf.for %i = %from to %to step %step iter_args(%sum = %0) -> !noisy.i32 {
//!     %2 = noisy.add %sum, %0 : !noisy.i32
//!     %3 = noisy.reduce_noise %2 : !noisy.i32
//!     scf.yield %3 : !noisy.i32
//!   }
//!   %4 = noisy.decode %1 : !noisy.i32 -> i5
//!   return %4 : i5
//! }
//! ```

use noisy_syntax::{Ir, Op, OpKind};

use super::noise_overflow::derivation_locations;
use crate::checks::{Check, Index};
use crate::explain::{SaturationCache, core_range, value_range};
use crate::facts::noise::GrowingLoop;
use crate::facts::noise::model::Bits;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, RelatedLocation, RepairKind};

pub(in crate::checks) const CHECK: Check = Check {
    code: "noise-grows",
    repair: RepairKind::Placement,
    header: header!("noise_grows.rs"),
    run: check,
    run_in_brief: Some(in_brief),
    ..Check::ERROR
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    let mut known = SaturationCache::default();
    for (op, growing) in program.growing_loops() {
        let mut it = found(program, op, growing);
        it.related = derivation_locations(program, growing.root, &mut known);
        let (round, noise) = (growing.iteration, growing.noise);
        it.related.push(RelatedLocation {
            range: value_range(ir, growing.root),
            message: if noise == Bits::MAX {
                format!("unbounded noise here at iteration {round}")
            } else {
                format!("noise {noise} here at iteration {round}")
            },
        });
        let name = name(ir, growing);
        it.help = Some(if ir.op(op).kind == OpKind::Label {
            format!("Reduce {name} before the branch")
        } else {
            format!("Reduce {name} inside the loop, or give the loop constant bounds")
        });
        out.push(it);
    }
}

fn in_brief(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    out.extend(
        program.growing_loops().into_iter().map(|(op, growing)| found(program, op, growing)),
    );
}

fn found(program: &Program, op: Op, growing: &GrowingLoop) -> Diagnostic {
    let (ir, budget) = (program.ir(), program.model().budget);
    let (name, round) = (name(ir, growing), growing.iteration);
    let message = if let Some(by) = growing.growth {
        let bits = if by == 1 { "bit" } else { "bits" };
        format!(
            "{name}: noise grows {by} {bits} per iteration, over the {budget}-bit budget at iteration {round}"
        )
    } else {
        format!(
            "{name}: noise grows with each iteration, over the {budget}-bit budget at iteration {round}"
        )
    };
    CHECK.diagnostic_at(carried_range(ir, op, growing), message)
}

/// Returns the name of the value that grows.
fn name(ir: &Ir, growing: &GrowingLoop) -> String {
    let carried = growing.carrier.and_then(|(end, at)| ir.op(end).operands.get(at)?.value);
    ir.value_text(carried.unwrap_or(growing.root))
}

/// Returns the range of the operand of the yield or branch that passes the growing value to the
/// next iteration.
pub(in crate::checks) fn carried_range(
    ir: &Ir,
    op: Op,
    growing: &GrowingLoop,
) -> std::ops::Range<usize> {
    let operand = growing.carrier;
    let operand = operand.and_then(|(end, at)| Some((end, ir.op(end).operands.get(at)?.span)));
    operand.map_or_else(|| core_range(ir, op), |(end, span)| ir.absolute(end, span))
}
