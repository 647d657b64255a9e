//! A first legal choice, and the removal of useless sites.
//!
//! *Late greedy*: visits the nodes in order. While a node is over its limit, it follows the
//! noisiest operands back to the nearest open site and chooses it. The noise that was computed for
//! earlier users of that site may then be too high, but never too low, so the choice is legal.
//! Linear time.
//!
//! If the graph has cycles, all sites on them are chosen first. If the result is not legal (resets
//! to different levels can make a chosen site harmful), the choice of all sites is tried, then the
//! empty choice, and finally a solver is called.
//!
//! *Pruning*: removes each useless chosen site, the most expensive first. Afterwards no chosen site
//! is useless.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;
use crate::search::state::ChoiceState;

/// Returns a legal choice of sites if one of three fast methods finds one.
pub(crate) fn greedy(graph: &NoiseGraph) -> Option<Vec<bool>> {
    let late =
        late_greedy(graph).filter(|chosen| ChoiceState::new(graph, chosen.clone()).is_legal());
    let all = || Some(vec![true; graph.n_sites()]);
    let none = || Some(vec![false; graph.n_sites()]);
    late.or_else(|| all().filter(|chosen| ChoiceState::new(graph, chosen.clone()).is_legal()))
        .or_else(|| none().filter(|chosen| ChoiceState::new(graph, chosen.clone()).is_legal()))
}

fn late_greedy(graph: &NoiseGraph) -> Option<Vec<bool>> {
    let n = graph.n_nodes();
    let mut chosen = vec![false; graph.n_sites()];
    if graph.is_cyclic {
        for v in 0..n as u32 {
            let back = graph
                .operands
                .of(v)
                .iter()
                .any(|&u| graph.rank[u as usize] >= graph.rank[v as usize]);
            if back {
                choose_around(graph, v, &mut chosen);
            }
        }
    }
    let mut e: Vec<NoiseBits> = vec![0; n];
    let mut path = Vec::new();
    for &v in &graph.order {
        let mut p = graph.noise_before(v, |u| e[u as usize]);
        while p > graph.limit[v as usize] {
            path.clear();
            path.push(v);
            let s = loop {
                let last = *path.last()?;
                let u = graph
                    .operands
                    .of(last)
                    .iter()
                    .copied()
                    .max_by_key(|&u| (e[u as usize], graph.site[u as usize] != NO_INDEX))?;
                match graph.site[u as usize] {
                    s if s != NO_INDEX && !chosen[s as usize] => break s,
                    NO_INDEX if path.len() <= n => path.push(u),
                    _ => return None,
                }
            };
            chosen[s as usize] = true;
            for &u in graph.nodes_of.of(s) {
                e[u as usize] = graph.reset[s as usize];
            }
            for &u in path.iter().rev() {
                p = graph.noise_before(u, |o| e[o as usize]);
                if u != v {
                    e[u as usize] = p;
                }
            }
        }
        e[v as usize] = match graph.site[v as usize] {
            s if s != NO_INDEX && chosen[s as usize] => graph.reset[s as usize],
            _ => p,
        };
    }
    Some(chosen)
}

/// Chooses all sites of the nodes between `v` and its last operand in the order.
fn choose_around(graph: &NoiseGraph, v: u32, chosen: &mut [bool]) {
    let last = graph.operands.of(v).iter().map(|&u| graph.rank[u as usize]).max().unwrap_or(0);
    for rank in graph.rank[v as usize]..=last {
        let s = graph.site[graph.order[rank as usize] as usize];
        if s != NO_INDEX {
            chosen[s as usize] = true;
        }
    }
}

/// Removes all useless sites of a legal state, the most expensive first, and of equally expensive
/// ones the last first. If `stop` returns true, some of them may stay. The removal of a site takes
/// time in proportion to the nodes that it changes, so a long chain of sites takes quadratic time.
pub(crate) fn prune(graph: &NoiseGraph, state: &mut ChoiceState, stop: &dyn Fn() -> bool) {
    let mut sites: Vec<u32> =
        (0..graph.n_sites() as u32).filter(|&s| state.chosen[s as usize]).collect();
    sites.sort_by_key(|&s| (std::cmp::Reverse(graph.cost[s as usize]), std::cmp::Reverse(s)));
    for s in sites {
        if stop() {
            return;
        }
        state.try_remove(s);
        state.commit();
    }
}
