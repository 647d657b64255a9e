//! Transfer of cuts to similar parts of the graph: a cut in one of two hundred equal substructures
//! is found once and copied to all of them.
//!
//! Nodes get colors: equal for equal rule, limit and reset, and then refined by the colors of their
//! neighbors ([`ROUNDS`] times). A [`CutPattern`] is a cut with a walk through nodes with all of
//! its sites; each move of the walk is described by the color of its target. The same walk from
//! another node with the color of the start leads to the sites of a copy. Colors are only a
//! heuristic: a copy is accepted only if the image of each core of the proof is a core
//! ([`CoreCheck`]). The rest of the proof depends only on the cores and on the weights of the cut,
//! so the proof is valid for the copy, for any costs of its sites.
//!
//! Cost: some passes over the edges for the colors; a walk for each possible copy; and, if the
//! point violates the copy, a visit of the few nodes whose noise rises without each core.
//!
//! Source of the idea: color refinement (Weisfeiler and Leman); orbits of cuts as in symmetric
//! integer programs (Margot).

use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::bound::cores::CoreSeparator;
use crate::certificate::{Cut, ProofRow, ProofStep};
use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;

/// Number of refinements: nodes of the same color have similar neighborhoods up to this distance.
const ROUNDS: usize = 2;
/// Maximum number of consecutive nodes without a site of the cut on a walk.
const MAX_DETOUR: u32 = 1;
/// A walk does not continue through nodes with more users or operands than this.
const MAX_USERS: usize = 64;
/// Maximum number of patterns.
const MAX_PATTERNS: usize = 1 << 13;

/// Returns a color for each node, which is equal for nodes with similar neighborhoods.
pub(crate) fn colors(graph: &NoiseGraph) -> Vec<u64> {
    let n = graph.n_nodes() as u32;
    let hash = |it: &dyn Fn(&mut FxHasher)| {
        let mut hasher = FxHasher::default();
        it(&mut hasher);
        hasher.finish()
    };
    let mut colors: Vec<u64> = (0..n)
        .map(|v| {
            let i = v as usize;
            let reset = (graph.site[i] != NO_INDEX).then(|| graph.reset[graph.site[i] as usize]);
            hash(&|to| (graph.rule[i], graph.limit[i], reset).hash(to))
        })
        .collect();
    let mut near = Vec::new();
    for _ in 0..ROUNDS {
        let mut side = |list: &[u32]| {
            near.clear();
            near.extend(list.iter().map(|&w| colors[w as usize]));
            near.sort_unstable();
            hash(&|to| near.hash(to))
        };
        let next = |v: u32| {
            let (above, below) = (side(graph.operands.of(v)), side(graph.users.of(v)));
            hash(&|to| (colors[v as usize], above, below).hash(to))
        };
        let next: Vec<u64> = (0..n).map(next).collect();
        colors = next;
    }
    colors
}

/// A move from one node to another.
#[derive(Clone, Copy, Debug)]
struct WalkMove {
    /// The index of the source node in the walk.
    from: u32,
    is_down: bool,
    /// The color of the target node.
    color: u64,
    /// Number of earlier neighbors with this color.
    nth: u32,
}

/// A cut with a walk through its sites.
#[derive(Debug)]
pub(crate) struct CutPattern {
    cut: Arc<Cut>,
    /// The first node of the walk.
    start: u32,
    moves: Vec<WalkMove>,
    /// The sites of the proof, each with the index of one of its nodes in the walk.
    places: Vec<(u32, u32)>,
    /// The terms of the cut: index in the walk and weight.
    terms: Vec<(u32, u64)>,
}

/// The known patterns of a graph, shared by threads.
pub(crate) struct CutPatterns {
    colors: Vec<u64>,
    /// Number of nodes of each color.
    count: FxHashMap<u64, u32>,
    patterns: RwLock<Vec<Arc<CutPattern>>>,
}

impl CutPatterns {
    pub(crate) fn new(graph: &NoiseGraph) -> CutPatterns {
        let colors = colors(graph);
        let mut count: FxHashMap<u64, u32> = FxHashMap::default();
        for &color in &colors {
            *count.entry(color).or_default() += 1;
        }
        CutPatterns { colors, count, patterns: RwLock::default() }
    }

