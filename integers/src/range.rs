//! Integer ranges: the bounds of a value read as an unsigned and as a signed number. They cover
//! integers of at most 64 bits, `index`, and the elements of vectors and tensors of these types.
//!
//! Both readings are kept because each is tighter in some cases: with eight bits, the unsigned
//! `[100, 200]` and the signed `[-6, 3]` are full ranges in the other reading. After every
//! operation, each reading tightens the other (`Bounds::tightened`).
//!
//! The lattice has long chains. Widening sets a bound that still changes after a few iterations to
//! the bound of the type, each of the four bounds separately.

use std::fmt;

use noisy_syntax::{Type, Value};

use super::constant;
use noisy_dataflow::flow::Interval;
use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::Domain;
use noisy_dataflow::view::{HasInterner, ProgramView};

/// The inclusive bounds of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Number of bits, 1 to 64.
    pub width: u32,
    /// The least value, read as unsigned.
    pub umin: u64,
    /// The greatest value, read as unsigned.
    pub umax: u64,
    /// The least value, read as signed.
    pub smin: i64,
    /// The greatest value, read as signed.
    pub smax: i64,
}

impl Bounds {
    /// Returns the bounds of all integers of a width.
    pub fn full(width: u32) -> Self {
        let unused = 64 - width;
        Self {
            width,
            umin: 0,
            umax: u64::MAX >> unused,
            smin: i64::MIN >> unused,
            smax: i64::MAX >> unused,
        }
    }

    /// Returns the bounds of a single number.
    pub fn one(width: u32, value: i64) -> Self {
        let unsigned = value.cast_unsigned() & Self::full(width).umax;
        Self { width, umin: unsigned, umax: unsigned, smin: value, smax: value }
    }

    /// Returns the bounds from `umin` to `umax`, which fit into the width.
    pub fn unsigned(width: u32, umin: u64, umax: u64) -> Self {
        Self { umin, umax, ..Self::full(width) }.tightened()
    }

    /// Returns the bounds from `smin` to `smax`, which fit into the width.
    pub fn signed(width: u32, smin: i64, smax: i64) -> Self {
        Self { smin, smax, ..Self::full(width) }.tightened()
    }

    /// Returns the number, if the bounds contain only one.
    pub(crate) fn single(self) -> Option<i64> {
        (self.smin == self.smax).then_some(self.smin)
    }

    /// Returns true if the bounds exclude no integer of the width.
    pub fn is_full(self) -> bool {
        self == Self::full(self.width)
    }

    /// Returns the intersection. An empty intersection occurs only in unreachable code; then `self`
    /// is returned.
    #[must_use]
    pub fn intersected(self, other: Self) -> Self {
        let met = Self {
            width: self.width,
            umin: self.umin.max(other.umin),
            umax: self.umax.min(other.umax),
            smin: self.smin.max(other.smin),
            smax: self.smax.min(other.smax),
        };
        if met.umin > met.umax || met.smin > met.smax { self } else { met.tightened() }
    }

    /// Returns the smallest bounds that contain both.
    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            width: self.width,
            umin: self.umin.min(other.umin),
            umax: self.umax.max(other.umax),
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
        }
    }

    /// Tightens each reading by the other. The bounds contain the same numbers.
    #[must_use]
    pub(crate) fn tightened(self) -> Self {
        let mut it = self;
        let unused = 64 - it.width;
        let signed = |bits: u64| (bits << unused).cast_signed() >> unused;
        let unsigned = |value: i64| value.cast_unsigned() << unused >> unused;
        // If the sign is known, both readings have the same order.
        for _ in 0..2 {
            let half = 1_u64 << (it.width - 1);
            if it.umax < half || it.umin >= half {
                it.smin = it.smin.max(signed(it.umin));
                it.smax = it.smax.min(signed(it.umax));
            }
            if it.smin >= 0 || it.smax < 0 {
                it.umin = it.umin.max(unsigned(it.smin));
                it.umax = it.umax.min(unsigned(it.smax));
            }
        }
        if it.umin > it.umax || it.smin > it.smax { self } else { it }
    }
}

impl fmt::Display for Bounds {
    /// Writes `5` for a single number, `[-6, 3]` for signed bounds, `[0, 250]u` if the unsigned
    /// bounds determine the signed ones, or both if neither determines the other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(it) = self.single() {
            return write!(f, "{it}");
        }
        let (signed, unsigned) = ((self.smin, self.smax), (self.umin, self.umax));
        if Self::signed(self.width, signed.0, signed.1) == *self {
            write!(f, "[{}, {}]", signed.0, signed.1)
        } else if Self::unsigned(self.width, unsigned.0, unsigned.1) == *self {
            write!(f, "[{}, {}]u", unsigned.0, unsigned.1)
        } else {
            write!(f, "[{}, {}] [{}, {}]u", signed.0, signed.1, unsigned.0, unsigned.1)
        }
    }
}

