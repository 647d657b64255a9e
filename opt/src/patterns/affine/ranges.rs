//! Ranges and divisors of affine expressions, derived from loop bounds.
//!
//! *Law.* The value is the same in each iteration of the enclosing loops. *Cost.* One traversal of
//! an expression for each of its quotients and remainders. Divisors depend on at most
//! [`MAX_LOOPS`] enclosing loops.

use noisy_syntax::affine::{AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Def, Ir, Op, OpKind, Value};

use super::maps::{AppliedMap, applied_map, exprs, with_exprs};
use crate::rewrite::constants::int_of;

/// Maximum number of enclosing loops that the divisor of a bound depends on.
const MAX_LOOPS: usize = 8;

/// The minimum and the maximum value, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexInterval {
    low: Option<i128>,
    high: Option<i128>,
}

impl IndexInterval {
    const ANY: Self = Self { low: None, high: None };

    fn of(value: i128) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    fn single_value(self) -> Option<i128> {
        self.low.filter(|_| self.low == self.high)
    }

    fn times(self, by: i128) -> Self {
        let of = |it: Option<i128>| it.and_then(|it| it.checked_mul(by));
        let (low, high) = if by < 0 { (self.high, self.low) } else { (self.low, self.high) };
        if by == 0 { Self::of(0) } else { Self { low: of(low), high: of(high) } }
    }

    fn plus(self, other: Self) -> Self {
        let add = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Self { low: add(self.low, other.low), high: add(self.high, other.high) }
    }

    /// Returns true if all values are nonnegative and less than a number.
    fn is_below(self, by: i128) -> bool {
        self.low.is_some_and(|it| it >= 0) && self.high.is_some_and(|it| it < by)
    }
}

/// Returns the loop whose induction variable a value is.
fn loop_of(ir: &Ir, value: Value) -> Option<Op> {
    let Def::Argument(block, 0) = ir.value(value).def else { return None };
    let around = ir.region(ir.block(block).region).parent?;
    (ir.op(around).kind == OpKind::AffineFor).then_some(around)
}

fn step_of(ir: &Ir, op: Op) -> Option<i128> {
    ir.interner.int_value(ir.attr(op, "step")?).filter(|it| *it > 0)
}

fn bound_map(ir: &Ir, op: Op, is_low: bool) -> Option<AppliedMap> {
    let low = applied_map(ir, op, "lowerBoundMap", 0)?;
    if is_low { Some(low) } else { applied_map(ir, op, "upperBoundMap", low.operands.len()) }
}

fn constant_bound(ir: &Ir, op: Op, is_low: bool) -> Option<i128> {
    match exprs(&bound_map(ir, op, is_low)?.map.body)[..] {
        [AffineExpr::Const(value)] => Some(value.into()),
        _ => None,
    }
}

fn range_of_value(ir: &Ir, value: Value) -> IndexInterval {
    if let Some(number) = int_of(ir, value) {
        return IndexInterval::of(number);
    }
    let Some(op) = loop_of(ir, value) else { return IndexInterval::ANY };
    let low = constant_bound(ir, op, true);
    let last = constant_bound(ir, op, false).map(|it| it - 1);
    let high = match (low, last, step_of(ir, op)) {
        (Some(low), Some(last), Some(step)) if last >= low => {
            Some(low + (last - low) / step * step)
        }
        _ => last,
    };
    IndexInterval { low, high }
}

fn leaf_value(it: &AppliedMap, expr: &AffineExpr) -> Option<Value> {
    let at = match expr {
        AffineExpr::Dim(at) => *at,
        AffineExpr::Symbol(at) => *at + it.map.n_dims,
        _ => return None,
    };
    it.operands.get(at as usize).copied()
}

fn range(ir: &Ir, it: &AppliedMap, expr: &AffineExpr) -> IndexInterval {
    match expr {
        AffineExpr::Const(value) => IndexInterval::of((*value).into()),
        AffineExpr::Dim(_) | AffineExpr::Symbol(_) => {
            leaf_value(it, expr).map_or(IndexInterval::ANY, |value| range_of_value(ir, value))
        }
        AffineExpr::Binary(op, both) => {
            let (a, b) = (range(ir, it, &both.0), range(ir, it, &both.1));
            let by = b.single_value();
            match (op, by) {
                (AffineOperator::Add, _) => a.plus(b),
                (AffineOperator::Mul, Some(by)) => a.times(by),
                (AffineOperator::Mod, Some(by)) if by > 0 => remainder(a, by),
                (AffineOperator::FloorDiv, Some(by)) if by > 0 => IndexInterval {
                    low: a.low.map(|it| it.div_euclid(by)),
                    high: a.high.map(|it| it.div_euclid(by)),
                },
                (AffineOperator::CeilDiv, Some(by)) if by > 0 => {
                    let up = |it: i128| -(-it).div_euclid(by);
                    IndexInterval { low: a.low.map(up), high: a.high.map(up) }
                }
                _ => IndexInterval::ANY,
            }
        }
    }
}

