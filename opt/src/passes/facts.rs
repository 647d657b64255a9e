//! The analyses that passes share ([`Analysis`]): constants, ranges, needed values.
//!
//! *Cost.* Constants and ranges are linear in the program but for loops; to compare two of each, linear in its values.

use noisy_analyses::Integers;
use noisy_analyses::integers::constants::Constants;
use noisy_analyses::sparse::{Input, Sparse};
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Value};

use super::remove_dead::{Live, needed_values};
use crate::analysis::Analysis;
use crate::rewrite::nested;

/// The blocks and ops in the regions of an op, in order.
pub(super) fn everything(ir: &Ir, op: Op) -> (Vec<Block>, Vec<Op>) {
    let ops = nested(ir, op);
    let mut regions: Vec<Region> = ir.op(op).regions.iter().map(|it| it.1).collect();
    for &it in &ops {
        regions.extend(ir.op(it).regions.iter().map(|it| it.1));
    }
    let blocks = regions.iter().flat_map(|&it| ir.blocks(it)).collect();
    (blocks, ops)
}

/// Whether something holds of all values that are defined in an op, and of all blocks.
fn all(
    ir: &Ir,
    op: Op,
    mut of_value: impl FnMut(Value) -> bool,
    mut of_block: impl FnMut(Block) -> bool,
) -> bool {
    let (blocks, ops) = everything(ir, op);
    let args = blocks.iter().flat_map(|&it| ir.block(it).args.iter());
    let results = ops.iter().flat_map(|&it| ir.op(it).results.iter());
    args.chain(results).all(|&it| of_value(it)) && blocks.iter().all(|&it| of_block(it))
}

/// What the constants analysis knows of the values in an op; in a function, nothing of what is passed to it.
pub(super) struct ConstantFacts(pub(super) Sparse<Constants>);

impl Analysis for ConstantFacts {
    const NAME: &'static str = "constants";

    fn new(ir: &Ir, op: Op) -> Self {
        // What is outside of the op that a pass runs on is not known.
        let is_local = ir.op(op).kind == OpKind::FuncFunc;
        let constants = if is_local { Constants::local() } else { Constants::joined() };
        Self(Sparse::new(&Input { ir, base: &() }, constants))
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        let (a, b) = (&self.0, &other.0);
        all(ir, op, |it| a.fact(it) == b.fact(it), |it| a.is_block_live(it) == b.is_block_live(it))
    }
}

/// The ranges of integers, of the whole program: the op is the outermost one.
pub(super) struct Ranges(pub(super) Integers);

impl Analysis for Ranges {
    const NAME: &'static str = "ranges";

    fn new(ir: &Ir, _: Op) -> Self {
        Self(Integers::new(ir))
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        let (a, b) = (&self.0, &other.0);
        all(
            ir,
            op,
            |it| a.bounds(ir, it) == b.bounds(ir, it) && a.constant(ir, it) == b.constant(ir, it),
            |it| a.is_block_live(it) == b.is_block_live(it),
        )
    }
}

impl Analysis for Live {
    const NAME: &'static str = "needed values";

    fn new(ir: &Ir, op: Op) -> Self {
        needed_values(ir, op)
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        all(ir, op, |it| self.has(it) == other.has(it), |_| true)
    }
}
