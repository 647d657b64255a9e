//! The JSON format of certificates: plain data that is not verified yet.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// The certificate of the placements in a program.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The string `noisy-certificate`.
    pub format: String,
    /// The number 1.
    pub version: u32,
    /// The objective: `executed` or `count`.
    pub objective: String,
    /// True if existing resets might be removed.
    pub replace: bool,
    /// If the program was rewritten first, the digest of the rewritten program
    /// ([`crate::equality::Equality::after`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
    /// The systems. They share no function.
    pub systems: Vec<System>,
    /// The functions without a placement.
    pub left: Vec<UnplacedFunction>,
}

/// A function, by its index among those of the program in textual order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The index, from 0.
    pub index: usize,
    /// Its name without `@`.
    pub name: String,
}

/// A function without a placement.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UnplacedFunction {
    /// The function.
    pub function: Function,
    /// The reason.
    pub why: String,
}

/// Functions that were placed together because calls connect them, with one question, one answer
/// and one proof.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The functions in which a reset might be inserted. The question also contains, unchanged, the
    /// other functions that calls connect with them.
    pub functions: Vec<Function>,
    /// The cost of an op that is executed once.
    pub unit: u64,
    /// The question.
    pub instance: Instance,
    /// The chosen sites, in increasing order.
    pub chosen: Vec<u32>,
    /// The total cost of the chosen sites.
    pub cost: u64,
    /// No legal choice costs less.
    pub bound: u64,
    /// The proof of the bound.
    pub parts: Vec<Proof>,
}

/// A graph of noise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The nodes.
    pub nodes: Vec<NodeData>,
    /// The sites.
    pub sites: Vec<SiteData>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NodeData {
    /// The rule for its noise.
    pub rule: NodeRule,
    /// The operands; a node may occur several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<u32>,
    /// The largest legal noise before the reset, in bits; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The site of the reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
}

/// The rule by which noise follows from the operands, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRule {
    /// A constant that does not depend on the operands.
    Source(u32),
    /// The largest operand plus a constant.
    Max(u32),
    /// The sum of the operands plus a constant.
    Sum(u32),
}

/// A position at which a reset may be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SiteData {
    /// The cost of a reset at this site.
    pub cost: u64,
    /// The noise after the nodes of this site if it is chosen, in bits.
    pub reset: u32,
}

/// A proof that the chosen sites among some sites weigh at least `bound`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The sites, in increasing order.
    pub sites: Vec<u32>,
    /// Valid inequalities.
    pub rows: Vec<Row>,
    /// Lists of rows, by index, with their multipliers.
    pub multipliers: Vec<Vec<(u32, Multiplier)>>,
    /// The steps, a tree in prefix order.
    pub steps: Vec<Step>,
    /// A lower bound of the weight of the chosen sites.
    pub bound: u64,
}

/// A valid inequality.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Row {
    /// One of these sites is chosen.
    Core(Vec<u32>),
    /// The chosen sites among these weigh at least `least`.
    Cut {
        /// Sites in increasing order, with their weights.
        terms: Vec<(u32, u64)>,
        /// A lower bound of the weight of the chosen sites.
        least: u64,
        /// The proof, for the sites of `terms`.
        proof: Box<Proof>,
    },
    /// One of the sites of `core` is chosen if the noise fulfils conditions.
    CoreWhere {
        /// The sites, in increasing order.
        core: Vec<u32>,
        /// Nodes with levels: the noise after the node is below the level.
        below: Vec<(u32, u32)>,
        /// Nodes with levels: the noise after the node is at least the level.
        least: Vec<(u32, u32)>,
    },
}

/// A step of a proof.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// The bound that the multipliers with this index prove.
    Bound(u32),
    /// The next two steps assume that this site is absent and that it is chosen, respectively.
    Branch(u32),
    /// The next two steps assume noise below this level after this node and noise of at least this
    /// level, respectively.
    Level(u32, u32),
    /// Some sites are decided in the next step. Multipliers prove `least` for all other choices.
    Settle {
        /// The index of a list of multipliers.
        multipliers: u32,
        /// The bound of the multipliers for every choice that differs in one of these sites.
        least: u64,
        /// The sites that are absent in the next step.
        absent: Vec<u32>,
        /// The sites that are chosen in the next step.
        chosen: Vec<u32>,
    },
    /// Independent proofs without common sites.
    Split(Vec<Proof>),
    /// No choice weighs less than `least`.
    Sweep {
        /// Nodes in an order in which few of them are live at a time. Missing nodes are added so
        /// that operands precede their users.
        order: Vec<u32>,
        /// The index of the multipliers that prove that a state can be dropped.
        multipliers: u32,
        /// The claimed bound.
        least: u64,
    },
}

/// A non-negative number. In JSON a number, or a string of digits if it does not fit in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiplier(pub u128);

impl Serialize for Multiplier {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(it) => to.serialize_u64(it),
            Err(_) => to.serialize_str(&self.0.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Multiplier {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Multiplier;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a non-negative number, or its digits")
            }

            fn visit_u64<E: Error>(self, it: u64) -> Result<Multiplier, E> {
                Ok(Multiplier(it.into()))
            }

            fn visit_str<E: Error>(self, it: &str) -> Result<Multiplier, E> {
                it.parse().map(Multiplier).map_err(E::custom)
            }
        }
        from.deserialize_any(Digits)
    }
}
