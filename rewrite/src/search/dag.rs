//! A hash-consed DAG of n-ary sums and products.
//!
//! A sum is a set of terms with coefficients modulo a power of two, and a product is a set of
//! factors with exponents, so order and grouping do not matter. Operands have smaller ids than
//! their users.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::straight::{Reg, StraightLine, StraightProgram};

/// Maximum degree of a product node.
const MAX_DEGREE: u32 = 4096;

/// A node: an index into [`ExpressionDag::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DagNode {
    /// An input, with its index.
    Leaf(u32),
    /// Terms with nonzero coefficients, sorted by term. Zero is the empty sum.
    Sum(Rc<[(NodeId, u64)]>),
    /// Factors with exponents, sorted by factor. The degree is at least two.
    Product(Rc<[(NodeId, u32)]>),
}

/// The nodes, without duplicates.
#[derive(Debug)]
pub(crate) struct ExpressionDag {
    pub nodes: Vec<DagNode>,
    ids: FxHashMap<DagNode, NodeId>,
    mask: u64,
    /// Plaintexts of constant leaves.
    constants: FxHashMap<NodeId, u64>,
    /// Nodes that are computed once for several users, and are not merged into their users.
    pub closed: FxHashSet<NodeId>,
}

impl ExpressionDag {
    pub(crate) fn new(mask: u64) -> Self {
        Self {
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            mask,
            constants: FxHashMap::default(),
            closed: FxHashSet::default(),
        }
    }

    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    pub(crate) fn node(&self, id: NodeId) -> &DagNode {
        &self.nodes[id.index()]
    }

    fn intern(&mut self, node: DagNode) -> NodeId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    pub(crate) fn leaf(&mut self, index: u32, constant: Option<u64>) -> NodeId {
        let id = self.intern(DagNode::Leaf(index));
        if let Some(it) = constant {
            self.constants.insert(id, it & self.mask);
        }
        id
    }

    /// Returns the sum of terms with coefficients. Nested sums are not flattened.
    pub(crate) fn sum(&mut self, mut terms: Vec<(NodeId, u64)>) -> NodeId {
        let mask = self.mask;
        terms.sort_unstable_by_key(|it| it.0);
        terms.dedup_by(|it, into| {
            let is_same = it.0 == into.0;
            if is_same {
                into.1 = into.1.wrapping_add(it.1) & mask;
            }
            is_same
        });
        terms.retain(|it| it.1 & mask != 0);
        match terms.as_slice() {
            [(id, 1)] => *id,
            _ => self.intern(DagNode::Sum(terms.into())),
        }
    }

    /// Returns the sum of terms with coefficients. Nested sums are flattened, except closed ones.
    pub(crate) fn flat_sum(&mut self, terms: impl IntoIterator<Item = (NodeId, u64)>) -> NodeId {
        let mut out = Vec::new();
        for (id, coefficient) in terms {
            match self.node(id) {
                DagNode::Sum(inner) if !self.closed.contains(&id) => out.extend(
                    inner.iter().map(|it| (it.0, it.1.wrapping_mul(coefficient) & self.mask)),
                ),
                _ => out.push((id, coefficient & self.mask)),
            }
        }
        self.sum(out)
    }

    /// Returns the product of at least one factor. Nested products are not flattened. Constant
    /// factors become coefficients.
    pub(crate) fn product(&mut self, mut factors: Vec<(NodeId, u32)>) -> NodeId {
        factors.sort_unstable_by_key(|it| it.0);
        factors.dedup_by(|it, into| {
            let is_same = it.0 == into.0;
            if is_same {
                into.1 = into.1.saturating_add(it.1);
            }
            is_same
        });
        let mut coefficient = 1_u64;
        let constants = factors.iter().filter(|it| self.constants.contains_key(&it.0)).count();
        if constants > 0 {
            // If all factors are constants, one of them stays a factor.
            let mut keep = usize::from(constants == factors.len());
            factors.retain_mut(|(id, exponent)| {
                let Some(&value) = self.constants.get(id) else { return true };
                let is_kept = keep == 1;
                keep = 0;
                let n = *exponent - u32::from(is_kept);
                for _ in 0..n {
                    coefficient = coefficient.wrapping_mul(value) & self.mask;
                }
                *exponent = 1;
                is_kept
            });
        }
        let product = match factors.as_slice() {
            [(id, 1)] => *id,
            _ => self.intern(DagNode::Product(factors.into())),
        };
        if coefficient == 1 { product } else { self.flat_sum([(product, coefficient)]) }
    }

    /// Returns a power of a node.
    pub(crate) fn power(&mut self, id: NodeId, exponent: u32) -> NodeId {
        self.product(vec![(id, exponent)])
    }

    /// Returns the operands of a node.
    pub(crate) fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            DagNode::Leaf(_) => Vec::new(),
            DagNode::Sum(terms) => terms.iter().map(|it| it.0).collect(),
            DagNode::Product(factors) => factors.iter().map(|it| it.0).collect(),
        }
    }

    /// Returns a node and all its transitive operands, operands first. The search does not enter
    /// nodes for which `stops` is true, and leaves them out.
    pub(crate) fn below(&self, root: NodeId, mut stops: impl FnMut(NodeId) -> bool) -> Vec<NodeId> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        let mut out = Vec::new();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                out.push(id);
                stack.extend(self.operands(id).into_iter().filter(|&it| !stops(it)));
            }
        }
        out.sort_unstable();
        out
    }
}

