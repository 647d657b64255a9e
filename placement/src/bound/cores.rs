//! Conflict cores: small sets of sites; at least one site of each must be chosen.
//!
//! If no site of a core is chosen, a node goes over its limit for any choice of the other sites.
//! For additions, a core is a chain of fifteen sites; for additions below a multiplication, it has
//! two chains. A choice is legal if and only if it hits every core, so the problem is a hitting set
//! problem, and its linear relaxation is much tighter than that of big-M rows. There are too many
//! cores to list them; separation finds cores that a point violates.
//!
//! Notation: `x(s)` is the point, a weight for each site. `W(v, k)` is the least weight of a set of
//! sites such that `p(v) >= k` if they are not chosen. `We(v, k)` is the same for `e(v) >= k`:
//!
//! ```text
//! We(v, k) = 0                                   k <= lo(v)
//!          = W(v, k)                             k <= reset of the site of v
//!          = W(v, k) + x(site of v)              otherwise
//! W(v, k)  = 0                                   k <= lo_p(v)
//!          = min over operands u of We(u, k - c)                      Max(c)
//!          = min over splits k - c = sum of k_u of sum of We(u, k_u)  Sum(c)
//! ```
//!
//! A node with `W(v, limit + 1) < 1` has a violated core, which is found by following the
//! minimizing operands. If a site is counted twice, `W` is too large: then separation may miss a
//! violated core at a fractional point, but never at an integral point (at which a sum is zero if
//! and only if all its terms are).
//!
//! `W(v, .)` is a step function, and only its steps with weights below 1 are stored. Their number
//! depends on the number of different weights, which is small at a vertex of the relaxation, and
//! not on the noise budget.
//!
//! The noise after a chosen site counts as the minimum of its reset and the noise before it. So no
//! core arises because a reset raises noise, and a choice with such a reset does not become more
//! expensive without it. (A site with several nodes may both raise and lower noise; then a choice
//! that hits all cores need not be legal.) In cycles, the steps are recomputed until they are
//! stable.
//!
//! *Levels.* A branch of a tree may assume that the noise after some nodes is below a level, or at
//! least a level ([`NoiseAssumptions`]). If the noise after `v` is assumed to be at least `k`, then
//! `We(v, k) = 0`. If it is assumed to be below a level, a set of sites that brings it to this
//! level is a core, too. Both kinds of cores are valid only under the assumptions, which the row
//! lists.
//!
//! Cost of a separation: the number of steps of all operands; for sums, the product of the numbers
//! of steps of two operands.

use std::collections::HashSet;

use crate::certificate::{ConditionalCore, ProofRow};
use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::{NodeRule, NoiseBits};
use crate::question::least_noise::{beyond_all_limits, extreme_noise};
use crate::question::limits::EffortBudget;

/// A step of `W`: a level of a node, and the least weight of a set of sites that brings the node to
/// this level if they are not chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WeightStep {
    level: NoiseBits,
    weight: f32,
}

/// Assumptions about the noise after some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NoiseAssumptions {
    /// Nodes with levels: the noise after the node is below the level.
    pub below: Vec<(u32, NoiseBits)>,
    /// Nodes with levels: the noise after the node is at least the level.
    pub least: Vec<(u32, NoiseBits)>,
}

impl NoiseAssumptions {
    /// Returns true if a row is valid for all choices that satisfy the assumptions.
    pub(crate) fn implies_conditions(&self, row: &ProofRow) -> bool {
        let ProofRow::CoreWhere(it) = row else { return true };
        let implied = |&(v, level): &(u32, NoiseBits),
                       list: &[(u32, NoiseBits)],
                       is_least: bool| {
            list.iter().any(|it| it.0 == v && if is_least { it.1 >= level } else { it.1 <= level })
        };
        it.below.iter().all(|it| implied(it, &self.below, false))
            && it.least.iter().all(|it| implied(it, &self.least, true))
    }
}

/// A node with a violated core: it goes over its limit, or the noise after it exceeds the
/// assumption, if the sites of the core are not chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViolatedNode {
    /// The weight of the core.
    pub weight: f32,
    pub node: u32,
    /// The noise that the node then reaches.
    level: NoiseBits,
    /// True if `level` is the noise after the reset, false if it is the noise before.
    is_after_reset: bool,
}

