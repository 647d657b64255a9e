//! loop-invariant: an op in a loop that computes the same value in each iteration
//!
//! The op uses nothing that changes in the loop, has no effects and is defined for all operands, so
//! it can be computed once before the loop. The pass `loop-invariant-code-motion` moves such ops.
//! Constants are not reported.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   scf.for %i = %c0 to %n step %c1 {
//!     %0 = arith.muli %a, %b : i32     // does not change
//!     memref.store %0, %m[%i] : memref<?xi32>
//!   }
//!   return
//! }
//! ```
//!
//! The fix moves the op before the loop, with its operands and the comments right above it.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %0 = arith.muli %a, %b : i32
//!   scf.for %i = %c0 to %n step %c1 {
//!     memref.store %0, %m[%i] : memref<?xi32>
//!   }
//!   return
//! }
//! ```

use noisy_syntax::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::hoist::hoist_fix;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, RelatedLocation};
use crate::report::remarks::Remark;

pub(in crate::checks) const CHECK: Check = Check {
    code: "loop-invariant",
    is_on: false,
    header: header!("loop_invariant.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    for (op, remark) in program.remarks() {
        let Remark::LoopInvariant(of) = remark else { continue };
        let name = ir.value_text(ir.op(op).results[0]);
        let message = format!("{name} does not change in the loop");
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        let message = "the loop".to_owned();
        it.related.push(RelatedLocation { range: ir.name_range(of), message });
        it.help = Some("Move it before the loop".to_owned());
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let op = program.ir().item_at(diagnostic.range.start)?;
    program.remarks_on(op).into_iter().find_map(|it| match it {
        Remark::LoopInvariant(of) => hoist_fix(program, op, of),
        _ => None,
    })
}

/// Returns the indices of the diagnostics of this check that need no own fix: their op moves with
/// the op of another diagnostic, which uses it in the same loop.
pub(crate) fn moved_with_others(
    program: &Program,
    diagnostics: &[&Diagnostic],
) -> FxHashSet<usize> {
    let ir = program.ir();
    let own = (0..).zip(diagnostics).filter(|it| it.1.code == CHECK.code);
    let ops: FxHashMap<Op, usize> =
        own.filter_map(|(at, it)| Some((ir.item_at(it.range.start)?, at))).collect();
    let moves = |op: Op| {
        let mut users = ir.op(op).results.iter().flat_map(|&it| &ir.value(it).uses);
        users.any(|it| ops.contains_key(&it.0) && ir.op(it.0).parent == ir.op(op).parent)
    };
    ops.iter().filter(|it| moves(*it.0)).map(|it| *it.1).collect()
}
