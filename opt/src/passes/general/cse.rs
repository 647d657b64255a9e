//! `cse`: replaces an op by an equal op that dominates it.
//!
//! *Law* and *cost*: see [`noisy_analyses::facts::same`].

use noisy_analyses::facts::effects;
use noisy_analyses::facts::same::{DominanceWalk, WalkEvent};
use noisy_syntax::{Op, Traits};

use crate::actions::target_of;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::Rewriter;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "cse",
    class: "CSE",
    anchor: None,
    summary: "Eliminate common sub-expressions",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    cx.timing.enter("(A) DominanceInfo");
    cx.timing.leave();
    let mut rewriter = Rewriter::new(cx.ir);
    let mut walk = DominanceWalk::new(rewriter.ir, op);
    let (mut n_replaced, mut n_dead) = (0, 0);
    let mut dead: Vec<Op> = Vec::new();
    while let Some(next) = walk.step().filter(|_| cx.actions.is_within_limit()) {
        let op = match next {
            WalkEvent::Op(op) => op,
            WalkEvent::Region(region) => {
                cx.timing.enter("(A) DominanceInfo");
                walk.enter_region(rewriter.ir, region);
                cx.timing.leave();
                continue;
            }
        };
        let ir = &*rewriter.ir;
        if ir.op(op).kind.has(Traits::TERMINATOR) {
            walk.enter_op(ir, op);
        } else if effects::is_trivially_dead(ir, op) {
            dead.push(op);
            n_dead += 1;
        } else if let Some(same) = walk.find_same(ir, op, &|it| it) {
            let values = ir.op(same).results.clone();
            let results = ir.op(op).results.clone();
            for (&old, &new) in results.iter().zip(&values) {
                rewriter.replace_uses(old, new);
            }
            dead.push(op);
            n_replaced += 1;
            cx.actions.record_step(rewriter.ir, "another op computes the same value", || {
                target_of(rewriter.ir, op)
            });
        } else {
            walk.enter_op(ir, op);
        }
    }
    for op in dead {
        if rewriter.ir.is_alive(op) && cx.actions.is_within_limit() {
            let at = cx.actions.target(rewriter.ir, op);
            rewriter.erase(op);
            cx.actions.record_step(rewriter.ir, "nothing uses it", || at);
        }
    }
    if n_replaced + n_dead == 0 {
        cx.analyses.preserve_all();
    }
    cx.add_statistic("num-cse'd - Number of operations CSE'd", n_replaced);
    cx.add_statistic("num-dce'd - Number of operations DCE'd", n_dead);
    Ok(())
}
