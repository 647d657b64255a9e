//! Interfaces for code that watches the solver at work, because the final facts do not show the
//! iterations of a cycle. An [`Observer`] notes findings and is kept up to date by every edit; a
//! [`VisitRecorder`] records all visits of one solution from scratch.

use std::any::Any;
use std::fmt::Debug;

use noisy_syntax::{Ir, Op};

use super::SparseForward;

/// An iteration of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The loop, or the op that holds the region with the cycle.
    pub op: Op,
    /// Number of the iteration, from 1.
    pub number: u64,
}

/// The iterations of a loop.
#[derive(Debug)]
pub struct LoopTrace<'a, F> {
    /// Carried facts at the start of each iteration, the first few of them.
    pub starts: &'a [Vec<F>],
    /// True if saturated facts went on to change when the iteration was ended.
    pub is_unbounded: bool,
    /// The greatest trip count, if it is known and the iterations were replayed.
    pub most: Option<u64>,
}

/// An argument of a block whose saturated facts went on to change when the passes over its cycle
/// were ended.
#[derive(Debug)]
pub struct GrowthTrace<F> {
    /// The label of the block.
    pub label: Op,
    /// Index of the argument.
    pub index: usize,
    /// The operand for this argument of the first branch in the text that goes back to the block.
    pub carrier: Option<(Op, usize)>,
    /// Index of the block in the order of the cycle.
    pub start: u32,
    /// Index of the last block with a branch back to it.
    pub end: u32,
    /// The passes in which its fact changed, from 1, each with the new fact.
    pub moves: Vec<(u64, F)>,
}

/// The part of an op that is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitPart {
    /// An op without regions, or one whose regions are not understood.
    Op,
    /// A label: the facts that branches bring to the arguments of its block.
    Block,
    /// The facts that an op gives to its region of this number.
    Region(usize),
    /// The facts that the regions of an op give to its results.
    Results,
}

/// A visit, with the facts of all values and the liveness of all blocks, by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a, F> {
    /// The op, or label.
    pub op: Op,
    /// The part of the op.
    pub part: VisitPart,
    /// True if its block is live.
    pub is_live: bool,
    /// Facts by value.
    pub facts: &'a [F],
    /// Liveness by block.
    pub live: &'a [bool],
    /// Iterations of the cycles around, outermost first.
    pub rounds: &'a [Round],
}

/// Records each visit of one solution from scratch: see
/// [`Sparse::recorded_by`](super::Sparse::recorded_by). It is called through a pointer, so that the
/// solver is compiled once for an analysis, with or without a recorder.
pub trait VisitRecorder<F>: Any + Debug + Send + Sync {
    /// A visit begins.
    fn visits(&mut self, ir: &Ir, visit: Visit<'_, F>);

    /// A visit has ended; `reads` are the facts of the operands of the op at that moment.
    fn visited(&mut self, ir: &Ir, visit: Visit<'_, F>, reads: &[F]);

    /// The solution is complete, with these facts by value and liveness by block.
    fn solved(&mut self, _facts: &[F], _live: &[bool]) {}

    /// The next visits are about a function in one of its contexts, or in all of them.
    fn enter(&mut self, _context: Option<u32>) {}

    /// The visits that `enter` announced last are done.
    fn leave(&mut self) {}
}

/// Notes findings while the solver works, and forgets them when the solver calls `forget`. `rounds`
/// are the iterations of the cycles around, outermost first.
pub trait Observer<A: SparseForward>: Debug {
    /// The analysis computed a fact of a result.
    fn computed(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _computed: Computed<'_, A::Fact>,
        _rounds: &[Round],
    ) {
    }

    /// A loop was iterated.
    fn looped(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _op: Op,
        _trace: &LoopTrace<'_, A::Fact>,
        _rounds: &[Round],
    ) {
    }

    /// A cycle of blocks was passed over until only these arguments of its heads changed, in
    /// textual order. `place` returns the index of the block of an op in the order of the cycle.
    fn cycled(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _op: Op,
        _growths: &[GrowthTrace<A::Fact>],
        _place: &dyn Fn(Op) -> Option<u32>,
        _rounds: &[Round],
    ) {
    }

    /// The next calls are about a function in one of its contexts, evaluated for the `turn`-th time
    /// from 1; or about all of its contexts.
    fn enter(&mut self, _context: Option<u32>, _turn: u64) {}

    /// The calls that `enter` announced last are done.
    fn leave(&mut self) {}

    /// An op or label is visited anew, was removed, or is dead: notes about it are to be forgotten.
    fn forget(&mut self, _op: Op) {}

    /// All notes are to be forgotten.
    fn clear(&mut self) {}
}

/// Notes nothing.
impl<A: SparseForward> Observer<A> for () {}

/// A fact that was computed, with the facts of the operands.
#[derive(Clone, Copy, Debug)]
pub struct Computed<'a, F> {
    /// The op.
    pub op: Op,
    /// Index of the result.
    pub result: usize,
    /// The facts of the operands.
    pub operands: &'a [F],
    /// The fact of the result.
    pub fact: &'a F,
}
