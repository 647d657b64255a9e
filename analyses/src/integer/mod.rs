//! What is known of integers, conditions and reachability: the two analyses, one on top of the other, and the questions that
//! others ask of them.
//!
//! *Law.* After any edits the facts equal those from scratch. *Cost.* Every question is a look-up, O(1), unless it says otherwise.

pub mod elements;
mod floats;
pub mod fold;
pub mod infer;
#[cfg(test)]
mod laws;

use noisy_syntax::{Block, Delta, Ir, Op, OpKind, Value};

use crate::constant::{self, Constant, Constants};
use crate::flow::{self, Flow};
use crate::range::{self, Bounds, Range, Ranges};
use crate::sparse::{Moved, Scene, Sparse, Trips};

/// The constants and the ranges of a program.
#[derive(Debug)]
pub struct Integers {
    constants: Sparse<Constants>,
    ranges: Sparse<Ranges>,
    moved: Moved,
}

impl Integers {
    /// Solves from scratch.
    pub fn new(ir: &Ir) -> Self {
        let constants = Sparse::new(&Scene { ir, base: &() }, Constants::default());
        let ranges = Sparse::new(&Scene { ir, base: &constants }, Ranges);
        Self { constants, ranges, moved: Moved::All }
    }

    /// The visits of both analyses from scratch, as text.
    pub fn trace(ir: &Ir) -> [String; 2] {
        let (constants, first) = Sparse::traced(&Scene { ir, base: &() }, Constants::default());
        let (_, second) = Sparse::traced(&Scene { ir, base: &constants }, Ranges);
        [first, second]
    }

    /// Takes in an edit.
    pub fn update(&mut self, ir: &Ir, delta: &Delta) {
        let nothing = Moved::These(Vec::new());
        self.constants.update(&Scene { ir, base: &() }, delta, &nothing);
        let scene = Scene { ir, base: &self.constants };
        self.ranges.update(&scene, delta, self.constants.moved());
        self.moved = self.constants.moved().and(self.ranges.moved());
    }

    /// The values of which the last update changed what is known: as a constant (of up to 128 bits) or as a range.
    pub fn moved(&self) -> &Moved {
        &self.moved
    }

    /// The ops at which the work of either analysis ran out, some perhaps twice; see [`Sparse::undecided`].
    pub(crate) fn undecided(&self) -> impl Iterator<Item = Op> {
        self.constants.undecided().chain(self.ranges.undecided())
    }

    /// How many ops the last update visited, over both analyses.
    pub fn n_visits(&self) -> usize {
        self.constants.n_visits() + self.ranges.n_visits()
    }

    /// The one value that something has: an integer, a float, another attribute; `Unknown` if it is not known, `Bottom` if nothing
    /// reaches it.
    pub fn constant(&self, ir: &Ir, value: Value) -> Constant {
        match (self.constants.fact(value).copied().unwrap_or_default(), self.range(value)) {
            (_, Range::Bottom) if range::width(ir, value).is_some() => Constant::Bottom,
            (Constant::Unknown, Range::Within(it)) => {
                it.single().map_or(Constant::Unknown, |it| Constant::Int(i128::from(it)))
            }
            (known, _) => known,
        }
    }

    /// The elements of a constant that has some that differ, in order.
    pub fn elements(&self, constant: Constant) -> Option<&[Constant]> {
        self.constants.analysis.lists.of(constant)
    }

    /// Where an integer lies; bottom for what is no integer of at most 64 bits and for what nothing reaches.
    pub fn range(&self, value: Value) -> Range {
        self.ranges.fact(value).copied().unwrap_or_default()
    }

    /// As [`Integers::range`], as bounds; `None` for what is no integer of at most 64 bits and for what nothing reaches.
    pub fn bounds(&self, ir: &Ir, value: Value) -> Option<Bounds> {
        self.range(value).bounds(range::width(ir, value)?)
    }

    /// Whether a block can be reached.
    pub fn is_block_live(&self, block: Block) -> bool {
        self.ranges.is_block_live(block)
    }

    /// Whether an op can be reached. In O(log n).
    pub fn is_live(&self, ir: &Ir, op: Op) -> bool {
        self.ranges.is_live(ir, op)
    }

    /// Whether control may go from a branch to its successor number `index`, from a choice into its region number `index`,
    /// or from an `scf.condition` out of the loop (0) or around (1), if it gets there at all.
    pub fn may_take(&self, ir: &Ir, op: Op, index: usize) -> bool {
        let Some(at) = flow::decider(ir, op) else { return true };
        let Some(value) = ir.op(op).operands[at].value else { return true };
        match self.constant(ir, value) {
            Constant::Bottom => false,
            Constant::Int(it) => flow::takes(ir, op, index, it),
            _ => match self.range(value) {
                Range::Within(it) => infer::may_take(ir, op, index, it),
                _ => true,
            },
        }
    }

    /// Whether control may go from a branch to its successor number `index`. In O(log n).
    pub fn is_edge_live(&self, ir: &Ir, branch: Op, index: usize) -> bool {
        self.is_live(ir, branch) && self.may_take(ir, branch, index)
    }

    /// The constant that decides where control goes from a branch or choice, if there is one.
    pub fn decision(&self, ir: &Ir, op: Op) -> Option<i128> {
        let value = ir.op(op).operands.get(flow::decider(ir, op)?)?.value?;
        self.constant(ir, value).int()
    }

    /// How often a loop runs its region; [`Trips::ANY`] for what is no counted loop.
    pub fn trips(&self, ir: &Ir, op: Op) -> Trips {
        if !matches!(Flow::of(ir, op), Flow::For { .. } | Flow::Parallel { .. }) {
            return Trips::ANY;
        }
        flow::trips(ir, op, &|at| {
            let value = ir.op(op).operands.get(at)?.value?;
            match self.bounds(ir, value) {
                Some(it) => Some((i128::from(it.smin), i128::from(it.smax))),
                None => self.constant(ir, value).int().map(|it| (it, it)),
            }
        })
    }

    /// The number of times a loop runs its region, if it is always the same.
    pub fn trip_count(&self, ir: &Ir, op: Op) -> Option<u64> {
        self.trips(ir, op).count()
    }

    /// The ops that a value decides: branches, choices and loops among its users.
    pub(crate) fn decided_by(ir: &Ir, value: Value, enter: &mut dyn FnMut(Op)) {
        for &(user, _) in &ir.value(value).uses {
            let data = ir.op(user);
            let decides = !data.regions.is_empty()
                || flow::decider(ir, user).is_some()
                || data.kind == OpKind::ScfCondition;
            if decides {
                enter(user);
            }
        }
    }

    /// Whether a value is of a type whose constants are followed.
    pub fn is_followed(ir: &Ir, value: Value) -> bool {
        constant::width(ir, ir.value(value).ty).is_some()
            || constant::float(ir, ir.value(value).ty).is_some()
    }
}
