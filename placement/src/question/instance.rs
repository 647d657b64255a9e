//! The input of the optimizer: a graph that contains only the noise of a program.
//!
//! An [`Instance`] is plain data that is extracted from the IR and its facts. Nodes are the values
//! with noise, and joins of values. Sites are the positions at which a `reduce_noise` may be
//! inserted.
//!
//! Notation. For a node `v`, `p(v)` is the noise before the reset and `e(v)` the noise after it,
//! which the users of `v` get: `e(v) = reset(s)` if `v` has a chosen site `s`, else `p(v)`. `p` is
//! the *least* solution of
//!
//! ```text
//! Source(n)   p(v) = n
//! Max(k)      p(v) = max over the operands u of e(u), plus k      (0 + k without operands)
//! Sum(k)      p(v) = sum over the operands u of e(u), plus k
//! ```
//!
//! and a choice of sites is *legal* if `p(v) <= limit(v)` for every node. The graph may have cycles
//! (loops with an unknown trip count). The builder of an instance unrolls loops with a known trip
//! count; the iterations share their sites. A site at a use is modelled by a node `Max(0)` with one
//! operand and its own site.

pub mod json;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::json::InstanceJson;

/// An amount of noise in bits.
pub type NoiseBits = u32;

/// A value with noise, or a join of several values: an index into [`Instance::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Node(pub u32);

/// A position at which a reset may be inserted: an index into [`Instance::sites`]. Nodes may share
/// a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site(pub u32);

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// The rule that computes the noise of a node before its reset from the noise of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRule {
    /// A constant: an encoded value, an argument, the result of an existing reset.
    Source(NoiseBits),
    /// The maximum of the operands plus a constant (add, sub; with 0: a block argument, a region
    /// result, a use).
    Max(NoiseBits),
    /// The sum of the operands plus a constant (mul).
    Sum(NoiseBits),
}

impl NodeRule {
    /// Returns the noise before the reset from the noise after each operand.
    #[inline]
    pub(crate) fn noise_before(self, operands: impl Iterator<Item = NoiseBits>) -> NoiseBits {
        match self {
            NodeRule::Source(noise) => noise,
            NodeRule::Max(k) => operands.max().unwrap_or(0).saturating_add(k),
            NodeRule::Sum(k) => operands.fold(k, NoiseBits::saturating_add),
        }
    }
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeData {
    /// The rule for the noise before the reset.
    pub rule: NodeRule,
    /// First operand in [`Instance::operands`].
    pub first_operand: u32,
    /// Number of operands.
    pub n_operands: u32,
    /// The largest legal noise before the reset, in bits; `NoiseBits::MAX` means no limit.
    pub limit: NoiseBits,
    /// The site of a reset after this node, if one is allowed.
    pub site: Option<Site>,
}

/// The cost and the effect of choosing a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteData {
    /// Cost of a reset at this site (number of executions times the cost of one); at least 1. Sums
    /// saturate.
    pub cost: u64,
    /// Noise after a reset at this site, in bits.
    pub reset: NoiseBits,
}

/// The placement problem of one function, or of several functions that share sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "InstanceJson", try_from = "InstanceJson")]
pub struct Instance {
    /// The nodes, preferably in program order. Operands may follow their users.
    pub nodes: Vec<NodeData>,
    /// The operands of all nodes, one after the other.
    pub operands: Vec<Node>,
    /// The sites.
    pub sites: Vec<SiteData>,
}

impl Instance {
    /// Adds a node at the end. Operands may refer to nodes that are added later (cycles).
    pub fn push(
        &mut self,
        rule: NodeRule,
        operands: &[Node],
        limit: NoiseBits,
        site: Option<Site>,
    ) -> Node {
        let node = Node(self.nodes.len() as u32);
        let first_operand = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        let n_operands = operands.len() as u32;
        self.nodes.push(NodeData { rule, first_operand, n_operands, limit, site });
        node
    }

    /// Adds a site.
    pub fn push_site(&mut self, cost: u64, reset: NoiseBits) -> Site {
        self.sites.push(SiteData { cost, reset });
        Site(self.sites.len() as u32 - 1)
    }

    /// Returns the operands of a node.
    pub fn operands(&self, node: Node) -> &[Node] {
        let data = &self.nodes[node.0 as usize];
        &self.operands[data.first_operand as usize..][..data.n_operands as usize]
    }
}
