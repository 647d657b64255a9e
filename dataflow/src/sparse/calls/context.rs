//! One context of a function: the facts that calls pass to it and those that it returns for them.

use noisy_syntax::Op;

use super::small_map::{Facts, SmallMap};
use crate::sparse::Domain;

/// Number of times that the arguments or results of a context rise before they are widened.
pub(super) const MOST_RISES: u32 = 64;

/// A context by its function and id. A unit that is no function has the key (unit, 0).
pub(super) type ContextKey = (Op, u32);

/// A call, and the context of its callee that it asks for.
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
    /// Its results are provisional: it is being evaluated, or a member of the current recursion.
    Provisional,
    Solved,
}

/// A context of a function.
#[derive(Clone, Debug)]
pub struct Context<F> {
    /// Identifies the context among those of its function.
    pub id: u32,
    /// Fact per argument.
    pub args: Facts<F>,
    /// Fact per result.
    pub(super) results: Facts<F>,
    /// True if the context is assumed, because callers may be out of sight.
    pub is_assumed: bool,
    /// Calls that ask for this context, each with its unit and the number of contexts of that unit
    /// in which it asks.
    pub(super) askers: SmallMap<Op, (Op, u32)>,
    /// True if it is the join of all vectors beyond those that are kept apart.
    pub(super) is_joined: bool,
    pub(super) progress: Progress,
    /// Index among the members of the current recursion.
    pub(super) member: u32,
    pub(super) n_evaluated: u32,
    /// Number of times that its arguments or results rose.
    pub(super) n_rises: u32,
    /// Number of contexts that its first evaluation asked for.
    pub(super) n_asks_first: u32,
    /// Index of the entry of its component that first evaluated it (`transcript.rs`).
    pub(super) entry: u32,
}

impl<F> Context<F> {
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

    /// Counts one context less in which a call asks for this one. Returns true if none is left.
    pub(super) fn remove_asker(&mut self, call: Op) -> bool {
        let Some((_, n)) = self.askers.get_mut(call) else { return false };
        *n -= 1;
        let is_last = *n == 0;
        if is_last {
            self.askers.remove(call);
        }
        is_last
    }

    /// Makes the context pending, as if it had never been evaluated. Returns its former results.
    pub(super) fn renew(&mut self) -> Facts<F> {
        self.progress = Progress::Pending;
        (self.n_evaluated, self.n_rises) = (0, 0);
        std::mem::take(&mut self.results)
    }

    /// Returns the calls that ask for this context, each with its unit.
    pub(super) fn asking(&self) -> impl Iterator<Item = (Op, Op)> {
        self.askers.iter().map(|(call, it)| (call, it.0))
    }

    /// Returns the units of these calls, in no particular order and perhaps repeatedly.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.askers.iter().map(|it| it.1.0)
    }
}

/// Joins facts with others, and widens those that rise after [`MOST_RISES`]. `raised` turns the old
/// fact and the join into the new one. Returns true if a fact rose.
pub(super) fn rise<F: Domain>(
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
            let next = if *n_rises < MOST_RISES { next } else { fact.widened(next) };
            has_risen |= next != *fact;
            *fact = next;
        }
    }
    *n_rises += u32::from(has_risen);
    has_risen
}
