//! Certificates as they are written: plain data, nothing of it believed.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// What was placed in a program, and what proves it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// `noisy-certificate`.
    pub format: String,
    /// 1.
    pub version: u32,
    /// What costs count: `executed` or `count`.
    pub objective: String,
    /// Whether resets that were there already might go.
    pub replace: bool,
    /// What was placed together. Systems share no function.
    pub systems: Vec<System>,
    /// Functions that were left as they were.
    pub left: Vec<Left>,
}

/// A function, by its place among those of the program in textual order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// From 0.
    pub index: usize,
    /// Its name without `@`.
    pub name: String,
}

/// A function that was left as it was.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// The function.
    pub function: Function,
    /// Why.
    pub why: String,
}

/// Functions that were placed together because calls connect them: one question, one answer, one proof.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The functions in which a reset might be put. Others that calls connect with them take part as they are.
    pub functions: Vec<Function>,
    /// How many units of cost are one op executed once.
    pub unit: u64,
    /// The question.
    pub instance: Instance,
    /// The chosen sites, in increasing order.
    pub chosen: Vec<u32>,
    /// What they cost.
    pub cost: u64,
    /// No legal choice costs less.
    pub bound: u64,
    /// What proves that.
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
    /// How its noise follows from that of its operands.
    pub rule: NodeRule,
    /// Nodes; one may be named several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<u32>,
    /// The most noise that is legal before its reset, in bits; any if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where its reset would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
}

/// How noise follows from what leaves the operands, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRule {
    /// So much, whatever the operands are.
    Source(u32),
    /// The largest, and so much more.
    Max(u32),
    /// The sum, and so much more.
    Sum(u32),
}

/// A site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SiteData {
    /// What it costs to choose it.
    pub cost: u64,
    /// What leaves its nodes then, in bits.
    pub reset: u32,
}

/// The chosen ones of some sites weigh at least `bound`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The sites, in increasing order.
    pub sites: Vec<u32>,
    /// Valid inequalities.
    pub rows: Vec<Row>,
    /// Lists of rows, by place, with their multipliers.
    pub multipliers: Vec<Vec<(u32, Multiplier)>>,
    /// A tree in prefix order.
    pub steps: Vec<Step>,
    /// What they weigh at least.
    pub bound: u64,
}

/// A valid inequality.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Row {
    /// One of these sites is chosen.
    Core(Vec<u32>),
    /// The chosen ones of these sites weigh at least `least`.
    Cut {
        /// Sites in increasing order, with their weights.
        terms: Vec<(u32, u64)>,
        /// What they weigh at least.
        least: u64,
        /// Why: a proof about these sites.
        proof: Box<Proof>,
    },
    /// One of these sites is chosen where the noise is as it is said to be.
    CoreWhere {
        /// Sites in increasing order.
        core: Vec<u32>,
        /// Less than so many bits leave these nodes.
        below: Vec<(u32, u32)>,
        /// At least so many leave these.
        least: Vec<(u32, u32)>,
    },
}

/// A step of a proof.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// By these multipliers.
    Bound(u32),
    /// Without this site, and with it.
    Branch(u32),
    /// Where less than so many bits leave this node, and where as many or more do.
    Level(u32, u32),
    /// Some sites are as they are said to be, or these multipliers prove `least`.
    Settle {
        /// Which list of multipliers.
        multipliers: u32,
        /// What they prove of every choice that differs.
        least: u64,
        /// Sites.
        absent: Vec<u32>,
        /// Sites.
        chosen: Vec<u32>,
    },
    /// Proofs about sites of their own.
    Split(Vec<Proof>),
    /// No choice weighs less than `least`.
    Sweep {
        /// Nodes in an order that keeps few values alive. Those that are missing are put where they fit.
        order: Vec<u32>,
        /// The list of multipliers by which choices are given up early.
        multipliers: u32,
        /// What is found.
        least: u64,
    },
}

/// A number of at least zero, written as a number, or as a string of digits where it does not fit in 64 bits.
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
                f.write_str("a number of at least zero, or its digits")
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
