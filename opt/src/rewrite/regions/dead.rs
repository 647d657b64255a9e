//! Erasure of ops and arguments that keep only each other alive through block arguments.
//!
//! *Law.* An op or argument is dead if no op with effects and no terminator depends on it, even
//! indirectly: all users are dead, or branches that pass it to dead arguments. All dead ops and
//! arguments in a region, at any depth, are erased together, because they may use each other.
//! *Cost.* Linear in the ops of the region and the operands that its branches pass.

use noisy_analyses::facts::effects;
use noisy_syntax::{Block, Def, Ir, Op, Region, Traits, Value};
use rustc_hash::FxHashSet;

use super::super::preorder;
use super::{Rewriter, first_forwarded_operand};

/// Erases the dead ops and block arguments in a region, at any depth.
pub(super) fn erase(rewriter: &mut Rewriter<'_>, region: Region) {
    let ir = &*rewriter.ir;
    let live = LiveOps::of(ir, region);
    let mut dead_ops: Vec<Op> = Vec::new();
    let mut dead_args: Vec<(Block, Vec<usize>)> = Vec::new();
    let mut stack = vec![region];
    while let Some(region) = stack.pop() {
        for op in ir.items(region).filter(|&op| ir.op(op).kind.is_op()) {
            if live.ops.contains(&op) {
                stack.extend(ir.op(op).regions.iter().map(|it| it.1));
            } else {
                // The regions of a dead op are erased with it.
                dead_ops.push(op);
            }
        }
        // The enclosing op determines the arguments of the entry block.
        for block in ir.blocks(region).into_iter().skip(1) {
            let args = ir.block(block).args.iter().enumerate();
            let dead: Vec<usize> =
                args.filter(|it| !live.args.contains(it.1)).map(|it| it.0).collect();
            if !dead.is_empty() {
                dead_args.push((block, dead));
            }
        }
    }
    for (block, dead) in &dead_args {
        let preds: Vec<(Op, u32)> = rewriter.ir.block(*block).preds.to_vec();
        for (branch, successor) in preds {
            let passed = rewriter.ir.passed_operands(branch, successor as usize);
            let passed = without(&passed, dead);
            rewriter.set_successor(branch, successor as usize, *block, &passed);
        }
    }
    for &op in &dead_ops {
        rewriter.remove_from_worklist(op);
    }
    if !dead_ops.is_empty() {
        rewriter.ir.erase_ops(&dead_ops).expect("only what is dead uses what is dead");
    }
    for (block, dead) in dead_args {
        rewriter.ir.erase_arguments(block, &dead).expect("only what was dead used it");
    }
}

/// The live ops and block arguments in a region.
#[derive(Default)]
struct LiveOps {
    ops: FxHashSet<Op>,
    args: FxHashSet<Value>,
}

impl LiveOps {
    fn of(ir: &Ir, region: Region) -> Self {
        let mut out = Self::default();
        let mut stack: Vec<Op> = Vec::new();
        for op in preorder(ir, region) {
            let is_needed =
                ir.op(op).kind.has(Traits::TERMINATOR) || !effects::is_erasable_if_unused(ir, op);
            if is_needed && out.ops.insert(op) {
                stack.push(op);
            }
        }
        let mut values: Vec<Value> = Vec::new();
        while let Some(op) = stack.pop() {
            let passed = forwarded(ir, op);
            let operands = ir.op(op).operands.iter().enumerate();
            let own = operands.filter(|(at, _)| !passed.contains(at)).filter_map(|it| it.1.value);
            values.extend(own);
            if passed.is_empty() {
                for block in ir.extra(op).successors.iter().filter_map(|it| it.block) {
                    values.extend(ir.block(block).args.iter());
                }
            }
            while let Some(value) = values.pop() {
                match ir.value(value).def {
                    Def::Result(defining_op, _) => {
                        if out.ops.insert(defining_op) {
                            stack.push(defining_op);
                        }
                    }
                    Def::Argument(block, index) => {
                        if out.args.insert(value) {
                            let preds = ir.block(block).preds.iter();
                            values.extend(preds.filter_map(|it| passed_as(ir, *it, index)));
                        }
                    }
                }
            }
        }
        out
    }
}

/// Returns the value that a branch passes for an argument.
fn passed_as(ir: &Ir, (branch, successor): (Op, u32), index: u32) -> Option<Value> {
    let range = &ir.extra(branch).successors.get(successor as usize)?.operands;
    let at = range.start + index;
    if range.contains(&at) { ir.op(branch).operands.get(at as usize)?.value } else { None }
}

/// Returns a list without the items at the given positions, which are in ascending order.
fn without(list: &[Value], places: &[usize]) -> Vec<Value> {
    let mut places = places.iter().peekable();
    let kept = list.iter().enumerate().filter(|it| places.next_if(|&&at| at == it.0).is_none());
    kept.map(|it| *it.1).collect()
}

/// Returns the operands that a branch passes to its successors. Empty for other ops.
fn forwarded(ir: &Ir, op: Op) -> std::ops::Range<usize> {
    let Some(first) = first_forwarded_operand(ir.op(op).kind) else { return 0..0 };
    first..ir.op(op).operands.len()
}
