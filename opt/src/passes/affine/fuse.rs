//! `affine-loop-fusion`: loops of the same iterations, one behind the other, that access a memref in common become one loop, where that is
//! allowed.
//!
//! *Law.* Of two instances that depend on each other the one that ran first still does. What stands between the loops has no effects and
//! does not read the first one. *Cost.* Each fusion makes the dependences of the function be asked for again; there are at most
//! [`MOST_FUSIONS`].

use noisy_loops::{Body, Legality};
use noisy_syntax::rewrite::Point;
use noisy_syntax::{Ir, Op};

use super::for_loop::{For, postorder};
use super::legal;
use crate::effects;
use crate::passes::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
use crate::rewrite::Rewriter;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-fusion",
    class: "LoopFusion",
    anchor: Some("func.func"),
    summary: "Fuse affine loop nests",
    options: &[
        OptionInfo {
            name: "fusion-compute-tolerance",
            default: "0.3",
            kind: OptionKind::Text,
            summary: "Taken, and of no effect: nothing is computed twice",
        },
        OptionInfo {
            name: "fusion-fast-mem-space",
            default: "0",
            kind: OptionKind::Int,
            summary: "Taken, and of no effect: no memref is made",
        },
        OptionInfo {
            name: "fusion-local-buf-threshold",
            default: "0",
            kind: OptionKind::Int,
            summary: "Taken, and of no effect: no memref is made",
        },
        OptionInfo {
            name: "fusion-maximal",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Fuse loops that access nothing in common, too",
        },
        OptionInfo {
            name: "mode",
            default: "greedy",
            kind: OptionKind::OneOf(&["greedy", "producer", "sibling"]),
            summary: "Which loops are fused: all, those of which one reads what the other wrote, those that read the same",
        },
    ],
    run,
}];

/// No function has more fusions than this.
const MOST_FUSIONS: usize = 64;

fn run(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let wanted = Wanted {
        any: options.is_on("fusion-maximal"),
        written: options.text("mode") != "sibling",
        read: options.text("mode") != "producer",
    };
    for _ in 0..MOST_FUSIONS {
        if !fuse_one(cx.ir, op, wanted) {
            break;
        }
    }
    Ok(())
}

/// Which loops are to be fused.
#[derive(Clone, Copy)]
struct Wanted {
    /// All that may be.
    any: bool,
    /// Where one writes what the other accesses.
    written: bool,
    /// Where both only read the same.
    read: bool,
}

/// Fuses the first two loops that may be fused; whether there were any.
fn fuse_one(ir: &mut Ir, function: Op, wanted: Wanted) -> bool {
    let body = legal::body_of(ir, function);
    let legality = legal::legality(&body);
    let loops = postorder(ir, function);
    let pair = loops.iter().find_map(|&first| {
        let a = For::of(ir, first)?;
        let b = next_loop(ir, &a)?;
        let is_same = a.step == b.step
            && a.low.canonical(ir) == b.low.canonical(ir)
            && a.high.canonical(ir) == b.high.canonical(ir);
        let is_plain = a.inits.is_empty() && b.inits.is_empty();
        (is_same && is_plain && may_fuse(&body, &legality, &a, &b, wanted)).then_some((a, b))
    });
    let Some((a, b)) = pair else { return false };
    ir.replace_uses(a.iv, b.iv);
    for op in a.ops(ir).into_iter().rev() {
        ir.move_op(op, Point::Start(b.body));
    }
    Rewriter::new(ir).erase(a.op);
    true
}

/// The next loop of the block, if all that stands between has no effects.
fn next_loop(ir: &Ir, it: &For) -> Option<For> {
    let mut at = ir.next(it.op);
    while let Some(op) = at {
        if let Some(next) = For::of(ir, op) {
            return Some(next);
        }
        let is_plain = ir.op(op).kind.is_op()
            && ir.op(op).regions.is_empty()
            && ir.extra(op).successors.is_empty()
            && effects::is_free_of_effects(ir, op);
        if !is_plain {
            return None;
        }
        at = ir.next(op);
    }
    None
}

fn may_fuse(body: &Body, legality: &Legality<'_>, a: &For, b: &For, wanted: Wanted) -> bool {
    let (Some(first), Some(second)) = (legality.loop_of(a.op), legality.loop_of(b.op)) else {
        return false;
    };
    let within = |loop_: u32| {
        let all = body.accesses.iter().enumerate();
        all.filter(move |it| legality.path(it.0).contains(&loop_)).map(|it| it.1)
    };
    let (mut written, mut read) = (false, false);
    for x in within(first) {
        for y in within(second).filter(|y| y.place.view == x.place.view) {
            written |= x.is_store || y.is_store;
            read |= !x.is_store && !y.is_store;
        }
    }
    let is_wanted = wanted.any || (wanted.written && written) || (wanted.read && read && !written);
    is_wanted && legality.fuses(first, second).is_ok()
}
