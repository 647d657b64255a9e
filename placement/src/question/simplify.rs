//! Simplification without search: forced decisions, irrelevant sites, and the split into
//! independent parts.
//!
//! Notation, for each node `v` (see [`crate::question::instance`] for `p` and `e`), over all
//! choices that are still possible:
//!
//! - `lo(v) <= e(v) <= hi(v)` in every legal choice. For `lo`, each open site is chosen exactly if
//!   that lowers the noise; for `hi`, exactly if that raises it. Both are least solutions. `hi`
//!   is capped at the limit, because higher noise is illegal anyway.
//! - `cap(v)`: the largest `e(v)` that the users of `v` tolerate if all other noise is at `lo`.
//! - `at(v)`: the smallest `e(v)` that is relevant if all other noise is at `hi`: below it, `v`
//!   never brings a node over its limit.
//!
//! Phases, repeated until nothing changes:
//!
//! 1. *Forced.* If `p(v) >= lo_p(v) > cap(v)`, the site of `v` is chosen. If the noise after a
//!    reset is above `cap(v)`, the site is absent. If both hold, the instance is infeasible at `v`.
//! 2. *Idle.* If no node `v` of a site reaches `at(v)`, the site is never worth its cost: it is
//!    absent.
//! 3. *Split.* The rest (nodes that can still go over their limits, and relevant edges) is split
//!    into connected parts, and constants are folded. Each part is a separate instance.
//!
//! Law: the optimum of the instance is the cost of the forced sites plus the optima of the parts.
//! The union of legal choices of the parts with the forced sites is legal. A chosen site cuts the
//! graph, so the same code also simplifies a graph with some fixed sites.
//!
//! Cost: linear per round, with a few rounds. Cycles add sweeps.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::infeasible::{Infeasible, InfeasibleReason};
use crate::question::instance::{Instance, Node, NodeRule, NoiseBits, Site};
use crate::question::least_noise::{least_solution, noise_cap};

/// The decision about a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteDecision {
    /// Not decided yet.
    Open,
    /// A reset is inserted.
    Chosen,
    /// No reset is inserted.
    Absent,
}

/// An independent part of an instance.
#[derive(Clone, Debug)]
pub(crate) struct InstancePart {
    /// The part as an instance. Every site is open and has at least one relevant node.
    pub instance: Instance,
    /// The index of each site in the whole instance.
    pub sites: Vec<u32>,
    /// The index of each node in the whole instance, or `NO_INDEX` for an added source.
    pub nodes: Vec<u32>,
}

/// The result of the simplification of an instance.
#[derive(Clone, Debug)]
pub(crate) struct SimplifiedInstance {
    /// The decision about each site.
    pub fixed: Vec<SiteDecision>,
    /// The parts, ordered by their first node.
    pub parts: Vec<InstancePart>,
}

/// Simplifies a graph with some decisions already made. Without `split`, the rest is one part.
/// Without `force`, only sites that must be absent are decided.
pub(crate) fn simplify(
    graph: &NoiseGraph,
    mut fixed: Vec<SiteDecision>,
    force: bool,
    split: bool,
) -> Result<SimplifiedInstance, Infeasible> {
    let mut levels = NoiseRanges::new(graph);
    loop {
        levels.compute_lo(graph, &fixed);
        levels.compute_cap(graph, &fixed);
        let forced = force_sites(graph, &levels, &mut fixed, force)?;
        levels.compute_hi(graph, &fixed);
        levels.compute_at(graph, &fixed);
        let mut idle = false;
        for s in 0..graph.n_sites() as u32 {
            if fixed[s as usize] == SiteDecision::Open && force {
                let matters = |&v: &u32| {
                    let at = levels.at[v as usize];
                    at != NEVER_RELEVANT && levels.hi_p[v as usize] >= at
                };
                if !graph.nodes_of.of(s).iter().any(matters) {
                    fixed[s as usize] = SiteDecision::Absent;
                    idle = true;
                }
            }
        }
        if !forced && !idle {
            break;
        }
    }
    Ok(SimplifiedInstance { parts: split_parts(graph, &levels, &fixed, split), fixed })
}

