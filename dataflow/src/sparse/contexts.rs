//! Calls, followed into their callees; what they pass is kept apart.
//!
//! # Notation
//!
//! A *context* of a function is a vector of argument facts with the results that its body gives for them. A function has an *assumed*
//! context if anybody may call it, and one context for each vector that a live call passes; the facts of the values in its body are the
//! join over its contexts. A private function that no live call reaches has no context and is dead, or it is solved by itself
//! ([`Calls::Followed`]): then it has an assumed context, but calls in it are opaque, so that it affects no other function.
//!
//! # From scratch
//!
//! A call asks for the results of its callee in the context of its operands; a context that is not known is evaluated at that moment, by a
//! pass over the body. Functions that may come to call themselves are solved together, each in its contexts (`recursion.rs`).
//!
//! The analysis says how many vectors per function are kept apart. All further ones are joined in one more context, in which saturated
//! facts are unbounded: otherwise each call that passes more noise would evaluate the body again. For the same reason a call in a cycle
//! passes saturated facts as unbounded ones. If no vectors are kept apart, a function that anybody may call has its assumed context only,
//! and calls outside of functions are opaque.
//!
//! # Order
//!
//! The order of the asks decides which vectors are kept apart, and where a recursion is entered. So functions that anybody may call are
//! solved in the order of their *names*, after the units that are no functions, and each asks in the order of its own text: the facts do
//! not depend on where functions stand in the file. (They depend only on names, on the texts of functions, and on what these resolve to.
//! Tables by op are only looked up, or iterated where joins or sets commute.)
//!
//! The results of calls that nest deeper than [`MAX_DEPTH`] are unknown, and such calls are [undecided](Sparse::undecided).
//!
//! # From an edit
//!
//! A context records which calls ask for it. In a function that nothing calls, values have the facts of its one context, so an edit is
//! followed op by op until it reaches a call whose operands change. From there on it is followed function by function (`call_edit.rs`), or
//! ask by ask where the order of calls matters (`replay.rs`).

