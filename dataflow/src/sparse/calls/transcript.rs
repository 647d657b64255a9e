//! Transcripts: all asks to a component of the call graph from outside, and all asks of the
//! component to other components meanwhile.
//!
//! # Law
//!
//! A component is a deterministic machine: its answers, its requests and its facts depend only on
//! the texts of its functions, on the sequence of asks up to now, and on the answers of other
//! components. Its transcript records this: an *entry* for each ask that caused an evaluation, with
//! the *requests* to other components during this evaluation. An ask for a solved context changes
//! nothing and is not an entry. So a component whose transcript is still valid after an edit of
//! other units keeps its facts (`replay.rs`).
//!
//! Redundant requests are left out: a repeated request of the same call in the same context for a
//! context that is not joined, and a repeated request for joined vectors with the same answer
//! within the same entry.
//!
//! *Cost.* One record for each ask that is not left out. A record contains facts only for joined
//! vectors. A function without calls and callers has no transcript; if an edit connects it, it is
//! evaluated again.

use noisy_syntax::Op;
use smallvec::SmallVec;

use super::FollowedCalls;
use super::context::ContextKey;
use super::small_map::Facts;

/// Number of recent requests that are searched for an equal one, because a call in a loop repeats
/// its requests.
const SEARCHED: usize = 32;

/// Arguments that a call passed to the joined context, and the results that it got.
#[derive(Clone, Debug)]
pub(super) struct JoinedAsk<F> {
    pub(super) args: Facts<F>,
    pub(super) results: Facts<F>,
    /// In an entry: the arguments of the joined context after joining `args`.
    pub(super) joined_args: Facts<F>,
}

/// An ask for a context that the component had to evaluate.
#[derive(Debug)]
pub(super) struct TranscriptEntry<F> {
    pub(super) function: Op,
    pub(super) context: u32,
    pub(super) joined: Option<Box<JoinedAsk<F>>>,
    /// Index of the first request. The requests end at the first request of the next entry.
    pub(super) first_request: usize,
}

/// An ask of a context of the component for a context of another component.
#[derive(Clone, Debug)]
pub(super) struct Request<F> {
    /// Id of the context around the call.
    pub(super) asker: u32,
    pub(super) call: Op,
    pub(super) callee: Op,
    pub(super) context: u32,
    /// Number of entries of the other component after its answer.
    pub(super) n_entries: usize,
    pub(super) joined: Option<Box<JoinedAsk<F>>>,
}

/// The transcript of a component. Most have one function, one entry and one request.
#[derive(Debug)]
pub(super) struct Transcript<F> {
    /// Functions of the component, in the order of their ids.
    pub(super) members: SmallVec<[Op; 1]>,
    pub(super) entries: SmallVec<[TranscriptEntry<F>; 1]>,
    pub(super) requests: SmallVec<[Request<F>; 1]>,
}

impl<F> Transcript<F> {
    pub(super) fn new(members: SmallVec<[Op; 1]>) -> Self {
        Self { members, entries: SmallVec::new(), requests: SmallVec::new() }
    }

    /// Returns the indices of the requests of an entry.
    pub(super) fn requests_of(&self, entry: usize) -> std::ops::Range<usize> {
        let end = self.entries.get(entry + 1).map_or(self.requests.len(), |it| it.first_request);
        self.entries[entry].first_request..end
    }
}

/// The answer to an ask.
#[derive(Debug)]
pub(super) struct AskAnswer<F> {
    /// Id of the context of the callee.
    pub(super) context: u32,
    pub(super) results: Facts<F>,
    /// The passed arguments, if they were joined with others.
    pub(super) joined: Option<Facts<F>>,
}

impl<F> FollowedCalls<F> {
    /// Returns the functions of the component of a function.
    pub(super) fn members(&self, function: Op) -> SmallVec<[Op; 1]> {
        let of = self.graph.component(self.graph.rank(function));
        SmallVec::from_slice(if of.is_empty() { std::slice::from_ref(&function) } else { of })
    }

