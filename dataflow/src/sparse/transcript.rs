//! What the functions of a component were asked for from outside of it, and what they asked other components for meanwhile.
//!
//! # Law
//!
//! A component of the call graph is a machine: its answers, its requests and its facts depend only on the texts of its functions, on the
//! asks so far, in this order, and on the answers of others. Its *transcript* records all of that: an *entry* for each ask for which
//! something had to be evaluated, with the *requests* to other components that this led to. An ask for a context that is solved is no
//! entry, for it changes nothing. So a component whose transcript still holds after an edit of others keeps its facts (`replay.rs`).
//!
//! A request that adds nothing is left out: one for a context that is not joined and that the same call of the same context asked for
//! before, or one for joined vectors with the same answer within the same entry.
//!
//! *Cost.* A record for each ask that is not left out; it holds facts for joined vectors only. A function that calls nothing and that
//! nothing calls has no transcript; if an edit connects it, it is evaluated again.

use noisy_syntax::Op;
use smallvec::SmallVec;

use super::context::Asker;
use super::few::Facts;
use super::{Observer, Sparse, SparseForward};

/// How many requests are looked through for one that says the same: a call in a loop asks again and again.
const LOOKED_BACK: usize = 32;

/// What was passed to joined vectors, and what came back then.
#[derive(Clone, Debug)]
pub(super) struct Joined<F> {
    pub(super) args: Facts<F>,
    pub(super) results: Facts<F>,
    /// Of an entry: what the joined vectors were then.
    pub(super) level: Facts<F>,
}

/// A component was asked for a context that it had to evaluate.
#[derive(Debug)]
pub(super) struct Entry<F> {
    pub(super) function: Op,
    pub(super) context: u32,
    pub(super) joined: Option<Box<Joined<F>>>,
    /// Where its requests start; they end where those of the next entry do.
    pub(super) first: usize,
}

/// A context of a component asked for one of another component.
#[derive(Clone, Debug)]
pub(super) struct Request<F> {
    /// The context of the function that the call stands in.
    pub(super) asker: u32,
    pub(super) call: Op,
    pub(super) callee: Op,
    pub(super) context: u32,
    /// How many entries the other component had when it had answered.
    pub(super) n_entries: usize,
    pub(super) joined: Option<Box<Joined<F>>>,
}

/// The transcript of a component.
#[derive(Debug)]
pub(super) struct Transcript<F> {
    /// The functions of the component, by number.
    pub(super) members: SmallVec<[Op; 1]>,
    /// Most components have one.
    pub(super) entries: SmallVec<[Entry<F>; 1]>,
    pub(super) requests: SmallVec<[Request<F>; 1]>,
}

impl<F> Transcript<F> {
    pub(super) fn new(members: SmallVec<[Op; 1]>) -> Self {
        Self { members, entries: SmallVec::new(), requests: SmallVec::new() }
    }

    /// Where the requests of an entry are.
    pub(super) fn requests_of(&self, entry: usize) -> std::ops::Range<usize> {
        let end = self.entries.get(entry + 1).map_or(self.requests.len(), |it| it.first);
        self.entries[entry].first..end
    }
}

/// An answer to a call: a context of the callee, and what it returns now.
#[derive(Debug)]
pub(super) struct Answer<F> {
    pub(super) context: u32,
    pub(super) results: Facts<F>,
    /// What was passed, if it is joined with others.
    pub(super) joined: Option<Facts<F>>,
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// The functions of the component that a function is the first of.
    pub(super) fn members(&self, first: Op) -> SmallVec<[Op; 1]> {
        let of = self.call_graph.component(self.call_graph.rank(first));
        if of.is_empty() { SmallVec::from_slice(&[first]) } else { SmallVec::from_slice(of) }
    }

    /// Forgets the transcript of the component of a function: its facts are made in another order.
    pub(super) fn forget_transcript(&mut self, function: Op) {
        let first = self.call_graph.first(function);
        self.contexts.transcripts.remove(&first);
        self.contexts.transcripts.remove(&function);
    }

