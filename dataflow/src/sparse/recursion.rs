//! Recursion: the contexts of functions that may come to call each other, solved together.
//!
//! # Law
//!
//! The first context that a call asks for in a component of the call graph opens its recursion. A context that a member asks for in a
//! function of the same component becomes a member. What members return is provisional, at first bottom, and only grows. A member is
//! evaluated again when a context that it asked for returns more; the members that were entered last come first. When nothing changes any
//! more, all members are solved. Saturated facts that still grow become unbounded, and facts that rise again and again are widened, so this
//! ends for every analysis that keeps the law of its trait.
//!
//! In the first turn of a member, the calls in it see bottom whatever other members have returned: the first turn is what happens if no
//! call within the recursion returns. A recursion is *orderless* if no member asks for more in later turns than in its first, no vectors
//! are joined, nothing in it is saturated, and no growth was cut off. Since facts are monotone, each member of such a recursion asks for
//! the same and ends with the same in any order, so the recursion is the same wherever it is entered. In all others the order of calls
//! decides which facts are joined or cut off first (`Contexts::ordered`).
//!
//! *Cost.* Each member is evaluated once, once more if a context that it asks for had returned before, and once for each growth of a
//! context that it asks for, if the results carry facts. The budget of visits is [`MOST_VISITS`] plus [`MOST_ROUNDS`] times the cost of
//! evaluating each member once. When it is spent, what the functions of the component take and return is unknown, and the calls of its
//! members are [undecided](Sparse::undecided).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use noisy_syntax::Op;
use smallvec::smallvec;

use super::context::{MOST_RISES, State, is_callable, rise, sort_by_name};
use super::few::Facts;
use super::{Domain, Input, Observer, Sparse, SparseForward, values_within};
use crate::flow;
use crate::lattice::Lattice;

/// Visits that a recursion may take however small it is.
const MOST_VISITS: usize = 200_000;
/// How often its members may be evaluated beyond that, on average.
const MOST_ROUNDS: usize = 256;

/// A recursion that is being solved.
#[derive(Debug)]
pub(super) struct Recursion {
    /// Of its component.
    rank: u32,
    /// Functions and their contexts, by id.
    members: Vec<(Op, u32)>,
    /// Members to be evaluated, the last one first.
    work: BTreeSet<Reverse<u32>>,
    /// Visits that are left, and how many were given.
    fuel: usize,
    given: usize,
    is_spent: bool,
    /// Whether a member is evaluated for the first time: nothing in the component has returned then.
    is_first: bool,
    /// Whether it asked for what had returned something.
    has_missed: bool,
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Whether a function is of the component whose recursion is being solved.
    pub(super) fn is_in_recursion(&self, function: Op) -> bool {
        let rank = self.call_graph.rank(function);
        self.contexts.recursions.last().is_some_and(|it| it.rank == rank)
    }

    /// A context becomes a member of the recursion that is being solved.
    pub(super) fn enter_recursion(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) {
        let n_results = flow::n_results(ir, function);
        let entry = self.n_entries(function).saturating_sub(1);
        let Some(recursion) = self.contexts.recursions.last_mut() else { return };
        let (member, is_spent) = (recursion.members.len(), recursion.is_spent);
        let contexts = self.contexts.of.get_mut(&function);
        let Some(context) = contexts.and_then(|it| it.get_mut(at)) else { return };
        context.state = State::Open;
        context.member = member as u32;
        context.entry = entry as u32;
        if is_spent {
            context.results = smallvec![A::Fact::unknown(); n_results];
        } else if context.results.len() != n_results {
            context.results = smallvec![A::Fact::bottom(); n_results];
        }
        recursion.members.push((function, context.id));
        recursion.work.insert(Reverse(member as u32));
    }

    /// Where all that is passed is joined, the functions of a component that anybody may call are its first members, in the order of their
    /// names.
    fn enter_open_members(&mut self, ir: &Input<'_, A::Base>, function: Op) {
        let rank = self.call_graph.rank(function);
        let open = self.call_graph.component(rank).iter().copied();
        let open = open.filter(|&it| is_callable(ir, it) && self.is_open(ir, it));
        let mut open: Vec<Op> = open.filter(|&it| self.is_live(ir, it)).collect();
        sort_by_name(ir, &mut open);
        for function in open {
            let args = self.assumed(ir, function);
            let at = self.context_for(function, args, true);
            if self.context(function, at).is_some_and(|it| it.state == State::New) {
                self.enter_recursion(ir, function, at);
            }
        }
    }