    /// Removes the transcript of the component of a function, because its facts are computed in
    /// another order.
    pub(super) fn forget_transcript(&mut self, function: Op) {
        self.transcripts.remove(&self.graph.first(function));
        self.transcripts.remove(&function);
    }

    /// Records that the facts of a function and of its component depend on the order of calls.
    pub(super) fn note_ordered(&mut self, function: Op) {
        self.ordered.insert(&self.graph, function);
    }

    /// Returns the number of entries of the component of a function.
    pub(super) fn n_entries(&self, function: Op) -> usize {
        let first = self.graph.first(function);
        if let Some(n) = self.replay.as_ref().and_then(|it| it.n_valid_entries(first)) {
            return n;
        }
        self.transcripts.get(&first).map_or(0, |it| it.entries.len())
    }
}

impl<F: Clone + PartialEq> FollowedCalls<F> {
    /// Returns the transcript of the component of a function, if it is being written.
    fn transcript(&mut self, function: Op) -> Option<&mut Transcript<F>> {
        // No call asks for a function outside of the call graph.
        if self.n_apart() == 0 || !self.graph.contains(function) {
            return None;
        }
        let first = self.graph.first(function);
        if self.replay.as_ref().is_some_and(|it| !it.is_evaluated(first)) {
            return None;
        }
        // Components that are evaluated by rank get no new transcript.
        if !self.may_join() {
            return self.transcripts.get_mut(&first).map(Box::as_mut);
        }
        let members = self.members(function);
        let new = || Box::new(Transcript::new(members));
        Some(self.transcripts.entry(first).or_insert_with(new))
    }

    /// Records that a context will be evaluated because another component asks for it, or because
    /// it is assumed. `asked` are the arguments if they are joined with others.
    pub(super) fn note_entry(&mut self, key: ContextKey, asked: Option<&[F]>) {
        let joined = asked.map(|it| {
            let level = self.contexts.get(key).map(|it| it.args.clone()).unwrap_or_default();
            Box::new(JoinedAsk { args: Facts::from(it), results: Facts::new(), joined_args: level })
        });
        let (function, context) = key;
        let Some(transcript) = self.transcript(function) else { return };
        let (at, first_request) = (transcript.entries.len(), transcript.requests.len());
        transcript.entries.push(TranscriptEntry { function, context, joined, first_request });
        if let Some(context) = self.contexts.get_mut(key) {
            context.entry = at as u32;
        }
    }

    /// Records the results of the joined context that was evaluated last.
    pub(super) fn note_entry_results(&mut self, function: Op, results: &[F]) {
        let entry = self.transcript(function).and_then(|it| it.entries.last_mut());
        if let Some(joined) = entry.and_then(|it| it.joined.as_mut()) {
            joined.results = results.into();
        }
    }

    /// Records the answer of another component. `is_new` is true if the call asks for this context
    /// for the first time.
    pub(super) fn note_request(
        &mut self,
        asker: ContextKey,
        call: Op,
        callee: Op,
        answer: &AskAnswer<F>,
        is_new: bool,
    ) {
        if !is_new && answer.joined.is_none() {
            return;
        }
        let n_entries = self.n_entries(callee);
        let Some(transcript) = self.transcript(asker.0) else { return };
        let joined = answer.joined.as_ref().map(|args| {
            let (args, results) = (args.clone(), answer.results.clone());
            Box::new(JoinedAsk { args, results, joined_args: Facts::new() })
        });
        let request =
            Request { asker: asker.1, call, callee, context: answer.context, n_entries, joined };
        if let Some(joined) = &request.joined
            && let Some(entry) = transcript.entries.last()
        {
            let is_same = |it: &&Request<F>| {
                (it.asker, it.call, it.context) == (request.asker, call, request.context)
                    && it.joined.as_ref().is_some_and(|it| it.args == joined.args)
            };
            let requests = &transcript.requests[entry.first_request..];
            let last = requests.iter().rev().take(SEARCHED).find(is_same);
            let last = last.and_then(|it| it.joined.as_ref());
            if last.is_some_and(|it| it.results == joined.results) {
                return;
            }
        }
        transcript.requests.push(request);
    }
}
