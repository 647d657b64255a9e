//! Patterns of comparisons.

use noisy_integers::compare::predicate;
use noisy_integers::constant::Constant;
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Op, OpKind, TypeData};

use super::arith::compare_op;
use super::patterns;
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ArithCmpi: compare_of_extended;
    ArithCmpf: compare_of_converted;
};

/// Rewrites a comparison of two extended numbers to a comparison of the numbers.
fn compare_of_extended(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let Some(predicate) = predicate(rewriter.ir, op) else { return false };
    let (Some(x), Some(y)) = (rewriter.ir.defining_op(a), rewriter.ir.defining_op(b)) else {
        return false;
    };
    let kind = rewriter.ir.op(x).kind;
    let fits = match kind {
        OpKind::ArithExtsi => matches!(predicate, 0..=5),
        OpKind::ArithExtui => matches!(predicate, 0 | 1 | 6..=9),
        _ => false,
    };
    if !fits || rewriter.ir.op(y).kind != kind {
        return false;
    }
    let (x, y) = (rewriter.operand(x, 0), rewriter.operand(y, 0));
    if rewriter.ty(x) != rewriter.ty(y) {
        return false;
    }
    let ty = rewriter.ty(rewriter.ir.op(op).results[0]);
    let new = compare_op(rewriter.ir, predicate, x, y, ty);
    rewriter.replace_with(op, new);
    true
}

/// The result of a comparison of an integer with a real number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComparisonResult {
    Always(bool),
    /// A predicate of `arith.cmpi` and the right operand.
    Compare(i128, i128),
}

/// Rewrites a comparison of a losslessly converted integer with a float constant to an integer
/// comparison.
fn compare_of_converted(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let Some(predicate) = predicate(rewriter.ir, op) else { return false };
    let Some(convert) = rewriter.ir.defining_op(a) else { return false };
    let is_signed = match rewriter.ir.op(convert).kind {
        OpKind::ArithSitofp => true,
        OpKind::ArithUitofp => false,
        _ => return false,
    };
    let Some(Constant::Float(bits)) = rewriter.constant_of(b) else { return false };
    let from = rewriter.operand(convert, 0);
    let ty = rewriter.ty(from);
    let TypeData::Int { width, .. } = *rewriter.ir.interner.type_data(ty) else { return false };
    // The number of bits of the significand, including the implicit bit.
    let mantissa = match rewriter.ir.interner.type_data(rewriter.ty(a)) {
        TypeData::Float("f64") => 53,
        TypeData::Float("f32") => 24,
        TypeData::Float("f16") => 11,
        TypeData::Float("bf16") => 8,
        _ => return false,
    };
    // Integers that fit the significand are also in the range of the float type, even for `f16`.
    if width - u32::from(is_signed) > mantissa {
        return false;
    }
    let Some(outcome) = compare_with_real(predicate, f64::from_bits(bits), width, is_signed) else {
        return false;
    };
    let result = rewriter.ty(rewriter.ir.op(op).results[0]);
    match outcome {
        ComparisonResult::Always(is) => {
            let Some(value) = rewriter.constant(Constant::from_bool(is), result, op) else {
                return false;
            };
            rewriter.replace(op, &[value]);
        }
        ComparisonResult::Compare(predicate, number) => {
            let number = rewriter.int(number, ty, op);
            let new = compare_op(rewriter.ir, predicate, from, number, result);
            rewriter.replace_with(op, new);
        }
    }
    true
}

