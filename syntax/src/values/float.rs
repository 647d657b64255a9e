//! The values of float types, and their text as MLIR prints it.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of digits and exponents of floats"
)]

/// The encoding of a float type: a sign, an exponent, and a significand without its leading bit.
/// The leading bit is 0 for the least exponent (subnormal numbers) and otherwise 1.
#[derive(Clone, Copy)]
struct FloatFormat {
    /// Total number of bits.
    width: u32,
    /// Number of bits of the significand, including the leading bit.
    precision: u32,
    /// The least exponent of a normal number. The bias is `1 - min_exponent`, except for `FNU`.
    min_exponent: i32,
    special_values: SpecialValues,
}

/// The special values: infinities and NaN. They also determine the result of an overflow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecialValues {
    /// As in IEEE 754: the greatest exponent encodes infinities and NaN.
    Infinity,
    /// `FN`: the encoding with all ones is NaN. An overflow gives NaN.
    AllOnes,
    /// `FNUZ`: the encoding of -0 is NaN, so 0 has no sign. An overflow gives NaN.
    MinusZero,
    /// No special values. An overflow gives the largest number.
    Nothing,
    /// `FNU`: like `FN`, but only an exponent, without sign, significand and 0.
    Exponent,
}

impl FloatFormat {
    /// The format of a type whose numbers are exact in f64, except f64 itself: `fltSemantics` of
    /// `APFloat.cpp` (LLVM 19; those of 4 and 6 bits and `f8E8M0FNU`: LLVM 20).
    fn of(kind: &str) -> Option<Self> {
        use SpecialValues::{AllOnes, Exponent, Infinity, MinusZero, Nothing};
        let (width, precision, least, beyond) = match kind {
            "f16" => (16, 11, -14, Infinity),
            "bf16" => (16, 8, -126, Infinity),
            "tf32" => (19, 11, -126, Infinity),
            "f32" => (32, 24, -126, Infinity),
            "f8E5M2" => (8, 3, -14, Infinity),
            "f8E4M3" => (8, 4, -6, Infinity),
            "f8E3M4" => (8, 5, -2, Infinity),
            "f8E4M3FN" => (8, 4, -6, AllOnes),
            "f8E5M2FNUZ" => (8, 3, -15, MinusZero),
            "f8E4M3FNUZ" => (8, 4, -7, MinusZero),
            "f8E4M3B11FNUZ" => (8, 4, -10, MinusZero),
            "f4E2M1FN" => (4, 2, 0, Nothing),
            "f6E2M3FN" => (6, 4, 0, Nothing),
            "f6E3M2FN" => (6, 3, -2, Nothing),
            "f8E8M0FNU" => (8, 1, -127, Exponent),
            _ => return None,
        };
        Some(Self { width, precision, min_exponent: least, special_values: beyond })
    }

    /// Number of bits that are stored for the significand.
    fn n_fraction_bits(self) -> u32 {
        self.precision - 1
    }

    /// The sign bit, or the bit after the highest one if there is no sign. The bits below it encode
    /// the magnitude.
    fn sign_bit(self) -> u64 {
        if self.special_values == SpecialValues::Exponent {
            1 << self.width
        } else {
            1 << (self.width - 1)
        }
    }

    /// The encoded magnitude of the largest number.
    fn max_magnitude(self) -> u64 {
        match self.special_values {
            SpecialValues::Infinity => self.sign_bit() - (1 << self.n_fraction_bits()) - 1,
            SpecialValues::AllOnes | SpecialValues::Exponent => self.sign_bit() - 2,
            SpecialValues::MinusZero | SpecialValues::Nothing => self.sign_bit() - 1,
        }
    }

