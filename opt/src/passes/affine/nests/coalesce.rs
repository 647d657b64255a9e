//! `affine-loop-coalescing`: merges perfectly nested loops with trip counts that do not depend on
//! each other.
//!
//! *Law.* Iterations run in their old order. The merged trip count is the product of the trip
//! counts. The expression of at most one factor may be negative, because with two, a loop would run
//! that did not run before. All others must be nonnegative. Loops with a trip count that is not a
//! symbol are not merged, because it cannot be a divisor.

mod scf;

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Def, Ir, Op, OpKind, Type, Value};

use crate::passes::affine::bounds::normalize::normalize;
use crate::passes::affine::for_loop::{AffineFor, apply, map_attr, perfect_nest, set_bounds};
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::{AppliedMap, exprs, is_symbol};
use crate::rewrite::{Rewriter, preorder};
use noisy_analyses::facts::effects;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-coalescing",
    class: "LoopCoalescing",
    anchor: Some("func.func"),
    summary: "Coalesce nested loops with independent bounds into a single loop",
    options: &[],
    run,
}];

/// Maximum product of the known trip counts of a merged loop.
const MAX_TRIPS: i64 = 1 << 62;

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let mut all = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        all.extend(preorder(cx.ir, region));
    }
    let mut done: Vec<Op> = Vec::new();
    for op in all {
        if done.contains(&op) || AffineFor::of(cx.ir, op).is_none() {
            continue;
        }
        let nest = perfect_nest(cx.ir, op);
        done.extend(nest.iter().map(|it| it.op));
        // Inner bands first, because their enclosing loops are not changed.
        for band in bands(cx.ir, &nest).into_iter().rev() {
            if band.len() > 1 {
                coalesce(cx.ir, band);
            }
        }
    }
    scf::run(cx.ir, op);
    Ok(())
}

/// Splits a nest into bands that can be merged: no bound is computed inside another loop of the
/// band.
fn bands<'a>(ir: &Ir, nest: &'a [AffineFor]) -> Vec<&'a [AffineFor]> {
    let mut out = Vec::new();
    let mut start = 0;
    for end in 1..=nest.len() {
        let goes_on = nest.get(end).is_some_and(|it| {
            let outer = ir.block(nest[start].body).region;
            let mut read = it.lower.operands.iter().chain(&it.upper.operands);
            let is_free = read.all(|&value| effects::is_outside(ir, value, outer));
            let fits = |it: &AffineFor| it.inits.is_empty() && may_be_factor(ir, it);
            is_free && fits(it) && fits(&nest[start])
        });
        let longer = &nest[start..nest.len().min(end + 1)];
        let n_unsure = longer.iter().filter(|it| !is_never_negative(ir, it)).count();
        if !goes_on || n_unsure > 1 || !has_small_trip_count(longer) {
            out.push(&nest[start..end]);
            start = end;
        }
    }
    out
}

/// Returns true if the product of the known trip counts is below the maximum.
fn has_small_trip_count(band: &[AffineFor]) -> bool {
    let known = band.iter().filter_map(AffineFor::trip_count);
    known.map(|it| it.max(1)).try_fold(1_i64, i64::checked_mul).is_some_and(|it| it < MAX_TRIPS)
}

/// Returns true if the trip count of a loop may be a factor and a divisor: the loop has a single
/// lower bound, its bounds use only symbols, and the trip count is not 0.
fn may_be_factor(ir: &Ir, it: &AffineFor) -> bool {
    let mut read = it.lower.operands.iter().chain(&it.upper.operands);
    it.lower.as_single().is_some()
        && it.trip_count() != Some(0)
        && read.all(|&value| is_symbol(ir, value))
}

/// Returns true if the upper bound of a loop is known to be at least its lower bound.
fn is_never_negative(ir: &Ir, it: &AffineFor) -> bool {
    let is_size = |value: Value| matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).kind == OpKind::MemrefDim);
    let starts_at_0 = it.lower.constant() == Some(0);
    let of = |expr: &AffineExpr| match expr {
        AffineExpr::Const(value) => it.lower.constant().is_some_and(|low| *value >= low),
        AffineExpr::Dim(at) => starts_at_0 && is_size(it.upper.operands[*at as usize]),
        AffineExpr::Symbol(at) => {
            let at = (*at + it.upper.map.n_dims) as usize;
            starts_at_0 && is_size(it.upper.operands[at])
        }
        AffineExpr::Binary(..) => false,
    };
    exprs(&it.upper.map.body).iter().all(of)
}

