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
//!          = W(v, k)                             k <= reset of the site of v
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
//! `W(v, .)` rises in steps, and only weights under 1 matter. So it is kept as its steps: how many there are follows from the
//! different weights, few at a vertex of the relaxation, and not from the budget.
//!
//! A chosen site counts as doing what is lower, the least of its reset and the noise before it. So no core is claimed because a reset
//! raises noise; a choice in which one does costs no less without it. (Only a site of several nodes may do both; there a choice that
//! hits all cores need not be legal.) Loops: the steps are found anew until they settle.
//!
//! *Levels.* A branch of a tree may assume of some nodes that less than a level leaves them, or at least a level ([`Assumed`]). `We(v, k) = 0` up to
//! a level that is assumed to leave, and a set of sites that brings a node to a level below which it is assumed to stay is a core, too. Both
//! hold where that is assumed only, which a row says that made use of it.
//!
//! Cost of a separation: the steps of all operands, and for sums the product of those of two operands.

use crate::certificate::{CoreWhere, Row};
use crate::graph::{Graph, NONE};
use crate::instance::{Bits, NodeRule};
use crate::levels::{beyond_all_limits, extreme};

/// What a node can be brought to, and the least weight of the sites left unchosen for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    level: Bits,
    weight: f32,
}

/// What is assumed of the noise that leaves some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assumed {
    /// Less than so much.
    pub below: Vec<(u32, Bits)>,
    /// At least so much.
    pub least: Vec<(u32, Bits)>,
}

impl Assumed {
    /// Whether a row holds for all choices in which that is true.
    pub(crate) fn admits(&self, row: &Row) -> bool {
        let Row::CoreWhere(it) = row else { return true };
        let implied = |&(v, level): &(u32, Bits), list: &[(u32, Bits)], is_least: bool| {
            list.iter().any(|it| it.0 == v && if is_least { it.1 >= level } else { it.1 <= level })
        };
        it.below.iter().all(|it| implied(it, &self.below, false))
            && it.least.iter().all(|it| implied(it, &self.least, true))
    }
}

/// A node that goes over its limit, or passes on as much as it is assumed not to, where the sites of a core are not chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Over {
    /// The weight of the core.
    pub weight: f32,
    pub node: u32,
    /// What it is brought to.
    level: Bits,
    /// After its reset, not before.
    leaves: bool,
}

/// The steps of one graph, whose memory is used again for each separation.
#[derive(Clone, Debug)]
pub(crate) struct Cores<'g> {
    graph: &'g Graph,
    lo_p: Vec<Bits>,
    lo: Vec<Bits>,
    hi: Vec<Bits>,
    /// The largest level of `p` that is told from others, per node.
    top: Vec<Bits>,
    /// The steps of `W`, per node: level and weight rise, and weights are under [`FULL`].
    steps: Vec<Vec<Step>>,
    /// Whether a node is among those the steps were found for; all others are as if always reduced.
    inside: Vec<bool>,
    /// Groups of equal operands of sums: (operand, times).
    groups: Vec<Vec<(u32, u32)>>,
    assumed: Assumed,
    /// What leaves each node at least and at most, by what is assumed; `lo` and the limit without.
    least: Vec<Bits>,
    most: Vec<Bits>,
    /// Steps looked at so far, a measure of work.
    pub work: u64,
}

/// A set of sites.
pub(crate) type Core = Vec<u32>;

/// Weights from here on are of no interest: the core is not violated.
const FULL: f32 = 1.0;

impl<'g> Cores<'g> {
    /// So many steps a node has at most, the lightest. Without a heavier one a violated core may be missed.
    const MOST_STEPS: usize = 1 << 10;

