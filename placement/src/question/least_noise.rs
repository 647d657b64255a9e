//! The least solution of a graph, and the range of noise over all choices of sites.

use crate::question::graph::{NO_INDEX, NoiseGraph};
use crate::question::instance::NoiseBits;

/// Writes the least solution of `p(v) = cut(rule(v))`, `e(v) = after(p(v))` to `p` and `e`. Returns
/// the number of passes over the nodes. Noise that still rises after as many passes as there are
/// nodes is unbounded.
pub(crate) fn least_solution(
    graph: &NoiseGraph,
    p: &mut [NoiseBits],
    e: &mut [NoiseBits],
    cut: impl Fn(u32, NoiseBits) -> NoiseBits,
    after: impl Fn(u32, NoiseBits) -> NoiseBits,
) -> usize {
    p.fill(0);
    e.fill(0);
    let mut n_passes = 0;
    loop {
        let mut has_changed = false;
        for &v in &graph.order {
            let i = v as usize;
            let mut now = cut(v, graph.noise_before(v, |u| e[u as usize]));
            if n_passes > graph.n_nodes() && now > p[i] {
                now = cut(v, NoiseBits::MAX);
            }
            let leaves = after(v, now);
            if (now, leaves) != (p[i], e[i]) {
                (p[i], e[i]) = (now, leaves);
                has_changed = true;
            }
        }
        n_passes += 1;
        if !has_changed || !graph.is_cyclic {
            return n_passes;
        }
    }
}

/// Returns the noise before and after the reset of each node, if each site is chosen exactly if
/// that makes the noise lower (`is_lower`) or higher. The noise after a node is capped at its
/// limit, and all noise at `most`.
pub(crate) fn extreme_noise(
    graph: &NoiseGraph,
    is_lower: bool,
    most: NoiseBits,
) -> (Vec<NoiseBits>, Vec<NoiseBits>) {
    let n = graph.n_nodes();
    let (mut p, mut e) = (vec![0; n], vec![0; n]);
    let cut = |v: u32, p: NoiseBits| p.min(graph.limit[v as usize].saturating_add(1).min(most));
    let after = |v: u32, p: NoiseBits| {
        let within = p.min(graph.limit[v as usize]);
        match graph.site[v as usize] {
            NO_INDEX => within,
            s if is_lower => within.min(graph.reset[s as usize]),
            s => within.max(graph.reset[s as usize]),
        }
    };
    least_solution(graph, &mut p, &mut e, cut, after);
    (p, e)
}

/// Returns a cap on noise that keeps computations with cycles finite: larger noise is equivalent to
/// it.
pub(crate) fn noise_cap(graph: &NoiseGraph) -> NoiseBits {
    if graph.is_cyclic { beyond_all_limits(graph) } else { NoiseBits::MAX }
}

/// Returns the largest limit plus one. All noise from there on is equivalent.
pub(crate) fn beyond_all_limits(graph: &NoiseGraph) -> NoiseBits {
    let limits = graph.limit.iter().copied().filter(|&limit| limit != NoiseBits::MAX);
    limits.max().unwrap_or(0).saturating_add(1)
}
