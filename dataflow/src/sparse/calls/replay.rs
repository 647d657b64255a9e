//! Replay of an edit through functions whose facts depend on the order of calls. All asks of the
//! connected units are repeated in the order of a solution from scratch, and a component is
//! evaluated only if its transcript (`transcript.rs`) is not valid any more.
//!
//! # Law
//!
//! The units are visited in the same order as from scratch. If an ask equals the next entry of a
//! component, the requests of this entry are repeated. If they get the same answers, the evaluation
//! and the answer of the component would be the same as before, so its functions are not visited.
//! An ask for a solved context is answered from the transcript. At the first difference the
//! component is evaluated from its first entry on: with the recorded answers up to the difference,
//! and with new answers from there on. Evaluating more than necessary is always correct, and
//! everything that is not evaluated was compared. A component that the edit touches is evaluated
//! again, and a component with entries that were not asked for again is evaluated without these
//! entries.
//!
//! If calls nest too deeply, the budget of a recursion is spent, or all vectors are joined, all
//! connected units count as touched: they are solved from scratch.
//!
//! *Cost.* Visits: the evaluation, from the first entry on, of the components that the edit
//! touches, or whose asks or answers differ or have another order. In addition, each call of the
//! connected units is inspected once for each context that it asks for.

use noisy_syntax::{Ir, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::FollowedCalls;
use super::callable::{MAX_CALL_DEPTH, with_growing_stack};
use super::context::{CallContext, ContextKey};
use super::index::unit_of;
use super::small_map::Facts;
use super::transcript::{AskAnswer, JoinedAsk, Request, Transcript};
use crate::flow;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisInput, Domain, Observer, SparseForward, SparseSolver};

/// Progress of the replay of a component.
#[derive(Debug)]
struct ComponentReplay<F> {
    /// Number of entries of the transcript that are still valid.
    n_valid_entries: usize,
    /// True if the component is evaluated, and a new transcript is written.
    is_evaluated: bool,
    /// Requests of the current entry with recorded answers.
    answered: Vec<Request<F>>,
    /// Number of these requests that were repeated.
    n_made: usize,
    /// True if `answered` has all requests of the entry.
    is_complete: bool,
}

impl<F> Default for ComponentReplay<F> {
    fn default() -> Self {
        Self {
            n_valid_entries: 0,
            is_evaluated: false,
            answered: Vec::new(),
            n_made: 0,
            is_complete: false,
        }
    }
}

/// A replay in progress.
#[derive(Debug)]
pub(super) struct Replay<F> {
    /// The progress of each component, by its first function. A missing component had no asks yet.
    components: FxHashMap<Op, ComponentReplay<F>>,
    /// Former contexts of the functions of evaluated components.
    former: FxHashMap<Op, Vec<CallContext<F>>>,
    /// Functions that were updated op by op, so that their stored results are outdated.
    without_results: FxHashSet<Op>,
}

impl<F: PartialEq> Replay<F> {
    /// Returns the former id of a context of an evaluated component.
    pub(super) fn former_id(&self, function: Op, args: &[F], is_joined: bool) -> Option<u32> {
        let of = |it: &&CallContext<F>| {
            it.is_joined == is_joined && (is_joined || it.args.as_slice() == args)
        };
        Some(self.former.get(&function)?.iter().find(of)?.id)
    }
}

impl<F> Replay<F> {
    /// Returns true if a component is evaluated.
    pub(super) fn is_evaluated(&self, first: Op) -> bool {
        self.components.get(&first).is_some_and(|it| it.is_evaluated)
    }

    /// Returns the number of valid entries of a component; `None` if it is evaluated.
    pub(super) fn n_valid_entries(&self, first: Op) -> Option<usize> {
        let machine = self.components.get(&first);
        machine.map_or(Some(0), |it| (!it.is_evaluated).then_some(it.n_valid_entries))
    }

    fn former(&self, (function, id): ContextKey) -> Option<&CallContext<F>> {
        self.former.get(&function)?.iter().find(|it| it.id == id)
    }
}