/// The noise levels of the module header. `_p` means "before the reset".
struct NoiseRanges {
    lo_p: Vec<NoiseBits>,
    lo: Vec<NoiseBits>,
    hi_p: Vec<NoiseBits>,
    hi: Vec<NoiseBits>,
    /// The largest tolerated `p`. Signed, because it may be below zero.
    cap_p: Vec<i64>,
    cap: Vec<i64>,
    at_p: Vec<NoiseBits>,
    at: Vec<NoiseBits>,
    /// Upper limit of all levels.
    most: NoiseBits,
}

/// A value of `at` that means "no noise is relevant".
const NEVER_RELEVANT: NoiseBits = NoiseBits::MAX;
/// Maximum number of sweeps around a cycle. Each sweep lowers a level by at least one bit. If `at`
/// still falls after this number of sweeps, all noise counts as relevant; if `cap` still falls, the
/// computation stops, which is safe.
const MAX_SWEEPS: usize = 1000;

impl NoiseRanges {
    fn new(graph: &NoiseGraph) -> NoiseRanges {
        let n = graph.n_nodes();
        let zeros = || vec![0; n];
        NoiseRanges {
            lo_p: zeros(),
            lo: zeros(),
            hi_p: zeros(),
            hi: zeros(),
            cap_p: vec![0; n],
            cap: vec![0; n],
            at_p: zeros(),
            at: zeros(),
            most: noise_cap(graph),
        }
    }

    fn compute_lo(&mut self, graph: &NoiseGraph, fixed: &[SiteDecision]) {
        let after = |v: u32, p: NoiseBits| match graph.site[v as usize] {
            NO_INDEX => p,
            s => match fixed[s as usize] {
                SiteDecision::Open => p.min(graph.reset[s as usize]),
                SiteDecision::Chosen => graph.reset[s as usize],
                SiteDecision::Absent => p,
            },
        };
        let most = self.most;
        least_solution(graph, &mut self.lo_p, &mut self.lo, |_, p| p.min(most), after);
    }

    fn compute_hi(&mut self, graph: &NoiseGraph, fixed: &[SiteDecision]) {
        let after = |v: u32, p: NoiseBits| {
            let p = p.min(graph.limit[v as usize]);
            match graph.site[v as usize] {
                NO_INDEX => p,
                s => match fixed[s as usize] {
                    SiteDecision::Open => p.max(graph.reset[s as usize]),
                    SiteDecision::Chosen => graph.reset[s as usize],
                    SiteDecision::Absent => p,
                },
            }
        };
        let most = self.most;
        let cut = |v: u32, p: NoiseBits| p.min(graph.limit[v as usize].saturating_add(1).min(most));
        least_solution(graph, &mut self.hi_p, &mut self.hi, cut, after);
    }

    fn compute_cap(&mut self, graph: &NoiseGraph, fixed: &[SiteDecision]) {
        self.cap.fill(i64::from(NoiseBits::MAX));
        self.cap_p.fill(i64::from(NoiseBits::MAX));
        let mut sweeps = 0;
        loop {
            let mut changed = false;
            for &v in graph.order.iter().rev() {
                let mut cap = i64::from(NoiseBits::MAX);
                for &w in graph.users.of(v) {
                    cap = cap.min(self.cap_through(graph, v, w));
                }
                let limit = i64::from(graph.limit[v as usize]);
                let cap_p = match graph.site[v as usize] {
                    s if s != NO_INDEX && fixed[s as usize] != SiteDecision::Absent => limit,
                    _ => limit.min(cap),
                };
                if (cap, cap_p) != (self.cap[v as usize], self.cap_p[v as usize]) {
                    (self.cap[v as usize], self.cap_p[v as usize]) = (cap, cap_p);
                    changed = true;
                }
            }
            sweeps += 1;
            // If caps still fall, they are too high: then too few sites are forced, never too many.
            if !changed || !graph.is_cyclic || sweeps > MAX_SWEEPS {
                return;
            }
        }
    }