    /// The transcript of a component that is written, if it is.
    fn transcript(&mut self, function: Op) -> Option<&mut Transcript<A::Fact>> {
        // What no call concerns is never asked for again.
        if self.apart() == 0 || !self.call_graph.contains(function) {
            return None;
        }
        let first = self.call_graph.first(function);
        if self.contexts.replay.as_ref().is_some_and(|it| !it.is_live(first)) {
            return None;
        }
        // While an edit is followed function by function, what it evaluates again has none.
        if !self.may_join() {
            return self.contexts.transcripts.get_mut(&first).map(Box::as_mut);
        }
        let members = self.members(first);
        let new = || Box::new(Transcript::new(members));
        Some(self.contexts.transcripts.entry(first).or_insert_with(new))
    }

    /// A context is about to be evaluated because another component, or nobody, asks for it; `asked` as in [`Answer::joined`].
    pub(super) fn note_entry(&mut self, function: Op, context: u32, asked: Option<&[A::Fact]>) {
        let joined = asked.map(|it| {
            let contexts = self.contexts.of.get(&function).into_iter().flatten();
            let level = contexts.filter(|it| it.id == context).map(|it| it.args.clone()).next();
            let (args, level) = (Facts::from(it), level.unwrap_or_default());
            Box::new(Joined { args, results: Facts::new(), level })
        });
        let Some(transcript) = self.transcript(function) else { return };
        let (at, first) = (transcript.entries.len(), transcript.requests.len());
        transcript.entries.push(Entry { function, context, joined, first });
        let contexts = self.contexts.of.get_mut(&function).into_iter().flatten();
        if let Some(it) = contexts.into_iter().find(|it| it.id == context) {
            it.entry = at as u32;
        }
    }

    /// What joined vectors return that were evaluated last.
    pub(super) fn note_entry_results(&mut self, function: Op, results: &[A::Fact]) {
        let entry = self.transcript(function).and_then(|it| it.entries.last_mut());
        if let Some(joined) = entry.and_then(|it| it.joined.as_mut()) {
            joined.results = results.into();
        }
    }

    /// Notes what a context of another component was answered; `is_new`: the call asks for this context for the first time.
    pub(super) fn note_request(
        &mut self,
        asker: Asker,
        call: Op,
        callee: Op,
        answer: &Answer<A::Fact>,
        is_new: bool,
    ) {
        if !is_new && answer.joined.is_none() {
            return;
        }
        let n_entries = self.n_entries(callee);
        let Some(transcript) = self.transcript(asker.0) else { return };
        let joined = answer.joined.as_ref().map(|args| {
            let (args, results) = (args.clone(), answer.results.clone());
            Box::new(Joined { args, results, level: Facts::new() })
        });
        let request =
            Request { asker: asker.1, call, callee, context: answer.context, n_entries, joined };
        if let Some(joined) = &request.joined
            && let Some(entry) = transcript.entries.last()
        {
            let is_same = |it: &&Request<A::Fact>| {
                (it.asker, it.call, it.context) == (request.asker, call, request.context)
                    && it.joined.as_ref().is_some_and(|it| it.args == joined.args)
            };
            let last =
                transcript.requests[entry.first..].iter().rev().take(LOOKED_BACK).find(is_same);
            let last = last.and_then(|it| it.joined.as_ref());
            if last.is_some_and(|it| it.results == joined.results) {
                return;
            }
        }
        transcript.requests.push(request);
    }

    /// How many entries the component of a function has.
    pub(super) fn n_entries(&self, function: Op) -> usize {
        let first = self.call_graph.first(function);
        if let Some(n) = self.contexts.replay.as_ref().and_then(|it| it.n_found(first)) {
            return n;
        }
        self.contexts.transcripts.get(&first).map_or(0, |it| it.entries.len())
    }
}
