//! Lowering of n-ary sums and products to binary operations with few reductions.
//!
//! *Sums.* A tree over terms of noise `e` with noise at most `B` at the root exists if and only if
//! the weights `2^e` add up to at most `2^B` (Kraft). It is found by repeatedly joining the two
//! least noisy terms. Otherwise terms are packed into bins of weight `2^B`, the noisiest first;
//! weights are powers of two, so each bin becomes full. The sum of a bin is reduced and is a term
//! of the remaining sum.
//!
//! *Products.* The result of a multiplication is too noisy for another multiplication, so all
//! results except the last are reduced. Powers are computed with few multiplications.
//!
//! This module only counts reductions; the optimizer places them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::scale::NoiseParameters;
use crate::search::dag::{DagNode, ExpressionDag, NodeId};
use crate::straight::{Reg, StraightLine, StraightProgram};

/// A value or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignedValue {
    pub reg: Reg,
    pub is_negative: bool,
}

/// A change in the undo log.
#[derive(Clone, Copy, Debug)]
enum UndoStep {
    Push,
    Noise(Reg, u32),
    Node(NodeId),
}

/// A position in the undo log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UndoMark {
    log_len: usize,
    n_reductions: u64,
    n_ops: usize,
}

impl UndoMark {
    pub(crate) fn n_reductions(self) -> u64 {
        self.n_reductions
    }

    pub(crate) fn n_ops(self) -> usize {
        self.n_ops
    }
}

/// A program under construction.
#[derive(Debug)]
pub(crate) struct ProgramBuilder {
    scale: NoiseParameters,
    out: StraightProgram,
    /// Noise of each value, after its reduction if there is one.
    noise: Vec<u32>,
    regs: FxHashMap<StraightLine, Reg>,
    values: FxHashMap<NodeId, SignedValue>,
    /// Number of reductions up to now.
    pub n_reductions: u64,
    /// Number of operations up to now.
    pub n_ops: usize,
    log: Vec<UndoStep>,
}

impl ProgramBuilder {
    /// Returns a program that consists of the leaves of another program.
    pub(crate) fn new(program: &StraightProgram, scale: NoiseParameters) -> Self {
        let mut out = Self {
            scale,
            out: StraightProgram { leaves: program.leaves.clone(), ..StraightProgram::default() },
            noise: Vec::new(),
            regs: FxHashMap::default(),
            values: FxHashMap::default(),
            n_reductions: 0,
            n_ops: 0,
            log: Vec::new(),
        };
        for (index, leaf) in program.leaves.iter().enumerate() {
            let line = StraightLine::Leaf(index as u32);
            let reg = out.out.push(line);
            out.noise.push(leaf.noise);
            out.regs.insert(line, reg);
        }
        out
    }

    pub(crate) fn mark(&self) -> UndoMark {
        UndoMark { log_len: self.log.len(), n_reductions: self.n_reductions, n_ops: self.n_ops }
    }

    /// Undoes all changes since a mark.
    pub(crate) fn roll_back(&mut self, mark: UndoMark) {
        while self.log.len() > mark.log_len {
            match self.log.pop() {
                Some(UndoStep::Push) => {
                    if let Some(line) = self.out.lines.pop() {
                        self.regs.remove(&line);
                    }
                    self.noise.pop();
                }
                Some(UndoStep::Noise(reg, noise)) => self.noise[reg.index()] = noise,
                Some(UndoStep::Node(id)) => drop(self.values.remove(&id)),
                None => {}
            }
        }
        self.n_reductions = mark.n_reductions;
        self.n_ops = mark.n_ops;
    }

    pub(crate) fn noise(&self, reg: Reg) -> u32 {
        self.noise[reg.index()]
    }

    pub(crate) fn value(&self, id: NodeId) -> Option<SignedValue> {
        self.values.get(&id).copied()
    }

