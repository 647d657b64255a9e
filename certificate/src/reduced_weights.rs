//! Bounds that multipliers prove, computed in integers.

use std::collections::BTreeMap;

/// The decision about a site at the current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Open,
    Absent,
    Chosen,
}

/// Number of bits of a multiplier after the binary point.
pub(crate) const SCALE: u32 = 32;

/// The reduced weights of sites and the bound that a list of multipliers proves.
#[derive(Debug)]
pub(crate) struct ReducedWeights {
    /// The bound before rounding, in units of `2^-SCALE` of `grain`.
    pub sum: i128,
    /// The reduced weight of each site, in the same units.
    pub reduced: BTreeMap<u32, i128>,
    /// A common divisor of all weights.
    pub grain: u64,
}

impl ReducedWeights {
    /// Returns the bound for all choices that are open.
    pub(crate) fn least(&self) -> u64 {
        self.rounded(self.sum)
    }

    /// Returns the bound for the open choices that differ from `decision` at an open site.
    pub(crate) fn least_without(&self, site: u32, decision: Decision) -> u64 {
        let it = self.reduced.get(&site).copied().unwrap_or(0);
        let other = match decision {
            Decision::Absent => it.max(0),
            Decision::Chosen | Decision::Open => (-it).max(0),
        };
        self.rounded(self.sum.saturating_add(other))
    }

    /// Returns the least multiple of `grain` at or above a sum.
    pub(crate) fn rounded(&self, sum: i128) -> u64 {
        let unit = 1_i128 << SCALE;
        let whole = sum.max(0) / unit + i128::from(sum.max(0) % unit != 0);
        u64::try_from(whole).unwrap_or(u64::MAX).saturating_mul(self.grain)
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
