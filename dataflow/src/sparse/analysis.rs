//! The trait of an analysis: its facts, its transfer function, and its treatment of loops and
//! calls.

use std::fmt::{Debug, Display};

use noisy_syntax::{Interner, Op, Type, Value};

use super::{AnalysisContext, BaseAnalyses};

#[cfg(doc)]
use crate::flow::Flow;
use crate::flow::Interval;
use crate::lattice::Lattice;

/// The facts of an analysis: a lattice with a greatest element.
///
/// *Law.* If ascending chains may be infinite, [`Domain::widened`] ends them: from any fact on,
/// only finitely many calls with greater facts change the fact. A lattice of finite height keeps
/// the default.
pub trait Domain: Lattice + Debug + Display {
    /// Returns the greatest fact: nothing is known about the value.
    fn unknown() -> Self;

    /// Returns a fact that is at least `next` and replaces it. In a round of a cycle, the fact
    /// `self` rose to `next`.
    #[must_use]
    fn widened(&self, next: Self) -> Self {
        next
    }
}

/// Treatment of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopPolicy {
    /// Each round starts from the join of all earlier rounds, widened after a few rounds. The facts
    /// hold for any number of iterations.
    Joined,
    /// A loop with a known trip count is evaluated that often, each round from the yields of the
    /// preceding one. With an unknown trip count, rounds are joined until only saturated facts
    /// change ([`SparseForward::unbounded`]).
    Replayed,
}

/// Default for the number of separate contexts of a function, that is, of argument vectors that are
/// not joined.
pub const DEFAULT_MAX_CONTEXTS: usize = 16;

/// Treatment of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallPolicy {
    /// Calls are not followed: the transfer function computes their results.
    Opaque,
    /// Calls are followed into their callees, which are analyzed for the vectors of argument facts
    /// that calls pass. Facts stop growing in a recursion because the lattice has finite height, or
    /// because they are saturated ([`SparseForward::unbounded`]) or widened ([`Domain::widened`]).
    Followed {
        /// Number of separate contexts of a function; the vectors of further calls are joined. With
        /// 0, a function has one context, the join of all vectors that calls pass, and all calls
        /// get its results. After an edit, functions that are connected by calls are then solved
        /// together.
        max_contexts: usize,
        /// True if a private function without live calls is analyzed separately, with assumed
        /// arguments and opaque calls. Otherwise it is dead.
        analyzes_uncalled: bool,
    },
}

impl CallPolicy {
    /// For transformations: [`DEFAULT_MAX_CONTEXTS`] contexts; uncalled functions are dead.
    pub const FOR_TRANSFORMS: CallPolicy =
        CallPolicy::Followed { max_contexts: DEFAULT_MAX_CONTEXTS, analyzes_uncalled: false };
    /// For displaying facts to users: [`DEFAULT_MAX_CONTEXTS`] contexts; uncalled functions are
    /// analyzed separately.
    pub const FOR_DISPLAY: CallPolicy =
        CallPolicy::Followed { max_contexts: DEFAULT_MAX_CONTEXTS, analyzes_uncalled: true };
    /// Context-insensitive, as in MLIR's solver: all vectors of a function are joined.
    pub const CONTEXT_INSENSITIVE: CallPolicy =
        CallPolicy::Followed { max_contexts: 0, analyzes_uncalled: true };
}

/// A forward analysis with a fact per value.
///
/// *Law.* `transfer` is monotone in the facts of the operands. It reads anything that may change
/// only through its context, which records the reads. The analysis terminates because the lattice
/// has finite height, or facts are widened ([`Domain::widened`], for joined loops and recursions),
/// or facts saturate ([`SparseForward::unbounded`], for replayed loops and recursions). In all
/// other cases a budget of visits ends the analysis with unknown facts.
pub trait SparseForward: Debug {
    /// The fact of a value.
    type Fact: Domain + 'static;

    /// The analyses that are solved before this one.
    type Base: BaseAnalyses;

    /// Treatment of loops.
    const LOOPS: LoopPolicy = LoopPolicy::Joined;

    /// Returns the treatment of calls. The answer never changes.
    fn calls(&self) -> CallPolicy {
        CallPolicy::Opaque
    }

    /// Returns true if values of a type have facts; the others keep bottom.
    fn has_fact(&self, _interner: &Interner, _ty: Type) -> bool {
        true
    }

    /// Returns the fact of a result of an op from the facts of its operands (unknown for operands
    /// without a fact).
    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, Self::Base>,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
    ) -> Self::Fact;

    /// Returns the fact of argument number `index` of a region if no operand flows into it: an
    /// argument of a function with unknown callers, or an argument that the op itself sets, such as
    /// an induction variable. `operands` are the facts of the operands of `op` that are not passed
    /// to the region; a function has none.
    fn entry_argument_fact(
        &mut self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _op: Op,
        _index: usize,
        _argument: Value,
        _operands: &[Self::Fact],
    ) -> Self::Fact {
        Self::Fact::unknown()
    }

    /// Returns the meet of a computed fact of a value and the fact that follows from the text or
    /// the base.
    fn refine(
        &self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _value: Value,
        fact: Self::Fact,
    ) -> Self::Fact {
        fact
    }

    /// Returns the fact that a loop carries into its next round, or returns in the end. `taken` is
    /// the fact of the init operand, and `joined` is its join with the yields of the rounds. An
    /// analysis in which a loop must not change a fact returns `taken`. Called only for joined
    /// loops ([`LoopPolicy::Joined`]).
    ///
    /// *Law.* Monotone in both facts, and at least `taken`.
    fn carried_fact(
        &self,
        _cx: &AnalysisContext<'_, Self::Base>,
        _op: Op,
        _taken: &Self::Fact,
        joined: Self::Fact,
    ) -> Self::Fact {
        joined
    }

    /// Returns `Some` for a *saturated* fact, which is so large that larger facts carry no more
    /// information. The returned fact replaces it if it grows further, and is saturated too.
    fn unbounded(&self, _fact: &Self::Fact) -> Option<Self::Fact> {
        None
    }

    /// Returns the range of an integer of a type from its fact. `None` if the analysis does not
    /// compute ranges of integers; the solver then uses the base.
    fn interval(&self, _interner: &Interner, _ty: Type, _fact: &Self::Fact) -> Option<Interval> {
        None
    }
}
