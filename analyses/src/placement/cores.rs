//! Conflict cores: small sets of sites of which at least one must be chosen.
//!
//! If no site of a core is chosen, some node goes over its limit whatever else is chosen. For the noise of
//! additions a core is a chain of fifteen; below a multiplication, two chains. A choice is legal exactly when it
//! hits every core, so the problem is a hitting set, and its linear relaxation is far tighter than that of
//! big-M rows. There are far too many cores to list; separation finds those that a point violates.
//!
//! Notation: `x(s)` is the point, a weight per site. `W(v, k)` is the least weight of a set of sites which, left
//! unchosen, makes `p(v) >= k`, and `We(v, k)` the same for `e(v) >= k`:
//!
//! ```text
//! We(v, k) = 0                                   k <= lo(v)
//!          = W(v, k) + x(site of v)              otherwise
//! W(v, k)  = 0                                   k <= lo_p(v)
//!          = min over operands u of We(u, k - c)                      Max(c)
//!          = min over splits k - c = sum of k_u of sum of We(u, k_u)  Sum(c)
//! ```
//!
//! A node with `W(v, limit + 1) < 1` has a violated core, read off the minimizing operands. Where a site
//! is counted twice `W` is too large: then a violated core may be missed at a fractional point, but never at a
//! point of zeros and ones (there a sum is zero exactly when its parts are).
//!
//! The law needs that choosing a site never raises noise, `reset <= lo_p` at its nodes ([`Cores::new`] says
//! `None` otherwise), and levels that fit in memory. Loops: the table is swept until it settles.
//!
//! Cost of a separation: the sum over nodes of (limit - lowest noise), times the same again for sums.

use super::graph::{Graph, NONE};
use super::instance::{Bits, Rule};

/// The tables of one graph, reused between separations.
#[derive(Clone, Debug)]
pub(super) struct Cores<'g> {
    graph: &'g Graph,
    lo_p: Vec<Bits>,
    lo: Vec<Bits>,
    hi: Vec<Bits>,
    /// Largest level of `p` in the table, per node; the table holds `lo_p + 1 ..= top`.
    top: Vec<Bits>,
    /// Where the levels of a node start in `weight`.
    start: Vec<u32>,
    weight: Vec<f32>,
    /// Whether a node is among those the table was filled for; all others are as if always reduced.
    inside: Vec<bool>,
    /// Groups of equal operands of sums: (operand, times).
    groups: Vec<Vec<(u32, u32)>>,
    /// Entries filled so far, a measure of work.
    pub work: u64,
}

/// A set of sites, sorted.
pub(super) type Core = Box<[u32]>;

/// Weights from here on are of no interest: the core is not violated.
const FULL: f32 = 1.0;

impl<'g> Cores<'g> {
    /// The most levels a table may have, in all.
    const MOST_LEVELS: u64 = 1 << 24;
    /// The most splits of sums that are tried when a table is filled, in all.
    const MOST_SPLITS: u64 = 1 << 26;

