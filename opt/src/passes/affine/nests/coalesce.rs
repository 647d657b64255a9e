//! `affine-loop-coalescing`: merges perfectly nested loops with trip counts that do not depend on
//! each other.
//!
//! *Law.* Iterations run in their old order. The merged trip count is the product of the trip
//! counts. The expression of at most one factor may be negative, because with two, a loop would run
//! that did not run before. All others must be nonnegative. Loops with a trip count that is not a
//! symbol are not merged, because it cannot be a divisor.

mod scf;

use noisy_syntax::affine::{Affine, Body, Expr, Operator};
use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{Def, Ir, Op, OpKind, Type, Value};

use crate::passes::affine::bounds::normalize::normalize;
use crate::passes::affine::for_loop::{For, apply, map_attr, perfect_nest, set_bounds};
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::patterns::affine::maps::{Applied, exprs, is_symbol};
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
const MOST_TRIPS: i64 = 1 << 62;

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let mut all = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        all.extend(preorder(cx.ir, region));
    }
    let mut done: Vec<Op> = Vec::new();
    for op in all {
        if done.contains(&op) || For::of(cx.ir, op).is_none() {
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
fn bands<'a>(ir: &Ir, nest: &'a [For]) -> Vec<&'a [For]> {
    let mut out = Vec::new();
    let mut start = 0;
    for end in 1..=nest.len() {
        let goes_on = nest.get(end).is_some_and(|it| {
            let outer = ir.block(nest[start].body).region;
            let mut read = it.low.operands.iter().chain(&it.high.operands);
            let is_free = read.all(|&value| effects::is_outside(ir, value, outer));
            let fits = |it: &For| it.inits.is_empty() && may_be_factor(ir, it);
            is_free && fits(it) && fits(&nest[start])
        });
        let longer = &nest[start..nest.len().min(end + 1)];
        let n_unsure = longer.iter().filter(|it| !is_never_negative(ir, it)).count();
        if !goes_on || n_unsure > 1 || !fits_all(longer) {
            out.push(&nest[start..end]);
            start = end;
        }
    }
    out
}

/// Returns true if the product of the known trip counts is below the maximum.
fn fits_all(band: &[For]) -> bool {
    let known = band.iter().filter_map(For::trip_count);
    known.map(|it| it.max(1)).try_fold(1_i64, i64::checked_mul).is_some_and(|it| it < MOST_TRIPS)
}

/// Returns true if the trip count of a loop may be a factor and a divisor: the loop has a single
/// lower bound, its bounds use only symbols, and the trip count is not 0.
fn may_be_factor(ir: &Ir, it: &For) -> bool {
    let mut read = it.low.operands.iter().chain(&it.high.operands);
    it.low.single().is_some()
        && it.trip_count() != Some(0)
        && read.all(|&value| is_symbol(ir, value))
}

/// Returns true if the upper bound of a loop is known to be at least its lower bound.
fn is_never_negative(ir: &Ir, it: &For) -> bool {
    let is_size = |value: Value| matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).kind == OpKind::MemrefDim);
    let starts_at_0 = it.low.constant() == Some(0);
    let of = |expr: &Expr| match expr {
        Expr::Const(value) => it.low.constant().is_some_and(|low| *value >= low),
        Expr::Dim(at) => starts_at_0 && is_size(it.high.operands[*at as usize]),
        Expr::Symbol(at) => {
            let at = (*at + it.high.map.n_dims) as usize;
            starts_at_0 && is_size(it.high.operands[at])
        }
        Expr::Binary(..) => false,
    };
    exprs(&it.high.map.body).iter().all(of)
}

/// Merges the loops of a band into the outermost one.
fn coalesce(ir: &mut Ir, band: &[For]) {
    for it in band {
        normalize(ir, it.op, false);
    }
    let band: Option<Vec<For>> = band.iter().map(|it| For::of(ir, it.op)).collect();
    let Some(band) = band else { return };
    let Some(root) = band.first() else { return };
    let mut sizes = Vec::new();
    let mut product: Option<Value> = None;
    for it in &band {
        let size = value_of(ir, &it.high, Point::Before(root.op));
        product = Some(match product {
            None => size,
            Some(of) => combined(ir, Operator::Mul, of, size, Point::Before(root.op)),
        });
        sizes.push(size);
    }
    let Some(product) = product else { return };
    let end = Affine { n_dims: 0, n_symbols: 1, body: Body::Map(vec![Expr::Symbol(0)]) };
    let end = Applied { map: end, operands: vec![product] };
    set_bounds(ir, root, &Applied::number(0), &end, 1);
    // The innermost loop varies fastest.
    let mut at = Point::Start(root.body);
    let mut rest = root.iv;
    let mut values = Vec::new();
    for (which, &size) in sizes.iter().enumerate().skip(1).rev() {
        let own = combined(ir, Operator::Mod, rest, size, at);
        at = after(ir, own, at);
        rest = combined(ir, Operator::FloorDiv, rest, size, at);
        at = after(ir, rest, at);
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
        for op in it.ops(ir).into_iter().filter(|it| Some(*it) != next) {
            ir.move_op(op, Point::Before(inner));
        }
    }
    Rewriter::new(ir).erase(inner);
}

/// Returns the position after the definition of a value.
fn after(ir: &Ir, value: Value, at: Point) -> Point {
    match ir.value(value).def {
        Def::Result(op, _) => Point::After(op),
        Def::Argument(..) => at,
    }
}

/// Creates the least result of a map as a value.
fn value_of(ir: &mut Ir, it: &Applied, at: Point) -> Value {
    if it.single().is_some() {
        return apply(ir, it, at);
    }
    let map = map_attr(ir, &it.map);
    let new = NewOp::new("affine.min").operands(&it.operands).attr("map", map);
    let op = ir.insert(new.results(&[Type::INDEX]), at);
    ir.op(op).results[0]
}

/// Creates `a op b`, where b is a symbol.
fn combined(ir: &mut Ir, op: Operator, a: Value, b: Value, at: Point) -> Value {
    let expr = Expr::binary(op, Expr::Dim(0), Expr::Symbol(0));
    let map = Affine { n_dims: 1, n_symbols: 1, body: Body::Map(vec![expr]) };
    apply(ir, &Applied { map, operands: vec![a, b] }, at)
}
