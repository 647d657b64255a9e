//! Float types: what they can hold, and how MLIR prints it.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of digits and exponents of floats"
)]

/// Bits of a float type, of its significand with the hidden one, and its least exponent.
pub(crate) fn float_shape(kind: &str) -> (u32, i32, i32) {
    match kind {
        "f16" => (16, 11, -14),
        "bf16" => (16, 8, -126),
        "tf32" => (19, 11, -126),
        "f32" => (32, 24, -126),
        "f80" => (80, 64, -1022),
        "f128" => (128, 113, -1022),
        "f8E5M2" | "f8E5M2FNUZ" => (8, 3, -14),
        "f8E4M3" | "f8E4M3FN" => (8, 4, -6),
        "f8E4M3FNUZ" => (8, 4, -7),
        "f8E4M3B11FNUZ" => (8, 4, -10),
        "f8E3M4" => (8, 5, -2),
        "f4E2M1FN" => (4, 2, 0),
        "f6E2M3FN" => (6, 4, 0),
        "f6E3M2FN" => (6, 3, -2),
        "f8E8M0FNU" => (8, 1, -127),
        _ => (64, 53, -1022),
    }
}

/// A number rounded to what a float type can hold.
pub(crate) fn round_to(value: f64, kind: &str) -> f64 {
    let (bits, precision, least) = float_shape(kind);
    if kind == "f32" {
        #[allow(clippy::cast_possible_truncation, reason = "this is the rounding")]
        return f64::from(value as f32);
    }
    if bits >= 64 || value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let ulp = 2f64.powi(exponent.max(least) - (precision - 1));
    let rounded = (value / ulp).round_ties_even() * ulp;
    let too_large = matches!(kind, "f16") && rounded.abs() >= 65520.0
        || kind == "bf16" && rounded.abs() >= 2f64.powi(128);
    if too_large { f64::INFINITY.copysign(value) } else { rounded }
}

