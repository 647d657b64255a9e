//! The trait of an analysis: its facts, its transfer function, and how it goes through loops and calls.

use std::fmt::{Debug, Display};

use noisy_syntax::{Interner, Op, Type, Value};

use super::{AnalysisContext, Base};

#[cfg(doc)]
use crate::flow::Flow;
use crate::flow::Interval;
use crate::lattice::Lattice;

/// The facts of an analysis: a lattice with a greatest element.
///
/// *Law.* Where a chain of facts may be endless, [`Domain::widened`] ends it: from any fact on, only finitely many calls of it with greater
/// facts give another one. A lattice of finite height keeps the default.
pub trait Domain: Lattice + Debug + Display {
    /// The fact of a value that nothing is known about: the greatest.
    fn unknown() -> Self;

    /// What stands for `next`, which this fact became in a cycle; at least `next`.
    #[must_use]
    fn widened(&self, next: Self) -> Self {
        next
    }
}

/// How an analysis goes through loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loops {
    /// Each iteration starts from the join of all before it, widened after a few: the facts of any number of iterations.
    Joined,
    /// A loop with a known trip count is run that often, each iteration from what the one before yielded. With an unknown one, iterations
    /// are joined until nothing changes but facts that are saturated ([`SparseForward::unbounded`]).
    Replayed,
}

/// The most vectors of arguments of a function that are kept apart, for an analysis that does not say something else.
pub const MAX_APART: usize = 16;

/// How an analysis goes through calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Calls {
    /// It does not: the transfer function says what a call gives.
    Opaque,
    /// Calls are followed into their callees, which are analyzed for the vectors of arguments that calls pass (`contexts.rs`). Growth in a
    /// recursion ends where facts are of finite height, saturated ([`SparseForward::unbounded`]) or widened ([`Domain::widened`]).
    Followed {
        /// So many vectors of arguments of a function are kept apart. With 0 a function has only one, the join of what all calls pass, and
        /// what it returns for that goes to all of them: after an edit, functions that are connected by calls are solved together.
        apart: usize,
        /// Whether a private function that no live call reaches is looked at all the same: by itself, as if anybody might call it, with
        /// calls in it opaque. Else it is dead.
        shows_uncalled: bool,
    },
}

impl Calls {
    /// As for what runs: [`MAX_APART`] vectors, and what nobody calls is dead.
    pub const APART: Calls = Calls::Followed { apart: MAX_APART, shows_uncalled: false };
    /// As for who reads a program: [`MAX_APART`] vectors, and what nobody calls is looked at by itself.
    pub const SHOWN: Calls = Calls::Followed { apart: MAX_APART, shows_uncalled: true };
    /// As MLIR's solver does: all that is passed to a function is joined.
    pub const JOINED: Calls = Calls::Followed { apart: 0, shows_uncalled: true };
}

/// A forward analysis with a fact per value.
///
/// *Law.* `transfer` is monotone in the facts of the operands and reads nothing that changes but through its context, which remembers it
/// (`reads.rs`). It terminates because facts are of finite height, or are widened ([`Domain::widened`], where loops are joined and in
/// recursions), or saturate ([`SparseForward::unbounded`], where loops are replayed and in recursions). Whatever is left is ended by a
/// budget of visits, and unknown then.
pub trait SparseForward: Debug {
    /// The facts.
    type Fact: Domain + 'static;

    /// What it stands on, solved before.
    type Base: Base;

    /// How it goes through loops.
    const LOOPS: Loops = Loops::Joined;

    /// How it goes through calls; always the same.
    fn calls(&self) -> Calls {
        Calls::Opaque
    }

    /// Whether values of a type have facts; the others keep bottom.
    fn carries(&self, _interner: &Interner, _ty: Type) -> bool {
        true
    }

    /// The fact of a result of an op from those of its operands (unknown for operands that carry none).
    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, Self::Base>,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
    ) -> Self::Fact;

    /// The fact of argument number `index` of a region that nothing flows into: of a function that anybody may call, or one that an op sets
    /// itself, as a loop does its induction variable; from the facts of the operands of that op that its region is not given, none for a
    /// function.
    fn entry(
        &mut self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _op: Op,
        _index: usize,
        _argument: Value,
        _operands: &[Self::Fact],
    ) -> Self::Fact {
        Self::Fact::unknown()
    }

    /// What a value is known to have, given what was computed for it: the lower of that and what the text or the base says.
    fn refine(
        &self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _value: Value,
        fact: Self::Fact,
    ) -> Self::Fact {
        fact
    }

    /// The fact that a loop carries into its next round, or gives in the end, from the one that the loop takes and the join of both with what
    /// its rounds give. An analysis in which a loop must not change a fact returns `taken`. Asked of joined loops only
    /// ([`Loops::Joined`]).
    ///
    /// *Law.* Monotone in both, and at least `taken`.
    fn carried(
        &self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _op: Op,
        _taken: &Self::Fact,
        joined: Self::Fact,
    ) -> Self::Fact {
        joined
    }

    /// For a fact that is *saturated*, so large that larger ones say no more: what stands for one that goes on to grow from there, which is
    /// saturated too. `None` for every other fact.
    fn unbounded(&self, _fact: &Self::Fact) -> Option<Self::Fact> {
        None
    }

    /// Where an integer of a type lies by its fact; `None` if the analysis knows nothing of integers: then its base is asked.
    fn interval(&self, _interner: &Interner, _ty: Type, _fact: &Self::Fact) -> Option<Interval> {
        None
    }
}
