//! Non-negative real numbers, represented by their logarithm to base 2.
//!
//! The variance of a deep product has thousands of bits, more than an `f64` can hold; its logarithm
//! has four digits. A product is an exact sum of logarithms, and a sum is `max + log2(1 + 2^(min -
//! max))`. *Error.* A few units in the last place of the logarithm per operation, far below the
//! hundredths of a bit that are shown.

use std::hash::{Hash, Hasher};
use std::iter::Sum;
use std::ops::{Add, Div, Mul};

/// A non-negative real number, represented by its logarithm to base 2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Log2(f64);

impl Log2 {
    /// 0, with the logarithm minus infinity.
    pub(crate) const ZERO: Log2 = Log2(f64::NEG_INFINITY);
    /// 1.
    pub(crate) const ONE: Log2 = Log2(0.0);

    /// Converts a number. Negative numbers and NaN become 0.
    pub(crate) fn of(value: f64) -> Self {
        if value > 0.0 { Log2(value.log2()) } else { Log2::ZERO }
    }

    /// Returns the logarithm to base 2; minus infinity for 0.
    pub(crate) fn bits(self) -> f64 {
        self.0
    }

    /// Returns the square root.
    #[must_use]
    pub(crate) fn sqrt(self) -> Self {
        Log2(self.0 / 2.0)
    }

    /// Raises the number to the power of `exponent`.
    #[must_use]
    pub(crate) fn pow(self, exponent: f64) -> Self {
        if exponent == 0.0 { Log2::ONE } else { Log2(self.0 * exponent) }
    }

    /// Returns true for 0.
    pub(crate) fn is_zero(self) -> bool {
        self == Log2::ZERO
    }
}

// No operation returns NaN.
impl Eq for Log2 {}

impl Hash for Log2 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Add for Log2 {
    type Output = Log2;

    fn add(self, other: Log2) -> Log2 {
        let (small, large) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        if small == f64::NEG_INFINITY || large == f64::INFINITY {
            return Log2(large);
        }
        Log2(large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2)
    }
}

// The product of two numbers is the sum of their logarithms.
#[allow(clippy::suspicious_arithmetic_impl, reason = "logarithms")]
impl Mul for Log2 {
    type Output = Log2;

    fn mul(self, other: Log2) -> Log2 {
        if self.is_zero() || other.is_zero() { Log2::ZERO } else { Log2(self.0 + other.0) }
    }
}

#[allow(clippy::suspicious_arithmetic_impl, reason = "logarithms")]
impl Div for Log2 {
    type Output = Log2;

    /// A quotient by 0 is infinite, except that 0 / 0 is 0.
    fn div(self, other: Log2) -> Log2 {
        if self.is_zero() { Log2::ZERO } else { Log2(self.0 - other.0) }
    }
}

impl Mul<f64> for Log2 {
    type Output = Log2;

    fn mul(self, other: f64) -> Log2 {
        self * Log2::of(other)
    }
}

impl Sum for Log2 {
    fn sum<I: Iterator<Item = Log2>>(iter: I) -> Log2 {
        iter.fold(Log2::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Log2, b: f64) {
        assert!((a.bits() - b.log2()).abs() < 1e-12, "{} is not log2 {b}", a.bits());
    }

    #[test]
    fn calculates_like_f64() {
        for a in [1e-9, 0.3, 1.0, 7.0, 123_456.0] {
            for b in [1e-7, 0.5, 1.0, 3.0, 1e12] {
                near(Log2::of(a) + Log2::of(b), a + b);
                near(Log2::of(a) * Log2::of(b), a * b);
                near(Log2::of(a) / Log2::of(b), a / b);
            }
            near(Log2::of(a).sqrt(), a.sqrt());
            near(Log2::of(a).pow(3.0), a.powi(3));
        }
    }

    #[test]
    fn zero_is_neutral_to_sums_and_absorbs_products() {
        let a = Log2::of(5.0);
        assert_eq!((Log2::ZERO + a, a * Log2::ZERO), (a, Log2::ZERO));
        assert!((Log2::ZERO + Log2::ZERO).is_zero());
        assert_eq!(Log2::of(0.0).pow(0.0), Log2::ONE);
    }

    #[test]
    fn deep_products_do_not_overflow() {
        let deep = (0..4000).fold(Log2::of(3.0), |it, _| it * Log2::of(1e30));
        assert!(deep.bits().is_finite() && deep.bits() > 300_000.0);
    }
}
