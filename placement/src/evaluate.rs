//! What a choice of sites amounts to: the noise everywhere, and whether it is legal.
//!
//! This is the judge of every answer. It shares nothing with the optimizer but the instance: it sweeps the
//! nodes from below until nothing changes, which is the definition of the least solution.
//!
//! Cost: nodes times sweeps; one sweep when operands come before their users, and in a loop as many as the noise
//! needs to settle. After `n + 1` sweeps over `n` nodes what still changes grows without end: a value that
//! was derived through itself and grew can be derived so again. It is set to [`Bits::MAX`].

use crate::instance::{Bits, Instance, Node, NodeRule};

/// Noise before a reduce, per node: the least solution under a choice of sites. Saturates at
/// [`Bits::MAX`], which also stands for noise that grows without end.
pub fn noise(instance: &Instance, chosen: &[bool]) -> Vec<Bits> {
    let n = instance.nodes.len();
    let mut p: Vec<Bits> = vec![0; n];
    let after = |p: &[Bits], u: Node| match instance.nodes[u.0 as usize].site {
        Some(site) if chosen[site.0 as usize] => instance.sites[site.0 as usize].reset,
        _ => p[u.0 as usize],
    };
    let mut sweeps = 0_usize;
    loop {
        let mut changed = false;
        for i in 0..n {
            // Every other sweep runs backward, for instances whose order is not that of the program.
            let v = if sweeps.is_multiple_of(2) { i } else { n - 1 - i };
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
                p[v] = if sweeps > n { Bits::MAX } else { now.max(p[v]) };
                changed = true;
            }
        }
        if !changed {
            return p;
        }
        sweeps += 1;
    }
}

/// The first node whose noise is over its limit under a choice of sites, in the order of the nodes.
pub fn first_over(instance: &Instance, chosen: &[bool]) -> Option<Node> {
    let p = noise(instance, chosen);
    let over = p.iter().zip(&instance.nodes).position(|(&noise, data)| noise > data.limit);
    over.map(|v| Node(v as u32))
}

/// Whether no node is over its limit under a choice of sites.
pub fn legal(instance: &Instance, chosen: &[bool]) -> bool {
    chosen.len() == instance.sites.len() && first_over(instance, chosen).is_none()
}
