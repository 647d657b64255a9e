//! Why no legal choice costs less: what a doubter needs to recompute the bound, as plain data.
//!
//! A [`Proof`] is about some sites with weights (in a part of an instance: with their costs). It has *rows*, inequalities that hold
//! for every legal choice; lists of *multipliers* on them, which prove bounds; and *steps*, a tree that puts these together. Three kinds
//! of rows:
//!
//! - a *core*: one of some sites is chosen, for with all other sites chosen some node is over its limit. (This holds where choosing a
//!   site never raises noise; elsewhere no cores are given.)
//! - a *cut*: the chosen ones of some sites weigh at least so much, by a proof of its own.
//! - a *core where* some nodes pass on less, and some at least, than they are said to: a core among the choices of which that is true.
//!
//! `docs/placement.md` says what each step proves and how that is verified. Sites and nodes are indices into the instance.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::Serializer;

use crate::instance::Bits;

/// What proves a lower bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// Proofs that share no site.
    pub parts: Vec<Proof>,
}

/// The chosen ones of some sites weigh at least `bound` in every legal choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The sites, in increasing order.
    pub sites: Vec<u32>,
    /// Inequalities.
    pub rows: Vec<Row>,
    /// Lists of rows, by index, with their multipliers.
    pub multipliers: Vec<Vec<(u32, Multiplier)>>,
    /// A tree in prefix order.
    pub steps: Vec<Step>,
    /// What they weigh at least.
    pub bound: u64,
}

/// An inequality that holds for every legal choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// One of these sites is chosen. In increasing order.
    Core(Box<[u32]>),
    /// Sites weigh at least so much.
    #[serde(serialize_with = "inner")]
    Cut(Arc<Cut>),
    /// One of some sites is chosen where something is true of the noise.
    CoreWhere(Box<CoreWhere>),
}

/// A core among the choices in which the noise that leaves some nodes is as it is said to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CoreWhere {
    /// One of these sites is chosen. In increasing order.
    pub core: Box<[u32]>,
    /// Less than so many bits leave these nodes.
    pub below: Box<[(u32, Bits)]>,
    /// At least so many bits leave these.
    pub least: Box<[(u32, Bits)]>,
}

/// The chosen ones of some sites weigh at least `least`.
#[derive(Debug, Serialize)]
pub struct Cut {
    /// Sites in increasing order, with their weights.
    pub terms: Vec<(u32, u64)>,
    /// What they weigh at least.
    pub least: u64,
    /// Why.
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

/// A number of at least zero in units of `2^-32` of the greatest common divisor of the weights that a proof is about. Written as a
/// number, or as a string of digits where it does not fit in 64 bits.
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

/// A step of a proof. What it proves holds for the choices that its predecessors leave open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// What this list of multipliers proves.
    Bound(u32),
    /// The lesser of two steps: first without this site, then with it.
    Branch(u32),
    /// The lesser of two steps: first where less than so many bits leave this node, then where as many or more do. There the site of the
    /// node is absent if its reset is less.
    Level(u32, Bits),
    /// The lesser of `least` and the next step, in which some sites are absent and some chosen.
    Settle {
        /// Which list of multipliers proves `least` for every choice that differs in one of these sites.
        multipliers: u32,
        /// What it proves.
        least: u64,
        /// Sites.
        absent: Vec<u32>,
        /// Sites.
        chosen: Vec<u32>,
    },
    /// The sum of proofs about sites of their own, and of the weights of what is chosen besides.
    Split(Vec<Proof>),
    /// No choice weighs less than `least`: a sweep over the nodes finds none.
    Sweep {
        /// The nodes, in an order that keeps few values alive.
        order: Vec<u32>,
        /// Which list of multipliers it prunes by.
        multipliers: u32,
        /// What it finds.
        least: u64,
    },
}

