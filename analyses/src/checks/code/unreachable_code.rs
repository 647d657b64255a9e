//! unreachable-code: code that never runs
//!
//! No reachable op branches to the block, or the enclosing op never runs the region because a
//! condition or a trip count is constant.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {
//!   %false = arith.constant false
//!   cf.cond_br %false, ^bb1, ^bb2
//! ^bb1:                                // never runs
//!   return %a : !noisy.i32
//! ^bb2:
//!   return %b : !noisy.i32
//! }
//! ```
//!
//! Code that never runs has no noise and no noise errors. Remove it together with the branch.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {
//!   return %b : !noisy.i32
//! }
//! ```

use noisy_syntax::{Ir, Op, OpKind, Region};

use crate::checks::{Check, Index};
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Tag};
use noisy_dataflow::flow::{self, Flow};

pub(in crate::checks) const CHECK: Check = Check {
    code: "unreachable-code",
    tag: Some(Tag::Unnecessary),
    header: header!("unreachable_code.rs"),
    run: check,
    ..Check::HINT
};

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, facts) = (program.ir(), program.noise_solver());
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &op in &index.reachability_ops {
        if ir.op(op).kind == OpKind::Label {
            if let Some(range) = dead_block(program, op) {
                let name = ir.interner.str(ir.op(op).name);
                let message = format!("block ^{name} is never reached");
                out.push(unreachable(range, message, "Remove the block and the branches to it"));
            }
            continue;
        }
        if !facts.is_live(ir, op) {
            continue;
        }
        for &(_, region) in &ir.op(op).regions {
            if facts.is_block_live(flow::entry_block(ir, region)) {
                continue;
            }
            if let Some(range) = inside(ir, region) {
                let why = match Flow::of(ir, op) {
                    Flow::For { .. } | Flow::Parallel { .. } => "the loop has 0 iterations",
                    _ => "the condition is constant",
                };
                let message = format!("this region of {} never runs: {why}", ir.op_name(op));
                out.push(unreachable(
                    range,
                    message,
                    "Remove the region, or fix the condition or bounds",
                ));
            }
        }
    }
}

fn unreachable(range: std::ops::Range<usize>, message: String, help: &str) -> Diagnostic {
    let mut it = CHECK.diagnostic_at(range, message);
    it.help = Some(help.to_owned());
    it
}

/// Returns the range from the first op of a region to its last op.
fn inside(ir: &Ir, region: Region) -> Option<std::ops::Range<usize>> {
    let first = ir.items(region).next()?;
    let last = *ir.blocks(region).last()?;
    let end = ir.last_op(last).or(ir.block(last).label)?;
    Some(ir.range(first).start..ir.range(end).end)
}

/// Returns the range of an unreachable block in a reachable region.
fn dead_block(program: &Program, label: Op) -> Option<std::ops::Range<usize>> {
    let (ir, facts) = (program.ir(), program.noise_solver());
    let region = ir.op(label).parent;
    let holder = ir.region(region).parent?;
    let block = ir.label_block(label);
    let is_dead = !facts.is_block_live(block)
        && ir.prev(label).is_some()
        && matches!(Flow::of(ir, holder), Flow::Function | Flow::Choice)
        && facts.is_block_live(flow::entry_block(ir, region));
    is_dead.then(|| {
        let end = ir.last_op(block).unwrap_or(label);
        ir.range(label).start..ir.range(end).end
    })
}
