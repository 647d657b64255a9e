//! `control-flow-sink`: moves ops into the only region of a conditional op that uses them.
//!
//! *Law.* Only ops without effects are moved, into a region that runs at most once, before all of
//! their users.

use noisy_analyses::facts::effects;
use noisy_dataflow::cfg::Cfg;
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Traits};

use crate::actions::{Actions, target_of};
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::{nested_ops, operands, preorder};

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "control-flow-sink",
    class: "ControlFlowSink",
    anchor: None,
    summary: "Sink operations into conditional blocks",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let mut choices = nested_ops(cx.ir, op);
    choices.retain(|&it| match cx.ir.op(it).kind {
        OpKind::ScfIf | OpKind::ScfIndexSwitch | OpKind::AffineIf => true,
        OpKind::Unknown => effects::foreign::is_choice(cx.ir.op_name(it)),
        _ => false,
    });
    let mut n = 0;
    for it in choices {
        let regions: Vec<Region> = cx.ir.op(it).regions.iter().map(|it| it.1).collect();
        for region in regions {
            n += sink_into(cx.ir, it, region, cx.actions);
        }
    }
    cx.add_statistic("num-sunk - Number of operations sunk", n);
    Ok(())
}

/// Moves ops that are used only in a region to its start. Returns their number.
fn sink_into(ir: &mut Ir, choice: Op, region: Region, actions: &mut Actions) -> usize {
    let entry = ir.entry_block(region);
    let cfg = Cfg::new(ir, region);
    let tree = cfg.dominators();
    let mut waiting: Vec<Op> = preorder(ir, region);
    waiting.reverse();
    let mut n = 0;
    // Visit the ops in order, and then the moved ops, whose operands may be moved as well.
    let mut queue: std::collections::VecDeque<Op> = waiting.into_iter().rev().collect();
    while let Some(user) = queue.pop_front() {
        for value in operands(ir, user) {
            let Some(op) = ir.defining_op(value) else { continue };
            let stays = ir.op(op).parent != ir.op(choice).parent
                || ir.op(op).kind.has(Traits::TERMINATOR)
                || !effects::is_free_of_effects(ir, op)
                || !used_only_in(ir, op, region, entry, &cfg, &tree);
            if stays {
                continue;
            }
            if !actions.is_within_limit() {
                return n;
            }
            ir.move_op(op, InsertionPoint::Start(entry));
            n += 1;
            actions.record_step(ir, "only this region uses it", || target_of(ir, op));
            queue.push_back(op);
        }
    }
    n
}

fn used_only_in(
    ir: &Ir,
    op: Op,
    region: Region,
    entry: Block,
    cfg: &Cfg,
    tree: &noisy_syntax::dominance::DominatorTree,
) -> bool {
    ir.op(op).results.iter().all(|&it| {
        ir.value(it).uses.iter().all(|&(user, _)| {
            // Find the block of the region that contains the user.
            let mut at = user;
            loop {
                if ir.op(at).parent == region {
                    let block = ir.block_of(at);
                    return block == entry
                        || cfg.node(block).is_some_and(|it| tree.is_reachable(it));
                }
                match ir.parent_op(at) {
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
        })
    })
}
