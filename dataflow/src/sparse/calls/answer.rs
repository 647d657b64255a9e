//! Answers to asks: the results of functions, for calls and for assumed contexts.

use noisy_syntax::{Op, OpKind};
use smallvec::smallvec;

use super::callable::{
    MAX_CALL_DEPTH, followed_callee, is_callable, sort_by_name, with_growing_stack,
};
use super::context::{CallContext, ContextKey, Progress, join_rising};
use super::index::unit_of;
use super::small_map::Facts;
use super::transcript::AskAnswer;
use super::units::depth_of;
use crate::flow;
use crate::lattice::Lattice;
use crate::sparse::{AnalysisInput, Domain, Observer, SparseForward, SparseSolver};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Recomputes the assumed context of a function that is not connected to others, or removes it.
    pub(in crate::sparse) fn assume(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) {
        if !self.calls.is_on() {
            return;
        }
        let is_open = self.calls.is_open(ir, function);
        let is_entered = is_callable(ir, function) && self.is_live(ir, function);
        if !is_entered || !is_open && !self.calls.shows_uncalled() {
            self.calls.forget(function);
            return;
        }
        if is_open {
            self.calls.uncalled.remove(&function);
        } else {
            self.calls.uncalled.insert(function);
        }
        let args = self.assumed_args(ir, function);
        match self.calls.contexts.of_mut(function).first_mut() {
            Some(first) => first.args = args,
            None => {
                let context = CallContext { is_assumed: true, ..CallContext::new(0, args) };
                self.calls.contexts.push(function, context);
            }
        }
    }

    /// Returns the arguments that are assumed for a function.
    pub(super) fn assumed_args(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
    ) -> Facts<A::Fact> {
        let Some(body) = flow::function_body(ir, function) else { return Facts::new() };
        let args = ir.block(flow::entry_block(ir, body)).args.clone();
        let facts = args.iter().enumerate().map(|(index, &value)| {
            if self.carries(ir, value) {
                let fact = self.entry(ir, function, index, value);
                self.refined(ir, function, value, fact)
            } else {
                A::Fact::unknown()
            }
        });
        facts.collect()
    }

    /// Solves functions in the order that the header of `calls.rs` defines.
    pub(super) fn run_functions(&mut self, ir: &AnalysisInput<'_, A::Base>, functions: Vec<Op>) {
        let functions = self.run_open(ir, functions);
        self.run_uncalled(ir, functions);
    }

    /// Solves the functions with assumed contexts, and their callees. Returns all live functions in
    /// the order of their names.
    pub(super) fn run_open(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        functions: Vec<Op>,
    ) -> Vec<Op> {
        let mut functions = functions;
        functions.retain(|&it| is_callable(ir, it) && self.is_live(ir, it));
        if !self.calls.index.is_empty() {
            sort_by_name(ir, &mut functions);
        }
        for &function in &functions {
            if self.calls.is_open(ir, function) {
                self.run_assumed(ir, function);
            }
        }
        functions
    }

    /// Solves the uncalled functions separately.
    pub(super) fn run_uncalled(&mut self, ir: &AnalysisInput<'_, A::Base>, functions: Vec<Op>) {
        let mut functions = functions;
        functions.retain(|&it| self.calls.shows_uncalled() && !self.calls.contexts.has(it));
        self.calls.uncalled.extend(&functions);
        for function in functions {
            self.run_assumed(ir, function);
        }
    }

    fn run_assumed(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) {
        self.calls.depth = depth_of(ir, function);
        let args = self.assumed_args(ir, function);
        let _ = self.answer(ir, function, args, None);
        self.calls.depth = 0;
    }

    /// Evaluates a live call. Returns its results, or `None` if it is not followed.
    pub(in crate::sparse) fn run_call(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        call: Op,
        live: bool,
    ) -> Option<Facts<A::Fact>> {
        if !self.calls.is_on() || ir.op(call).kind != OpKind::FuncCall || !live {
            return None;
        }
        let function = followed_callee(ir, call)?;
        let asker = self.calls.asker;
        let unit = asker.map_or_else(|| unit_of(ir, call), |it| it.0);
        let is_opaque =
            self.calls.uncalled.contains(&unit) || self.calls.n_apart() == 0 && asker.is_none();
        if is_opaque {
            return None;
        }
        let body = flow::function_body(ir, function)?;
        let in_cycle = self.cycle.is_inside();
        let values = &ir.block(flow::entry_block(ir, body)).args;
        let mut args = Facts::with_capacity(values.len());
        for (at, &value) in values.iter().enumerate() {
            if !self.carries(ir, value) {
                args.push(A::Fact::unknown());
                continue;
            }
            let fact = self.read(ir, call, at);
            if fact == A::Fact::bottom() {
                return Some(smallvec![A::Fact::bottom(); ir.op(call).results.len()]);
            }
            // After refinement, equal vectors share a context.
            let fact = self.refined(ir, function, value, fact);
            args.push(if in_cycle { self.unbounded(&fact) } else { fact });
        }
        Some(self.answer(ir, function, args, Some(call)).results)
    }

    /// Returns the results of a function for arguments that a call passes, or for assumed arguments
    /// if `call` is `None`.
    pub(super) fn answer(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
        args: Facts<A::Fact>,
        call: Option<Op>,
    ) -> AskAnswer<A::Fact> {
        let args = if self.calls.spent.contains(&function) {
            self.unknown_args(ir, function)
        } else {
            args
        };
        let caller = call.and(self.calls.asker);
        let graph = &self.calls.graph;
        let is_inside = caller.is_some_and(|it| graph.first(it.0) == graph.first(function));
        if self.calls.replay.is_some()
            && !is_inside
            && let Some(answer) = self.replayed(ir, function, &args, call)
        {
            return answer;
        }
        if !self.is_askable(ir, function) {
            let results = smallvec![A::Fact::unknown(); flow::n_results(ir, function)];
            return AskAnswer { context: 0, results, joined: None };
        }
        let args = if is_inside { self.kept_apart(function, args) } else { args };
        let is_full = self.calls.contexts.of(function).len() >= self.calls.n_apart();
        let asked = is_full.then(|| args.clone());
        let key = self.context_for(function, args, call.is_none());
        let is_new = call.is_some_and(|it| self.note_ask(ir, it, key));
        let context = self.calls.contexts.get(key);
        let is_entry = !is_inside && context.is_some_and(|it| it.progress == Progress::Pending);
        let joined = asked.filter(|_| context.is_some_and(|it| it.is_joined));
        if is_entry {
            self.calls.note_entry(key, joined.as_deref());
        }
        let results = self.results_of(ir, key, call);
        if is_entry && joined.is_some() {
            self.calls.note_entry_results(function, &results);
        }
        let answer = AskAnswer { context: key.1, results, joined };
        if let (Some(caller), Some(call), false) = (caller, call, is_inside) {
            self.calls.note_request(caller, call, function, &answer, is_new);
        }
        answer
    }

    /// Returns the arguments of the context that a call within a recursion asks for. One vector
    /// with saturated facts is kept unchanged. The saturated facts of all others become unbounded,
    /// because facts that grow around the recursion would need many contexts.
    fn kept_apart(&self, function: Op, args: Facts<A::Fact>) -> Facts<A::Fact> {
        let is_high = |args: &[A::Fact]| args.iter().any(|it| self.is_saturated(it));
        let contexts = self.calls.contexts.of(function);
        let is_kept = !is_high(&args)
            || contexts.iter().any(|it| it.args == args)
            || !contexts.iter().any(|it| is_high(&it.args));
        if is_kept { args } else { args.iter().map(|it| self.unbounded(it)).collect() }
    }

    /// Returns the results of a context, and solves it first if it is pending.
    fn results_of(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        key: ContextKey,
        call: Option<Op>,
    ) -> Facts<A::Fact> {
        let Some(context) = self.calls.contexts.get(key) else { return Facts::new() };
        match context.progress {
            Progress::Solved | Progress::Provisional => {}
            Progress::Pending if self.calls.is_in_recursion(key.0) => self.enter_recursion(ir, key),
            Progress::Pending => with_growing_stack(|| self.solve_context(ir, key)),
        }
        let results = self.calls.contexts.get(key).map_or(Facts::new(), |it| it.results.clone());
        let bottom = A::Fact::bottom();
        let is_read = call.is_some_and(|it| self.has_carrying_results(ir, it));
        if is_read && results.iter().any(|it| *it != bottom) && self.calls.hides_results_of(key.0) {
            return smallvec![bottom; results.len()];
        }
        results
    }

    /// Records that a call asks for a context. Returns true if the ask is new.
    pub(super) fn note_ask(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        call: Op,
        of: ContextKey,
    ) -> bool {
        let asker = self.calls.asker.unwrap_or_else(|| (unit_of(ir, call), 0));
        self.calls.contexts.ask(asker, call, of)
    }

    /// Finds or creates the context for passed or assumed arguments.
    pub(super) fn context_for(
        &mut self,
        function: Op,
        args: Facts<A::Fact>,
        is_assumed: bool,
    ) -> ContextKey {
        let (may_join, n_apart) = (self.calls.may_join(), self.calls.n_apart());
        let is_found = |it: &&mut CallContext<A::Fact>| {
            !it.is_joined && it.args == args || n_apart == 0 && it.is_assumed
        };
        let contexts = self.calls.contexts.of_mut(function);
        if let Some(found) = contexts.iter_mut().find(is_found) {
            found.is_assumed |= is_assumed;
            return (function, found.id);
        }
        // During an edit some contexts may be unused, so their number is checked later.
        let is_joined = may_join
            && contexts.iter().filter(|it| !it.is_joined).count() >= n_apart
            && !(is_assumed && n_apart == 0);
        let unbounded = |fact: A::Fact| self.analysis.unbounded(&fact).unwrap_or(fact);
        if is_joined && let Some(joined) = contexts.iter_mut().find(|it| it.is_joined) {
            joined.is_assumed |= is_assumed;
            let by = args.into_iter().map(unbounded);
            let has_risen = join_rising(&mut joined.n_rises, &mut joined.args, by, |_, next| next);
            let (id, member) = (joined.id, joined.member);
            if has_risen && joined.progress == Progress::Provisional {
                self.calls.queue_member(member);
            } else if has_risen {
                joined.progress = Progress::Pending;
            }
            return (function, id);
        }
        let replay = self.calls.replay.as_ref();
        let former = replay.and_then(|it| it.former_id(function, &args, is_joined));
        let args = if is_joined { args.into_iter().map(unbounded).collect() } else { args };
        let id = former.unwrap_or_else(|| self.calls.contexts.new_id());
        if is_joined {
            self.calls.note_ordered(function);
        }
        let context = CallContext { is_assumed, is_joined, ..CallContext::new(id, args) };
        self.calls.contexts.push(function, context);
        (function, id)
    }

    /// Solves a pending context.
    pub(super) fn solve_context(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let unknown = smallvec![A::Fact::unknown(); flow::n_results(ir, key.0)];
        let is_too_deep = self.calls.depth > MAX_CALL_DEPTH;
        let Some(context) = self.calls.contexts.get_mut(key) else { return };
        if is_too_deep {
            context.results = unknown;
            context.progress = Progress::Solved;
            let calls: Vec<Op> = context.calls().collect();
            self.undecided.extend(calls);
            self.calls.is_cut = true;
            return;
        }
        if self.calls.graph.is_recursive(key.0) {
            if !self.redo_recursion_of(ir, key.0) {
                self.solve_recursion(ir, key);
            }
            return;
        }
        // Results in case that the context asks for itself, which should not happen outside of
        // recursions.
        context.results = unknown;
        context.progress = Progress::Provisional;
        let results = self.evaluate(ir, key, 1);
        if let Some(context) = self.calls.contexts.get_mut(key) {
            context.results = results;
            context.progress = Progress::Solved;
        }
    }
}
