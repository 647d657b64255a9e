//! What multipliers prove, in integers.

use std::collections::BTreeMap;

/// What is decided of a site where a walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Open,
    Absent,
    Chosen,
}

/// Bits after the point of multipliers.
pub(crate) const SCALE: u32 = 32;

/// What multipliers prove.
#[derive(Debug)]
pub(crate) struct Prices {
    /// In units of `2^-SCALE` of `grain`, before it is rounded.
    pub sum: i128,
    /// What is left of the weight of each site, in the same units.
    pub reduced: BTreeMap<u32, i128>,
    /// All weights are multiples of it.
    pub grain: u64,
}

impl Prices {
    /// What they prove of all choices that are open.
    pub(crate) fn least(&self) -> u64 {
        self.rounded(self.sum)
    }

    /// What they prove of the choices in which an open site is not as is said.
    pub(crate) fn least_without(&self, site: u32, decision: Decision) -> u64 {
        let it = self.reduced.get(&site).copied().unwrap_or(0);
        let other = match decision {
            Decision::Absent => it.max(0),
            Decision::Chosen | Decision::Open => (-it).max(0),
        };
        self.rounded(self.sum.saturating_add(other))
    }

    /// The least whole weight at or above it.
    pub(crate) fn rounded(&self, sum: i128) -> u64 {
        let unit = 1_i128 << SCALE;
        let whole = sum.max(0) / unit + i128::from(sum.max(0) % unit != 0);
        u64::try_from(whole).unwrap_or(u64::MAX).saturating_mul(self.grain)
    }
}

/// The greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
