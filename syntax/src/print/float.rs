//! Floats as MLIR prints them.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of digits and exponents of floats"
)]

/// A float as MLIR prints it: six digits in scientific form if they are exact, else as many as are needed.
pub(crate) fn float_text(value: f64, kind: &str) -> String {
    if value.is_finite() {
        let rounded = format!("{value:.5e}");
        let same = |text: &str| {
            text.parse::<f64>()
                .is_ok_and(|it| crate::grammar::round_to(it, kind).to_bits() == value.to_bits())
        };
        let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if same(&rounded) {
            let sign = if exponent < 0 { '-' } else { '+' };
            return format!("{digits}0e{sign}{:02}", exponent.unsigned_abs());
        }
        return long_float(value, kind);
    }
    match kind {
        "f32" => {
            #[allow(clippy::cast_possible_truncation, reason = "the value is an f32")]
            let bits = (value as f32).to_bits();
            format!("0x{bits:08X}")
        }
        "f16" | "bf16" => {
            let (exponent, nan) = if kind == "f16" { (0x7c00, 0x0200) } else { (0x7f80, 0x0040) };
            let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
            format!("0x{:04X}", sign | exponent | if value.is_nan() { nan } else { 0 })
        }
        _ => format!("0x{:016X}", value.to_bits()),
    }
}

/// All digits that tell the value from its neighbors; without an exponent where that is not much longer.
fn long_float(value: f64, kind: &str) -> String {
    let precision = match kind {
        "f16" | "tf32" => 5,
        "bf16" => 4,
        "f32" => 9,
        _ => 17,
    };
    let text = format!("{:.*e}", precision - 1, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|it| *it != '.').collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
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
        return format!("{sign}{digits}{}.0", "0".repeat(last as usize));
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
        check(-1.5e10, "f64", "-1.500000e+10");
        check(f64::from(0.1_f32), "f32", "1.000000e-01");
        check(f64::from(std::f32::consts::PI), "f32", "3.14159274");
        check(1.0 / 3.0, "f64", "0.33333333333333331");
        check(f64::INFINITY, "f32", "0x7F800000");
    }
}