/// Converts a comparison of integers of a width, signed or unsigned, with a real number to a
/// comparison with an integer or a constant.
fn compare_with_real(
    predicate: i128,
    number: f64,
    width: u32,
    is_signed: bool,
) -> Option<ComparisonResult> {
    use ComparisonResult::{Always, Compare};
    if number.is_nan() {
        return Some(Always(predicate >= 8));
    }
    // Ordered and unordered predicates are equivalent, because no integer is NaN.
    #[derive(Clone, Copy, PartialEq)]
    enum Order {
        Eq,
        Ne,
        Lt,
        Le,
        Gt,
        Ge,
    }
    let order = match predicate {
        0 | 14 => return Some(Always(false)),
        7 | 15 => return Some(Always(true)),
        1 | 8 => Order::Eq,
        6 | 13 => Order::Ne,
        2 | 9 => Order::Gt,
        3 | 10 => Order::Ge,
        4 | 11 => Order::Lt,
        5 | 12 => Order::Le,
        _ => return None,
    };
    let (least, most) = if is_signed {
        (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1)
    } else {
        (0, (1_i128 << width) - 1)
    };
    let of = |signed: i128, unsigned: i128| if is_signed { signed } else { unsigned };
    // The bounds are exact as `f64`, because lossless integers have at most 54 bits.
    if number < least as f64 || number > most as f64 {
        let is_below = number < least as f64;
        return Some(Always(match order {
            Order::Eq => false,
            Order::Ne => true,
            Order::Lt | Order::Le => !is_below,
            Order::Gt | Order::Ge => is_below,
        }));
    }
    let (floor, is_whole) = (number.floor() as i128, number.fract() == 0.0);
    if is_whole {
        return Some(Compare(
            match order {
                Order::Eq => 0,
                Order::Ne => 1,
                Order::Lt => of(2, 6),
                Order::Le => of(3, 7),
                Order::Gt => of(4, 8),
                Order::Ge => of(5, 9),
            },
            floor,
        ));
    }
    // Rounds towards zero, like LLVM.
    let cut = number.trunc() as i128;
    Some(match order {
        Order::Eq => Always(false),
        Order::Ne => Always(true),
        Order::Lt | Order::Le if cut == floor => Compare(of(3, 7), cut),
        Order::Lt | Order::Le => Compare(of(2, 6), cut),
        Order::Gt | Order::Ge if cut == floor => Compare(of(4, 8), cut),
        Order::Gt | Order::Ge => Compare(of(5, 9), cut),
    })
}

/// Returns `x` if a value is `!x`, which is an exclusive or of a boolean with true.
pub(super) fn operand_of_not(
    rewriter: &Rewriter<'_>,
    value: noisy_syntax::Value,
) -> Option<noisy_syntax::Value> {
    let not = rewriter.defined_by(value, OpKind::ArithXori)?;
    let is_not = rewriter.int_of(rewriter.operand(not, 1)) == Some(-1);
    let is_truth = noisy_integers::constant::width(rewriter.ir, rewriter.ty(value)) == Some(1);
    (is_not && is_truth).then(|| rewriter.operand(not, 0))
}

/// Creates the negation of a boolean before an op.
pub(super) fn create_not(
    rewriter: &mut Rewriter<'_>,
    value: noisy_syntax::Value,
    before: Op,
) -> noisy_syntax::Value {
    let ty = rewriter.ty(value);
    let ones = rewriter.int(-1, ty, before);
    rewriter.insert_value(NewOp::new("arith.xori").operands(&[value, ones]).results(&[ty]), before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_with_reals_agree_for_all_small_integers() {
        let holds = |predicate: i128, x: f64, y: f64| match predicate {
            0 => false,
            15 => true,
            _ => match x.partial_cmp(&y) {
                None => predicate >= 8,
                Some(order) => match if predicate < 8 { predicate } else { predicate - 7 } {
                    1 => order.is_eq(),
                    2 => order.is_gt(),
                    3 => order.is_ge(),
                    4 => order.is_lt(),
                    5 => order.is_le(),
                    6 => order.is_ne(),
                    _ => predicate == 7,
                },
            },
        };
        let mut reals: Vec<f64> = (-50..50).map(|it| f64::from(it) / 4.0).collect();
        reals.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e300, 1e-300]);
        for is_signed in [false, true] {
            for (predicate, &real) in
                (0..16).flat_map(|it| reals.iter().map(move |real| (it, real)))
            {
                let outcome = compare_with_real(predicate, real, 3, is_signed);
                for bits in 0..8_i128 {
                    let x = if is_signed && bits > 3 { bits - 8 } else { bits };
                    let found = match outcome {
                        Some(ComparisonResult::Always(it)) => it,
                        Some(ComparisonResult::Compare(predicate, number)) => {
                            let number = noisy_integers::constant::sign_extended(number, 3);
                            let x = noisy_integers::constant::sign_extended(x, 3);
                            noisy_integers::compare::holds_cmpi(predicate, x, number, 3)
                                .expect("a predicate")
                        }
                        None => continue,
                    };
                    assert_eq!(
                        found,
                        holds(predicate, x as f64, real),
                        "{x} {predicate} {real} {is_signed}"
                    );
                }
            }
        }
    }
}
