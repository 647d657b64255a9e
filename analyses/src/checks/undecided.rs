//! undecided: a loop that takes too many steps to follow
//!
//! A loop is followed round by round, and loops in loops in each round anew. Where that takes too many steps, nothing is decided about what the
//! outermost loop carries: its noise is unknown, and so is what is computed from it, and no overflow that depends on it is reported. What does not depend on
//! it is checked as ever. The same is said of cycles of blocks, of reductions, and of calls that nest too deep.
//!
//! ```mlir
//! func.func @f(%x: !noisy.i32) -> !noisy.i32 {
//!   %0 = affine.for %i0 = 0 to 3 iter_args(%a0 = %x) -> !noisy.i32 {   // not decided: 3 * 3 * ... rounds, all different
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
//! Reduce what the loop carries, so that its rounds are alike, or move the inner loops into a function whose contract (`noisy.bound`) says how much noise it
//! gives.
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

use super::{Check, Index};
use crate::diagnostic::{Category, Diagnostic, Severity};
use crate::explain::core_range;
use crate::flow::Flow;
use crate::program::Program;

pub(super) const CHECK: Check = Check {
    code: "undecided",
    category: Category::Noise,
    severity: Severity::Hint,
    is_over_budget: false,
    tag: None,
    source: include_str!("undecided.rs"),
    run: check,
    fix: None,
};

const REDUCE: &str = "reduce what it carries, so that its rounds are alike, or move the inner loops into a function with a contract (noisy.bound)";

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    for op in program.undecided() {
        let (at, what) = match (ir.op(op).kind, Flow::of(ir, op)) {
            (OpKind::FuncCall, _) => (op, "this call gives: calls nest too deep here"),
            (_, Flow::Reduce) => (op, "this reduction gives: it takes too many steps to follow"),
            (_, flow) if flow.is_loop() => {
                (op, "this loop carries: its rounds take too many steps to follow")
            }
            _ => {
                let head = first_head(ir, op).unwrap_or(op);
                (
                    head,
                    "the cycle of blocks from here on carries: it takes too many steps to follow",
                )
            }
        };
        let message = format!("nothing is decided about what {what}");
        // Not the whole op: it may carry thousands of values.
        let name = ir.op(at).name_span;
        let range = if name.start == name.end { core_range(ir, at) } else { ir.absolute(at, name) };
        let mut it = CHECK.at(range, message);
        it.help = Some(match ir.op(op).kind {
            OpKind::FuncCall => "state what the callee gives by a contract (noisy.bound)".into(),
            _ => REDUCE.into(),
        });
        out.push(it);
    }
}

/// The first label in a region of an op that a branch after it goes back to.
fn first_head(ir: &Ir, op: Op) -> Option<Op> {
    let mut labels = ir.op(op).regions.iter().flat_map(|it| ir.labels(it.1));
    labels.find(|&label| {
        let preds = &ir.block(ir.label_block(label)).preds;
        preds.iter().any(|&(branch, _)| !ir.is_before(branch, label))
    })
}