/// The separation of cores of one graph. Separations reuse the memory for the steps.
#[derive(Clone, Debug)]
pub(crate) struct CoreSeparator<'g> {
    pub graph: &'g NoiseGraph,
    lo_p: Vec<NoiseBits>,
    lo: Vec<NoiseBits>,
    hi: Vec<NoiseBits>,
    /// The largest relevant level of `p`, by node.
    max_level: Vec<NoiseBits>,
    /// The steps of `W`, by node, with rising levels and weights; weights are below [`MAX_WEIGHT`].
    steps: Vec<Vec<WeightStep>>,
    /// True for each node whose steps were computed. All others are treated as reset.
    inside: Vec<bool>,
    /// The distinct operands of each sum with their multiplicity.
    groups: Vec<Vec<(u32, u32)>>,
    assumed: NoiseAssumptions,
    /// The least noise after each node under the assumptions; `lo` without assumptions.
    least: Vec<NoiseBits>,
    /// The largest noise after each node under the assumptions; the limit without assumptions.
    most: Vec<NoiseBits>,
    /// Work done up to now, in steps.
    pub work: u64,
}

/// The sites of a core.
pub(crate) type Core = Vec<u32>;

/// A core with at least this weight is not violated.
const MAX_WEIGHT: f32 = 1.0;

impl<'g> CoreSeparator<'g> {
    /// Maximum number of steps of a node; the lightest are kept. Without the heavier ones,
    /// separation may miss a violated core.
    const MAX_STEPS: usize = 1 << 10;

    /// Computes the noise levels, but no steps.
    pub(crate) fn new(graph: &'g NoiseGraph) -> CoreSeparator<'g> {
        let n = graph.n_nodes();
        let most = beyond_all_limits(graph);
        let (lo_p, lo) = extreme_noise(graph, true, most);
        let (hi_p, hi) = extreme_noise(graph, false, most);
        let top = (0..n).map(|v| hi_p[v].min(graph.limit[v].saturating_add(1))).collect();
        let groups = (0..n as u32)
            .map(|v| match graph.rule[v as usize] {
                NodeRule::Sum(_) => group_equal(graph.operands.of(v)),
                NodeRule::Max(_) | NodeRule::Source(_) => Vec::new(),
            })
            .collect();
        let (steps, inside) = (vec![Vec::new(); n], vec![false; n]);
        let (assumed, least, most) = (NoiseAssumptions::default(), lo.clone(), graph.limit.clone());
        CoreSeparator {
            graph,
            lo_p,
            lo,
            hi,
            max_level: top,
            steps,
            inside,
            groups,
            assumed,
            least,
            most,
            work: 0,
        }
    }

    /// Replaces the assumptions.
    pub(crate) fn assume(&mut self, assumed: &NoiseAssumptions) {
        let (lo, limit) = (&self.lo, &self.graph.limit);
        for &(v, _) in self.assumed.below.iter().chain(&self.assumed.least) {
            (self.least[v as usize], self.most[v as usize]) = (lo[v as usize], limit[v as usize]);
        }
        self.assumed.clone_from(assumed);
        for &(v, level) in &assumed.below {
            let most = &mut self.most[v as usize];
            *most = (*most).min(level.saturating_sub(1));
        }
        for &(v, level) in &assumed.least {
            let least = &mut self.least[v as usize];
            *least = (*least).max(level);
        }
    }

    /// Returns the lowest and the highest possible noise after each node.
    pub(crate) fn levels(&self) -> (&[NoiseBits], &[NoiseBits]) {
        (&self.lo, &self.hi)
    }

    /// Returns `W(v, k)`.
    fn weight_before(&self, v: u32, k: NoiseBits) -> f32 {
        if k <= self.lo_p[v as usize] {
            return 0.0;
        }
        let steps = &self.steps[v as usize];
        steps.get(steps.partition_point(|it| it.level < k)).map_or(MAX_WEIGHT, |it| it.weight)
    }

    /// Returns `We(v, k)`.
    fn weight_after(&self, x: &[f32], v: u32, k: NoiseBits) -> f32 {
        if k <= self.least[v as usize] {
            return 0.0;
        }
        // The noise after a node is capped at its limit or the assumption: above that, the node
        // itself has a core.
        if k > self.most[v as usize] || !self.inside[v as usize] {
            return MAX_WEIGHT;
        }
        let own = if k <= self.reset(v) { 0.0 } else { self.site_weight(x, v) };
        (self.weight_before(v, k) + own).min(MAX_WEIGHT)
    }

    /// Returns the reset level of a node; 0 without a site.
    fn reset(&self, v: u32) -> NoiseBits {
        match self.graph.site[v as usize] {
            NO_INDEX => 0,
            s => self.graph.reset[s as usize],
        }
    }

    /// Returns the weight of the site of a node.
    fn site_weight(&self, x: &[f32], v: u32) -> f32 {
        match self.graph.site[v as usize] {
            NO_INDEX => 0.0,
            s => x[s as usize],
        }
    }

    /// Returns the steps of `We(v, .)`. Some of them may be redundant.
    fn steps_after<'a>(
        &'a self,
        x: &[f32],
        v: u32,
    ) -> impl Iterator<Item = WeightStep> + use<'a, 'g> {
        let i = v as usize;
        let (own, most, least) = (self.site_weight(x, v), self.most[i], self.least[i]);
        let steps = if self.inside[i] { &*self.steps[i] } else { &[] };
        let reset = self.reset(v);
        let risen = move |it: &WeightStep| {
            let level = it.level.min(most);
            // Up to the reset level, the site may be chosen.
            let low =
                (reset > least).then(|| WeightStep { level: level.min(reset), weight: it.weight });
            let high = WeightStep { level, weight: it.weight + own };
            low.into_iter().chain((level > reset || low.is_none()).then_some(high))
        };
        let risen = steps.iter().flat_map(risen).filter(move |it| it.level > least);
        std::iter::once(WeightStep { level: least, weight: 0.0 })
            .chain(risen.filter(|it| it.weight < MAX_WEIGHT))
    }

