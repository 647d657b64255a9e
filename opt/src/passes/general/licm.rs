//! `loop-invariant-code-motion`: moves loop-invariant computations before the loop.
//!
//! *Law.* Only speculatable ops without effects are moved, because they then run even if the loop
//! has no iteration. *Cost.* Linear: each op is visited once per loop that it leaves.

use noisy_analyses::facts::invariant::{can_leave_loop, is_loop};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Ir, Op};

use crate::actions::{Actions, target_of};
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::nested_ops;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "loop-invariant-code-motion",
    class: "LoopInvariantCodeMotion",
    anchor: None,
    summary: "Hoist loop invariant instructions outside of the loop",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let mut loops = nested_ops(cx.ir, op);
    loops.retain(|&it| is_loop(cx.ir, it));
    let mut n = 0;
    // Inner loops first, so that their ops may leave outer loops, too.
    for it in loops.into_iter().rev() {
        n += hoist(cx.ir, it, cx.actions);
    }
    cx.add_statistic("num-hoisted - Number of ops moved out of loops", n);
    Ok(())
}

/// Moves invariant ops before a loop and returns their number.
fn hoist(ir: &mut Ir, of: Op, actions: &mut Actions) -> usize {
    let regions: Vec<_> = ir.op(of).regions.iter().map(|it| it.1).collect();
    let mut n = 0;
    for region in regions {
        // The ops of the body in order, so that definitions are moved before their users are
        // visited.
        let ops: Vec<Op> = ir.items(region).filter(|&it| ir.op(it).kind.is_op()).collect();
        for op in ops {
            if !actions.is_within_limit() {
                return n;
            }
            if can_leave_loop(ir, op, of, &|_| false) {
                ir.move_op(op, InsertionPoint::Before(of));
                n += 1;
                actions.record_step(ir, "does not change in the loop", || target_of(ir, op));
            }
        }
    }
    n
}
