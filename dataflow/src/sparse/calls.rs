//! Calls that are followed into their callees, with the facts that they pass kept apart.
//!
//! # Notation
//!
//! A *unit* is an op in a module or at the top of the file: a function, or anything else. A
//! *context* of a function is a vector of argument facts with the results that its body gives for
//! them. A function has an *assumed* context if callers may be out of sight, and one context for
//! each vector that a live call passes. The facts of the values in its body are the join over its
//! contexts. A private function that no live call reaches has no context and is dead, or it is
//! solved by itself ([`Calls::Followed`]): then it has an assumed context, but its calls are
//! opaque, so that it affects no other function.
//!
//! # From scratch (`answer.rs`)
//!
//! A call asks for the results of its callee in the context of its operands. A new context is
//! evaluated at that moment, by a pass over the body (`body.rs`). The functions of a strongly
//! connected component of the call graph are solved together (`recursion.rs`).
//!
//! The analysis says how many vectors per function are kept apart. All others are joined in one
//! more context, in which saturated facts are unbounded: otherwise each call that passes more noise
//! would evaluate the body again. For the same reason a call in a cycle passes saturated facts as
//! unbounded ones. If no vectors are kept apart, a function whose callers may be out of sight has
//! its assumed context only, and calls outside of functions are opaque.
//!
//! The order of asks decides which vectors are kept apart, and where a recursion is entered. So
//! functions with assumed contexts are solved in the order of their *names*, after the units that
//! are no functions, and each asks in the order of its own text. Facts depend only on names, on the
//! texts of functions, and on what these resolve to, not on the positions of functions in the file.
//! (Tables by op are looked up, or iterated where joins or sets commute.)
//!
//! Results of calls that nest deeper than [`MAX_DEPTH`] are unknown, and such calls are
//! [undecided](super::Sparse::undecided).
//!
//! # From an edit (`edit.rs`)
//!
//! In a function that nothing calls, values have the facts of its one context, so an edit is
//! followed op by op until it reaches a call whose operands change. From there on, components of
//! the call graph are evaluated again.
//!
//! # Invariants
//!
//! Between two updates there is no `edit`, no `replay`, no `asker` and no recursion, and no unit is
//! pending. `index`, `graph` and `modules` describe the program of the last update (`graph` until
//! the index changes). After each update, contexts, results and facts equal those from scratch.

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

pub use callable::{MAX_DEPTH, followed, is_callable, is_exposed, with_stack};
pub use context::Context;

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Calls, Input, Observer, Sparse, SparseForward};
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

/// The contexts of functions, which of them ask for which, and the call graph.
#[derive(Debug)]
pub(super) struct FollowedCalls<F> {
    policy: Calls,
    /// Calls and callees, by name.
    index: CallIndex,
    graph: CallGraph,
    /// Layouts of the ops outside of functions that have regions.
    modules: FxHashMap<Op, ModuleLayout>,
    contexts: Contexts<F>,
    /// Transcripts by the first function of each component.
    transcripts: FxHashMap<Op, Box<Transcript<F>>>,
    ordered: OrderedFunctions,
    /// Private functions that no live call reaches, and that are solved by themselves.
    uncalled: FxHashSet<Op>,
    /// Functions of recursions whose budget of visits is spent.
    spent: FxHashSet<Op>,
    /// True if calls nested too deep to be followed.
    is_cut: bool,
    /// The context that is being evaluated.
    asker: Option<ContextKey>,
    /// Recursions that are being solved, innermost last.
    recursions: Vec<Recursion>,
    /// Functions whose bodies were traversed since they were last reset.
    traversed: FxHashSet<Op>,
    /// Number of regions and calls around the op that is being visited.
    pub(super) depth: usize,
    /// Units in the queue that are to be solved with all that depends on them.
    pending: FxHashSet<Op>,
    /// The edit that is being followed through calls.
    edit: Option<CallEdit<F>>,
    replay: Option<Replay<F>>,
}

impl<F> FollowedCalls<F> {
    pub(super) fn new(policy: Calls) -> Self {
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
        self.policy != Calls::Opaque
    }

    /// Number of vectors of a function that are kept apart.
    fn n_apart(&self) -> usize {
        match self.policy {
            Calls::Followed { apart, .. } => apart,
            Calls::Opaque => 0,
        }
    }

    /// Returns true if functions that nothing calls are solved by themselves.
    fn shows_uncalled(&self) -> bool {
        matches!(self.policy, Calls::Followed { shows_uncalled: true, .. })
    }

    /// Returns true if a function has an assumed context: calls that are not followed may reach it.
    fn is_open(&self, ir: &Ir, function: Op) -> bool {
        is_exposed(ir, function) || self.n_apart() == 0 && !flow::calls_of(ir, function).1
    }

    /// Returns true if an op is a function that is evaluated in contexts.
    pub(super) fn is_followed_function(&self, ir: &Ir, op: Op) -> bool {
        self.is_on() && ir.op(op).kind == OpKind::FuncFunc && is_callable(ir, op)
    }

    /// Returns true if a call runs the body of its callee.
    fn is_followed_call(&self, ir: &Ir, call: Op) -> bool {
        self.is_on()
            && followed(ir, call).is_some()
            && !self.uncalled.contains(&index::unit_of(ir, call))
    }

    /// Returns true if the body of a function may run: it has a context, or needs none.
    pub(super) fn is_entered(&self, ir: &Ir, function: Op) -> bool {
        !self.is_on() || !is_callable(ir, function) || self.contexts.has(function)
    }

    /// Returns true if the facts of a unit with callers are those of one context that is evaluated
    /// once. (A context of a recursion is evaluated several times, and the observer sees each
    /// time.)
    fn has_one_context(&self, unit: Op) -> bool {
        matches!(self.contexts.of(unit), [it] if it.is_assumed && it.askers.is_empty())
            && !self.graph.is_recursive(unit)
    }

    /// Forgets all about a function that is solved anew or is gone, or a unit that is none.
    fn forget(&mut self, unit: Op) {
        self.contexts.remove_all(unit);
        self.forget_transcript(unit);
        self.traversed.remove(&unit);
        self.spent.remove(&unit);
        self.ordered.remove(unit);
        self.uncalled.remove(&unit);
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Returns the contexts of a function, the assumed one first, then in the order of their first
    /// calls in the text. A function that calls no longer find has none, though some may be kept.
    pub fn contexts(&self, ir: &Ir, function: Op) -> Vec<&Context<A::Fact>> {
        if !is_callable(ir, function) {
            return Vec::new();
        }
        let mut out: Vec<_> = self.calls.contexts.of(function).iter().collect();
        if out.len() > 1 {
            let first = |it: &Context<A::Fact>| it.calls().map(|it| ir.start(it)).min();
            out.sort_by_cached_key(|it| {
                (!it.is_assumed, first(it), it.is_joined, format!("{:?}", it.args))
            });
        }
        out
    }

    /// Solves all functions, after all else.
    pub(super) fn solve_functions(&mut self, ir: &Input<'_, A::Base>) {
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
