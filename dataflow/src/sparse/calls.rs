//! Calls that are followed into their callees, with separate facts for each vector of arguments
//! (context-sensitive analysis).
//!
//! # Notation
//!
//! A *unit* is an op in a module or at the top level of the file, such as a function. A *context*
//! of a function is a vector of argument facts with the result facts of the body for them. A
//! function has an *assumed* context if it may have unknown callers, and one context for each
//! vector that a live call passes. The fact of a value in the body is the join over all contexts. A
//! private function without live calls has no context and is dead, or it is solved separately
//! ([`CallPolicy::Followed`]): then it has an assumed context, but its calls are opaque, so it
//! affects no other function. An *ask* is the use of a context by a call; the context around the
//! call is the *asker*.
//!
//! # From scratch (`answer.rs`)
//!
//! A call asks for the results of its callee in the context of its operands. A new context is
//! evaluated immediately, by a pass over the body (`body.rs`). The functions of a strongly
//! connected component of the call graph are solved together (`recursion.rs`).
//!
//! The analysis chooses the number of separate contexts per function. All further vectors are
//! joined in one more context, in which saturated facts are unbounded: otherwise each call with
//! larger facts would evaluate the body again. For the same reason a call in a cycle passes
//! saturated facts as unbounded ones. If the number is 0, a function with unknown callers has only
//! its assumed context, and calls outside of functions are opaque.
//!
//! The order of asks determines which vectors get separate contexts, and where a recursion is
//! entered. Therefore functions with assumed contexts are solved in the order of their *names*,
//! after all other units, and the calls of a function ask in textual order. Facts depend only on
//! names, on the texts of functions, and on the resolution of symbols, not on the positions of
//! functions in the file. (The code iterates over hash tables only if the order does not affect the
//! result.)
//!
//! The results of calls that nest deeper than [`MAX_CALL_DEPTH`] are unknown, and these calls are
//! [undecided](super::SparseSolver::undecided).
//!
//! # From an edit (`edit.rs`)
//!
//! In a function with one assumed context and no calls to it, values have the facts of that
//! context. There an edit is propagated op by op until the operands of a call change. From there
//! on, whole components of the call graph are evaluated again.
//!
//! # Invariants
//!
//! Between two updates `edit`, `replay` and `asker` are `None`, and `recursions` and `pending` are
//! empty. `index`, `graph` and `modules` describe the program of the last update (`graph` until the
//! index changes). After each update, contexts, results and facts equal those from scratch.

mod answer;
mod body;
mod callable;
mod context;
mod contexts;
mod edit;
mod graph;
mod index;
mod ordered;
mod recursion;
mod replay;
mod small_map;
mod transcript;
mod units;

pub use callable::{
    MAX_CALL_DEPTH, followed_callee, is_callable, may_have_unknown_callers, with_growing_stack,
};
pub use context::CallContext;

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{AnalysisInput, CallPolicy, Observer, SparseForward, SparseSolver};
use crate::flow;
use context::ContextKey;
use contexts::Contexts;
use edit::CallEdit;
use graph::CallGraph;
use index::CallIndex;
use ordered::OrderedFunctions;
use recursion::Recursion;
use replay::Replay;
use transcript::Transcript;
use units::ModuleLayout;

/// The contexts of functions, the asks between them, and the call graph.
#[derive(Debug)]
pub(super) struct FollowedCalls<F> {
    policy: CallPolicy,
    /// Calls and callees, by name.
    index: CallIndex,
    graph: CallGraph,
    /// Layouts of the ops with regions outside of functions.
    modules: FxHashMap<Op, ModuleLayout>,
    contexts: Contexts<F>,
    /// Transcripts by the first function of each component.
    transcripts: FxHashMap<Op, Box<Transcript<F>>>,
    ordered: OrderedFunctions,
    /// Private functions without live calls that are solved separately.
    uncalled: FxHashSet<Op>,
    /// Functions of recursions whose budget of visits is spent.
    spent: FxHashSet<Op>,
    /// True if calls nested too deeply to be followed.
    is_cut: bool,
    /// The context that is being evaluated.
    asker: Option<ContextKey>,
    /// Recursions that are being solved, innermost last.
    recursions: Vec<Recursion>,
    /// Functions whose bodies were traversed since they were last reset.
    traversed: FxHashSet<Op>,
    /// Number of regions and calls around the op that is being visited.
    pub(super) depth: usize,
    /// Units in the queue that will be solved as a whole, with all units that depend on them.
    pending: FxHashSet<Op>,
    /// The edit that is being propagated through calls.
    edit: Option<CallEdit<F>>,
    replay: Option<Replay<F>>,
}

