//! Proofs of lower bounds as plain data, for an independent verifier.
//!
//! A [`Proof`] bounds the weight of some sites; in a part of an instance, the weights are the
//! costs. It has *rows*, which are inequalities that hold for every legal choice; lists of
//! *multipliers* for rows, which prove bounds; and *steps*, which are a tree that combines the
//! bounds. There are three kinds of rows:
//!
//! - a *core*: at least one of some sites is chosen, because a node is over its limit even if all
//!   other sites are chosen. (This requires that choosing a site never raises noise; otherwise
//!   there are no cores.)
//! - a *cut*: the chosen sites among some sites have at least a given total weight. A cut contains
//!   its own proof.
//! - a *conditional core*: a core for the choices in which the noise after some nodes is below
//!   given levels, and the noise after other nodes is at least given levels.
//!
//! `docs/placement-reference.md` describes the claim of each step and its verification. Sites and
//! nodes are indices into the instance.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::Serializer;

use crate::question::instance::NoiseBits;

/// The proof of a lower bound, one proof for each part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// Proofs with disjoint sets of sites.
    pub parts: Vec<Proof>,
}

/// A proof that in every legal choice the chosen sites among `sites` have at least the total weight
/// `bound`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The sites, in increasing order.
    pub sites: Vec<u32>,
    /// Inequalities that hold for every legal choice.
    pub rows: Vec<ProofRow>,
    /// Lists of multipliers; each entry is the index of a row and its multiplier.
    pub multipliers: Vec<Vec<(u32, Multiplier)>>,
    /// The tree of steps, in prefix order.
    pub steps: Vec<ProofStep>,
    /// The least weight of the chosen sites.
    pub bound: u64,
}

/// An inequality that holds for every legal choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofRow {
    /// At least one of these sites is chosen. The sites are in increasing order.
    Core(Box<[u32]>),
    /// The chosen sites among some sites have at least a given total weight.
    #[serde(serialize_with = "inner")]
    Cut(Arc<Cut>),
    /// At least one of some sites is chosen if a condition about the noise holds.
    CoreWhere(Box<ConditionalCore>),
}

/// A core for the choices in which the noise after some nodes is below or at least given levels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ConditionalCore {
    /// At least one of these sites is chosen. The sites are in increasing order.
    pub core: Box<[u32]>,
    /// Nodes with levels: the noise after the node is below the level.
    pub below: Box<[(u32, NoiseBits)]>,
    /// Nodes with levels: the noise after the node is at least the level.
    pub least: Box<[(u32, NoiseBits)]>,
}

/// A proof that the chosen sites among some sites have at least the total weight `least`.
#[derive(Debug, Serialize)]
pub struct Cut {
    /// Sites in increasing order, with their weights.
    pub terms: Vec<(u32, u64)>,
    /// The least weight of the chosen sites.
    pub least: u64,
    /// The proof.
    pub proof: Proof,
}

impl PartialEq for Cut {
    fn eq(&self, other: &Cut) -> bool {
        (&self.terms, self.least) == (&other.terms, other.least)
    }
}

impl Eq for Cut {}

impl std::hash::Hash for Cut {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.terms, self.least).hash(state);
    }
}

fn inner<S: Serializer>(cut: &Arc<Cut>, to: S) -> Result<S::Ok, S::Error> {
    Cut::serialize(cut, to)
}

/// A non-negative multiplier in units of `2^-32` times the greatest common divisor of the weights
/// in the proof. Serialized as a number, or as a string of digits if it does not fit in 64 bits.
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

