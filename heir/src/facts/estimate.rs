//! Facts about one quantity of a ciphertext: its noise, its scale, the range of its numbers.

use std::fmt;

use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::Domain;

/// A quantity of a ciphertext, such as its noise.
pub trait Measure: Copy + PartialEq + fmt::Debug + fmt::Display {
    /// Returns the quantity of a value that has `self` on one path and `other` on another; `None`
    /// if it is unknown.
    fn join(self, other: Self) -> Option<Self>;

    /// Returns the quantity that replaces `next` in a cycle (see [`Domain::widened`]); `None` if it
    /// is unknown.
    fn widened(self, next: Self) -> Option<Self> {
        Some(next)
    }
}

/// The fact about a quantity of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Estimate<Q> {
    /// The value is unreachable.
    #[default]
    Bottom,
    /// A plaintext, which has no such quantity.
    Plain,
    /// The quantity is known.
    Known(Q),
    /// The quantity is unknown.
    Unknown,
}

impl<Q: Measure> Estimate<Q> {
    /// Returns the quantity, if it is known.
    pub(crate) fn known(self) -> Option<Q> {
        match self {
            Estimate::Known(it) => Some(it),
            _ => None,
        }
    }

    /// Returns the fact of a result if an operand is unreachable or unknown; `None` otherwise.
    pub(crate) fn bottom_or_unknown(operands: &[Self]) -> Option<Self> {
        [Estimate::Bottom, Estimate::Unknown].into_iter().find(|it| operands.contains(it))
    }
}

impl<Q> From<Option<Q>> for Estimate<Q> {
    fn from(it: Option<Q>) -> Self {
        it.map_or(Estimate::Unknown, Estimate::Known)
    }
}

impl<Q: Measure> Lattice for Estimate<Q> {
    fn bottom() -> Self {
        Estimate::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        use Estimate::{Bottom, Known, Plain, Unknown};
        let before = *self;
        *self = match (before, *other) {
            (Bottom, it) | (it, Bottom) => it,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Plain, it) | (it, Plain) => it,
            (Known(a), Known(b)) => a.join(b).into(),
        };
        Changed::when(*self != before)
    }
}

impl<Q: Measure> Domain for Estimate<Q> {
    fn unknown() -> Self {
        Estimate::Unknown
    }

    fn widened(&self, next: Self) -> Self {
        match (*self, next) {
            (Estimate::Known(before), Estimate::Known(now)) => before.widened(now).into(),
            _ => next,
        }
    }
}

impl<Q: Measure> fmt::Display for Estimate<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Estimate::Bottom => f.write_str("unreached"),
            Estimate::Plain => f.write_str("plaintext"),
            Estimate::Known(it) => fmt::Display::fmt(it, f),
            Estimate::Unknown => f.write_str("unknown"),
        }
    }
}
