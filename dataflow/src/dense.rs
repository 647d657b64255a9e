//! Dense dataflow: a state at each end of a block, forward or backward.
//!
//! *Law.* With a join-semilattice of finite height and monotone transfer functions, the solution is
//! the least one. *Cost.* The worklist is in reverse postorder (backward: postorder). On reducible
//! graphs, the number of rounds is about the nesting depth of the loops.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::cfg::Cfg;
use crate::lattice::Lattice;

/// The direction in which states flow.
pub trait Direction {
    /// True if states flow against the branches.
    const IS_BACKWARD: bool;
}

/// States flow along the branches.
#[derive(Debug)]
pub enum Forward {}

/// States flow against the branches.
#[derive(Debug)]
pub enum Backward {}

impl Direction for Forward {
    const IS_BACKWARD: bool = false;
}

impl Direction for Backward {
    const IS_BACKWARD: bool = true;
}

/// An analysis with a state at both ends of each block.
pub trait DenseAnalysis {
    /// The state at an end of a block.
    type State: Lattice + Debug;

    /// The direction of the analysis.
    type Direction: Direction;

    /// Returns the initial state at the entry (forward), or at the ends of blocks without
    /// successors (backward).
    fn boundary(&self) -> Self::State;

    /// Applies the transfer function of a block to a state.
    fn transfer(&self, node: usize, state: &mut Self::State);
}

/// The states of all blocks, by node.
#[derive(Clone, Debug)]
pub struct BlockStates<S> {
    /// States before the transfer: at the start of a block (forward) or at its end (backward).
    pub inflow: Vec<S>,
    /// States after the transfer.
    pub outflow: Vec<S>,
}

/// Solves an analysis on a graph.
pub fn solve<D: DenseAnalysis>(cfg: &Cfg, analysis: &D) -> BlockStates<D::State> {
    let n = cfg.blocks.len();
    let is_backward = D::Direction::IS_BACKWARD;
    let mut order = cfg.postorder();
    if !is_backward {
        order.reverse();
    }
    let mut rank = vec![0_u32; n];
    for (at, &node) in order.iter().enumerate() {
        rank[node as usize] = at as u32;
    }
    let (sources, targets) = if is_backward {
        (&cfg.successors, &cfg.predecessors)
    } else {
        (&cfg.predecessors, &cfg.successors)
    };
    let mut states =
        BlockStates { inflow: vec![D::State::bottom(); n], outflow: vec![D::State::bottom(); n] };
    let mut queue: BTreeSet<u32> = (0..n as u32).collect();
    while let Some(at) = queue.pop_first() {
        let node = order[at as usize] as usize;
        let mut state = D::State::bottom();
        let is_boundary = if is_backward { sources[node].is_empty() } else { node == 0 };
        if is_boundary {
            let _ = state.join(&analysis.boundary());
        }
        for &source in &sources[node] {
            let _ = state.join(&states.outflow[source as usize]);
        }
        states.inflow[node] = state.clone();
        analysis.transfer(node, &mut state);
        if state != states.outflow[node] {
            states.outflow[node] = state;
            queue.extend(targets[node].iter().map(|&it| rank[it as usize]));
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::tests::random;

    /// True if the node is reachable from the entry (forward), or reaches an end (backward).
    struct Reached<D>(std::marker::PhantomData<D>);

    impl<D: Direction> DenseAnalysis for Reached<D> {
        type State = bool;
        type Direction = D;

        fn boundary(&self) -> bool {
            true
        }

        fn transfer(&self, _node: usize, _state: &mut bool) {}
    }

    #[test]
    fn flows_in_both_directions() {
        for seed in 1..=2000 {
            let cfg = random(seed);
            let tree = cfg.dominators();
            let forward = solve(&cfg, &Reached::<Forward>(std::marker::PhantomData));
            let backward = solve(&cfg, &Reached::<Backward>(std::marker::PhantomData));
            for node in 0..cfg.blocks.len() {
                assert_eq!(forward.outflow[node], tree.is_reachable(node));
                let mut seen = vec![false; cfg.blocks.len()];
                let mut stack = vec![node];
                let mut ends = false;
                while let Some(at) = stack.pop() {
                    ends |= cfg.successors[at].is_empty();
                    if !std::mem::replace(&mut seen[at], true) {
                        stack.extend(cfg.successors[at].iter().map(|&it| it as usize));
                    }
                }
                assert_eq!(backward.outflow[node], ends);
            }
        }
    }
}