    /// Returns the largest `e(u)` that `w` tolerates if its other operands are at `lo`.
    fn cap_through(&self, graph: &NoiseGraph, u: u32, w: u32) -> i64 {
        let cap = self.cap_p[w as usize];
        match graph.rule[w as usize] {
            NodeRule::Source(_) => i64::from(NoiseBits::MAX),
            // Unbounded noise is over every limit except `NoiseBits::MAX`, which means no limit.
            _ if cap == i64::from(NoiseBits::MAX) => cap,
            NodeRule::Max(k) => cap - i64::from(k),
            NodeRule::Sum(k) => {
                let (mut rest, mut times) = (i64::from(k), 0);
                for &o in graph.operands.of(w) {
                    if o == u {
                        times += 1;
                    } else {
                        rest = rest.saturating_add(i64::from(self.lo[o as usize]));
                    }
                }
                (cap - rest).div_euclid(times.max(1))
            }
        }
    }

    fn compute_at(&mut self, graph: &NoiseGraph, fixed: &[SiteDecision]) {
        self.at.fill(NEVER_RELEVANT);
        self.at_p.fill(NEVER_RELEVANT);
        let mut sweeps = 0;
        loop {
            let mut changed = false;
            for &v in graph.order.iter().rev() {
                let i = v as usize;
                let mut at = NEVER_RELEVANT;
                for &w in graph.users.of(v) {
                    if self.is_relevant_before(w) {
                        at = at.min(self.at_through(graph, v, w));
                    }
                }
                if at != NEVER_RELEVANT {
                    at = at.max(self.lo[i].saturating_add(1));
                }
                let over = graph.limit[i].checked_add(1).unwrap_or(NEVER_RELEVANT);
                let at_p = match graph.site[i] {
                    s if s != NO_INDEX && fixed[s as usize] == SiteDecision::Chosen => over,
                    _ => over.min(at),
                };
                let (mut at, mut at_p) = (at.min(self.at[i]), at_p.min(self.at_p[i]));
                if sweeps > MAX_SWEEPS && (at, at_p) != (self.at[i], self.at_p[i]) {
                    (at, at_p) = (0, 0);
                }
                if (at, at_p) != (self.at[i], self.at_p[i]) {
                    (self.at[i], self.at_p[i]) = (at, at_p);
                    changed = true;
                }
            }
            sweeps += 1;
            if !changed || !graph.is_cyclic {
                return;
            }
        }
    }

    /// Returns the smallest `e(u)` that brings `w` to a relevant level if its other operands are at
    /// `hi`.
    fn at_through(&self, graph: &NoiseGraph, u: u32, w: u32) -> NoiseBits {
        let at = self.at_p[w as usize];
        match graph.rule[w as usize] {
            NodeRule::Source(_) => NEVER_RELEVANT,
            NodeRule::Max(k) => at.saturating_sub(k),
            NodeRule::Sum(k) => {
                let mut rest = at.saturating_sub(k);
                let mut seen = false;
                for &o in graph.operands.of(w) {
                    if o == u && !seen {
                        seen = true;
                    } else {
                        rest = rest.saturating_sub(self.hi[o as usize]);
                    }
                }
                rest
            }
        }
    }

    /// Returns true if the noise after `v` varies and is relevant to a user.
    fn is_relevant_edge(&self, v: u32) -> bool {
        let i = v as usize;
        self.at[i] != NEVER_RELEVANT && self.at[i] <= self.hi[i] && self.lo[i] < self.hi[i]
    }

    fn is_relevant_before(&self, v: u32) -> bool {
        self.at_p[v as usize] != NEVER_RELEVANT && self.at_p[v as usize] <= self.hi_p[v as usize]
    }

    fn is_relevant_node(&self, v: u32) -> bool {
        self.is_relevant_before(v) || self.is_relevant_edge(v)
    }
}

