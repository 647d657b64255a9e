//! Constants of float types: arithmetic in each format, and conversions from and to bits.

use noisy_syntax::{Op, OpKind, float_bits, float_of_bits, rounded_float};

use super::compare::{has_equal_operands, predicate};
use super::constant::Constant;
use noisy_dataflow::view::ProgramView;

use Constant::Float;

/// The default NaN, and the bit that marks a quiet NaN, in `f64`.
const NAN: u64 = 0x7ff8 << 48;
pub(super) const QUIET: u64 = 1 << 51;

/// Folds an op with two float operands.
pub(super) fn fold_floats(
    ir: &impl ProgramView,
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
        return compare_floats(predicate(ir, op)?, x, y).map(Constant::from_bool);
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
            if has_equal_operands(ir, op) =>
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
            // LLVM 19 folds `maxnumf` to the NaN operand, but its definition gives the other
            // operand.
            OpKind::ArithMaxnumf => None,
            OpKind::ArithMinnumf => Some(if x.is_nan() { b } else { a }),
            // The first NaN, made quiet.
            _ => Some(Float(if x.is_nan() { x } else { y }.to_bits() | QUIET)),
        };
    }
    // Zeros of different signs compare equal; +0 is treated as the larger.
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
    // A NaN operand decides: the predicates from 8 on are unordered.
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

/// Rounds a number to a float type. Operations of narrower types may be computed in `f64` and then
/// rounded, because `f64` has more than twice their digits. `None` for unsupported types.
pub(crate) fn rounded(value: f64, ty: &str) -> Option<f64> {
    is_supported(ty).then(|| rounded_float(value, ty))
}

/// Returns true if the analysis computes in a float type.
fn is_supported(ty: &str) -> bool {
    matches!(ty, "f64" | "f32" | "bf16" | "f16")
}

/// Returns the bits of a number in the format of a float type.
pub(super) fn bits_of(value: f64, ty: &str) -> Option<u64> {
    is_supported(ty).then(|| float_bits(value, ty))
}

/// Returns the number with the given bits in the format of a float type.
pub(crate) fn float_from_bits(bits: u64, ty: &str) -> Option<f64> {
    is_supported(ty).then(|| float_of_bits(bits.into(), ty))
}

/// Converts an integer to a float, with a single rounding.
pub(super) fn from_int(value: i128, ty: &str) -> Option<Constant> {
    let value = match ty {
        "f32" => f64::from(value as f32),
        "f64" => value as f64,
        ty if value.unsigned_abs() <= 1 << 53 => rounded(value as f64, ty)?,
        // Far above the largest number of the type.
        "f16" => f64::INFINITY.copysign(value as f64),
        _ => return None,
    };
    Some(Float(value.to_bits()))
}