use noisy_syntax::{Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::call_edit::CallEdit;
use super::call_index::unit_of;
use super::component::depth_of;
use super::context::{
    Ask, Asker, Context, MAX_DEPTH, State, followed, is_callable, is_exposed, rise, sort_by_name,
    with_stack,
};
use super::few::{Facts, FewMap};
use super::ordered::Ordered;
use super::recursion::Recursion;
use super::replay::Replay;
use super::transcript::{Answer, Transcript};
use super::{Calls, Domain, Input, Observer, Sparse, SparseForward};
use crate::flow;
use crate::lattice::Lattice;

/// The contexts of all functions.
#[derive(Debug)]
pub(super) struct Contexts<F> {
    pub(super) of: FxHashMap<Op, Vec<Context<F>>>,
    /// What each context asked for when it was evaluated.
    pub(super) asks: FxHashMap<Asker, FewMap<Ask, ()>>,
    /// By the first function of each component.
    pub(super) transcripts: FxHashMap<Op, Box<Transcript<F>>>,
    /// While an edit is replayed.
    pub(super) replay: Option<Replay<F>>,
    /// Who is evaluated now.
    pub(super) asker: Option<Asker>,
    /// Contexts that some call asks for no more.
    pub(super) unused: Vec<Asker>,
    /// Recursions that are being solved, innermost last.
    pub(super) recursions: Vec<Recursion>,
    /// Functions of recursions that took too many steps to follow.
    pub(super) spent: FxHashSet<Op>,
    /// Whether calls were too deep to be followed.
    pub(super) is_cut: bool,
    /// What an edit has touched, while it is followed through calls.
    pub(super) edit: Option<CallEdit<F>>,
    /// Functions whose facts depend on the order of calls.
    pub(super) ordered: Ordered,
    /// Private functions that no live call reaches, and that are looked at all the same.
    pub(super) uncalled: FxHashSet<Op>,
    /// Functions whose body was passed over since it was reset.
    pub(super) passed_over: FxHashSet<Op>,
    /// How deep regions and calls are nested now.
    pub(super) depth: usize,
    next: u32,
}

impl<F> Default for Contexts<F> {
    fn default() -> Self {
        Self {
            of: FxHashMap::default(),
            asks: FxHashMap::default(),
            transcripts: FxHashMap::default(),
            replay: None,
            asker: None,
            unused: Vec::new(),
            recursions: Vec::new(),
            spent: FxHashSet::default(),
            is_cut: false,
            edit: None,
            ordered: Ordered::default(),
            uncalled: FxHashSet::default(),
            passed_over: FxHashSet::default(),
            depth: 0,
            next: 0,
        }
    }
}

impl<F> Contexts<F> {
    /// Makes room for so many functions and units with calls.
    pub(super) fn reserve(&mut self, n_functions: usize, n_units: usize) {
        self.of.reserve(n_functions);
        self.transcripts.reserve(n_functions);
        self.passed_over.reserve(n_functions);
        self.asks.reserve(n_units);
    }

    /// A context, or a unit that is no function, asks for nothing any more.
    pub(super) fn withdraw(&mut self, asker: Asker) {
        let asks = self.take_asks(asker);
        self.drop_asks(asks);
    }

    /// Whether a context asks for another one by a call.
    pub(super) fn does_ask(&self, asker: Asker, call: Op, of: Asker) -> bool {
        let ask = Ask { call, callee: of.0, context: of.1 };
        self.asks.get(&asker).is_some_and(|it| it.contains(ask))
    }

    /// For how much is asked.
    pub(super) fn n_asks(&self, asker: Asker) -> u32 {
        self.asks.get(&asker).map_or(0, |it| it.len() as u32)
    }

    /// What was asked for; it stands until it is dropped.
    pub(super) fn take_asks(&mut self, asker: Asker) -> FewMap<Ask, ()> {
        self.asks.remove(&asker).unwrap_or_default()
    }

    /// Takes asks back.
    pub(super) fn drop_asks(&mut self, asks: FewMap<Ask, ()>) {
        for (Ask { call, callee, context: id }, ()) in asks.iter() {
            let contexts = self.of.get_mut(&callee).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id) {
                if let Some((_, n)) = context.askers.get_mut(call) {
                    *n -= 1;
                    if *n == 0 {
                        context.askers.remove(call);
                        self.unused.push((callee, id));
                    }
                }
            }
        }
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// The contexts of a function, the assumed one first, then in the order of their first calls in the text. What no call finds any more,
    /// as it is being edited, has none, though some may be remembered.
    pub fn contexts(&self, ir: &noisy_syntax::Ir, function: Op) -> Vec<&Context<A::Fact>> {
        if !is_callable(ir, function) {
            return Vec::new();
        }
        let mut out: Vec<_> = self.contexts.of.get(&function).into_iter().flatten().collect();
        if out.len() > 1 {
            let first = |it: &Context<A::Fact>| it.calls().map(|it| ir.start(it)).min();
            out.sort_by_cached_key(|it| {
                (!it.is_assumed, first(it), it.is_joined, format!("{:?}", it.args))
            });
        }
        out
    }

    /// Whether calls are looked into.
    pub(super) fn follows_calls(&self) -> bool {
        self.calls != Calls::Opaque
    }

    /// How many vectors of a function are kept apart.
    pub(super) fn apart(&self) -> usize {
        match self.calls {
            Calls::Followed { apart, .. } => apart,
            Calls::Opaque => 0,
        }
    }

    /// Whether functions that nobody calls are looked at.
    pub(super) fn shows_uncalled(&self) -> bool {
        matches!(self.calls, Calls::Followed { shows_uncalled: true, .. })
    }

    /// Whether somebody may call a function by a call that is not followed.
    pub(super) fn is_open(&self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        is_exposed(ir, function) || self.apart() == 0 && !flow::calls_of(ir, function).1
    }

    /// Forgets all contexts.
    pub(super) fn clear_contexts(&mut self) {
        self.contexts = Contexts::default();
    }

    /// Forgets the contexts of what is to be solved anew or is gone.
    pub(super) fn forget_contexts(&mut self, function: Op) {
        if self.follows_calls() {
            for context in self.contexts.of.remove(&function).unwrap_or_default() {
                self.contexts.withdraw((function, context.id));
            }
            self.contexts.withdraw((function, 0));
            self.forget_transcript(function);
            self.contexts.passed_over.remove(&function);
            self.contexts.spent.remove(&function);
            self.contexts.ordered.remove(function);
            self.contexts.uncalled.remove(&function);
        }
    }

    /// Whether the facts of the values in a unit that is connected to others are those of its one context, which is evaluated once: one of a
    /// recursion is evaluated in turns, and an observer is told in which.
    pub(super) fn has_one_context(&self, unit: Op) -> bool {
        let contexts = self.contexts.of.get(&unit).map(Vec::as_slice);
        matches!(contexts, Some([it]) if it.is_assumed && it.askers.is_empty())
            && !self.call_graph.is_recursive(unit)
    }

    /// Whether a call runs the body of a function.
    pub(super) fn is_call_followed(&self, ir: &Input<'_, A::Base>, call: Op) -> bool {
        self.follows_calls()
            && followed(ir, call).is_some()
            && !self.contexts.uncalled.contains(&unit_of(ir, call))
    }

    /// Whether an op is a function that is analyzed in contexts.
    pub(super) fn is_followed(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        self.follows_calls() && ir.op(op).kind == OpKind::FuncFunc && is_callable(ir, op)
    }

    /// Whether a function is entered at all.
    pub(super) fn is_called(&self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        !self.follows_calls()
            || !is_callable(ir, function)
            || self.contexts.of.contains_key(&function)
    }

    /// A function that is not connected to others was read again: its assumed context is entered, or left.
    pub(super) fn assume(&mut self, ir: &Input<'_, A::Base>, function: Op) {
        if !self.follows_calls() {
            return;
        }
        let is_open = self.is_open(ir, function);
        let is_entered = is_callable(ir, function) && self.is_live(ir, function);
        if !is_entered || !is_open && !self.shows_uncalled() {
            self.forget_contexts(function);
            return;
        }
        if is_open {
            self.contexts.uncalled.remove(&function);
        } else {
            self.contexts.uncalled.insert(function);
        }
        let args = self.assumed(ir, function);
        let contexts = self.contexts.of.entry(function).or_default();
        match contexts.first_mut() {
            Some(first) => first.args = args,
            None => contexts.push(Context { is_assumed: true, ..Context::new(0, args) }),
        }
    }

    pub(super) fn assumed(&mut self, ir: &Input<'_, A::Base>, function: Op) -> Facts<A::Fact> {
        let Some(body) = flow::body(ir, function) else { return Facts::new() };
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

    /// Solves functions and what they call, after what else calls them: see above for the order.
    pub(super) fn run_functions(&mut self, ir: &Input<'_, A::Base>, functions: Vec<Op>) {
        let functions = self.run_open(ir, functions);
        self.run_uncalled(ir, functions);
    }

    /// Solves those functions that anybody may call, and what they call. The functions that are live, in the order of their names.
    pub(super) fn run_open(&mut self, ir: &Input<'_, A::Base>, functions: Vec<Op>) -> Vec<Op> {
        let mut functions = functions;
        functions.retain(|&it| is_callable(ir, it) && self.is_live(ir, it));
        if !self.call_index.is_empty() {
            sort_by_name(ir, &mut functions);
        }
        for &function in &functions {
            if self.is_open(ir, function) {
                self.run_assumed(ir, function);
            }
        }
        functions
    }

    /// Solves those functions that nothing called, each by itself.
    pub(super) fn run_uncalled(&mut self, ir: &Input<'_, A::Base>, functions: Vec<Op>) {
        let mut functions = functions;
        functions.retain(|it| self.shows_uncalled() && !self.contexts.of.contains_key(it));
        self.contexts.uncalled.extend(&functions);
        for function in functions {
            self.run_assumed(ir, function);
        }
    }

    fn run_assumed(&mut self, ir: &Input<'_, A::Base>, function: Op) {
        self.contexts.depth = depth_of(ir, function);
        let args = self.assumed(ir, function);
        let _ = self.answer(ir, function, args, None);
        self.contexts.depth = 0;
    }

    /// Runs a call, if it is followed. The results.
    pub(super) fn run_call(
        &mut self,
        ir: &Input<'_, A::Base>,
        call: Op,
        live: bool,
    ) -> Option<Facts<A::Fact>> {
        if !self.follows_calls() || ir.op(call).kind != OpKind::FuncCall || !live {
            return None;
        }
        let function = followed(ir, call)?;
        let asker = self.contexts.asker;
        let unit = asker.map_or_else(|| unit_of(ir, call), |it| it.0);
        if self.contexts.uncalled.contains(&unit) || self.apart() == 0 && asker.is_none() {
            return None;
        }
        let body = flow::body(ir, function)?;
        let in_cycle = !self.rounds.is_empty() || !self.passes.is_empty();
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
            // What a body takes for granted of an argument keeps no contexts apart.
            let fact = self.refined(ir, function, value, fact);
            args.push(if in_cycle { self.unbounded(&fact) } else { fact });
        }
        Some(self.answer(ir, function, args, Some(call)).results)
    }

    /// The results of a function for what is passed to it: by a call, or by nobody knows whom.
    pub(super) fn answer(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        args: Facts<A::Fact>,
        call: Option<Op>,
    ) -> Answer<A::Fact> {
        let args = if self.contexts.spent.contains(&function) {
            self.unknown_args(ir, function)
        } else {
            args
        };
        let caller = call.and(self.contexts.asker);
        let is_inside =
            caller.is_some_and(|it| self.call_graph.first(it.0) == self.call_graph.first(function));
        if self.contexts.replay.is_some()
            && !is_inside
            && let Some(answer) = self.replayed(ir, function, &args, call)
        {
            return answer;
        }
        if !self.may_ask(ir, function) {
            let results = smallvec![A::Fact::unknown(); flow::n_results(ir, function)];
            return Answer { context: 0, results, joined: None };
        }
        let args = if is_inside { self.kept_apart(function, args) } else { args };
        let n_contexts = self.contexts.of.get(&function).map_or(0, Vec::len);
        let asked = (n_contexts >= self.apart()).then(|| args.clone());
        let at = self.context_for(function, args, call.is_none());
        let is_new = call.is_some_and(|it| self.note_ask(ir, it, function, at));
        let Some(context) = self.context(function, at) else {
            return Answer { context: 0, results: Facts::new(), joined: None };
        };
        let (context, is_entry) = (context.id, context.state == State::New && !is_inside);
        let joined = asked.filter(|_| self.context(function, at).is_some_and(|it| it.is_joined));
        if is_entry {
            self.note_entry(function, context, joined.as_deref());
        }
        let results = self.results_of(ir, function, at, call);
        if is_entry && joined.is_some() {
            self.note_entry_results(function, &results);
        }
        let answer = Answer { context, results, joined };
        if let (Some(caller), Some(call), false) = (caller, call, is_inside) {
            self.note_request(caller, call, function, &answer, is_new);
        }
        answer
    }

    /// What a call within a recursion passes: one vector with saturated facts is kept apart as it is, all others are unbounded. What grows
    /// all the way around would have many more.
    fn kept_apart(&self, function: Op, args: Facts<A::Fact>) -> Facts<A::Fact> {
        let is_high = |args: &[A::Fact]| args.iter().any(|it| self.is_saturated(it));
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        let is_kept = !is_high(&args)
            || contexts.iter().any(|it| it.args == args)
            || !contexts.iter().any(|it| is_high(&it.args));
        if is_kept { args } else { args.iter().map(|it| self.unbounded(it)).collect() }
    }

    /// The results of a context, which is solved if it is not.
    fn results_of(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        at: usize,
        call: Option<Op>,
    ) -> Facts<A::Fact> {
        let Some(context) = self.context(function, at) else { return Facts::new() };
        let (id, state) = (context.id, context.state);
        match state {
            State::Done | State::Open => {}
            State::New if self.is_in_recursion(function) => self.enter_recursion(ir, function, at),
            State::New => with_stack(|| self.solve_context(ir, function, at)),
        }
        // Contexts before it may be gone.
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        let context = contexts.iter().find(|it| it.id == id);
        let results = context.map_or(Facts::new(), |it| it.results.clone());
        let bottom = A::Fact::bottom();
        let is_taken = call.is_some_and(|it| self.takes_results(ir, it));
        if is_taken && results.iter().any(|it| *it != bottom) && self.is_kept_back(function) {
            return smallvec![bottom; results.len()];
        }
        results
    }

    /// Solves a context that is not asked for from within another one, if it is not solved.
    pub(super) fn solve_from_here(&mut self, ir: &Input<'_, A::Base>, function: Op, id: u32) {
        let contexts = self.contexts.of.get(&function).into_iter().flatten();
        let at = contexts.enumerate().find(|it| it.1.id == id && it.1.state != State::Done);
        if let Some((at, _)) = at {
            self.solve_context(ir, function, at);
        }
    }

    /// Notes that a call asks for a context. Whether it did not before.
    pub(super) fn note_ask(
        &mut self,
        ir: &Input<'_, A::Base>,
        call: Op,
        callee: Op,
        at: usize,
    ) -> bool {
        let Some(context) = self.context(callee, at).map(|it| it.id) else { return false };
        let asker = self.contexts.asker.unwrap_or_else(|| (unit_of(ir, call), 0));
        let asks = self.contexts.asks.entry(asker).or_default();
        let is_new = asks.insert(Ask { call, callee, context }, ());
        if is_new && let Some(context) = self.context(callee, at) {
            // An edit may have moved the call into another unit.
            context.asked_by(call, asker.0);
        }
        is_new
    }

    pub(super) fn context(&mut self, function: Op, at: usize) -> Option<&mut Context<A::Fact>> {
        self.contexts.of.get_mut(&function)?.get_mut(at)
    }

    /// Finds or makes the context for what is passed, or assumed.
    pub(super) fn context_for(
        &mut self,
        function: Op,
        args: Facts<A::Fact>,
        is_assumed: bool,
    ) -> usize {
        let (may_join, apart) = (self.may_join(), self.apart());
        let contexts = self.contexts.of.entry(function).or_default();
        let is_found =
            |it: &Context<A::Fact>| !it.is_joined && it.args == args || apart == 0 && it.is_assumed;
        if let Some(at) = contexts.iter().position(is_found) {
            contexts[at].is_assumed |= is_assumed;
            return at;
        }
        // What an edit leaves behind goes when it was followed to its end.
        let is_joined = may_join
            && contexts.iter().filter(|it| !it.is_joined).count() >= apart
            && !(is_assumed && apart == 0);
        let unbounded = |fact: A::Fact| self.analysis.unbounded(&fact).unwrap_or(fact);
        if is_joined && let Some(at) = contexts.iter().position(|it| it.is_joined) {
            let joined = &mut contexts[at];
            joined.is_assumed |= is_assumed;
            let by = args.into_iter().map(unbounded);
            let has_moved = rise(&mut joined.n_rises, &mut joined.args, by, |_, next| next);
            if has_moved && joined.state == State::Open {
                let member = joined.member;
                self.queue_member(member);
            } else if has_moved {
                joined.state = State::New;
            }
            return at;
        }
        let former =
            self.contexts.replay.as_ref().and_then(|it| it.id_of(function, &args, is_joined));
        let args = if is_joined { args.into_iter().map(unbounded).collect() } else { args };
        let id = former.unwrap_or_else(|| {
            self.contexts.next += 1;
            self.contexts.next
        });
        if is_joined {
            self.note_ordered(function);
        }
        let contexts = self.contexts.of.entry(function).or_default();
        if contexts.is_empty() {
            // Most functions have one.
            contexts.reserve_exact(1);
        }
        contexts.push(Context { is_assumed, is_joined, ..Context::new(id, args) });
        contexts.len() - 1
    }

    /// The facts of a function, and of those that it may come to call itself through, depend on the order of calls.
    pub(super) fn note_ordered(&mut self, function: Op) {
        self.contexts.ordered.note(&self.call_graph, function);
    }

    /// Solves a context.
    pub(super) fn solve_context(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) {
        let n_results = flow::n_results(ir, function);
        let is_cut = self.contexts.depth > MAX_DEPTH;
        let Some(context) = self.context(function, at) else { return };
        if is_cut {
            context.results = smallvec![A::Fact::unknown(); n_results];
            context.state = State::Done;
            let calls: Vec<Op> = context.calls().collect();
            self.undecided.extend(calls);
            self.contexts.is_cut = true;
            return;
        }
        if self.call_graph.is_recursive(function) {
            if self.redo_recursion_of(ir, function) {
                // As one of those from which it is entered.
                return;
            }
            return self.solve_recursion(ir, function, at);
        }
        let Some(context) = self.context(function, at) else { return };
        // Should it come to be asked for from within after all.
        context.results = smallvec![A::Fact::unknown(); n_results];
        context.state = State::Open;
        let results = self.evaluate(ir, function, at, 1);
        let Some(context) = self.context(function, at) else { return };
        context.results = results;
        context.state = State::Done;
    }
}
