//! Recursion: the contexts of a strongly connected component of the call graph are solved together.
//!
//! # Law
//!
//! The first ask for a context of a component starts its recursion. A context that a member asks
//! for in the same component becomes a member. The results of members are provisional: they start
//! at bottom and only grow. A member is evaluated again when the results of a context that it asked
//! for grow; the newest members come first. When nothing changes any more, all members are solved.
//! Saturated facts that still grow become unbounded, and facts that rise repeatedly are widened, so
//! the recursion terminates for every analysis that obeys the law of its trait.
//!
//! In the first evaluation of a member, its calls within the recursion return bottom, as if they
//! never returned. A recursion is *orderless* if no member asks for more contexts in later
//! evaluations than in its first, no vectors are joined, no fact is saturated, and no growth was
//! cut off. Since transfer functions are monotone, each member of an orderless recursion has the
//! same asks and the same results in any order, so it does not matter where the recursion is
//! entered. In all other recursions the order of calls determines which facts are joined or cut off
//! first (`ordered.rs`).
//!
//! *Cost.* Each member is evaluated once, a second time if results were hidden from it, and once
//! for each growth of the results of a context that it asks for, if these carry facts. The budget
//! of visits is [`FREE_VISITS`] plus [`MEAN_EVALUATIONS`] times the cost of evaluating each member
//! once. When it is spent, arguments and results of the functions of the component are unknown, and
//! the calls of its members are [undecided](SparseSolver::undecided).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use noisy_syntax::{Ir, Op};
use smallvec::smallvec;

use super::FollowedCalls;
use super::callable::{is_callable, sort_by_name};
use super::context::{CallContext, ContextKey, MAX_RISES, Progress, join_rising};
use super::small_map::Facts;
use crate::flow;
use crate::lattice::Lattice;
use crate::sparse::{AnalysisInput, Domain, Observer, SparseForward, SparseSolver, values_within};

/// Budget of visits of every recursion, even a small one.
const FREE_VISITS: usize = 200_000;
/// Number of further evaluations per member in the budget, on average.
const MEAN_EVALUATIONS: usize = 256;

/// A recursion that is being solved.
#[derive(Debug)]
pub(super) struct Recursion {
    /// Rank of its component.
    rank: u32,
    members: Vec<ContextKey>,
    /// Indices of the members to evaluate; the largest index comes first.
    queue: BTreeSet<Reverse<u32>>,
    /// Number of remaining visits.
    fuel: usize,
    /// Total number of granted visits.
    granted: usize,
    is_spent: bool,
    /// True while a member is evaluated for the first time: results of the component are bottom for
    /// it.
    hides_results: bool,
    /// True if this evaluation asked for hidden results.
    has_hidden: bool,
}

impl Recursion {
    fn new(rank: u32, is_spent: bool) -> Self {
        Self {
            rank,
            members: Vec::new(),
            queue: BTreeSet::new(),
            fuel: FREE_VISITS,
            granted: FREE_VISITS,
            is_spent,
            hides_results: false,
            has_hidden: false,
        }
    }
}

impl<F> FollowedCalls<F> {
    /// Returns true if a function is in the component whose recursion is being solved.
    pub(super) fn is_in_recursion(&self, function: Op) -> bool {
        let rank = self.graph.rank(function);
        self.recursions.last().is_some_and(|it| it.rank == rank)
    }

    /// Returns true if the results of a function are hidden from the current member. Records the
    /// ask in this case.
    pub(super) fn hides_results_of(&mut self, function: Op) -> bool {
        if !self.is_in_recursion(function) {
            return false;
        }
        let recursion = self.recursions.last_mut().filter(|it| it.hides_results);
        recursion.map(|it| it.has_hidden = true).is_some()
    }

