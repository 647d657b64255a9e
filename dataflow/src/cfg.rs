//! The graph of the blocks of a region, its dominators and its natural loops.
//!
//! *Loops.* An edge to a block that dominates the source of the edge is a back edge to the head of
//! a loop. The loop consists of the blocks that reach the back edge without passing the head (Aho,
//! Sethi, Ullman). Inner heads are processed first, and a walk skips loops that were found before.
//! *Cost.* Near linear in blocks and branches, without recursion.

use noisy_syntax::dominance::DominatorTree;
use noisy_syntax::{Block, Ir, Op, Region};
use rustc_hash::FxHashMap;

/// The blocks of a region and the branches between them. A node is the index of a block in textual
/// order; the entry is node 0.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks by node.
    pub blocks: Vec<Block>,
    /// Targets of the branches of each node, in no particular order.
    pub successors: Vec<Vec<u32>>,
    /// Sources of the branches to each node.
    pub predecessors: Vec<Vec<u32>>,
    numbers: FxHashMap<Block, u32>,
}

impl Cfg {
    /// Returns the graph of a region. *Cost.* O(n log n) for n ops that branch.
    pub fn new(ir: &Ir, region: Region) -> Self {
        Self::with_branches(ir, region, |_, _| true)
    }

    /// Returns the graph of a region with the branches that `is_taken` accepts. Its arguments are
    /// the branch op and the index of the successor.
    pub fn with_branches(ir: &Ir, region: Region, is_taken: impl Fn(Op, usize) -> bool) -> Self {
        let blocks = ir.blocks(region);
        let numbers: FxHashMap<Block, u32> =
            blocks.iter().enumerate().map(|(at, &it)| (it, at as u32)).collect();
        let mut successors = vec![Vec::new(); blocks.len()];
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (to, &block) in blocks.iter().enumerate() {
            for &(op, index) in &ir.block(block).preds {
                if let Some(&from) = numbers.get(&ir.block_of(op))
                    && is_taken(op, index as usize)
                {
                    successors[from as usize].push(to as u32);
                    predecessors[to].push(from);
                }
            }
        }
        Self { blocks, successors, predecessors, numbers }
    }

    /// Returns the node of a block.
    pub fn node(&self, block: Block) -> Option<usize> {
        self.numbers.get(&block).map(|&it| it as usize)
    }

    /// Returns the dominators.
    pub fn dominators(&self) -> DominatorTree {
        DominatorTree::new(&self.successors)
    }

    /// Returns the nodes in postorder of a depth-first walk from the entry; unreachable ones come
    /// last.
    pub fn postorder(&self) -> Vec<u32> {
        postorder(&self.successors)
    }

    /// Returns the strongly connected components, each before its successors and each in reverse
    /// postorder.
    pub fn components(&self) -> Vec<Vec<u32>> {
        components(&self.successors, &self.predecessors)
    }

    /// Returns true if a component has a branch to one of its own nodes.
    pub(crate) fn is_cyclic(&self, component: &[u32]) -> bool {
        match *component {
            [node] => self.successors[node as usize].contains(&node),
            _ => true,
        }
    }
}

/// Returns the nodes in postorder of a depth-first walk from node 0; unreachable ones come last.
fn postorder(successors: &[Vec<u32>]) -> Vec<u32> {
    let n = successors.len();
    let mut seen = vec![false; n];
    let mut out = Vec::with_capacity(n);
    for root in 0..n as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match successors[*node as usize].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        stack.push((to, 0));
                    }
                }
                None => {
                    out.push(*node);
                    stack.pop();
                }
            }
        }
    }
    out
}

