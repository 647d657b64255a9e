//! undecided: the noise of a loop takes too many steps to compute
//!
//! The analysis follows a loop iteration by iteration, and inner loops again in each iteration. If
//! that takes too many steps, the noise of the values that the outermost loop carries is unknown,
//! and so is the noise of everything computed from them. Overflows that depend on this noise are
//! not reported. All other values are checked as usual. The same holds for cycles of blocks, for
//! reductions, and for recursion.
//!
//! ```mlir
//! func.func @f(%x: !noisy.i32) -> !noisy.i32 {
//!   %0 = affine.for %i0 = 0 to 3 iter_args(%a0 = %x) -> !noisy.i32 {   // undecided: 3 * 3 * ... iterations, all different
//!   %1 = affine.for %i1 = 0 to 3 iter_args(%a1 = %a0) -> !noisy.i32 {
//!   %2 = affine.for %i2 = 0 to 3 iter_args(%a2 = %a1) -> !noisy.i32 {
//!   %3 = affine.for %i3 = 0 to 3 iter_args(%a3 = %a2) -> !noisy.i32 {
//!   %4 = affine.for %i4 = 0 to 3 iter_args(%a4 = %a3) -> !noisy.i32 {
//!   %5 = affine.for %i5 = 0 to 3 iter_args(%a5 = %a4) -> !noisy.i32 {
//!   %6 = affine.for %i6 = 0 to 3 iter_args(%a6 = %a5) -> !noisy.i32 {
//!   %7 = affine.for %i7 = 0 to 3 iter_args(%a7 = %a6) -> !noisy.i32 {
//!   %8 = affine.for %i8 = 0 to 3 iter_args(%a8 = %a7) -> !noisy.i32 {
//!   %9 = affine.for %i9 = 0 to 3 iter_args(%a9 = %a8) -> !noisy.i32 {
//!   %10 = affine.for %i10 = 0 to 3 iter_args(%a10 = %a9) -> !noisy.i32 {
//!   %11 = noisy.add %a10, %x : !noisy.i32
//!   affine.yield %11 : !noisy.i32
//!   }
//!   affine.yield %10 : !noisy.i32
//!   }
//!   affine.yield %9 : !noisy.i32
//!   }
//!   affine.yield %8 : !noisy.i32
//!   }
//!   affine.yield %7 : !noisy.i32
//!   }
//!   affine.yield %6 : !noisy.i32
//!   }
//!   affine.yield %5 : !noisy.i32
//!   }
//!   affine.yield %4 : !noisy.i32
//!   }
//!   affine.yield %3 : !noisy.i32
//!   }
//!   affine.yield %2 : !noisy.i32
//!   }
//!   affine.yield %1 : !noisy.i32
//!   }
//!   return %0 : !noisy.i32
//! }
//! ```
//!
//! Reduce the carried value in each iteration (all iterations are then alike), or move the inner
//! loops into a function that declares a bound (`noisy.bound`) on its result.
//!
//! ```mlir
//! func.func @f(%x: !noisy.i32) -> !noisy.i32 {
//!   %0 = affine.for %i = 0 to 65536 iter_args(%a = %x) -> !noisy.i32 {
//!     %1 = noisy.add %a, %x : !noisy.i32
//!     %2 = noisy.reduce_noise %1 : !noisy.i32
//!     affine.yield %2 : !noisy.i32
//!   }
//!   return %0 : !noisy.i32
//! }
//! ```

use noisy_syntax::{Ir, Op, OpKind};

use crate::checks::{Check, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Category, Diagnostic};
use noisy_dataflow::flow::Flow;

pub(in crate::checks) const CHECK: Check = Check {
    code: "undecided",
    category: Category::Noise,
    header: header!("undecided.rs"),
    run: check,
    ..Check::HINT
};

const REDUCE: &str = "Reduce the carried value in each iteration, or move the inner loops into a function that declares noisy.bound on its result";

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    for op in program.undecided() {
        let (at, message) = match (ir.op(op).kind, Flow::of(ir, op)) {
            (OpKind::FuncCall, _) => {
                (op, "noise of this call is unknown: its calls are nested too deeply")
            }
            (_, Flow::Reduce) => {
                (op, "noise of this reduction is unknown: it takes too many steps to compute")
            }
            (_, flow) if flow.is_loop() => {
                (op, "noise of this loop is unknown: its iterations take too many steps to compute")
            }
            _ => {
                let head = first_loop_header(ir, op).unwrap_or(op);
                (
                    head,
                    "noise of the cycle of blocks that starts here is unknown: it takes too many steps to compute",
                )
            }
        };
        // The name only: the op may have thousands of operands.
        let name = ir.op(at).name_span;
        let range = if name.start == name.end { core_range(ir, at) } else { ir.absolute(at, name) };
        let mut it = CHECK.diagnostic_at(range, message.to_owned());
        it.help = Some(match ir.op(op).kind {
            OpKind::FuncCall => "Declare noisy.bound on the result of the callee".into(),
            _ => REDUCE.into(),
        });
        out.push(it);
    }
}

/// Returns the first label in the regions of an op that is the target of a back edge.
fn first_loop_header(ir: &Ir, op: Op) -> Option<Op> {
    let mut labels = ir.op(op).regions.iter().flat_map(|it| ir.labels(it.1));
    labels.find(|&label| {
        let preds = &ir.block(ir.label_block(label)).preds;
        preds.iter().any(|&(branch, _)| !ir.is_before(branch, label))
    })
}
