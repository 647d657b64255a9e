//! A sweep over a graph without cycles, which proves that no legal choice weighs less than a bound.
//!
//! The sweep visits one node after the other. A *state* is the noise after the live nodes, those
//! with a user that is not visited yet, with the least weight that reaches this noise. A node with
//! an open site splits each state in two; equal states are merged. In the end no state weighs less
//! than the bound.
//!
//! # Notation
//!
//! `lo(v)` and `hi(v)` are the least and the largest noise after node `v` in a legal choice, where
//! open sites without a weight give the lesser noise. `bears(v)` is the largest noise after `v`
//! that brings no node over its limit through `v`, whatever all other noise is. So all noise up to
//! `floor(v)`, the larger of `lo(v)` and `bears(v)`, is equivalent. A node with `hi(v) <= floor(v)`
//! needs no place in a state.
//!
//! # Pruning
//!
//! Multipliers `y` prove a bound. The weight of a choice exceeds this bound by the reduced weight
//! of each chosen site if it is positive, by minus the reduced weight of each absent site if it is
//! negative, and by `y` for each chosen site of a core after the first. A state is dropped if its
//! excess so far reaches the claimed bound. A state is also dropped if another state has no more
//! weight and no more noise after any node.

use std::collections::btree_map::{BTreeMap, Entry};

use crate::file::{Multiplier, NodeRule, Proof, Row};
use crate::noise::LeastNoise;
use crate::reduced_weights::{Decision, ReducedWeights};

/// The largest number of states at a time. A sweep with more states fails.
pub const MAX_STATES: usize = 1 << 20;
/// The largest number of cores that are tracked at a time.
const MAX_TRACKED_CORES: usize = 512;

/// The input of a sweep.
pub(crate) struct SweepInput<'a> {
    pub decided: &'a [Decision],
    pub weights: &'a BTreeMap<u32, u64>,
    pub order: &'a [u32],
    pub least: u64,
    pub proof: &'a Proof,
    pub multipliers: usize,
    pub reduced_weights: &'a ReducedWeights,
}

/// The choices with the least weight that lead to a state.
#[derive(Clone, Debug)]
struct LightestPath {
    weight: u64,
    /// The excess of the weight over the bound, in the units of multipliers.
    excess: i128,
    /// The tracked cores with a chosen site, as bits.
    hit_cores: [u64; MAX_TRACKED_CORES / 64],
}

/// The noise after the live nodes.
type LiveNoise = Box<[u32]>;

/// The bounds of a node, as the module header defines them.
#[derive(Clone, Copy, Debug, Default)]
struct NodeBounds {
    lo: u64,
    hi: u64,
    floor: u64,
    /// True if the node has a place in states, or may be over its limit.
    is_active: bool,
}

