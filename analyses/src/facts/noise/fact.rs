//! The fact of a value: an upper bound of its noise.
//!
//! The elements are a chain:
//!
//! ```text
//! Bottom < AtMost(0) < AtMost(1) < ... < AtMost(budget) < AtMost(budget + 1) < ... < Unknown
//! ```
//!
//! No growth rule gives a lower bound, so the lower bound is always 0. A value is *over* if its
//! bound exceeds the budget. This is a comparison, not an element: diagnostics show the exact bound
//! (48) of the first value over the budget and of later ones (96, 192).
//!
//! `Unknown` is the top, above the bounds over the budget: otherwise growth would not be monotone,
//! as `26 + 1` is over and `Unknown + 1` is unknown. So a value computed from an unknown one is
//! unknown and causes no error.
//!
//! Numbers saturate at [`Bits::MAX`], which means "no bound": noise that is over and still grows in
//! a cycle has no bound (see [`noisy_dataflow::sparse`]).

use std::fmt;

use crate::facts::noise::model::{Bits, Growth};
use noisy_dataflow::lattice::Chain;

/// The noise of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Noise {
    /// The value is unreachable, or its type carries no noise.
    #[default]
    Bottom,
    /// At most this number of bits. The value is over the budget if this number is.
    AtMost(Bits),
    /// Without a known bound; causes no error.
    Unknown,
}

impl Noise {
    /// Returns the upper bound, if there is one.
    #[inline]
    pub fn hi(self) -> Option<Bits> {
        match self {
            Noise::AtMost(hi) => Some(hi),
            Noise::Bottom | Noise::Unknown => None,
        }
    }

    /// Returns true if the bound is known and exceeds a budget.
    pub fn is_over(self, budget: Bits) -> bool {
        self.hi().is_some_and(|hi| hi > budget)
    }

    /// Returns the noise of a result from the rule of its op and the noise of the operands that
    /// carry noise.
    ///
    /// ```
    /// # use noisy_analyses::{Growth, Noise};
    /// let (a, b) = (Noise::AtMost(24), Noise::AtMost(12));
    /// assert_eq!(Noise::after(Growth::Max(1), &[a, b]), Noise::AtMost(25));
    /// assert_eq!(Noise::after(Growth::Sum(0), &[a, a]), Noise::AtMost(48));
    /// ```
    pub fn after(growth: Growth, operands: &[Noise]) -> Self {
        match growth {
            Growth::Fresh(level) => Noise::AtMost(level),
            // An op with an unreached operand is not executed yet.
            _ if operands.contains(&Noise::Bottom) => Noise::Bottom,
            Growth::Reset(level) => Noise::AtMost(level),
            _ if operands.contains(&Noise::Unknown) => Noise::Unknown,
            Growth::Max(k) => Noise::AtMost(bounds(operands).max().unwrap_or(0).saturating_add(k)),
            Growth::Sum(k) => Noise::AtMost(bounds(operands).fold(k, Bits::saturating_add)),
        }
    }
}

/// Returns the bounds of the operands that have one.
fn bounds(of: &[Noise]) -> impl Iterator<Item = Bits> {
    of.iter().filter_map(|it| it.hi())
}

impl Chain for Noise {}

impl fmt::Display for Noise {
    /// `[0, 24]`, `unknown`, or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noise::Bottom => f.write_str("unreached"),
            Noise::AtMost(Bits::MAX) => f.write_str("[0, ...]"),
            Noise::AtMost(hi) => write!(f, "[0, {hi}]"),
            Noise::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_dataflow::lattice::{check_laws, check_monotone};

    fn sample() -> Vec<Noise> {
        let mut out = vec![Noise::Bottom, Noise::Unknown];
        out.extend([0, 5, 12, 25, 26, 27, 48, Bits::MAX - 1, Bits::MAX].map(Noise::AtMost));
        out
    }

    #[test]
    fn noise_is_a_lattice() {
        assert_eq!(check_laws(&sample()), Ok(()));
    }

    #[test]
    fn growth_is_monotone() {
        for growth in [
            Growth::Fresh(12),
            Growth::Max(0),
            Growth::Max(1),
            Growth::Sum(0),
            Growth::Sum(3),
            Growth::Reset(12),
        ] {
            let transfer = |a: &Noise, b: &Noise| Noise::after(growth, &[*a, *b]);
            assert_eq!(check_monotone(&sample(), &transfer), Ok(()), "{growth:?}");
        }
    }

    #[test]
    fn numbers_saturate() {
        let top = Noise::AtMost(Bits::MAX);
        assert_eq!(Noise::after(Growth::Sum(0), &[top, top]), top);
        assert_eq!(top.to_string(), "[0, ...]");
    }

    #[test]
    fn values_computed_from_unknown_ones_are_unknown() {
        let over = Noise::AtMost(48);
        assert_eq!(Noise::after(Growth::Max(1), &[over, Noise::Unknown]), Noise::Unknown);
        assert_eq!(Noise::after(Growth::Reset(12), &[Noise::Unknown]), Noise::AtMost(12));
    }
}
