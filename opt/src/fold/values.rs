//! Folds to existing values, such as `(a - b) + b` to `a`.

use noisy_integers::compare::predicate;
use noisy_integers::constant;
use noisy_syntax::{Ir, Op, OpKind, Type, Value};

use crate::rewrite::constants::int_of;
use crate::rewrite::operand;

/// Folds an op with one result to an existing value.
pub(super) fn fold(ir: &Ir, op: Op) -> Option<Value> {
    let (a, b) = (operand(ir, op, 0)?, operand(ir, op, 1));
    let of =
        |value: Value, kind: OpKind| ir.defining_op(value).filter(|&it| ir.op(it).kind == kind);
    let at = |op: Op, n: usize| operand(ir, op, n);
    match (ir.op(op).kind, b) {
        (OpKind::ArithAddi, Some(b)) => {
            let left = |sub: Value, other: Value| {
                let sub = of(sub, OpKind::ArithSubi)?;
                (at(sub, 1)? == other).then(|| at(sub, 0))?
            };
            left(a, b).or_else(|| left(b, a))
        }
        (OpKind::ArithSubi, Some(b)) => {
            let sum = of(a, OpKind::ArithAddi)?;
            let (x, y) = (at(sum, 0)?, at(sum, 1)?);
            if y == b { Some(x) } else { (x == b).then_some(y) }
        }
        (OpKind::ArithAndi, Some(b)) => and(ir, a, b).or_else(|| and(ir, b, a)),
        (OpKind::ArithXori, Some(b)) => {
            let left = |xor: Value, other: Value| {
                let xor = of(xor, OpKind::ArithXori)?;
                let (x, y) = (at(xor, 0)?, at(xor, 1)?);
                if y == other { Some(x) } else { (x == other).then_some(y) }
            };
            left(a, b).or_else(|| left(b, a))
        }
        (OpKind::ArithNegf, None) => at(of(a, OpKind::ArithNegf)?, 0),
        (OpKind::ArithTruncf, None) => {
            let wide = at(of(a, OpKind::ArithExtf)?, 0)?;
            (ir.value(wide).ty == result_type(ir, op)).then_some(wide)
        }
        (OpKind::ArithTrunci, None) => {
            let inner = ir.defining_op(a)?;
            let is_wide = matches!(ir.op(inner).kind, OpKind::ArithExtsi | OpKind::ArithExtui);
            let from = at(inner, 0)?;
            (is_wide && ir.value(from).ty == result_type(ir, op)).then_some(from)
        }
        (OpKind::ArithBitcast, None) => (ir.value(a).ty == result_type(ir, op)).then_some(a),
        (kind @ (OpKind::ArithIndexCast | OpKind::ArithIndexCastui), None) => {
            // The inner conversion does not truncate.
            let from = at(of(a, kind)?, 0)?;
            let width = |it: Value| constant::width(ir, ir.value(it).ty);
            let is_kept = width(a)? >= width(from)?;
            (is_kept && ir.value(from).ty == result_type(ir, op)).then_some(from)
        }
        (OpKind::ArithCmpi, Some(b)) => comparison(ir, op, a, b),
        (OpKind::ArithSelect, Some(b)) => select(ir, op, a, b),
        (OpKind::ArithDivui | OpKind::ArithDivsi, Some(b)) => quotient(ir, op, a, b),
        (OpKind::MemrefCast | OpKind::MemrefMemorySpaceCast, None) => cast(ir, op, a),
        (OpKind::MemrefSubview, _) => crate::patterns::memref::source_of_identical_subview(ir, op),
        (OpKind::AffineApply, _) => affine(ir, op),
        _ => None,
    }
}

fn result_type(ir: &Ir, op: Op) -> Type {
    ir.op(op).results.first().map_or(Type::UNKNOWN, |&it| ir.value(it).ty)
}

