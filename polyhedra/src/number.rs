//! The numbers that systems are made of: machine words that say when they do not suffice, and numbers without a limit.
//!
//! *Law.* No operation gives a wrong number: what does not fit is `None`. A query is first answered in words; if one of its
//! operations does not fit, all of it is answered again without a limit.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};

/// The greatest common divisor, not negative; 1 if it is 2^127.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// An integer that may refuse to grow.
pub(crate) trait Number: Clone + Ord + std::fmt::Debug {
    /// What an operation costs, in operations on machine words.
    const WORK: usize;
    /// That number.
    fn of(value: i128) -> Option<Self>;
    /// Its value, if it and its opposite have at most 128 bits.
    fn get(&self) -> Option<i128>;
    /// -1, 0 or 1.
    fn sign(&self) -> i8;
    /// `-self`
    fn negated(&self) -> Self;
    /// `self + other`
    fn plus(&self, other: &Self) -> Option<Self>;
    /// `a * x + b * y`
    fn combined(a: &Self, x: &Self, b: &Self, y: &Self) -> Option<Self>;
    /// The greatest common divisor, not negative.
    fn gcd(&self, other: &Self) -> Self;
    /// The quotient rounded down; `by` is positive.
    fn floor_div(&self, by: &Self) -> Self;
    /// Its size, for choices that no answer depends on.
    fn magnitude(&self) -> u64;

    /// Whether it is 0.
    fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// Whether it is 1 or -1.
    fn is_unit(&self) -> bool {
        self.magnitude() == 1
    }
}

/// All but the least, so that each has its opposite.
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
        // Each product is below 2^126 in size.
        Self::of(i128::from(*a) * i128::from(*x) + i128::from(*b) * i128::from(*y))
    }

    fn gcd(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.unsigned_abs(), other.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        // Both are below 2^63 in size.
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
