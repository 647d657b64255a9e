//! Replaces block arguments for which all branches pass the same value.
//!
//! *Law.* The value dominates all branches to the block, so it dominates the block. *Cost.* Linear
//! in the branches and the operands that they pass.

use noisy_syntax::{Block, Op, Region, Value};

use super::{Rewriter, first_forwarded_operand};

/// Replaces these arguments in all blocks of a region except the entry. All blocks must be
/// reachable.
pub(super) fn replace_common_arguments(rewriter: &mut Rewriter<'_>, region: Region) {
    for block in rewriter.ir.blocks(region).into_iter().skip(1) {
        let common = common_values(rewriter, block);
        if common.iter().all(Option::is_none) {
            continue;
        }
        let preds: Vec<(Op, u32)> = rewriter.ir.block(block).preds.to_vec();
        for (branch, successor) in preds {
            let passed = rewriter.ir.passed_operands(branch, successor as usize);
            let left: Vec<Value> = passed
                .into_iter()
                .zip(&common)
                .filter(|it| it.1.is_none())
                .map(|it| it.0)
                .collect();
            rewriter.set_successor(branch, successor as usize, block, &left);
        }
        let args = rewriter.ir.block(block).args.to_vec();
        for (at, value) in common.into_iter().enumerate().rev() {
            if let Some(value) = value {
                rewriter.replace_uses(args[at], value);
                rewriter.ir.erase_argument(block, at).expect("all of its uses were replaced");
            }
        }
    }
}

/// Returns, for each argument, the value that all branches pass, if it is the same.
fn common_values(rewriter: &Rewriter<'_>, block: Block) -> Vec<Option<Value>> {
    let ir = &*rewriter.ir;
    let args = &ir.block(block).args;
    let preds = &ir.block(block).preds;
    if args.is_empty() || preds.iter().any(|it| first_forwarded_operand(ir.op(it.0).kind).is_none())
    {
        return vec![None; args.len()];
    }
    let mut passed = preds.iter().map(|it| ir.passed_operands(it.0, it.1 as usize));
    let first = passed.next().unwrap_or_default();
    let mut out: Vec<Option<Value>> = first.into_iter().map(Some).collect();
    for other in passed {
        for (common, value) in out.iter_mut().zip(other) {
            *common = common.filter(|&it| it == value);
        }
    }
    // Ignore an argument that is passed only to itself.
    for (common, arg) in out.iter_mut().zip(args) {
        *common = common.filter(|it| it != arg);
    }
    out.resize(args.len(), None);
    out
}
