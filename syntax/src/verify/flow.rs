//! The flow of control between the blocks of a region, and which block dominates which.
//!
//! *Dominators* by Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph", 1979), the simple variant: a
//! depth-first numbering, semidominators by path compression over it, then immediate dominators. *Cost.* O(m log n) for n
//! blocks and m branches, whatever their shape, without recursion; a question is O(1), by the numbering of the tree.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{Block, Ir, Op, Region};

const NONE: u32 = u32::MAX;

/// The dominator tree of a region with several blocks.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The blocks that control can reach.
    nodes: FxHashMap<Block, Node>,
    /// The targets of each op that goes to blocks.
    targets: FxHashMap<Op, Targets>,
}

type Targets = SmallVec<[Option<Block>; 2]>;

/// A block in the dominator tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The immediate dominator; none of the entry.
    idom: Option<Block>,
    /// Its number in preorder of the tree, and the one behind its subtree.
    numbers: (u32, u32),
}

impl Flow {
    /// The flow of a region; `None` if it has one block only. `block_of` says in which block an op stands.
    pub(super) fn of(ir: &Ir, region: Region, block_of: &dyn Fn(Op) -> Block) -> Option<Flow> {
        let blocks = ir.blocks(region);
        if blocks.len() < 2 {
            return None;
        }
        let mut out = Flow::default();
        let number: FxHashMap<Block, u32> =
            blocks.iter().enumerate().map(|(n, &it)| (it, n as u32)).collect();
        let mut successors: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        for (to, &block) in blocks.iter().enumerate() {
            for &(op, _) in &ir.block(block).preds {
                out.targets.entry(op).or_insert_with(|| targets(ir, op));
                if let Some(&from) = number.get(&block_of(op)) {
                    successors[from as usize].push(to as u32);
                }
            }
        }
        let tree = dominators(&successors);
        for (block, node) in blocks.iter().zip(&tree) {
            if let Some(&(idom, numbers)) = node.as_ref() {
                let idom = (idom != NONE).then(|| blocks[idom as usize]);
                out.nodes.insert(*block, Node { idom, numbers });
            }
        }
        Some(out)
    }

    pub(super) fn is_reachable(&self, block: Block) -> bool {
        self.nodes.contains_key(&block)
    }

    /// Whether every way from the entry to `b` leads through `a`. Both are reachable.
    pub(super) fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.nodes.get(&a), self.nodes.get(&b)) {
            (Some(a), Some(b)) => a.numbers.0 <= b.numbers.0 && b.numbers.0 < a.numbers.1,
            _ => false,
        }
    }

    /// Whether an op goes where it went when this was made.
    pub(super) fn agrees(&self, ir: &Ir, op: Op) -> bool {
        let now = targets(ir, op);
        match self.targets.get(&op) {
            Some(before) => *before == now,
            // An op that goes nowhere that is known was never entered.
            None => now.iter().all(Option::is_none),
        }
    }
}

fn targets(ir: &Ir, op: Op) -> Targets {
    ir.rest(op).successors.iter().map(|it| it.block).collect()
}

/// The blocks of a region whose dominators are others than they were. A region without a flow has its entry only.
pub(super) fn moved(
    ir: &Ir,
    region: Region,
    before: Option<&Flow>,
    now: Option<&Flow>,
) -> Vec<Block> {
    let blocks = ir.blocks(region);
    let entry = blocks.first().copied();
    let idom = |flow: Option<&Flow>, block: Block| match flow {
        Some(flow) => flow.nodes.get(&block).map(|it| it.idom),
        None => (Some(block) == entry).then_some(None),
    };
    let mut order = blocks;
    if let Some(now) = now {
        order.sort_by_key(|it| now.nodes.get(it).map_or(NONE, |it| it.numbers.0));
    }
    let mut out = FxHashSet::default();
    let mut list = Vec::new();
    for block in order {
        let is = idom(now, block);
        let above = is.flatten().is_some_and(|it| out.contains(&it));
        if (above || is != idom(before, block)) && out.insert(block) {
            list.push(block);
        }
    }
    list
}

