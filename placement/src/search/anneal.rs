//! Simulated annealing over legal choices.
//!
//! Every state is legal. A move inserts one site and then removes each nearby chosen site that
//! became useless: sites below, which get less noise, and sites above, whose noise the new site
//! resets. A move is accepted if the cost does not rise. If the cost rises by `d`, it is accepted
//! with probability `exp(-d / T)`, and undone otherwise. `T` falls geometrically.
//!
//! A move costs about a dozen node visits (see [`crate::search::state`]), so there are about a
//! million moves per second. A solver re-solves only about twenty neighborhoods per second (see
//! docs/placement-measurements.md).
//!
//! The result is deterministic for a given number of steps: the generator has a fixed seed, and
//! time affects only the end of the run.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::limits::EffortBudget;
use crate::random::Random;
use crate::search::incumbent::Incumbent;
use crate::search::state::{ChoiceState, UndoMark};

/// The parameters of a run.
struct AnnealOptions<'a> {
    /// Temperatures at the start and at the end, in units of a typical cost.
    pub temperatures: (f64, f64),
    /// Returns the progress of the run from 0 to 1 for the work done up to now; 1 or more ends the
    /// run. Called from time to time.
    pub progress: &'a mut dyn FnMut(u64) -> f64,
    /// Called with each better cost and its choice.
    pub better: &'a mut dyn FnMut(u64, &[bool]),
    /// The run ends when the cost is at most this.
    pub target_cost: u64,
    pub seed: u64,
}

/// Maximum work between two calls of `progress`. A move usually takes a dozen steps, but if the
/// copies of a function share sites, it may take as many steps as there are nodes.
const MAX_WORK_BETWEEN_CALLS: u64 = 100_000;

/// Anneals from a legal choice, and returns the work done.
fn anneal(graph: &NoiseGraph, start: Vec<bool>, options: &mut AnnealOptions) -> u64 {
    let mut state = ChoiceState::new(graph, start);
    let n_sites = graph.n_sites();
    let mut best = state.cost;
    if n_sites == 0 || !state.is_legal() {
        return state.work;
    }
    let mut random = Random::new(options.seed);
    let (hot, cold) = temperatures(graph, &state, options.temperatures);
    let mut touched = TouchedSites::default();
    let mut heat = hot;
    let mut step = 0_u64;
    // The work at the last call of `progress`.
    let mut asked = 0_u64;
    loop {
        if step.is_multiple_of(256) || state.work - asked > MAX_WORK_BETWEEN_CALLS {
            asked = state.work;
            let progress = (options.progress)(state.work);
            if progress >= 1.0 || best <= options.target_cost {
                break;
            }
            heat = hot * (cold / hot).powf(progress.max(0.0));
        }
        step += 1;
        let s = random.below(n_sites) as u32;
        let mark = state.mark();
        if state.chosen[s as usize] {
            state.try_remove(s);
            state.commit();
        } else {
            let before = state.cost;
            state.work += 1;
            if !state.insert(s) {
                state.roll_back(mark);
                continue;
            }
            touched.find(graph, &state, mark, s);
            while let Some(t) = touched.draw(&mut random) {
                if state.work - asked > MAX_WORK_BETWEEN_CALLS {
                    asked = state.work;
                    if (options.progress)(state.work) >= 1.0 {
                        break;
                    }
                }
                if state.chosen[t as usize] {
                    state.try_remove(t);
                }
            }
            if state.cost > before {
                let worse = (state.cost - before) as f64;
                if random.unit() >= (-worse / heat).exp() {
                    state.roll_back(mark);
                }
            }
            state.commit();
        }
        if state.cost < best {
            best = state.cost;
            (options.better)(best, &state.chosen);
        }
    }
    state.work
}

/// Returns the temperatures at the start and at the end: `heat` times the cost of an expensive and
/// of a cheap chosen site.
fn temperatures(graph: &NoiseGraph, state: &ChoiceState, heat: (f64, f64)) -> (f64, f64) {
    let mut costs: Vec<u64> = (graph.cost.iter().zip(&state.chosen))
        .filter_map(|(&cost, &chosen)| chosen.then_some(cost))
        .collect();
    costs.sort_unstable();
    let at = |i: usize| costs.get(i).map_or(1.0, |&c| c as f64);
    (heat.0 * at(costs.len() * 9 / 10), heat.1 * at(costs.len() / 10))
}

/// The chosen sites near a new site.
#[derive(Default)]
struct TouchedSites {
    sites: Vec<u32>,
    stack: Vec<u32>,
}

