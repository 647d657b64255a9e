//! unused-op: an op with unused results
//!
//! The op has no side effect, and no result of it is used. A `reduce_noise` or `mul` without a use
//! only costs time.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // %1 is never used
//!   return %0 : !noisy.i32
//! }
//! ```
//!
//! The fix removes the op.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   return %0 : !noisy.i32
//! }
//! ```

use super::removal::removal_fix;
use crate::checks::index::is_unused_pure;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, Tag};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unused-op",
    tag: Some(Tag::Unnecessary),
    header: header!("unused_op.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &op in &index.unused_pure_ops {
        if !is_unused_pure(ir, op) || !program.noise_solver().is_live(ir, op) {
            continue;
        }
        let results = &ir.op(op).results;
        let message = match results.as_slice() {
            [one] if !ir.op(op).result_names.is_empty() => {
                format!("{} is never used", ir.value_text(*one))
            }
            _ => format!("the results of this {} are never used", ir.op_name(op)),
        };
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        it.help = Some("Remove this op".to_owned());
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let op = program.ir().item_at(diagnostic.range.start)?;
    is_unused_pure(program.ir(), op).then_some(())?;
    removal_fix(program, op, "Remove this op", None)
}