/// A step of a proof. It proves a bound for the choices that satisfy the decisions of its ancestors
/// in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofStep {
    /// A leaf: the bound that the list of multipliers with this index proves.
    Bound(u32),
    /// The smaller bound of the next two subtrees: first without this site, then with it.
    Branch(u32),
    /// The smaller bound of the next two subtrees: in the first, the noise after this node is below
    /// the level; in the second, it is at least the level. In the second, the site of the node is
    /// absent if its reset is below the level.
    Level(u32, NoiseBits),
    /// The smaller of `least` and the bound of the next subtree, in which the settled sites are
    /// absent or chosen.
    Settle {
        /// Index of the list of multipliers that proves `least` for every choice that differs in a
        /// settled site.
        multipliers: u32,
        /// The bound for choices that differ in a settled site.
        least: u64,
        /// The settled sites that are absent.
        absent: Vec<u32>,
        /// The settled sites that are chosen.
        chosen: Vec<u32>,
    },
    /// The sum of the bounds of proofs without common sites, plus the weights of the other chosen
    /// sites.
    Split(Vec<Proof>),
    /// No choice weighs less than `least`, because dynamic programming over the nodes finds none.
    Sweep {
        /// The nodes, in an order with few live values.
        order: Vec<u32>,
        /// Index of the list of multipliers for pruning.
        multipliers: u32,
        /// The proven bound.
        least: u64,
    },
}

