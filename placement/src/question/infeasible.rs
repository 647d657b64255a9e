//! Reasons why there is no legal choice.

use super::instance::{Bits, Node, Site};

/// The reason why there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The node at which the contradiction shows.
    pub node: Node,
    /// The contradiction.
    pub why: Why,
}

/// The reason why a node cannot be made legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Even with all possible reduces, the noise of the node is at least `least` bits. The node
    /// itself or one of its users bears only `limit` bits.
    Over {
        /// The least possible noise, in bits.
        least: Bits,
        /// The largest legal noise of the node, in bits.
        limit: Bits,
    },
    /// The node needs a reduce, and the noise after it is still over the limit.
    Reset {
        /// The site at which the reduce is needed.
        site: Site,
        /// The noise after the reduce, in bits.
        reset: Bits,
    },
    /// No choice satisfies this node and the nodes connected with it together.
    Contradiction,
    /// A legal choice may exist, but the limits ended before one was found. This happens only if a
    /// reduce can raise noise.
    NotFound,
    /// The instance names a node or a site that it does not have.
    Malformed,
}