    /// Computes the steps of some nodes for a point. The nodes must be in the order of the graph,
    /// and sites of other nodes must have weight 1.
    pub(crate) fn compute_steps(&mut self, x: &[f32], nodes: &[u32]) {
        let graph = self.graph;
        self.inside.fill(false);
        for &v in nodes {
            self.inside[v as usize] = true;
            self.steps[v as usize].clear();
        }
        let (mut sum, mut found) = (Vec::new(), Vec::new());
        loop {
            let mut changed = false;
            for &v in nodes {
                let i = v as usize;
                match graph.rule[i] {
                    NodeRule::Source(_) => {
                        found.clear();
                        found.push(WeightStep { level: self.lo_p[i], weight: 0.0 });
                    }
                    NodeRule::Max(c) => {
                        found.clear();
                        for &u in graph.operands.of(v) {
                            found.extend(self.steps_after(x, u).map(|it| it.raised(c)));
                        }
                        self.work += found.len() as u64;
                        remove_dominated(&mut found, self.max_level[i]);
                    }
                    NodeRule::Sum(c) => {
                        found.clear();
                        found.push(WeightStep { level: c, weight: 0.0 });
                        for &group in &self.groups[i] {
                            std::mem::swap(&mut sum, &mut found);
                            self.add(x, group, &sum, self.max_level[i], &mut found);
                            self.work += (sum.len() + found.len()) as u64;
                        }
                        remove_dominated(&mut found, self.max_level[i]);
                    }
                }
                if self.steps[i] != found {
                    self.steps[i].clone_from(&found);
                    changed = true;
                }
            }
            if !changed || !graph.is_cyclic {
                return;
            }
        }
    }

    /// Adds one group of equal operands to the steps of a sum.
    fn add(
        &self,
        x: &[f32],
        (u, times): (u32, u32),
        sum: &[WeightStep],
        top: NoiseBits,
        out: &mut Vec<WeightStep>,
    ) {
        out.clear();
        for own in self.steps_after(x, u) {
            let raised = own.level.saturating_mul(times);
            let both = sum.iter().map(|it| WeightStep {
                level: it.level.saturating_add(raised),
                weight: it.weight + own.weight,
            });
            out.extend(both.take_while(|it| it.weight < MAX_WEIGHT));
        }
        remove_dominated(out, top);
    }

