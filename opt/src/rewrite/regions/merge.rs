//! Merging of equal blocks. Values from outside that differ become block arguments.
//!
//! *Law.* Each branch leads to equal ops with the same operands as before. *Cost.* At most
//! [`MAX_ROUNDS`] rounds, each linear in the ops of the region.

use noisy_syntax::{Block, Ir, Op, OpKind, Region, Type, Value};
use rustc_hash::FxHashMap;

use super::{Rewriter, first_forwarded_operand};

/// Maximum number of rounds: blocks may become equal when their successors are merged.
const MAX_ROUNDS: usize = 10;

/// Merges the blocks of a region with equal ops. Blocks with regions, and blocks whose values are
/// used in other blocks, are not merged.
pub(super) fn merge(rewriter: &mut Rewriter<'_>, region: Region) {
    for _ in 0..MAX_ROUNDS {
        let mut clusters: Vec<Vec<Block>> = Vec::new();
        let mut places: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        for block in rewriter.ir.blocks(region).into_iter().skip(1) {
            let Some((key, _)) = signature(rewriter.ir, block) else { continue };
            let place = *places.entry(key).or_insert_with(|| {
                clusters.push(Vec::new());
                clusters.len() - 1
            });
            clusters[place].push(block);
        }
        let mut is_changed = false;
        for blocks in clusters.into_iter().filter(|it| it.len() > 1) {
            is_changed |= merge_cluster(rewriter, &blocks);
        }
        if !is_changed {
            return;
        }
    }
}

/// Merges blocks that differ only in values from outside. Returns true if they were merged.
fn merge_cluster(rewriter: &mut Rewriter<'_>, blocks: &[Block]) -> bool {
    let (&kept, gone) = blocks.split_first().expect("a cluster has blocks");
    // Earlier merges may have changed the operands that these blocks pass on. Then the next round
    // merges them.
    let all: Option<Vec<_>> = blocks.iter().map(|&it| signature(rewriter.ir, it)).collect();
    let Some(all) = all.filter(|all| all.iter().all(|it| it.0 == all[0].0)) else { return false };
    let outside: Vec<Vec<Value>> = all.into_iter().map(|it| it.1).collect();
    let n = outside[0].len();
    let differing: Vec<usize> =
        (0..n).filter(|&at| outside.iter().any(|it| it[at] != outside[0][at])).collect();
    let passes = !differing.is_empty() || !rewriter.ir.block(kept).args.is_empty();
    let may_pass = blocks.iter().all(|&it| {
        let preds = &rewriter.ir.block(it).preds;
        preds.iter().all(|it| first_forwarded_operand(rewriter.ir.op(it.0).kind).is_some())
    });
    if passes && !may_pass {
        return false;
    }
    // The operands that become arguments of the remaining block.
    let places: Vec<(Op, usize)> = outside_operands(rewriter.ir, kept);
    for &at in &differing {
        let ty = rewriter.ty(outside[0][at]);
        let arg = rewriter.ir.add_argument(kept, ty);
        let (op, index) = places[at];
        rewriter.set_operand(op, index, arg);
    }
    for (&block, values) in blocks.iter().zip(&outside) {
        let more: Vec<Value> = differing.iter().map(|&at| values[at]).collect();
        let preds: Vec<(Op, u32)> = rewriter.ir.block(block).preds.to_vec();
        for (branch, successor) in preds {
            if block == kept && more.is_empty() {
                continue;
            }
            let mut passed = rewriter.ir.passed_operands(branch, successor as usize);
            passed.extend(&more);
            rewriter.set_successor(branch, successor as usize, kept, &passed);
        }
    }
    for &block in gone {
        rewriter.erase_block(block);
    }
    true
}

/// Returns true if an operand may become a block argument. Operands of affine ops may not, because
/// they must be dimensions and symbols.
fn may_be_argument(kind: OpKind) -> bool {
    !kind.spec().name.starts_with("affine.")
}

/// Returns the operands of the ops of a block that are defined outside and may differ, in order.
fn outside_operands(ir: &Ir, block: Block) -> Vec<(Op, usize)> {
    let mut local: rustc_hash::FxHashSet<Value> = ir.block(block).args.iter().copied().collect();
    let mut out = Vec::new();
    for op in ir.block_ops(block) {
        let data = ir.op(op);
        for (at, operand) in data.operands.iter().enumerate() {
            if operand.value.is_some_and(|it| !local.contains(&it)) && may_be_argument(data.kind) {
                out.push((op, at));
            }
        }
        local.extend(data.results.iter().copied());
    }
    out
}

/// Returns a fingerprint of a block, and its operands from outside that may differ between equal
/// blocks. `None` for a block that cannot be merged.
fn signature(ir: &Ir, block: Block) -> Option<(Vec<u64>, Vec<Value>)> {
    if ir.block(block).preds.is_empty() {
        return None;
    }
    let number = |ty: Type| ty.index() as u64;
    let args = &ir.block(block).args;
    let mut local: FxHashMap<Value, u64> = FxHashMap::default();
    let mut out = vec![args.len() as u64];
    for &arg in args {
        out.push(number(ir.value(arg).ty));
        local.insert(arg, local.len() as u64);
        if is_used_elsewhere(ir, arg, block) {
            return None;
        }
    }
    let mut outside = Vec::new();
    for op in ir.block_ops(block) {
        let data = ir.op(op);
        if !data.regions.is_empty() {
            return None;
        }
        out.extend([u64::from(data.name.index() as u32), data.operands.len() as u64]);
        for operand in &data.operands {
            let value = operand.value?;
            match local.get(&value) {
                Some(it) => out.extend([0, *it]),
                None if may_be_argument(data.kind) => {
                    out.extend([1, number(ir.value(value).ty)]);
                    outside.push(value);
                }
                None => out.extend([2, value.index() as u64]),
            }
        }
        let rest = ir.extra(op);
        out.push(rest.attrs.len() as u64);
        for &(name, attr) in &rest.attrs {
            out.extend([name.index() as u64, attr.index() as u64]);
        }
        out.push(rest.successors.len() as u64);
        for successor in &rest.successors {
            out.extend([successor.block?.index() as u64, u64::from(successor.operands.start)]);
        }
        out.push(data.results.len() as u64);
        for &result in &data.results {
            if is_used_elsewhere(ir, result, block) {
                return None;
            }
            local.insert(result, local.len() as u64);
            out.push(number(ir.value(result).ty));
        }
    }
    Some((out, outside))
}

fn is_used_elsewhere(ir: &Ir, value: Value, block: Block) -> bool {
    ir.value(value).uses.iter().any(|it| ir.block_of(it.0) != block)
}