    /// Sets the value of a node.
    pub(crate) fn set_value(&mut self, id: NodeId, value: SignedValue) {
        if self.values.insert(id, value).is_none() {
            self.log.push(UndoStep::Node(id));
        }
    }

    /// Returns the value of a leaf.
    pub(crate) fn leaf(&self, index: u32) -> Reg {
        self.regs[&StraightLine::Leaf(index)]
    }

    /// Returns the value of an operation. Reduces operands if the operation would exceed the
    /// budget.
    pub(crate) fn op(&mut self, line: StraightLine) -> Reg {
        if let Some(&reg) = self.regs.get(&line) {
            return reg;
        }
        if let StraightLine::Add(a, b) = line
            && let Some(&reg) = self.regs.get(&StraightLine::Add(b, a))
        {
            return reg;
        }
        if let StraightLine::Mul(a, b) = line
            && let Some(&reg) = self.regs.get(&StraightLine::Mul(b, a))
        {
            return reg;
        }
        let noise = loop {
            let noise = match line {
                StraightLine::Leaf(index) => self.out.leaves[index as usize].noise,
                StraightLine::Add(a, b) | StraightLine::Sub(a, b) => {
                    self.noise(a).max(self.noise(b)) + self.scale.add
                }
                StraightLine::Mul(a, b) => self.noise(a) + self.noise(b),
            };
            if noise <= self.scale.budget {
                break noise;
            }
            let worst = line.operands().max_by_key(|&it| (self.noise(it), Reverse(it)));
            match worst.filter(|&it| self.noise(it) > self.scale.reset) {
                Some(it) => self.reduce(it),
                // No placement is legal. The verification of the result rejects such a program,
                // unless the original one has the same problem.
                None => break noise,
            }
        };
        let reg = self.out.push(line);
        self.noise.push(noise);
        self.regs.insert(line, reg);
        self.log.push(UndoStep::Push);
        self.n_ops += 1;
        reg
    }

    fn reduce(&mut self, reg: Reg) {
        let noise = &mut self.noise[reg.index()];
        self.log.push(UndoStep::Noise(reg, *noise));
        *noise = self.scale.reset;
        self.n_reductions += 1;
    }

    pub(crate) fn add(&mut self, a: SignedValue, b: SignedValue) -> SignedValue {
        let (line, is_negative) = match (a.is_negative, b.is_negative) {
            (false, true) => (StraightLine::Sub(a.reg, b.reg), false),
            (true, false) => (StraightLine::Sub(b.reg, a.reg), false),
            (both, _) => (StraightLine::Add(a.reg, b.reg), both),
        };
        SignedValue { reg: self.op(line), is_negative }
    }

    pub(crate) fn multiply(&mut self, a: SignedValue, b: SignedValue) -> SignedValue {
        let reg = self.op(StraightLine::Mul(a.reg, b.reg));
        SignedValue { reg, is_negative: a.is_negative != b.is_negative }
    }

    /// Returns the sum of some values.
    fn sum_of(&mut self, mut items: Vec<SignedValue>) -> Option<SignedValue> {
        let capacity = NoiseParameters::weight(self.scale.budget);
        loop {
            // A term over the budget has no legal placement; it fills a bin.
            let weigh =
                |it: &SignedValue| NoiseParameters::weight(self.noise(it.reg)).min(capacity);
            let total: u64 = items.iter().map(weigh).fold(0, u64::saturating_add);
            if total <= capacity {
                return self.tree(items);
            }
            // The noisiest first; the sort is stable.
            items.sort_by_key(|it| Reverse(self.noise(it.reg)));
            let mut free = capacity;
            let mut bin = Vec::new();
            items.retain(|it| {
                let weight = NoiseParameters::weight(self.noise(it.reg)).min(capacity);
                let fits = weight <= free;
                if fits {
                    free -= weight;
                    bin.push(*it);
                }
                !fits
            });
            let sum = self.tree(bin)?;
            self.reduce(sum.reg);
            items.push(sum);
        }
    }