/// Phase 1: forces sites. Returns true if a site was decided.
fn force_sites(
    graph: &NoiseGraph,
    levels: &NoiseRanges,
    fixed: &mut [SiteDecision],
    force: bool,
) -> Result<bool, Infeasible> {
    // First reports nodes over their own limits, which explain a contradiction better than an
    // operand that a user does not tolerate.
    for &v in &graph.order {
        let (least, limit) = (levels.lo_p[v as usize], graph.limit[v as usize]);
        if least > limit {
            return Err(Infeasible {
                node: Node(v),
                reason: InfeasibleReason::OverLimit { least, limit },
            });
        }
    }
    let mut any = false;
    for &v in &graph.order {
        let i = v as usize;
        let lo_p = i64::from(levels.lo_p[i]);
        let infeasible = |limit: i64| {
            let limit = NoiseBits::try_from(limit.max(0)).unwrap_or(NoiseBits::MAX);
            Err(Infeasible {
                node: Node(v),
                reason: InfeasibleReason::OverLimit { least: levels.lo_p[i], limit },
            })
        };
        if lo_p > levels.cap_p[i] {
            return infeasible(levels.cap_p[i]);
        }
        if graph.site[i] == NO_INDEX {
            continue;
        }
        let s = graph.site[i] as usize;
        let reset = graph.reset[s];
        let reset_fits = i64::from(reset) <= levels.cap[i];
        match fixed[s] {
            SiteDecision::Chosen if !reset_fits => {
                return Err(Infeasible {
                    node: Node(v),
                    reason: InfeasibleReason::ResetOverLimit { site: Site(s as u32), reset },
                });
            }
            SiteDecision::Open if !reset_fits => {
                if lo_p > levels.cap[i] {
                    return infeasible(levels.cap[i]);
                }
                fixed[s] = SiteDecision::Absent;
                any = true;
            }
            SiteDecision::Open if lo_p > levels.cap[i] && force => {
                fixed[s] = SiteDecision::Chosen;
                any = true;
            }
            _ => {}
        }
    }
    Ok(any)
}

/// Phase 3: splits the rest into parts.
fn split_parts(
    graph: &NoiseGraph,
    levels: &NoiseRanges,
    fixed: &[SiteDecision],
    split: bool,
) -> Vec<InstancePart> {
    let n = graph.n_nodes();
    let mut sets = DisjointSets { parent: (0..n as u32).collect() };
    let kept: Vec<u32> =
        graph.order.iter().copied().filter(|&v| levels.is_relevant_node(v)).collect();
    for &v in &kept {
        for &u in graph.operands.of(v) {
            if levels.is_relevant_edge(u) && chosen_site(graph, fixed, u).is_none() {
                sets.join(u, v);
            }
        }
    }
    for s in 0..graph.n_sites() as u32 {
        if fixed[s as usize] == SiteDecision::Open {
            let mut nodes = graph.nodes_of.of(s).iter().filter(|&&v| levels.is_relevant_node(v));
            if let Some(&first) = nodes.next() {
                nodes.for_each(|&v| sets.join(first, v));
            }
        }
    }
    if let (false, Some(&first)) = (split, kept.first()) {
        for &v in &kept {
            sets.join(first, v);
        }
    }
    let mut part_of = vec![NO_INDEX; n];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for &v in &kept {
        let root = sets.root(v) as usize;
        if part_of[root] == NO_INDEX {
            part_of[root] = parts.len() as u32;
            parts.push(Vec::new());
        }
        parts[part_of[root] as usize].push(v);
    }
    let mut new_node = vec![NO_INDEX; n];
    let mut new_site = vec![NO_INDEX; graph.n_sites()];
    parts
        .into_iter()
        .map(|nodes| build_part(graph, levels, fixed, nodes, &mut new_node, &mut new_site))
        .collect()
}

fn chosen_site(graph: &NoiseGraph, fixed: &[SiteDecision], v: u32) -> Option<u32> {
    let s = graph.site[v as usize];
    (s != NO_INDEX && fixed[s as usize] == SiteDecision::Chosen).then_some(s)
}