    /// Whether what a function of the component has returned is kept from a member that is evaluated for the first time.
    pub(super) fn is_kept_back(&mut self, function: Op) -> bool {
        if !self.is_in_recursion(function) {
            return false;
        }
        let recursion = self.contexts.recursions.last_mut().filter(|it| it.is_first);
        recursion.map(|it| it.has_missed = true).is_some()
    }

    /// Whether anything is computed from what a call returns: a value that carries no facts hears of none.
    pub(super) fn takes_results(&self, ir: &Input<'_, A::Base>, call: Op) -> bool {
        ir.op(call).results.iter().any(|&it| self.carries(ir, it))
    }

    /// A member is to be evaluated again.
    pub(super) fn queue_member(&mut self, member: u32) {
        if let Some(recursion) = self.contexts.recursions.last_mut() {
            recursion.work.insert(Reverse(member));
        }
    }

    /// Solves the recursion that a context is part of.
    #[inline(never)]
    pub(super) fn solve_recursion(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) {
        self.contexts.recursions.push(Recursion {
            rank: self.call_graph.rank(function),
            members: Vec::new(),
            work: BTreeSet::new(),
            fuel: MOST_VISITS,
            given: MOST_VISITS,
            is_spent: self.contexts.spent.contains(&function),
            is_first: false,
            has_missed: false,
        });
        if self.apart() == 0 {
            self.enter_open_members(ir, function);
        }
        if self.context(function, at).is_some_and(|it| it.state == State::New) {
            self.enter_recursion(ir, function, at);
        }
        while let Some(recursion) = self.contexts.recursions.last_mut() {
            let Some(Reverse(member)) = recursion.work.pop_first() else { break };
            let (function, id) = recursion.members[member as usize];
            let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
            let Some(at) = contexts.iter().position(|it| it.id == id) else { continue };
            self.evaluate_member(ir, function, at);
        }
        let Some(recursion) = self.contexts.recursions.pop() else { return };
        for &(function, id) in &recursion.members {
            let contexts = self.contexts.of.get_mut(&function).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id && it.state == State::Open) {
                context.state = State::Done;
            }
        }
        if !self.is_orderless(ir, &recursion) {
            self.note_ordered(function);
        }
    }

    /// Whether a recursion that was solved gives the same wherever it is entered (see above).
    fn is_orderless(&self, ir: &Input<'_, A::Base>, recursion: &Recursion) -> bool {
        if recursion.is_spent || recursion.fuel < recursion.given / 2 {
            return false;
        }
        let mut functions: Vec<Op> = Vec::new();
        for &(function, id) in &recursion.members {
            let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
            let Some(context) = contexts.iter().find(|it| it.id == id) else { continue };
            let is_low = |it: &A::Fact| !self.is_saturated(it);
            if context.is_joined
                || context.n_rises >= MOST_RISES / 2
                || self.contexts.n_asks((function, id)) != context.n_asks_first
                || !context.args.iter().chain(&context.results).all(is_low)
            {
                return false;
            }
            functions.push(function);
        }
        functions.sort_unstable();
        functions.dedup();
        functions.into_iter().all(|function| {
            let mut values = Vec::new();
            values_within(ir, function, &mut values);
            values.into_iter().all(|it| !self.is_saturated(&self.facts[it.index()]))
                && !self.is_undecided_within(ir, function)
        })
    }

    /// Whether work ran out in the body of a function.
    fn is_undecided_within(&self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        let mut found = false;
        for &(_, region) in &ir.op(function).regions {
            if !self.undecided.is_empty() {
                ir.walk(region, &mut |it| found |= self.undecided.contains(&it));
            }
        }
        found
    }

    /// Evaluates a member, and queues those that asked for it if it returns more than before.
    fn evaluate_member(&mut self, ir: &Input<'_, A::Base>, function: Op, at: usize) {
        let Some(context) = self.context(function, at) else { return };
        context.n_evaluated += 1;
        let (id, number, member) = (context.id, context.n_evaluated, context.member);
        let n_visits = self.n_visits;
        if let Some(recursion) = self.contexts.recursions.last_mut() {
            // It costs less to keep nothing back where that shows nothing any more.
            let is_ordered = self.contexts.ordered.contains(function);
            recursion.is_first = number == 1 && !recursion.is_spent && !is_ordered;
            recursion.has_missed = false;
        }
        let results = self.evaluate(ir, function, at, u64::from(number));
        let cost = self.n_visits - n_visits;
        let n_asks = self.contexts.n_asks((function, id));
        let Some(recursion) = self.contexts.recursions.last_mut() else { return };
        recursion.is_first = false;
        if recursion.is_spent {
            return;
        }
        if number == 1 {
            recursion.fuel += MOST_ROUNDS * cost;
            recursion.given += MOST_ROUNDS * cost;
            if recursion.has_missed {
                recursion.work.insert(Reverse(member));
            }
        }
        recursion.fuel = recursion.fuel.saturating_sub(cost);
        if recursion.fuel == 0 {
            return self.give_up_recursion(ir);
        }
        if number == 1
            && let Some(context) = self.context(function, at)
        {
            context.n_asks_first = n_asks;
        }
        if !self.note_results(function, at, results) {
            return;
        }
        let asking = self.context(function, at).into_iter().flat_map(|it| it.asking());
        let asking: Vec<(Op, Op)> = asking.collect();
        for (call, unit) in asking {
            if !self.is_in_recursion(unit) || !self.takes_results(ir, call) {
                continue;
            }
            let contexts = self.contexts.of.get(&unit).into_iter().flatten();
            let readers = contexts.filter(|it| {
                it.state == State::Open
                    && self.contexts.does_ask((unit, it.id), call, (function, id))
            });
            let readers: Vec<u32> = readers.map(|it| it.member).collect();
            for reader in readers {
                self.queue_member(reader);
            }
        }
    }

    /// Takes over what a body returns, which only grows; what is saturated and would go on to grow is unbounded. Whether that is more than
    /// before.
    fn note_results(&mut self, function: Op, at: usize, results: Facts<A::Fact>) -> bool {
        if results.iter().any(|it| self.is_saturated(it)) {
            self.note_ordered(function);
        }
        let analysis = &self.analysis;
        let contexts = self.contexts.of.get_mut(&function);
        let Some(context) = contexts.and_then(|it| it.get_mut(at)) else { return false };
        let rising = |old: &A::Fact, next: A::Fact| match analysis.unbounded(old) {
            Some(_) => analysis.unbounded(&next).unwrap_or(next),
            None => next,
        };
        rise(&mut context.n_rises, &mut context.results, results.into_iter(), rising)
    }

    /// The recursion takes too many steps: its members are evaluated once more with nothing known of what they return, and others with
    /// nothing known of what they take.
    fn give_up_recursion(&mut self, ir: &Input<'_, A::Base>) {
        let Some(recursion) = self.contexts.recursions.last_mut() else { return };
        recursion.is_spent = true;
        recursion.work = (0..recursion.members.len() as u32).map(Reverse).collect();
        let (rank, members) = (recursion.rank, recursion.members.clone());
        self.contexts.spent.extend(self.call_graph.component(rank).iter().copied());
        for (function, id) in members {
            let n_results = flow::n_results(ir, function);
            let contexts = self.contexts.of.get_mut(&function).into_iter().flatten();
            for context in contexts.filter(|it| it.id == id) {
                context.results = smallvec![A::Fact::unknown(); n_results];
                self.undecided.extend(context.calls());
            }
        }
    }

    /// The arguments of a function of which nothing is known but what its body takes for granted.
    pub(super) fn unknown_args(&mut self, ir: &Input<'_, A::Base>, function: Op) -> Facts<A::Fact> {
        let Some(body) = flow::body(ir, function) else { return Facts::new() };
        let args = ir.block(flow::entry_block(ir, body)).args.clone();
        let unknown = |it: &mut Self, value| {
            let fact = A::Fact::unknown();
            if it.carries(ir, value) { it.refined(ir, function, value, fact) } else { fact }
        };
        args.into_iter().map(|value| unknown(self, value)).collect()
    }
}
