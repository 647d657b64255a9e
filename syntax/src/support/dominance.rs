//! Dominators of a flowgraph: the nodes that are on every path from the entry to a given node.
//!
//! The algorithm is that of Lengauer and Tarjan ("A fast algorithm for finding dominators in a
//! flowgraph", 1979), in its simple variant: a depth-first numbering, semidominators by path
//! compression, then immediate dominators. *Cost.* O(m log n) for n nodes and m edges of any shape,
//! without recursion. A query is O(1): it compares preorder numbers of the tree.

const NO_NODE: u32 = u32::MAX;

/// The dominator tree of a graph whose entry is node 0.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    /// For each reachable node: its immediate dominator ([`NO_NODE`] for the entry), its preorder
    /// number in the tree, and the number after its subtree.
    nodes: Vec<Option<(u32, (u32, u32))>>,
}

impl DominatorTree {
    /// Builds the tree of a graph from the successors of each node. Every successor is an index
    /// into `successors`.
    pub fn new(successors: &[Vec<u32>]) -> Self {
        Self { nodes: dominators(successors) }
    }

    /// Returns true if a node can be reached from the entry.
    pub fn is_reachable(&self, node: usize) -> bool {
        self.preorder_range(node).is_some()
    }

    /// Returns the immediate dominator; `None` for the entry and for unreachable nodes.
    pub fn idom(&self, node: usize) -> Option<usize> {
        let (idom, _) = self.nodes.get(node).copied().flatten()?;
        (idom != NO_NODE).then_some(idom as usize)
    }

    /// Returns the preorder number of a node in the tree, and the number after its subtree; `None`
    /// for unreachable nodes.
    pub fn preorder_range(&self, node: usize) -> Option<(u32, u32)> {
        self.nodes.get(node).copied().flatten().map(|it| it.1)
    }

    /// Returns true if every path from the entry to `b` contains `a`. An unreachable node neither
    /// dominates another nor is dominated.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.preorder_range(a), self.preorder_range(b)) {
            (Some(a), Some(b)) => a.0 <= b.0 && b.0 < a.1,
            _ => false,
        }
    }
}

/// Returns the immediate dominator of each node ([`NO_NODE`] for the entry, node 0) and its numbers
/// in the tree; `None` for unreachable nodes.
fn dominators(successors: &[Vec<u32>]) -> Vec<Option<(u32, (u32, u32))>> {
    if successors.is_empty() {
        return Vec::new();
    }
    // Depth-first numbering.
    let n = successors.len();
    let mut number = vec![NO_NODE; n];
    let mut vertex: Vec<u32> = Vec::with_capacity(n);
    let mut parent: Vec<u32> = Vec::with_capacity(n);
    let mut stack: Vec<(u32, usize)> = vec![(0, 0)];
    number[0] = 0;
    vertex.push(0);
    parent.push(NO_NODE);
    while let Some((node, next)) = stack.last_mut() {
        let Some(&to) = successors[*node as usize].get(*next) else {
            stack.pop();
            continue;
        };
        *next += 1;
        if number[to as usize] == NO_NODE {
            number[to as usize] = vertex.len() as u32;
            parent.push(number[*node as usize]);
            vertex.push(to);
            stack.push((to, 0));
        }
    }
    // From here on, depth-first numbers identify the nodes.
    let n_reached = vertex.len();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); n_reached];
    for (from, &node) in vertex.iter().enumerate() {
        for &to in &successors[node as usize] {
            predecessors[number[to as usize] as usize].push(from as u32);
        }
    }
    let mut forest = Forest {
        ancestor: vec![NO_NODE; n_reached],
        label: (0..n_reached as u32).collect(),
        semi: (0..n_reached as u32).collect(),
    };
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); n_reached];
    let mut idom = vec![NO_NODE; n_reached];
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
    // Preorder numbers of the tree: a dominator precedes the nodes that it dominates.
    let mut size = vec![1u32; n_reached];
    for w in (1..n_reached).rev() {
        size[idom[w] as usize] += size[w];
    }
    let mut from = vec![0u32; n_reached];
    let mut free = vec![1u32; n_reached];
    let mut out = vec![None; n];
    for w in 0..n_reached {
        let mut above = NO_NODE;
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

/// A forest with path compression. [`Forest::eval`] finds the ancestor with the least
/// semidominator.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    semi: Vec<u32>,
}

impl Forest {
    fn eval(&mut self, v: u32) -> u32 {
        if self.ancestor[v as usize] == NO_NODE {
            return v;
        }
        let mut path = vec![v];
        let mut at = v;
        loop {
            let up = self.ancestor[at as usize];
            if self.ancestor[up as usize] == NO_NODE {
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

    /// Returns true if the entry reaches node `to` on a path that avoids `without`.
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
        fn a_node_dominates_those_unreachable_without_it(
            n in 1..9usize,
            edges in prop::collection::vec((0..9usize, 0..9u32), 0..24),
        ) {
            let mut successors = vec![Vec::new(); n];
            for (from, to) in edges {
                successors[from % n].push(to % n as u32);
            }
            let tree = DominatorTree::new(&successors);
            for b in 0..n {
                prop_assert_eq!(tree.is_reachable(b), reaches(&successors, b, None));
                // All other strict dominators of a node dominate its immediate dominator.
                let above: Vec<usize> = (0..n).filter(|&it| it != b && tree.dominates(it, b)).collect();
                let nearest = above.iter().find(|&&it| above.iter().all(|&other| tree.dominates(other, it)));
                prop_assert_eq!(tree.idom(b), nearest.copied());
                for a in 0..n {
                    if tree.is_reachable(a) && tree.is_reachable(b) {
                        let dominates = tree.dominates(a, b);
                        prop_assert_eq!(dominates, !reaches(&successors, b, Some(a)), "{} {}", a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn a_hundred_thousand_nodes_of_any_shape_are_quick() {
        // A ladder with two entries to every cycle, a long chain, and unreachable cycles.
        let n = 100_000_u32;
        let ladder: Vec<Vec<u32>> =
            (0..n).map(|it| vec![(it + 1).min(n - 1), (it + 2) % n, it / 2]).collect();
        let tree = DominatorTree::new(&ladder);
        assert!((0..n as usize).all(|it| tree.is_reachable(it)));
        let chain: Vec<Vec<u32>> = (0..n).map(|it| vec![(it + 1) % n]).collect();
        let tree = DominatorTree::new(&chain);
        assert!(tree.dominates(1, n as usize - 1) && tree.idom(7) == Some(6));
        let unreached: Vec<Vec<u32>> =
            (0..n).map(|it| if it == 0 { vec![] } else { vec![it % (n - 1) + 1] }).collect();
        let tree = DominatorTree::new(&unreached);
        assert!((1..n as usize).all(|it| !tree.is_reachable(it)));
    }
}
