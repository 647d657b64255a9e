//! Programs with the built-in noise model, for the laws and for the unit tests of the crate.

use crate::random::Random;
use crate::{Instance, Node, NodeRule, NoiseBits};

/// Noise of a fresh value, and after a reset.
pub(crate) const FRESH: NoiseBits = 12;
/// The limit of every op.
pub(crate) const BUDGET: NoiseBits = 26;

/// A program with the built-in noise model. Each result can be reset at cost 1.
#[derive(Default)]
pub(crate) struct Program(pub Instance);

impl Program {
    pub(crate) fn encode(&mut self) -> Node {
        self.0.push(NodeRule::Source(FRESH), &[], BUDGET, None)
    }

    fn op(&mut self, rule: NodeRule, operands: &[Node]) -> Node {
        let site = self.0.push_site(1, FRESH);
        self.0.push(rule, operands, BUDGET, Some(site))
    }

    pub(crate) fn add(&mut self, a: Node, b: Node) -> Node {
        self.op(NodeRule::Max(1), &[a, b])
    }

    pub(crate) fn mul(&mut self, a: Node, b: Node) -> Node {
        self.op(NodeRule::Sum(0), &[a, b])
    }
}

/// Returns a program like those of the measurements, with random operands among the last fifty
/// values.
pub(crate) fn window_program(random: &mut Random, ops: usize) -> Instance {
    let mut program = Program::default();
    let mut values: Vec<Node> = (0..4).map(|_| program.encode()).collect();
    for _ in 0..ops {
        let mut pick = || values[values.len() - 1 - random.below(values.len().min(50))];
        let (a, b) = (pick(), pick());
        let v = if random.below(10) == 0 { program.mul(a, b) } else { program.add(a, b) };
        values.push(v);
    }
    program.0
}

/// Returns an array multiplier of two `n`-bit numbers, built from full adders with one
/// multiplication each.
pub(crate) fn multiplier(n: usize) -> Instance {
    let mut it = Program::default();
    let a: Vec<Node> = (0..n).map(|_| it.encode()).collect();
    let b: Vec<Node> = (0..n).map(|_| it.encode()).collect();
    let rows: Vec<Vec<Node>> =
        b.iter().map(|&y| a.iter().map(|&x| it.mul(x, y)).collect()).collect();
    let mut sum = rows[0].clone();
    for row in &rows[1..] {
        let mut carry = None;
        let mut next = Vec::new();
        for (i, &x) in row.iter().enumerate() {
            let above = sum.get(i + 1).copied();
            let (low, high) = match (above, carry) {
                (Some(y), Some(c)) => {
                    let half = it.add(y, x);
                    let low = it.add(half, c);
                    let (l, r) = (it.add(y, c), it.add(x, c));
                    let both = it.mul(l, r);
                    (low, it.add(both, c))
                }
                (Some(y), None) | (None, Some(y)) => (it.add(y, x), it.mul(y, x)),
                (None, None) => unreachable!("a row has a carry behind its first bit"),
            };
            next.push(low);
            carry = Some(high);
        }
        next.extend(carry);
        sum = next;
    }
    it.0
}
