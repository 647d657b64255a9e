//! Exact solution of narrow programs, by dynamic programming over a frontier.
//!
//! The nodes are visited in an order in which operands come first. Decisions about later nodes
//! depend on earlier ones only through the noise of the *live* values, which still have later
//! users. A state is the noise of all live values, and the least cost of each state is kept. At a
//! node, each state branches into "reset" and "no reset", and the noise of dead values is dropped,
//! which merges states.
//!
//! Pruning keeps at least one cheapest choice if it is better than the incumbent:
//!
//! - *Excess.* With the multipliers `y` of the relaxation and the reduced costs `r` of the sites, a
//!   choice costs
//!
//!   ```text
//!   bound + sum of r(s) over chosen s with r(s) > 0 + sum of -r(s) over other s with r(s) < 0
//!         + sum over cores of y * (times the core is hit - 1)
//!   ```
//!
//!   No term is negative if each core is hit, so the excess of a state never decreases, and a state
//!   is dropped when its excess reaches the incumbent. For the cores across the frontier, the state
//!   records the ones that are already hit.
//! - *Dominance.* A state is dropped if another state costs at most as much and differs only by a
//!   lower level of one value.
//!
//! Of equal states the cheaper one is kept, with its own excess.
//!
//! If all states are dropped, the incumbent is optimal. In the worst case the number of states is
//! exponential in the number of live values. Above a given number, the run gives up and proves
//! nothing.
//!
//! The order is the program order, or an order with few live values, whichever has the narrower
//! frontier.
//!
//! Requirements: no cycles, one node per site, resets that never raise noise, and a frontier whose
//! levels fit in [`WORDS`] words.
//!
//! Source of the idea: dynamic programming over a path decomposition, with pruning by the
//! Lagrangian bound.

use std::collections::BTreeSet;

use crate::certificate::{ProofRow, SCALE};
use crate::question::graph::{NO_INDEX, NoiseGraph, for_each_once};
use crate::question::instance::NoiseBits;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SweepOutcome {
    /// No choice costs less than the incumbent.
    NoneBetter,
    /// The cheapest choice, which costs less than the incumbent.
    Better(Vec<bool>),
    /// Too many states, or an unsuitable graph.
    GaveUp,
}

/// The input of a run.
pub(crate) struct SweepInput<'a> {
    /// The order of the nodes.
    pub frontier: &'a FrontierOrder,
    /// The lowest and the highest possible noise after each node.
    pub levels: (&'a [NoiseBits], &'a [NoiseBits]),
    /// A proven lower bound, in units of `2^-SCALE`.
    pub bound: i128,
    /// The largest cost of a better choice, in units of `2^-SCALE`.
    pub better: i128,
    /// The rows that prove the bound, with their multipliers. Only cores are tracked.
    pub rows: &'a [(ProofRow, i128)],
    /// The reduced cost of each site.
    pub reduced: &'a [i128],
    /// Maximum number of states after a node.
    pub states: usize,
    /// Maximum work of the run.
    pub work: u64,
    /// Polled often; true ends the run.
    pub stop: &'a dyn Fn() -> bool,
}

/// Number of 64-bit words for the levels of all live values.
const WORDS: usize = 4;
/// Number of 64-bit words for the cores across a frontier, one bit for each core. Further cores are
/// not tracked.
const CORE_WORDS: usize = 8;
/// Maximum number of stored decisions of all states.
const MAX_DECISIONS: usize = 1 << 27;

/// The levels of all live values, packed into `W` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LevelKey<const W: usize>([u64; W]);

impl<const W: usize> LevelKey<W> {
    fn hash(&self) -> usize {
        let mixed = self.0.iter().fold(0_u64, |mix, word| {
            (mix.rotate_left(31) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        });
        (mixed >> 32) as usize
    }
}

/// The cheapest path to a state.
#[derive(Clone, Copy, Debug)]
struct BestPath<const C: usize> {
    cost: u64,
    /// The excess over the bound.
    excess: i128,
    /// The index of the last decision in the tree of decisions.
    trace: u32,
    /// The set of cores across the frontier that are hit.
    hits: [u64; C],
}

/// The states after a node, in the order of their creation. The order breaks ties between choices
/// of equal cost.
#[derive(Debug)]
struct FrontierStates<const W: usize, const C: usize> {
    all: Vec<(LevelKey<W>, BestPath<C>)>,
    /// A hash table of indices in `all` with linear probing; its size is a power of two.
    places: Vec<u32>,
}

impl<const W: usize, const C: usize> FrontierStates<W, C> {
    const FREE: u32 = u32::MAX;

