//! `affine-loop-invariant-code-motion`: moves loop-invariant ops before an affine loop: ops without
//! effects, loads, stores, and loops and conditions that contain only these.
//!
//! *Law.* Moved ops have the same operands in each iteration. There is no dependence between a
//! moved access and another access in the loop. Moved accesses do not depend on each other across
//! iterations, except for a store on itself, which writes the same value again. Ops that must not
//! run additionally (stores, loads that may be out of bounds, divisions) are moved only if the loop
//! surely has an iteration. *Cost.* Dependences are computed once, because they also hold for moved
//! ops.

use noisy_analyses::facts::effects;
use noisy_analyses::facts::invariant::is_invariant;
use noisy_loops::{FunctionBody, Legality, is_in_bounds_without, is_surely_run};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Dim, Ir, Op, OpKind, Value};

use crate::passes::affine::for_loop::{AffineFor, postorder};
use crate::passes::affine::legal;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::operand;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-invariant-code-motion",
    class: "AffineLoopInvariantCodeMotion",
    anchor: Some("func.func"),
    summary: "Hoist loop invariant instructions outside of affine loops",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let body = legal::body_of(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    for op in postorder(cx.ir, op) {
        let Some(it) = AffineFor::of(cx.ir, op) else { continue };
        let Some(loop_) = legality.loop_of(op) else { continue };
        let hoist = Hoist {
            body: &body,
            legality: &legality,
            loop_,
            is_surely_run: is_surely_run(&body, loop_),
            has_effects: legality.effect_in(loop_).is_some(),
        };
        for inner in it.body_ops(cx.ir) {
            if hoist.may_move(cx.ir, inner, op) {
                cx.ir.move_op(inner, InsertionPoint::Before(op));
            }
        }
    }
    Ok(())
}

/// A loop from which ops may be moved.
struct Hoist<'a> {
    body: &'a FunctionBody,
    legality: &'a Legality<'a>,
    loop_: u32,
    /// True if the loop always has an iteration.
    is_surely_run: bool,
    has_effects: bool,
}

/// Returns an op and the ops in its regions, except `affine.yield`.
fn ops_in(ir: &Ir, op: Op) -> Vec<Op> {
    let mut out = vec![op];
    for &(_, region) in &ir.op(op).regions {
        ir.walk(region, &mut |it| {
            let kind = ir.op(it).kind;
            if kind.is_op() && kind != OpKind::AffineYield {
                out.push(it);
            }
        });
    }
    out
}

impl Hoist<'_> {
    fn may_move(&self, ir: &Ir, op: Op, from: Op) -> bool {
        let all = ops_in(ir, op);
        all.iter().all(|&it| self.is_supported(ir, it))
            && is_invariant(ir, op, from, &|_| false)
            && self.has_no_conflict(&all)
            && (self.is_surely_run || all.iter().all(|&it| self.is_speculatable(ir, it)))
    }

    fn is_supported(&self, ir: &Ir, op: Op) -> bool {
        match ir.op(op).kind {
            OpKind::AffineFor
            | OpKind::AffineParallel
            | OpKind::AffineIf
            | OpKind::AffinePrefetch => true,
            OpKind::AffineLoad
            | OpKind::AffineStore
            | OpKind::AffineVectorLoad
            | OpKind::AffineVectorStore => !self.has_effects,
            kind => {
                kind.is_op()
                    && ir.op(op).regions.is_empty()
                    && ir.extra(op).successors.is_empty()
                    && effects::is_free_of_effects(ir, op)
            }
        }
    }

    /// Returns true if the accesses among the given ops have the same effect if they run once,
    /// before all others of the loop.
    fn has_no_conflict(&self, ops: &[Op]) -> bool {
        let moves = |access: usize| ops.contains(&self.body.accesses[access].op);
        if !(0..self.body.accesses.len()).any(moves) {
            return true;
        }
        let depth = self.body.loops[self.loop_ as usize].depth as usize;
        let is_inside = |access: usize| self.legality.loops_around(access).contains(&self.loop_);
        self.legality.dependences().iter().all(|it| {
            let is_met = it.level >= depth && is_inside(it.source) && is_inside(it.target);
            !is_met
                || match (moves(it.source), moves(it.target)) {
                    (false, false) => true,
                    (true, true) => it.level > depth || it.source == it.target,
                    _ => false,
                }
        })
    }

    /// Returns true if an op, without its regions, may run even if the loop has no iteration.
    fn is_speculatable(&self, ir: &Ir, op: Op) -> bool {
        match ir.op(op).kind {
            OpKind::AffineFor
            | OpKind::AffineParallel
            | OpKind::AffineIf
            | OpKind::AffinePrefetch => true,
            OpKind::AffineLoad => {
                let access = self.body.accesses.iter().position(|it| it.op == op);
                let sizes = operand(ir, op, 0).and_then(|it| sizes(ir, it));
                access.zip(sizes).is_some_and(|(access, sizes)| {
                    is_in_bounds_without(self.body, access, self.loop_, &sizes)
                })
            }
            OpKind::AffineStore | OpKind::AffineVectorStore | OpKind::AffineVectorLoad => false,
            _ => effects::is_speculatable(ir, op),
        }
    }
}

/// Returns the sizes of a memref, if all are static.
fn sizes(ir: &Ir, memref: Value) -> Option<Vec<i128>> {
    let of = |it: &Dim| match it {
        Dim::Fixed(size) => Some(i128::from(*size)),
        _ => None,
    };
    effects::dims_of(ir, memref)?.iter().map(of).collect()
}
