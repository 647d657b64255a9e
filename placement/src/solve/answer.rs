//! The answer of the optimizer: a verified choice with a bound and its certificate.

use std::time::Duration;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::question::instance::Site;

/// A legal choice of sites, with a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// The chosen sites, in increasing order.
    pub sites: Vec<Site>,
    /// The sum of their costs. Saturates.
    pub cost: u64,
    /// A proven lower bound: no legal choice costs less.
    pub lower_bound: u64,
    /// The state of the proof that no legal choice costs less.
    pub proof: Optimality,
    /// The proof of the bound.
    pub certificate: Certificate,
    /// Statistics of the run.
    #[serde(skip)]
    pub stats: Stats,
}

/// The state of the proof that a placement is the cheapest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimality {
    /// The lower bound is the cost.
    Optimal,
    /// There may be a cheaper placement, but none below the lower bound.
    Gap,
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Sites of the instance.
    pub sites: usize,
    /// Sites that every legal choice contains.
    pub forced: usize,
    /// Sites that no cheapest choice needs.
    pub idle: usize,
    /// Independent parts left to search.
    pub parts: usize,
    /// Parts proven optimal.
    pub parts_proven: usize,
    /// Sites of the largest part.
    pub largest_part: usize,
    /// Cost of the first legal answer.
    pub greedy_cost: u64,
    /// Time until the first legal answer.
    pub greedy_time: Duration,
    /// Time of the whole run.
    pub time: Duration,
}