    /// Finds levels of the operands that bring a sum to at least `k` for the least weight. Returns
    /// false if there are none.
    fn split(
        &self,
        x: &[f32],
        v: u32,
        c: NoiseBits,
        k: NoiseBits,
        levels: &mut Vec<(u32, NoiseBits)>,
    ) -> bool {
        let (groups, top) = (&self.groups[v as usize], self.max_level[v as usize]);
        // The steps of the sums of the last 0, 1, 2, ... groups.
        let mut sums = vec![vec![WeightStep { level: c, weight: 0.0 }]];
        for &group in groups.iter().rev() {
            let mut next = Vec::new();
            self.add(x, group, &sums[sums.len() - 1], top, &mut next);
            sums.push(next);
        }
        let mut k = k;
        for (&(u, times), sum) in groups.iter().zip(sums.iter().rev().skip(1)) {
            // The least weight and its level.
            let mut best: Option<(f32, NoiseBits)> = None;
            for own in self.steps_after(x, u) {
                let left = k.saturating_sub(own.level.saturating_mul(times));
                let rest = sum.get(sum.partition_point(|it| it.level < left));
                let Some(rest) = rest else { continue };
                let weight = rest.weight + own.weight;
                if best.is_none_or(|it| weight < it.0) {
                    // The level is not higher than necessary, so that the core contains no
                    // superfluous sites without weight.
                    let level = k.saturating_sub(rest.level).div_ceil(times);
                    best = Some((weight, level.max(self.least[u as usize])));
                }
            }
            let Some((_, level)) = best else { return false };
            levels.push((u, level));
            k = k.saturating_sub(level.saturating_mul(times));
        }
        true
    }

