//! The number types of systems: machine words with overflow checks, and numbers of any size.
//!
//! *Law.* No operation gives a wrong number: on overflow the result is `None`. A query first uses
//! machine words. If one of its operations overflows, the whole query is repeated with numbers of
//! any size.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};

/// Returns the greatest common divisor, which is not negative; 1 if it is 2^127.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// An integer type whose operations may overflow.
pub(crate) trait Number: Clone + Ord + std::fmt::Debug {
    /// The cost of an operation, in operations on machine words.
    const WORK: usize;
    /// Converts a number.
    fn of(value: i128) -> Option<Self>;
    /// Returns the value if the value and its negation fit into 128 bits.
    fn get(&self) -> Option<i128>;
    /// Returns -1, 0 or 1.
    fn sign(&self) -> i8;
    /// Returns `-self`.
    fn negated(&self) -> Self;
    /// Returns `self + other`.
    fn plus(&self, other: &Self) -> Option<Self>;
    /// Returns `a * x + b * y`.
    fn combined(a: &Self, x: &Self, b: &Self, y: &Self) -> Option<Self>;
    /// Returns the greatest common divisor, not negative.
    fn gcd(&self, other: &Self) -> Self;
    /// Returns the quotient rounded down; `by` is positive.
    fn floor_div(&self, by: &Self) -> Self;
    /// Returns the absolute value, saturated. Only for heuristics: no answer depends on it, apart
    /// from comparisons with small numbers.
    fn magnitude(&self) -> u64;

    fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// Returns true for 1 and -1.
    fn is_unit(&self) -> bool {
        self.magnitude() == 1
    }
}

/// The least number is treated as an overflow, so that every number has a negation.
impl Number for i64 {
    const WORK: usize = 1;

    fn of(value: i128) -> Option<Self> {
        i64::try_from(value).ok().filter(|it| *it != i64::MIN)
    }

    fn get(&self) -> Option<i128> {
        Some(i128::from(*self))
    }

    fn sign(&self) -> i8 {
        self.signum() as i8
    }

    fn negated(&self) -> Self {
        -self
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        self.checked_add(*other).filter(|it| *it != i64::MIN)
    }

    fn combined(a: &Self, x: &Self, b: &Self, y: &Self) -> Option<Self> {
        // Each product is below 2^126 in absolute value.
        Self::of(i128::from(*a) * i128::from(*x) + i128::from(*b) * i128::from(*y))
    }

    fn gcd(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.unsigned_abs(), other.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        // Both are below 2^63 in absolute value.
        a as i64
    }

    fn floor_div(&self, by: &Self) -> Self {
        self.div_euclid(*by)
    }

    fn magnitude(&self) -> u64 {
        self.unsigned_abs()
    }
}

impl Number for BigInt {
    const WORK: usize = 40;

    fn of(value: i128) -> Option<Self> {
        Some(BigInt::from(value))
    }

    fn get(&self) -> Option<i128> {
        self.to_i128().filter(|it| *it != i128::MIN)
    }

    fn sign(&self) -> i8 {
        match num_bigint::BigInt::sign(self) {
            num_bigint::Sign::Minus => -1,
            num_bigint::Sign::NoSign => 0,
            num_bigint::Sign::Plus => 1,
        }
    }

    fn negated(&self) -> Self {
        -self
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        Some(self + other)
    }

    fn combined(a: &Self, x: &Self, b: &Self, y: &Self) -> Option<Self> {
        Some(a * x + b * y)
    }

    fn gcd(&self, other: &Self) -> Self {
        num_integer::Integer::gcd(self, other)
    }

    fn floor_div(&self, by: &Self) -> Self {
        num_integer::Integer::div_floor(self, by)
    }

    fn magnitude(&self) -> u64 {
        self.abs().to_u64().unwrap_or(u64::MAX)
    }
}