/// Creates the nodes of a program. Returns the node of each live root line (see [`root_lines`]);
/// other lines are merged into their users.
pub(crate) fn build_dag(
    program: &StraightProgram,
    is_kept: &[bool],
    dag: &mut ExpressionDag,
) -> Vec<Option<NodeId>> {
    let live = program.live_lines();
    let roots = root_lines(program, &live, is_kept);
    let mut ids: Vec<Option<NodeId>> = vec![None; program.lines.len()];
    for (at, &line) in program.lines.iter().enumerate() {
        if !live[at] || !roots[at] {
            continue;
        }
        let is_inner = |reg: Reg| !roots[reg.index()];
        ids[at] = Some(match line {
            StraightLine::Leaf(index) => dag.leaf(index, program.leaves[index as usize].constant),
            StraightLine::Add(..) | StraightLine::Sub(..) => {
                let mut terms = Vec::new();
                let mut stack = vec![(Reg(at as u32), 1_u64)];
                while let Some((reg, sign)) = stack.pop() {
                    let is_open = reg.index() == at || is_inner(reg);
                    match program.lines[reg.index()] {
                        // A repeated operand is expanded only once.
                        StraightLine::Add(a, b) if is_open && a == b => {
                            stack.push((a, sign.wrapping_mul(2)));
                        }
                        StraightLine::Sub(a, b) if is_open && a == b => {}
                        StraightLine::Add(a, b) if is_open => stack.extend([(a, sign), (b, sign)]),
                        StraightLine::Sub(a, b) if is_open => {
                            stack.extend([(a, sign), (b, sign.wrapping_neg())]);
                        }
                        _ => terms.extend(ids[reg.index()].map(|it| (it, sign & dag.mask))),
                    }
                }
                // Products with constant factors are sums.
                dag.merged_sum(terms)
            }
            StraightLine::Mul(..) => {
                let mut factors = Vec::new();
                let mut stack = vec![(Reg(at as u32), 1)];
                while let Some((reg, exponent)) = stack.pop() {
                    match program.lines[reg.index()] {
                        StraightLine::Mul(a, b) if reg.index() == at || is_inner(reg) => {
                            if a == b {
                                stack.push((a, 2 * exponent));
                            } else {
                                stack.extend([(a, exponent), (b, exponent)]);
                            }
                        }
                        _ => factors.extend(ids[reg.index()].map(|it| (it, exponent))),
                    }
                }
                dag.product(factors)
            }
        });
    }
    ids
}

impl ExpressionDag {
    /// Returns a sum in which nested sums of a single term are flattened.
    fn merged_sum(&mut self, terms: Vec<(NodeId, u64)>) -> NodeId {
        let mask = self.mask;
        let opened = terms.into_iter().map(|(id, coefficient)| match self.node(id) {
            DagNode::Sum(inner) if inner.len() == 1 => {
                (inner[0].0, inner[0].1.wrapping_mul(coefficient) & mask)
            }
            _ => (id, coefficient),
        });
        let opened = opened.collect();
        self.sum(opened)
    }
}

/// Returns, for each line, true if it gets its own node: it is a leaf, an output, used by a line of
/// the other kind (sum or product), in `is_kept`, or a factor of a product of high degree.
fn root_lines(program: &StraightProgram, live: &[bool], is_kept: &[bool]) -> Vec<bool> {
    let n = program.lines.len();
    let is_product = |at: usize| matches!(program.lines[at], StraightLine::Mul(..));
    let mut roots: Vec<bool> =
        program.lines.iter().map(|it| matches!(it, StraightLine::Leaf(_))).collect();
    for it in &program.outputs {
        roots[it.index()] = true;
    }
    for (at, line) in program.lines.iter().enumerate() {
        if live[at] {
            for it in line.operands() {
                roots[it.index()] |= is_product(at) != is_product(it.index());
            }
        }
    }
    for (root, &is_kept) in roots.iter_mut().zip(is_kept) {
        *root |= is_kept;
    }
    // The degree of product nodes is limited.
    let mut degrees = vec![1_u32; n];
    for at in 0..n {
        if let StraightLine::Mul(a, b) = program.lines[at] {
            let degree = |it: Reg| if roots[it.index()] { 1 } else { degrees[it.index()] };
            let sum = degree(a) + degree(b);
            if sum > MAX_DEGREE {
                roots[a.index()] = true;
                roots[b.index()] = true;
            }
            degrees[at] = if sum > MAX_DEGREE { 2 } else { sum };
        }
    }
    roots
}

/// Returns, for each line, the number of its live users. A user with two equal operands counts
/// once, and an output counts as a user.
pub(crate) fn n_users(program: &StraightProgram) -> Vec<u32> {
    let live = program.live_lines();
    let mut n = vec![0; program.lines.len()];
    for (at, &line) in program.lines.iter().enumerate() {
        if live[at] {
            let mut last = None;
            for it in line.operands() {
                if last != Some(it) {
                    n[it.index()] += 1;
                }
                last = Some(it);
            }
        }
    }
    for it in &program.outputs {
        n[it.index()] += 1;
    }
    n
}