    /// Returns the sum of values as a tree: repeatedly joins the two least noisy values.
    fn tree(&mut self, items: Vec<SignedValue>) -> Option<SignedValue> {
        let mut queue = BinaryHeap::new();
        let mut values = items;
        for (at, it) in values.iter().enumerate() {
            queue.push(Reverse((self.noise(it.reg), at)));
        }
        loop {
            let Reverse((_, a)) = queue.pop()?;
            let Some(Reverse((_, b))) = queue.pop() else { return Some(values[a]) };
            let sum = self.add(values[a], values[b]);
            values.push(sum);
            queue.push(Reverse((self.noise(sum.reg), values.len() - 1)));
        }
    }

    /// Returns zero as the difference of a value with itself, because there is no encoded constant
    /// zero.
    fn zero(&mut self, of: Reg) -> SignedValue {
        SignedValue { reg: self.op(StraightLine::Sub(of, of)), is_negative: false }
    }

    /// Returns a value without a pending negation.
    pub(crate) fn positive(&mut self, value: SignedValue) -> Reg {
        if !value.is_negative {
            return value.reg;
        }
        // Zero is computed from a leaf of the value, which is defined wherever the value is.
        let mut at = value.reg;
        while let Some(it) = self.out.lines[at.index()].operands().next() {
            at = it;
        }
        let zero = self.zero(at);
        self.add(zero, value).reg
    }

    fn sum(&mut self, terms: &[(NodeId, u64)], fallback: Reg) -> SignedValue {
        // The non-adjacent form of the coefficients: digits are -1, 0 or 1, and no two neighbors
        // are nonzero.
        let mut levels: Vec<Vec<SignedValue>> = Vec::new();
        let modulus = self.scale.mask.wrapping_add(1);
        for &(id, coefficient) in terms {
            let Some(value) = self.value(id) else { continue };
            let mut left = i64::try_from(coefficient).unwrap_or(0);
            let half = (modulus / 2) as i64;
            if left > half {
                left -= modulus as i64;
            }
            let mut level = 0;
            while left != 0 {
                let digit = if left & 1 == 0 { 0 } else { 2 - (left & 3) };
                // Exception: 3 is written as 2 + 1 instead of 4 - 1.
                let digit = if left == 3 {
                    1
                } else if left == -3 {
                    -1
                } else {
                    digit
                };
                if digit != 0 {
                    if levels.len() <= level {
                        levels.resize(level + 1, Vec::new());
                    }
                    let is_negative = value.is_negative != (digit < 0);
                    levels[level].push(SignedValue { reg: value.reg, is_negative });
                }
                left = (left - digit) >> 1;
                level += 1;
            }
        }
        let mut sum: Option<SignedValue> = None;
        for items in levels.into_iter().rev() {
            let doubled = sum.map(|it| self.add(it, it));
            let items: Vec<SignedValue> = items.into_iter().chain(doubled).collect();
            sum = self.sum_of(items);
        }
        match sum {
            Some(it) => it,
            None => self.zero(fallback),
        }
    }

    fn product(&mut self, factors: &[(NodeId, u32)]) -> Option<SignedValue> {
        let factors: Vec<(SignedValue, u32)> =
            factors.iter().filter_map(|&(id, n)| Some((self.value(id)?, n))).collect();
        let is_square_free = factors.iter().all(|it| it.1 == 1);
        let n_powers = factors.iter().filter(|it| it.1 > 1).count();
        if is_square_free || n_powers < 2 {
            let mut values: Vec<SignedValue> =
                factors.iter().map(|&(value, n)| self.power(value, n)).collect();
            // The noisiest first, so that the last multiplication has the least noise.
            values.sort_by_key(|it| (Reverse(self.noise(it.reg)), it.reg));
            return values.into_iter().reduce(|a, b| self.multiply(a, b));
        }
        // All factors are squared together.
        let odd: Vec<(SignedValue, u32)> =
            factors.iter().filter(|it| it.1 % 2 == 1).map(|it| (it.0, 1)).collect();
        let half: Vec<(SignedValue, u32)> =
            factors.iter().filter(|it| it.1 > 1).map(|it| (it.0, it.1 / 2)).collect();
        let root = self.powers(&half)?;
        let square = self.multiply(root, root);
        let odd = odd.into_iter().map(|it| it.0).reduce(|a, b| self.multiply(a, b));
        Some(match odd {
            Some(odd) => self.multiply(square, odd),
            None => square,
        })
    }