impl<F> FollowedCalls<F> {
    pub(super) fn new(policy: CallPolicy) -> Self {
        Self {
            policy,
            index: CallIndex::default(),
            graph: CallGraph::default(),
            modules: FxHashMap::default(),
            contexts: Contexts::default(),
            transcripts: FxHashMap::default(),
            ordered: OrderedFunctions::default(),
            uncalled: FxHashSet::default(),
            spent: FxHashSet::default(),
            is_cut: false,
            asker: None,
            recursions: Vec::new(),
            traversed: FxHashSet::default(),
            depth: 0,
            pending: FxHashSet::default(),
            edit: None,
            replay: None,
        }
    }

    /// Forgets all contexts and reads the call graph of a program.
    pub(super) fn restart(&mut self, ir: &Ir) {
        *self = Self::new(self.policy);
        if self.is_on() {
            self.index = CallIndex::new(ir);
            self.graph = CallGraph::new(ir, &self.index, self.n_apart() == 0);
            self.modules = ModuleLayout::of_program(ir);
        }
    }

    /// Returns true if the analysis follows calls.
    pub(super) fn is_on(&self) -> bool {
        self.policy != CallPolicy::Opaque
    }

    /// Number of separate contexts of a function.
    fn n_apart(&self) -> usize {
        match self.policy {
            CallPolicy::Followed { max_contexts: apart, .. } => apart,
            CallPolicy::Opaque => 0,
        }
    }

    /// Returns true if uncalled functions are solved separately.
    fn shows_uncalled(&self) -> bool {
        matches!(self.policy, CallPolicy::Followed { analyzes_uncalled: true, .. })
    }

    /// Returns true if a function has an assumed context because unknown calls may reach it.
    fn is_open(&self, ir: &Ir, function: Op) -> bool {
        may_have_unknown_callers(ir, function)
            || self.n_apart() == 0 && !flow::calls_of(ir, function).1
    }

    /// Returns true if an op is a function that is evaluated in contexts.
    pub(super) fn is_followed_function(&self, ir: &Ir, op: Op) -> bool {
        self.is_on() && ir.op(op).kind == OpKind::FuncFunc && is_callable(ir, op)
    }

    /// Returns true if a call runs the body of its callee.
    fn is_followed_call(&self, ir: &Ir, call: Op) -> bool {
        self.is_on()
            && followed_callee(ir, call).is_some()
            && !self.uncalled.contains(&index::unit_of(ir, call))
    }

    /// Returns true if the body of a function may run: it has a context, or calls are not followed
    /// into it.
    pub(super) fn is_entered(&self, ir: &Ir, function: Op) -> bool {
        !self.is_on() || !is_callable(ir, function) || self.contexts.has(function)
    }

    /// Returns true if the facts of a unit are those of one assumed context that is evaluated once.
    /// (A context of a recursion is evaluated several times, and each evaluation is visible to the
    /// observer.)
    fn has_one_context(&self, unit: Op) -> bool {
        matches!(self.contexts.of(unit), [it] if it.is_assumed && it.askers.is_empty())
            && !self.graph.is_recursive(unit)
    }

    /// Removes all records of a unit that is solved again or was removed.
    fn forget(&mut self, unit: Op) {
        self.contexts.remove_all(unit);
        self.forget_transcript(unit);
        self.traversed.remove(&unit);
        self.spent.remove(&unit);
        self.ordered.remove(unit);
        self.uncalled.remove(&unit);
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Returns the contexts of a function: the assumed one first, then the others in the order of
    /// their first calls in the text. A function that is not callable any more has none.
    pub fn contexts(&self, ir: &Ir, function: Op) -> Vec<&CallContext<A::Fact>> {
        if !is_callable(ir, function) {
            return Vec::new();
        }
        let mut out: Vec<_> = self.calls.contexts.of(function).iter().collect();
        if out.len() > 1 {
            let first = |it: &CallContext<A::Fact>| it.calls().map(|it| ir.start(it)).min();
            out.sort_by_cached_key(|it| {
                (!it.is_assumed, first(it), it.is_joined, format!("{:?}", it.args))
            });
        }
        out
    }

    /// Solves all functions, after all other ops.
    pub(super) fn solve_functions(&mut self, ir: &AnalysisInput<'_, A::Base>) {
        if self.calls.is_on() {
            let functions = flow::functions(ir);
            let n_units = self.calls.index.n_units();
            self.calls.contexts.reserve(functions.len(), n_units);
            self.calls.transcripts.reserve(functions.len());
            self.calls.traversed.reserve(functions.len());
            self.run_functions(ir, functions);
        }
    }
}