    /// Adds patterns for the cuts that may have copies.
    pub(crate) fn add_cuts(&self, graph: &NoiseGraph, cuts: &[ProofRow]) {
        let new: Vec<Arc<CutPattern>> =
            cuts.iter().filter_map(|row| self.pattern(graph, row)).map(Arc::new).collect();
        let mut patterns = self.patterns.write().unwrap_or_else(PoisonError::into_inner);
        patterns.extend(new);
        let n = patterns.len();
        // The oldest patterns are the least useful: they were found at the worst points.
        patterns.drain(..n.saturating_sub(MAX_PATTERNS));
    }

    /// Returns all patterns.
    pub(crate) fn patterns(&self) -> Vec<Arc<CutPattern>> {
        self.patterns.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Groups nodes by color.
    pub(crate) fn by_color(&self, nodes: impl Iterator<Item = u32>) -> FxHashMap<u64, Vec<u32>> {
        let mut out: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for v in nodes {
            out.entry(self.colors[v as usize]).or_default().push(v);
        }
        out
    }

    /// Returns the nodes at which copies of a pattern may start.
    pub(crate) fn starts<'a>(
        &self,
        by_color: &'a FxHashMap<u64, Vec<u32>>,
        pattern: &CutPattern,
    ) -> &'a [u32] {
        by_color.get(&self.colors[pattern.start as usize]).map_or(&[], |it| it)
    }

    /// Returns the pattern of a cut. `None` if the walk does not reach all sites, or the color of
    /// its start is unique.
    fn pattern(&self, graph: &NoiseGraph, row: &ProofRow) -> Option<CutPattern> {
        let ProofRow::Cut(cut) = row else { return None };
        // Sweeps and splits rely on more than cores.
        let is_about_more =
            |it: &ProofStep| matches!(it, ProofStep::Sweep { .. } | ProofStep::Split(_));
        if cut.proof.steps.iter().any(is_about_more) {
            return None;
        }
        let mut wanted: FxHashSet<u32> = cut.terms.iter().map(|it| it.0).collect();
        for row in &cut.proof.rows {
            let ProofRow::Core(core) = row else { return None };
            wanted.extend(core.iter().copied());
        }
        let rarity = |v: &u32| (self.count[&self.colors[*v as usize]], *v);
        let nodes = wanted.iter().flat_map(|&s| graph.nodes_of.of(s).iter().copied());
        let start = nodes.min_by_key(rarity)?;
        if rarity(&start).0 < 2 {
            return None;
        }
        // Breadth-first search. Each node has the number of directly preceding nodes without a
        // wanted site.
        let is_wanted = |v: u32| {
            let s = graph.site[v as usize];
            s != NO_INDEX && wanted.contains(&s)
        };
        let (mut walk, mut moves) = (vec![(start, 0)], Vec::new());
        let mut seen: FxHashSet<u32> = FxHashSet::from_iter([start]);
        let mut place_of: FxHashMap<u32, u32> = FxHashMap::default();
        place_of.insert(graph.site[start as usize], 0);
        let mut from = 0;
        while place_of.len() < wanted.len() {
            let &(v, aside) = walk.get(from)?;
            for is_down in [false, true] {
                let list = if is_down { graph.users.of(v) } else { graph.operands.of(v) };
                if list.len() > MAX_USERS {
                    continue;
                }
                for (i, &w) in list.iter().enumerate() {
                    let aside = if is_wanted(w) { 0 } else { aside + 1 };
                    if aside > MAX_DETOUR || !seen.insert(w) {
                        continue;
                    }
                    let color = self.colors[w as usize];
                    let same = |it: &&u32| self.colors[**it as usize] == color;
                    let nth = list[..i].iter().filter(same).count() as u32;
                    moves.push(WalkMove { from: from as u32, is_down, color, nth });
                    if aside == 0 {
                        place_of.entry(graph.site[w as usize]).or_insert(walk.len() as u32);
                    }
                    walk.push((w, aside));
                }
            }
            from += 1;
        }
        // Keep only the moves that lead to one of the sites.
        let mut is_needed = vec![false; walk.len()];
        is_needed[0] = true;
        let mut places: Vec<(u32, u32)> = place_of.iter().map(|(&s, &it)| (s, it)).collect();
        places.sort_unstable();
        for &(_, place) in &places {
            let mut at = place;
            while !std::mem::replace(&mut is_needed[at as usize], true) {
                at = moves[at as usize - 1].from;
            }
        }
        let mut new = vec![0; walk.len()];
        let mut kept = Vec::new();
        for (at, it) in (1..walk.len()).zip(&moves).filter(|it| is_needed[it.0]) {
            kept.push(WalkMove { from: new[it.from as usize], ..*it });
            new[at] = kept.len() as u32;
        }
        let places = places.into_iter().map(|(s, place)| (s, new[place as usize])).collect();
        let terms = cut.terms.iter().map(|&(s, weight)| (new[place_of[&s] as usize], weight));
        let terms = terms.collect();
        Some(CutPattern { cut: cut.clone(), start, moves: kept, places, terms })
    }
}