/// Verifies that no legal choice weighs less than the claimed bound.
///
/// # Errors
///
/// If the claim is false or could not be verified.
pub(crate) fn sweep(noise: &LeastNoise, terms: &SweepInput) -> Result<(), String> {
    let topological = topological_order(noise).ok_or("a sweep over a program with loops")?;
    let Some(swept) = node_bounds(noise, terms, &topological) else { return Ok(()) };
    let order = sweep_order(noise, terms, &swept, &topological)?;
    let nodes = &noise.instance.nodes;
    let mut last: Vec<usize> = vec![0; nodes.len()];
    for (at, &v) in order.iter().enumerate() {
        for &u in &nodes[v as usize].operands {
            last[u as usize] = at;
        }
    }
    let followed = TrackedCores::new(noise, terms, &order);
    // Returns the weight of a choice with this excess.
    let enough = |excess: i128| {
        terms.reduced_weights.rounded(terms.reduced_weights.sum.saturating_add(excess))
    };
    let at_once: u64 = terms
        .weights
        .iter()
        .filter(|it| terms.decided[*it.0 as usize] == Decision::Chosen)
        .fold(0, |sum, it| sum.saturating_add(*it.1));
    let mut live: Vec<u32> = Vec::new();
    let start = LightestPath { weight: at_once, excess: 0, hit_cores: [0; MAX_TRACKED_CORES / 64] };
    let mut states: BTreeMap<LiveNoise, LightestPath> =
        BTreeMap::from([(LiveNoise::default(), start)]);
    let mut n_kept = 32;
    for (at, &v) in order.iter().enumerate() {
        let (node, it) = (&nodes[v as usize], swept[v as usize]);
        let keeps = last[v as usize] > at && it.hi > it.floor;
        let stays: Vec<bool> = live.iter().map(|&u| last[u as usize] > at).collect();
        let place: BTreeMap<u32, usize> = live.iter().enumerate().map(|it| (*it.1, it.0)).collect();
        let site = node.site.filter(|s| keeps && terms.weights.contains_key(s));
        let site = site.filter(|&s| terms.decided[s as usize] == Decision::Open);
        let reduced = site.map_or(0, |s| terms.reduced_weights.reduced[&s]);
        let mut next: BTreeMap<LiveNoise, LightestPath> = BTreeMap::new();
        for (state, way) in &states {
            let leaves = |u: u32| match place.get(&u) {
                Some(&place) => u64::from(state[place]),
                None => swept[u as usize].floor,
            };
            let before = noise_before(node, leaves);
            if before > u64::from(node.limit.unwrap_or(u32::MAX)) {
                continue;
            }
            let mut put = |leaves: u64, mut way: LightestPath| {
                if enough(way.excess) >= terms.least {
                    return;
                }
                followed.release_bits(at, &mut way);
                let kept = state.iter().zip(&stays).filter(|it| *it.1).map(|it| *it.0);
                let own = keeps.then(|| leaves.max(it.floor).min(u64::from(u32::MAX)) as u32);
                match next.entry(kept.chain(own).collect()) {
                    Entry::Vacant(place) => {
                        place.insert(way);
                    }
                    Entry::Occupied(mut old) => {
                        if (way.weight, way.excess) < (old.get().weight, old.get().excess) {
                            old.insert(way);
                        }
                    }
                }
            };
            if let Some(s) = site {
                let mut chosen = way.clone();
                chosen.weight = way.weight.saturating_add(terms.weights[&s]);
                chosen.excess += reduced.max(0);
                followed.record_site(s, &mut chosen);
                put(u64::from(noise.instance.sites[s as usize].reset), chosen);
                put(before, LightestPath { excess: way.excess + (-reduced).max(0), ..way.clone() });
            } else {
                put(noise_after(noise, terms, v, before), way.clone());
            }
        }
        let mut still = stays.iter();
        live.retain(|_| still.next().copied().unwrap_or(false));
        if keeps {
            live.push(v);
        }
        states = next;
        if states.len() >= 2 * n_kept {
            drop_dominated(&mut states, live.len());
            n_kept = states.len().max(32);
        } else {
            n_kept = n_kept.min(states.len()).max(32);
        }
        if states.len() > MAX_STATES {
            return Err(format!("a sweep of more than {MAX_STATES} states"));
        }
    }
    match states.values().map(|it| it.weight).min() {
        Some(weight) if weight < terms.least => {
            Err(format!("a sweep finds a choice of {weight}, less than {}", terms.least))
        }
        _ => Ok(()),
    }
}

/// Returns the noise before a node, given the noise after its operands.
fn noise_before(node: &crate::file::NodeData, leaves: impl Fn(u32) -> u64) -> u64 {
    let leaving = node.operands.iter().map(|&u| leaves(u));
    let now = match node.rule {
        NodeRule::Source(noise) => u64::from(noise),
        NodeRule::Max(plus) => leaving.max().unwrap_or(0) + u64::from(plus),
        NodeRule::Sum(plus) => leaving.fold(u64::from(plus), u64::saturating_add),
    };
    // The largest number represents all noise above it.
    now.min(u64::from(u32::MAX))
}

/// Returns the noise after a node at which the sweep has no choice, given the noise before it. A
/// site that is neither decided nor has a weight gives the lesser noise.
fn noise_after(noise: &LeastNoise, terms: &SweepInput, v: u32, before: u64) -> u64 {
    let Some(s) = noise.instance.nodes[v as usize].site else { return before };
    let reset = u64::from(noise.instance.sites[s as usize].reset);
    match terms.decided[s as usize] {
        Decision::Chosen => reset,
        Decision::Absent => before,
        Decision::Open if terms.weights.contains_key(&s) => before,
        Decision::Open => before.min(reset),
    }
}

