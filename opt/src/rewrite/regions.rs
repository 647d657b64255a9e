//! Simplification of blocks: erasure of unreachable blocks, and of values that only keep each other
//! alive through block arguments.
//!
//! *Law.* Erasing is not observable. *Cost.* Linear in the ops of regions with several blocks.

use noisy_syntax::{Block, Ir, Op, OpKind, Region};
use rustc_hash::FxHashSet;

use super::Rewriter;

mod alike;
mod dead;
mod merge;

/// The simplification of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simplify {
    /// Nothing.
    Disabled,
    /// Erase unreachable blocks and dead values.
    Normal,
    /// Also merge equal blocks, and replace arguments that always have the same value.
    Aggressive,
}

/// Simplifies the blocks of a region and of its nested regions. Returns true if anything changed.
pub fn simplify(rewriter: &mut Rewriter<'_>, region: Region, how: Simplify) -> bool {
    let before = rewriter.n_changes();
    // Regions with several blocks, the outermost of them.
    let (mut regions, mut outermost) = (Vec::new(), Vec::new());
    let mut stack = vec![(region, false)];
    while let Some((it, is_inside)) = stack.pop() {
        let ir = &*rewriter.ir;
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
    for &it in &regions {
        // Contents of an erased region are gone.
        if is_alive(rewriter.ir, it) {
            erase_unreachable(rewriter, it);
        }
    }
    for &it in &outermost {
        dead::erase(rewriter, it);
    }
    if how == Simplify::Aggressive {
        for &it in &regions {
            if is_alive(rewriter.ir, it) {
                merge::merge(rewriter, it);
            }
        }
        for &it in &regions {
            if is_alive(rewriter.ir, it) {
                alike::drop_alike(rewriter, it);
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

/// Erases the unreachable blocks of a region. Returns true if there were any.
///
/// # Panics
/// If a reachable op uses a value of an unreachable one, which is a mistake of a pass.
pub(crate) fn erase_unreachable(rewriter: &mut Rewriter<'_>, region: Region) -> bool {
    let ir = &*rewriter.ir;
    let blocks = ir.blocks(region);
    let Some(&entry) = blocks.first() else { return false };
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
    let dead: Vec<Block> = blocks.into_iter().filter(|it| !reached.contains(it)).collect();
    if dead.is_empty() {
        return false;
    }
    for &block in &dead {
        let ops: Vec<Op> = rewriter.ir.block_ops(block).collect();
        for op in ops {
            rewriter.forget(op);
        }
    }
    rewriter.ir.erase_blocks(&dead).expect("nothing that is reached uses what is not");
    true
}

/// Returns the index of the first operand that a branch of this kind passes on.
pub(crate) fn forwarded_kind(kind: OpKind) -> Option<usize> {
    match kind {
        OpKind::CfBr => Some(0),
        OpKind::CfCondBr | OpKind::CfSwitch => Some(1),
        _ => None,
    }
}
