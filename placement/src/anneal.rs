//! Improvement by simulated annealing over legal choices.
//!
//! A state is always legal. A move puts one site in and then takes out whatever that made needless among the
//! chosen sites it touches: those below, which got less noise, and those above, whose noise the new site
//! now stops. If the balance of costs is not worse the move stays; if it is worse by `d` it stays with
//! probability `exp(-d / T)`; otherwise it is taken back. `T` falls geometrically.
//!
//! Why it pays: a move costs a dozen node visits (see [`crate::state`]), so a second is about a million moves, where
//! a solver re-solves about twenty windows. Measured in docs/placement.md.
//!
//! Deterministic for a given number of steps: the generator is seeded, and time only ends the walk.

use crate::graph::{Graph, NONE};
use crate::state::State;

/// A small generator (xorshift with a multiplication), seeded by a number.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number in `0..1`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How to walk.
pub(crate) struct Walk<'a> {
    /// Temperature at the start and at the end, in units of a typical cost.
    pub heat: (f64, f64),
    /// How far the walk is, from 0 to 1, given the work so far; 1 or more ends it. Asked now and then.
    pub progress: &'a mut dyn FnMut(u64) -> f64,
    /// Told of each better cost.
    pub better: &'a mut dyn FnMut(u64, &[bool]),
    /// Costs at or below this end the walk.
    pub enough: u64,
    pub seed: u64,
}

/// Steps of work after which the progress is asked for in any case: a step of the walk is a dozen, but where a site is shared by the
/// copies of a function that calls double, it may be as many as there are nodes.
const UNASKED: u64 = 100_000;

/// Walks from a legal choice and returns the best choice seen and the work spent.
pub(crate) fn anneal(graph: &Graph, start: Vec<bool>, walk: &mut Walk) -> (Vec<bool>, u64) {
    let mut state = State::new(graph, start);
    let n_sites = graph.n_sites();
    let mut best = (state.cost, state.chosen.clone());
    if n_sites == 0 || !state.is_legal() {
        return (best.1, state.work);
    }
    let mut random = Random::new(walk.seed);
    let (hot, cold) = heats(graph, &state, walk.heat);
    let mut touched = Touched::default();
    let mut heat = hot;
    let mut step = 0_u64;
    // The work when the progress was asked for last.
    let mut asked = 0_u64;
    loop {
        if step.is_multiple_of(256) || state.work - asked > UNASKED {
            asked = state.work;
            let progress = (walk.progress)(state.work);
            if progress >= 1.0 || best.0 <= walk.enough {
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
                if state.work - asked > UNASKED {
                    asked = state.work;
                    if (walk.progress)(state.work) >= 1.0 {
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
        if state.cost < best.0 {
            best.0 = state.cost;
            best.1.copy_from_slice(&state.chosen);
            (walk.better)(best.0, &best.1);
        }
    }
    (best.1, state.work)
}

/// Start and end temperatures: the wanted ones times the dear and the cheap end of the costs.
fn heats(graph: &Graph, state: &State, heat: (f64, f64)) -> (f64, f64) {
    let mut costs: Vec<u64> = (graph.cost.iter().zip(&state.chosen))
        .filter_map(|(&cost, &chosen)| chosen.then_some(cost))
        .collect();
    costs.sort_unstable();
    let at = |i: usize| costs.get(i).map_or(1.0, |&c| c as f64);
    (heat.0 * at(costs.len() * 9 / 10), heat.1 * at(costs.len() / 10))
}

/// The chosen sites a new site touches.
#[derive(Default)]
struct Touched {
    sites: Vec<u32>,
    stack: Vec<u32>,
}

impl Touched {
    /// How many nodes above are looked at.
    const ABOVE: usize = 24;
    /// More sites than this are looked through for the same ones: those that many copies of a function share.
    const FEW: usize = 64;

    fn find(&mut self, graph: &Graph, state: &State, mark: super::state::Mark, s: u32) {
        self.sites.clear();
        let chosen = |v: u32| {
            let t = graph.site[v as usize];
            (t != NONE && t != s && state.chosen[t as usize]).then_some(t)
        };
        // Below: nodes with less noise whose own reduce may now be needless, and sites beside them.
        for v in state.changed(mark) {
            self.sites.extend(chosen(v));
        }
        // Above: back through nodes that are not reduced.
        self.stack.clear();
        for &v in graph.nodes_of.of(s) {
            self.stack.extend_from_slice(graph.operands.of(v));
        }
        let mut looked = 0;
        while let Some(v) = self.stack.pop() {
            looked += 1;
            if looked > Self::ABOVE {
                break;
            }
            match chosen(v) {
                Some(t) => self.sites.push(t),
                None => self.stack.extend_from_slice(graph.operands.of(v)),
            }
        }
        if self.sites.len() > Self::FEW {
            self.sites.sort_unstable();
            self.sites.dedup();
        }
    }

    fn draw(&mut self, random: &mut Random) -> Option<u32> {
        let n = self.sites.len();
        (n > 0).then(|| self.sites.swap_remove(random.below(n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Instance, NodeRule};

    /// Functions of which each calls the one before twice, as copies: level `k` adds behind each call, and all `2^k` copies of it share a site.
    fn doubled(n: u32) -> Graph {
        let mut instance = Instance::default();
        let sites: Vec<_> = (0..n).map(|_| instance.push_site(1, 12)).collect();
        let mut last = instance.push(NodeRule::Source(12), &[], 26, None);
        for at in 1..1_u32 << n {
            let site = sites[at.trailing_zeros() as usize];
            last = instance.push(NodeRule::Max(1), &[last], 26, Some(site));
        }
        Graph::new(&instance)
    }

    #[test]
    fn a_walk_is_asked_how_far_it_is_also_where_copies_share_sites() {
        let graph = doubled(12);
        let mut asked = Vec::new();
        let mut progress = |work: u64| {
            asked.push(work);
            work as f64 / 20_000_000.0
        };
        let mut walk = Walk {
            heat: (1.0, 0.1),
            progress: &mut progress,
            better: &mut |_, _| {},
            enough: 0,
            seed: 1,
        };
        let (_, work) = anneal(&graph, vec![true; 12], &mut walk);
        asked.push(work);
        // One site is put in or taken out between two questions.
        let most = asked.windows(2).map(|it| it[1] - it[0]).max();
        assert!(most < Some(UNASKED + 3 * graph.n_nodes() as u64), "{most:?} steps of work");
    }
}