    /// Returns the nodes with a core of a weight below `1 - slack` at the point, the most violated
    /// first.
    pub(crate) fn violated(&self, x: &[f32], nodes: &[u32], slack: f32) -> Vec<ViolatedNode> {
        let over = |&node: &u32| {
            let level = self.graph.limit[node as usize].checked_add(1)?;
            Some(ViolatedNode {
                weight: self.weight_before(node, level),
                node,
                level,
                is_after_reset: false,
            })
        };
        let too_much = |&(node, level): &(u32, NoiseBits)| {
            let own = if level <= self.reset(node) { 0.0 } else { self.site_weight(x, node) };
            ViolatedNode {
                weight: self.weight_before(node, level) + own,
                node,
                level,
                is_after_reset: true,
            }
        };
        let mut found: Vec<ViolatedNode> = nodes.iter().filter_map(over).collect();
        let is_inside = |it: &&(u32, NoiseBits)| self.inside[it.0 as usize];
        found.extend(self.assumed.below.iter().filter(is_inside).map(too_much));
        found.retain(|it| it.weight < MAX_WEIGHT - slack);
        found.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.node.cmp(&b.node)));
        found
    }

    /// Returns the core of a node that [`CoreSeparator::violated`] found. `None` if a cycle of
    /// equal weights hides it.
    pub(crate) fn core(&self, x: &[f32], over: ViolatedNode) -> Option<ProofRow> {
        let (mut core, mut below, mut least) = (Vec::new(), Vec::new(), Vec::new());
        if over.is_after_reset {
            below.push((over.node, over.level));
            self.push_site(over.node, over.level, &mut core);
        }
        self.descend(x, over, &mut |u, level| {
            if level > self.least[u as usize] {
                self.push_site(u, level, &mut core);
            } else if level > self.lo[u as usize] {
                least.push((u, self.least[u as usize]));
            }
        })?;
        core.sort_unstable();
        core.dedup();
        if below.is_empty() && least.is_empty() {
            return Some(ProofRow::Core(core.into()));
        }
        least.sort_unstable();
        least.dedup();
        let (below, least) = (below.into(), least.into());
        Some(ProofRow::CoreWhere(Box::new(ConditionalCore { core: core.into(), below, least })))
    }

    /// Returns new cores that a point violates. Each site is in only a few of them.
    pub(crate) fn separate(
        &mut self,
        nodes: &[u32],
        x: &[f32],
        slack: f32,
        known: &mut HashSet<ProofRow>,
        budget: &mut EffortBudget,
    ) -> Vec<ProofRow> {
        /// Maximum number of new cores of a site per round.
        const SHARE: u8 = 3;
        let before = self.work;
        self.compute_steps(x, nodes);
        budget.spend(self.work - before);
        let mut uses = vec![0_u8; self.graph.n_sites()];
        let mut found = Vec::new();
        for over in self.violated(x, nodes, slack) {
            // Finding one core may take as long as computing all steps. At least one core is
            // returned, because an empty result means that no core is violated.
            if !found.is_empty() && (budget.stop)() {
                break;
            }
            let Some(core) = self.core(x, over) else { continue };
            let mut is_fresh = false;
            core.for_each(|s, _| is_fresh |= uses[s as usize] < SHARE);
            if !(is_fresh || over.weight == 0.0) || !known.insert(core.clone()) {
                continue;
            }
            core.for_each(|s, _| uses[s as usize] = uses[s as usize].saturating_add(1));
            found.push(core);
        }
        found
    }

    /// Adds the site of a node to a core if the noise after the node reaches the level only without
    /// it.
    fn push_site(&self, v: u32, level: NoiseBits, core: &mut Core) {
        let site = self.graph.site[v as usize];
        if site != NO_INDEX && level > self.reset(v) {
            core.push(site);
        }
    }

    /// Descends from a node to the operands that bring it to its level for the least weight. Calls
    /// `of` with each operand and the required level after it. The operand of a sum may reach this
    /// level in any case.
    fn descend(
        &self,
        x: &[f32],
        over: ViolatedNode,
        of: &mut dyn FnMut(u32, NoiseBits),
    ) -> Option<()> {
        let mut stack = vec![(over.node, over.level)];
        let mut levels = Vec::new();
        let mut seen: Vec<(u32, NoiseBits)> = Vec::new();
        let mut looked = 0;
        while let Some((v, k)) = stack.pop() {
            if k <= self.lo_p[v as usize] {
                continue;
            }
            // A pair may be reached twice. In a cycle, this means that the core is hidden.
            if seen.contains(&(v, k)) {
                if self.graph.is_cyclic {
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
                NodeRule::Source(_) => return None,
                NodeRule::Max(c) => {
                    let level = k.saturating_sub(c);
                    let after = |u: u32| self.weight_after(x, u, level);
                    let operands = self.graph.operands.of(v).iter().copied();
                    levels.push((operands.min_by(|&a, &b| after(a).total_cmp(&after(b)))?, level));
                }
                NodeRule::Sum(c) => {
                    if !self.split(x, v, c, k, &mut levels) {
                        return None;
                    }
                }
            }
            for &(u, level) in &levels {
                of(u, level);
                if level > self.least[u as usize] {
                    stack.push((u, level));
                }
            }
        }
        Some(())
    }
}

impl WeightStep {
    fn raised(self, by: NoiseBits) -> WeightStep {
        WeightStep { level: self.level.saturating_add(by), weight: self.weight }
    }
}

/// Sorts the steps and removes dominated ones: steps for which another step of at most the same
/// weight has at least the same level. Levels are capped at `top`.
fn remove_dominated(steps: &mut Vec<WeightStep>, top: NoiseBits) {
    for it in steps.iter_mut() {
        it.level = it.level.min(top);
    }
    steps.sort_unstable_by(|a, b| a.weight.total_cmp(&b.weight).then(b.level.cmp(&a.level)));
    let mut highest = None;
    steps.retain(|it| {
        let is_higher = highest.is_none_or(|level| it.level > level);
        if is_higher {
            highest = Some(it.level);
        }
        is_higher
    });
    steps.truncate(CoreSeparator::MAX_STEPS);
}