/// The immediate dominator of each node ([`NONE`] of the entry, node 0) and its numbers in the tree; `None` of what cannot be
/// reached.
fn dominators(successors: &[Vec<u32>]) -> Vec<Option<(u32, (u32, u32))>> {
    // Depth-first numbering.
    let n = successors.len();
    let mut number = vec![NONE; n];
    let mut vertex: Vec<u32> = Vec::with_capacity(n);
    let mut parent: Vec<u32> = Vec::with_capacity(n);
    let mut stack: Vec<(u32, usize)> = vec![(0, 0)];
    number[0] = 0;
    vertex.push(0);
    parent.push(NONE);
    while let Some((node, next)) = stack.last_mut() {
        let Some(&to) = successors[*node as usize].get(*next) else {
            stack.pop();
            continue;
        };
        *next += 1;
        if number[to as usize] == NONE {
            number[to as usize] = vertex.len() as u32;
            parent.push(number[*node as usize]);
            vertex.push(to);
            stack.push((to, 0));
        }
    }
    // From here on nodes are their numbers.
    let n_reached = vertex.len();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); n_reached];
    for (from, &node) in vertex.iter().enumerate() {
        for &to in &successors[node as usize] {
            predecessors[number[to as usize] as usize].push(from as u32);
        }
    }
    let mut forest = Forest {
        ancestor: vec![NONE; n_reached],
        label: (0..n_reached as u32).collect(),
        semi: (0..n_reached as u32).collect(),
    };
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); n_reached];
    let mut idom = vec![NONE; n_reached];
    for w in (1..n_reached).rev() {
        for &v in &predecessors[w] {
            let u = forest.eval(v);
            forest.semi[w] = forest.semi[w].min(forest.semi[u as usize]);
        }
        bucket[forest.semi[w] as usize].push(w as u32);
        let up = parent[w];
        forest.ancestor[w] = up;
        for v in std::mem::take(&mut bucket[up as usize]) {
            let u = forest.eval(v);
            let is_higher = forest.semi[u as usize] < forest.semi[v as usize];
            idom[v as usize] = if is_higher { u } else { up };
        }
    }
    for w in 1..n_reached {
        if idom[w] != forest.semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
    }
    // The numbers of the tree: a dominator comes before what it dominates.
    let mut size = vec![1u32; n_reached];
    for w in (1..n_reached).rev() {
        size[idom[w] as usize] += size[w];
    }
    let mut from = vec![0u32; n_reached];
    let mut free = vec![1u32; n_reached];
    let mut out = vec![None; n];
    for w in 0..n_reached {
        let mut above = NONE;
        if w > 0 {
            let up = idom[w] as usize;
            from[w] = free[up];
            free[up] += size[w];
            free[w] = from[w] + 1;
            above = vertex[up];
        }
        out[vertex[w] as usize] = Some((above, (from[w], from[w] + size[w])));
    }
    out
}

/// A forest with path compression: [`Forest::eval`] finds the ancestor with the least semidominator.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    semi: Vec<u32>,
}

impl Forest {
    fn eval(&mut self, v: u32) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut path = vec![v];
        let mut at = v;
        loop {
            let up = self.ancestor[at as usize];
            if self.ancestor[up as usize] == NONE {
                break;
            }
            path.push(up);
            at = up;
        }
        path.pop();
        while let Some(w) = path.pop() {
            let (w, up) = (w as usize, self.ancestor[w as usize] as usize);
            let (own, above) = (self.label[w] as usize, self.label[up] as usize);
            if self.semi[above] < self.semi[own] {
                self.label[w] = above as u32;
            }
            self.ancestor[w] = self.ancestor[up];
        }
        self.label[v as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether node `to` is reached from the entry when `without` is left out.
    fn reaches(successors: &[Vec<u32>], to: usize, without: Option<usize>) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            if Some(node) != without && !std::mem::replace(&mut seen[node], true) {
                stack.extend(successors[node].iter().map(|&it| it as usize));
            }
        }
        seen[to]
    }

    proptest! {
        #[test]
        fn a_block_dominates_what_is_not_reached_without_it(
            n in 1..9usize,
            edges in prop::collection::vec((0..9usize, 0..9u32), 0..24),
        ) {
            let mut successors = vec![Vec::new(); n];
            for (from, to) in edges {
                successors[from % n].push(to % n as u32);
            }
            let tree = dominators(&successors);
            for b in 0..n {
                prop_assert_eq!(tree[b].is_some(), reaches(&successors, b, None));
                for a in 0..n {
                    if let (Some((_, a_numbers)), Some((_, b_numbers))) = (tree[a], tree[b]) {
                        let dominates = a_numbers.0 <= b_numbers.0 && b_numbers.0 < a_numbers.1;
                        prop_assert_eq!(dominates, !reaches(&successors, b, Some(a)), "{} {}", a, b);
                    }
                }
            }
        }
    }
}
