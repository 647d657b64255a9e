//! The interface for code that watches the solver at work, because the facts at the end do not show what happened in the iterations of a
//! cycle.

use std::any::Any;
use std::fmt::Debug;

use noisy_syntax::{Ir, Op};

use super::SparseForward;

/// An iteration of a cycle: its op, and which one it is, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The loop, or the op that holds the region with the cycle.
    pub op: Op,
    /// From 1.
    pub number: u64,
}

/// What iterating a loop was like.
#[derive(Debug)]
pub struct LoopTrace<'a, F> {
    /// The carried facts at the start of each iteration, the first few of them.
    pub starts: &'a [Vec<F>],
    /// Whether they went on changing, in saturated facts, when the iteration was ended.
    pub is_unbounded: bool,
    /// How often the loop runs at most, if that is known and no more than is gone through.
    pub most: Option<u64>,
}

/// An argument of a block that went on to change, in saturated facts, when the passes over its cycle were ended.
#[derive(Debug)]
pub struct GrowthTrace<F> {
    /// The label of the block.
    pub label: Op,
    /// Which argument.
    pub index: usize,
    /// The operand of the first branch in the text that goes back to the block, for this argument.
    pub carrier: Option<(Op, usize)>,
    /// The place of the block in the order of the cycle.
    pub start: u32,
    /// The last place from which a branch goes back to it.
    pub end: u32,
    /// The passes in which its fact changed, from 1, with what it became.
    pub moves: Vec<(u64, F)>,
}

/// What of an op the solver looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An op without regions, or one whose regions nobody understands.
    Op,
    /// A label: what branches bring to its block.
    Block,
    /// What an op gives to its region of this number.
    Region(usize),
    /// What the regions of an op give to its results.
    Results,
}

/// A visit, with the facts of all values and which blocks are live, by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a, F> {
    /// The op, or label.
    pub op: Op,
    /// What of it.
    pub part: Part,
    /// Whether its block is live.
    pub is_live: bool,
    /// Facts by value.
    pub facts: &'a [F],
    /// Live blocks.
    pub live: &'a [bool],
    /// The iterations of the cycles around, outermost first.
    pub rounds: &'a [Round],
}

/// Told of each visit of one solution from scratch: see [`Sparse::visited_by`](super::Sparse::visited_by). It is called through a pointer,
/// so that the solver is compiled once for an analysis, whether its visits are told or not.
pub trait Visitor<F>: Any + Debug + Send + Sync {
    /// A visit begins.
    fn visits(&mut self, ir: &Ir, visit: Visit<'_, F>);

    /// A visit has ended; `reads` are the facts of the operands of an op, as it saw them.
    fn visited(&mut self, ir: &Ir, visit: Visit<'_, F>, reads: &[F]);

    /// All is solved: the facts by value, the live blocks.
    fn solved(&mut self, _facts: &[F], _live: &[bool]) {}

    /// What follows is about a function in one of its contexts, or about all of them.
    fn enter(&mut self, _context: Option<u32>) {}

    /// What was entered last is done.
    fn leave(&mut self) {}
}

/// Notes what the solver does, as it does it, and keeps that up to date. `rounds` are the iterations of the cycles around, outermost first.
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

    /// A cycle of blocks was passed over until only these arguments of its heads changed, in textual order. The place of an op is that of
    /// its block in the order of the cycle, if it is in there.
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

    /// What follows is about a function in one of its contexts, in a turn of its recursion, from 1; or about all of its contexts.
    fn enter(&mut self, _context: Option<u32>, _turn: u64) {}

    /// What was entered last is done.
    fn leave(&mut self) {}

    /// What was noted about an op (or label) is to be forgotten: it is visited anew, it left, or it is dead.
    fn forget(&mut self, _op: Op) {}

    /// Everything is to be forgotten.
    fn clear(&mut self) {}
}

/// Nobody watches.
impl<A: SparseForward> Observer<A> for () {}

/// A fact that was computed, and what it was computed from.
#[derive(Clone, Copy, Debug)]
pub struct Computed<'a, F> {
    /// The op.
    pub op: Op,
    /// Which result.
    pub result: usize,
    /// The facts of the operands.
    pub operands: &'a [F],
    /// The fact.
    pub fact: &'a F,
}