/// The range of a value: the lattice of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Range {
    /// No execution reaches the value, or it is not an integer.
    #[default]
    Bottom,
    /// Within bounds that are tighter than the type.
    Within(Bounds),
    /// Any number of the type.
    Unknown,
}

impl Range {
    /// Returns the bounds, for a type of `width` bits.
    pub fn bounds(self, width: u32) -> Option<Bounds> {
        match self {
            Range::Bottom => None,
            Range::Within(it) if it.width == width => Some(it),
            _ => Some(Bounds::full(width)),
        }
    }

    /// Returns the signed interval, for a value of type `ty`.
    pub(crate) fn interval(self, types: &impl HasInterner, ty: Type) -> Interval {
        let Some(width) = type_width(types, ty) else { return Interval::Unknown };
        self.bounds(width).map_or(Interval::Empty, |it| Interval::Bounded {
            lo: it.smin.into(),
            hi: it.smax.into(),
        })
    }

    /// Returns the number, if the range contains only one.
    pub(crate) fn single(self) -> Option<i64> {
        match self {
            Range::Within(it) => it.single(),
            _ => None,
        }
    }
}

impl From<Bounds> for Range {
    fn from(it: Bounds) -> Self {
        if it.is_full() { Range::Unknown } else { Range::Within(it) }
    }
}

impl Domain for Range {
    fn unknown() -> Self {
        Range::Unknown
    }

    fn widened(&self, next: Self) -> Self {
        match (*self, next) {
            (Range::Within(old), Range::Within(new)) if old.width == new.width => {
                let full = Bounds::full(new.width);
                let mut it = new;
                if new.umin < old.umin {
                    it.umin = full.umin;
                }
                if new.umax > old.umax {
                    it.umax = full.umax;
                }
                if new.smin < old.smin {
                    it.smin = full.smin;
                }
                if new.smax > old.smax {
                    it.smax = full.smax;
                }
                it.into()
            }
            (_, next) => next,
        }
    }
}

impl Lattice for Range {
    fn bottom() -> Self {
        Range::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = match (before, *other) {
            (Range::Bottom, it) | (it, Range::Bottom) => it,
            (Range::Within(a), Range::Within(b)) if a.width == b.width => a.joined(b).into(),
            _ => Range::Unknown,
        };
        Changed::when(*self != before)
    }
}

impl Range {
    /// Describes a range that is tighter than its type: `= 7`, `in [0, 7]`.
    pub fn description(self) -> Option<String> {
        let Range::Within(it) = self else { return None };
        Some(match it.single() {
            Some(one) => format!("= {one}"),
            None => format!("in {it}"),
        })
    }
}

impl fmt::Display for Range {
    /// Writes the [`Bounds`], `unknown` or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Bottom => f.write_str("unreached"),
            Range::Within(it) => write!(f, "{it}"),
            Range::Unknown => f.write_str("unknown"),
        }
    }
}

/// Returns the width of a value, if the analysis tracks its range.
pub(crate) fn width(ir: &impl ProgramView, value: Value) -> Option<u32> {
    type_width(ir, ir.ty(value))
}

/// Returns the width of a type, if the analysis tracks ranges of its values.
pub(crate) fn type_width(types: &impl HasInterner, ty: Type) -> Option<u32> {
    constant::width(types, ty).filter(|&it| it <= 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_dataflow::lattice::check_laws;

    #[test]
    fn ranges_are_a_lattice() {
        let mut sample = vec![Range::Bottom, Range::Unknown];
        for (smin, smax) in [(0, 0), (-1, -1), (0, 7), (-8, 7), (-128, -1), (-128, 126), (3, 9)] {
            sample.push(Bounds::signed(8, smin, smax).into());
        }
        for (umin, umax) in [(0, 200), (130, 250), (1, 255), (0, 254)] {
            sample.push(Bounds::unsigned(8, umin, umax).into());
        }
        sample.push(Bounds::one(16, 3).into());
        assert_eq!(check_laws(&sample), Ok(()));
    }

    #[test]
    fn both_readings_agree() {
        let it = Bounds::unsigned(8, 250, 255);
        assert_eq!((it.smin, it.smax), (-6, -1));
        assert_eq!(it.to_string(), "[-6, -1]");
        assert_eq!(Bounds::unsigned(8, 0, 255), Bounds::full(8));
        assert_eq!(Bounds::signed(8, -6, 3).to_string(), "[-6, 3]");
        assert_eq!(Bounds::unsigned(8, 0, 250).to_string(), "[0, 250]u");
    }
}
