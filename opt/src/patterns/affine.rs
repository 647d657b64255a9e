//! Patterns of `affine`.

pub(crate) mod maps;
mod ranges;

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr};
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Attr, AttrData, Ir, Op, OpKind, Type, Value};

use super::memref::segments_attr;
use super::patterns;
use super::scf::{inline_region, only_block, regions, terminator};
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};
use maps::{AppliedMap, applied_map};
use noisy_analyses::facts::effects;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    AffineApply: canonical_map;
    AffineMin: one_of_results, canonical_map, ordered_results;
    AffineMax: one_of_results, canonical_map, ordered_results;
    AffineLoad: canonical_map;
    AffineStore: canonical_map;
    AffineVectorLoad: canonical_map;
    AffineVectorStore: canonical_map;
    AffinePrefetch: canonical_map;
    AffineFor: canonical_bounds, never_runs, does_nothing;
    AffineParallel: canonical_parallel;
    AffineIf: canonical_set, known_set;
};

fn map_attr(ir: &mut Ir, map: Affine) -> Attr {
    ir.interner.intern_attr(AttrData::Affine(map))
}

/// Returns the index of the first map operand of an op with a map.
fn first_operand(kind: OpKind) -> usize {
    match kind {
        OpKind::AffineLoad | OpKind::AffineVectorLoad | OpKind::AffinePrefetch => 1,
        OpKind::AffineStore | OpKind::AffineVectorStore => 2,
        _ => 0,
    }
}

/// Puts the map of an op into canonical form.
fn canonical_map(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let first = first_operand(rewriter.ir.op(op).kind);
    let Some(old) = applied_map(rewriter.ir, op, "map", first) else { return false };
    let new = ranges::simplified(rewriter.ir, &old.canonical(rewriter.ir));
    if new == old {
        return false;
    }
    let mut inputs = operands(rewriter.ir, op)[..first].to_vec();
    inputs.extend(&new.operands);
    let map = map_attr(rewriter.ir, new.map);
    rewriter.set_attr(op, "map", map);
    rewriter.set_operands(op, &inputs);
    true
}

/// Simplifies a minimum or maximum: equal expressions, several constants, a single expression, or a
/// nested minimum or maximum.
fn one_of_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(mut it) = applied_map(rewriter.ir, op, "map", 0) else { return false };
    let is_min = rewriter.ir.op(op).kind == OpKind::AffineMin;
    let AffineBody::Map(old) = &it.map.body else { return false };
    let mut new: Vec<AffineExpr> = Vec::new();
    let mut constant: Option<i64> = None;
    for expr in old {
        match expr {
            // The tightest of several constants is kept, at the position of the first.
            AffineExpr::Const(value) => {
                let better =
                    constant.is_none_or(|it| if is_min { *value < it } else { *value > it });
                if constant.is_none() {
                    new.push(expr.clone());
                } else if better {
                    for it in &mut new {
                        if matches!(it, AffineExpr::Const(_)) {
                            *it = expr.clone();
                        }
                    }
                }
                if better {
                    constant = Some(*value);
                }
            }
            _ if new.contains(expr) => {}
            _ => new.push(expr.clone()),
        }
    }
    if new.len() == old.len() && new.len() > 1 {
        return merge_inner(rewriter, op, &it);
    }
    let is_single = new.len() == 1;
    it.map.body = AffineBody::Map(new);
    let name = if is_single { "affine.apply" } else { rewriter.ir.op(op).kind.spec().name };
    let map = map_attr(rewriter.ir, it.map);
    let new = NewOp::new(name).operands(&it.operands).attr("map", map).results(&[Type::INDEX]);
    rewriter.replace_with(op, new);
    true
}

/// Evaluates the expressions of a map whose operands are all constant. The operands are kept.
/// Returns true if the map changed.
pub(crate) fn constants_in_map(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(it) = applied_map(rewriter.ir, op, "map", 0) else { return false };
    let AffineBody::Map(old) = &it.map.body else { return false };
    let (dims, symbols) = it.operands.split_at(it.map.n_dims as usize);
    let known = |list: &[Value], at: u32| {
        rewriter.int_of(list[at as usize]).and_then(|it| i64::try_from(it).ok())
    };
    let number = |it: &AffineExpr| match it {
        AffineExpr::Dim(at) => known(dims, *at).map_or(it.clone(), AffineExpr::Const),
        AffineExpr::Symbol(at) => known(symbols, *at).map_or(it.clone(), AffineExpr::Const),
        other => other.clone(),
    };
    let new: Vec<AffineExpr> = old
        .iter()
        .map(|expr| match maps::replace_leaves(expr, &number) {
            AffineExpr::Const(value) => AffineExpr::Const(value),
            _ => expr.clone(),
        })
        .collect();
    // If all expressions are constant, the op folds.
    if new == *old || new.iter().all(|it| matches!(it, AffineExpr::Const(_))) {
        return false;
    }
    let map = Affine { body: AffineBody::Map(new), ..it.map };
    let map = map_attr(rewriter.ir, map);
    rewriter.set_attr(op, "map", map);
    true
}