impl Certificate {
    /// What it proves in all.
    pub fn bound(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bound))
    }

    /// Cores, taken greedily by size, that share no site with one another: so many sites at least are in every legal choice.
    pub fn disjoint(&self) -> Vec<&[u32]> {
        let rows = self.parts.iter().flat_map(|it| &it.rows);
        let mut cores: Vec<&[u32]> = rows
            .filter_map(|row| match row {
                Row::Core(sites) => Some(&**sites),
                Row::Cut(_) | Row::CoreWhere(_) => None,
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
    /// That some sites weigh at least `bound`, by multipliers on rows.
    pub(crate) fn by_rows(
        sites: Vec<u32>,
        rows: impl Iterator<Item = (Row, i128)>,
        bound: u64,
    ) -> Proof {
        let (rows, list) = numbered(rows);
        Proof { sites, rows, multipliers: vec![list], steps: vec![Step::Bound(0)], bound }
    }

    /// The same in the numbers of a whole, of whose sites and nodes these are, where costs are so many times as high.
    pub(crate) fn lifted(&self, sites: &[u32], nodes: &[u32], times: u64) -> Proof {
        let lift = |list: &[u32]| lifted(list, sites);
        let step = |step: &Step| match step {
            Step::Bound(list) => Step::Bound(*list),
            Step::Branch(site) => Step::Branch(sites[*site as usize]),
            Step::Level(node, level) => Step::Level(nodes[*node as usize], *level),
            Step::Settle { multipliers, least, absent, chosen } => Step::Settle {
                multipliers: *multipliers,
                least: least.saturating_mul(times),
                absent: lift(absent),
                chosen: lift(chosen),
            },
            Step::Split(pieces) => {
                Step::Split(pieces.iter().map(|it| it.lifted(sites, nodes, times)).collect())
            }
            Step::Sweep { order, multipliers, least } => Step::Sweep {
                order: order
                    .iter()
                    .map(|&v| nodes[v as usize])
                    .filter(|&v| v != crate::graph::NONE)
                    .collect(),
                multipliers: *multipliers,
                least: least.saturating_mul(times),
            },
        };
        // Multipliers count in the greatest common divisor of the weights, which is as many times as high; 1 where there are no weights.
        let times_more = if self.sites.is_empty() { u128::from(times) } else { 1 };
        let list = |list: &Vec<(u32, Multiplier)>| {
            let more = |y: Multiplier| Multiplier(y.0.saturating_mul(times_more));
            list.iter().map(|&(row, y)| (row, more(y))).collect()
        };
        Proof {
            sites: lift(&self.sites),
            rows: self.rows.iter().map(|row| row.lifted(sites, nodes)).collect(),
            multipliers: self.multipliers.iter().map(list).collect(),
            steps: self.steps.iter().map(step).collect(),
            bound: self.bound.saturating_mul(times),
        }
    }
}

/// Rows that have a multiplier, and these by index.
pub(crate) fn numbered(
    rows: impl Iterator<Item = (Row, i128)>,
) -> (Vec<Row>, Vec<(u32, Multiplier)>) {
    let rows = rows.filter(|it| it.1 > 0).enumerate();
    rows.map(|(at, (row, y))| (row, (at as u32, Multiplier(y.unsigned_abs())))).unzip()
}

/// Sites in the numbers of a whole, in increasing order.
fn lifted(list: &[u32], sites: &[u32]) -> Vec<u32> {
    let mut list: Vec<u32> = list.iter().map(|&s| sites[s as usize]).collect();
    list.sort_unstable();
    list
}

impl Row {
    /// The same in the numbers of a whole, of whose sites and nodes these are.
    pub(crate) fn lifted(&self, sites: &[u32], nodes: &[u32]) -> Row {
        match self {
            Row::Core(core) => Row::Core(lifted(core, sites).into()),
            Row::Cut(cut) => {
                let mut terms: Vec<(u32, u64)> =
                    cut.terms.iter().map(|&(s, weight)| (sites[s as usize], weight)).collect();
                terms.sort_unstable();
                let proof = cut.proof.lifted(sites, nodes, 1);
                Row::Cut(Arc::new(Cut { terms, least: cut.least, proof }))
            }
            Row::CoreWhere(it) => {
                let lift = |list: &[(u32, Bits)]| {
                    list.iter().map(|&(v, level)| (nodes[v as usize], level)).collect()
                };
                let core = lifted(&it.core, sites).into();
                let (below, least) = (lift(&it.below), lift(&it.least));
                Row::CoreWhere(Box::new(CoreWhere { core, below, least }))
            }
        }
    }

    /// Calls back with each site and its weight.
    pub(crate) fn for_each(&self, mut of: impl FnMut(u32, u64)) {
        match self {
            Row::Core(core) => core.iter().for_each(|&s| of(s, 1)),
            Row::Cut(cut) => cut.terms.iter().for_each(|&(s, weight)| of(s, weight)),
            Row::CoreWhere(it) => it.core.iter().for_each(|&s| of(s, 1)),
        }
    }

    /// What the chosen sites weigh at least.
    pub(crate) fn least(&self) -> u64 {
        match self {
            Row::Core(_) | Row::CoreWhere(_) => 1,
            Row::Cut(cut) => cut.least,
        }
    }

    /// Its least weight and its terms for a solver in floating point, so that the least weight is 1.
    pub(crate) fn scaled(&self, column: impl Fn(u32) -> u32) -> Vec<(u32, f64)> {
        let least = self.least() as f64;
        let mut terms = Vec::new();
        self.for_each(|s, weight| terms.push((column(s), weight as f64 / least)));
        terms
    }

    /// The multiplier for that of the scaled row.
    pub(crate) fn multiplier(&self, y: f64) -> i128 {
        crate::fixed_point::from_multiplier(y / self.least() as f64)
    }
}