/// Merges the loops of a band into the outermost one.
fn coalesce(ir: &mut Ir, band: &[AffineFor]) {
    for it in band {
        normalize(ir, it.op, false);
    }
    let band: Option<Vec<AffineFor>> = band.iter().map(|it| AffineFor::of(ir, it.op)).collect();
    let Some(band) = band else { return };
    let Some(root) = band.first() else { return };
    let mut sizes = Vec::new();
    let mut product: Option<Value> = None;
    for it in &band {
        let size = least_value(ir, &it.upper, InsertionPoint::Before(root.op));
        product = Some(match product {
            None => size,
            Some(of) => {
                apply_binary(ir, AffineOperator::Mul, of, size, InsertionPoint::Before(root.op))
            }
        });
        sizes.push(size);
    }
    let Some(product) = product else { return };
    let end =
        Affine { n_dims: 0, n_symbols: 1, body: AffineBody::Map(vec![AffineExpr::Symbol(0)]) };
    let end = AppliedMap { map: end, operands: vec![product] };
    set_bounds(ir, root, &AppliedMap::constant_map(0), &end, 1);
    // The innermost loop varies fastest.
    let mut at = InsertionPoint::Start(root.body);
    let mut rest = root.iv;
    let mut values = Vec::new();
    for (which, &size) in sizes.iter().enumerate().skip(1).rev() {
        let own = apply_binary(ir, AffineOperator::Mod, rest, size, at);
        at = point_after(ir, own, at);
        rest = apply_binary(ir, AffineOperator::FloorDiv, rest, size, at);
        at = point_after(ir, rest, at);
        values.push((band[which].iv, own));
    }
    for (iv, value) in values {
        ir.replace_uses(iv, value);
    }
    let first = match ir.value(rest).def {
        Def::Result(op, _) => op,
        Def::Argument(..) => return,
    };
    // Replace the uses in the body, except those that compute the old variables.
    for (user, index) in ir.value(root.iv).uses.clone() {
        let makes = ir.block_of(user) == root.body && !ir.is_before(first, user);
        if !makes {
            ir.set_operand(user, index as usize, rest);
        }
    }
    let inner = band[1].op;
    for (at, it) in band.iter().enumerate().skip(1) {
        let next = band.get(at + 1).map(|it| it.op);
        for op in it.body_ops(ir).into_iter().filter(|it| Some(*it) != next) {
            ir.move_op(op, InsertionPoint::Before(inner));
        }
    }
    Rewriter::new(ir).erase(inner);
}

/// Returns the position after the definition of a value.
fn point_after(ir: &Ir, value: Value, at: InsertionPoint) -> InsertionPoint {
    match ir.value(value).def {
        Def::Result(op, _) => InsertionPoint::After(op),
        Def::Argument(..) => at,
    }
}

/// Creates the least result of a map as a value.
fn least_value(ir: &mut Ir, it: &AppliedMap, at: InsertionPoint) -> Value {
    if it.as_single().is_some() {
        return apply(ir, it, at);
    }
    let map = map_attr(ir, &it.map);
    let new = NewOp::new("affine.min").operands(&it.operands).attr("map", map);
    let op = ir.insert(new.results(&[Type::INDEX]), at);
    ir.op(op).results[0]
}

/// Creates `a op b`, where b is a symbol.
fn apply_binary(ir: &mut Ir, op: AffineOperator, a: Value, b: Value, at: InsertionPoint) -> Value {
    let expr = AffineExpr::binary(op, AffineExpr::Dim(0), AffineExpr::Symbol(0));
    let map = Affine { n_dims: 1, n_symbols: 1, body: AffineBody::Map(vec![expr]) };
    apply(ir, &AppliedMap { map, operands: vec![a, b] }, at)
}
