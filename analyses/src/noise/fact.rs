//! The fact about one value: a range that its noise is known to lie in.
//!
//! The elements in order of their upper bound are a chain,
//!
//! ```text
//! Bottom < [.., 0] < [.., 1] < ... < [.., budget] < [.., budget + 1] < ... < Unknown
//! ```
//!
//! and the lower bound, shown but not judged by, is the least of what was joined. A value is *over* when its upper
//! bound exceeds the budget: a comparison, not an element, so that the exact number (48) is there where a value
//! first goes over and goes on (96, 192) for display. `Unknown` is on top and not below what is over, because otherwise growth
//! would not be monotone: `26 + 1` is over while `Unknown + 1` is unknown. So what is fed by an unknown value is unknown, and no
//! error follows from it. Numbers saturate. In a cycle they stop counting once over (see [`crate::sparse`]).

use std::fmt;

use crate::lattice::{Changed, Lattice};
use crate::noise::model::{Bits, Growth};

/// What is known of the noise of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Noise {
    /// Nothing reaches the value, or it carries no noise.
    #[default]
    Bottom,
    /// Between these bounds, both included, in bits.
    Range {
        /// The lower bound.
        lo: Bits,
        /// The upper bound, the one that must not exceed the budget.
        hi: Bits,
    },
    /// Not known; no error follows from it.
    Unknown,
}

impl Noise {
    /// From 0 to `hi` bits.
    pub fn up_to(hi: Bits) -> Self {
        Noise::Range { lo: 0, hi }
    }

    /// The upper bound, if there is one.
    #[inline]
    pub fn hi(self) -> Option<Bits> {
        match self {
            Noise::Range { hi, .. } => Some(hi),
            Noise::Bottom | Noise::Unknown => None,
        }
    }

    /// Whether the upper bound is known and exceeds a budget.
    pub fn is_over(self, budget: Bits) -> bool {
        self.hi().is_some_and(|hi| hi > budget)
    }

    /// The noise of a result by the rule of its op and the noise of the operands that carry any.
    ///
    /// ```
    /// # use noisy_analyses::{Growth, Noise};
    /// let (a, b) = (Noise::up_to(24), Noise::up_to(12));
    /// assert_eq!(Noise::after(Growth::Max(1), &[a, b]), Noise::up_to(25));
    /// assert_eq!(Noise::after(Growth::Sum(0), &[a, a]), Noise::up_to(48));
    /// ```
    pub fn after(growth: Growth, operands: &[Noise]) -> Self {
        match growth {
            Growth::Fresh(level) => Noise::up_to(level),
            // Executed on something, whatever it is; not before.
            _ if operands.contains(&Noise::Bottom) => Noise::Bottom,
            Growth::Reset(level) => Noise::up_to(level),
            _ if operands.contains(&Noise::Unknown) => Noise::Unknown,
            Growth::Max(k) => {
                let (lo, hi) = bounds(operands);
                let (lo, hi) = (lo.min().unwrap_or(0), hi.max().unwrap_or(0));
                Noise::Range { lo, hi: hi.saturating_add(k) }
            }
            Growth::Sum(k) => {
                let (lo, hi) = bounds(operands);
                let sum = |k: Bits, by: Bits| k.saturating_add(by);
                Noise::Range { lo: lo.fold(0, sum), hi: hi.fold(k, sum) }
            }
        }
    }
}

/// The lower and the upper bounds of operands that all have some.
fn bounds(of: &[Noise]) -> (impl Iterator<Item = Bits>, impl Iterator<Item = Bits>) {
    let both = |it: &Noise| match *it {
        Noise::Range { lo, hi } => (lo, hi),
        Noise::Bottom | Noise::Unknown => (0, 0),
    };
    (of.iter().map(move |it| both(it).0), of.iter().map(move |it| both(it).1))
}

impl Lattice for Noise {
    fn bottom() -> Self {
        Noise::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = match (before, *other) {
            (Noise::Unknown, _) | (_, Noise::Unknown) => Noise::Unknown,
            (Noise::Bottom, it) | (it, Noise::Bottom) => it,
            (Noise::Range { lo, hi }, Noise::Range { lo: other_lo, hi: other_hi }) => {
                Noise::Range { lo: lo.min(other_lo), hi: hi.max(other_hi) }
            }
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Noise {
    /// `[0, 24]`, `unknown`, or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noise::Bottom => f.write_str("unreached"),
            Noise::Range { lo, hi: Bits::MAX } => write!(f, "[{lo}, ...]"),
            Noise::Range { lo, hi } => write!(f, "[{lo}, {hi}]"),
            Noise::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::{laws, monotone};

    fn sample() -> Vec<Noise> {
        let mut out = vec![Noise::Bottom, Noise::Unknown];
        for lo in [0, 5, 12, Bits::MAX] {
            for hi in [0, 5, 12, 25, 26, 27, 48, Bits::MAX - 1, Bits::MAX] {
                if lo <= hi {
                    out.push(Noise::Range { lo, hi });
                }
            }
        }
        out
    }

    #[test]
    fn noise_is_a_lattice() {
        assert_eq!(laws(&sample()), Ok(()));
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
            // The lower bound of a sum falls with its operands, as that of a join does: the order is reversed there.
            assert_eq!(monotone(&sample(), &transfer), Ok(()), "{growth:?}");
        }
    }

    #[test]
    fn what_an_op_adds_at_most_leaves_the_lower_bound() {
        let (a, b) = (Noise::Range { lo: 3, hi: 5 }, Noise::Range { lo: 4, hi: 9 });
        let after = |growth| Noise::after(growth, &[a, b]);
        assert_eq!(after(Growth::Sum(2)), Noise::Range { lo: 7, hi: 16 });
        assert_eq!(after(Growth::Max(2)), Noise::Range { lo: 3, hi: 11 });
    }

    #[test]
    fn numbers_saturate() {
        let top = Noise::up_to(Bits::MAX);
        assert_eq!(Noise::after(Growth::Sum(0), &[top, top]), top);
        assert_eq!(top.to_string(), "[0, ...]");
    }

    #[test]
    fn what_is_fed_by_the_unknown_is_unknown() {
        let over = Noise::up_to(48);
        assert_eq!(Noise::after(Growth::Max(1), &[over, Noise::Unknown]), Noise::Unknown);
        assert_eq!(Noise::after(Growth::Reset(12), &[Noise::Unknown]), Noise::up_to(12));
    }
}
