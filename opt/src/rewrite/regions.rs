//! Simplification of blocks: erases unreachable blocks, and values that keep only each other alive
//! through block arguments.
//!
//! *Law.* The behaviour of the program does not change. *Cost.* Linear in the ops of regions with
//! several blocks.

use noisy_syntax::{Block, Ir, Op, OpKind, Region};
use rustc_hash::FxHashSet;

use super::Rewriter;

mod common_arguments;
mod dead;
mod merge;

/// The level of simplification of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimplificationLevel {
    /// No simplification.
    Disabled,
    /// Erase unreachable blocks and dead values.
    Normal,
    /// Also merge equal blocks, and replace arguments for which all predecessors pass the same
    /// value.
    Aggressive,
}

/// Returns all regions with several blocks in a region at any depth, including the region itself,
/// and the outermost ones of these.
fn regions_with_several_blocks(ir: &Ir, region: Region) -> (Vec<Region>, Vec<Region>) {
    let (mut regions, mut outermost) = (Vec::new(), Vec::new());
    let mut stack = vec![(region, false)];
    while let Some((it, is_inside)) = stack.pop() {
        let labels = ir.items(it).filter(|&op| ir.op(op).kind == OpKind::Label);
        let has_several = labels.take(2).count() == 2;
        for op in ir.items(it) {
            let nested = ir.op(op).regions.iter();
            stack.extend(nested.map(|it| (it.1, is_inside || has_several)));
        }
        if has_several {
            regions.push(it);
            if !is_inside {
                outermost.push(it);
            }
        }
    }
    (regions, outermost)
}

/// Erases the unreachable blocks of a region at any depth. Returns true if a block was erased.
pub(super) fn erase_all_unreachable(rewriter: &mut Rewriter<'_>, region: Region) -> bool {
    let mut is_changed = false;
    for it in regions_with_several_blocks(rewriter.ir, region).0 {
        // Skip regions in a block that was erased.
        is_changed |= is_alive(rewriter.ir, it) && erase_unreachable(rewriter, it);
    }
    is_changed
}

/// Returns the unreachable blocks of a region at any depth.
pub(super) fn all_unreachable(ir: &Ir, region: Region) -> Vec<Block> {
    regions_with_several_blocks(ir, region)
        .0
        .into_iter()
        .flat_map(|it| unreachable(ir, it))
        .collect()
}

/// Simplifies the blocks of a region at any depth. Returns true if the program changed.
pub fn simplify(rewriter: &mut Rewriter<'_>, region: Region, how: SimplificationLevel) -> bool {
    let before = rewriter.n_changes();
    let (regions, outermost) = regions_with_several_blocks(rewriter.ir, region);
    for &it in &regions {
        // Skip regions in a block that was erased.
        if is_alive(rewriter.ir, it) {
            erase_unreachable(rewriter, it);
        }
    }
    for &it in &outermost {
        dead::erase(rewriter, it);
    }
    if how == SimplificationLevel::Aggressive {
        for &it in &regions {
            if is_alive(rewriter.ir, it) {
                merge::merge(rewriter, it);
            }
        }
        for &it in &regions {
            if is_alive(rewriter.ir, it) {
                common_arguments::replace_common_arguments(rewriter, it);
            }
        }
    }
    rewriter.n_changes() != before
}

fn is_alive(ir: &Ir, region: Region) -> bool {
    ir.region(region)
        .parent
        .is_some_and(|op| ir.is_alive(op) && ir.op(op).regions.iter().any(|it| it.1 == region))
}

/// Returns the unreachable blocks of a region.
fn unreachable(ir: &Ir, region: Region) -> Vec<Block> {
    let blocks = ir.blocks(region);
    let Some(&entry) = blocks.first() else { return blocks };
    let mut reached: FxHashSet<Block> = FxHashSet::default();
    let mut stack = vec![entry];
    reached.insert(entry);
    while let Some(block) = stack.pop() {
        let Some(last) = ir.last_op(block) else { continue };
        for successor in &ir.extra(last).successors {
            if let Some(to) = successor.block
                && reached.insert(to)
            {
                stack.push(to);
            }
        }
    }
    blocks.into_iter().filter(|it| !reached.contains(it)).collect()
}

/// Erases the unreachable blocks of a region. Returns true if a block was erased.
///
/// # Panics
/// If a reachable op uses a value of an unreachable block, which is invalid IR.
pub(crate) fn erase_unreachable(rewriter: &mut Rewriter<'_>, region: Region) -> bool {
    let dead = unreachable(rewriter.ir, region);
    if dead.is_empty() {
        return false;
    }
    for &block in &dead {
        let ops: Vec<Op> = rewriter.ir.block_ops(block).collect();
        for op in ops {
            rewriter.remove_from_worklist(op);
        }
    }
    rewriter.ir.erase_blocks(&dead).expect("nothing that is reached uses what is not");
    true
}

/// Returns the index of the first operand that a branch of this kind passes to its successors.
/// `None` for other ops.
pub(crate) fn first_forwarded_operand(kind: OpKind) -> Option<usize> {
    match kind {
        OpKind::CfBr => Some(0),
        OpKind::CfCondBr | OpKind::CfSwitch => Some(1),
        _ => None,
    }
}
