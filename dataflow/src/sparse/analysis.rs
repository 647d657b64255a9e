//! The trait of an analysis: its facts, its transfer function, and its treatment of loops and
//! calls.

use std::fmt::{Debug, Display};

use noisy_syntax::{Interner, Op, Type, Value};

use super::{AnalysisContext, Base};

#[cfg(doc)]
use crate::flow::Flow;
use crate::flow::Interval;
use crate::lattice::Lattice;

/// The facts of an analysis: a lattice with a greatest element.
///
/// *Law.* Where a chain of facts may be endless, [`Domain::widened`] ends it: from any fact on,
/// only finitely many calls of it with greater facts give another one. A lattice of finite height
/// keeps the default.
pub trait Domain: Lattice + Debug + Display {
    /// Returns the greatest fact, of which nothing is known.
    fn unknown() -> Self;

    /// Returns the fact that replaces `next`, which this fact became in a cycle; at least `next`.
    #[must_use]
    fn widened(&self, next: Self) -> Self {
        next
    }
}

/// Treatment of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loops {
    /// Each iteration starts from the join of all before it, widened after a few: the facts of any
    /// number of iterations.
    Joined,
    /// A loop with a known trip count is run that often, each iteration from the yields of the one
    /// before. With an unknown one, iterations are joined until nothing changes but saturated facts
    /// ([`SparseForward::unbounded`]).
    Replayed,
}

/// Default number of vectors of arguments of a function that are kept apart.
pub const MAX_APART: usize = 16;

/// Treatment of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Calls {
    /// Calls are not followed: the transfer function gives their results.
    Opaque,
    /// Calls are followed into their callees, which are analyzed for the vectors of arguments that
    /// calls pass. Growth in a recursion ends where facts are of finite height, saturated
    /// ([`SparseForward::unbounded`]) or widened ([`Domain::widened`]).
    Followed {
        /// Number of vectors of arguments of a function that are kept apart. With 0 a function has
        /// one vector, the join of all that calls pass, and its results go to all of them: after an
        /// edit, functions that are connected by calls are solved together.
        apart: usize,
        /// True if a private function that no live call reaches is analyzed by itself, with assumed
        /// arguments and opaque calls. Otherwise it is dead.
        shows_uncalled: bool,
    },
}

impl Calls {
    /// For transformations: [`MAX_APART`] vectors, and functions that nothing calls are dead.
    pub const APART: Calls = Calls::Followed { apart: MAX_APART, shows_uncalled: false };
    /// For readers of a program: [`MAX_APART`] vectors, and functions that nothing calls are
    /// analyzed by themselves.
    pub const SHOWN: Calls = Calls::Followed { apart: MAX_APART, shows_uncalled: true };
    /// As MLIR's solver does: all vectors of a function are joined.
    pub const JOINED: Calls = Calls::Followed { apart: 0, shows_uncalled: true };
}

/// A forward analysis with a fact per value.
///
/// *Law.* `transfer` is monotone in the facts of the operands. It reads changeable things only
/// through its context, which remembers them. It terminates because facts are of finite height, or
/// are widened ([`Domain::widened`], where loops are joined and in recursions), or saturate
/// ([`SparseForward::unbounded`], where loops are replayed and in recursions). A budget of visits
/// ends everything else, with unknown facts.
pub trait SparseForward: Debug {
    /// The fact of a value.
    type Fact: Domain + 'static;

    /// The analyses that are solved before this one.
    type Base: Base;

    /// Treatment of loops.
    const LOOPS: Loops = Loops::Joined;

    /// Returns the treatment of calls, always the same.
    fn calls(&self) -> Calls {
        Calls::Opaque
    }

    /// Returns true if values of a type have facts; the others keep bottom.
    fn carries(&self, _interner: &Interner, _ty: Type) -> bool {
        true
    }

    /// Returns the fact of a result of an op from those of its operands (unknown for operands that
    /// have none).
    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, Self::Base>,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
    ) -> Self::Fact;

    /// Returns the fact of argument number `index` of a region that nothing flows into: of a
    /// function whose callers may be out of sight, or one that an op sets itself, as a loop does
    /// its induction variable. `operands` are the facts of the operands of `op` that are not given
    /// to the region; a function has none.
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

    /// The fact that a loop carries into its next round, or returns in the end. `taken` is the fact
    /// that the loop takes, `joined` the join of it with the yields of its rounds. An analysis in
    /// which a loop must not change a fact returns `taken`. Only called for joined loops
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

    /// Returns `Some` for a *saturated* fact, one so large that larger ones carry no more
    /// information: the fact that it becomes if it goes on to grow, which is saturated too.
    fn unbounded(&self, _fact: &Self::Fact) -> Option<Self::Fact> {
        None
    }

    /// Returns the range of an integer of a type by its fact; `None` if the analysis knows nothing
    /// of integers: then its base is asked.
    fn interval(&self, _interner: &Interner, _ty: Type, _fact: &Self::Fact) -> Option<Interval> {
        None
    }
}