/// Folds `(a & b) & a` to `a & b`, and the mask of a zero-extended number if it has all of the
/// original bits.
fn and(ir: &Ir, a: Value, b: Value) -> Option<Value> {
    let inner = ir.defining_op(a)?;
    match ir.op(inner).kind {
        OpKind::ArithAndi => {
            let is_same = operand(ir, inner, 0)? == b || operand(ir, inner, 1)? == b;
            is_same.then_some(a)
        }
        OpKind::ArithExtui => {
            let from = operand(ir, inner, 0)?;
            let width = constant::width(ir, ir.value(from).ty)?;
            let mask = int_of(ir, b)?;
            let all = (1_i128 << width.min(126)) - 1;
            (width < 126 && mask & all == all).then_some(a)
        }
        _ => None,
    }
}

/// Folds `(a * b) / b` to `a` if the product does not overflow.
fn quotient(ir: &Ir, op: Op, a: Value, b: Value) -> Option<Value> {
    let product = ir.defining_op(a).filter(|&it| ir.op(it).kind == OpKind::ArithMuli)?;
    let (nsw, nuw) = crate::patterns::arith::overflow_flags(ir, product);
    let is_exact = if ir.op(op).kind == OpKind::ArithDivui { nuw } else { nsw };
    let (x, y) = (operand(ir, product, 0)?, operand(ir, product, 1)?);
    if !is_exact {
        None
    } else if y == b {
        Some(x)
    } else {
        (x == b).then_some(y)
    }
}

/// Folds comparisons of an `i1`, possibly extended, with a constant.
fn comparison(ir: &Ir, op: Op, a: Value, b: Value) -> Option<Value> {
    let (predicate, number) = (predicate(ir, op)?, int_of(ir, b)?);
    let (is_ne, is_eq) = (predicate == 1, predicate == 0);
    let result = result_type(ir, op);
    let is_truth = |it: Value| ir.value(it).ty == result;
    if is_truth(a) && (is_ne && number == 0 || is_eq && number == -1) {
        return Some(a);
    }
    let inner = ir.defining_op(a)?;
    let from = operand(ir, inner, 0)?;
    let one = match ir.op(inner).kind {
        OpKind::ArithExtsi => -1,
        OpKind::ArithExtui => 1,
        _ => return None,
    };
    (is_truth(from) && (is_ne && number == 0 || is_eq && number == one)).then_some(from)
}

fn select(ir: &Ir, op: Op, condition: Value, a: Value) -> Option<Value> {
    let b = operand(ir, op, 2)?;
    if a == b {
        return Some(a);
    }
    // Fold `c ? true : false` to `c`.
    if ir.value(condition).ty == ir.value(a).ty
        && int_of(ir, a) == Some(-1)
        && int_of(ir, b) == Some(0)
    {
        return Some(condition);
    }
    let compare = ir.defining_op(condition).filter(|&it| ir.op(it).kind == OpKind::ArithCmpi)?;
    let (x, y) = (operand(ir, compare, 0)?, operand(ir, compare, 1)?);
    if !(x == a && y == b || x == b && y == a) {
        return None;
    }
    match predicate(ir, compare)? {
        0 => Some(b),
        1 => Some(a),
        _ => None,
    }
}

/// Folds a cast to the same type, and a cast back to the original type.
fn cast(ir: &Ir, op: Op, a: Value) -> Option<Value> {
    let to = result_type(ir, op);
    if ir.value(a).ty == to {
        return Some(a);
    }
    let inner = ir.defining_op(a).filter(|&it| ir.op(it).kind == ir.op(op).kind)?;
    let from = operand(ir, inner, 0)?;
    (ir.value(from).ty == to).then_some(from)
}

/// Folds a map that returns one of its operands.
fn affine(ir: &Ir, op: Op) -> Option<Value> {
    use noisy_syntax::affine::{AffineBody, AffineExpr};
    let map = ir.interner.affine(ir.attr(op, "map")?)?;
    let AffineBody::Map(results) = &map.body else { return None };
    match results[..] {
        [AffineExpr::Dim(at)] => operand(ir, op, at as usize),
        [AffineExpr::Symbol(at)] => operand(ir, op, (map.n_dims + at) as usize),
        _ => None,
    }
}