impl<F> FollowedCalls<F> {
    /// Returns the remaining units that are connected to the units in `to`, in textual order.
    /// Contexts that their functions asked for before the edit count as connections.
    fn connected(&self, ir: &Ir, to: &FxHashSet<Op>) -> Vec<Op> {
        let mut connected: FxHashSet<Op> = FxHashSet::default();
        let unused = self.contexts.unused().iter().map(|it| it.0);
        let mut first: Vec<Op> = to.iter().copied().chain(unused).collect();
        while let Some(unit) = first.pop() {
            if !ir.is_alive(unit) || connected.contains(&unit) {
                continue;
            }
            for unit in self.index.component(ir, unit) {
                let ids = self.contexts.of(unit).iter().map(|it| it.id).chain([0]);
                for id in ids {
                    first.extend(self.contexts.asks_of((unit, id)).map(|it| it.callee));
                }
                connected.insert(unit);
            }
        }
        let mut connected: Vec<Op> = connected.into_iter().collect();
        connected.sort_by_cached_key(|&it| ir.start(it));
        connected
    }

    /// Returns true if the transcript of a function is valid for an ask. `is_called` is true for an
    /// ask by a call.
    fn is_transcript_valid(&self, function: Op, is_called: bool) -> bool {
        let lacks_results = |it: &Replay<F>| it.without_results.contains(&function);
        let is_doubtful = is_called && self.replay.as_ref().is_some_and(lacks_results)
            || self.uncalled.contains(&function);
        let transcript = self.transcripts.get(&self.graph.first(function));
        !is_doubtful && transcript.is_some_and(|it| it.members == self.members(function))
    }

    /// Sets the recorded answers for the next requests of a component. `is_complete` is true if
    /// these are all requests of the entry.
    fn answer_with(&mut self, first: Op, answered: Vec<Request<F>>, is_complete: bool) {
        let Some(replay) = self.replay.as_mut() else { return };
        let machine = replay.components.entry(first).or_default();
        (machine.answered, machine.n_made, machine.is_complete) = (answered, 0, is_complete);
    }