/// Finds copies of patterns. Reuses its memory.
pub(crate) struct PatternMatcher<'r, 'g> {
    graph: &'g NoiseGraph,
    repeats: &'r CutPatterns,
    /// The nodes of the current walk.
    walk: Vec<u32>,
    check: CoreCheck<'g>,
    /// The site in the copy, by site of the pattern. All are `NO_INDEX` between copies.
    lifted: Vec<u32>,
    /// Work done up to now, in visits of nodes.
    pub work: u64,
}

impl<'r, 'g> PatternMatcher<'r, 'g> {
    pub(crate) fn new(repeats: &'r CutPatterns, graph: &'g NoiseGraph) -> PatternMatcher<'r, 'g> {
        let lifted = vec![NO_INDEX; graph.n_sites()];
        let check = CoreCheck::new(graph);
        PatternMatcher { graph, repeats, walk: Vec::new(), check, lifted, work: 0 }
    }

    /// Returns the violation, relative to the least weight, of the copy that starts at a node.
    /// `None` if there is no copy. `value` returns the value of the point at a site, and `None` for
    /// sites outside of the problem.
    pub(crate) fn violation(
        &mut self,
        pattern: &CutPattern,
        start: u32,
        value: impl Fn(u32) -> Option<f32>,
    ) -> Option<f64> {
        self.walk_pattern(pattern, start)?;
        let mut now = 0.0;
        for &(place, weight) in &pattern.terms {
            let s = self.graph.site[self.walk[place as usize] as usize];
            now += f64::from(value(s)?) * weight as f64;
        }
        Some(1.0 - now / pattern.cut.least.max(1) as f64)
    }

    fn walk_pattern(&mut self, pattern: &CutPattern, start: u32) -> Option<()> {
        let (graph, colors) = (self.graph, &self.repeats.colors);
        self.walk.clear();
        self.walk.push(start);
        for it in &pattern.moves {
            let v = self.walk[it.from as usize];
            let list = if it.is_down { graph.users.of(v) } else { graph.operands.of(v) };
            self.work += 1;
            let same = list.iter().filter(|w| colors[**w as usize] == it.color);
            self.walk.push(*same.clone().nth(it.nth as usize)?);
        }
        let is_site = |it: &(u32, u32)| graph.site[self.walk[it.1 as usize] as usize] != NO_INDEX;
        pattern.places.iter().all(is_site).then_some(())
    }

    /// Returns the copy that starts at a node, if it is valid.
    pub(crate) fn copy(
        &mut self,
        cores: &CoreSeparator,
        pattern: &CutPattern,
        start: u32,
    ) -> Option<ProofRow> {
        self.walk_pattern(pattern, start)?;
        let mut taken: FxHashSet<u32> = FxHashSet::default();
        let mut is_one_to_one = true;
        for &(s, place) in &pattern.places {
            let to = self.graph.site[self.walk[place as usize] as usize];
            is_one_to_one &= taken.insert(to);
            self.lifted[s as usize] = to;
        }
        let holds = is_one_to_one
            && pattern.cut.proof.rows.iter().all(|row| {
                let ProofRow::Core(core) = row else { return false };
                self.check.is_core(cores, core.iter().map(|&s| self.lifted[s as usize]))
            });
        self.work += self.check.n_looked;
        self.check.n_looked = 0;
        let copy = holds.then(|| ProofRow::Cut(pattern.cut.clone()).renumbered(&self.lifted, &[]));
        for &(s, _) in &pattern.places {
            self.lifted[s as usize] = NO_INDEX;
        }
        copy
    }
}

/// Checks if sets of sites are cores.
struct CoreCheck<'g> {
    graph: &'g NoiseGraph,
    absent: FxHashSet<u32>,
    /// The noise after each node where it is above the least noise.
    raised: FxHashMap<u32, NoiseBits>,
    queue: BinaryHeap<std::cmp::Reverse<u32>>,
    n_looked: u64,
}

impl<'g> CoreCheck<'g> {
    /// Maximum number of nodes to visit for one core.
    const MOST: usize = 1 << 12;

