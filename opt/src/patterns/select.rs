//! Patterns of `arith.select`.

use noisy_analyses::facts::values::is_number;
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Op, OpKind, Type, TypeData, Value};

use super::compare::{create_not, operand_of_not};
use super::patterns;
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ArithSelect: select_of_not, select_of_truth, select_of_select, select_of_and;
};

fn select_operands(rewriter: &Rewriter<'_>, op: Op) -> [Value; 3] {
    [0, 1, 2].map(|at| rewriter.operand(op, at))
}

fn replace_with_select(rewriter: &mut Rewriter<'_>, op: Op, parts: [Value; 3]) -> bool {
    let ty = rewriter.ty(parts[1]);
    rewriter.replace_with(op, NewOp::new("arith.select").operands(&parts).results(&[ty]));
    true
}

/// Rewrites `!c ? a : b` to `c ? b : a`.
fn select_of_not(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [condition, a, b] = select_operands(rewriter, op);
    let Some(condition) = operand_of_not(rewriter, condition) else { return false };
    replace_with_select(rewriter, op, [condition, b, a])
}

/// Rewrites `c ? 1 : 0` to `ext(c)`, `c ? 0 : 1` to `ext(!c)`, and `c ? false : true` to `!c`.
fn select_of_truth(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [condition, a, b] = select_operands(rewriter, op);
    let (Some(x), Some(y)) = (rewriter.int_of(a), rewriter.int_of(b)) else { return false };
    let (from, to) = (rewriter.ty(condition), rewriter.ty(a));
    if from == to {
        if (x, y) != (0, -1) {
            return false;
        }
        let value = create_not(rewriter, condition, op);
        rewriter.replace(op, &[value]);
        return true;
    }
    let is_int = |ty: Type| matches!(rewriter.ir.interner.type_data(ty), TypeData::Int { width, .. } if *width > 1);
    if !is_int(to) {
        return false;
    }
    let condition = match (x, y) {
        (1, 0) => condition,
        (0, 1) => create_not(rewriter, condition, op),
        _ => return false,
    };
    rewriter.replace_with(op, NewOp::new("arith.extui").operands(&[condition]).results(&[to]));
    true
}

/// Replaces a nested select with the same condition by its selected operand.
fn select_of_select(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [condition, a, b] = select_operands(rewriter, op);
    let inner = |value: Value, rewriter: &Rewriter<'_>| {
        let inner = rewriter.defined_by(value, OpKind::ArithSelect)?;
        let it = select_operands(rewriter, inner);
        (it[0] == condition).then_some(it)
    };
    if let Some([_, x, _]) = inner(a, rewriter) {
        return replace_with_select(rewriter, op, [condition, x, b]);
    }
    if let Some([_, _, y]) = inner(b, rewriter) {
        return replace_with_select(rewriter, op, [condition, a, y]);
    }
    false
}

/// Rewrites `p ? (q ? a : b) : b` to `p & q ? a : b`, and the three other variants similarly. Does
/// nothing if `q` may be poison: `p & q` would be poison even if `p` is false.
fn select_of_and(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [p, a, b] = select_operands(rewriter, op);
    let inner = |value: Value, other: Value, rewriter: &Rewriter<'_>| {
        let inner = rewriter.defined_by(value, OpKind::ArithSelect)?;
        let it = select_operands(rewriter, inner);
        let fits = it[1..].contains(&other) && rewriter.ty(it[0]) == rewriter.ty(p);
        (fits && is_number(rewriter.ir, it[0])).then_some(it)
    };
    if let Some([q, x, y]) = inner(a, b, rewriter) {
        if y == b {
            let both = rewriter.insert_binary("arith.andi", p, q, op);
            return replace_with_select(rewriter, op, [both, x, b]);
        }
        if x == b {
            let not_q = create_not(rewriter, q, op);
            let both = rewriter.insert_binary("arith.andi", p, not_q, op);
            return replace_with_select(rewriter, op, [both, y, b]);
        }
    }
    if let Some([q, x, y]) = inner(b, a, rewriter) {
        if x == a {
            let either = rewriter.insert_binary("arith.ori", p, q, op);
            return replace_with_select(rewriter, op, [either, a, y]);
        }
        if y == a {
            let not_q = create_not(rewriter, q, op);
            let either = rewriter.insert_binary("arith.ori", p, not_q, op);
            return replace_with_select(rewriter, op, [either, a, x]);
        }
    }
    false
}
