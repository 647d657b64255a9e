//! Exact by dynamic programming over a frontier, for programs whose values are short-lived.
//!
//! Walk the nodes in order. What the past means to the future is the noise of the *live* values, those with users to
//! come. A state is that noise; for each state the least cost is kept. At a node each state branches into
//! "reduce here" and "leave it", and values that died are forgotten, which merges states.
//!
//! Pruning, which leaves at least one cheapest choice if it is better than the incumbent:
//!
//! - *bound*: a state dies when its cost plus a bound on what the rest of the nodes cost (cores that lie wholly
//!   in the rest, with their multipliers) reaches the incumbent;
//! - *dominance*: a state dies when one with a level lowered at one value costs no more.
//!
//! If all states die, the incumbent is optimal. The number of states is exponential in the number of live values at worst;
//! the sweep gives up at a given number, and then has proved nothing.
//!
//! Needs: no loops, one node per site, resets that never raise noise, and a frontier whose levels fit in 128 bits.
//!
//! Source of the idea: dynamic programming over a path decomposition; the order of the program is one.
#![allow(clippy::iter_over_hash_type, reason = "the hasher has no seed: the order is repeatable")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::graph::{Graph, NONE};
use super::instance::Bits;

/// What came of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Swept {
    /// No choice costs less than the incumbent.
    NoneBetter,
    /// The cheapest choice; it costs less than the incumbent.
    Better(Vec<bool>),
    /// Too many states, or a graph that this is not for.
    GaveUp,
}

/// What a sweep may use and is told.
pub(super) struct Terms<'a> {
    /// Cost of the incumbent.
    pub upper: u64,
    /// Per place in the order: a bound on the cost of sites from there on.
    pub rest: &'a [u64],
    /// Most states at a time.
    pub states: usize,
    /// Asked often; true ends the sweep.
    pub stop: &'a dyn Fn() -> bool,
}

/// Hashes the packed levels by a multiplication.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u128(&mut self, key: u128) {
        let low = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let high = ((key >> 64) as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        self.0 = (low ^ high.rotate_left(31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

type Map = HashMap<u128, (u64, u32), BuildHasherDefault<Mix>>;

/// Where the level of a live value is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Zero for a value of one level only.
    mask: u128,
    shift: u32,
    base: Bits,
}

impl Slot {
    fn read(self, key: u128) -> Bits {
        self.base + ((key & self.mask) >> self.shift) as Bits
    }
}

/// Sweeps a graph. Returns the work done, in states looked at.
pub(super) fn sweep(graph: &Graph, lo: &[Bits], hi: &[Bits], terms: &Terms) -> (Swept, u64) {
    let mut work = 0;
    let fits =
        !graph.cyclic && (0..graph.n_sites() as u32).all(|s| graph.nodes_of.of(s).len() == 1);
    if !fits {
        return (Swept::GaveUp, work);
    }
    let n = graph.n_nodes();
    // The rank after which a value is dead.
    let last: Vec<u32> = (0..n as u32)
        .map(|v| graph.users.of(v).iter().map(|&w| graph.rank[w as usize]).max().unwrap_or(0))
        .collect();
    let mut slots = vec![Slot::default(); n];
    let mut live: Vec<u32> = Vec::new();
    let mut used = 0_u128;
    let mut states = Map::default();
    states.insert(0, (0, 0));
    // Decisions as a tree: (parent, node where a site was chosen).
    let mut tree: Vec<(u32, u32)> = vec![(0, NONE)];
    for (rank, &v) in graph.order.iter().enumerate() {
        let i = v as usize;
        let keeps = last[i] > rank as u32;
        if keeps {
            let width = Bits::BITS - hi[i].saturating_sub(lo[i]).leading_zeros();
            let slot = if width == 0 { Some(0) } else { room(used, width) };
            let Some(shift) = slot else { return (Swept::GaveUp, work) };
            slots[i] = Slot { shift, mask: ((1 << width) - 1) << shift, base: lo[i] };
            if width > 0 {
                used |= slots[i].mask;
                live.push(v);
            }
        }
        let mut dead = 0_u128;
        live.retain(|&u| {
            let lives = last[u as usize] > rank as u32;
            if !lives {
                dead |= slots[u as usize].mask;
            }
            lives
        });
        let site = graph.site[i];
        let rest = terms.rest[rank + 1];
        let mut next =
            Map::with_capacity_and_hasher(states.len() * 2, BuildHasherDefault::default());
        for (&key, &(cost, trace)) in &states {
            let p = graph.before(v, |u| slots[u as usize].read(key));
            if p > graph.limit[i] {
                continue;
            }
            let mut put = |e: Bits, cost: u64, trace: u32| {
                if cost.saturating_add(rest) >= terms.upper {
                    return false;
                }
                let mut key = key & !dead;
                if keeps && slots[i].mask != 0 {
                    key |= u128::from(e - slots[i].base) << slots[i].shift;
                }
                match next.entry(key) {
                    std::collections::hash_map::Entry::Occupied(mut old) => {
                        if cost < old.get().0 {
                            old.insert((cost, trace));
                            return true;
                        }
                        false
                    }
                    std::collections::hash_map::Entry::Vacant(place) => {
                        place.insert((cost, trace));
                        true
                    }
                }
            };
            put(p, cost, trace);
            if site != NONE && keeps && graph.reset[site as usize] < p {
                let cost = cost.saturating_add(graph.cost[site as usize]);
                let here = tree.len() as u32;
                if put(graph.reset[site as usize], cost, here) {
                    tree.push((trace, v));
                }
            }
        }
        work += states.len() as u64 * 4;
        used &= !dead;
        states = undominated(next, &live, &slots);
        if states.is_empty() {
            return (Swept::NoneBetter, work);
        }
        if states.len() > terms.states || tree.len() > 1 << 27 || (terms.stop)() {
            return (Swept::GaveUp, work);
        }
    }
    let Some(&(_, mut trace)) = states.values().min() else {
        return (Swept::NoneBetter, work);
    };
    let mut chosen = vec![false; graph.n_sites()];
    while trace != 0 {
        let (parent, v) = tree[trace as usize];
        chosen[graph.site[v as usize] as usize] = true;
        trace = parent;
    }
    (Swept::Better(chosen), work)
}

/// The states that no state one level lower at one value dominates.
fn undominated(states: Map, live: &[u32], slots: &[Slot]) -> Map {
    if states.len() < 64 {
        return states;
    }
    let kept = states.iter().filter(|&(&key, &(cost, _))| {
        !live.iter().any(|&u| {
            let slot = slots[u as usize];
            let mut lower = key;
            while lower & slot.mask != 0 {
                lower -= 1 << slot.shift;
                if states.get(&lower).is_some_and(|&(other, _)| other <= cost) {
                    return true;
                }
            }
            false
        })
    });
    kept.map(|(&key, &value)| (key, value)).collect()
}

/// The lowest place for a field of `width` bits among those used.
fn room(used: u128, width: u32) -> Option<u32> {
    let field = (1_u128 << width) - 1;
    (0..=128 - width).find(|&shift| used & (field << shift) == 0)
}
