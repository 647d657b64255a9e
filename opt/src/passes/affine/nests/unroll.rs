//! `affine-loop-unroll`: unrolls innermost loops by a factor, or completely. A second loop runs the
//! remaining iterations.
//!
//! *Law.* Iterations run in their old order. If the upper bound of a loop may be below the lower
//! bound, the second loop starts at the lower bound or later, so that it does not run either.

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use crate::diagnostics::DiagnosticSeverity;
use crate::passes::affine::for_loop::{
    AffineFor, apply, difference, inline_if_single_trip, postorder, set_bounds,
};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::{AppliedMap, exprs};
use crate::rewrite::{Rewriter, operands, preorder};

pub(in crate::passes) const PASSES: &[PassInfo] = &[UNROLL, FULL_UNROLL, FULL_UNROLL_IF_POSSIBLE];

const UNROLL: PassInfo = PassInfo {
    name: "affine-loop-unroll",
    class: "AffineLoopUnroll",
    anchor: Some("func.func"),
    summary: "Unroll affine loops",
    options: &[
        OptionInfo {
            name: "cleanup-unroll",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Fully unroll the cleanup loop when possible.",
        },
        OptionInfo {
            name: "unroll-factor",
            default: "4",
            kind: OptionKind::Int,
            summary: "Use this unroll factor for all loops being unrolled",
        },
        OptionInfo {
            name: "unroll-full",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Fully unroll loops",
        },
        OptionInfo {
            name: "unroll-full-threshold",
            default: "",
            kind: OptionKind::Int,
            summary: "Unroll all loops with trip count less than or equal to this",
        },
        OptionInfo {
            name: "unroll-num-reps",
            default: "1",
            kind: OptionKind::Int,
            summary: "Unroll innermost loops repeatedly this many times",
        },
        OptionInfo {
            name: "unroll-up-to-factor",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Allow unrolling up to the factor specified",
        },
    ],
    run,
};

/// A pass of the MLIR tutorial (j2kun/mlir-tutorial), like the next one.
const FULL_UNROLL: PassInfo = PassInfo {
    name: "affine-full-unroll",
    class: "AffineFullUnroll",
    anchor: None,
    summary: "Fully unroll all affine loops",
    options: &[],
    run: |cx, op, _| {
        run_all(cx, op, i64::MAX);
        let is_left =
            |it: &&Op| AffineFor::of(cx.ir, **it).is_none_or(|it| it.trip_count() != Some(0));
        match postorder(cx.ir, op).iter().find(is_left) {
            None => Ok(()),
            Some(&it) => {
                cx.sink.report_at_op(DiagnosticSeverity::Error, cx.ir, it, "unrolling failed");
                Err(PassFailure(None))
            }
        }
    },
};

const FULL_UNROLL_IF_POSSIBLE: PassInfo = PassInfo {
    name: "affine-full-unroll-rewrite",
    class: "AffineFullUnrollPatternRewrite",
    anchor: None,
    summary: "Fully unroll all affine loops that can be",
    options: &[],
    run: |cx, op, _| {
        run_all(cx, op, i64::MAX);
        Ok(())
    },
};

/// Maximum number of copied ops in a program.
const MAX_COPIED_OPS: usize = 1 << 20;

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let mut left = MAX_COPIED_OPS;
    let is_full = options.is_on("unroll-full");
    if let Some(threshold) = options.int("unroll-full-threshold").filter(|_| is_full) {
        run_all(cx, op, threshold);
        return Ok(());
    }
    let factor = options.int("unroll-factor").unwrap_or(4);
    for _ in 0..options.int("unroll-num-reps").unwrap_or(1) {
        let innermost = innermost(cx.ir, op);
        let mut has_changed = false;
        for it in innermost {
            let Some(loop_) = AffineFor::of(cx.ir, it) else { continue };
            let trips = loop_.trip_count();
            has_changed |= match trips {
                Some(trips) if is_full => unroll_completely(cx.ir, it, trips, &mut left),
                _ if is_full => false,
                _ => {
                    let few = trips.filter(|it| *it < factor);
                    let factor = match few.filter(|_| options.is_on("unroll-up-to-factor")) {
                        Some(trips) => trips.max(1),
                        None => factor,
                    };
                    unroll_by_factor(cx.ir, it, factor, options.is_on("cleanup-unroll"), &mut left)
                }
            };
        }
        if !has_changed {
            break;
        }
    }
    Ok(())
}