    /// Returns a product of powers, computed by squaring all factors together.
    fn powers(&mut self, factors: &[(SignedValue, u32)]) -> Option<SignedValue> {
        let most = factors.iter().map(|it| it.1).max()?;
        let mut product: Option<SignedValue> = None;
        for bit in (0..u32::BITS - most.leading_zeros()).rev() {
            let square = product.map(|it| self.multiply(it, it));
            let odd = factors.iter().filter(|it| it.1 >> bit & 1 == 1).map(|it| it.0);
            let odd: Vec<SignedValue> = odd.collect();
            let odd = odd.into_iter().reduce(|a, b| self.multiply(a, b));
            product = match (square, odd) {
                (Some(a), Some(b)) => Some(self.multiply(a, b)),
                (a, b) => a.or(b),
            };
        }
        product
    }

    /// Returns a power of a value, computed with few multiplications.
    fn power(&mut self, value: SignedValue, exponent: u32) -> SignedValue {
        if exponent <= 1 {
            return value;
        }
        match split(exponent) {
            _ if exponent.is_multiple_of(2) => {
                let root = self.power(value, exponent / 2);
                self.multiply(root, root)
            }
            Some(factor) => {
                let root = self.power(value, factor);
                self.power(root, exponent / factor)
            }
            None => {
                let before = self.power(value, exponent - 1);
                self.multiply(before, value)
            }
        }
    }

    /// Returns the value of a node, computed from the nodes that already have values.
    pub(crate) fn build_node(&mut self, dag: &ExpressionDag, root: NodeId) -> Option<SignedValue> {
        if let Some(it) = self.value(root) {
            return Some(it);
        }
        let below = dag.below(root, |it| self.value(it).is_some());
        for id in below {
            let value = match dag.node(id) {
                DagNode::Leaf(index) => SignedValue { reg: self.leaf(*index), is_negative: false },
                DagNode::Sum(terms) => {
                    let fallback = self.out.lines.first().map(|_| Reg(0))?;
                    self.sum(terms, fallback)
                }
                DagNode::Product(factors) => self.product(factors)?,
            };
            self.set_value(id, value);
        }
        self.value(root)
    }

    /// Sets the outputs and returns the program.
    pub(crate) fn finish(mut self, outputs: Vec<Reg>) -> StraightProgram {
        self.out.outputs = outputs;
        self.out
    }
}

/// Returns the factor for splitting an odd exponent; `None` if `x * x^(n-1)` needs at most as many
/// multiplications.
fn split(exponent: u32) -> Option<u32> {
    let factors = (3..).step_by(2).take_while(|it| it * it <= exponent.min(4096));
    let factors = factors.filter(|it| exponent.is_multiple_of(*it));
    let cost = |it: u32| n_multiplications(it) + n_multiplications(exponent / it);
    let best = factors.min_by_key(|&it| cost(it))?;
    (cost(best) < n_multiplications(exponent - 1) + 1).then_some(best)
}

/// Number of multiplications for a power.
fn n_multiplications(exponent: u32) -> u32 {
    match exponent {
        0 | 1 => 0,
        _ if exponent.is_multiple_of(2) => n_multiplications(exponent / 2) + 1,
        _ => match split(exponent) {
            Some(it) => n_multiplications(it) + n_multiplications(exponent / it),
            None => n_multiplications(exponent - 1) + 1,
        },
    }
}
