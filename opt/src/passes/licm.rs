//! `loop-invariant-code-motion`: what computes the same in each iteration is computed before the loop.
//!
//! *Law.* Only what has no effects and is defined for all operands moves: it may run although the loop does not. *Cost.* Linear: each
//! op is looked at once per loop around it that it leaves.

use noisy_syntax::rewrite::Point;
use noisy_syntax::{Ir, Op, OpKind, Traits};

use super::{Context, Failure, Options, PassInfo};
use crate::actions::{Actions, place};
use crate::effects;
use crate::rewrite::{nested, operands};

pub(super) const PASSES: &[PassInfo] = &[PassInfo {
    name: "loop-invariant-code-motion",
    class: "LoopInvariantCodeMotion",
    anchor: None,
    summary: "Hoist loop invariant instructions outside of the loop",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let mut loops = nested(cx.ir, op);
    loops.retain(|&it| is_loop(cx.ir, it));
    let mut n = 0;
    // Inner loops first, so that what leaves them may leave the next one too.
    for it in loops.into_iter().rev() {
        n += hoist(cx.ir, it, cx.actions);
    }
    cx.count("num-hoisted - Number of ops moved out of loops", n);
    Ok(())
}

fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(
        ir.op(op).kind,
        OpKind::ScfFor
            | OpKind::ScfWhile
            | OpKind::ScfParallel
            | OpKind::ScfForall
            | OpKind::AffineFor
            | OpKind::AffineParallel
    )
}

/// Whether an op may run before the loop that it stands right in, and does not change there.
pub fn may_leave_loop(ir: &Ir, op: Op) -> bool {
    ir.parent_op(op).is_some_and(|of| is_loop(ir, of) && leaves(ir, op, of))
}

/// Whether an op right in a loop may run before it and does not change in it.
fn leaves(ir: &Ir, op: Op, of: Op) -> bool {
    !ir.op(op).kind.has(Traits::TERMINATOR)
        && is_invariant(ir, op, of)
        && effects::is_free_of_effects(ir, op)
        && effects::is_speculatable(ir, op)
}

/// Moves what is invariant before a loop; how many ops that were.
fn hoist(ir: &mut Ir, of: Op, actions: &mut Actions) -> usize {
    let regions: Vec<_> = ir.op(of).regions.iter().map(|it| it.1).collect();
    let mut n = 0;
    for region in regions {
        // Ops right in the loop, in order: who defines an operand has moved before its users are looked at.
        let ops: Vec<Op> = ir.items(region).filter(|&it| ir.op(it).kind.is_op()).collect();
        for op in ops {
            if !actions.goes_on() {
                return n;
            }
            if actions.is_meant(ir, op) && leaves(ir, op, of) {
                ir.move_op(op, Point::Before(of));
                n += 1;
                actions.step(ir, "does not change in the loop", || place(ir, op));
            }
        }
    }
    n
}

/// Whether an op, and what is in it, uses nothing that the loop defines.
pub(super) fn is_invariant(ir: &Ir, op: Op, of: Op) -> bool {
    let mut stack = vec![op];
    while let Some(it) = stack.pop() {
        if ir.op(it).kind.is_op() {
            let is_outside = |&value: &noisy_syntax::Value| {
                let region = match ir.value(value).def {
                    noisy_syntax::Def::Result(defining_op, _) => ir.op(defining_op).parent,
                    noisy_syntax::Def::Argument(block, _) => ir.block(block).region,
                };
                // Defined in the op itself, or outside of the loop.
                let is_inside =
                    |at: Op| ir.op(at).regions.iter().any(|it| within(ir, region, it.1));
                is_inside(op) || !is_inside(of)
            };
            if !operands(ir, it).iter().all(is_outside) {
                return false;
            }
        }
        for &(_, region) in &ir.op(it).regions {
            stack.extend(ir.items(region));
        }
    }
    true
}

/// Whether a region is another one or inside of it.
fn within(ir: &Ir, inner: noisy_syntax::Region, outer: noisy_syntax::Region) -> bool {
    let mut at = Some(inner);
    while let Some(it) = at {
        if it == outer {
            return true;
        }
        at = ir.region(it).parent.map(|op| ir.op(op).parent);
    }
    false
}