impl TouchedSites {
    /// Maximum number of nodes above that are visited.
    const MAX_NODES_ABOVE: usize = 24;
    /// Above this number of sites, duplicates are removed: copies of a function share sites.
    const MAX_WITH_DUPLICATES: usize = 64;

    fn find(&mut self, graph: &NoiseGraph, state: &ChoiceState, mark: UndoMark, s: u32) {
        self.sites.clear();
        let chosen = |v: u32| {
            let t = graph.site[v as usize];
            (t != NO_INDEX && t != s && state.chosen[t as usize]).then_some(t)
        };
        // Below: the chosen sites of nodes with less noise, which may have become useless.
        for v in state.changed(mark) {
            self.sites.extend(chosen(v));
        }
        // Above: the chosen sites that are reached backward through nodes without a chosen site.
        self.stack.clear();
        for &v in graph.nodes_of.of(s) {
            self.stack.extend_from_slice(graph.operands.of(v));
        }
        let mut looked = 0;
        while let Some(v) = self.stack.pop() {
            looked += 1;
            if looked > Self::MAX_NODES_ABOVE {
                break;
            }
            match chosen(v) {
                Some(t) => self.sites.push(t),
                None => self.stack.extend_from_slice(graph.operands.of(v)),
            }
        }
        if self.sites.len() > Self::MAX_WITH_DUPLICATES {
            self.sites.sort_unstable();
            self.sites.dedup();
        }
    }

    fn draw(&mut self, random: &mut Random) -> Option<u32> {
        let n = self.sites.len();
        (n > 0).then(|| self.sites.swap_remove(random.below(n)))
    }
}

/// Temperatures at the start and at the end, in units of a typical cost.
const RELATIVE_TEMPERATURES: (f64, f64) = (0.3, 0.12);

/// Anneals from the best known choice and offers each better choice to the incumbent. Ends when
/// `progress` returns 1 for the work done up to now, or when the cost reaches the lower bound.
/// Temperatures fall with the progress.
pub(crate) fn improve(
    graph: &NoiseGraph,
    incumbent: &Incumbent,
    seed: u64,
    progress: &mut dyn FnMut(u64) -> f64,
    budget: &mut EffortBudget,
) {
    let work = anneal(
        graph,
        incumbent.best(),
        &mut AnnealOptions {
            temperatures: RELATIVE_TEMPERATURES,
            progress,
            better: &mut |cost, chosen| incumbent.offer(cost, chosen),
            target_cost: incumbent.lower(),
            seed,
        },
    );
    budget.spend(work);
}

/// Runs [`improve`] for a number of node visits, or until the budget is spent.
pub(crate) fn improve_for(
    graph: &NoiseGraph,
    incumbent: &Incumbent,
    seed: u64,
    visits: u64,
    budget: &mut EffortBudget,
) {
    if !budget.steps.anneal || budget.is_spent() || incumbent.is_done() {
        return;
    }
    let stop = budget.stop;
    let mut progress = |work: u64| {
        if stop() || incumbent.is_done() { 1.0 } else { work as f64 / visits as f64 }
    };
    improve(graph, incumbent, seed, &mut progress, budget);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::instance::{Instance, NodeRule};

    /// Returns the graph of nested functions in which each one calls the next one twice. The `2^k`
    /// copies of the addition at nesting depth `k` share a site.
    fn doubled(n: u32) -> NoiseGraph {
        let mut instance = Instance::default();
        let sites: Vec<_> = (0..n).map(|_| instance.push_site(1, 12)).collect();
        let mut last = instance.push(NodeRule::Source(12), &[], 26, None);
        for at in 1..1_u32 << n {
            let site = sites[at.trailing_zeros() as usize];
            last = instance.push(NodeRule::Max(1), &[last], 26, Some(site));
        }
        NoiseGraph::new(&instance)
    }

    #[test]
    fn calls_progress_even_if_copies_share_sites() {
        let graph = doubled(12);
        let mut asked = Vec::new();
        let mut progress = |work: u64| {
            asked.push(work);
            work as f64 / 20_000_000.0
        };
        let mut options = AnnealOptions {
            temperatures: (1.0, 0.1),
            progress: &mut progress,
            better: &mut |_, _| {},
            target_cost: 0,
            seed: 1,
        };
        let work = anneal(&graph, vec![true; 12], &mut options);
        asked.push(work);
        // A call is delayed by the insertion or removal of at most one site.
        let most = asked.windows(2).map(|it| it[1] - it[0]).max();
        assert!(
            most < Some(MAX_WORK_BETWEEN_CALLS + 3 * graph.n_nodes() as u64),
            "{most:?} steps of work"
        );
    }
}
