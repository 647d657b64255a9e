//! Evaluation of a choice of sites: the noise of every node, and legality.
//!
//! Every answer is checked with this module. It shares only the instance with the optimizer. It
//! computes the noise by its definition, as the least solution: it starts from zero and sweeps the
//! nodes until nothing changes.
//!
//! Cost: nodes times sweeps. Each sweep visits operands before their users, for any order of the
//! nodes. Without cycles, one sweep suffices; with cycles, sweeps are repeated until the noise is
//! stable. Noise that still changes after `n + 1` sweeps over `n` nodes grows without bound,
//! because it depends on itself and grew in the cycle. It is set to [`NoiseBits::MAX`].

use crate::question::instance::{Instance, Node, NodeRule, NoiseBits};

/// Returns the noise of each node before its reset: the least solution for a choice of sites, in
/// bits. Saturates at [`NoiseBits::MAX`], which also means unbounded noise.
pub fn noise(instance: &Instance, chosen: &[bool]) -> Vec<NoiseBits> {
    let n = instance.nodes.len();
    let mut p: Vec<NoiseBits> = vec![0; n];
    let after = |p: &[NoiseBits], u: Node| match instance.nodes[u.0 as usize].site {
        Some(site) if chosen[site.0 as usize] => instance.sites[site.0 as usize].reset,
        _ => p[u.0 as usize],
    };
    let order = operands_first(instance);
    let mut sweeps = 0_usize;
    loop {
        let mut changed = false;
        for &v in &order {
            let operands = instance.operands(Node(v as u32));
            let now = match instance.nodes[v].rule {
                NodeRule::Source(noise) => noise,
                NodeRule::Max(k) => {
                    let most = operands.iter().map(|&u| after(&p, u)).max().unwrap_or(0);
                    most.saturating_add(k)
                }
                NodeRule::Sum(k) => {
                    operands.iter().fold(k, |acc, &u| acc.saturating_add(after(&p, u)))
                }
            };
            if now != p[v] {
                p[v] = if sweeps > n { NoiseBits::MAX } else { now.max(p[v]) };
                changed = true;
            }
        }
        if !changed {
            return p;
        }
        sweeps += 1;
    }
}

/// Returns all nodes, each after its operands unless both are in one cycle.
fn operands_first(instance: &Instance) -> Vec<usize> {
    let n = instance.nodes.len();
    let mut out = Vec::with_capacity(n);
    let mut is_met = vec![false; n];
    // The path from the start. Each node has the number of its visited operands.
    let mut way: Vec<(usize, usize)> = Vec::new();
    for start in 0..n {
        if std::mem::replace(&mut is_met[start], true) {
            continue;
        }
        way.push((start, 0));
        while let Some((node, at)) = way.last_mut() {
            match instance.operands(Node(*node as u32)).get(*at) {
                Some(operand) => {
                    *at += 1;
                    let operand = operand.0 as usize;
                    if !std::mem::replace(&mut is_met[operand], true) {
                        way.push((operand, 0));
                    }
                }
                None => {
                    out.push(*node);
                    way.pop();
                }
            }
        }
    }
    out
}

/// Returns the first node whose noise is over its limit for a choice of sites.
pub fn first_over_limit(instance: &Instance, chosen: &[bool]) -> Option<Node> {
    let p = noise(instance, chosen);
    let over = p.iter().zip(&instance.nodes).position(|(&noise, data)| noise > data.limit);
    over.map(|v| Node(v as u32))
}

/// Returns true if no node is over its limit for a choice of sites.
pub fn is_legal(instance: &Instance, chosen: &[bool]) -> bool {
    chosen.len() == instance.sites.len() && first_over_limit(instance, chosen).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn visits_operands_first_in_any_order_of_nodes() {
        let mut random = Random::new(7);
        for round in 0..200 {
            let n = 1 + random.below(30);
            // A permutation. The operands of a node precede it in the permutation.
            let mut places: Vec<u32> = (0..n as u32).collect();
            random.shuffle(&mut places);
            let mut instance = Instance::default();
            for node in 0..n as u32 {
                let before: Vec<u32> = (0..n as u32)
                    .filter(|&it| places[it as usize] < places[node as usize])
                    .collect();
                let operands: Vec<Node> = (0..random.below(3))
                    .filter_map(|_| {
                        before.get(random.below(before.len().max(1))).map(|&it| Node(it))
                    })
                    .collect();
                instance.push(NodeRule::Max(1), &operands, 26, None);
            }
            let order = operands_first(&instance);
            let mut place = vec![usize::MAX; n];
            for (at, &node) in order.iter().enumerate() {
                place[node] = at;
            }
            assert_eq!(order.len(), n, "round {round}");
            for node in 0..n {
                for operand in instance.operands(Node(node as u32)) {
                    assert!(place[operand.0 as usize] < place[node], "round {round}");
                }
            }
        }
    }
}
