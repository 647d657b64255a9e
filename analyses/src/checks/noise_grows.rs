//! noise-grows: noise grows with each iteration of a loop
//!
//! A loop without a known limit to its iterations adds noise to a carried value in each of them, so that after enough iterations the noise
//! exceeds the budget. Reported at the operand that the loop carries into the next iteration, or that a branch passes back to an earlier block, with the
//! first iteration at which the budget is exceeded. A loop that is known to run fewer iterations is legal and not reported.
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

use super::noise_overflow::related;
use super::{Check, Index};
use crate::diagnostic::{Diagnostic, Related};
use crate::explain::{core_range, value_range};
use crate::noise::Growing;
use crate::noise::model::Bits;
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "noise-grows",
    is_over_budget: true,
    header: header!("noise_grows.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, budget) = (program.ir(), program.model().budget);
    for (op, growing) in program.growing() {
        let mut chain = related(program, growing.root);
        let (by, round, noise) = (growing.by, growing.round, growing.noise);
        chain.push(Related {
            range: value_range(ir, growing.root),
            message: if noise == Bits::MAX {
                format!("noise without a bound here at iteration {round}")
            } else {
                format!("noise {noise} here at iteration {round}")
            },
        });
        let carried = growing.carrier.and_then(|(end, at)| ir.op(end).operands.get(at)?.value);
        let name = ir.value_text(carried.unwrap_or(growing.root));
        let message = if let Some(by) = by {
            let bits = if by == 1 { "bit" } else { "bits" };
            format!(
                "{name}: noise grows {by} {bits} per iteration, over the {budget}-bit budget at iteration {round}"
            )
        } else {
            format!(
                "{name}: noise grows with each iteration, over the {budget}-bit budget at iteration {round}"
            )
        };
        let mut it = CHECK.at(carried_range(ir, op, growing), message);
        it.related = chain;
        it.help = Some(if ir.op(op).kind == OpKind::Label {
            format!("Reduce {name} before the branch")
        } else {
            format!("Reduce {name} inside the loop, or give the loop constant bounds")
        });
        out.push(it);
    }
}

/// The operand of the yield or branch that carries what grows into the next iteration.
pub(super) fn carried_range(ir: &Ir, op: Op, growing: &Growing) -> std::ops::Range<usize> {
    let operand = growing.carrier;
    let operand = operand.and_then(|(end, at)| Some((end, ir.op(end).operands.get(at)?.span)));
    operand.map_or_else(|| core_range(ir, op), |(end, span)| ir.absolute(end, span))
}
