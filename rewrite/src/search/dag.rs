//! Sums and products of any number of operands, equal ones kept once.
//!
//! A sum is a multiset of terms with coefficients modulo a power of two, a product one of factors
//! with exponents: order and grouping are gone. Nodes are numbered such that operands come first.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::straight::{Line, Reg, Straight};

/// Largest degree of a product that is taken as one.
const MOST_DEGREE: u32 = 4096;

/// A node, by index into [`Dag::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Number of the leaf.
    Leaf(u32),
    /// Terms with coefficients, which are not zero, by term. Zero is the sum of no terms.
    Sum(Rc<[(Id, u64)]>),
    /// Factors with exponents, at least two in all, by factor.
    Product(Rc<[(Id, u32)]>),
}

/// Nodes.
#[derive(Debug)]
pub(crate) struct Dag {
    pub nodes: Vec<Node>,
    ids: FxHashMap<Node, Id>,
    mask: u64,
    /// Plaintexts of leaves that are constants.
    constants: FxHashMap<Id, u64>,
    /// Sums that are computed once for several users, and not opened.
    pub closed: FxHashSet<Id>,
}

impl Dag {
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

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    pub(crate) fn leaf(&mut self, index: u32, constant: Option<u64>) -> Id {
        let id = self.intern(Node::Leaf(index));
        if let Some(it) = constant {
            self.constants.insert(id, it & self.mask);
        }
        id
    }

    /// The sum of terms with coefficients. Terms that are sums are not opened.
    pub(crate) fn sum(&mut self, mut terms: Vec<(Id, u64)>) -> Id {
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
            _ => self.intern(Node::Sum(terms.into())),
        }
    }

    /// The sum of terms with coefficients, where terms that are sums are replaced by their own
    /// terms, closed ones excepted.
    pub(crate) fn flat_sum(&mut self, terms: impl IntoIterator<Item = (Id, u64)>) -> Id {
        let mut out = Vec::new();
        for (id, coefficient) in terms {
            match self.node(id) {
                Node::Sum(inner) if !self.closed.contains(&id) => out.extend(
                    inner.iter().map(|it| (it.0, it.1.wrapping_mul(coefficient) & self.mask)),
                ),
                _ => out.push((id, coefficient & self.mask)),
            }
        }
        self.sum(out)
    }

    /// The product of at least one factor. Factors that are products are not opened; a factor that
    /// is a constant is a coefficient.
    pub(crate) fn product(&mut self, mut factors: Vec<(Id, u32)>) -> Id {
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
            // One constant stays if nothing else does.
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
            _ => self.intern(Node::Product(factors.into())),
        };
        if coefficient == 1 { product } else { self.flat_sum([(product, coefficient)]) }
    }

    /// A power of a node.
    pub(crate) fn power(&mut self, id: Id, exponent: u32) -> Id {
        self.product(vec![(id, exponent)])
    }

    /// Operands of a node.
    pub(crate) fn operands(&self, id: Id) -> Vec<Id> {
        match self.node(id) {
            Node::Leaf(_) => Vec::new(),
            Node::Sum(terms) => terms.iter().map(|it| it.0).collect(),
            Node::Product(factors) => factors.iter().map(|it| it.0).collect(),
        }
    }

    /// All nodes that a node is made of, itself included, that are not stopped at, operands first.
    /// Nodes that are stopped at are left out.
    pub(crate) fn below(&self, root: Id, mut stops: impl FnMut(Id) -> bool) -> Vec<Id> {
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

/// The nodes of a program: of each line that is not merged into the only line that uses it.
pub(crate) fn of(program: &Straight, is_kept: &[bool], dag: &mut Dag) -> Vec<Option<Id>> {
    let live = program.live();
    let roots = roots(program, &live, is_kept);
    let mut ids: Vec<Option<Id>> = vec![None; program.lines.len()];
    for (at, &line) in program.lines.iter().enumerate() {
        if !live[at] || !roots[at] {
            continue;
        }
        let is_inner = |reg: Reg| !roots[reg.index()];
        ids[at] = Some(match line {
            Line::Leaf(index) => dag.leaf(index, program.leaves[index as usize].constant),
            Line::Add(..) | Line::Sub(..) => {
                let mut terms = Vec::new();
                let mut stack = vec![(Reg(at as u32), 1_u64)];
                while let Some((reg, sign)) = stack.pop() {
                    let is_open = reg.index() == at || is_inner(reg);
                    match program.lines[reg.index()] {
                        // An operand that is used twice is opened once.
                        Line::Add(a, b) if is_open && a == b => {
                            stack.push((a, sign.wrapping_mul(2)));
                        }
                        Line::Sub(a, b) if is_open && a == b => {}
                        Line::Add(a, b) if is_open => stack.extend([(a, sign), (b, sign)]),
                        Line::Sub(a, b) if is_open => {
                            stack.extend([(a, sign), (b, sign.wrapping_neg())]);
                        }
                        _ => terms.extend(ids[reg.index()].map(|it| (it, sign & dag.mask))),
                    }
                }
                // A constant factor made sums of products.
                dag.merged_sum(terms)
            }
            Line::Mul(..) => {
                let mut factors = Vec::new();
                let mut stack = vec![(Reg(at as u32), 1)];
                while let Some((reg, exponent)) = stack.pop() {
                    match program.lines[reg.index()] {
                        Line::Mul(a, b) if reg.index() == at || is_inner(reg) => {
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

impl Dag {
    /// A sum in which multiples of one term are opened.
    fn merged_sum(&mut self, terms: Vec<(Id, u64)>) -> Id {
        let mask = self.mask;
        let opened = terms.into_iter().map(|(id, coefficient)| match self.node(id) {
            Node::Sum(inner) if inner.len() == 1 => {
                (inner[0].0, inner[0].1.wrapping_mul(coefficient) & mask)
            }
            _ => (id, coefficient),
        });
        let opened = opened.collect();
        self.sum(opened)
    }
}

/// For each line, true if it is a leaf, an output, used by several lines or by one of another kind,
/// or kept for another reason.
fn roots(program: &Straight, live: &[bool], is_kept: &[bool]) -> Vec<bool> {
    let n = program.lines.len();
    let is_product = |at: usize| matches!(program.lines[at], Line::Mul(..));
    let mut roots: Vec<bool> = program.lines.iter().map(|it| matches!(it, Line::Leaf(_))).collect();
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
    // Exponents stay small.
    let mut degrees = vec![1_u32; n];
    for at in 0..n {
        if let Line::Mul(a, b) = program.lines[at] {
            let degree = |it: Reg| if roots[it.index()] { 1 } else { degrees[it.index()] };
            let sum = degree(a) + degree(b);
            if sum > MOST_DEGREE {
                roots[a.index()] = true;
                roots[b.index()] = true;
            }
            degrees[at] = if sum > MOST_DEGREE { 2 } else { sum };
        }
    }
    roots
}

/// For each line, the number of live lines that use it; a line that uses it twice counts once, an
/// output as one.
pub(crate) fn n_users(program: &Straight) -> Vec<u32> {
    let live = program.live();
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