/// Returns true if the site of a node is decided to be chosen.
fn is_chosen(noise: &LeastNoise, terms: &SweepInput, v: u32) -> bool {
    let site = noise.instance.nodes[v as usize].site;
    site.is_some_and(|s| terms.decided[s as usize] == Decision::Chosen)
}

/// Returns the site of a node if it is open and has a weight.
fn open_site(noise: &LeastNoise, terms: &SweepInput, v: u32) -> Option<u32> {
    let s = noise.instance.nodes[v as usize].site?;
    let is_free = terms.decided[s as usize] == Decision::Open && terms.weights.contains_key(&s);
    is_free.then_some(s)
}

/// Returns the nodes in topological order, operands first; `None` if there are cycles.
fn topological_order(noise: &LeastNoise) -> Option<Vec<u32>> {
    let n = noise.users.len();
    let mut waits = vec![0_usize; n];
    for users in &noise.users {
        for &w in users {
            waits[w as usize] += 1;
        }
    }
    let mut out: Vec<u32> = (0..n as u32).filter(|&v| waits[v as usize] == 0).collect();
    let mut next = 0;
    while let Some(&v) = out.get(next) {
        next += 1;
        for &w in &noise.users[v as usize] {
            waits[w as usize] -= 1;
            if waits[w as usize] == 0 {
                out.push(w);
            }
        }
    }
    (out.len() == n).then_some(out)
}

/// Computes the bounds that the module header defines; `None` if no choice is legal.
fn node_bounds(
    noise: &LeastNoise,
    terms: &SweepInput,
    topological: &[u32],
) -> Option<Vec<NodeBounds>> {
    let nodes = &noise.instance.nodes;
    let mut swept = vec![NodeBounds::default(); nodes.len()];
    let mut most_before = vec![0_u64; nodes.len()];
    let limit = |v: u32| u64::from(nodes[v as usize].limit.unwrap_or(u32::MAX));
    for &v in topological {
        let node = &nodes[v as usize];
        let (lo, hi) = (
            noise_before(node, |u| swept[u as usize].lo),
            noise_before(node, |u| swept[u as usize].hi),
        );
        if lo > limit(v) {
            return None;
        }
        most_before[v as usize] = hi;
        let hi = hi.min(limit(v));
        let (lo, hi) = match open_site(noise, terms, v) {
            Some(s) => {
                let reset = u64::from(noise.instance.sites[s as usize].reset);
                (lo.min(reset), hi.max(reset))
            }
            None => (noise_after(noise, terms, v, lo), noise_after(noise, terms, v, hi)),
        };
        (swept[v as usize].lo, swept[v as usize].hi) = (lo, hi);
    }
    // The largest noise before each node that brings no node over its limit.
    let mut bears_before = vec![0_i128; nodes.len()];
    for &v in topological.iter().rev() {
        let mut bears = i128::MAX / 4;
        for &w in &noise.users[v as usize] {
            let user = &nodes[w as usize];
            let room = bears_before[w as usize];
            let own = match user.rule {
                NodeRule::Source(_) => continue,
                NodeRule::Max(plus) => room - i128::from(plus),
                NodeRule::Sum(plus) => {
                    let others = user.operands.iter().filter(|&&u| u != v);
                    let others: i128 = others.map(|&u| i128::from(swept[u as usize].hi)).sum();
                    let times = user.operands.iter().filter(|&&u| u == v).count() as i128;
                    (room - i128::from(plus) - others).div_euclid(times)
                }
            };
            bears = bears.min(own);
        }
        let it = &mut swept[v as usize];
        it.floor = u64::try_from(bears.min(i128::from(it.hi))).unwrap_or(0).max(it.lo);
        it.is_active = it.hi > it.floor || most_before[v as usize] > limit(v);
        let within = i128::from(limit(v));
        bears_before[v as usize] =
            if is_chosen(noise, terms, v) { within } else { within.min(bears) };
    }
    Some(swept)
}

