//! `affine-simplify-structures`: maps and sets in canonical form; choices whose set has no point are gone.
//!
//! *Law.* A set is empty for all integers that its dimensions and symbols may be, exactly; a set that is not linear with known coefficients, and one
//! that the budget does not suffice for, stays.

use noisy_polyhedra::{Budget, Conjunction};
use noisy_syntax::affine::{Affine, Body, Expr};
use noisy_syntax::{Ir, Op, OpKind};

use super::super::canonicalize;
use super::for_loop::map_attr;
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::patterns;
use crate::patterns::affine::maps::{Applied, applied, exprs, factors, simplified, with_exprs};
use crate::rewrite::greedy::{Config, Patterns};
use crate::rewrite::nested;
use crate::rewrite::regions::Simplify;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-simplify-structures",
    class: "SimplifyAffineStructures",
    anchor: Some("func.func"),
    summary: "Simplify affine expressions in maps/sets and normalize memrefs",
    options: &[],
    run,
}];

/// The most work on one set, in numbers touched.
const WORK: u64 = 2_000_000;

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    for op in nested(cx.ir, op) {
        match cx.ir.op(op).kind {
            OpKind::AffineIf => simplify_set(cx.ir, op),
            _ => simplify_map(cx.ir, op),
        }
    }
    let is_meant =
        |kind| matches!(kind, OpKind::AffineApply | OpKind::AffineFor | OpKind::AffineIf);
    let patterns = Patterns::new(patterns::all().filter(|it| is_meant(it.kind)));
    let config = Config { simplify: Simplify::Disabled, ..Config::default() };
    canonicalize::rewrite(cx, op, &patterns, config, false)
}

/// Simplifies each expression of the map of an op; its operands stay.
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

/// Drops constraints of a choice that hold anyway or say less than another one; a set without a point becomes one that says so.
fn simplify_set(ir: &mut Ir, op: Op) {
    let Some(set) = applied(ir, op, "condition", 0).map(|it| it.canonical(ir)) else { return };
    let Body::Set(all) = &set.map.body else { return };
    let n = set.map.n_inputs();
    let mut points = Conjunction::new(n);
    let mut rows: Vec<Option<(Vec<i64>, bool)>> = Vec::new();
    for (expr, is_equality) in all {
        let row = factors(expr, &set.map).filter(|it| it.len() == n + 1);
        if let Some(row) = &row {
            let row = row.iter().map(|it| i128::from(*it)).collect();
            if *is_equality {
                points.equal(row);
            } else {
                points.at_least(row);
            }
        }
        rows.push(row.map(|it| (it, *is_equality)));
    }
    let body = if matches!(points.is_empty(&mut Budget::new(WORK)), Ok(true)) {
        Body::Set(vec![(Expr::Const(-1), false)])
    } else {
        // An inequality is kept unless it is a number that holds or a parallel one says as much.
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
        Body::Set(kept.map(|it| it.1.clone()).collect())
    };
    if matches!(&body, Body::Set(all) if all.is_empty()) {
        return;
    }
    let new = Applied { map: Affine { body, ..set.map }, operands: set.operands }.canonical(ir);
    let attr = map_attr(ir, &new.map);
    ir.set_attr(op, "condition", attr);
    ir.set_operands(op, &new.operands);
}