/// Unrolls all loops with trip counts up to a threshold, inner ones first.
fn run_all(cx: &mut PassContext<'_>, op: Op, threshold: i64) {
    let mut left = MAX_COPIED_OPS;
    for it in postorder(cx.ir, op) {
        let trips = AffineFor::of(cx.ir, it).and_then(|it| it.trip_count());
        if let Some(trips) = trips.filter(|it| *it <= threshold) {
            unroll_completely(cx.ir, it, trips, &mut left);
        }
    }
}

/// Returns the loops that contain no `affine.for`, in order.
fn innermost(ir: &Ir, op: Op) -> Vec<Op> {
    let all = postorder(ir, op);
    let is_innermost = |it: &Op| postorder(ir, *it).len() == 1;
    all.into_iter().filter(is_innermost).collect()
}

/// Unrolls a loop completely. Returns true if the program changed.
fn unroll_completely(ir: &mut Ir, op: Op, trips: i64, left: &mut usize) -> bool {
    match trips {
        0 => false,
        1 => inline_if_single_trip(ir, op),
        _ => unroll_by_factor(ir, op, trips, false, left),
    }
}

/// Unrolls a loop by a factor. Returns true if the program changed.
pub(crate) fn unroll_by_factor(
    ir: &mut Ir,
    op: Op,
    factor: i64,
    with_cleanup: bool,
    left: &mut usize,
) -> bool {
    let Some(it) = AffineFor::of(ir, op) else { return false };
    let trips = it.trip_count();
    if factor <= 1 {
        return factor == 1 && inline_if_single_trip(ir, op);
    }
    if it.body_ops(ir).is_empty() {
        return false;
    }
    if let Some(few) = trips.filter(|it| *it < factor) {
        return with_cleanup && unroll_completely(ir, op, few, left);
    }
    let inside = preorder(ir, ir.block(it.body).region);
    if !can_be_copied(ir, &inside) {
        return false;
    }
    let size = inside.len();
    let Some(copied) = usize::try_from(factor).ok().and_then(|it| it.checked_mul(size)) else {
        return false;
    };
    let fits = it.step.checked_mul(factor).is_some_and(|it| i32::try_from(it).is_ok());
    if copied > *left || !fits {
        return false;
    }
    *left -= copied;
    if !has_divisible_trip_count(ir, &it, factor) {
        if let Some(trips) = trips.filter(|_| with_cleanup) {
            return unroll_completely(ir, op, trips, left);
        }
        let Some(behind) = split_remainder(ir, &it, factor) else { return false };
        inline_if_single_trip(ir, behind);
    }
    let Some(it) = AffineFor::of(ir, op) else { return false };
    let (low, high) = (it.lower.clone(), it.upper.clone());
    let step = it.step;
    set_bounds(ir, &it, &low, &high, step * factor);
    copy_body(ir, &it, factor);
    inline_if_single_trip(ir, op);
    true
}

/// Returns true if ops can be cloned: none has successors.
pub(crate) fn can_be_copied(ir: &Ir, all: &[Op]) -> bool {
    all.iter().all(|&it| ir.extra(it).successors.is_empty())
}

/// Returns true if the expression of the trip count is known to be a multiple of a factor, even if
/// its value is negative.
pub(crate) fn has_divisible_trip_count(ir: &Ir, it: &AffineFor, factor: i64) -> bool {
    if let Some(trips) = it.trip_count() {
        return trips % factor == 0;
    }
    let Some(low) = it.lower.as_single() else { return false };
    let size = difference(&it.upper, &low);
    let trips = size.map_results(|it_| {
        AffineExpr::binary(AffineOperator::CeilDiv, it_, AffineExpr::Const(it.step))
    });
    let trips = trips.canonical(ir);
    exprs(&trips.map.body)
        .iter()
        .all(|it| it.largest_known_divisor().is_multiple_of(factor.unsigned_abs()))
}