    fn new() -> Self {
        Self { all: Vec::new(), places: Vec::new() }
    }

    /// Removes all states and makes room for `n`.
    fn clear(&mut self, n: usize) {
        self.all.clear();
        self.places.clear();
        self.places.resize((2 * n).next_power_of_two(), Self::FREE);
    }

    /// Returns the index of a state in `all`, or the index of its free slot in `places`.
    fn find(&self, key: &LevelKey<W>) -> Result<usize, usize> {
        let mask = self.places.len() - 1;
        let mut at = key.hash() & mask;
        loop {
            match self.places[at] {
                Self::FREE => return Err(at),
                it if self.all[it as usize].0 == *key => return Ok(it as usize),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a path to a state, unless an equally cheap path is known. Returns true if it was added.
    /// The table must have room.
    fn add_path(&mut self, key: LevelKey<W>, way: BestPath<C>) -> bool {
        match self.find(&key) {
            Ok(at) => {
                let old = &mut self.all[at].1;
                let is_better = (way.cost, way.excess) < (old.cost, old.excess);
                if is_better {
                    *old = way;
                }
                is_better
            }
            Err(place) => {
                self.places[place] = self.all.len() as u32;
                self.all.push((key, way));
                true
            }
        }
    }

    /// Removes dominated states. Afterwards the hash table is invalid until
    /// [`FrontierStates::clear`].
    fn retain_undominated(&mut self, live: &[u32], slots: &[LevelSlot]) {
        let is_dominated = |(key, way): &(LevelKey<W>, BestPath<C>)| {
            live.iter().map(|&u| &slots[u as usize]).any(|slot| {
                let mut lower = *key;
                while lower.0[slot.word] & slot.mask != 0 {
                    lower.0[slot.word] -= 1 << slot.shift;
                    if self.find(&lower).is_ok_and(|it| self.all[it].1.cost <= way.cost) {
                        return true;
                    }
                }
                false
            })
        };
        let is_dominated: Vec<bool> = self.all.iter().map(is_dominated).collect();
        let mut is_dominated = is_dominated.into_iter();
        self.all.retain(|_| is_dominated.next() == Some(false));
    }
}

/// The position of the level of a live value in a key.
#[derive(Clone, Copy, Debug, Default)]
struct LevelSlot {
    word: usize,
    /// Zero if the value has only one level.
    mask: u64,
    shift: u32,
    base: NoiseBits,
}

impl LevelSlot {
    fn read<const W: usize>(self, key: &LevelKey<W>) -> NoiseBits {
        self.base + ((key.0[self.word] & self.mask) >> self.shift) as NoiseBits
    }
}

/// Solves a graph by dynamic programming. Also returns the work done, in visits of states.
pub(crate) fn frontier_dp(graph: &NoiseGraph, terms: &SweepInput) -> (SweepOutcome, u64) {
    let fits =
        !graph.is_cyclic && (0..graph.n_sites() as u32).all(|s| graph.nodes_of.of(s).len() == 1);
    if !fits {
        return (SweepOutcome::GaveUp, 0);
    }
    let mut rank = vec![0; graph.n_nodes()];
    for (at, &v) in terms.frontier.order.iter().enumerate() {
        rank[v as usize] = at as u32;
    }
    let tracked = TrackedCores::new(graph, &rank, terms);
    // Most programs have small states, and small keys are copied faster.
    let narrow = match tracked.n_words {
        1 => sweep::<1, 1>(graph, terms, &rank, &tracked),
        _ => Err(0),
    };
    let swept = narrow.or_else(|before| {
        sweep::<WORDS, CORE_WORDS>(graph, terms, &rank, &tracked)
            .map(|(outcome, work)| (outcome, before + work))
            .map_err(|work| before + work)
    });
    swept.unwrap_or_else(|work| (SweepOutcome::GaveUp, work))
}

/// Implements [`frontier_dp`] with `W` words for levels and `C` words for cores. Returns `Err` with
/// the work done if the levels do not fit.
fn sweep<const W: usize, const C: usize>(
    graph: &NoiseGraph,
    terms: &SweepInput,
    rank_of: &[u32],
    tracked: &TrackedCores,
) -> Result<(SweepOutcome, u64), u64> {
    let mut work = 0;
    let (lo, _) = terms.levels;
    let width = |v: u32| width(terms.levels, v);
    let order = &terms.frontier.order;
    let n = graph.n_nodes();
    // The last rank at which each value is live.
    let last: Vec<u32> = (0..n as u32)
        .map(|v| graph.users.of(v).iter().map(|&w| rank_of[w as usize]).max().unwrap_or(0))
        .collect();
    let mut slots = vec![LevelSlot::default(); n];
    let mut live: Vec<u32> = Vec::new();
    let mut used = LevelKey([0; W]);
    let (mut states, mut next) = (FrontierStates::<W, C>::new(), FrontierStates::<W, C>::new());
    states.all.push((LevelKey([0; W]), BestPath { cost: 0, excess: 0, trace: 0, hits: [0; C] }));
    // The tree of decisions: (parent, node whose site was chosen).
    let mut tree: Vec<(u32, u32)> = vec![(0, NO_INDEX)];
    let mut n_kept = 32;
    let mut operands: Vec<LevelSlot> = Vec::new();
    // The largest excess of a state that can still lead to a better choice.
    let slack = terms.better - terms.bound;
    for (rank, &v) in order.iter().enumerate() {
        let i = v as usize;
        let keeps = last[i] > rank as u32;
        if keeps {
            let width = width(v);
            let place = if width == 0 { Some((0, 0)) } else { free_field(&used, width) };
            let (word, shift) = place.ok_or(work)?;
            let mask = ((1_u128 << width) - 1) as u64;
            slots[i] = LevelSlot { word, shift, mask: mask << shift, base: lo[i] };
            if width > 0 {
                used.0[word] |= slots[i].mask;
                live.push(v);
            }
        }
        let mut lives = [u64::MAX; W];
        live.retain(|&u| {
            let is_live = last[u as usize] > rank as u32;
            if !is_live {
                lives[slots[u as usize].word] &= !slots[u as usize].mask;
            }
            is_live
        });
        let site = graph.site[i];
        let reduced = if site == NO_INDEX { 0 } else { terms.reduced[site as usize] };
        let (if_left, if_chosen) = ((-reduced).max(0), reduced.max(0));
        let is_choice = site != NO_INDEX && keeps && if_chosen <= slack;
        operands.clear();
        operands.extend(graph.operands.of(v).iter().map(|&u| slots[u as usize]));
        next.clear(states.all.len() * 2);
        for (key, way) in &states.all {
            let p = graph.rule[i].noise_before(operands.iter().map(|it| it.read(key)));
            if p > graph.limit[i] {
                continue;
            }
            let mut kept = *key;
            for (word, lives) in kept.0.iter_mut().zip(&lives) {
                *word &= lives;
            }
            let mut put = |e: NoiseBits, mut way: BestPath<C>| {
                let mut key = kept;
                if keeps && slots[i].mask != 0 {
                    key.0[slots[i].word] |= u64::from(e - slots[i].base) << slots[i].shift;
                }
                for (word, ended) in way.hits.iter_mut().zip(&tracked.ended[rank]) {
                    *word &= !ended;
                }
                next.add_path(key, way)
            };
            let left = way.excess + if_left;
            if left <= slack {
                put(p, BestPath { excess: left, ..*way });
            }
            if !is_choice || way.excess + if_chosen > slack || graph.reset[site as usize] >= p {
                continue;
            }
            let (mut excess, mut hits) = (way.excess + if_chosen, way.hits);
            for &(bit, y) in &tracked.of[site as usize] {
                let (word, bit) = (bit / 64, 1 << (bit % 64));
                if hits[word] & bit != 0 {
                    excess += y;
                }
                hits[word] |= bit;
            }
            if excess > slack {
                continue;
            }
            let cost = way.cost.saturating_add(graph.cost[site as usize]);
            let trace = tree.len() as u32;
            if put(graph.reset[site as usize], BestPath { cost, excess, trace, hits }) {
                tree.push((way.trace, v));
            }
        }
        work += states.all.len() as u64 * 4;
        for (used, lives) in used.0.iter_mut().zip(&lives) {
            *used &= lives;
        }
        // The search for dominated states is expensive, so it runs only when the number of states
        // has doubled.
        let is_due = next.all.len() >= 2 * n_kept;
        if is_due {
            next.retain_undominated(&live, &slots);
        }
        std::mem::swap(&mut states, &mut next);
        let n_states = states.all.len();
        n_kept = if is_due { n_states } else { n_kept.min(n_states) }.max(32);
        if n_states == 0 {
            return Ok((SweepOutcome::NoneBetter, work));
        }
        let is_too_much = n_states > terms.states || tree.len() > MAX_DECISIONS;
        if is_too_much || work > terms.work || (terms.stop)() {
            return Ok((SweepOutcome::GaveUp, work));
        }
    }
    let ways = states.all.iter().map(|it| &it.1);
    let cheapest = ways
        .filter(|it| i128::from(it.cost) << SCALE <= terms.better)
        .min_by_key(|it| (it.cost, it.trace));
    let Some(cheapest) = cheapest else { return Ok((SweepOutcome::NoneBetter, work)) };
    let (mut chosen, mut trace) = (vec![false; graph.n_sites()], cheapest.trace);
    while trace != 0 {
        let (parent, v) = tree[trace as usize];
        chosen[graph.site[v as usize] as usize] = true;
        trace = parent;
    }
    Ok((SweepOutcome::Better(chosen), work))
}

/// The tracked cores, each of which has a bit.
struct TrackedCores {
    /// By site: bits and multipliers of the cores with the site.
    of: Vec<Vec<(usize, i128)>>,
    /// By rank: the bits of the cores that end at this rank.
    ended: Vec<[u64; CORE_WORDS]>,
    /// Number of words with bits.
    n_words: usize,
}

impl TrackedCores {
    fn new(graph: &NoiseGraph, rank: &[u32], terms: &SweepInput) -> TrackedCores {
        let mut of = vec![Vec::new(); graph.n_sites()];
        let mut ended = vec![[0; CORE_WORDS]; graph.n_nodes()];
        let rank_of = |s: &u32| graph.nodes_of.of(*s).iter().map(|&v| rank[v as usize]).min();
        // The first and the last rank of each core, and the index of its row.
        let mut spans: Vec<(u32, u32, usize)> = Vec::new();
        for (at, (row, y)) in terms.rows.iter().enumerate() {
            let ProofRow::Core(core) = row else { continue };
            let ranks = core.iter().filter_map(rank_of);
            if let (Some(first), Some(last), true) = (ranks.clone().min(), ranks.max(), *y > 0) {
                spans.push((first, last, at));
            }
        }
        spans.sort_unstable();
        let mut free_from = [0_u32; 64 * CORE_WORDS];
        let mut n_words = 1;
        for (first, last, at) in spans {
            // A core can reuse the bit of a core that ends before it starts.
            let Some(bit) = free_from.iter().position(|&from| from <= first) else { continue };
            free_from[bit] = last + 1;
            n_words = n_words.max(bit / 64 + 1);
            ended[last as usize][bit / 64] |= 1 << (bit % 64);
            let (row, y) = &terms.rows[at];
            row.for_each(|s, _| of[s as usize].push((bit, *y)));
        }
        TrackedCores { of, ended, n_words }
    }
}

/// An order of the nodes, and the largest number of bits for the levels of all live values.
pub(crate) struct FrontierOrder {
    pub order: Vec<u32>,
    pub bits: u32,
}

impl FrontierOrder {
    /// With at most this number of bits in program order, no other order is computed.
    const NARROW: u32 = 32;
    /// With more nodes than this, no other order is computed.
    const MAX_REORDERED: usize = 20_000;

    /// Returns the program order, or an order with few live values, whichever has the narrower
    /// frontier.
    pub(crate) fn new(graph: &NoiseGraph, levels: (&[NoiseBits], &[NoiseBits])) -> FrontierOrder {
        let of = |order: Vec<u32>| {
            let bits = max_frontier_bits(graph, &order, |v| width(levels, v));
            FrontierOrder { order, bits }
        };
        let program = of(graph.order.clone());
        if program.bits <= Self::NARROW || graph.is_cyclic || graph.n_nodes() > Self::MAX_REORDERED
        {
            return program;
        }
        let other = of(narrow_order(graph, |v| width(levels, v)));
        if other.bits < program.bits { other } else { program }
    }
}

/// Returns the number of bits for the level of a node.
fn width((lo, hi): (&[NoiseBits], &[NoiseBits]), v: u32) -> u32 {
    NoiseBits::BITS - hi[v as usize].saturating_sub(lo[v as usize]).leading_zeros()
}

/// Returns the largest number of bits for all live values in an order.
fn max_frontier_bits(graph: &NoiseGraph, order: &[u32], width: impl Fn(u32) -> u32) -> u32 {
    let mut n_users: Vec<usize> =
        (0..graph.n_nodes() as u32).map(|v| graph.users.of(v).len()).collect();
    let (mut now, mut most) = (0, 0);
    for &v in order {
        if n_users[v as usize] > 0 {
            now += width(v);
        }
        most = most.max(now);
        for_each_once(graph.operands.of(v), |u| {
            n_users[u as usize] -= 1;
            if n_users[u as usize] == 0 {
                now -= width(u);
            }
        });
    }
    most
}

/// Returns a greedy order: the next node is the one that makes the frontier narrowest; of equal
/// ones, the one that uses more of the frontier, and then the first in program order. Nodes without
/// operands come directly before their first user.
fn narrow_order(graph: &NoiseGraph, width: impl Fn(u32) -> u32) -> Vec<u32> {
    let n = graph.n_nodes();
    let is_free = |v: u32| graph.operands.of(v).is_empty();
    let mut n_users: Vec<usize> = (0..n as u32).map(|v| graph.users.of(v).len()).collect();
    let mut missing: Vec<usize> = vec![0; n];
    for u in (0..n as u32).filter(|&u| !is_free(u)) {
        graph.users.of(u).iter().for_each(|&v| missing[v as usize] += 1);
    }
    let mut taken = vec![false; n];
    let price = |v: u32, n_users: &[usize], taken: &[bool]| {
        let mut grows = if n_users[v as usize] > 0 { i64::from(width(v)) } else { 0 };
        let mut uses = 0;
        for_each_once(graph.operands.of(v), |u| {
            let width = i64::from(width(u));
            let is_last = n_users[u as usize] == 1;
            match taken[u as usize] {
                true if is_last => grows -= width,
                false if !is_last => grows += width,
                _ => {}
            }
            uses += if taken[u as usize] { width } else { 0 };
        });
        (grows, -uses, graph.rank[v as usize])
    };
    let mut ready = BTreeSet::new();
    let mut priced = vec![None; n];
    for v in (0..n as u32).filter(|&v| !is_free(v) && missing[v as usize] == 0) {
        let it = price(v, &n_users, &taken);
        priced[v as usize] = Some(it);
        ready.insert((it, v));
    }
    let mut order = Vec::with_capacity(n);
    let mut changed = Vec::new();
    while let Some((_, v)) = ready.pop_first() {
        priced[v as usize] = None;
        for_each_once(graph.operands.of(v), |u| {
            n_users[u as usize] -= 1;
            let is_new = !std::mem::replace(&mut taken[u as usize], true);
            if is_new {
                order.push(u);
            }
            // Otherwise the prices of the other users are unchanged.
            if is_new || n_users[u as usize] == 1 {
                changed.extend_from_slice(graph.users.of(u));
            }
        });
        taken[v as usize] = true;
        order.push(v);
        changed.extend_from_slice(graph.users.of(v));
        for &w in graph.users.of(v) {
            missing[w as usize] -= 1;
        }
        for w in changed.drain(..) {
            if missing[w as usize] > 0 || taken[w as usize] {
                continue;
            }
            let it = price(w, &n_users, &taken);
            if let Some(old) = priced[w as usize].replace(it) {
                ready.remove(&(old, w));
            }
            ready.insert((it, w));
        }
    }
    order.extend((0..n as u32).filter(|&v| !taken[v as usize]));
    order
}

/// Returns the word and the shift of the lowest free field of `width` bits.
fn free_field<const W: usize>(used: &LevelKey<W>, width: u32) -> Option<(usize, u32)> {
    used.0.iter().enumerate().find_map(|(word, used)| {
        // The positions at which `n` free bits start.
        let (mut free, mut n) = (!used, 1);
        while n < width {
            let more = n.min(width - n);
            free &= free >> more;
            n += more;
        }
        (free != 0).then(|| (word, free.trailing_zeros()))
    })
}