    /// The bits of the nearest number; ties go to the even one.
    fn encode(self, value: f64) -> u64 {
        let is_exponent = self.special_values == SpecialValues::Exponent;
        let sign = if value.is_sign_negative() && !is_exponent { self.sign_bit() } else { 0 };
        let fraction = value.to_bits() & ((1 << 52) - 1);
        let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(self.min_exponent);
        let n_fraction = self.n_fraction_bits();
        let units = (value.abs() / 2f64.powi(exponent - n_fraction as i32)).round_ties_even();
        // Adding the leading bit of the significand increments the exponent, as does rounding up to
        // 2.
        let size =
            (((exponent - self.min_exponent) as u64) << n_fraction).saturating_add(units as u64);
        // A format with only an exponent does not encode the leading bit.
        let size = if is_exponent { size.saturating_sub(1) } else { size };
        let is_beyond = size > self.max_magnitude();
        match self.special_values {
            SpecialValues::Infinity if value.is_nan() => {
                let said = fraction >> (52 - n_fraction);
                let quiet = 1 << (n_fraction - 1);
                sign | (self.max_magnitude() + 1) | if said == 0 { quiet } else { said }
            }
            SpecialValues::Infinity | SpecialValues::AllOnes | SpecialValues::Exponent
                if is_beyond =>
            {
                sign | (self.max_magnitude() + 1)
            }
            SpecialValues::MinusZero if is_beyond => self.sign_bit(),
            SpecialValues::MinusZero if size == 0 => 0,
            SpecialValues::Nothing if value.is_nan() => 0,
            SpecialValues::Nothing if is_beyond => sign | self.max_magnitude(),
            _ => sign | size,
        }
    }

    /// The value that is encoded by bits.
    fn decode(self, bits: u64) -> f64 {
        let n_fraction = self.n_fraction_bits();
        let (size, is_negative) = (bits & (self.sign_bit() - 1), bits & self.sign_bit() != 0);
        let fraction = size & ((1 << n_fraction) - 1);
        let exponent = (size >> n_fraction) as i32;
        let magnitude =
            if self.special_values == SpecialValues::MinusZero && bits == self.sign_bit() {
                return f64::NAN;
            } else if self.special_values == SpecialValues::Exponent {
                if size > self.max_magnitude() {
                    f64::NAN
                } else {
                    2f64.powi(exponent + self.min_exponent)
                }
            } else if size > self.max_magnitude() {
                f64::from_bits(0x7ff << 52 | fraction << (52 - n_fraction))
            } else {
                let first = if exponent == 0 { 0 } else { 1 << n_fraction };
                let unit = exponent.max(1) - 1 + self.min_exponent - n_fraction as i32;
                (first | fraction) as f64 * 2f64.powi(unit)
            };
        if is_negative { -magnitude } else { magnitude }
    }
}

/// The width of a float type, and the precision of its significand including the leading bit, both
/// in bits.
pub(crate) fn float_width_and_precision(kind: &str) -> (u32, u32) {
    match (FloatFormat::of(kind), kind) {
        (Some(it), _) => (it.width, it.precision),
        (None, "f80") => (80, 64),
        (None, "f128") => (128, 113),
        (None, _) => (64, 53),
    }
}

/// Rounds a number to a value of a float type.
pub fn rounded_float(value: f64, kind: &str) -> f64 {
    match FloatFormat::of(kind) {
        Some(it) => it.decode(it.encode(value)),
        None => value,
    }
}