/// Returns the strongly connected components of a graph, each before its successors and each in
/// reverse postorder (Kosaraju). *Cost.* Near linear.
pub fn components(successors: &[Vec<u32>], predecessors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let n = successors.len();
    let order = postorder(successors);
    let mut rank = vec![0_u32; n];
    for (at, &node) in order.iter().enumerate() {
        rank[node as usize] = at as u32;
    }
    let mut seen = vec![false; n];
    let mut out = Vec::new();
    let mut stack = Vec::new();
    for &root in order.iter().rev() {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut component = Vec::new();
        stack.push(root);
        while let Some(node) = stack.pop() {
            component.push(node);
            for &from in &predecessors[node as usize] {
                if !std::mem::replace(&mut seen[from as usize], true) {
                    stack.push(from);
                }
            }
        }
        component.sort_unstable_by_key(|&it| std::cmp::Reverse(rank[it as usize]));
        out.push(component);
    }
    out
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalLoop {
    /// Node where the loop is entered.
    pub head: u32,
    /// Sources of the back edges, in order.
    pub(crate) latches: Vec<u32>,
    /// Index in [`NaturalLoops::all`] of the enclosing loop.
    pub parent: Option<u32>,
}

/// The natural loops of a graph.
#[derive(Clone, Debug, Default)]
pub struct NaturalLoops {
    /// All loops, inner ones before enclosing ones.
    pub all: Vec<NaturalLoop>,
    /// By node: index of the innermost loop around it.
    innermost: Vec<Option<u32>>,
}

impl NaturalLoops {
    /// Finds the loops. A cycle with several entries is not a natural loop.
    pub fn new(cfg: &Cfg, tree: &DominatorTree) -> Self {
        let n = cfg.blocks.len();
        let mut it = NaturalLoops { all: Vec::new(), innermost: vec![None; n] };
        // By loop: an enclosing loop that was found, or the loop itself (union-find).
        let mut around: Vec<u32> = Vec::new();
        let mut heads: Vec<(u32, u32)> = (0..n as u32)
            .filter_map(|node| tree.preorder_range(node as usize).map(|it| (it.0, node)))
            .collect();
        // A dominated head comes before its dominators.
        heads.sort_unstable_by(|a, b| b.cmp(a));
        for (_, head) in heads {
            let mut latches: Vec<u32> = cfg.predecessors[head as usize]
                .iter()
                .copied()
                .filter(|&from| tree.dominates(head as usize, from as usize))
                .collect();
            latches.sort_unstable();
            latches.dedup();
            if latches.is_empty() {
                continue;
            }
            let index = it.all.len() as u32;
            it.all.push(NaturalLoop { head, latches: latches.clone(), parent: None });
            around.push(index);
            let mut stack = latches;
            while let Some(node) = stack.pop() {
                if !tree.is_reachable(node as usize) {
                    continue;
                }
                match it.innermost[node as usize].map(|it| outermost(&mut around, it)) {
                    Some(inner) if inner == index => {}
                    Some(inner) => {
                        it.all[inner as usize].parent = Some(index);
                        around[inner as usize] = index;
                        let from = it.all[inner as usize].head;
                        stack.extend(&cfg.predecessors[from as usize]);
                    }
                    None => {
                        it.innermost[node as usize] = Some(index);
                        if node != head {
                            stack.extend(&cfg.predecessors[node as usize]);
                        }
                    }
                }
            }
            if it.innermost[head as usize].is_none() {
                it.innermost[head as usize] = Some(index);
            }
        }
        it
    }

    /// Returns the innermost loop around a node.
    pub fn innermost(&self, node: usize) -> Option<&NaturalLoop> {
        self.innermost.get(node).copied().flatten().map(|it| &self.all[it as usize])
    }

    /// Returns the loops around a node, inner ones first.
    pub fn around(&self, node: usize) -> impl Iterator<Item = &NaturalLoop> {
        let first = self.innermost.get(node).copied().flatten();
        std::iter::successors(first, |&it| self.all[it as usize].parent)
            .map(|it| &self.all[it as usize])
    }
}

/// Returns the outermost loop found up to now around a loop, with path compression.
fn outermost(around: &mut [u32], mut at: u32) -> u32 {
    while around[at as usize] != at {
        let up = around[around[at as usize] as usize];
        around[at as usize] = up;
        at = up;
    }
    at
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::random::Random;

    pub(crate) fn graph(successors: Vec<Vec<u32>>) -> Cfg {
        let n = successors.len();
        let mut predecessors = vec![Vec::new(); n];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                predecessors[to as usize].push(from as u32);
            }
        }
        let blocks: Vec<Block> = (0..n).map(Block::from_index).collect();
        let numbers = blocks.iter().enumerate().map(|(at, &it)| (it, at as u32)).collect();
        Cfg { blocks, successors, predecessors, numbers }
    }

    pub(crate) fn random(seed: u64) -> Cfg {
        let mut random = Random::new(seed);
        let n = 1 + random.below(9);
        let mut successors = vec![Vec::new(); n];
        for _ in 0..random.below(2 * n + 1) {
            let from = random.below(n);
            successors[from].push(random.below(n) as u32);
        }
        graph(successors)
    }

    /// Returns the nodes that reach a latch without passing the head, computed from the definition.
    fn body(cfg: &Cfg, tree: &DominatorTree, head: usize) -> Vec<bool> {
        let n = cfg.blocks.len();
        let mut inside = vec![false; n];
        for latch in 0..n {
            let is_latch = cfg.successors[latch].contains(&(head as u32));
            if !is_latch || !tree.dominates(head, latch) {
                continue;
            }
            inside[head] = true;
            for (node, is_inside) in inside.iter_mut().enumerate() {
                let mut seen = vec![false; n];
                let mut stack = vec![node];
                while let Some(at) = stack.pop() {
                    if at != head && !std::mem::replace(&mut seen[at], true) {
                        stack.extend(cfg.successors[at].iter().map(|&it| it as usize));
                    }
                }
                *is_inside |= seen[latch] && tree.is_reachable(node);
            }
        }
        inside
    }

    #[test]
    fn finds_loops_by_their_definition() {
        for seed in 1..=4000 {
            let cfg = random(seed);
            let tree = cfg.dominators();
            let loops = NaturalLoops::new(&cfg, &tree);
            for head in 0..cfg.blocks.len() {
                let expected = body(&cfg, &tree, head);
                let found: Vec<bool> = (0..cfg.blocks.len())
                    .map(|node| loops.around(node).any(|it| it.head as usize == head))
                    .collect();
                assert_eq!(found, expected, "{:?} head {head}", cfg.successors);
            }
        }
    }

    #[test]
    fn orders_strongly_connected_components() {
        for seed in 1..=4000 {
            let cfg = random(seed);
            let n = cfg.blocks.len();
            let mut reaches = vec![vec![false; n]; n];
            for (from, row) in reaches.iter_mut().enumerate() {
                let mut stack = vec![from];
                while let Some(at) = stack.pop() {
                    for &to in &cfg.successors[at] {
                        if !std::mem::replace(&mut row[to as usize], true) {
                            stack.push(to as usize);
                        }
                    }
                }
            }
            let components = cfg.components();
            let mut place = vec![0; n];
            for (at, component) in components.iter().enumerate() {
                for &node in component {
                    place[node as usize] = at;
                }
                let node = component[0] as usize;
                assert_eq!(cfg.is_cyclic(component), reaches[node][node]);
            }
            assert_eq!(components.iter().map(Vec::len).sum::<usize>(), n);
            let tree = cfg.dominators();
            let order: Vec<u32> = components.concat();
            for a in 0..n {
                for b in 0..n {
                    let together = a == b || reaches[a][b] && reaches[b][a];
                    assert_eq!(together, place[a] == place[b]);
                    assert!(!reaches[a][b] || place[a] <= place[b], "{:?}", cfg.successors);
                    if tree.dominates(a, b) {
                        let at = |node: usize| order.iter().position(|&it| it as usize == node);
                        assert!(at(a) <= at(b), "{:?}", cfg.successors);
                    }
                }
            }
        }
    }

    #[test]
    fn finds_deeply_nested_loops() {
        // A chain of blocks. Each block of the second half branches back to its mirror image in the
        // first half, so the loops are nested.
        let n = 100_000_u32;
        let successors = (0..n)
            .map(|it| if it < n / 2 { vec![it + 1] } else { vec![(it + 1) % n, n - 1 - it] })
            .collect();
        let cfg = graph(successors);
        let loops = NaturalLoops::new(&cfg, &cfg.dominators());
        assert!(loops.all.len() as u32 >= n / 2);
    }
}