/// The value of bits in a float type.
pub(crate) fn from_bits(bits: u128, kind: &str) -> f64 {
    let (exponent_bits, fraction_bits) = match kind {
        "f64" => return f64::from_bits(bits as u64),
        "f32" => return f64::from(f32::from_bits(bits as u32)),
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "f8E5M2" => (5, 2),
        "f8E4M3" | "f8E4M3FN" => (4, 3),
        _ => return f64::NAN,
    };
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f64 / 2f64.powi(fraction_bits);
    let exponent = (bits >> fraction_bits) as i32 & ((1 << exponent_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = if exponent == 0 {
        fraction * 2f64.powi(1 - bias)
    } else if exponent == (1 << exponent_bits) - 1 && kind != "f8E4M3FN" {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else {
        (1.0 + fraction) * 2f64.powi(exponent - bias)
    };
    if bits >> (exponent_bits + fraction_bits) & 1 == 1 { -magnitude } else { magnitude }
}

/// The bits of a number in `f64`, `f32`, `f16` or `bf16`, which can hold it; it is no NaN.
pub fn float_bits(value: f64, kind: &str) -> u64 {
    match kind {
        "f32" => return (value as f32).to_bits().into(),
        "f16" | "bf16" => {}
        _ => return value.to_bits(),
    }
    let (bits, precision, least) = float_shape(kind);
    let sign = (value.to_bits() >> 63) << (bits - 1);
    if value.is_infinite() {
        let fraction = (1 << (precision - 1)) - 1;
        return sign | ((1 << (bits - 1)) - 1) & !fraction;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    // The hidden bit of what is not near zero makes the exponent one more.
    let units = (value.abs() / 2f64.powi(exponent - (precision - 1))) as u64;
    let biased = (exponent - least) as u64;
    sign | ((biased << (precision - 1)) + units)
}

/// A float as MLIR prints it (`printFloatValue` of `AsmPrinter.cpp`): six digits in scientific form if they are exact, else as many as are
/// needed, else its bits.
pub fn float_text(value: f64, kind: &str) -> String {
    if !value.is_finite() {
        return bits_text(value, kind);
    }
    let (digits, exponent) = digits(value, 6);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let short = format!("{sign}{}.{:0<6}e{exponent:+03}", &digits[..1], &digits[1..]);
    if is_exactly(&short, value, kind) { short } else { long_float(value, kind) }
}

/// Whether the text is read as the value.
fn is_exactly(text: &str, value: f64, kind: &str) -> bool {
    if !matches!(kind, "f80" | "f128") {
        let read = text.parse::<f64>();
        return read.is_ok_and(|it| round_to(it, kind).to_bits() == value.to_bits());
    }
    // They hold more than an f64: what is not exact in it is another value.
    let (written, exact) = (text.split_once('e'), format!("{value:.1100e}"));
    let (Some((digits, exponent)), Some((all, its))) = (written, exact.split_once('e')) else {
        return false;
    };
    let trimmed = |it: &str| it.trim_end_matches('0').to_owned();
    exponent.parse::<i32>().ok() == its.parse::<i32>().ok() && trimmed(digits) == trimmed(all)
}

/// The first digits of a finite value, at most `precision`, without zeros at the end, and the exponent of the first.
///
/// `APFloat::toString` makes the value an integer, N times a power of ten; cuts from N the powers of ten beyond
/// the bits that `precision` digits need; and rounds what is left half up. So six digits are sometimes the next smaller ones,
/// not the nearest.
fn digits(value: f64, precision: u32) -> (String, i32) {
    let magnitude = value.abs();
    if magnitude.fract() == 0.0 && magnitude < 1e6 {
        let all = format!("{magnitude}");
        let digits = all.trim_end_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        return (digits.to_owned(), all.len() as i32 - 1);
    }
    let (mut all, mut exponent) = decimal(magnitude, precision as usize + 11);

    // magnitude = odd * 2^scale, and so N = odd * 5^-scale or, if there is nothing after the point, the value.
    let bits = magnitude.to_bits();
    let biased = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let significand = if biased == 0 { fraction } else { fraction | 1 << 52 };
    let zeros = significand.trailing_zeros() as i32;
    let scale = biased.max(1) - 1075 + zeros;
    let odd = (significand >> zeros) as f64;
    let n_bits =
        odd.log2() + if scale < 0 { -f64::from(scale) * 5f64.log2() } else { scale.into() };
    #[allow(clippy::cast_possible_truncation, reason = "at most a few thousand")]
    let n_bits = n_bits.floor() as i32 + 1;
    let cut = (n_bits - (precision as i32 * 196 + 58) / 59).max(0) * 59 / 196;
    let n_digits = exponent + 1 - scale.min(0);
    let n_kept = (n_digits - cut).max(1) as usize;
    if all[n_kept.min(all.len())..].bytes().all(|it| it == b'0') {
        // Maybe rounded up to these zeros. No cut is at a digit after so many.
        (all, exponent) = decimal(magnitude, 50);
    }
    all.truncate(n_kept);

    let precision = precision as usize;
    if all.len() > precision {
        let rounds_up = all.as_bytes()[precision] >= b'5';
        all.truncate(precision);
        if rounds_up {
            let kept = all.trim_end_matches('9').len();
            all.truncate(kept);
            match all.pop() {
                Some(last) => all.push(char::from(last as u8 + 1)),
                None => {
                    all.push('1');
                    exponent += 1;
                }
            }
        }
    }
    let len = all.trim_end_matches('0').len();
    all.truncate(len.max(1));
    (all, exponent)
}

/// The digits of a value, rounded to one and so many more, and the exponent of the first.
fn decimal(magnitude: f64, n: usize) -> (String, i32) {
    let text = format!("{magnitude:.n$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// The bits of a value in hexadecimal.
fn bits_text(value: f64, kind: &str) -> String {
    let is_negative = value.is_sign_negative();
    match kind {
        "f32" => {
            #[allow(clippy::cast_possible_truncation, reason = "the value is an f32")]
            let bits = (value as f32).to_bits();
            format!("0x{bits:08X}")
        }
        "f16" | "bf16" => {
            let (exponent, nan) = if kind == "f16" { (0x7c00, 0x0200) } else { (0x7f80, 0x0040) };
            let sign = if is_negative { 0x8000 } else { 0 };
            format!("0x{:04X}", sign | exponent | if value.is_nan() { nan } else { 0 })
        }
        "f80" | "f128" => {
            // A normal f64 with a wider exponent; an f80 has the first bit of the significand, too.
            let bits = u128::from(value.to_bits());
            let exponent = match bits >> 52 & 0x7ff {
                0x7ff => 0x7fff,
                it => it + 16383 - 1023,
            };
            let exponent = exponent | if is_negative { 0x8000 } else { 0 };
            let fraction = bits & ((1 << 52) - 1);
            if kind == "f80" {
                format!("0x{:020X}", exponent << 64 | 1 << 63 | fraction << 11)
            } else {
                format!("0x{:032X}", exponent << 112 | fraction << 60)
            }
        }
        _ => format!("0x{:016X}", value.to_bits()),
    }
}

/// All digits that tell the value from its neighbors; without an exponent where that is not much longer; the bits of an integer.
fn long_float(value: f64, kind: &str) -> String {
    let precision = match kind {
        "f16" | "tf32" => 5,
        "bf16" => 4,
        "f32" => 9,
        "f80" => 21,
        "f128" => 36,
        _ => 17,
    };
    let (digits, exponent) = digits(value, precision);
    let n = digits.len() as i32;
    let last = exponent - (n - 1);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let is_scientific = if last >= 0 {
        last > 3 || n + last > precision as i32
    } else {
        exponent < 0 && -exponent > 3
    };
    if is_scientific {
        let fraction = if n == 1 { "0" } else { &digits[1..] };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{sign}{}.{fraction}E{exponent_sign}{}",
            &digits[..1],
            exponent.unsigned_abs()
        );
    }
    if last >= 0 {
        // Without a point it would be an integer.
        return bits_text(value, kind);
    }
    if exponent >= 0 {
        let (whole, fraction) = digits.split_at(exponent as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize))
}

#[cfg(test)]
mod tests {
    use super::float_text;

    fn check(value: f64, kind: &str, text: &str) {
        assert_eq!(float_text(value, kind), text);
    }

    #[test]
    fn floats_are_short_where_six_digits_are_exact() {
        check(1.0, "f32", "1.000000e+00");
        check(0.5, "f64", "5.000000e-01");
        check(-120.0, "f64", "-1.200000e+02");
        check(0.3, "f64", "3.000000e-01");
        check(0.7, "f64", "0.69999999999999996");
        check(-1.5e10, "f64", "-1.500000e+10");
        check(f64::from(0.1_f32), "f32", "1.000000e-01");
        check(f64::from(std::f32::consts::PI), "f32", "3.14159274");
        check(1.0 / 3.0, "f64", "0.33333333333333331");
        check(f64::from(0.7_f32), "f32", "0.699999988");
        check(1e23, "f64", "9.9999999999999991E+22");
        check(f64::from(f32::from_bits(71)), "f32", "9.949210e-44");
        check(16_777_216.0, "f32", "0x4B800000");
        check(-1_234_567_000.0, "f64", "0xC1D2657FD6000000");
        check(4_294_967_296.5, "f64", "4294967296.5");
        check(16_777_216.0, "f80", "0x40178000000000000000");
        check(1e30, "f128", "0x406293E5939A08CEA000000000000000");
        check(1.5, "f80", "1.500000e+00");
        check(1.1, "f80", "1.10000000000000008882");
        check(1.1, "f128", "1.10000000000000008881784197001252323");
        check(f64::INFINITY, "f32", "0x7F800000");
    }
}