/// Makes a loop end after its last whole group of iterations, and returns a clone for the remaining
/// ones. `None`, without a change, if the end of the groups is not affine.
pub(crate) fn split_remainder(ir: &mut Ir, it: &AffineFor, factor: i64) -> Option<Op> {
    let low = it.lower.as_single()?;
    it.upper.as_single()?;
    // The end is lower + (trips - trips mod factor) * step.
    let size = difference(&it.upper, &low);
    let both = size.joined(&low);
    let all = exprs(&both.map.body);
    let [size_expr, low_expr] = &all[..] else { return None };
    let number = |it: i64| AffineExpr::Const(it);
    let trips = AffineExpr::binary(AffineOperator::CeilDiv, size_expr.clone(), number(it.step));
    let rest = AffineExpr::binary(AffineOperator::Mod, trips.clone(), number(factor));
    let whole = AffineExpr::binary(AffineOperator::Add, trips, rest.negated());
    let span = AffineExpr::binary(AffineOperator::Mul, whole, number(it.step));
    let end = AffineExpr::binary(AffineOperator::Add, low_expr.clone(), span);
    let end = AppliedMap {
        map: Affine { body: AffineBody::Map(vec![end]), ..both.map },
        operands: both.operands,
    };
    let end = end.canonical(ir);
    // The second loop must not run if the loop has no iteration.
    let start = if has_iterations(it) {
        end.clone()
    } else {
        let both = low.joined(&end);
        let start = both.canonical(ir);
        if start.map.n_results() == 2 { start } else { return None }
    };
    let mut values = FxHashMap::default();
    let mut rewriter = Rewriter::new(ir);
    let behind = rewriter.clone_op(it.op, InsertionPoint::After(it.op), &mut values);
    let (results, last) = (ir.op(it.op).results.clone(), ir.op(behind).results.clone());
    for (&old, &new) in results.iter().zip(&last) {
        ir.replace_uses(old, new);
    }
    let mut behind = AffineFor::of(ir, behind)?;
    behind.inits = results.to_vec();
    let high = behind.upper.clone();
    set_bounds(ir, &behind, &start, &high, it.step);
    set_bounds(ir, it, &it.lower, &end, it.step);
    Some(behind.op)
}

/// Returns true if the upper bound is known to be above the lower bound.
fn has_iterations(it: &AffineFor) -> bool {
    it.trip_count().is_some_and(|trips| trips > 0)
}

/// Appends copies of the body for the next iterations of the old loop.
fn copy_body(ir: &mut Ir, it: &AffineFor, factor: i64) {
    let ops = it.body_ops(ir);
    let end = it.terminator(ir);
    let first: Vec<Value> = operands(ir, end);
    let carried = it.iter_args(ir);
    let is_read = !ir.value(it.iv).uses.is_empty();
    let mut last = first.clone();
    for copy in 1..factor {
        let mut values: FxHashMap<Value, Value> =
            carried.iter().copied().zip(last.iter().copied()).collect();
        if is_read {
            let next = next_iv(ir, it.iv, copy * it.step, InsertionPoint::Before(end));
            values.insert(it.iv, next);
        }
        let mut rewriter = Rewriter::new(ir);
        for &op in &ops {
            rewriter.clone_op(op, InsertionPoint::Before(end), &mut values);
        }
        last = first.iter().map(|it| values.get(it).copied().unwrap_or(*it)).collect();
    }
    ir.set_operands(end, &last);
}

/// Creates `iv + by`.
pub(crate) fn next_iv(ir: &mut Ir, iv: Value, by: i64, at: InsertionPoint) -> Value {
    let sum = AppliedMap::value(iv)
        .map_results(|it| AffineExpr::binary(AffineOperator::Add, it, AffineExpr::Const(by)));
    apply(ir, &sum, at)
}