    /// No steps yet.
    pub(crate) fn new(graph: &'g Graph) -> Cores<'g> {
        let n = graph.n_nodes();
        let most = beyond_all_limits(graph);
        let (lo_p, lo) = extreme(graph, true, most);
        let (hi_p, hi) = extreme(graph, false, most);
        let top = (0..n).map(|v| hi_p[v].min(graph.limit[v].saturating_add(1))).collect();
        let groups = (0..n as u32)
            .map(|v| match graph.rule[v as usize] {
                NodeRule::Sum(_) => group(graph.operands.of(v)),
                NodeRule::Max(_) | NodeRule::Source(_) => Vec::new(),
            })
            .collect();
        let (steps, inside) = (vec![Vec::new(); n], vec![false; n]);
        let (assumed, least, most) = (Assumed::default(), lo.clone(), graph.limit.clone());
        Cores { graph, lo_p, lo, hi, top, steps, inside, groups, assumed, least, most, work: 0 }
    }

    /// Assumes this and nothing else.
    pub(crate) fn assume(&mut self, assumed: &Assumed) {
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

    /// The lowest and the highest noise that may leave each node.
    pub(crate) fn levels(&self) -> (&[Bits], &[Bits]) {
        (&self.lo, &self.hi)
    }

    /// `W(v, k)`.
    fn before(&self, v: u32, k: Bits) -> f32 {
        if k <= self.lo_p[v as usize] {
            return 0.0;
        }
        let steps = &self.steps[v as usize];
        steps.get(steps.partition_point(|it| it.level < k)).map_or(FULL, |it| it.weight)
    }

    /// `We(v, k)`.
    fn after(&self, x: &[f32], v: u32, k: Bits) -> f32 {
        if k <= self.least[v as usize] {
            return 0.0;
        }
        // What leaves a node is within its limit, or what is assumed: beyond it the node itself has the core.
        if k > self.most[v as usize] || !self.inside[v as usize] {
            return FULL;
        }
        let own = if k <= self.reset(v) { 0.0 } else { self.own(x, v) };
        (self.before(v, k) + own).min(FULL)
    }

    /// The reset of a node; 0 without a site.
    fn reset(&self, v: u32) -> Bits {
        match self.graph.site[v as usize] {
            NONE => 0,
            s => self.graph.reset[s as usize],
        }
    }

    /// The weight of the site of a node.
    fn own(&self, x: &[f32], v: u32) -> f32 {
        match self.graph.site[v as usize] {
            NONE => 0.0,
            s => x[s as usize],
        }
    }

    /// The steps of `We(v, .)`; there may be some that another makes useless.
    fn leaving<'a>(&'a self, x: &[f32], v: u32) -> impl Iterator<Item = Step> + use<'a, 'g> {
        let i = v as usize;
        let (own, most, least) = (self.own(x, v), self.most[i], self.least[i]);
        let steps = if self.inside[i] { &*self.steps[i] } else { &[] };
        let reset = self.reset(v);
        let risen = move |it: &Step| {
            let level = it.level.min(most);
            // Up to its reset the site need not be unchosen.
            let low = (reset > least).then(|| Step { level: level.min(reset), weight: it.weight });
            let high = Step { level, weight: it.weight + own };
            low.into_iter().chain((level > reset || low.is_none()).then_some(high))
        };
        let risen = steps.iter().flat_map(risen).filter(move |it| it.level > least);
        std::iter::once(Step { level: least, weight: 0.0 })
            .chain(risen.filter(|it| it.weight < FULL))
    }

    /// Finds the steps for a point, for some nodes in their order. Sites outside must have weight 1.
    pub(crate) fn fill(&mut self, x: &[f32], nodes: &[u32]) {
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
                        found.push(Step { level: self.lo_p[i], weight: 0.0 });
                    }
                    NodeRule::Max(c) => {
                        found.clear();
                        for &u in graph.operands.of(v) {
                            found.extend(self.leaving(x, u).map(|it| it.raised(c)));
                        }
                        self.work += found.len() as u64;
                        settle(&mut found, self.top[i]);
                    }
                    NodeRule::Sum(c) => {
                        found.clear();
                        found.push(Step { level: c, weight: 0.0 });
                        for &group in &self.groups[i] {
                            std::mem::swap(&mut sum, &mut found);
                            self.add(x, group, &sum, self.top[i], &mut found);
                            self.work += (sum.len() + found.len()) as u64;
                        }
                        settle(&mut found, self.top[i]);
                    }
                }
                if self.steps[i] != found {
                    self.steps[i].clone_from(&found);
                    changed = true;
                }
            }
            if !changed || !graph.cyclic {
                return;
            }
        }
    }

    /// The steps of a sum with one more group of operands.
    fn add(&self, x: &[f32], (u, times): (u32, u32), sum: &[Step], top: Bits, out: &mut Vec<Step>) {
        out.clear();
        for own in self.leaving(x, u) {
            let raised = own.level.saturating_mul(times);
            let both = sum.iter().map(|it| Step {
                level: it.level.saturating_add(raised),
                weight: it.weight + own.weight,
            });
            out.extend(both.take_while(|it| it.weight < FULL));
        }
        settle(out, top);
    }

    /// The operands of a sum with the levels that make it at least `k` for the least weight; whether they do.
    fn split(&self, x: &[f32], v: u32, c: Bits, k: Bits, levels: &mut Vec<(u32, Bits)>) -> bool {
        let (groups, top) = (&self.groups[v as usize], self.top[v as usize]);
        // The sums of the last groups.
        let mut sums = vec![vec![Step { level: c, weight: 0.0 }]];
        for &group in groups.iter().rev() {
            let mut next = Vec::new();
            self.add(x, group, &sums[sums.len() - 1], top, &mut next);
            sums.push(next);
        }
        let mut k = k;
        for (&(u, times), sum) in groups.iter().zip(sums.iter().rev().skip(1)) {
            // The least weight, and the level with it.
            let mut best: Option<(f32, Bits)> = None;
            for own in self.leaving(x, u) {
                let left = k.saturating_sub(own.level.saturating_mul(times));
                let rest = sum.get(sum.partition_point(|it| it.level < left));
                let Some(rest) = rest else { continue };
                let weight = rest.weight + own.weight;
                if best.is_none_or(|it| weight < it.0) {
                    // No higher than needed, so that no site without weight comes into the core in vain.
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

    /// Which of the nodes that the steps were found for have a core of weight under `1 - slack` at the point, the most violated first.
    pub(crate) fn violated(&self, x: &[f32], nodes: &[u32], slack: f32) -> Vec<Over> {
        let over = |&node: &u32| {
            let level = self.graph.limit[node as usize].checked_add(1)?;
            Some(Over { weight: self.before(node, level), node, level, leaves: false })
        };
        let too_much = |&(node, level): &(u32, Bits)| {
            let own = if level <= self.reset(node) { 0.0 } else { self.own(x, node) };
            Over { weight: self.before(node, level) + own, node, level, leaves: true }
        };
        let mut found: Vec<Over> = nodes.iter().filter_map(over).collect();
        let is_inside = |it: &&(u32, Bits)| self.inside[it.0 as usize];
        found.extend(self.assumed.below.iter().filter(is_inside).map(too_much));
        found.retain(|it| it.weight < FULL - slack);
        found.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.node.cmp(&b.node)));
        found
    }

    /// The core of what [`Cores::violated`] named. `None` where a loop of equal weights hides it.
    pub(crate) fn core(&self, x: &[f32], over: Over) -> Option<Row> {
        let (mut core, mut below, mut least) = (Vec::new(), Vec::new(), Vec::new());
        if over.leaves {
            below.push((over.node, over.level));
            self.pass(over.node, over.level, &mut core);
        }
        self.descend(x, over, &mut |u, level| {
            if level > self.least[u as usize] {
                self.pass(u, level, &mut core);
            } else if level > self.lo[u as usize] {
                least.push((u, self.least[u as usize]));
            }
        })?;
        core.sort_unstable();
        core.dedup();
        if below.is_empty() && least.is_empty() {
            return Some(Row::Core(core.into()));
        }
        least.sort_unstable();
        least.dedup();
        let (below, least) = (below.into(), least.into());
        Some(Row::CoreWhere(Box::new(CoreWhere { core: core.into(), below, least })))
    }

    /// The site that has to be unchosen so that a level leaves a node.
    fn pass(&self, v: u32, level: Bits, core: &mut Core) {
        let site = self.graph.site[v as usize];
        if site != NONE && level > self.reset(v) {
            core.push(site);
        }
    }

    /// Goes down from what is over to what brings it there for the least weight, and calls back with each operand and the level that
    /// has to leave it; that of an operand of a sum may be no more than what leaves it anyway.
    fn descend(&self, x: &[f32], over: Over, of: &mut dyn FnMut(u32, Bits)) -> Option<()> {
        let mut stack = vec![(over.node, over.level)];
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
                NodeRule::Source(_) => return None,
                NodeRule::Max(c) => {
                    let level = k.saturating_sub(c);
                    let after = |u: u32| self.after(x, u, level);
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

impl Step {
    fn raised(self, by: Bits) -> Step {
        Step { level: self.level.saturating_add(by), weight: self.weight }
    }
}

/// Leaves those steps that no other reaches as high as for no more weight, in order; levels above the top are no higher than it.
fn settle(steps: &mut Vec<Step>, top: Bits) {
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
    steps.truncate(Cores::MOST_STEPS);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anneal::Random;
    use crate::instance::{Instance, Node};

    /// `W` and `We` of all levels, as the header of the module defines them.
    struct Twin {
        before: Vec<Vec<f32>>,
        after: Vec<Vec<f32>>,
    }

    impl Twin {
        fn new(cores: &Cores, x: &[f32]) -> Twin {
            let graph = cores.graph;
            let mut it = Twin { before: Vec::new(), after: Vec::new() };
            for v in 0..graph.n_nodes() {
                let limit = graph.limit[v];
                let before: Vec<f32> = (0..=limit + 1).map(|k| it.entry(graph, v, k)).collect();
                let own = cores.own(x, v as u32);
                let leaves = |k: Bits| match k {
                    _ if k <= cores.lo[v] => 0.0,
                    _ if k <= cores.reset(v as u32) => before[k as usize].min(FULL),
                    _ => (before[k as usize] + own).min(FULL),
                };
                it.after.push((0..=limit).map(leaves).collect());
                it.before.push(before);
            }
            it
        }

        fn leaving(&self, u: u32, k: Bits) -> f32 {
            self.after[u as usize].get(k as usize).copied().unwrap_or(FULL)
        }

        fn entry(&self, graph: &Graph, v: usize, k: Bits) -> f32 {
            let operands = graph.operands.of(v as u32);
            match graph.rule[v] {
                NodeRule::Source(noise) => f32::from(u8::from(k > noise)),
                NodeRule::Max(c) => {
                    let least =
                        |least: f32, &u: &u32| least.min(self.leaving(u, k.saturating_sub(c)));
                    operands.iter().fold(FULL, least)
                }
                NodeRule::Sum(c) => {
                    let k = k.saturating_sub(c);
                    match *operands {
                        // The same value has the same noise twice.
                        [a, b] if a == b => self.leaving(a, k.div_ceil(2)),
                        [a, b] => {
                            let split = |at: Bits| self.leaving(a, at) + self.leaving(b, k - at);
                            (0..=k).map(split).fold(FULL, f32::min)
                        }
                        _ => unreachable!("sums of two"),
                    }
                }
            }
        }
    }

    #[test]
    fn steps_are_those_of_the_definition() {
        let mut random = Random::new(5);
        for round in 0..300 {
            let (fresh, budget, reset) = [(12, 26, 12), (0, 3, 0), (7, 90, 20)][round % 3];
            let mut instance = Instance::default();
            let mut values: Vec<Node> =
                (0..3).map(|_| instance.push(NodeRule::Source(fresh), &[], budget, None)).collect();
            for _ in 0..40 {
                let mut pick = || values[values.len() - 1 - random.below(values.len().min(9))];
                let operands = [pick(), pick()];
                let c = random.below(3) as Bits;
                let rule = if random.below(3) == 0 { NodeRule::Sum(c) } else { NodeRule::Max(c) };
                // Some resets raise noise.
                let site = (random.below(5) > 0).then(|| instance.push_site(1, reset));
                values.push(instance.push(rule, &operands, budget, site));
            }
            let graph = Graph::new(&instance);
            let mut cores = Cores::new(&graph);
            let weights = [0.0, 0.0, 0.25, 0.5, 0.4, 1.0];
            let x: Vec<f32> =
                (0..graph.n_sites()).map(|_| weights[random.below(weights.len())]).collect();
            let nodes = graph.order.clone();
            cores.fill(&x, &nodes);
            let twin = Twin::new(&cores, &x);
            for v in 0..graph.n_nodes() as u32 {
                for k in 0..=budget + 1 {
                    let (is, wanted) = (cores.before(v, k), twin.before[v as usize][k as usize]);
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
