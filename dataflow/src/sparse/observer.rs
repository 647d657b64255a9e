//! Interfaces for code that observes the solver, because the final facts do not contain the
//! iterations of a cycle. An [`Observer`] collects findings and stays up to date after each edit. A
//! [`VisitRecorder`] records all visits of one solution from scratch.

use std::any::Any;
use std::fmt::Debug;

use noisy_syntax::{Ir, Op};

use super::SparseForward;

/// An iteration of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleRound {
    /// The loop, or the op around the region with the cycle.
    pub op: Op,
    /// Number of the iteration, from 1.
    pub number: u64,
}

/// The iterations of a loop.
#[derive(Debug)]
pub struct LoopTrace<'a, F> {
    /// Carried facts at the start of each iteration, the first few of them.
    pub starts: &'a [Vec<F>],
    /// True if saturated facts were still changing when the iteration ended.
    pub is_unbounded: bool,
    /// The greatest trip count, if it is known and the iterations were replayed.
    pub most: Option<u64>,
}

/// A block argument with saturated facts that were still changing when the passes over its cycle
/// ended.
#[derive(Debug)]
pub struct GrowthTrace<F> {
    /// The label of the block.
    pub label: Op,
    /// Index of the argument.
    pub index: usize,
    /// The first backward branch to the block in the text, and the index of its operand for this
    /// argument.
    pub back_operand: Option<(Op, usize)>,
    /// Index of the block in the order of the cycle.
    pub start: u32,
    /// Index of the last block with a branch back to it.
    pub end: u32,
    /// The passes in which the fact of the argument changed, from 1, each with the new fact.
    pub changes: Vec<(u64, F)>,
}

/// The part of an op that is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitPart {
    /// An op without regions, or with regions that the solver does not understand.
    Op,
    /// A label: the facts that branches pass to the arguments of its block.
    Block,
    /// The facts that an op passes to its region with this number.
    Region(usize),
    /// The facts that the regions of an op yield to its results.
    Results,
}

/// A visit, with the facts of all values and the liveness of all blocks.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a, F> {
    /// The op, or label.
    pub op: Op,
    /// The part of the op.
    pub part: VisitPart,
    /// True if the block of the op is live.
    pub is_live: bool,
    /// Facts by value.
    pub facts: &'a [F],
    /// Liveness by block.
    pub live: &'a [bool],
    /// Iterations of the cycles around, outermost first.
    pub rounds: &'a [CycleRound],
}

/// Records each visit of one solution from scratch: see
/// [`SparseSolver::solve_recorded`](super::SparseSolver::solve_recorded). The solver calls it
/// through a trait object, so that it is compiled once per analysis, with or without a recorder.
pub trait VisitRecorder<F>: Any + Debug + Send + Sync {
    /// A visit begins.
    fn visits(&mut self, ir: &Ir, visit: Visit<'_, F>);

    /// A visit has ended. `reads` are the facts of the operands of the op at this moment.
    fn visited(&mut self, ir: &Ir, visit: Visit<'_, F>, reads: &[F]);

    /// The solution is complete, with these facts by value and liveness by block.
    fn solved(&mut self, _facts: &[F], _live: &[bool]) {}

    /// The next visits are in one context of a function, or in all of them if `None`.
    fn enter(&mut self, _context: Option<u32>) {}

    /// The visits of the last `enter` are finished.
    fn leave(&mut self) {}
}

/// Collects findings while the solver runs, and removes them when the solver calls `forget`.
/// `rounds` are the iterations of the enclosing cycles, outermost first.
pub trait Observer<A: SparseForward>: Debug {
    /// The analysis computed a fact of a result.
    fn computed(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _computed: ComputedResult<'_, A::Fact>,
        _rounds: &[CycleRound],
    ) {
    }

    /// A loop was iterated.
    fn looped(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _op: Op,
        _trace: &LoopTrace<'_, A::Fact>,
        _rounds: &[CycleRound],
    ) {
    }

    /// A cycle of blocks was iterated until only these arguments of its heads changed, in textual
    /// order. `place` returns the index of the block of an op in the order of the cycle.
    fn cycled(
        &mut self,
        _analysis: &A,
        _ir: &Ir,
        _op: Op,
        _growths: &[GrowthTrace<A::Fact>],
        _place: &dyn Fn(Op) -> Option<u32>,
        _rounds: &[CycleRound],
    ) {
    }

    /// The next calls are in one context of a function, which is evaluated for the `turn`-th time,
    /// from 1; or in all contexts of the function if `None`.
    fn enter(&mut self, _context: Option<u32>, _turn: u64) {}

    /// The calls of the last `enter` are finished.
    fn leave(&mut self) {}

    /// An op or label is visited again, was removed, or is dead: findings about it must be removed.
    fn forget(&mut self, _op: Op) {}

    /// All findings must be removed.
    fn clear(&mut self) {}
}

/// An observer without findings.
impl<A: SparseForward> Observer<A> for () {}

/// A computed fact of a result, with the facts of the operands.
#[derive(Clone, Copy, Debug)]
pub struct ComputedResult<'a, F> {
    /// The op.
    pub op: Op,
    /// Index of the result.
    pub result: usize,
    /// The facts of the operands.
    pub operands: &'a [F],
    /// The fact of the result.
    pub fact: &'a F,
}