/// The value that is encoded by bits in a float type. For types wider than f64, the nearest f64.
pub fn float_of_bits(bits: u128, kind: &str) -> f64 {
    if let Some(it) = FloatFormat::of(kind) {
        return it.decode(bits as u64);
    }
    let n_fraction = match kind {
        // `f80` stores the leading bit of the significand.
        "f80" => 63,
        "f128" => 112,
        _ => return f64::from_bits(bits as u64),
    };
    let width = float_width_and_precision(kind).0;
    let exponent = (bits >> (width - 16)) as i32 & 0x7fff;
    let fraction = bits & ((1 << n_fraction) - 1);
    let magnitude = match exponent {
        0 => 0.0,
        0x7fff => f64::from_bits(0x7ff << 52 | (fraction >> (n_fraction - 52)) as u64),
        _ => (1.0 + fraction as f64 / 2f64.powi(n_fraction)) * 2f64.powi(exponent - 16383),
    };
    if bits >> (width - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// Rounds a number to a float type of up to 64 bits, and returns its encoding.
pub fn float_bits(value: f64, kind: &str) -> u64 {
    FloatFormat::of(kind).map_or(value.to_bits(), |it| it.encode(value))
}

/// Returns the text of a float as MLIR prints it (`printFloatValue` of `AsmPrinter.cpp`): six
/// digits in scientific notation if they are exact, else as many digits as necessary, else the bits
/// in hexadecimal.
pub fn float_text(value: f64, kind: &str) -> String {
    if !value.is_finite() {
        return bits_text(value, kind);
    }
    let (digits, exponent) = printed_digits(value, 6);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let short = format!("{sign}{}.{:0<6}e{exponent:+03}", &digits[..1], &digits[1..]);
    if is_exact_text(&short, value, kind) { short } else { long_float_text(value, kind) }
}

/// Returns true if the text parses to exactly this value.
fn is_exact_text(text: &str, value: f64, kind: &str) -> bool {
    if !matches!(kind, "f80" | "f128") {
        let read = text.parse::<f64>();
        return read.is_ok_and(|it| rounded_float(it, kind).to_bits() == value.to_bits());
    }
    // These types are more precise than f64, so the text must be exact in decimal.
    let (written, exact) = (text.split_once('e'), format!("{value:.1100e}"));
    let (Some((digits, exponent)), Some((all, its))) = (written, exact.split_once('e')) else {
        return false;
    };
    let trimmed = |it: &str| it.trim_end_matches('0').to_owned();
    exponent.parse::<i32>().ok() == its.parse::<i32>().ok() && trimmed(digits) == trimmed(all)
}

/// Returns the leading digits of a finite value, at most `precision`, without trailing zeros, and
/// the exponent of the first digit.
///
/// `APFloat::toString` represents the value as N times a power of ten with an integer N. It removes
/// from N the powers of ten that exceed the bits that `precision` digits need, and rounds the rest
/// half up. Therefore six digits are sometimes the next smaller ones instead of the nearest.
fn printed_digits(value: f64, precision: u32) -> (String, i32) {
    let magnitude = value.abs();
    if magnitude.fract() == 0.0 && magnitude < 1e6 {
        let all = format!("{magnitude}");
        let digits = all.trim_end_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        return (digits.to_owned(), all.len() as i32 - 1);
    }
    let (mut all, mut exponent) = decimal_digits(magnitude, precision as usize + 11);

    // magnitude = odd * 2^scale. Therefore N = odd * 5^-scale, or the value if it is an integer.
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
        // The digits may have been rounded up to these zeros. More digits than this are never kept.
        (all, exponent) = decimal_digits(magnitude, 50);
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

/// Returns the digits of a value, rounded to `1 + n` digits, and the exponent of the first digit.
fn decimal_digits(magnitude: f64, n: usize) -> (String, i32) {
    let text = format!("{magnitude:.n$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// The bits of a value in hexadecimal.
fn bits_text(value: f64, kind: &str) -> String {
    if !matches!(kind, "f80" | "f128") {
        let n_digits = float_width_and_precision(kind).0.div_ceil(4) as usize;
        return format!("0x{:0n_digits$X}", float_bits(value, kind));
    }
    // A normal f64 with a wider exponent. An f80 also stores the leading bit of the significand.
    let bits = u128::from(value.to_bits());
    let exponent = match bits >> 52 & 0x7ff {
        0x7ff => 0x7fff,
        it => it + 16383 - 1023,
    };
    let exponent = exponent | if value.is_sign_negative() { 0x8000 } else { 0 };
    let fraction = bits & ((1 << 52) - 1);
    if kind == "f80" {
        format!("0x{:020X}", exponent << 64 | 1 << 63 | fraction << 11)
    } else {
        format!("0x{:032X}", exponent << 112 | fraction << 60)
    }
}

/// Returns enough digits to distinguish the value from its neighbors. The text has no exponent if
/// that is not much longer. For an integer, returns the bits in hexadecimal.
fn long_float_text(value: f64, kind: &str) -> String {
    let precision = 2 + float_width_and_precision(kind).1 * 59 / 196;
    let (digits, exponent) = printed_digits(value, precision);
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
        // Without a decimal point the text would be an integer literal.
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
    use super::{float_bits, float_of_bits, float_text, rounded_float};

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
        check(f64::INFINITY, "tf32", "0x3FC00");
        check(f64::NEG_INFINITY, "f8E5M2", "0xFC");
        check(57344.0, "f8E5M2", "5.734400e+04");
    }

    /// Numbers at the edges of a type: 0, -0, 1, -1.5; the largest number, its negative, and the
    /// largest number plus a quarter, a half (also negated) and one unit in the last place; numbers
    /// that are much too large; the least positive number, its negative, and multiples of it (0.5,
    /// -0.5, 0.51, 1.5, 2.5).
    fn edge_values([most, place, least]: [f64; 3]) -> [f64; 19] {
        let half = most + 0.5 * place;
        let large = [most, -most, most + 0.25 * place, half, -half, most + place, 1e300, -1e300];
        let small =
            [least, -least, 0.5 * least, -0.5 * least, 0.51 * least, 1.5 * least, 2.5 * least];
        let all: Vec<f64> = [0.0, -0.0, 1.0, -1.5].into_iter().chain(large).chain(small).collect();
        all.try_into().expect("so many")
    }

    /// The expected bits are those to which `mlir-opt` 19.1.7 folds `arith.bitcast` of the
    /// constant; for `tf32`, `arith.extf`.
    #[test]
    #[rustfmt::skip]
    fn rounds_to_the_values_of_a_type() {
        let types: [(&str, [f64; 3], [u64; 19]); 9] = [
            ("f16", [65504.0, 32.0, 2f64.powi(-24)], [0x0, 0x8000, 0x3C00, 0xBE00, 0x7BFF, 0xFBFF, 0x7BFF, 0x7C00, 0xFC00, 0x7C00, 0x7C00, 0xFC00, 0x1, 0x8001, 0x0, 0x8000, 0x1, 0x2, 0x2]),
            ("bf16", [255.0 * 2f64.powi(120), 2f64.powi(120), 2f64.powi(-133)], [0x0, 0x8000, 0x3F80, 0xBFC0, 0x7F7F, 0xFF7F, 0x7F7F, 0x7F80, 0xFF80, 0x7F80, 0x7F80, 0xFF80, 0x1, 0x8001, 0x0, 0x8000, 0x1, 0x2, 0x2]),
            ("tf32", [2047.0 * 2f64.powi(117), 2f64.powi(117), 2f64.powi(-136)], [0x0, 0x40000, 0x1FC00, 0x5FE00, 0x3FBFF, 0x7FBFF, 0x3FBFF, 0x3FC00, 0x7FC00, 0x3FC00, 0x3FC00, 0x7FC00, 0x1, 0x40001, 0x0, 0x40000, 0x1, 0x2, 0x2]),
            ("f8E5M2", [57344.0, 8192.0, 2f64.powi(-16)], [0x0, 0x80, 0x3C, 0xBE, 0x7B, 0xFB, 0x7B, 0x7C, 0xFC, 0x7C, 0x7C, 0xFC, 0x1, 0x81, 0x0, 0x80, 0x1, 0x2, 0x2]),
            ("f8E4M3", [240.0, 16.0, 2f64.powi(-9)], [0x0, 0x80, 0x38, 0xBC, 0x77, 0xF7, 0x77, 0x78, 0xF8, 0x78, 0x78, 0xF8, 0x1, 0x81, 0x0, 0x80, 0x1, 0x2, 0x2]),
            ("f8E4M3FN", [448.0, 32.0, 2f64.powi(-9)], [0x0, 0x80, 0x38, 0xBC, 0x7E, 0xFE, 0x7E, 0x7E, 0xFE, 0x7F, 0x7F, 0xFF, 0x1, 0x81, 0x0, 0x80, 0x1, 0x2, 0x2]),
            ("f8E5M2FNUZ", [57344.0, 8192.0, 2f64.powi(-17)], [0x0, 0x0, 0x40, 0xC2, 0x7F, 0xFF, 0x7F, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1, 0x81, 0x0, 0x0, 0x1, 0x2, 0x2]),
            ("f8E4M3FNUZ", [240.0, 16.0, 2f64.powi(-10)], [0x0, 0x0, 0x40, 0xC4, 0x7F, 0xFF, 0x7F, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1, 0x81, 0x0, 0x0, 0x1, 0x2, 0x2]),
            ("f8E4M3B11FNUZ", [30.0, 2.0, 2f64.powi(-13)], [0x0, 0x0, 0x58, 0xDC, 0x7F, 0xFF, 0x7F, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1, 0x81, 0x0, 0x0, 0x1, 0x2, 0x2]),
        ];
        for (kind, edges, bits) in types {
            for (value, bits) in edge_values(edges).into_iter().zip(bits) {
                assert_eq!(float_bits(value, kind), bits, "{value:e} : {kind}");
                let rounded = rounded_float(value, kind);
                assert_eq!(rounded.to_bits(), float_of_bits(bits.into(), kind).to_bits(), "{value:e} : {kind}");
                assert_eq!(float_bits(rounded, kind), bits, "{value:e} : {kind}");
            }
        }
    }

    /// The expected bits are those of `arith.extf` to `f64` in `mlir-opt` 19.1.7; the texts are its
    /// output.
    #[test]
    fn keeps_the_bits_of_nan() {
        let types = [
            ("f32", 0x7FE0_0000, 0x7FFC << 48),
            ("f16", 0x7E25, 0x7FF8_9400 << 32),
            ("bf16", 0xFFE5, 0xFFFC_A000 << 32),
            ("tf32", 0x3FE31, 0x7FF8_C400 << 32),
            ("f8E5M2", 0x7F, 0x7FFC << 48),
            ("f8E4M3", 0x7D, 0x7FFA << 48),
            ("f8E4M3FN", 0xFF, 0xFFFE << 48),
            ("f8E5M2FNUZ", 0x80, 0x7FF8 << 48),
            ("f8E4M3FNUZ", 0x80, 0x7FF8 << 48),
            ("f8E4M3B11FNUZ", 0x80, 0x7FF8_u64 << 48),
        ];
        for (kind, bits, wide) in types {
            let value = float_of_bits(bits, kind);
            assert_eq!(value.to_bits(), wide, "0x{bits:X} : {kind}");
            check(value, kind, &format!("0x{bits:X}"));
        }
    }

    /// Includes signaling NaNs, which `arith.extf` does not change.
    #[test]
    fn round_trips_all_eight_bit_patterns() {
        for kind in
            ["f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E8M0FNU"]
        {
            for bits in 0..=0xff {
                assert_eq!(float_bits(float_of_bits(bits, kind), kind), bits as u64, "{kind}");
            }
        }
    }

    #[test]
    fn round_trips_wide_floats() {
        for (bits, kind) in [
            (0x4017_8000_0000_0000_0000, "f80"),
            (0xFFFF_8000_0000_0000_0000, "f80"),
            (0x4062_93E5_939A_08CE_A000_0000_0000_0000, "f128"),
        ] {
            check(float_of_bits(bits, kind), kind, &format!("0x{bits:X}"));
        }
    }
}
