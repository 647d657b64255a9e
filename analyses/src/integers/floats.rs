//! Constants of float types: arithmetic in their formats, and their bits.

use noisy_syntax::{Op, OpKind};

use super::compare::{is_same, predicate};
use super::constant::Constant;
use crate::view::View;

use Constant::Float;

/// What is no number and says nothing else, and the bit of what is quiet.
const NAN: u64 = 0x7ff8 << 48;
pub(super) const QUIET: u64 = 1 << 51;

/// What an op of two floats gives.
pub(super) fn floats(
    ir: &impl View,
    op: Op,
    kind: OpKind,
    a: Constant,
    b: Constant,
    ty: &str,
) -> Option<Constant> {
    let number = |it: Constant| match it {
        Float(bits) => Some(f64::from_bits(bits)),
        _ => None,
    };
    let (x, y) = (number(a), number(b));
    if kind == OpKind::ArithCmpf {
        return compare_floats(predicate(ir, op)?, x, y).map(Constant::bool);
    }
    let is = |it: Option<f64>, what: f64| it.is_some_and(|it| it.to_bits() == what.to_bits());
    match kind {
        OpKind::ArithAddf if is(y, -0.0) => return Some(a),
        OpKind::ArithSubf if is(y, 0.0) => return Some(a),
        OpKind::ArithMulf | OpKind::ArithDivf if is(y, 1.0) => return Some(a),
        OpKind::ArithMaximumf
        | OpKind::ArithMinimumf
        | OpKind::ArithMaxnumf
        | OpKind::ArithMinnumf
            if is_same(ir, op) =>
        {
            return Some(a);
        }
        OpKind::ArithMaximumf if is(y, f64::NEG_INFINITY) => return Some(a),
        OpKind::ArithMinimumf if is(y, f64::INFINITY) => return Some(a),
        _ => {}
    }
    let (x, y) = (x?, y?);
    if x.is_nan() || y.is_nan() {
        return match kind {
            // LLVM 19 folds it to the operand that is no number, against what the op says: the number.
            OpKind::ArithMaxnumf => None,
            OpKind::ArithMinnumf => Some(if x.is_nan() { b } else { a }),
            // The first that is no number, made quiet.
            _ => Some(Float(if x.is_nan() { x } else { y }.to_bits() | QUIET)),
        };
    }
    // Equal zeros of different signs: the larger is +0.
    let larger = |x: f64, y: f64| if x > y || (x >= y && x.is_sign_positive()) { x } else { y };
    let smaller = |x: f64, y: f64| if x < y || (x <= y && x.is_sign_negative()) { x } else { y };
    let exact = match kind {
        OpKind::ArithAddf => x + y,
        OpKind::ArithSubf => x - y,
        OpKind::ArithMulf => x * y,
        OpKind::ArithDivf => x / y,
        OpKind::ArithRemf => x % y,
        OpKind::ArithMaximumf | OpKind::ArithMaxnumf => larger(x, y),
        OpKind::ArithMinimumf | OpKind::ArithMinnumf => smaller(x, y),
        _ => return None,
    };
    if exact.is_nan() {
        return Some(Float(NAN));
    }
    Some(Float(rounded(exact, ty)?.to_bits()))
}

fn compare_floats(predicate: i128, x: Option<f64>, y: Option<f64>) -> Option<bool> {
    match predicate {
        0 => return Some(false),
        15 => return Some(true),
        _ => {}
    }
    // One that is no number decides.
    let is_nan = |it: Option<f64>| it.is_some_and(f64::is_nan);
    if is_nan(x) || is_nan(y) {
        return Some(predicate >= 8);
    }
    let order = x?.partial_cmp(&y?)?;
    Some(match predicate {
        1 | 8 => order.is_eq(),
        2 | 9 => order.is_gt(),
        3 | 10 => order.is_ge(),
        4 | 11 => order.is_lt(),
        5 | 12 => order.is_le(),
        6 | 13 => order.is_ne(),
        7 => true,
        14 => false,
        _ => return None,
    })
}

/// A number in a float type. The operations of the narrower types may be computed in `f64` and rounded once more: it has more than
/// twice their digits. `None` for types that are not followed.
pub(crate) fn rounded(value: f64, ty: &str) -> Option<f64> {
    if value.is_nan() {
        // What it says besides is cut off.
        return of_bits(to_bits(value, ty)?, ty);
    }
    match ty {
        "f64" => Some(value),
        "f32" => Some(f64::from(value as f32)),
        "f16" => Some(to_format(value, 11, -14, 15)),
        "bf16" => Some(to_format(value, 8, -126, 127)),
        _ => None,
    }
}

/// Rounds to the nearest number with so many digits and exponents within these, ties to even.
fn to_format(value: f64, digits: i32, least: i32, most: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let bits = value.abs().to_bits();
    let exponent = ((bits >> 52) as i32 - 1023).max(least);
    let unit = 2_f64.powi(exponent - (digits - 1));
    let scaled = (value / unit).round_ties_even() * unit;
    if scaled.abs() >= 2_f64.powi(most) * 2.0 { f64::INFINITY.copysign(value) } else { scaled }
}

/// The digits and the exponent bits of a float type.
fn format_of(ty: &str) -> Option<(u32, u32)> {
    Some(match ty {
        "f64" => (52, 11),
        "f32" => (23, 8),
        "bf16" => (7, 8),
        "f16" => (10, 5),
        _ => return None,
    })
}

/// The bits of a number in a float type.
pub(super) fn to_bits(value: f64, ty: &str) -> Option<u64> {
    if value.is_nan() {
        let (digits, exponent) = format_of(ty)?;
        let (sign, rest) = (value.to_bits() >> 63, value.to_bits() << 12 >> (64 - digits));
        let most = (1_u64 << exponent) - 1;
        return Some(sign << (digits + exponent) | most << digits | rest);
    }
    format_of(ty)?;
    Some(noisy_syntax::float_bits(value, ty))
}

/// The number that bits mean in a float type.
pub(crate) fn of_bits(bits: u64, ty: &str) -> Option<f64> {
    let (digits, exponent) = format_of(ty)?;
    let (most, rest) = ((1_u64 << exponent) - 1, bits & ((1 << digits) - 1));
    if bits >> digits & most == most && rest != 0 {
        let sign = bits >> (digits + exponent) & 1;
        return Some(f64::from_bits(sign << 63 | 0x7ff << 52 | rest << (52 - digits)));
    }
    Some(match ty {
        "f64" => f64::from_bits(bits),
        "f32" => f64::from(f32::from_bits(bits as u32)),
        "bf16" => f64::from(f32::from_bits((bits as u32) << 16)),
        "f16" => {
            let (exponent, digits) = ((bits >> 10 & 0x1f) as i32, (bits & 0x3ff) as f64);
            let size = match exponent {
                0 => digits * 2_f64.powi(-24),
                0x1f => f64::INFINITY,
                it => (1024.0 + digits) * 2_f64.powi(it - 25),
            };
            if bits >> 15 & 1 == 1 { -size } else { size }
        }
        _ => return None,
    })
}

/// An integer as a float, rounded once.
pub(super) fn to_float(value: i128, ty: &str) -> Option<Constant> {
    let value = match ty {
        "f32" => f64::from(value as f32),
        "f64" => value as f64,
        ty if value.unsigned_abs() <= 1 << 53 => rounded(value as f64, ty)?,
        // More than the largest of the type by far.
        "f16" => f64::INFINITY.copysign(value as f64),
        _ => return None,
    };
    Some(Float(value.to_bits()))
}
