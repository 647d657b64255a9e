//! `affine-loop-normalize`: makes loops count from 0 by 1.
//!
//! *Law.* The body computes with the same values of the variable as before. If the upper bound is
//! below the lower bound, the new upper bound is negative.

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{AttrData, Ir, Op, OpKind, Sign, TypeData, Value};

use crate::passes::affine::for_loop::{
    AffineFor, apply, inline_if_single_trip, map_attr, postorder, set_bounds,
};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::{AppliedMap, applied_map, exprs};
use crate::rewrite::nested_ops;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-normalize",
    class: "AffineLoopNormalize",
    anchor: Some("func.func"),
    summary: "Apply normalization transformations to affine loop-like ops",
    options: &[OptionInfo {
        name: "promote-single-iter",
        default: "false",
        kind: OptionKind::Bool,
        summary: "Promote single iteration loops",
    }],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let promotes = options.is_on("promote-single-iter");
    let mut parallel = nested_ops(cx.ir, op);
    parallel.retain(|&it| cx.ir.op(it).kind == OpKind::AffineParallel);
    for it in parallel {
        normalize_parallel(cx.ir, it);
    }
    for it in postorder(cx.ir, op) {
        normalize(cx.ir, it, promotes);
    }
    Ok(())
}

/// Returns the trip count, `(high - low) ceildiv step`.
fn trip_count_expr(high: &AffineExpr, low: &AffineExpr, step: i64) -> AffineExpr {
    let size = AffineExpr::binary(AffineOperator::Add, high.clone(), low.clone().negated());
    AffineExpr::binary(AffineOperator::CeilDiv, size, AffineExpr::Const(step))
}

/// Returns the old variable, `iv * step + low`.
fn old_iv(iv: Value, low: &AppliedMap, step: i64) -> AppliedMap {
    let both = low.joined(&AppliedMap::value(iv));
    let all = exprs(&both.map.body);
    let [low, iv] = &all[..] else { return both };
    let scaled = AffineExpr::binary(AffineOperator::Mul, iv.clone(), AffineExpr::Const(step));
    let sum = AffineExpr::binary(AffineOperator::Add, scaled, low.clone());
    AppliedMap {
        map: Affine { body: AffineBody::Map(vec![sum]), ..both.map },
        operands: both.operands,
    }
}

/// Makes a loop count from 0 by 1, if it has a single lower bound. If `promotes`, inlines a loop
/// that runs once.
pub(crate) fn normalize(ir: &mut Ir, op: Op, promotes: bool) {
    if promotes && inline_if_single_trip(ir, op) {
        return;
    }
    let Some(it) = AffineFor::of(ir, op) else { return };
    let Some(low) = it.lower.as_single() else { return };
    if it.step == 1 && low.constant() == Some(0) {
        return;
    }
    let both = it.upper.joined(&low);
    let mut all = exprs(&both.map.body);
    let Some(from) = all.pop() else { return };
    let all = all.iter().map(|to| trip_count_expr(to, &from, it.step)).collect();
    let high = AppliedMap {
        map: Affine { body: AffineBody::Map(all), ..both.map },
        operands: both.operands,
    };
    let high = high.canonical(ir);
    set_bounds(ir, &it, &AppliedMap::constant_map(0), &high, 1);
    let uses = ir.value(it.iv).uses.to_vec();
    let sum = old_iv(it.iv, &low, it.step).canonical(ir);
    let value = apply(ir, &sum, InsertionPoint::Start(it.body));
    for (user, at) in uses {
        ir.set_operand(user, at as usize, value);
    }
}

/// Makes the loops of an `affine.parallel` count from 0 by 1, if each has a single lower bound.
fn normalize_parallel(ir: &mut Ir, op: Op) {
    let Some(low) = applied_map(ir, op, "lowerBoundsMap", 0) else { return };
    let Some(high) = applied_map(ir, op, "upperBoundsMap", low.operands.len()) else { return };
    let [(_, region)] = ir.op(op).regions[..] else { return };
    let Some(body) = ir.only_block(region) else { return };
    let ivs: Vec<Value> = ir.block(body).args.to_vec();
    let steps = int_array(ir, op, "steps").filter(|it| it.len() == ivs.len());
    let groups = group_sizes(ir, op, "upperBoundsGroups", ivs.len());
    let (Some(steps), Some(groups)) = (steps, groups) else { return };
    let lows = exprs(&low.map.body);
    let is_normal =
        steps.iter().all(|it| *it == 1) && lows.iter().all(|it| *it == AffineExpr::Const(0));
    if lows.len() != ivs.len() || is_normal || steps.iter().any(|it| *it <= 0) {
        return;
    }
    let both = high.joined(&low);
    let all = exprs(&both.map.body);
    let n_high = all.len() - lows.len();
    let mut new = Vec::new();
    let mut at = 0;
    for (which, &n) in groups.iter().enumerate() {
        for high in all.iter().take(n_high).skip(at).take(n) {
            new.push(trip_count_expr(high, &all[n_high + which], steps[which]));
        }
        at += n;
    }
    if new.len() != n_high {
        return;
    }
    let high = AppliedMap {
        map: Affine { body: AffineBody::Map(new), ..both.map },
        operands: both.operands,
    };
    let high = high.canonical(ir);
    let zeros = AffineBody::Map(vec![AffineExpr::Const(0); ivs.len()]);
    let zeros = Affine { n_dims: 0, n_symbols: 0, body: zeros };
    let (low_attr, high_attr) = (map_attr(ir, &zeros), map_attr(ir, &high.map));
    ir.set_attr(op, "lowerBoundsMap", low_attr);
    ir.set_attr(op, "upperBoundsMap", high_attr);
    let width = ir.interner.intern_type(TypeData::Int { width: 64, sign: Sign::Signless });
    let one = ir.interner.intern_attr(AttrData::Int { value: 1, ty: width });
    let ones = ir.interner.intern_attr(AttrData::Array(vec![one; ivs.len()].into()));
    ir.set_attr(op, "steps", ones);
    ir.set_operands(op, &high.operands);
    for (at, &iv) in ivs.iter().enumerate() {
        let uses = ir.value(iv).uses.to_vec();
        if uses.is_empty() || (steps[at] == 1 && lows[at] == AffineExpr::Const(0)) {
            continue;
        }
        let body_of_low = AffineBody::Map(vec![lows[at].clone()]);
        let low = AppliedMap {
            map: Affine { body: body_of_low, ..low.map },
            operands: low.operands.clone(),
        };
        let sum = old_iv(iv, &low, steps[at]).canonical(ir);
        let value = apply(ir, &sum, InsertionPoint::Start(body));
        for (user, at) in uses {
            ir.set_operand(user, at as usize, value);
        }
    }
}

/// Returns the integers of an array attribute.
pub(crate) fn int_array(ir: &Ir, op: Op, name: &str) -> Option<Vec<i64>> {
    let AttrData::Array(list) = ir.interner.attr_data(ir.attr(op, name)?) else { return None };
    let int = |it: &noisy_syntax::Attr| i64::try_from(ir.interner.int_value(*it)?).ok();
    list.iter().map(int).collect()
}

/// Returns the number of bounds of each loop of an `affine.parallel`.
pub(crate) fn group_sizes(ir: &Ir, op: Op, name: &str, n: usize) -> Option<Vec<usize>> {
    let all = ir.interner.element_ints(ir.attr(op, name)?, n)?;
    all.into_iter().map(|it| usize::try_from(it).ok()).collect()
}
