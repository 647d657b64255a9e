//! Reasons why an instance has no legal choice.

use super::instance::{Node, NoiseBits, Site};

/// The reason why there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The node at which the contradiction was found.
    pub node: Node,
    /// The contradiction.
    pub reason: InfeasibleReason,
}

/// The reason why a node cannot be made legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfeasibleReason {
    /// Even with all possible resets, the noise of the node is at least `least` bits. The node
    /// itself or one of its users tolerates only `limit` bits.
    OverLimit {
        /// The least possible noise, in bits.
        least: NoiseBits,
        /// The largest tolerated noise of the node, in bits.
        limit: NoiseBits,
    },
    /// The node needs a reset, but the noise after the reset is still over the limit.
    ResetOverLimit {
        /// The site at which the reset is needed.
        site: Site,
        /// The noise after the reset, in bits.
        reset: NoiseBits,
    },
    /// No choice satisfies the limits of this node and of all nodes that are connected with it.
    Contradiction,
    /// A legal choice may exist, but the limits of the run were reached before one was found. This
    /// happens only if a reset can raise noise.
    NotFound,
    /// The instance refers to a node or a site that does not exist.
    Malformed,
}
