//! Blocks: those that nothing reaches go, and what only keeps itself alive through block arguments.
//!
//! *Law.* Nothing that is erased can be seen to be missing. *Cost.* Linear in the ops of regions that have several blocks.

use noisy_syntax::{Block, Def, Ir, Op, OpKind, Region, Traits, Value};
use rustc_hash::FxHashSet;

use super::Rewriter;
use noisy_analyses::effects;

mod alike;
mod merge;

/// What is done to the blocks of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simplify {
    /// Nothing.
    Disabled,
    /// Blocks that nothing reaches, and dead values, are erased.
    Normal,
    /// Besides, equal blocks become one, and arguments that are always passed the same value are that value.
    Aggressive,
}

/// Simplifies the blocks of a region and of those in it; says whether anything changed.
pub fn simplify(rewriter: &mut Rewriter<'_>, region: Region, how: Simplify) -> bool {
    let before = rewriter.n_changes();
    let mut regions = Vec::new();
    let mut stack = vec![region];
    while let Some(it) = stack.pop() {
        let mut n_labels = 0;
        for op in rewriter.ir.items(it) {
            let data = rewriter.ir.op(op);
            n_labels += usize::from(data.kind == OpKind::Label);
            stack.extend(data.regions.iter().map(|it| it.1));
        }
        if n_labels > 1 {
            regions.push(it);
        }
    }
    for &it in &regions {
        // What is in a region that was erased is gone.
        if is_alive(rewriter.ir, it) {
            erase_unreachable(rewriter, it);
        }
    }
    for &it in &regions {
        if is_alive(rewriter.ir, it) {
            erase_dead(rewriter, it);
        }
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

/// Erases the blocks of a region that no way leads to; says whether there were any.
///
/// # Panics
/// If something that is reached uses what is not: a mistake of who changed the program.
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

/// Erases ops and block arguments that no op with an effect needs, by way of others.
fn erase_dead(rewriter: &mut Rewriter<'_>, region: Region) {
    let ir = &*rewriter.ir;
    let mut live_ops: FxHashSet<Op> = FxHashSet::default();
    let mut live_args: FxHashSet<Value> = FxHashSet::default();
    let mut stack: Vec<Op> = Vec::new();
    let all = super::preorder(ir, region);
    for &op in &all {
        let is_needed = ir.op(op).kind.has(Traits::TERMINATOR) || !effects::is_droppable(ir, op);
        if is_needed && live_ops.insert(op) {
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
                    if live_ops.insert(defining_op) {
                        stack.push(defining_op);
                    }
                }
                Def::Argument(block, index) => {
                    if !live_args.insert(value) {
                        continue;
                    }
                    for &(branch, successor) in &ir.block(block).preds {
                        let passed = ir.passed_operands(branch, successor as usize);
                        values.extend(passed.get(index as usize));
                    }
                }
            }
        }
    }
    // Only the blocks of this region: those further in have had, or will have, their turn.
    let blocks = ir.blocks(region);
    let mut dead_args: Vec<(Block, Vec<usize>)> = Vec::new();
    for &block in blocks.iter().skip(1) {
        let preds = &ir.block(block).preds;
        if preds.iter().any(|it| forwarded_kind(ir.op(it.0).kind).is_none()) {
            continue;
        }
        let args = ir.block(block).args.iter().enumerate();
        let dead: Vec<usize> = args.filter(|it| !live_args.contains(it.1)).map(|it| it.0).collect();
        if !dead.is_empty() {
            dead_args.push((block, dead));
        }
    }
    let dead_ops: Vec<Op> = all.into_iter().filter(|it| !live_ops.contains(it)).collect();
    for (block, dead) in &dead_args {
        let preds: Vec<(Op, u32)> = rewriter.ir.block(*block).preds.to_vec();
        for (branch, successor) in preds {
            let mut passed = rewriter.ir.passed_operands(branch, successor as usize);
            for &at in dead.iter().rev() {
                passed.remove(at);
            }
            rewriter.set_successor(branch, successor as usize, *block, &passed);
        }
    }
    // What is in a dead op goes with it.
    let gone: FxHashSet<Op> = dead_ops.iter().copied().collect();
    let is_outermost = |ir: &Ir, op: Op| {
        let mut at = ir.parent_op(op);
        while let Some(it) = at {
            if gone.contains(&it) {
                return false;
            }
            at = ir.parent_op(it);
        }
        true
    };
    let dead_ops: Vec<Op> =
        dead_ops.into_iter().filter(|&it| is_outermost(rewriter.ir, it)).collect();
    for &op in &dead_ops {
        rewriter.forget(op);
    }
    if !dead_ops.is_empty() {
        rewriter.ir.erase_ops(&dead_ops).expect("only what is dead uses what is dead");
    }
    for (block, dead) in dead_args {
        for at in dead.into_iter().rev() {
            rewriter.ir.erase_argument(block, at).expect("only what was dead used it");
        }
    }
}

/// The operands that a branch passes on, if that is all it does with them.
fn forwarded(ir: &Ir, op: Op) -> std::ops::Range<usize> {
    let Some(first) = forwarded_kind(ir.op(op).kind) else { return 0..0 };
    first..ir.op(op).operands.len()
}

/// The number of the first operand that a branch of this kind passes on.
pub(crate) fn forwarded_kind(kind: OpKind) -> Option<usize> {
    match kind {
        OpKind::CfBr => Some(0),
        OpKind::CfCondBr | OpKind::CfSwitch => Some(1),
        _ => None,
    }
}