    /// Returns true if calls cannot be replayed: they nested too deeply, or a budget is spent.
    fn is_limited(&self, units: &[Op]) -> bool {
        self.is_cut || units.iter().any(|it| self.spent.contains(it))
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Solves the units that are connected to the touched units again.
    pub(super) fn replay(&mut self, ir: &AnalysisInput<'_, A::Base>, touched: &FxHashSet<Op>) {
        let connected = self.calls.connected(ir, touched);
        if self.calls.n_apart() > 0 && !self.calls.is_limited(&connected) {
            self.replay_units(ir, &connected, |it| touched.contains(&it));
            if !self.calls.has_given_up() && !self.calls.is_limited(&connected) {
                return;
            }
        }
        if let Some(edit) = &mut self.calls.edit {
            edit.restart();
        }
        self.replay_units(ir, &connected, |_| true);
    }

    /// Replays connected units in the order of a solution from scratch.
    fn replay_units(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        connected: &[Op],
        is_touched: impl Fn(Op) -> bool,
    ) {
        let calls = &mut self.calls;
        let followed = connected.iter().copied().filter(|&it| calls.has_one_context(it));
        let without_results = followed.collect();
        let (components, former) = (FxHashMap::default(), FxHashMap::default());
        calls.replay = Some(Replay { components, former, without_results });
        for &unit in connected {
            // An uncalled function is solved without the rest of its component, and the transcript
            // of the component does not contain it.
            let is_alone = self.calls.members(unit).len() == 1;
            let is_uncalled = self.calls.uncalled.contains(&unit);
            if !self.calls.is_followed_function(ir, unit)
                || is_touched(unit)
                || is_uncalled && !is_alone
            {
                self.evaluate_again(ir, self.calls.graph.first(unit), 0, Vec::new());
            }
            for context in self.calls.contexts.of_mut(unit) {
                context.is_assumed &= is_uncalled && is_alone;
            }
        }
        let (functions, others): (Vec<Op>, Vec<Op>) =
            connected.iter().partition(|&&it| self.calls.is_followed_function(ir, it));
        for unit in others {
            self.run_unit(ir, unit);
        }
        let live = self.run_open(ir, functions);
        for &unit in connected {
            self.drop_unasked_entries(ir, unit);
        }
        self.run_uncalled(ir, live);
        self.calls.replay = None;
        self.calls.contexts.recount_askers(connected);
    }

    /// Evaluates a component without the entries that were not asked for again.
    fn drop_unasked_entries(&mut self, ir: &AnalysisInput<'_, A::Base>, unit: Op) {
        let calls = &self.calls;
        let first = calls.graph.first(unit);
        let n_standing = calls.replay.as_ref().and_then(|it| it.n_valid_entries(first));
        let Some(n_standing) = n_standing.filter(|_| !calls.has_given_up()) else { return };
        if n_standing == 0 && calls.uncalled.contains(&unit) {
            return;
        }
        let transcript = calls.transcripts.get(&first);
        let transcript = transcript.filter(|it| it.members == calls.members(unit));
        let is_left = n_standing < transcript.map_or(0, |it| it.entries.len());
        if is_left || n_standing == 0 && calls.contexts.has(unit) {
            self.evaluate_again(ir, first, n_standing, Vec::new());
        }
    }

    /// Returns the answer of a component to an ask from outside: the recorded answer for an
    /// evaluated caller, or the answer of the transcript. `None` if the component is evaluated.
    #[inline(never)]
    pub(super) fn replayed(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
        args: &[A::Fact],
        call: Option<Op>,
    ) -> Option<AskAnswer<A::Fact>> {
        if self.calls.has_given_up() {
            let results = smallvec![A::Fact::unknown(); flow::n_results(ir, function)];
            return Some(AskAnswer { context: 0, results, joined: None });
        }
        let caller = call.and(self.calls.asker);
        let answer = match (caller, call) {
            (Some(caller), Some(call)) => self.answered_before(caller, call, function, args),
            _ => None,
        };
        let answer = match answer {
            Some(it) => it,
            None => self.answer_by_transcript(ir, function, args, call)?,
        };
        let key = (function, answer.context);
        self.calls.contexts.get_mut(key)?.is_assumed |= call.is_none();
        if let Some(call) = call {
            let is_new = self.note_ask(ir, call, key);
            if let Some(caller) = caller {
                self.calls.note_request(caller, call, function, &answer, is_new);
            }
        }
        Some(answer)
    }

    /// Returns the recorded answer to a request of an evaluated component, as long as there are
    /// recorded answers.
    fn answered_before(
        &mut self,
        caller: ContextKey,
        call: Op,
        function: Op,
        args: &[A::Fact],
    ) -> Option<AskAnswer<A::Fact>> {
        let first = self.calls.graph.first(caller.0);
        let contexts = &self.calls.contexts;
        let machine = self.calls.replay.as_mut()?.components.get_mut(&first)?;
        let is_exhausted = !machine.is_complete && machine.n_made == machine.answered.len();
        if !machine.is_evaluated || is_exhausted {
            return None;
        }
        let is_it = |it: &Request<A::Fact>| {
            (it.asker, it.call, it.callee) == (caller.1, call, function)
                && match &it.joined {
                    Some(joined) => joined.args.as_slice() == args,
                    None => {
                        let context = contexts.get((function, it.context));
                        context.is_some_and(|it| it.args.as_slice() == args)
                    }
                }
        };
        let found = if machine.answered.get(machine.n_made).is_some_and(is_it) {
            machine.n_made += 1;
            Some(machine.n_made - 1)
        } else {
            machine.answered[..machine.n_made].iter().rposition(is_it)
        };
        if let Some(found) = found {
            let Request { context, joined, .. } = &machine.answered[found];
            return Some(match joined {
                Some(it) => {
                    let (args, results) = (it.args.clone(), it.results.clone());
                    AskAnswer { context: *context, results, joined: Some(args) }
                }
                None => {
                    let results = contexts.get((function, *context))?.results.clone();
                    AskAnswer { context: *context, results, joined: None }
                }
            });
        }
        // The request may be recorded in an earlier entry only.
        let again = contexts.of(function).iter().find(|it| {
            !it.is_joined
                && it.args.as_slice() == args
                && contexts.is_asking(caller, call, (function, it.id))
        });
        let answer =
            again.map(|it| AskAnswer { context: it.id, results: it.results.clone(), joined: None });
        if answer.is_none() {
            self.calls.give_up_by_rank();
        }
        answer
    }

    /// Returns the answer of a component from its transcript. `None` if the component is evaluated,
    /// or must be evaluated from now on.
    fn answer_by_transcript(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
        args: &[A::Fact],
        call: Option<Op>,
    ) -> Option<AskAnswer<A::Fact>> {
        let first = self.calls.graph.first(function);
        let n_standing = self.calls.replay.as_ref()?.n_valid_entries(first)?;
        if !self.calls.is_transcript_valid(function, call.is_some()) {
            self.evaluate_again(ir, first, n_standing, Vec::new());
            return None;
        }
        let contexts = &self.calls.contexts;
        let is_solved = |it: &&CallContext<A::Fact>| {
            !it.is_joined && (it.entry as usize) < n_standing && it.args.as_slice() == args
        };
        if let Some(it) = contexts.of(function).iter().find(is_solved) {
            return Some(AskAnswer { context: it.id, results: it.results.clone(), joined: None });
        }
        let transcript = self.calls.transcripts.get(&first)?;
        if !self.calls.graph.is_recursive(function) {
            let entries = transcript.entries[..n_standing].iter().rev();
            let last = entries.filter(|it| it.function == function).find_map(|it| {
                let joined = it.joined.as_ref()?;
                Some((it.context, &joined.joined_args, &joined.results))
            });
            if let Some((context, level, results)) = last {
                let rises = |(now, by): (&A::Fact, &A::Fact)| {
                    let by = self.unbounded(by);
                    now.clone().join(&by) == Changed::Yes
                };
                if !level.iter().zip(args).any(rises) {
                    let (results, joined) = (results.clone(), Some(args.into()));
                    return Some(AskAnswer { context, results, joined });
                }
            }
        }
        let is_next = transcript.entries.get(n_standing).is_some_and(|it| {
            let recorded = match &it.joined {
                Some(joined) => Some(&joined.args),
                None => contexts.get((function, it.context)).map(|it| &it.args),
            };
            it.function == function && recorded.is_some_and(|it| it.as_slice() == args)
        });
        if !is_next {
            self.evaluate_again(ir, first, n_standing, Vec::new());
            return None;
        }
        with_growing_stack(|| self.replay_entry(ir, first, n_standing))
    }

    /// Repeats the requests of an entry of a component. Returns the answer of the entry if all
    /// requests get the same answers as before; otherwise the component is evaluated from now on.
    fn replay_entry(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        first: Op,
        at: usize,
    ) -> Option<AskAnswer<A::Fact>> {
        let transcript = self.calls.transcripts.get(&first)?;
        let (requests, entry) = (transcript.requests_of(at), &transcript.entries[at]);
        let (key, is_apart) = ((entry.function, entry.context), entry.joined.is_none());
        let contexts = self.calls.contexts.of(key.0).iter();
        let n_apart = contexts.filter(|it| !it.is_joined && (it.entry as usize) < at).count();
        if is_apart && n_apart >= self.calls.n_apart() {
            self.evaluate_again(ir, first, at, Vec::new());
            return None;
        }
        let (depth, asker) = (self.calls.depth, self.calls.asker);
        if depth > MAX_CALL_DEPTH {
            self.calls.give_up_by_rank();
        }
        let mut differs = None;
        for it in requests.clone() {
            if self.calls.has_given_up() {
                break;
            }
            let call = self.calls.transcripts.get(&first)?.requests[it].call;
            self.calls.depth = depth + 1 + n_regions_around(ir, call);
            if let Some(request) = self.request_again(ir, first, it) {
                differs = Some((it, request));
                break;
            }
        }
        (self.calls.depth, self.calls.asker) = (depth, asker);
        let transcript = self.calls.transcripts.get(&first)?;
        if let Some((it, request)) = differs {
            let mut answered = transcript.requests[requests.start..it].to_vec();
            answered.push(request);
            self.evaluate_again(ir, first, at, answered);
            return None;
        }
        self.calls.replay.as_mut()?.components.entry(first).or_default().n_valid_entries = at + 1;
        let (results, joined) = match &transcript.entries[at].joined {
            Some(it) => (it.results.clone(), Some(it.args.clone())),
            None => (self.calls.contexts.get(key)?.results.clone(), None),
        };
        Some(AskAnswer { context: key.1, results, joined })
    }

    /// Repeats a request of a component. Returns the new request if the answer differs.
    fn request_again(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        first: Op,
        at: usize,
    ) -> Option<Request<A::Fact>> {
        let calls = &self.calls;
        let request = &calls.transcripts.get(&first)?.requests[at];
        let Request { asker, call, callee, context: id, .. } = *request;
        let replay = calls.replay.as_ref()?;
        let context = match replay.n_valid_entries(calls.graph.first(callee)) {
            Some(n_standing) => {
                let context = calls.contexts.get((callee, id));
                if calls.is_transcript_valid(callee, true) {
                    let is_same = match (&request.joined, context) {
                        (Some(_), _) => request.n_entries == n_standing,
                        (None, it) => it.is_some_and(|it| (it.entry as usize) < n_standing),
                    };
                    if is_same {
                        return None;
                    }
                }
                context
            }
            None => replay.former((callee, id)),
        };
        let (args, former) = match (&request.joined, context) {
            (Some(it), _) => (it.args.clone(), it.results.clone()),
            (None, Some(it)) => (it.args.clone(), it.results.clone()),
            (None, None) => {
                self.calls.give_up_by_rank();
                return None;
            }
        };
        let was_joined = request.joined.is_some();
        self.calls.asker = Some((unit_of(ir, call), asker));
        let AskAnswer { context, results, joined } = self.answer(ir, callee, args, Some(call));
        let is_same = context == id && results == former && joined.is_some() == was_joined;
        let n_entries = self.calls.n_entries(callee);
        if is_same {
            let transcript = self.calls.transcripts.get_mut(&first)?;
            transcript.requests[at].n_entries = n_entries;
            return None;
        }
        let joined =
            joined.map(|args| Box::new(JoinedAsk { args, results, joined_args: Facts::new() }));
        Some(Request { asker, call, callee, context, n_entries, joined })
    }

    /// Evaluates a component from its first entry on. The first `n_entries` entries get the
    /// recorded answers, and the next entry gets `answered`. All later requests are asked.
    fn evaluate_again(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        first: Op,
        n_entries: usize,
        answered: Vec<Request<A::Fact>>,
    ) {
        let Some(replay) = self.calls.replay.as_mut() else { return };
        let machine = replay.components.entry(first).or_default();
        if std::mem::replace(&mut machine.is_evaluated, true) {
            return;
        }
        let members = self.calls.members(first);
        let transcript = self.calls.transcripts.remove(&first);
        self.calls.transcripts.insert(first, Box::new(Transcript::new(members.clone())));
        for &member in &members {
            self.remember(ir, member);
            let calls = &mut self.calls;
            let contexts = calls.contexts.take(member);
            if member != first {
                // Before the edit, the member may have been a separate component.
                calls.transcripts.remove(&member);
            }
            calls.contexts.forget_asks(member, &contexts);
            if let Some(replay) = &mut calls.replay {
                replay.former.insert(member, contexts);
            }
            calls.ordered.remove(member);
            calls.uncalled.remove(&member);
            calls.spent.remove(&member);
            self.reset_function(ir, member);
            if self.calls.is_followed_function(ir, member) {
                self.begin_function(ir, member);
            }
        }
        let transcript = transcript.filter(|_| n_entries > 0);
        let (depth, asker) = (self.calls.depth, self.calls.asker.take());
        for at in 0..transcript.as_ref().map_or(0, |_| n_entries) {
            let Some(transcript) = &transcript else { break };
            let entry = &transcript.entries[at];
            let requests = transcript.requests[transcript.requests_of(at)].to_vec();
            self.calls.answer_with(first, requests, true);
            let replay = self.calls.replay.as_ref();
            let former = replay.and_then(|it| it.former((entry.function, entry.context)));
            let args = match (&entry.joined, former) {
                (Some(it), _) => it.args.clone(),
                (None, Some(it)) => it.args.clone(),
                (None, None) => return self.calls.give_up_by_rank(),
            };
            self.enter_again(ir, entry.function, args);
        }
        (self.calls.depth, self.calls.asker) = (depth, asker);
        self.calls.answer_with(first, answered, false);
        let calls = &mut self.calls;
        for member in members {
            for context in calls.contexts.of_mut(member) {
                let replay = calls.replay.as_ref();
                let former = replay.and_then(|it| it.former((member, context.id)));
                context.is_assumed = former.is_some_and(|it| it.is_assumed);
            }
        }
    }

    /// Evaluates an entry of a component again.
    fn enter_again(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op, args: Facts<A::Fact>) {
        let asked = args.clone();
        let key = self.context_for(function, args, false);
        let is_joined = self.calls.contexts.get(key).is_some_and(|it| it.is_joined);
        self.calls.note_entry(key, is_joined.then_some(&asked));
        with_growing_stack(|| self.solve_context(ir, key));
        if is_joined {
            let results = self.calls.contexts.get(key).map(|it| it.results.clone());
            self.calls.note_entry_results(function, &results.unwrap_or_default());
        }
    }
}

/// Number of regions between an op and its unit.
fn n_regions_around(ir: &Ir, op: Op) -> usize {
    let unit = unit_of(ir, op);
    std::iter::successors(Some(op), |&it| ir.parent_op(it)).take_while(|&it| it != unit).count()
}