/// Returns the active nodes in the order of the proof, with operands moved before their users.
fn sweep_order(
    noise: &LeastNoise,
    terms: &SweepInput,
    swept: &[NodeBounds],
    topological: &[u32],
) -> Result<Vec<u32>, String> {
    let nodes = &noise.instance.nodes;
    let mut is_out: Vec<bool> = swept.iter().map(|it| !it.is_active).collect();
    let mut out = Vec::new();
    for &v in terms.order.iter().chain(topological) {
        if v as usize >= nodes.len() {
            return Err(format!("there is no node {v}"));
        }
        let mut stack = vec![v];
        while let Some(&v) = stack.last() {
            let open = nodes[v as usize].operands.iter().copied().find(|&u| !is_out[u as usize]);
            match open {
                Some(u) if !is_out[v as usize] => stack.push(u),
                _ => {
                    if !std::mem::replace(&mut is_out[v as usize], true) {
                        out.push(v);
                    }
                    stack.pop();
                }
            }
        }
    }
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    for &v in &out {
        if let Some(s) =
            open_site(noise, terms, v).filter(|_| swept[v as usize].hi > swept[v as usize].floor)
            && let Some(first) = seen.insert(s, v)
        {
            return Err(format!("a sweep over site {s}, which nodes {first} and {v} share"));
        }
    }
    Ok(out)
}

/// The tracked cores with their multipliers. A core has a bit from the first to the last of its
/// sites.
struct TrackedCores {
    bits_of_site: BTreeMap<u32, Vec<(usize, i128)>>,
    bits_ended_at: Vec<Vec<usize>>,
}

impl TrackedCores {
    fn new(noise: &LeastNoise, terms: &SweepInput, order: &[u32]) -> TrackedCores {
        let mut at: BTreeMap<u32, usize> = BTreeMap::new();
        for (rank, &v) in order.iter().enumerate() {
            if let Some(s) = open_site(noise, terms, v) {
                at.insert(s, rank);
            }
        }
        let mut spans = Vec::new();
        for &(row, Multiplier(y)) in &terms.proof.multipliers[terms.multipliers] {
            let Row::Core(sites) = &terms.proof.rows[row as usize] else { continue };
            let ranks = sites.iter().filter_map(|s| at.get(s).copied());
            if let (Some(first), Some(last)) = (ranks.clone().min(), ranks.max()) {
                spans.push((first, last, sites, y as i128));
            }
        }
        spans.sort_by_key(|it| (it.0, it.1));
        let mut out = TrackedCores {
            bits_of_site: BTreeMap::new(),
            bits_ended_at: vec![Vec::new(); order.len()],
        };
        let mut free_from = [0_usize; MAX_TRACKED_CORES];
        for (first, last, sites, y) in spans {
            let Some(bit) = free_from.iter().position(|&from| from <= first) else { continue };
            free_from[bit] = last + 1;
            out.bits_ended_at[last].push(bit);
            for &s in sites {
                if at.contains_key(&s) {
                    out.bits_of_site.entry(s).or_default().push((bit, y));
                }
            }
        }
        out
    }

    fn record_site(&self, site: u32, way: &mut LightestPath) {
        for &(bit, y) in self.bits_of_site.get(&site).into_iter().flatten() {
            let (word, bit) = (bit / 64, 1_u64 << (bit % 64));
            if way.hit_cores[word] & bit != 0 {
                way.excess += y;
            }
            way.hit_cores[word] |= bit;
        }
    }

    fn release_bits(&self, rank: usize, way: &mut LightestPath) {
        for &bit in &self.bits_ended_at[rank] {
            way.hit_cores[bit / 64] &= !(1_u64 << (bit % 64));
        }
    }
}

/// Drops each state that has no less weight than another and at least as much noise after each
/// node.
fn drop_dominated(states: &mut BTreeMap<LiveNoise, LightestPath>, n_live: usize) {
    let mut levels: Vec<Vec<u32>> = vec![Vec::new(); n_live];
    for state in states.keys() {
        for (list, &level) in levels.iter_mut().zip(state) {
            list.push(level);
        }
    }
    for list in &mut levels {
        list.sort_unstable();
        list.dedup();
    }
    let is_beaten = |state: &LiveNoise, way: &LightestPath| {
        let mut other = state.clone();
        for (place, list) in levels.iter().enumerate() {
            let own = other[place];
            for &level in list.iter().take_while(|&&it| it < own) {
                other[place] = level;
                if states.get(&other).is_some_and(|it| it.weight <= way.weight) {
                    return true;
                }
            }
            other[place] = own;
        }
        false
    };
    let beaten: Vec<LiveNoise> =
        states.iter().filter(|it| is_beaten(it.0, it.1)).map(|it| it.0.clone()).collect();
    for state in beaten {
        states.remove(&state);
    }
}