    fn new(graph: &'g NoiseGraph) -> CoreCheck<'g> {
        CoreCheck {
            graph,
            absent: FxHashSet::default(),
            raised: FxHashMap::default(),
            queue: BinaryHeap::new(),
            n_looked: 0,
        }
    }

    /// Returns true if a node is over its limit without these sites, while all other sites lower
    /// noise as far as they can. Noise rises from its least level, so it never exceeds the least
    /// solution, even in cycles.
    fn is_core(&mut self, cores: &CoreSeparator, sites: impl Iterator<Item = u32>) -> bool {
        let graph = self.graph;
        let (lo, _) = cores.levels();
        self.absent.clear();
        self.raised.clear();
        self.queue.clear();
        for s in sites {
            self.absent.insert(s);
            let ranks = graph.nodes_of.of(s).iter().map(|&v| graph.rank[v as usize]);
            self.queue.extend(ranks.map(std::cmp::Reverse));
        }
        let mut looked = 0;
        while let Some(std::cmp::Reverse(rank)) = self.queue.pop() {
            let v = graph.order[rank as usize];
            let i = v as usize;
            looked += 1;
            self.n_looked += 1;
            if looked > Self::MOST {
                return false;
            }
            let after = |u: u32| self.raised.get(&u).copied().unwrap_or(lo[u as usize]);
            let p = graph.noise_before(v, after);
            if p > graph.limit[i] {
                return true;
            }
            let e = match graph.site[i] {
                s if s != NO_INDEX && !self.absent.contains(&s) => p.min(graph.reset[s as usize]),
                _ => p,
            };
            if e > after(v) {
                self.raised.insert(v, e);
                let ranks = graph.users.of(v).iter().map(|&w| graph.rank[w as usize]);
                self.queue.extend(ranks.map(std::cmp::Reverse));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::multiplier;
    use crate::question::evaluate;
    use crate::question::limits::{EnabledSteps, PlacementLimits};
    use crate::random::Random;

    #[test]
    fn copied_cuts_hold() {
        let instance = multiplier(9);
        let steps = EnabledSteps {
            branch: false,
            frontier_dp: false,
            fix: false,
            ..EnabledSteps::default()
        };
        let limits = PlacementLimits {
            work: Some(60_000_000),
            time: None,
            steps,
            ..PlacementLimits::default()
        };
        let placement = crate::place(&instance, &limits).unwrap();
        let rows = placement.certificate.parts.iter().flat_map(|it| it.rows.clone());
        let cuts: Vec<ProofRow> = rows.filter(|it| matches!(it, ProofRow::Cut(_))).collect();
        let graph = NoiseGraph::new(&instance);
        let cores = CoreSeparator::new(&graph);
        let repeats = CutPatterns::new(&graph);
        repeats.add_cuts(&graph, &cuts);
        let by_color = repeats.by_color(0..graph.n_nodes() as u32);
        let mut copies = PatternMatcher::new(&repeats, &graph);
        // Minimal legal choices.
        let mut random = Random::new(7);
        let mut legal: Vec<Vec<bool>> = Vec::new();
        for _ in 0..100 {
            let mut chosen = vec![true; instance.sites.len()];
            for _ in 0..3 * chosen.len() {
                let s = random.below(chosen.len());
                let before = std::mem::replace(&mut chosen[s], false);
                if !evaluate::is_legal(&instance, &chosen) {
                    chosen[s] = before;
                }
            }
            legal.push(chosen);
        }
        let (mut n_copied, mut n_refused) = (0, 0);
        for pattern in repeats.patterns() {
            for &start in repeats.starts(&by_color, &pattern) {
                let Some(ProofRow::Cut(cut)) = copies.copy(&cores, &pattern, start) else {
                    n_refused += 1;
                    continue;
                };
                n_copied += usize::from(cuts.iter().all(|it| it != &ProofRow::Cut(cut.clone())));
                for row in &cut.proof.rows {
                    let ProofRow::Core(core) = row else { panic!("cuts of cuts") };
                    let mut chosen = vec![true; instance.sites.len()];
                    core.iter().for_each(|&s| chosen[s as usize] = false);
                    assert!(!evaluate::is_legal(&instance, &chosen), "{core:?} is no core");
                }
                for chosen in &legal {
                    let terms = cut.terms.iter().filter(|it| chosen[it.0 as usize]);
                    assert!(terms.map(|it| it.1).sum::<u64>() >= cut.least, "{cut:?}");
                }
            }
        }
        assert!(n_copied > 20 && n_refused > 20, "{n_copied} copied, {n_refused} refused");
    }
}
