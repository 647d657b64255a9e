//! Ranges and divisors of affine expressions, derived from loop bounds.
//!
//! *Law.* The value is the same in each iteration of the enclosing loops. *Cost.* One traversal of
//! an expression for each of its quotients and remainders. Divisors depend on at most
//! [`MOST_LOOPS`] enclosing loops.

use noisy_syntax::affine::{Body, Expr, Operator};
use noisy_syntax::{Def, Ir, Op, OpKind, Value};

use super::maps::{Applied, applied, exprs, with_exprs};
use crate::rewrite::constants::int_of;

/// Maximum number of enclosing loops that the divisor of a bound depends on.
const MOST_LOOPS: usize = 8;

/// The minimum and the maximum value, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: Option<i128>,
    high: Option<i128>,
}

impl Range {
    const ANY: Self = Self { low: None, high: None };

    fn of(value: i128) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    fn number(self) -> Option<i128> {
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

fn bound(ir: &Ir, op: Op, is_low: bool) -> Option<Applied> {
    let low = applied(ir, op, "lowerBoundMap", 0)?;
    if is_low { Some(low) } else { applied(ir, op, "upperBoundMap", low.operands.len()) }
}

fn constant_bound(ir: &Ir, op: Op, is_low: bool) -> Option<i128> {
    match exprs(&bound(ir, op, is_low)?.map.body)[..] {
        [Expr::Const(value)] => Some(value.into()),
        _ => None,
    }
}

fn range_of_value(ir: &Ir, value: Value) -> Range {
    if let Some(number) = int_of(ir, value) {
        return Range::of(number);
    }
    let Some(op) = loop_of(ir, value) else { return Range::ANY };
    let low = constant_bound(ir, op, true);
    let last = constant_bound(ir, op, false).map(|it| it - 1);
    let high = match (low, last, step_of(ir, op)) {
        (Some(low), Some(last), Some(step)) if last >= low => {
            Some(low + (last - low) / step * step)
        }
        _ => last,
    };
    Range { low, high }
}

fn leaf_value(it: &Applied, expr: &Expr) -> Option<Value> {
    let at = match expr {
        Expr::Dim(at) => *at,
        Expr::Symbol(at) => *at + it.map.n_dims,
        _ => return None,
    };
    it.operands.get(at as usize).copied()
}

fn range(ir: &Ir, it: &Applied, expr: &Expr) -> Range {
    match expr {
        Expr::Const(value) => Range::of((*value).into()),
        Expr::Dim(_) | Expr::Symbol(_) => {
            leaf_value(it, expr).map_or(Range::ANY, |value| range_of_value(ir, value))
        }
        Expr::Binary(op, both) => {
            let (a, b) = (range(ir, it, &both.0), range(ir, it, &both.1));
            let by = b.number();
            match (op, by) {
                (Operator::Add, _) => a.plus(b),
                (Operator::Mul, Some(by)) => a.times(by),
                (Operator::Mod, Some(by)) if by > 0 => remainder(a, by),
                (Operator::FloorDiv, Some(by)) if by > 0 => Range {
                    low: a.low.map(|it| it.div_euclid(by)),
                    high: a.high.map(|it| it.div_euclid(by)),
                },
                (Operator::CeilDiv, Some(by)) if by > 0 => {
                    let up = |it: i128| -(-it).div_euclid(by);
                    Range { low: a.low.map(up), high: a.high.map(up) }
                }
                _ => Range::ANY,
            }
        }
    }
}

/// Returns the range of remainders. It is exact if all values have the same quotient.
fn remainder(a: Range, by: i128) -> Range {
    match (a.low, a.high) {
        (Some(low), Some(high)) if low.div_euclid(by) == high.div_euclid(by) => {
            Range { low: Some(low.rem_euclid(by)), high: Some(high.rem_euclid(by)) }
        }
        _ => Range { low: Some(0), high: Some(by - 1) },
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a divisor of the value. Zero if the value is zero, which every number divides.
fn divisor(ir: &Ir, it: &Applied, expr: &Expr, depth: usize) -> u128 {
    match expr {
        Expr::Const(value) => u128::from(value.unsigned_abs()),
        Expr::Dim(_) | Expr::Symbol(_) => {
            leaf_value(it, expr).map_or(1, |value| divisor_of_value(ir, value, depth))
        }
        Expr::Binary(op, both) => {
            let of = |expr: &Expr| divisor(ir, it, expr, depth);
            match op {
                // A common divisor divides the sum and the remainder.
                Operator::Add | Operator::Mod => gcd(of(&both.0), of(&both.1)),
                Operator::Mul => of(&both.0).checked_mul(of(&both.1)).unwrap_or(1),
                Operator::FloorDiv | Operator::CeilDiv => match both.1 {
                    Expr::Const(by) if by > 0 => {
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
        let op = loop_of(ir, value).filter(|_| depth < MOST_LOOPS)?;
        let step = step_of(ir, op)?.unsigned_abs();
        let low = bound(ir, op, true)?;
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
pub(super) fn simplified(ir: &Ir, it: &Applied) -> Applied {
    let mut out = it.clone();
    let new = exprs(&it.map.body).iter().map(|expr| simpler(ir, it, expr)).collect();
    out.map.body = with_exprs(&it.map.body, new);
    if out == *it { out } else { out.canonical(ir) }
}

fn simpler(ir: &Ir, it: &Applied, expr: &Expr) -> Expr {
    let Expr::Binary(op, both) = expr else { return expr.clone() };
    let (a, b) = (simpler(ir, it, &both.0), simpler(ir, it, &both.1));
    let out = Expr::binary(*op, a, b);
    let Expr::Binary(op, both) = &out else { return out };
    let (a, by) = match (op, &both.0, &both.1) {
        (Operator::Add | Operator::Mul, ..) => return out,
        (_, a, Expr::Const(by)) if *by > 0 => (a, *by),
        _ => return out,
    };
    let wide = i128::from(by);
    // For a multiple `m` of `of` and `0 <= rest < of`: `(m + rest) floordiv by` is `m floordiv by`
    // if `of` divides `by`, and `(m + rest) mod by` is `rest mod by` if `by` divides `of`.
    if let Expr::Binary(Operator::Add, parts) = a {
        for (multiple, rest) in [(&parts.0, &parts.1), (&parts.1, &parts.0)] {
            let of = divisor(ir, it, multiple, 0);
            let Some(of) = i128::try_from(of).ok().filter(|&of| of > 0) else { continue };
            if !range(ir, it, rest).is_below(of) {
                continue;
            }
            if *op == Operator::FloorDiv && wide % of == 0 {
                return Expr::binary(*op, multiple.clone(), Expr::Const(by));
            }
            if *op == Operator::Mod && of % wide == 0 {
                return Expr::binary(*op, rest.clone(), Expr::Const(by));
            }
        }
    }
    let own = range(ir, it, &out);
    if let Some(number) = own.number().and_then(|it| i64::try_from(it).ok()) {
        return Expr::Const(number);
    }
    if *op == Operator::Mod {
        if range(ir, it, a).is_below(wide) {
            return a.clone();
        }
        if divisor(ir, it, a, 0).is_multiple_of(u128::from(by.unsigned_abs())) {
            return Expr::Const(0);
        }
    }
    out
}

/// Removes redundant results of a bound: those that are never the maximum of a lower bound or the
/// minimum of an upper bound.
pub(super) fn deciding(ir: &Ir, it: &Applied, is_low: bool) -> Applied {
    let all = exprs(&it.map.body);
    if all.len() < 2 {
        return it.clone();
    }
    let ranges: Vec<Range> = all.iter().map(|expr| range(ir, it, expr)).collect();
    let is_surely =
        |a: Range, b: Range| match if is_low { (a.high, b.low) } else { (b.high, a.low) } {
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
    let of = |at: usize| match ranges[at].number().and_then(|it| i64::try_from(it).ok()) {
        Some(number) => Expr::Const(number),
        None => all[at].clone(),
    };
    let mut out = it.clone();
    out.map.body = Body::Map(kept.into_iter().map(of).collect());
    if out == *it { out } else { out.canonical(ir) }
}
