//! What the optimizer answers: a verified choice with a bound, or why there is none.

use std::time::Duration;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::instance::{Bits, Node, Site};

/// A legal choice of sites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// Where to reduce, in increasing order.
    pub sites: Vec<Site>,
    /// The sum of their costs; saturates.
    pub cost: u64,
    /// No legal choice costs less.
    pub lower_bound: u64,
    /// Whether the cost is known to be the least.
    pub proof: Optimality,
    /// What proves the bound.
    pub certificate: Certificate,
    /// How it came about.
    #[serde(skip)]
    pub stats: Stats,
}

/// Whether a placement is the cheapest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimality {
    /// Proven: the lower bound meets the cost exactly.
    Optimal,
    /// There may be a cheaper one, but none below the lower bound.
    Gap,
}

/// Figures about a run.
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
    pub(crate) parts_proven: usize,
    /// Sites of the largest part.
    pub largest_part: usize,
    /// Cost of the first legal answer.
    pub greedy_cost: u64,
    /// When the first legal answer was there.
    pub greedy_time: Duration,
    /// Time of the whole run.
    pub time: Duration,
}

/// Why there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// Where the contradiction shows.
    pub node: Node,
    /// What it is.
    pub why: Why,
}

/// Why a node cannot be made legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// With a reduce wherever one can stand the noise here is at least `least` bits, and only `limit` are borne,
    /// by the node itself or by what uses it.
    Over {
        /// The least possible noise, in bits.
        least: Bits,
        /// What is borne, in bits.
        limit: Bits,
    },
    /// A reduce is needed here, and what it leaves is still too much.
    Reset {
        /// Where the reduce is needed.
        site: Site,
        /// What it leaves, in bits.
        reset: Bits,
    },
    /// No choice satisfies this node and those connected with it together.
    Contradiction,
    /// A legal choice may exist, but the limits ended before one was found. Only where a reduce can raise noise.
    NotFound,
    /// The instance names a node or a site that it does not have.
    Malformed,
}
