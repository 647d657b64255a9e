//! The answer of the optimizer: a verified choice with a bound and its certificate.

use std::time::Duration;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::question::instance::Site;

/// A legal choice of sites with a lower bound of the optimum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// The chosen sites, in increasing order.
    pub sites: Vec<Site>,
    /// The sum of the costs of the chosen sites. Saturates.
    pub cost: u64,
    /// A proven lower bound: no legal choice costs less.
    pub lower_bound: u64,
    /// The state of the proof that no legal choice costs less.
    pub proof: Optimality,
    /// The proof of the bound.
    pub certificate: Certificate,
    /// Statistics of the run.
    #[serde(skip)]
    pub stats: PlacementStats,
}

/// The state of the proof that a placement is the cheapest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimality {
    /// The lower bound equals the cost.
    Optimal,
    /// There may be a cheaper placement, but not below the lower bound.
    Gap,
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacementStats {
    /// Number of sites of the instance.
    pub n_sites: usize,
    /// Number of forced sites: every legal choice contains them.
    pub n_forced: usize,
    /// Number of idle sites: some cheapest choice contains none of them.
    pub n_idle: usize,
    /// Number of independent parts after the simplification.
    pub n_parts: usize,
    /// Number of parts with a proven optimum.
    pub n_proven_parts: usize,
    /// Number of sites of the largest part.
    pub n_largest_part_sites: usize,
    /// Cost of the first legal answer.
    pub greedy_cost: u64,
    /// Time until the first legal answer.
    pub greedy_time: Duration,
    /// Time of the whole run.
    pub time: Duration,
}