    /// Queues a member of the current recursion for evaluation.
    pub(super) fn queue_member(&mut self, member: u32) {
        if let Some(recursion) = self.recursions.last_mut() {
            recursion.queue.insert(Reverse(member));
        }
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Makes a context a member of the current recursion.
    pub(super) fn enter_recursion(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let n_results = flow::n_results(ir, key.0);
        let entry = self.calls.n_entries(key.0).saturating_sub(1);
        let Some(recursion) = self.calls.recursions.last_mut() else { return };
        let member = recursion.members.len() as u32;
        let Some(context) = self.calls.contexts.get_mut(key) else { return };
        context.progress = Progress::Provisional;
        context.member = member;
        context.entry = entry as u32;
        if recursion.is_spent {
            context.results = smallvec![A::Fact::unknown(); n_results];
        } else if context.results.len() != n_results {
            context.results = smallvec![A::Fact::bottom(); n_results];
        }
        recursion.members.push(key);
        recursion.queue.insert(Reverse(member));
    }

    /// Makes the assumed contexts of the component members, in the order of the names of their
    /// functions. Called only if all vectors are joined.
    fn enter_open_members(&mut self, ir: &AnalysisInput<'_, A::Base>, rank: u32) {
        let mut open = self.calls.graph.component(rank).to_vec();
        open.retain(|&it| {
            is_callable(ir, it) && self.calls.is_open(ir, it) && self.is_live(ir, it)
        });
        sort_by_name(ir, &mut open);
        for function in open {
            let args = self.assumed_args(ir, function);
            let key = self.context_for(function, args, true);
            self.enter_recursion_if_pending(ir, key);
        }
    }

    fn enter_recursion_if_pending(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let context = self.calls.contexts.get(key);
        if context.is_some_and(|it| it.progress == Progress::Pending) {
            self.enter_recursion(ir, key);
        }
    }

    /// Returns true if a result of a call carries a fact.
    pub(super) fn has_carrying_results(&self, ir: &Ir, call: Op) -> bool {
        ir.op(call).results.iter().any(|&it| self.carries(ir, it))
    }

    /// Solves the recursion that starts with a context.
    #[inline(never)]
    pub(super) fn solve_recursion(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let rank = self.calls.graph.rank(key.0);
        let is_spent = self.calls.spent.contains(&key.0);
        self.calls.recursions.push(Recursion::new(rank, is_spent));
        if self.calls.n_apart() == 0 {
            self.enter_open_members(ir, rank);
        }
        self.enter_recursion_if_pending(ir, key);
        while let Some(recursion) = self.calls.recursions.last_mut() {
            let Some(Reverse(member)) = recursion.queue.pop_first() else { break };
            let key = recursion.members[member as usize];
            self.evaluate_member(ir, key);
        }
        let Some(recursion) = self.calls.recursions.pop() else { return };
        for &member in &recursion.members {
            let context = self.calls.contexts.get_mut(member);
            if let Some(it) = context.filter(|it| it.progress == Progress::Provisional) {
                it.progress = Progress::Solved;
            }
        }
        if !self.is_orderless(ir, &recursion) {
            self.calls.note_ordered(key.0);
        }
    }

    /// Returns true if a solved recursion is orderless, as defined above.
    fn is_orderless(&self, ir: &AnalysisInput<'_, A::Base>, recursion: &Recursion) -> bool {
        if recursion.is_spent || recursion.fuel < recursion.granted / 2 {
            return false;
        }
        let mut functions: Vec<Op> = Vec::new();
        for &member in &recursion.members {
            let Some(context) = self.calls.contexts.get(member) else { continue };
            let is_low = |it: &A::Fact| !self.is_saturated(it);
            if context.is_joined
                || context.n_rises >= MAX_RISES / 2
                || self.calls.contexts.n_asks(member) != context.n_asks_first
                || !context.args.iter().chain(&context.results).all(is_low)
            {
                return false;
            }
            functions.push(member.0);
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

    /// Returns true if an op in the body of a function is undecided.
    fn is_undecided_within(&self, ir: &AnalysisInput<'_, A::Base>, function: Op) -> bool {
        let mut found = false;
        for &(_, region) in &ir.op(function).regions {
            if !self.undecided.is_empty() {
                ir.walk(region, &mut |it| found |= self.undecided.contains(&it));
            }
        }
        found
    }

    /// Evaluates a member. If its results grow, queues the members that asked for it.
    fn evaluate_member(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let Some(context) = self.calls.contexts.get_mut(key) else { return };
        context.n_evaluated += 1;
        let (number, member) = (context.n_evaluated, context.member);
        let n_visits = self.n_visits;
        let is_ordered = self.calls.ordered.contains(key.0);
        if let Some(recursion) = self.calls.recursions.last_mut() {
            // In a recursion that is already ordered, hiding results would cost visits without any
            // benefit.
            recursion.hides_results = number == 1 && !recursion.is_spent && !is_ordered;
            recursion.has_hidden = false;
        }
        let results = self.evaluate(ir, key, u64::from(number));
        let cost = self.n_visits - n_visits;
        let Some(recursion) = self.calls.recursions.last_mut() else { return };
        recursion.hides_results = false;
        if recursion.is_spent {
            return;
        }
        if number == 1 {
            recursion.fuel += MEAN_EVALUATIONS * cost;
            recursion.granted += MEAN_EVALUATIONS * cost;
            if recursion.has_hidden {
                recursion.queue.insert(Reverse(member));
            }
        }
        recursion.fuel = recursion.fuel.saturating_sub(cost);
        if recursion.fuel == 0 {
            return self.give_up_recursion(ir);
        }
        let n_asks = self.calls.contexts.n_asks(key);
        if number == 1
            && let Some(context) = self.calls.contexts.get_mut(key)
        {
            context.n_asks_first = n_asks;
        }
        if self.note_results(key, results) {
            self.queue_asking_members(ir, key);
        }
    }

    /// Queues the members that asked for a context.
    fn queue_asking_members(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let asking = self.calls.contexts.get(key).into_iter().flat_map(CallContext::asking_calls);
        let asking: Vec<(Op, Op)> = asking.collect();
        for (call, unit) in asking {
            if !self.calls.is_in_recursion(unit) || !self.has_carrying_results(ir, call) {
                continue;
            }
            let contexts = &self.calls.contexts;
            let readers = contexts.of(unit).iter().filter(|it| {
                it.progress == Progress::Provisional && contexts.is_asking((unit, it.id), call, key)
            });
            let readers: Vec<u32> = readers.map(|it| it.member).collect();
            for reader in readers {
                self.calls.queue_member(reader);
            }
        }
    }

    /// Joins the results of a context with those of an evaluation. A saturated fact that would grow
    /// becomes unbounded. Returns true if a result rose.
    fn note_results(&mut self, key: ContextKey, results: Facts<A::Fact>) -> bool {
        if results.iter().any(|it| self.is_saturated(it)) {
            self.calls.note_ordered(key.0);
        }
        let analysis = &self.analysis;
        let Some(context) = self.calls.contexts.get_mut(key) else { return false };
        let raised = |old: &A::Fact, next: A::Fact| match analysis.unbounded(old) {
            Some(_) => analysis.unbounded(&next).unwrap_or(next),
            None => next,
        };
        join_rising(&mut context.n_rises, &mut context.results, results.into_iter(), raised)
    }

    /// Gives up a recursion whose budget is spent: its members are evaluated once more with unknown
    /// results, and further members with unknown arguments.
    fn give_up_recursion(&mut self, ir: &AnalysisInput<'_, A::Base>) {
        let Some(recursion) = self.calls.recursions.last_mut() else { return };
        recursion.is_spent = true;
        recursion.queue = (0..recursion.members.len() as u32).map(Reverse).collect();
        let component = self.calls.graph.component(recursion.rank);
        self.calls.spent.extend(component.iter().copied());
        for &member in &recursion.members {
            if let Some(context) = self.calls.contexts.get_mut(member) {
                context.results = smallvec![A::Fact::unknown(); flow::n_results(ir, member.0)];
                self.undecided.extend(context.calls());
            }
        }
    }

    /// Returns unknown facts for the arguments of a function, refined.
    pub(super) fn unknown_args(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
    ) -> Facts<A::Fact> {
        let Some(body) = flow::function_body(ir, function) else { return Facts::new() };
        let args = ir.block(flow::entry_block(ir, body)).args.clone();
        let unknown = |it: &mut Self, value| {
            let fact = A::Fact::unknown();
            if it.carries(ir, value) { it.refined(ir, function, value, fact) } else { fact }
        };
        args.into_iter().map(|value| unknown(self, value)).collect()
    }
}
