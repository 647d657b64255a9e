//! From an edit outward, through functions whose facts depend on the order of calls: all asks among the connected units are made again in
//! the order of a solution from scratch, and a component is evaluated only where its transcript (`transcript.rs`) does not hold any more.
//!
//! # Law
//!
//! The units are gone through as from scratch. When a component is asked for what its next entry records, the requests of this entry are
//! made again. If they get the same answers, the component does and answers the same as before, and its functions are not looked at. A
//! context that is solved already is answered from the transcript. At the first difference the component is evaluated from its first entry
//! on: with the recorded answers up to the difference, and with new ones from there on. So evaluating more than necessary is always
//! allowed, and what is not evaluated was compared. A component that the edit touches is evaluated anew, and one with entries that no ask
//! came to is evaluated up to these entries.
//!
//! *Cost.* In visits, the cost of the components that the edit touches, or that are asked for or answered something else or in another
//! order, from their first entry on; besides, a look at each call of the connected units for each context that it asks for.
//!
//! If calls nest too deep or the budget of a recursion is spent, all connected units are solved as from scratch.

use noisy_syntax::{Ir, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::call_index::unit_of;
use super::context::{Ask, Asker, Context, MAX_DEPTH, with_stack};
use super::few::{Facts, FewMap};
use super::transcript::{Answer, Joined, Request, Transcript};
use super::{Domain, Input, Observer, Sparse, SparseForward};
use crate::flow;
use crate::lattice::{Changed, Lattice};

/// How far a component has come.
#[derive(Debug)]
struct Machine<F> {
    /// How many entries of its transcript stood.
    n_found: usize,
    /// Whether it is evaluated: its transcript is written anew.
    is_live: bool,
    /// The requests of the entry that is evaluated that were answered before, and how many of them were made again.
    answered: Vec<Request<F>>,
    n_made: usize,
    /// Whether these are all requests of the entry.
    is_whole: bool,
}

impl<F> Default for Machine<F> {
    fn default() -> Self {
        Self { n_found: 0, is_live: false, answered: Vec::new(), n_made: 0, is_whole: false }
    }
}

/// An edit that is replayed.
#[derive(Debug)]
pub(super) struct Replay<F> {
    /// By the first function of each component; one that is not there was not asked for anything.
    machines: FxHashMap<Op, Machine<F>>,
    /// The contexts that functions of live components had before.
    former: FxHashMap<Op, Vec<Context<F>>>,
    /// Functions that were followed op by op: what they return is not known.
    by_itself: FxHashSet<Op>,
}

impl<F: PartialEq> Replay<F> {
    /// Whether a component is evaluated.
    pub(super) fn is_live(&self, first: Op) -> bool {
        self.machines.get(&first).is_some_and(|it| it.is_live)
    }

    /// How many entries of a component stood so far, if it is not evaluated.
    pub(super) fn n_found(&self, first: Op) -> Option<usize> {
        let machine = self.machines.get(&first);
        machine.map_or(Some(0), |it| (!it.is_live).then_some(it.n_found))
    }

    /// The number that a context of a live component had before.
    pub(super) fn id_of(&self, function: Op, args: &[F], is_joined: bool) -> Option<u32> {
        let of = |it: &&Context<F>| {
            it.is_joined == is_joined && (is_joined || it.args.as_slice() == args)
        };
        Some(self.former.get(&function)?.iter().find(of)?.id)
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Solves the connected units again of which the edit touched some. Whether that was possible; if not, they must be solved as from scratch.
    pub(super) fn replay(&mut self, ir: &Input<'_, A::Base>, touched: &[Op]) -> bool {
        let mut connected: FxHashSet<Op> = FxHashSet::default();
        let unused = self.contexts.unused.iter().map(|it| it.0);
        let mut first: Vec<Op> = touched.iter().copied().chain(unused).collect();
        while let Some(unit) = first.pop() {
            if !ir.is_alive(unit) || connected.contains(&unit) {
                continue;
            }
            for unit in self.call_index.component(ir, unit) {
                // What was called before the edit may be connected to nothing now.
                first.extend(self.asked_by(unit));
                connected.insert(unit);
            }
        }
        let mut connected: Vec<Op> = connected.into_iter().collect();
        connected.sort_by_cached_key(|&it| ir.start(it));
        if self.contexts.is_cut || connected.iter().any(|it| self.contexts.spent.contains(it)) {
            return false;
        }
        let by_itself = connected.iter().copied().filter(|&it| self.has_one_context(it)).collect();
        let (machines, former) = (FxHashMap::default(), FxHashMap::default());
        self.contexts.replay = Some(Replay { machines, former, by_itself });
        for &unit in &connected {
            // What several functions are that nothing calls is not in the transcript of all.
            let is_alone = self.members(self.call_graph.first(unit)).len() == 1;
            let is_uncalled = self.contexts.uncalled.contains(&unit);
            if !self.is_followed(ir, unit) || touched.contains(&unit) || is_uncalled && !is_alone {
                self.evaluate_again(ir, self.call_graph.first(unit), 0, Vec::new());
            }
            for context in self.contexts.of.get_mut(&unit).into_iter().flatten() {
                context.is_assumed &= is_uncalled && is_alone;
            }
        }
        let (functions, others): (Vec<Op>, Vec<Op>) =
            connected.iter().partition(|&&it| self.is_followed(ir, it));
        for unit in others {
            self.run_whole(ir, unit);
        }
        let live = self.run_open(ir, functions);
        for &unit in &connected {
            self.leave_out_rest(ir, unit);
        }
        self.run_uncalled(ir, live);
        self.contexts.replay = None;
        if self.gives_up() || self.contexts.is_cut {
            return false;
        }
        if connected.iter().any(|it| self.contexts.spent.contains(it)) {
            return false;
        }
        self.count_askers(&connected);
        self.contexts.unused.clear();
        true
    }

    /// The functions that a unit asks for something.
    fn asked_by(&self, unit: Op) -> Vec<Op> {
        let ids = self.contexts.of.get(&unit).into_iter().flatten().map(|it| it.id);
        let asks = ids.chain([0]).filter_map(|id| self.contexts.asks.get(&(unit, id)));
        asks.flat_map(FewMap::iter).map(|it| it.0.callee).collect()
    }

    /// Entries that nobody came to are left out.
    fn leave_out_rest(&mut self, ir: &Input<'_, A::Base>, unit: Op) {
        let first = self.call_graph.first(unit);
        let n_found = self.contexts.replay.as_ref().and_then(|it| it.n_found(first));
        let Some(n_found) = n_found.filter(|_| !self.gives_up()) else { return };
        if n_found == 0 && self.contexts.uncalled.contains(&unit) {
            return;
        }
        let transcript = self.contexts.transcripts.get(&first);
        let transcript = transcript.filter(|it| it.members == self.members(first));
        let is_left = n_found < transcript.map_or(0, |it| it.entries.len());
        if is_left || n_found == 0 && self.contexts.of.contains_key(&unit) {
            self.evaluate_again(ir, first, n_found, Vec::new());
        }
    }

    /// Notes again who asks for which context of these units.
    fn count_askers(&mut self, units: &[Op]) {
        let mut askers: Vec<Asker> = Vec::new();
        for &unit in units {
            askers.push((unit, 0));
            for context in self.contexts.of.get_mut(&unit).into_iter().flatten() {
                context.askers.clear();
                askers.push((unit, context.id));
            }
        }
        askers.dedup();
        for asker in askers {
            let asks = self.contexts.asks.get(&asker).into_iter().flat_map(FewMap::iter);
            for (Ask { call, callee, context }, ()) in asks {
                let contexts = self.contexts.of.get_mut(&callee).into_iter().flatten();
                for context in contexts.filter(|it| it.id == context) {
                    context.asked_by(call, asker.0);
                }
            }
        }
    }

    /// What a component answers that is asked for something from outside of it: by what is recalled of it, or by its transcript. `None` if
    /// it is evaluated.
    #[inline(never)]
    pub(super) fn replayed(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        args: &[A::Fact],
        call: Option<Op>,
    ) -> Option<Answer<A::Fact>> {
        if self.gives_up() {
            let results = smallvec![A::Fact::unknown(); flow::n_results(ir, function)];
            return Some(Answer { context: 0, results, joined: None });
        }
        let caller = call.and(self.contexts.asker);
        let answer = match (caller, call) {
            (Some(caller), Some(call)) => self.answered_before(caller, call, function, args),
            _ => None,
        };
        let answer = match answer {
            Some(it) => it,
            None => self.answer_standing(ir, function, args, call)?,
        };
        let contexts = self.contexts.of.get_mut(&function).map_or(&mut [][..], Vec::as_mut_slice);
        let at = contexts.iter().position(|it| it.id == answer.context)?;
        contexts[at].is_assumed |= call.is_none();
        if let Some(call) = call {
            let is_new = self.note_ask(ir, call, function, at);
            if let Some(caller) = caller {
                self.note_request(caller, call, function, &answer, is_new);
            }
        }
        Some(answer)
    }

    /// What a component that is evaluated again was answered before, up to where that is known.
    fn answered_before(
        &mut self,
        caller: Asker,
        call: Op,
        function: Op,
        args: &[A::Fact],
    ) -> Option<Answer<A::Fact>> {
        let first = self.call_graph.first(caller.0);
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        let machine = self.contexts.replay.as_mut()?.machines.get_mut(&first)?;
        if !machine.is_live || !machine.is_whole && machine.n_made == machine.answered.len() {
            return None;
        }
        let context = |id: u32| contexts.iter().find(|it| it.id == id);
        let is_it = |it: &Request<A::Fact>| {
            (it.asker, it.call, it.callee) == (caller.1, call, function)
                && match &it.joined {
                    Some(joined) => joined.args.as_slice() == args,
                    None => context(it.context).is_some_and(|it| it.args.as_slice() == args),
                }
        };
        let found = if machine.answered.get(machine.n_made).is_some_and(is_it) {
            machine.n_made += 1;
            Some(machine.n_made - 1)
        } else {
            machine.answered[..machine.n_made].iter().rposition(is_it)
        };
        if let Some(found) = found {
            let request = &machine.answered[found];
            let id = request.context;
            return Some(match &request.joined {
                Some(it) => {
                    let (args, results) = (it.args.clone(), it.results.clone());
                    Answer { context: id, results, joined: Some(args) }
                }
                None => {
                    let results = context(id).map(|it| it.results.clone())?;
                    Answer { context: id, results, joined: None }
                }
            });
        }
        // It was asked for in an earlier entry.
        let asks = self.contexts.asks.get(&caller);
        let again = contexts.iter().find(|it| {
            let ask = Ask { call, callee: function, context: it.id };
            !it.is_joined
                && it.args.as_slice() == args
                && asks.is_some_and(|asks| asks.contains(ask))
        });
        let answer =
            again.map(|it| Answer { context: it.id, results: it.results.clone(), joined: None });
        if answer.is_none() {
            self.give_up_edit();
        }
        answer
    }

    /// What a component answers by its transcript. `None` if it is evaluated, or must be from now on.
    fn answer_standing(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        args: &[A::Fact],
        call: Option<Op>,
    ) -> Option<Answer<A::Fact>> {
        let first = self.call_graph.first(function);
        let n_found = self.contexts.replay.as_ref()?.n_found(first)?;
        if !self.stands(function, call.is_some()) {
            self.evaluate_again(ir, first, n_found, Vec::new());
            return None;
        }
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        let is_solved = |it: &&Context<A::Fact>| {
            !it.is_joined && (it.entry as usize) < n_found && it.args.as_slice() == args
        };
        if let Some(it) = contexts.iter().find(is_solved) {
            return Some(Answer { context: it.id, results: it.results.clone(), joined: None });
        }
        let transcript = self.contexts.transcripts.get(&first)?;
        if !self.call_graph.is_recursive(function) {
            let entries = transcript.entries[..n_found].iter().rev();
            let last = entries.filter(|it| it.function == function).find_map(|it| {
                let joined = it.joined.as_ref()?;
                Some((it.context, &joined.level, &joined.results))
            });
            if let Some((context, level, results)) = last {
                let rises = |(now, by): (&A::Fact, &A::Fact)| {
                    let by = self.unbounded(by);
                    now.clone().join(&by) == Changed::Yes
                };
                if !level.iter().zip(args).any(rises) {
                    let (results, joined) = (results.clone(), Some(args.into()));
                    return Some(Answer { context, results, joined });
                }
            }
        }
        let is_next = transcript.entries.get(n_found).is_some_and(|it| {
            it.function == function
                && match &it.joined {
                    Some(joined) => joined.args.as_slice() == args,
                    None => {
                        contexts.iter().any(|of| of.id == it.context && of.args.as_slice() == args)
                    }
                }
        });
        if !is_next {
            self.evaluate_again(ir, first, n_found, Vec::new());
            return None;
        }
        with_stack(|| self.replay_entry(ir, first, n_found))
    }

    /// Whether the transcript of a function says what it does; `is_called`: by a call.
    fn stands(&self, function: Op, is_called: bool) -> bool {
        let first = self.call_graph.first(function);
        let is_by_itself = |it: &Replay<A::Fact>| it.by_itself.contains(&function);
        let is_doubtful = is_called && self.contexts.replay.as_ref().is_some_and(is_by_itself)
            || self.contexts.uncalled.contains(&function);
        let transcript = self.contexts.transcripts.get(&first);
        !is_doubtful && transcript.is_some_and(|it| it.members == self.members(first))
    }

    /// Makes the requests of the next entry of a component again. What it answers if all are answered as before; otherwise the component is
    /// evaluated from now on.
    fn replay_entry(
        &mut self,
        ir: &Input<'_, A::Base>,
        first: Op,
        at: usize,
    ) -> Option<Answer<A::Fact>> {
        let transcript = self.contexts.transcripts.get(&first)?;
        let (requests, entry) = (transcript.requests_of(at), &transcript.entries[at]);
        let (function, context, is_apart) = (entry.function, entry.context, entry.joined.is_none());
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        let n_apart =
            contexts.iter().filter(|it| !it.is_joined && (it.entry as usize) < at).count();
        if is_apart && n_apart >= self.apart() {
            self.evaluate_again(ir, first, at, Vec::new());
            return None;
        }
        let (depth, asker) = (self.contexts.depth, self.contexts.asker);
        if depth > MAX_DEPTH {
            self.give_up_edit();
        }
        let mut differs = None;
        for it in requests.clone() {
            if self.gives_up() {
                break;
            }
            self.contexts.depth = depth + 1 + n_regions_around(ir, self.call_of(first, it)?);
            if let Some(request) = self.request_again(ir, first, it) {
                differs = Some((it, request));
                break;
            }
        }
        (self.contexts.depth, self.contexts.asker) = (depth, asker);
        if let Some((it, request)) = differs {
            let transcript = self.contexts.transcripts.get(&first)?;
            let mut answered = transcript.requests[requests.start..it].to_vec();
            answered.push(request);
            self.evaluate_again(ir, first, at, answered);
            return None;
        }
        self.contexts.replay.as_mut()?.machines.entry(first).or_default().n_found = at + 1;
        let joined = self.contexts.transcripts.get(&first)?.entries[at].joined.as_ref();
        if let Some(it) = joined {
            let (args, results) = (it.args.clone(), it.results.clone());
            return Some(Answer { context, results, joined: Some(args) });
        }
        let contexts = self.contexts.of.get(&function)?;
        let results = contexts.iter().find(|it| it.id == context)?.results.clone();
        Some(Answer { context, results, joined: None })
    }

    fn call_of(&self, first: Op, request: usize) -> Option<Op> {
        Some(self.contexts.transcripts.get(&first)?.requests[request].call)
    }

    /// Makes a request of a component again. The request as it is now if it is answered something else.
    fn request_again(
        &mut self,
        ir: &Input<'_, A::Base>,
        first: Op,
        at: usize,
    ) -> Option<Request<A::Fact>> {
        let request = &self.contexts.transcripts.get(&first)?.requests[at];
        let (asker, call, callee, id) =
            (request.asker, request.call, request.callee, request.context);
        let replay = self.contexts.replay.as_ref()?;
        let of_callee = self.call_graph.first(callee);
        let contexts = self.contexts.of.get(&callee).into_iter();
        let former = replay.former.get(&callee).into_iter();
        let context = match replay.n_found(of_callee) {
            Some(n_found) if self.stands(callee, true) => {
                let context = contexts.flatten().find(|it| it.id == id);
                match (&request.joined, context) {
                    (Some(_), _) if request.n_entries == n_found => return None,
                    (None, Some(it)) if (it.entry as usize) < n_found => return None,
                    _ => context,
                }
            }
            Some(_) => contexts.flatten().find(|it| it.id == id),
            None => former.flatten().find(|it| it.id == id),
        };
        let (args, former) = match (&request.joined, context) {
            (Some(it), _) => (it.args.clone(), it.results.clone()),
            (None, Some(it)) => (it.args.clone(), it.results.clone()),
            (None, None) => {
                self.give_up_edit();
                return None;
            }
        };
        let was_joined = request.joined.is_some();
        self.contexts.asker = Some((unit_of(ir, call), asker));
        let Answer { context, results, joined } = self.answer(ir, callee, args, Some(call));
        let is_same = context == id && results == former && joined.is_some() == was_joined;
        let n_entries = self.n_entries(callee);
        if is_same {
            let transcript = self.contexts.transcripts.get_mut(&first)?;
            transcript.requests[at].n_entries = n_entries;
            return None;
        }
        let joined = joined.map(|args| Box::new(Joined { args, results, level: Facts::new() }));
        Some(Request { asker, call, callee, context, n_entries, joined })
    }

    /// A component is evaluated from its first entry on, with the answers that it got up to an entry, and of that entry with these. From then
    /// on it asks.
    fn evaluate_again(
        &mut self,
        ir: &Input<'_, A::Base>,
        first: Op,
        n_entries: usize,
        answered: Vec<Request<A::Fact>>,
    ) {
        let Some(replay) = self.contexts.replay.as_mut() else { return };
        let machine = replay.machines.entry(first).or_default();
        if std::mem::replace(&mut machine.is_live, true) {
            return;
        }
        let members = self.members(first);
        let transcript = self.contexts.transcripts.remove(&first);
        self.contexts.transcripts.insert(first, Box::new(Transcript::new(members.clone())));
        for &member in &members {
            self.remember(ir, member);
            let contexts = self.contexts.of.remove(&member).unwrap_or_default();
            if member != first {
                // It may have been a component of its own.
                self.contexts.transcripts.remove(&member);
            }
            self.contexts.asks.remove(&(member, 0));
            for context in &contexts {
                self.contexts.asks.remove(&(member, context.id));
            }
            if let Some(replay) = &mut self.contexts.replay {
                replay.former.insert(member, contexts);
            }
            self.contexts.ordered.remove(member);
            self.contexts.uncalled.remove(&member);
            self.reset_function(ir, member);
            if self.is_followed(ir, member) {
                self.begin_function(ir, member);
            }
        }
        let transcript = transcript.filter(|_| n_entries > 0);
        let (depth, asker) = (self.contexts.depth, self.contexts.asker.take());
        for at in 0..transcript.as_ref().map_or(0, |_| n_entries) {
            let Some(transcript) = &transcript else { break };
            let entry = &transcript.entries[at];
            let requests = transcript.requests[transcript.requests_of(at)].to_vec();
            self.answer_with(first, requests, true);
            let replay = self.contexts.replay.as_ref();
            let contexts =
                replay.and_then(|it| it.former.get(&entry.function)).into_iter().flatten();
            let mut of = contexts.filter(|it| it.id == entry.context);
            let args = match (&entry.joined, of.next()) {
                (Some(it), _) => it.args.clone(),
                (None, Some(it)) => it.args.clone(),
                (None, None) => return self.give_up_edit(),
            };
            self.enter_again(ir, entry.function, args);
        }
        (self.contexts.depth, self.contexts.asker) = (depth, asker);
        self.answer_with(first, answered, false);
        for member in members {
            let former = self.contexts.replay.as_ref().and_then(|it| it.former.get(&member));
            let contexts = self.contexts.of.get_mut(&member).into_iter().flatten();
            for context in contexts {
                let mut former = former.into_iter().flatten();
                context.is_assumed = former.any(|it| it.id == context.id && it.is_assumed);
            }
        }
    }

    fn answer_with(&mut self, first: Op, answered: Vec<Request<A::Fact>>, is_whole: bool) {
        let Some(replay) = self.contexts.replay.as_mut() else { return };
        let machine = replay.machines.entry(first).or_default();
        (machine.answered, machine.n_made, machine.is_whole) = (answered, 0, is_whole);
    }

    /// Evaluates what an entry asks for.
    fn enter_again(&mut self, ir: &Input<'_, A::Base>, function: Op, args: Facts<A::Fact>) {
        let asked = args.clone();
        let at = self.context_for(function, args, false);
        let Some(context) = self.context(function, at) else { return };
        let (id, is_joined) = (context.id, context.is_joined);
        self.note_entry(function, id, is_joined.then_some(&asked));
        with_stack(|| self.solve_context(ir, function, at));
        if is_joined {
            let contexts = self.contexts.of.get(&function).into_iter().flatten();
            let results = contexts.filter(|it| it.id == id).map(|it| it.results.clone()).next();
            self.note_entry_results(function, &results.unwrap_or_default());
        }
    }
}

/// How many regions of its unit are around an op.
fn n_regions_around(ir: &Ir, op: Op) -> usize {
    let unit = unit_of(ir, op);
    std::iter::successors(Some(op), |&it| ir.parent_op(it)).take_while(|&it| it != unit).count()
}
