//! A context of a function: a vector of argument facts and the result facts for them.

use noisy_syntax::Op;

use super::small_map::{Facts, SmallMap};
use crate::sparse::Domain;

/// Number of times that the arguments or results of a context may rise before they are widened.
pub(super) const MAX_RISES: u32 = 64;

/// The function and the id of a context. A unit other than a function has the key (unit, 0).
pub(super) type ContextKey = (Op, u32);

/// A call and the context of its callee that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    pub(super) call: Op,
    pub(super) callee: Op,
    pub(super) context: u32,
}

/// Progress of the solution of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Not evaluated yet.
    Pending,
    /// The results are provisional: the context is being evaluated, or is a member of the current
    /// recursion.
    Provisional,
    Solved,
}

/// A context of a function.
#[derive(Clone, Debug)]
pub struct CallContext<F> {
    /// Identifies the context among those of its function.
    pub id: u32,
    /// Fact per argument.
    pub args: Facts<F>,
    /// Fact per result.
    pub(super) results: Facts<F>,
    /// True if the context is assumed, because the function may have unknown callers.
    pub is_assumed: bool,
    /// Calls that ask for this context, each with its unit and the number of contexts of that unit
    /// in which it asks.
    pub(super) askers: SmallMap<Op, (Op, u32)>,
    /// True for the context that joins all vectors beyond the limit of separate contexts.
    pub(super) is_joined: bool,
    pub(super) progress: Progress,
    /// Index in the members of the current recursion.
    pub(super) member: u32,
    pub(super) n_evaluated: u32,
    /// Number of times that the arguments or results rose.
    pub(super) n_rises: u32,
    /// Number of contexts that the first evaluation asked for.
    pub(super) n_asks_first: u32,
    /// Index of the entry in the transcript of the component during which the context was first
    /// evaluated (`transcript.rs`).
    pub(super) entry: u32,
}

impl<F> CallContext<F> {
    pub(super) fn new(id: u32, args: Facts<F>) -> Self {
        Self {
            id,
            args,
            results: Facts::new(),
            is_assumed: false,
            askers: SmallMap::default(),
            is_joined: false,
            progress: Progress::Pending,
            member: 0,
            n_evaluated: 0,
            n_rises: 0,
            n_asks_first: 0,
            entry: 0,
        }
    }

    /// Returns the calls that ask for this context, in no particular order.
    pub fn calls(&self) -> impl Iterator<Item = Op> {
        self.askers.iter().map(|it| it.0)
    }

    /// Counts one more context in which a call of a unit asks for this one.
    pub(super) fn add_asker(&mut self, call: Op, unit: Op) {
        self.askers.insert(call, (unit, 0));
        if let Some((of, n)) = self.askers.get_mut(call) {
            // An edit may have moved the call into another unit.
            (*of, *n) = (unit, *n + 1);
        }
    }

    /// Subtracts one context in which a call asks for this one. Returns true if none is left.
    pub(super) fn remove_asker(&mut self, call: Op) -> bool {
        let Some((_, n)) = self.askers.get_mut(call) else { return false };
        *n -= 1;
        let is_last = *n == 0;
        if is_last {
            self.askers.remove(call);
        }
        is_last
    }

    /// Resets the context to pending. Returns its former results.
    pub(super) fn renew(&mut self) -> Facts<F> {
        self.progress = Progress::Pending;
        (self.n_evaluated, self.n_rises) = (0, 0);
        std::mem::take(&mut self.results)
    }

    /// Returns the calls that ask for this context, each with its unit.
    pub(super) fn asking_calls(&self) -> impl Iterator<Item = (Op, Op)> {
        self.askers.iter().map(|(call, it)| (call, it.0))
    }

    /// Returns the units of these calls, in no particular order and possibly repeatedly.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.askers.iter().map(|it| it.1.0)
    }
}

/// Joins two lists of facts, and widens facts that still rise after [`MAX_RISES`] rises. `raised`
/// computes the new fact from the old one and the join. Returns true if a fact rose.
pub(super) fn join_rising<F: Domain>(
    n_rises: &mut u32,
    facts: &mut [F],
    by: impl Iterator<Item = F>,
    raised: impl Fn(&F, F) -> F,
) -> bool {
    let mut has_risen = false;
    for (fact, by) in facts.iter_mut().zip(by) {
        let mut next = fact.clone();
        if next.join(&by).is_yes() {
            let next = raised(fact, next);
            let next = if *n_rises < MAX_RISES { next } else { fact.widened(next) };
            has_risen |= next != *fact;
            *fact = next;
        }
    }
    *n_rises += u32::from(has_risen);
    has_risen
}