impl Certificate {
    /// Returns the sum of the bounds of all parts. Saturates.
    pub fn bound(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bound))
    }

    /// Returns disjoint cores, selected greedily by size. Every legal choice contains at least as
    /// many sites as there are cores.
    pub fn disjoint_cores(&self) -> Vec<&[u32]> {
        let rows = self.parts.iter().flat_map(|it| &it.rows);
        let mut cores: Vec<&[u32]> = rows
            .filter_map(|row| match row {
                ProofRow::Core(sites) => Some(&**sites),
                ProofRow::Cut(_) | ProofRow::CoreWhere(_) => None,
            })
            .collect();
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

impl Proof {
    /// Returns a proof with one leaf: rows with multipliers that prove `bound` for some sites.
    pub(crate) fn from_multipliers(
        sites: Vec<u32>,
        rows: impl Iterator<Item = (ProofRow, i128)>,
        bound: u64,
    ) -> Proof {
        let (rows, list) = number_rows(rows);
        Proof { sites, rows, multipliers: vec![list], steps: vec![ProofStep::Bound(0)], bound }
    }

    /// Renumbers sites and nodes to the indices of the whole instance, in which costs are `times`
    /// as high.
    pub(crate) fn renumbered(&self, sites: &[u32], nodes: &[u32], times: u64) -> Proof {
        let lift = |list: &[u32]| renumbered_sites(list, sites);
        let step = |step: &ProofStep| match step {
            ProofStep::Bound(list) => ProofStep::Bound(*list),
            ProofStep::Branch(site) => ProofStep::Branch(sites[*site as usize]),
            ProofStep::Level(node, level) => ProofStep::Level(nodes[*node as usize], *level),
            ProofStep::Settle { multipliers, least, absent, chosen } => ProofStep::Settle {
                multipliers: *multipliers,
                least: least.saturating_mul(times),
                absent: lift(absent),
                chosen: lift(chosen),
            },
            ProofStep::Split(pieces) => ProofStep::Split(
                pieces.iter().map(|it| it.renumbered(sites, nodes, times)).collect(),
            ),
            ProofStep::Sweep { order, multipliers, least } => ProofStep::Sweep {
                order: order
                    .iter()
                    .map(|&v| nodes[v as usize])
                    .filter(|&v| v != crate::question::graph::NO_INDEX)
                    .collect(),
                multipliers: *multipliers,
                least: least.saturating_mul(times),
            },
        };
        // The unit of multipliers, the common divisor of the weights, is also `times` as high,
        // except without weights, when it is 1.
        let times_more = if self.sites.is_empty() { u128::from(times) } else { 1 };
        let list = |list: &Vec<(u32, Multiplier)>| {
            let more = |y: Multiplier| Multiplier(y.0.saturating_mul(times_more));
            list.iter().map(|&(row, y)| (row, more(y))).collect()
        };
        Proof {
            sites: lift(&self.sites),
            rows: self.rows.iter().map(|row| row.renumbered(sites, nodes)).collect(),
            multipliers: self.multipliers.iter().map(list).collect(),
            steps: self.steps.iter().map(step).collect(),
            bound: self.bound.saturating_mul(times),
        }
    }
}

/// Returns the rows with a positive multiplier, and the list of their indices and multipliers.
pub(crate) fn number_rows(
    rows: impl Iterator<Item = (ProofRow, i128)>,
) -> (Vec<ProofRow>, Vec<(u32, Multiplier)>) {
    let rows = rows.filter(|it| it.1 > 0).enumerate();
    rows.map(|(at, (row, y))| (row, (at as u32, Multiplier(y.unsigned_abs())))).unzip()
}

/// Renumbers sites and sorts them.
fn renumbered_sites(list: &[u32], sites: &[u32]) -> Vec<u32> {
    let mut list: Vec<u32> = list.iter().map(|&s| sites[s as usize]).collect();
    list.sort_unstable();
    list
}

impl ProofRow {
    /// Renumbers sites and nodes to the indices of the whole instance.
    pub(crate) fn renumbered(&self, sites: &[u32], nodes: &[u32]) -> ProofRow {
        match self {
            ProofRow::Core(core) => ProofRow::Core(renumbered_sites(core, sites).into()),
            ProofRow::Cut(cut) => {
                let mut terms: Vec<(u32, u64)> =
                    cut.terms.iter().map(|&(s, weight)| (sites[s as usize], weight)).collect();
                terms.sort_unstable();
                let proof = cut.proof.renumbered(sites, nodes, 1);
                ProofRow::Cut(Arc::new(Cut { terms, least: cut.least, proof }))
            }
            ProofRow::CoreWhere(it) => {
                let lift = |list: &[(u32, NoiseBits)]| {
                    list.iter().map(|&(v, level)| (nodes[v as usize], level)).collect()
                };
                let core = renumbered_sites(&it.core, sites).into();
                let (below, least) = (lift(&it.below), lift(&it.least));
                ProofRow::CoreWhere(Box::new(ConditionalCore { core, below, least }))
            }
        }
    }

    /// Calls `of` with each site and its weight.
    pub(crate) fn for_each(&self, mut of: impl FnMut(u32, u64)) {
        match self {
            ProofRow::Core(core) => core.iter().for_each(|&s| of(s, 1)),
            ProofRow::Cut(cut) => cut.terms.iter().for_each(|&(s, weight)| of(s, weight)),
            ProofRow::CoreWhere(it) => it.core.iter().for_each(|&s| of(s, 1)),
        }
    }

    /// Returns the least weight of the chosen sites.
    pub(crate) fn least(&self) -> u64 {
        match self {
            ProofRow::Core(_) | ProofRow::CoreWhere(_) => 1,
            ProofRow::Cut(cut) => cut.least,
        }
    }

    /// Returns the terms of the row by column for a solver in floating point, scaled so that the
    /// right-hand side is 1.
    pub(crate) fn scaled_terms(&self, column: impl Fn(u32) -> u32) -> Vec<(u32, f64)> {
        let least = self.least() as f64;
        let mut terms = Vec::new();
        self.for_each(|s, weight| terms.push((column(s), weight as f64 / least)));
        terms
    }

    /// Converts the multiplier of the scaled row to an integer multiplier of this row.
    pub(crate) fn multiplier(&self, y: f64) -> i128 {
        from_multiplier(y / self.least() as f64)
    }
}

/// Multipliers and bounds are integers in units of `2^-SCALE`, so sums are exact, and no proof
/// depends on the rounding of a solver.
pub(crate) const SCALE: u32 = 32;

/// Converts a multiplier of the solver to an integer. Rounds down; negative values become zero.
pub(crate) fn from_multiplier(y: f64) -> i128 {
    if y.is_finite() { (y.max(0.0) * (1_u64 << SCALE) as f64) as i128 } else { 0 }
}

/// Returns the least integer cost at or above a bound in units of `2^-SCALE`.
pub(crate) fn ceil_cost(bound: i128) -> u64 {
    let unit = 1_i128 << SCALE;
    u64::try_from((bound.max(0) + unit - 1) >> SCALE).unwrap_or(u64::MAX)
}
