//! contract-violated: more noise than a declared bound
//!
//! A call passes a value that may have more noise than the callee declares for its argument
//! (`noisy.bound`), or a function returns a value that may have more noise than it declares for its
//! result. The related locations are the declaration and the ops from which the noise comes.
//!
//! ```mlir
//! func.func private @g(!noisy.i32 {noisy.bound = 12 : i64})
//! func.func @f(%x: i5) {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // noise 24
//!   call @g(%1) : (!noisy.i32) -> ()        // at most 12
//!   return
//! }
//! ```
//!
//! Reduce the value before the call or return, or raise the declared bound.
//!
//! ```mlir
//! func.func private @g(!noisy.i32 {noisy.bound = 12 : i64})
//! func.func @f(%x: i5) {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // 24
//!   %2 = noisy.reduce_noise %1 : !noisy.i32 // 12
//!   call @g(%2) : (!noisy.i32) -> ()
//!   return
//! }
//! ```

use super::noise_overflow::derivation_locations;
use crate::checks::{Check, Index};
use crate::explain::SaturationCache;
use crate::facts::noise::contract::{self, ValueSide};
use crate::program::{ContractBreach, Program};
use crate::report::diagnostic::{Diagnostic, RelatedLocation, RepairKind};

pub(in crate::checks) const CHECK: Check = Check {
    code: "contract-violated",
    repair: RepairKind::Placement,
    header: header!("contract_violated.rs"),
    run: check,
    ..Check::ERROR
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    let mut known = SaturationCache::default();
    let mut ranges = contract::ContractRanges::new(program.source());
    for it in program.breaches(index.contract_functions.iter().copied()) {
        let ContractBreach { passing_op: giver, operand, value, noise, bound, function, side } = it;
        let name = program.function_name(function);
        let (what, before) = match side {
            ValueSide::Argument => ("argument", "call"),
            ValueSide::Result => ("result", "return"),
        };
        let (over, of) = (noise - bound, ir.value_text(value));
        let message = format!(
            "{of}: noise may reach {noise} bits, {over} over the {bound}-bit bound of {what} {operand} of @{name}"
        );
        let span = ir.op(giver).operands[operand].span;
        let mut it = CHECK.diagnostic_at(ir.absolute(giver, span), message);
        it.related = derivation_locations(program, value, &mut known);
        it.related.push(RelatedLocation {
            range: ranges.of(function, side, operand),
            message: format!("declared here: at most {bound} bits"),
        });
        it.help = Some(format!("Reduce {of} before the {before}, or raise the declared bound"));
        out.push(it);
    }
}
