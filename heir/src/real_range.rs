//! Closed intervals of real numbers, and the arithmetic of floats on them.
//!
//! *Law.* The result of an operation contains the exact and the rounded result for all numbers in
//! the operands: bounds are rounded outwards, to the format of the result. `None` represents an
//! unknown result: a number is too large, or the operation is undefined.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest magnitude of a bound; smaller numbers overflow in no float format.
const LARGEST: f64 = 1.267_650_600_228_229_4e30;

/// Products below this magnitude may be inexact even if a fused multiply-add finds no error.
const SMALLEST_EXACT: f64 = 1e-280;

/// The relative tolerance of [`RealRange::contains_nearly`]: ciphertexts are less precise.
const TOLERANCE: f64 = 1e-5;

/// The largest number of summands of [`RealRange::sum_of`].
const MAX_SUMMANDS: u64 = 1 << 20;

/// The relative error of functions of the C library, for `f32` and `f64`.
const LIBRARY_ERROR: [f64; 2] = [1.0 / (1 << 20) as f64, 1.0 / (1_u64 << 48) as f64];

/// A format of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// `f32`
    Single,
    /// `f64`, also used for the real numbers in ciphertexts.
    Double,
}

/// A closed interval of real numbers, both bounds finite.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "WrittenRange", into = "[f64; 2]")]
pub struct RealRange {
    lower: f64,
    upper: f64,
}

/// Bounds are never NaN.
impl Eq for RealRange {}

/// A range as users write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number D, for [-D, D], or [lower, upper]")]
enum WrittenRange {
    Magnitude(f64),
    Bounds([f64; 2]),
}

impl TryFrom<WrittenRange> for RealRange {
    type Error = &'static str;

    fn try_from(it: WrittenRange) -> Result<Self, Self::Error> {
        let [lower, upper] = match it {
            WrittenRange::Magnitude(it) => [-it, it],
            WrittenRange::Bounds(it) => it,
        };
        RealRange::new(lower, upper).ok_or("expected a lower bound and an upper bound, up to 1e30")
    }
}

impl From<RealRange> for [f64; 2] {
    fn from(it: RealRange) -> Self {
        [it.lower, it.upper]
    }
}

impl schemars::JsonSchema for RealRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RealRange".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["array", "number"],
            "items": { "type": "number" },
            "minItems": 2,
            "maxItems": 2,
            "minimum": 0
        })
    }
}

/// A rounded number with its rounding error: their sum is exact.
#[derive(Clone, Copy)]
struct RoundedWithError(f64, f64);

impl RoundedWithError {
    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let of_b = sum - a;
        RoundedWithError(sum, (a - (sum - of_b)) + (b - of_b))
    }

    fn product(a: f64, b: f64) -> [f64; 2] {
        let product = a * b;
        if a == 0.0 || b == 0.0 {
            return [0.0; 2];
        }
        if product.abs() < SMALLEST_EXACT {
            return [product.next_down(), product.next_up()];
        }
        RoundedWithError(product, a.mul_add(b, -product)).outwards()
    }

    fn quotient(a: f64, b: f64) -> [f64; 2] {
        let quotient = a / b;
        let is_exact = quotient.abs() >= SMALLEST_EXACT && quotient.mul_add(b, -a) == 0.0;
        if a == 0.0 || is_exact {
            return [quotient; 2];
        }
        [quotient.next_down(), quotient.next_up()]
    }

    /// Returns the nearest floats below and above the exact number, or the number twice if it is
    /// exact.
    fn outwards(self) -> [f64; 2] {
        let RoundedWithError(number, error) = self;
        [
            if error < 0.0 { number.next_down() } else { number },
            if error > 0.0 { number.next_up() } else { number },
        ]
    }
}

impl RealRange {
    /// The range of the operands of bootstraps and of evaluations of polynomials.
    pub(crate) const UNIT: RealRange = RealRange { lower: -1.0, upper: 1.0 };

    /// Returns the range between two bounds; `None` if they are not in order or too large.
    pub fn new(lower: f64, upper: f64) -> Option<Self> {
        let is_small = |it: f64| it.abs() <= LARGEST;
        // Adding zero turns -0 into 0.
        (lower <= upper && is_small(lower) && is_small(upper))
            .then_some(Self { lower: lower + 0.0, upper: upper + 0.0 })
    }

    /// Returns the range of a single number.
    pub(crate) fn of_number(it: f64) -> Option<Self> {
        Self::new(it, it)
    }