/// Sorts the expressions of a minimum or maximum by their coefficients, if none has quotients.
fn ordered_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(it) = applied_map(rewriter.ir, op, "map", 0) else { return false };
    let AffineBody::Map(old) = &it.map.body else { return false };
    let keys: Option<Vec<Vec<i64>>> =
        old.iter().map(|expr| maps::linear_coefficients(expr, &it.map)).collect();
    let Some(keys) = keys.filter(|it| !it.is_sorted()) else { return false };
    let mut order: Vec<usize> = (0..old.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let exprs = order.into_iter().map(|at| old[at].clone()).collect();
    let map = Affine { body: AffineBody::Map(exprs), ..it.map };
    let map = map_attr(rewriter.ir, map);
    rewriter.set_attr(op, "map", map);
    true
}

/// Merges a minimum into a minimum that uses it, or a maximum into a maximum.
fn merge_inner(rewriter: &mut Rewriter<'_>, op: Op, it: &AppliedMap) -> bool {
    let AffineBody::Map(exprs) = &it.map.body else { return false };
    let kind = rewriter.ir.op(op).kind;
    for (at, expr) in exprs.iter().enumerate() {
        let number = match expr {
            AffineExpr::Dim(at) => *at as usize,
            AffineExpr::Symbol(at) => (*at + it.map.n_dims) as usize,
            _ => continue,
        };
        let Some(inner) = rewriter
            .ir
            .defining_op(it.operands[number])
            .filter(|&it| rewriter.ir.op(it).kind == kind)
        else {
            continue;
        };
        let Some(inner) = applied_map(rewriter.ir, inner, "map", 0) else { continue };
        let AffineBody::Map(results) = &inner.map.body else { continue };
        let (n_dims, n_symbols) = (it.map.n_dims, it.map.n_symbols);
        let shift = |it: &AffineExpr| match it {
            AffineExpr::Dim(at) => AffineExpr::Dim(at + n_dims),
            AffineExpr::Symbol(at) => AffineExpr::Symbol(at + n_symbols),
            other => other.clone(),
        };
        let mut all: Vec<AffineExpr> = exprs.clone();
        all.remove(at);
        all.extend(results.iter().map(|it| maps::replace_leaves(it, &shift)));
        let (dims, symbols) = it.operands.split_at(n_dims as usize);
        let (inner_dims, inner_symbols) = inner.operands.split_at(inner.map.n_dims as usize);
        let merged = AppliedMap {
            map: Affine {
                n_dims: n_dims + inner.map.n_dims,
                n_symbols: n_symbols + inner.map.n_symbols,
                body: AffineBody::Map(all),
            },
            operands: [dims, inner_dims, symbols, inner_symbols].concat(),
        };
        let merged = merged.canonical(rewriter.ir);
        let map = map_attr(rewriter.ir, merged.map);
        let new = NewOp::new(kind.spec().name).operands(&merged.operands);
        rewriter.replace_with(op, new.attr("map", map).results(&[Type::INDEX]));
        return true;
    }
    false
}

/// Returns the bounds of a loop and its initial values.
fn bounds(ir: &Ir, op: Op) -> Option<(AppliedMap, AppliedMap, Vec<Value>)> {
    let low = applied_map(ir, op, "lowerBoundMap", 0)?;
    let high = applied_map(ir, op, "upperBoundMap", low.operands.len())?;
    let inits = operands(ir, op)[low.operands.len() + high.operands.len()..].to_vec();
    Some((low, high, inits))
}

/// Puts a bound into canonical form: without repeated expressions, and with at most one constant.
fn canonical_bound(ir: &Ir, bound: &AppliedMap, is_low: bool) -> AppliedMap {
    let mut out = ranges::without_redundant_results(ir, &bound.canonical(ir), is_low);
    let AffineBody::Map(exprs) = &out.map.body else { return out };
    let mut kept: Vec<AffineExpr> = Vec::new();
    for it in exprs {
        if !kept.contains(it) {
            kept.push(it.clone());
        }
    }
    // The tightest of several constants is kept.
    let numbers = kept.iter().filter_map(|it| match it {
        AffineExpr::Const(value) => Some(*value),
        _ => None,
    });
    let best = if is_low { numbers.max() } else { numbers.min() };
    kept.retain(|it| !matches!(it, AffineExpr::Const(value) if Some(*value) != best));
    out.map.body = AffineBody::Map(kept);
    out
}

fn canonical_bounds(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((low, high, inits)) = bounds(rewriter.ir, op) else { return false };
    let new_low = canonical_bound(rewriter.ir, &low, true);
    let new_high = canonical_bound(rewriter.ir, &high, false);
    if new_low == low && new_high == high {
        return false;
    }
    let sizes = [new_low.operands.len(), new_high.operands.len(), inits.len()];
    let inputs = [new_low.operands, new_high.operands, inits].concat();
    let low = map_attr(rewriter.ir, new_low.map);
    let high = map_attr(rewriter.ir, new_high.map);
    let sizes = segments_attr(rewriter.ir, &sizes);
    rewriter.set_attr(op, "lowerBoundMap", low);
    rewriter.set_attr(op, "upperBoundMap", high);
    rewriter.set_attr(op, "operandSegmentSizes", sizes);
    rewriter.set_operands(op, &inputs);
    true
}