/// Groups equal operands, in the order of their first occurrences.
fn group_equal(operands: &[u32]) -> Vec<(u32, u32)> {
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for &u in operands {
        match groups.iter_mut().find(|(o, _)| *o == u) {
            Some((_, times)) => *times += 1,
            None => groups.push((u, 1)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::instance::{Instance, Node};
    use crate::random::Random;

    /// `W` and `We` of all levels, computed from the definition in the module header.
    struct Twin {
        before: Vec<Vec<f32>>,
        after: Vec<Vec<f32>>,
    }

    impl Twin {
        fn new(cores: &CoreSeparator, x: &[f32]) -> Twin {
            let graph = cores.graph;
            let mut it = Twin { before: Vec::new(), after: Vec::new() };
            for v in 0..graph.n_nodes() {
                let limit = graph.limit[v];
                let before: Vec<f32> = (0..=limit + 1).map(|k| it.entry(graph, v, k)).collect();
                let own = cores.site_weight(x, v as u32);
                let leaves = |k: NoiseBits| match k {
                    _ if k <= cores.lo[v] => 0.0,
                    _ if k <= cores.reset(v as u32) => before[k as usize].min(MAX_WEIGHT),
                    _ => (before[k as usize] + own).min(MAX_WEIGHT),
                };
                it.after.push((0..=limit).map(leaves).collect());
                it.before.push(before);
            }
            it
        }

        fn leaving(&self, u: u32, k: NoiseBits) -> f32 {
            self.after[u as usize].get(k as usize).copied().unwrap_or(MAX_WEIGHT)
        }

        fn entry(&self, graph: &NoiseGraph, v: usize, k: NoiseBits) -> f32 {
            let operands = graph.operands.of(v as u32);
            match graph.rule[v] {
                NodeRule::Source(noise) => f32::from(u8::from(k > noise)),
                NodeRule::Max(c) => {
                    let least =
                        |least: f32, &u: &u32| least.min(self.leaving(u, k.saturating_sub(c)));
                    operands.iter().fold(MAX_WEIGHT, least)
                }
                NodeRule::Sum(c) => {
                    let k = k.saturating_sub(c);
                    match *operands {
                        // Equal operands have equal noise.
                        [a, b] if a == b => self.leaving(a, k.div_ceil(2)),
                        [a, b] => {
                            let split =
                                |at: NoiseBits| self.leaving(a, at) + self.leaving(b, k - at);
                            (0..=k).map(split).fold(MAX_WEIGHT, f32::min)
                        }
                        _ => unreachable!("sums of two"),
                    }
                }
            }
        }
    }

    #[test]
    fn steps_equal_their_definition() {
        let mut random = Random::new(5);
        for round in 0..300 {
            let (fresh, budget, reset) = [(12, 26, 12), (0, 3, 0), (7, 90, 20)][round % 3];
            let mut instance = Instance::default();
            let mut values: Vec<Node> =
                (0..3).map(|_| instance.push(NodeRule::Source(fresh), &[], budget, None)).collect();
            for _ in 0..40 {
                let mut pick = || values[values.len() - 1 - random.below(values.len().min(9))];
                let operands = [pick(), pick()];
                let c = random.below(3) as NoiseBits;
                let rule = if random.below(3) == 0 { NodeRule::Sum(c) } else { NodeRule::Max(c) };
                // Some resets raise noise.
                let site = (random.below(5) > 0).then(|| instance.push_site(1, reset));
                values.push(instance.push(rule, &operands, budget, site));
            }
            let graph = NoiseGraph::new(&instance);
            let mut cores = CoreSeparator::new(&graph);
            let weights = [0.0, 0.0, 0.25, 0.5, 0.4, 1.0];
            let x: Vec<f32> =
                (0..graph.n_sites()).map(|_| weights[random.below(weights.len())]).collect();
            let nodes = graph.order.clone();
            cores.compute_steps(&x, &nodes);
            let twin = Twin::new(&cores, &x);
            for v in 0..graph.n_nodes() as u32 {
                for k in 0..=budget + 1 {
                    let (is, wanted) =
                        (cores.weight_before(v, k), twin.before[v as usize][k as usize]);
                    assert!((is - wanted).abs() < 1e-5, "W({v}, {k}) = {is}, not {wanted}");
                }
            }
            for over in cores.violated(&x, &nodes, 1e-4) {
                let core = cores.core(&x, over).expect("a core");
                let mut sum = 0.0;
                core.for_each(|s, _| sum += x[s as usize]);
                assert!(sum <= over.weight + 1e-5, "{core:?} weighs {sum}: {over:?}");
            }
        }
    }
}
