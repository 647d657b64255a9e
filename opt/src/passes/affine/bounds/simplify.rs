//! `affine-simplify-structures`: puts maps and sets into canonical form, and removes each
//! `affine.if` with an empty set.
//!
//! *Law.* A set is treated as empty only if it has no integer point for any values of its operands.
//! Quotients and remainders by constants become additional variables. Sets with products of
//! variables, and sets that exceed the budget, are kept.

use noisy_polyhedra::{Budget, Conjunction};
use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Ir, Op, OpKind};

use crate::passes::affine::for_loop::map_attr;
use crate::passes::general::canonicalize;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns;
use crate::patterns::affine::maps::{
    AppliedMap, applied_map, exprs, linear_coefficients, simplified, simplified_constraint,
    with_exprs,
};
use crate::rewrite::greedy::{GreedyConfig, Patterns};
use crate::rewrite::nested_ops;
use crate::rewrite::regions::SimplificationLevel;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-simplify-structures",
    class: "SimplifyAffineStructures",
    anchor: Some("func.func"),
    summary: "Simplify affine expressions in maps/sets and normalize memrefs",
    options: &[],
    run,
}];

/// Maximum work for one set, in machine words (see [`Budget`]).
const MAX_WORK: u64 = 2_000_000;

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    for op in nested_ops(cx.ir, op) {
        match cx.ir.op(op).kind {
            OpKind::AffineIf => simplify_set(cx.ir, op),
            _ => simplify_map(cx.ir, op),
        }
    }
    let is_meant =
        |kind| matches!(kind, OpKind::AffineApply | OpKind::AffineFor | OpKind::AffineIf);
    let patterns = Patterns::new(patterns::all().filter(|it| is_meant(it.kind)));
    let config =
        GreedyConfig { simplify: SimplificationLevel::Disabled, ..GreedyConfig::default() };
    canonicalize::rewrite(cx, op, &patterns, config, false)
}

/// Simplifies each expression of the map of an op. The operands are not changed.
fn simplify_map(ir: &mut Ir, op: Op) {
    let map = ir.attr(op, "map").and_then(|it| ir.interner.affine(it));
    let Some(map) = map.cloned() else { return };
    let all = exprs(&map.body).iter().map(|it| simplified(it, &map)).collect();
    let new = Affine { body: with_exprs(&map.body, all), ..map };
    if new != map {
        let attr = map_attr(ir, &new);
        ir.set_attr(op, "map", attr);
    }
}

/// Maximum depth of expressions and number of quotients of a set. Other sets are kept.
const MAX_DEPTH: usize = 64;
const MAX_QUOTIENTS: usize = 16;

/// Returns an expression as a row over `points`. Adds a variable for each quotient, up to `most`
/// variables. `None` if the expression is not linear.
fn row_of(
    expr: &AffineExpr,
    n_dims: usize,
    points: &mut Conjunction,
    most: usize,
    depth: usize,
) -> Option<Vec<i128>> {
    let unit = |at: usize, points: &Conjunction| {
        let mut row = vec![0; points.n_vars() + 1];
        *row.get_mut(at)? = 1;
        Some(row)
    };
    // Extends a row to the variables that were added since; the constant stays last.
    let fit = |row: &mut Vec<i128>, points: &Conjunction| {
        let constant = row.pop().unwrap_or(0);
        row.resize(points.n_vars(), 0);
        row.push(constant);
    };
    if depth > MAX_DEPTH {
        return None;
    }
    match expr {
        AffineExpr::Const(value) => {
            let mut row = vec![0; points.n_vars()];
            row.push(i128::from(*value));
            Some(row)
        }
        AffineExpr::Dim(at) => unit(*at as usize, points),
        AffineExpr::Symbol(at) => unit(*at as usize + n_dims, points),
        AffineExpr::Binary(op, both) => {
            let mut a = row_of(&both.0, n_dims, points, most, depth + 1)?;
            let mut b = row_of(&both.1, n_dims, points, most, depth + 1)?;
            fit(&mut a, points);
            fit(&mut b, points);
            let number = |row: &[i128]| {
                let (constant, rest) = row.split_last()?;
                rest.iter().all(|it| *it == 0).then_some(*constant)
            };
            let plus = |a: &[i128], b: &[i128], by: i128| -> Option<Vec<i128>> {
                let sum = |(a, b): (&i128, &i128)| a.checked_add(b.checked_mul(by)?);
                a.iter().zip(b).map(sum).collect()
            };
            let zero = vec![0; a.len()];
            match op {
                AffineOperator::Add => plus(&a, &b, 1),
                AffineOperator::Mul => match (number(&a), number(&b)) {
                    (Some(by), _) => plus(&zero, &b, by),
                    (_, Some(by)) => plus(&zero, &a, by),
                    _ => None,
                },
                AffineOperator::FloorDiv | AffineOperator::CeilDiv | AffineOperator::Mod => {
                    let by = number(&b).filter(|it| *it > 0)?;
                    (points.n_vars() < most).then_some(())?;
                    let mut dividend = a.clone();
                    if *op == AffineOperator::CeilDiv {
                        let end = dividend.len() - 1;
                        dividend[end] = dividend[end].checked_add(by - 1)?;
                    }
                    let at = points.add_quotient(dividend, by);
                    let quotient = unit(at, points)?;
                    fit(&mut a, points);
                    if *op == AffineOperator::Mod {
                        plus(&a, &quotient, -by)
                    } else {
                        Some(quotient)
                    }
                }
            }
        }
    }
}