/// Puts the bounds of parallel loops into canonical form.
fn canonical_parallel(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(low) = applied_map(rewriter.ir, op, "lowerBoundsMap", 0) else { return false };
    let Some(high) = applied_map(rewriter.ir, op, "upperBoundsMap", low.operands.len()) else {
        return false;
    };
    let (new_low, new_high) = (low.canonical(rewriter.ir), high.canonical(rewriter.ir));
    if new_low == low && new_high == high {
        return false;
    }
    let inputs = [new_low.operands, new_high.operands].concat();
    let (low, high) = (map_attr(rewriter.ir, new_low.map), map_attr(rewriter.ir, new_high.map));
    rewriter.set_attr(op, "lowerBoundsMap", low);
    rewriter.set_attr(op, "upperBoundsMap", high);
    rewriter.set_operands(op, &inputs);
    true
}

/// Returns the value of a constant bound.
fn number(bound: &AppliedMap) -> Option<i64> {
    match &bound.map.body {
        AffineBody::Map(exprs) => match exprs[..] {
            [AffineExpr::Const(value)] => Some(value),
            _ => None,
        },
        AffineBody::Set(_) => None,
    }
}

/// Returns the trip count of a loop with constant bounds.
fn trip_count(ir: &Ir, op: Op) -> Option<i128> {
    let (low, high, _) = bounds(ir, op)?;
    let step = match ir.interner.attr_data(ir.attr(op, "step")?) {
        AttrData::Int { value, .. } if *value > 0 => *value,
        _ => return None,
    };
    let distance = i128::from(number(&high)?) - i128::from(number(&low)?);
    Some(if distance <= 0 { 0 } else { (distance + step - 1) / step })
}

/// Replaces a loop without iterations by its initial values.
fn never_runs(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if trip_count(rewriter.ir, op) != Some(0) {
        return false;
    }
    let Some((_, _, inits)) = bounds(rewriter.ir, op) else { return false };
    rewriter.replace(op, &inits);
    true
}

/// Replaces a loop with an empty body by the values that it yields.
fn does_nothing(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let Some(block) = only_block(rewriter.ir, region) else { return false };
    if rewriter.ir.block_ops(block).count() != 1 || rewriter.ir.op(op).results.is_empty() {
        return false;
    }
    let Some((_, _, inits)) = bounds(rewriter.ir, op) else { return false };
    let trips = trip_count(rewriter.ir, op);
    let args = rewriter.ir.block(block).args.to_vec();
    let Some(end) = terminator(rewriter.ir, region) else { return false };
    let mut values = Vec::new();
    let (mut is_from_outside, mut is_permuted) = (false, false);
    for (at, value) in operands(rewriter.ir, end).into_iter().enumerate() {
        match args.iter().position(|&it| it == value) {
            Some(0) => return false,
            Some(place) => {
                is_permuted |= place - 1 != at;
                values.push(inits[place - 1]);
            }
            None => {
                if !effects::is_outside(rewriter.ir, value, region) {
                    return false;
                }
                is_from_outside = true;
                values.push(value);
            }
        }
    }
    let fits = match trips {
        None => !is_from_outside && !is_permuted,
        Some(0) => false,
        Some(1) => true,
        Some(_) => !is_permuted,
    };
    if fits {
        rewriter.replace(op, &values);
    }
    fits
}

/// Converts the set of an `affine.if` to canonical form.
fn canonical_set(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(old) = applied_map(rewriter.ir, op, "condition", 0) else { return false };
    let new = old.canonical(rewriter.ir);
    if new == old {
        return false;
    }
    let set = map_attr(rewriter.ir, new.map);
    rewriter.set_attr(op, "condition", set);
    rewriter.set_operands(op, &new.operands);
    true
}

/// Replaces an `affine.if` with constant constraints by the selected region.
fn known_set(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = &*rewriter.ir;
    let Some(set) = ir.attr(op, "condition").and_then(|it| ir.interner.affine(it)) else {
        return false;
    };
    let AffineBody::Set(all) = &set.body else { return false };
    let mut holds = Some(true);
    for (expr, is_equal) in all {
        match expr {
            AffineExpr::Const(value) => {
                if !(if *is_equal { *value == 0 } else { *value >= 0 }) {
                    holds = Some(false);
                    break;
                }
            }
            _ => holds = None,
        }
    }
    let Some(holds) = holds else { return false };
    let Some(&region) = regions(rewriter.ir, op).get(usize::from(!holds)) else { return false };
    if only_block(rewriter.ir, region).is_some() {
        return inline_region(rewriter, op, region, &[]);
    }
    let has_results = !rewriter.ir.op(op).results.is_empty();
    if !has_results {
        rewriter.erase(op);
    }
    !has_results
}
