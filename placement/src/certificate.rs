//! Why no legal choice costs less: what a doubter needs to recompute the bound, as plain data.
//!
//! A *core* is a set of sites of which every legal choice contains at least one: with all other sites chosen, some node is over
//! its limit. (This holds where choosing a site never raises noise; elsewhere no cores are given.) Multipliers `y >= 0` on the cores of a
//! part prove that its sites cost at least
//!
//! ```text
//! sum of y  +  sum over its sites s of min(0, cost(s) - sum of y over the cores with s)
//! ```
//!
//! rounded up to a multiple of the greatest common divisor of its costs. The parts share no site, so their bounds add up. Where all multipliers
//! are costs and the cores are disjoint, this is counting: `k` disjoint cores need `k` sites.

use serde::Serialize;

use crate::instance::Site;

/// What proves a lower bound without a solver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// Pieces that share no site.
    pub parts: Vec<PartCertificate>,
}

/// The proof of one part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartCertificate {
    /// The cores that are used.
    pub cores: Vec<WeighedCore>,
    /// The greatest common divisor of the costs of the sites in the part.
    pub grain: u64,
    /// What the cores prove: the sites of this part cost at least this.
    pub bound: u64,
}

/// A core and its multiplier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WeighedCore {
    /// In increasing order.
    pub sites: Vec<Site>,
    /// In units of `2^-24` of a unit of cost.
    pub multiplier: u128,
}

impl Certificate {
    /// What the cores prove in all.
    pub fn bound(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bound))
    }

    /// Cores, taken greedily by size, that share no site with one another: so many sites at least are in every legal choice.
    pub fn disjoint(&self) -> Vec<&[Site]> {
        let mut cores: Vec<&[Site]> =
            self.parts.iter().flat_map(|it| &it.cores).map(|it| &*it.sites).collect();
        cores.sort_by_key(|it| it.len());
        let mut taken = rustc_hash::FxHashSet::default();
        cores.retain(|core| {
            let is_free = core.iter().all(|site| !taken.contains(site));
            if is_free {
                taken.extend(core.iter().copied());
            }
            is_free
        });
        cores
    }
}