/// Drops constraints of an `affine.if` that always hold, or that a parallel constraint implies.
/// Puts equalities first, and removes common factors. Replaces an empty set by the constraint
/// `-1 >= 0`.
fn simplify_set(ir: &mut Ir, op: Op) {
    let Some(set) = applied_map(ir, op, "condition", 0) else { return };
    let AffineBody::Set(all) = &set.map.body else { return };
    let reduced = |it: &(AffineExpr, bool)| (simplified_constraint(&it.0, it.1, &set.map), it.1);
    let mut all: Vec<(AffineExpr, bool)> = all.iter().map(reduced).collect();
    all.sort_by_key(|it| !it.1);
    let n = set.map.n_inputs();
    let mut points = Conjunction::new(n);
    let mut rows: Vec<Option<(Vec<i64>, bool)>> = Vec::new();
    for (expr, is_equality) in &all {
        let row = linear_coefficients(expr, &set.map).filter(|it| it.len() == n + 1);
        if let Some(row) = row_of(expr, set.map.n_dims as usize, &mut points, n + MAX_QUOTIENTS, 0)
        {
            if *is_equality {
                points.add_equality(row);
            } else {
                points.add_inequality(row);
            }
        }
        rows.push(row.map(|it| (it, *is_equality)));
    }
    let body = if matches!(points.is_empty(&mut Budget::new(MAX_WORK)), Ok(true)) {
        AffineBody::Set(vec![(AffineExpr::Const(-1), false)])
    } else {
        // An inequality is dropped if it is constant and holds, or if a parallel one implies it.
        let is_kept = |at: usize| match &rows[at] {
            Some((row, false)) => {
                let is_number = row[..n].iter().all(|it| *it == 0);
                let says_less = |(other, it): (usize, &Option<(Vec<i64>, bool)>)| match it {
                    Some((it, false)) => {
                        it[..n] == row[..n] && (it[n] < row[n] || (it[n] == row[n] && other < at))
                    }
                    _ => false,
                };
                let holds_anyway = is_number && row[n] >= 0;
                !(holds_anyway || rows.iter().enumerate().any(says_less))
            }
            _ => true,
        };
        let kept = all.iter().enumerate().filter(|(at, _)| is_kept(*at));
        AffineBody::Set(kept.map(|it| it.1.clone()).collect())
    };
    if matches!(&body, AffineBody::Set(all) if all.is_empty()) {
        return;
    }
    let new = AppliedMap { map: Affine { body, ..set.map }, operands: set.operands }.canonical(ir);
    let attr = map_attr(ir, &new.map);
    ir.set_attr(op, "condition", attr);
    ir.set_operands(op, &new.operands);
}