/// Returns the range of remainders. It is exact if all values have the same quotient.
fn remainder(a: IndexInterval, by: i128) -> IndexInterval {
    match (a.low, a.high) {
        (Some(low), Some(high)) if low.div_euclid(by) == high.div_euclid(by) => {
            IndexInterval { low: Some(low.rem_euclid(by)), high: Some(high.rem_euclid(by)) }
        }
        _ => IndexInterval { low: Some(0), high: Some(by - 1) },
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a divisor of the value. Zero if the value is zero, which every number divides.
fn divisor(ir: &Ir, it: &AppliedMap, expr: &AffineExpr, depth: usize) -> u128 {
    match expr {
        AffineExpr::Const(value) => u128::from(value.unsigned_abs()),
        AffineExpr::Dim(_) | AffineExpr::Symbol(_) => {
            leaf_value(it, expr).map_or(1, |value| divisor_of_value(ir, value, depth))
        }
        AffineExpr::Binary(op, both) => {
            let of = |expr: &AffineExpr| divisor(ir, it, expr, depth);
            match op {
                // A common divisor divides the sum and the remainder.
                AffineOperator::Add | AffineOperator::Mod => gcd(of(&both.0), of(&both.1)),
                AffineOperator::Mul => of(&both.0).checked_mul(of(&both.1)).unwrap_or(1),
                AffineOperator::FloorDiv | AffineOperator::CeilDiv => match both.1 {
                    AffineExpr::Const(by) if by > 0 => {
                        let (all, by) = (of(&both.0), u128::from(by.unsigned_abs()));
                        if all.is_multiple_of(by) { all / by } else { 1 }
                    }
                    _ => 1,
                },
            }
        }
    }
}

fn divisor_of_value(ir: &Ir, value: Value, depth: usize) -> u128 {
    if let Some(number) = int_of(ir, value) {
        return number.unsigned_abs();
    }
    let known = || {
        let op = loop_of(ir, value).filter(|_| depth < MAX_LOOPS)?;
        let step = step_of(ir, op)?.unsigned_abs();
        let low = bound_map(ir, op, true)?;
        // With several lower bounds, any of them may be the maximum.
        Some(
            exprs(&low.map.body)
                .iter()
                .fold(step, |all, expr| gcd(all, divisor(ir, &low, expr, depth + 1))),
        )
    };
    known().unwrap_or(1)
}

/// Simplifies quotients and remainders by means of loop bounds.
pub(super) fn simplified(ir: &Ir, it: &AppliedMap) -> AppliedMap {
    let mut out = it.clone();
    let new = exprs(&it.map.body).iter().map(|expr| simplified_expr(ir, it, expr)).collect();
    out.map.body = with_exprs(&it.map.body, new);
    if out == *it { out } else { out.canonical(ir) }
}

fn simplified_expr(ir: &Ir, it: &AppliedMap, expr: &AffineExpr) -> AffineExpr {
    let AffineExpr::Binary(op, both) = expr else { return expr.clone() };
    let (a, b) = (simplified_expr(ir, it, &both.0), simplified_expr(ir, it, &both.1));
    let out = AffineExpr::binary(*op, a, b);
    let AffineExpr::Binary(op, both) = &out else { return out };
    let (a, by) = match (op, &both.0, &both.1) {
        (AffineOperator::Add | AffineOperator::Mul, ..) => return out,
        (_, a, AffineExpr::Const(by)) if *by > 0 => (a, *by),
        _ => return out,
    };
    let wide = i128::from(by);
    // For a multiple `m` of `of` and `0 <= rest < of`: `(m + rest) floordiv by` is `m floordiv by`
    // if `of` divides `by`, and `(m + rest) mod by` is `rest mod by` if `by` divides `of`.
    if let AffineExpr::Binary(AffineOperator::Add, parts) = a {
        for (multiple, rest) in [(&parts.0, &parts.1), (&parts.1, &parts.0)] {
            let of = divisor(ir, it, multiple, 0);
            let Some(of) = i128::try_from(of).ok().filter(|&of| of > 0) else { continue };
            if !range(ir, it, rest).is_below(of) {
                continue;
            }
            if *op == AffineOperator::FloorDiv && wide % of == 0 {
                return AffineExpr::binary(*op, multiple.clone(), AffineExpr::Const(by));
            }
            if *op == AffineOperator::Mod && of % wide == 0 {
                return AffineExpr::binary(*op, rest.clone(), AffineExpr::Const(by));
            }
        }
    }
    let own = range(ir, it, &out);
    if let Some(number) = own.single_value().and_then(|it| i64::try_from(it).ok()) {
        return AffineExpr::Const(number);
    }
    if *op == AffineOperator::Mod {
        if range(ir, it, a).is_below(wide) {
            return a.clone();
        }
        if divisor(ir, it, a, 0).is_multiple_of(u128::from(by.unsigned_abs())) {
            return AffineExpr::Const(0);
        }
    }
    out
}

/// Removes redundant results of a bound: those that are never the maximum of a lower bound or the
/// minimum of an upper bound.
pub(super) fn without_redundant_results(ir: &Ir, it: &AppliedMap, is_low: bool) -> AppliedMap {
    let all = exprs(&it.map.body);
    if all.len() < 2 {
        return it.clone();
    }
    let ranges: Vec<IndexInterval> = all.iter().map(|expr| range(ir, it, expr)).collect();
    let is_surely = |a: IndexInterval, b: IndexInterval| match if is_low {
        (a.high, b.low)
    } else {
        (b.high, a.low)
    } {
        (Some(x), Some(y)) => x <= y,
        _ => false,
    };
    let mut kept: Vec<usize> = (0..all.len()).collect();
    for at in 0..all.len() {
        let is_needless =
            kept.iter().any(|&other| other != at && is_surely(ranges[at], ranges[other]));
        if is_needless {
            kept.retain(|&it| it != at);
        }
    }
    let of = |at: usize| match ranges[at].single_value().and_then(|it| i64::try_from(it).ok()) {
        Some(number) => AffineExpr::Const(number),
        None => all[at].clone(),
    };
    let mut out = it.clone();
    out.map.body = AffineBody::Map(kept.into_iter().map(of).collect());
    if out == *it { out } else { out.canonical(ir) }
}