    /// The tables, unless choosing a site can raise noise somewhere or they would be too large.
    pub(super) fn new(graph: &'g Graph) -> Option<Cores<'g>> {
        let n = graph.n_nodes();
        let most = beyond_all_limits(graph);
        let (lo_p, lo) = extreme(graph, true, most);
        for v in 0..n {
            let s = graph.site[v];
            if s != NONE && graph.reset[s as usize] > lo_p[v] {
                return None;
            }
        }
        let (hi_p, hi) = extreme(graph, false, most);
        let top: Vec<Bits> =
            (0..n).map(|v| hi_p[v].min(graph.limit[v].saturating_add(1))).collect();
        let mut start = Vec::with_capacity(n + 1);
        let mut total = 0_u64;
        for v in 0..n {
            start.push(total as u32);
            total += u64::from(top[v].saturating_sub(lo_p[v]));
            if total > Self::MOST_LEVELS {
                return None;
            }
        }
        start.push(total as u32);
        let groups: Vec<Vec<(u32, u32)>> = (0..n as u32)
            .map(|v| match graph.rule[v as usize] {
                Rule::Sum(_) => group(graph.operands.of(v)),
                Rule::Max(_) | Rule::Source(_) => Vec::new(),
            })
            .collect();
        let mut splits = 0_u64;
        for (v, groups) in groups.iter().enumerate() {
            // A split tries all levels of all operands but the last, for each level of the sum.
            let levels = u64::from(top[v].saturating_sub(lo_p[v]));
            splits = splits.saturating_add(levels.saturating_pow(groups.len() as u32));
            if splits > Self::MOST_SPLITS {
                return None;
            }
        }
        let weight = vec![0.0; total as usize];
        Some(Cores {
            graph,
            lo_p,
            lo,
            hi,
            top,
            start,
            weight,
            inside: vec![false; n],
            groups,
            work: 0,
        })
    }

    /// The lowest and the highest noise that may leave each node.
    pub(super) fn levels(&self) -> (&[Bits], &[Bits]) {
        (&self.lo, &self.hi)
    }

    /// `W(v, k)`.
    fn before(&self, v: u32, k: Bits) -> f32 {
        let i = v as usize;
        if k <= self.lo_p[i] {
            0.0
        } else if k > self.top[i] {
            FULL
        } else {
            self.weight[(self.start[i] + (k - self.lo_p[i] - 1)) as usize]
        }
    }

    /// `We(v, k)`.
    fn after(&self, x: &[f32], v: u32, k: Bits) -> f32 {
        let i = v as usize;
        if k <= self.lo[i] {
            return 0.0;
        }
        // What leaves a node is within its limit: beyond it the node itself has the core.
        if k > self.graph.limit[i] {
            return FULL;
        }
        let own = match self.graph.site[i] {
            NONE => 0.0,
            s => x[s as usize],
        };
        if own >= FULL || !self.inside[i] { FULL } else { self.before(v, k) + own }
    }

    /// Fills the table for a point, for some nodes in their order. Sites outside must have weight 1.
    pub(super) fn fill(&mut self, x: &[f32], nodes: &[u32]) {
        let graph = self.graph;
        self.inside.fill(false);
        for &v in nodes {
            self.inside[v as usize] = true;
            let (start, end) = (self.start[v as usize], self.start[v as usize + 1]);
            self.weight[start as usize..end as usize].fill(FULL);
        }
        loop {
            let mut changed = false;
            for &v in nodes {
                let i = v as usize;
                for k in self.lo_p[i] + 1..=self.top[i] {
                    let w = self.entry(x, v, k);
                    let at = (self.start[i] + (k - self.lo_p[i] - 1)) as usize;
                    if w < self.weight[at] {
                        self.weight[at] = w;
                        changed = true;
                    }
                }
                self.work += u64::from(self.top[i].saturating_sub(self.lo_p[i]));
            }
            if !changed || !graph.cyclic {
                return;
            }
        }
    }

    fn entry(&self, x: &[f32], v: u32, k: Bits) -> f32 {
        match self.graph.rule[v as usize] {
            Rule::Source(_) => FULL,
            Rule::Max(c) => {
                let mut best = FULL;
                for &u in self.graph.operands.of(v) {
                    best = best.min(self.after(x, u, k.saturating_sub(c)));
                }
                best
            }
            Rule::Sum(c) => self.split(x, &self.groups[v as usize], k.saturating_sub(c), None),
        }
    }

    /// The least weight for operands that sum to `k`; the levels of each are put into `levels`.
    fn split(
        &self,
        x: &[f32],
        groups: &[(u32, u32)],
        k: Bits,
        levels: Option<&mut Vec<(u32, Bits)>>,
    ) -> f32 {
        match *groups {
            [] => {
                if k == 0 {
                    0.0
                } else {
                    FULL
                }
            }
            [(u, times)] => {
                let level = k.div_ceil(times);
                if let Some(levels) = levels {
                    levels.push((u, level));
                }
                self.after(x, u, level)
            }
            [(u, times), ref rest @ ..] => {
                let (mut best, mut best_level) = (FULL, None);
                // From the lowest level, which is free, to the highest this operand can have.
                let mut level = self.lo[u as usize];
                let most = self.top[u as usize].min(self.graph.limit[u as usize]).max(level);
                loop {
                    let own = self.after(x, u, level);
                    if own < best {
                        let left = k.saturating_sub(level.saturating_mul(times));
                        let w = own + self.split(x, rest, left, None);
                        if w < best {
                            (best, best_level) = (w, Some(level));
                        }
                    }
                    if level >= most || level.saturating_mul(times) >= k {
                        break;
                    }
                    level += 1;
                }
                if let (Some(levels), Some(level)) = (levels, best_level) {
                    levels.push((u, level));
                    self.split(
                        x,
                        rest,
                        k.saturating_sub(level.saturating_mul(times)),
                        Some(levels),
                    );
                }
                best
            }
        }
    }

    /// Which of the nodes that the table was filled for have a core of weight under `1 - slack` at the point, the most violated first.
    pub(super) fn violated(&self, nodes: &[u32], slack: f32) -> Vec<(f32, u32)> {
        let mut nodes: Vec<(f32, u32)> = nodes
            .iter()
            .filter_map(|&v| {
                let over = self.graph.limit[v as usize].checked_add(1)?;
                let w = if over > self.top[v as usize] { FULL } else { self.before(v, over) };
                (w < FULL - slack).then_some((w, v))
            })
            .collect();
        nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        nodes
    }

    /// The core of a node that [`Cores::violated`] named. `None` where a loop of equal weights hides it.
    pub(super) fn core(&self, x: &[f32], v: u32) -> Option<Core> {
        let mut core = Vec::new();
        let mut stack = vec![(v, self.graph.limit[v as usize].checked_add(1)?)];
        let mut levels = Vec::new();
        let mut seen: Vec<(u32, Bits)> = Vec::new();
        let mut looked = 0;
        while let Some((v, k)) = stack.pop() {
            if k <= self.lo_p[v as usize] {
                continue;
            }
            // A pair may be needed twice; in a loop it must not be followed twice.
            if seen.contains(&(v, k)) {
                if self.graph.cyclic {
                    return None;
                }
                continue;
            }
            seen.push((v, k));
            looked += 1;
            if looked > 1 << 14 {
                return None;
            }
            levels.clear();
            match self.graph.rule[v as usize] {
                Rule::Source(_) => return None,
                Rule::Max(c) => {
                    let level = k.saturating_sub(c);
                    let after = |u: u32| self.after(x, u, level);
                    let operands = self.graph.operands.of(v).iter().copied();
                    levels.push((operands.min_by(|&a, &b| after(a).total_cmp(&after(b)))?, level));
                }
                Rule::Sum(c) => {
                    let groups = &self.groups[v as usize];
                    self.split(x, groups, k.saturating_sub(c), Some(&mut levels));
                    if levels.len() != groups.len() {
                        return None;
                    }
                }
            }
            for &(u, level) in &levels {
                if level > self.lo[u as usize] {
                    if self.graph.site[u as usize] != NONE {
                        core.push(self.graph.site[u as usize]);
                    }
                    stack.push((u, level));
                }
            }
        }
        core.sort_unstable();
        core.dedup();
        Some(core.into())
    }
}

/// Whether choosing a site never raises noise, whatever else is chosen.
pub(super) fn is_monotone(graph: &Graph) -> bool {
    let (lo_p, _) = extreme(graph, true, beyond_all_limits(graph));
    let fits = |v: usize| graph.site[v] == NONE || graph.reset[graph.site[v] as usize] <= lo_p[v];
    (0..graph.n_nodes()).all(fits)
}

/// Equal operands together, in the order of their first.
fn group(operands: &[u32]) -> Vec<(u32, u32)> {
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for &u in operands {
        match groups.iter_mut().find(|(o, _)| *o == u) {
            Some((_, times)) => *times += 1,
            None => groups.push((u, 1)),
        }
    }
    groups
}

/// The noise when every site does what is lower, or higher; what leaves is within the limit. Nothing is above
/// `most`.
pub(super) fn extreme(graph: &Graph, lower: bool, most: Bits) -> (Vec<Bits>, Vec<Bits>) {
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let mut sweeps = 0;
    loop {
        let mut changed = false;
        for &v in &graph.order {
            let i = v as usize;
            let over = graph.limit[i].saturating_add(1).min(most);
            let mut now = graph.before(v, |u| e[u as usize]).min(over);
            if sweeps > n && now > p[i] {
                // It grows without end.
                now = over;
            }
            let within = now.min(graph.limit[i]);
            let leaves = match graph.site[i] {
                NONE => within,
                s if lower => within.min(graph.reset[s as usize]),
                s => within.max(graph.reset[s as usize]),
            };
            if (now, leaves) != (p[i], e[i]) {
                (p[i], e[i]) = (now, leaves);
                changed = true;
            }
        }
        sweeps += 1;
        if !changed || !graph.cyclic {
            return (p, e);
        }
    }
}

/// One more than every limit, but for those that mean none: noise from there on is all the same.
fn beyond_all_limits(graph: &Graph) -> Bits {
    let limits = graph.limit.iter().copied().filter(|&limit| limit != Bits::MAX);
    limits.max().unwrap_or(0).saturating_add(1)
}