    /// Returns the least and the greatest number.
    pub fn bounds(self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// Returns the largest magnitude of a number in the range.
    pub(crate) fn magnitude(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    /// Returns true if all numbers of another range are in this range.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.lower <= other.lower && other.upper <= self.upper
    }

    /// Returns true if this range contains another one, up to a negligible difference.
    pub(crate) fn contains_nearly(self, other: Self) -> bool {
        let slack = TOLERANCE * self.magnitude();
        self.lower - slack <= other.lower && other.upper <= self.upper + slack
    }

    /// Returns the smallest range that contains both ranges.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Returns the numbers in both ranges.
    pub(crate) fn meet(self, other: Self) -> Option<Self> {
        Self::new(self.lower.max(other.lower), self.upper.min(other.upper))
    }

    /// Returns the range with its bounds rounded outwards to a format.
    pub(crate) fn rounded(self, to: Precision) -> Option<Self> {
        if to == Precision::Double {
            return Self::new(self.lower, self.upper);
        }
        let down = |it: f64| {
            let near = it as f32;
            f64::from(if f64::from(near) > it { near.next_down() } else { near })
        };
        Self::new(down(self.lower), -down(-self.upper))
    }

    /// Returns the hull of intervals around exact results.
    fn hull_of(all: &[[f64; 2]], to: Precision) -> Option<Self> {
        let lower = all.iter().map(|it| it[0]).reduce(f64::min)?;
        let upper = all.iter().map(|it| it[1]).reduce(f64::max)?;
        Self::new(lower, upper)?.rounded(to)
    }

    pub(crate) fn add(self, other: Self, to: Precision) -> Option<Self> {
        let of = |a, b| RoundedWithError::sum(a, b).outwards();
        Self::hull_of(&[of(self.lower, other.lower), of(self.upper, other.upper)], to)
    }

    pub(crate) fn negate(self) -> Option<Self> {
        Self::new(-self.upper, -self.lower)
    }

    pub(crate) fn subtract(self, other: Self, to: Precision) -> Option<Self> {
        self.add(other.negate()?, to)
    }

    pub(crate) fn multiply(self, other: Self, to: Precision) -> Option<Self> {
        let of = RoundedWithError::product;
        let (a, b) = (self, other);
        let [c, d] = [of(a.lower, b.lower), of(a.lower, b.upper)];
        Self::hull_of(&[c, d, of(a.upper, b.lower), of(a.upper, b.upper)], to)
    }

    /// Returns the range of the product of a number with itself.
    pub(crate) fn square(self, to: Precision) -> Option<Self> {
        let magnitudes = self.absolute()?;
        magnitudes.multiply(magnitudes, to)?.meet(Self::new(0.0, LARGEST)?)
    }

    /// Returns `None` if the divisor may be zero.
    pub(crate) fn divide(self, by: Self, to: Precision) -> Option<Self> {
        if by.lower <= 0.0 && by.upper >= 0.0 {
            return None;
        }
        let of = RoundedWithError::quotient;
        let (a, b) = (self, by);
        let [c, d] = [of(a.lower, b.lower), of(a.lower, b.upper)];
        Self::hull_of(&[c, d, of(a.upper, b.lower), of(a.upper, b.upper)], to)
    }

    pub(crate) fn absolute(self) -> Option<Self> {
        let least = if self.lower <= 0.0 && self.upper >= 0.0 { 0.0 } else { f64::INFINITY };
        Self::new(least.min(self.lower.abs().min(self.upper.abs())), self.magnitude())
    }

    pub(crate) fn max(self, other: Self) -> Option<Self> {
        Self::new(self.lower.max(other.lower), self.upper.max(other.upper))
    }

    pub(crate) fn min(self, other: Self) -> Option<Self> {
        Self::new(self.lower.min(other.lower), self.upper.min(other.upper))
    }

    /// Returns the results of an increasing function of the C library, all of which are in
    /// `within`.
    pub(crate) fn apply_increasing(
        self,
        function: fn(f64) -> f64,
        within: Self,
        to: Precision,
    ) -> Option<Self> {
        let error = LIBRARY_ERROR[usize::from(to == Precision::Double)];
        let (lower, upper) = (function(self.lower), function(self.upper));
        let (below, above) = (lower - lower.abs() * error, upper + upper.abs() * error);
        Self::new(below.next_down(), above.next_up())?.rounded(to)?.meet(within)
    }

    /// Returns the range of the sum of a number in `start` and of `n` numbers in this range, added
    /// in any order.
    pub(crate) fn sum_of(self, n: u64, start: Self, to: Precision) -> Option<Self> {
        if n > MAX_SUMMANDS {
            return None;
        }
        let n = n as f64;
        let sum = self.multiply(Self::of_number(n)?, to)?.add(start, to)?;
        // Each partial sum is rounded; none is larger than the sum of all magnitudes.
        let epsilon = match to {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        let error = 2.0 * epsilon * n * (n * self.magnitude() + start.magnitude());
        Self::new((sum.lower - error).next_down(), (sum.upper + error).next_up())?.rounded(to)
    }

    /// Widens a range that grew in an iteration of a loop: rounds the bounds that changed since
    /// `before` to powers of two.
    pub(crate) fn widened_from(self, before: Self) -> Option<Self> {
        let up = |now: f64, before: f64| if now > before { power_at_least(now) } else { now };
        Self::new(-up(-self.lower, -before.lower), up(self.upper, before.upper))
    }
}

/// Returns the least power of two, negated power or zero that is at least a number; infinity above
/// the largest power.
fn power_at_least(number: f64) -> f64 {
    const EXPONENTS: i32 = 20;
    let powers = || (-EXPONENTS..=EXPONENTS).map(|it| f64::from(it).exp2());
    let negative = powers().rev().map(|it| -it);
    let all = negative.chain([0.0]).chain(powers());
    all.into_iter().find(|&it| it >= number).unwrap_or(f64::INFINITY)
}

/// Formats a number with six digits.
fn format_number(number: f64) -> String {
    const DIGITS: i32 = 6;
    if number == 0.0 {
        return "0".to_owned();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-4..DIGITS).contains(&exponent) {
        let text = format!("{number:.*e}", DIGITS as usize - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_trailing_zeros(digits));
    }
    let text = format!("{number:.*}", (DIGITS - 1 - exponent).max(0) as usize);
    without_trailing_zeros(&text).to_owned()
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

impl fmt::Display for RealRange {
    /// `[-1, 0.5]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", format_number(self.lower), format_number(self.upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(lower: f64, upper: f64) -> RealRange {
        RealRange::new(lower, upper).expect("bounds in order")
    }

    /// Edge cases of float arithmetic.
    const NUMBERS: [f64; 15] = [
        0.0,
        1.0,
        -1.0,
        0.1,
        -0.1,
        0.3,
        3.0,
        -7.25,
        1e-30,
        -1e-40,
        1e-300,
        1e20,
        -3.3e20,
        16_777_217.0,
        0.999_999_97,
    ];

    #[test]
    fn results_contain_those_of_floats() {
        let single = |it: f64| f64::from(it as f32);
        let is_in = |number: f64, it: Option<RealRange>| {
            it.is_none_or(|it| it.lower <= number && number <= it.upper)
        };
        let mut n_known = 0;
        for a in NUMBERS {
            for b in NUMBERS {
                for (low, high) in [(a, a), (a.min(b), a.max(b))] {
                    let (x, y) = (range(low, high), range(b, b));
                    for to in [Precision::Single, Precision::Double] {
                        let (a, b) = match to {
                            Precision::Single => (single(a), single(b)),
                            Precision::Double => (a, b),
                        };
                        let (x, y) = (x.rounded(to).unwrap(), y.rounded(to).unwrap());
                        let given = |it: f64| if to == Precision::Single { single(it) } else { it };
                        for (number, found) in [
                            (a + b, x.add(y, to)),
                            (a - b, x.subtract(y, to)),
                            (a * b, x.multiply(y, to)),
                            (a / b, x.divide(y, to)),
                            (a * a, x.square(to)),
                            (a.abs(), x.absolute()),
                            (a.max(b), x.max(y)),
                            (a.min(b), x.min(y)),
                            (a + a + a, x.sum_of(2, x, to)),
                            (a.tanh(), x.apply_increasing(f64::tanh, RealRange::UNIT, to)),
                        ] {
                            assert!(is_in(given(number), found), "{a} {b}: {number} in {found:?}");
                            n_known += usize::from(found.is_some());
                        }
                    }
                }
            }
        }
        assert!(n_known > 7000, "{n_known}");
    }

    #[test]
    fn exact_results_are_not_widened() {
        let it = range(-1.0, 1.0);
        for to in [Precision::Single, Precision::Double] {
            assert_eq!(it.add(it, to), Some(range(-2.0, 2.0)));
            assert_eq!(it.multiply(range(0.5, 4.0), to), Some(range(-4.0, 4.0)));
            assert_eq!(it.square(to), Some(range(0.0, 1.0)));
            assert_eq!(it.divide(range(2.0, 4.0), to), Some(range(-0.5, 0.5)));
        }
        let third = range(1.0, 1.0).divide(range(3.0, 3.0), Precision::Single).unwrap();
        assert!(third.lower < 1.0 / 3.0 && 1.0 / 3.0 < third.upper, "{third:?}");
    }

    #[test]
    fn widening_ends() {
        let mut it = range(0.0, 0.0);
        let mut n_wider = 0;
        while let Some(next) = RealRange::new(it.lower - 0.1, it.upper + 3.0) {
            let Some(wide) = next.widened_from(it) else { break };
            assert!(wide.contains(next));
            it = wide;
            n_wider += 1;
        }
        assert!((10..100).contains(&n_wider), "{n_wider}");
        assert_eq!(range(0.0, 1.9).widened_from(range(0.0, 1.5)), Some(range(0.0, 2.0)));
    }

    #[test]
    fn ranges_are_written_shortly() {
        let of = |lower, upper| range(lower, upper).to_string();
        assert_eq!(of(-1.0, 1.000_000_1), "[-1, 1]");
        assert_eq!(of(-0.0, 0.3), "[0, 0.3]");
        assert_eq!(of(-12345.678, 150.25), "[-12345.7, 150.25]");
        assert_eq!(of(1e-9, 2.5e7), "[1e-9, 2.5e7]");
    }
}