fn build_part(
    graph: &NoiseGraph,
    levels: &NoiseRanges,
    fixed: &[SiteDecision],
    nodes: Vec<u32>,
    new_node: &mut [u32],
    new_site: &mut [u32],
) -> InstancePart {
    let mut instance = Instance::default();
    let mut sites = Vec::new();
    for (i, &v) in nodes.iter().enumerate() {
        new_node[v as usize] = i as u32;
    }
    let mut operands = Vec::new();
    // Positions of operands that are replaced by a source of constant noise.
    let mut constants: Vec<(usize, NoiseBits)> = Vec::new();
    for &v in &nodes {
        operands.clear();
        // The combined noise of operands with constant noise.
        let mut constant: NoiseBits = 0;
        let is_sum = matches!(graph.rule[v as usize], NodeRule::Sum(_));
        for &u in graph.operands.of(v) {
            let reset = chosen_site(graph, fixed, u).map(|s| graph.reset[s as usize]);
            match reset {
                None if levels.is_relevant_edge(u) => operands.push(Node(new_node[u as usize])),
                reset => {
                    let noise = reset.unwrap_or(levels.lo[u as usize]);
                    constant =
                        if is_sum { constant.saturating_add(noise) } else { constant.max(noise) };
                }
            }
        }
        let open = match graph.site[v as usize] {
            s if s != NO_INDEX && fixed[s as usize] == SiteDecision::Open => Some(s),
            _ => None,
        };
        let site = open.map(|s| {
            if new_site[s as usize] == NO_INDEX {
                new_site[s as usize] = sites.len() as u32;
                sites.push(s);
                instance.push_site(graph.cost[s as usize], graph.reset[s as usize]);
            }
            Site(new_site[s as usize])
        });
        let rule = match graph.rule[v as usize] {
            NodeRule::Source(noise) => NodeRule::Source(noise),
            NodeRule::Max(k) if operands.is_empty() => NodeRule::Source(constant.saturating_add(k)),
            NodeRule::Max(k) => NodeRule::Max(k),
            NodeRule::Sum(k) if operands.is_empty() => NodeRule::Source(constant.saturating_add(k)),
            NodeRule::Sum(k) => NodeRule::Sum(k.saturating_add(constant)),
        };
        // In a maximum with varying operands, a constant is relevant only if it is above their
        // least noise. In a cycle, that least noise may come from the constant itself.
        if let NodeRule::Max(_) = rule {
            let least = operands.iter().map(|o| levels.lo[nodes[o.0 as usize] as usize]).min();
            if least.is_some_and(|least| constant > if graph.is_cyclic { 0 } else { least }) {
                constants.push((instance.operands.len() + operands.len(), constant));
                operands.push(Node(0));
            }
        }
        let limit = NoiseBits::try_from(levels.cap_p[v as usize].max(0)).unwrap_or(NoiseBits::MAX);
        instance.push(rule, &operands, limit, site);
    }
    for &v in &nodes {
        new_node[v as usize] = NO_INDEX;
    }
    for &s in &sites {
        new_site[s as usize] = NO_INDEX;
    }
    if constants.is_empty() {
        return InstancePart { instance, sites, nodes };
    }
    let (instance, n_sources) = with_sources(&instance, &constants);
    let nodes = std::iter::repeat_n(NO_INDEX, n_sources).chain(nodes).collect();
    InstancePart { instance, sites, nodes }
}

/// Inserts sources before the nodes of an instance, one for each distinct noise, and makes them the
/// operands at the given positions. Also returns the number of sources.
fn with_sources(instance: &Instance, constants: &[(usize, NoiseBits)]) -> (Instance, usize) {
    let mut noises: Vec<NoiseBits> = constants.iter().map(|&(_, noise)| noise).collect();
    noises.sort_unstable();
    noises.dedup();
    let shift = noises.len() as u32;
    let mut shifted = instance.operands.clone();
    for node in &mut shifted {
        node.0 += shift;
    }
    for (place, noise) in constants {
        shifted[*place] = Node(noises.partition_point(|n| n < noise) as u32);
    }
    let mut whole = Instance { sites: instance.sites.clone(), ..Instance::default() };
    for &noise in &noises {
        whole.push(NodeRule::Source(noise), &[], NoiseBits::MAX, None);
    }
    for data in &instance.nodes {
        let operands = &shifted[data.first_operand as usize..][..data.n_operands as usize];
        whole.push(data.rule, operands, data.limit, data.site);
    }
    (whole, noises.len())
}

/// Disjoint sets (union-find with path halving).
struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    fn root(&mut self, mut v: u32) -> u32 {
        while self.parent[v as usize] != v {
            let up = self.parent[self.parent[v as usize] as usize];
            self.parent[v as usize] = up;
            v = up;
        }
        v
    }

    /// Joins two sets. The smaller root stays, so the result does not depend on the order of joins.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
