//! Propagation of an edit through calls: selects the components of the call graph to evaluate
//! again.
//!
//! # Law
//!
//! *By rank.* If no vectors are joined and every recursion is orderless (`recursion.rs`), the
//! results of a context depend only on the text of its function, on its vector and on the results
//! of its callees, and not on the order of asks. So the components that the edit touches are
//! evaluated again, callees before callers, each in its assumed contexts and the contexts that
//! calls from outside ask for. Next come the callers that asked for a context with changed results.
//! A new context is evaluated when a call asks for it. Finally, components with unused contexts are
//! evaluated without these, callers before callees.
//!
//! *By replay.* In all other cases the order of asks determines which vectors are joined, and the
//! results that callers got before the joined vector grew. An edit of any connected unit
//! (`index.rs`) may change that order. If one of these units is ordered, all their asks are
//! replayed in order, and components with valid transcripts are not evaluated (`replay.rs`).
//!
//! Both ways are needed. Replay inspects each call of the connected units: in a program of 10,000
//! functions it takes about 50 ms for an edit that takes less than 1 ms by rank, with the same
//! visits. By rank, an edit of functions with joined vectors would solve all connected units from
//! scratch: 1,199,105 visits instead of 120 in a chain of 10,000 functions.
//!
//! *Cost.* By rank: the functions with a context that is new, dropped or evaluated again, each at
//! most twice per context; all functions of a recursion; and the call graph, if it changed.

use std::collections::BTreeSet;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::FollowedCalls;
use super::context::{CallContext, ContextKey, Progress};
use super::graph::CallGraph;
use super::index::unit_of;
use super::small_map::Facts;
use super::units::depth_of;
use crate::flow::{self, Flow};
use crate::sparse::{
    AnalysisInput, ChangedValues, Observer, SparseForward, SparseSolver, values_within,
};

/// An edit that is being propagated through calls.
#[derive(Debug)]
pub(super) struct CallEdit<F> {
    /// Values of each touched unit, with their facts before the edit.
    before: FxHashMap<Op, Vec<(Value, F)>>,
    /// Functions whose contexts were all evaluated again.
    redone: FxHashSet<Op>,
    /// Functions that lost contexts or were reset, so that their facts must be joined again.
    stale: FxHashSet<Op>,
    /// Ranks of the recursions that were solved again.
    resolved: FxHashSet<u32>,
    /// Units that asked for a context of these recursions with changed results.
    callers: Vec<Op>,
    /// True while components are evaluated by rank.
    is_by_rank: bool,
    /// True if the results turned out to depend on the order of calls.
    gives_up: bool,
}

impl<F> Default for CallEdit<F> {
    fn default() -> Self {
        Self {
            before: FxHashMap::default(),
            redone: FxHashSet::default(),
            stale: FxHashSet::default(),
            resolved: FxHashSet::default(),
            callers: Vec::new(),
            is_by_rank: false,
            gives_up: false,
        }
    }
}

impl<F> CallEdit<F> {
    /// Restarts the propagation for the other way (replay). Touched units stay touched.
    pub(super) fn restart(&mut self) {
        (self.is_by_rank, self.gives_up) = (false, false);
    }
}

impl<F> FollowedCalls<F> {
    /// Returns true if argument vectors may be joined: not while components are evaluated by rank.
    pub(super) fn may_join(&self) -> bool {
        self.edit.as_ref().is_none_or(|it| !it.is_by_rank)
    }

    pub(super) fn give_up_by_rank(&mut self) {
        if let Some(edit) = &mut self.edit {
            edit.gives_up = true;
        }
    }

    pub(super) fn has_given_up(&self) -> bool {
        self.edit.as_ref().is_some_and(|it| it.gives_up)
    }

    fn mark_stale(&mut self, function: Op) {
        if let Some(edit) = &mut self.edit {
            edit.stale.insert(function);
        }
    }

    /// Returns true if a unit that is connected to one of `units` is ordered.
    fn is_ordered_around(&self, ir: &Ir, units: &[Op]) -> bool {
        !self.ordered.is_empty()
            && units.iter().any(|&unit| {
                self.index.component(ir, unit).iter().any(|&it| self.ordered.contains(it))
            })
    }

    /// Returns true if a context is assumed or a call from outside of its component asks for it.
    fn is_entry(&self, function: Op, context: &CallContext<F>) -> bool {
        let is_recursive = self.graph.is_recursive(function);
        let rank = self.graph.rank(function);
        context.is_assumed
            || context.callers().any(|it| !is_recursive || self.graph.rank(it) != rank)
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Solves the pending units again, and all units that depend on them. Returns the number of
    /// visits.
    pub(in crate::sparse) fn update_units(&mut self, ir: &AnalysisInput<'_, A::Base>) -> usize {
        let n_visits = self.n_visits;
        let n_dirty = self.queue.dirty.len();
        let n_moved = if let ChangedValues::These(it) = &self.moved { it.len() } else { 0 };
        let mut units: Vec<Op> = self.calls.pending.drain().filter(|&it| ir.is_alive(it)).collect();
        units.sort_unstable();
        self.calls.edit = Some(CallEdit::default());
        if self.calls.index.take_changed() {
            let joins_all = self.calls.n_apart() == 0;
            self.calls.graph = CallGraph::new(ir, &self.calls.index, joins_all);
            self.calls.ordered.clear_components();
        }
        if !self.redo_by_rank(ir, &units) {
            self.redo_by_replay(ir, units);
        }
        let edit = self.calls.edit.take().unwrap_or_default();
        self.queue.retain(|op| ir.is_alive(op) && !edit.before.contains_key(&unit_of(ir, op)));
        self.queue.dirty.truncate(n_dirty);
        if let ChangedValues::These(it) = &mut self.moved {
            it.truncate(n_moved);
        }
        let mut before: Vec<_> = edit.before.into_iter().collect();
        before.sort_unstable_by_key(|it| it.0);
        for (unit, before) in before {
            self.calls.pending.remove(&unit);
            for (value, before) in before {
                if self.facts[value.index()] == before {
                    continue;
                }
                self.note_moved(&[value], &[before]);
                // Other ops can only use the results of a unit.
                if ir.op(unit).results.contains(&value) {
                    self.queue.dirty.push(value);
                }
            }
        }
        self.n_visits - n_visits
    }

    /// Saves the facts of the values of a unit when the edit touches it for the first time.
    pub(super) fn remember(&mut self, ir: &AnalysisInput<'_, A::Base>, unit: Op) {
        let Some(edit) = &mut self.calls.edit else { return };
        edit.before.entry(unit).or_insert_with(|| {
            let mut values = ir.op(unit).results.to_vec();
            values_within(ir, unit, &mut values);
            let facts = &self.facts;
            values.into_iter().map(|it| (it, facts[it.index()].clone())).collect()
        });
    }

    /// Returns true if a caller may ask for a context of a function. If not, the evaluation by rank
    /// is given up.
    pub(super) fn is_askable(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) -> bool {
        let most = 2 * self.calls.n_apart();
        let is_ordered = self.calls.ordered.contains(function);
        let n_contexts = self.calls.contexts.of(function).len();
        let Some(edit) = self.calls.edit.as_mut().filter(|it| it.is_by_rank) else { return true };
        edit.gives_up |= is_ordered || n_contexts > most;
        if edit.gives_up {
            return false;
        }
        // The stored results of a function that was updated op by op, or solved separately, are
        // outdated.
        let was_uncalled = self.calls.uncalled.remove(&function);
        let is_unsolved = was_uncalled
            || self.calls.has_one_context(function)
                && self.calls.edit.as_mut().is_some_and(|it| it.redone.insert(function));
        if is_unsolved {
            self.reset_contexts(ir, function);
            if was_uncalled {
                self.calls.contexts.assume_none(function);
            }
            self.calls.mark_stale(function);
        }
        true
    }

    /// Resets the facts of a function, and makes its contexts pending.
    fn reset_contexts(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) {
        self.remember(ir, function);
        self.calls.forget_transcript(function);
        self.reset_function(ir, function);
        self.calls.traversed.remove(&function);
        for context in self.calls.contexts.of_mut(function) {
            let _ = context.renew();
        }
    }

    /// Evaluates units again by rank, and all units that depend on them. Returns false if the
    /// results depend on the order of calls.
    fn redo_by_rank(&mut self, ir: &AnalysisInput<'_, A::Base>, units: &[Op]) -> bool {
        let calls = &mut self.calls;
        if calls.n_apart() == 0 || calls.is_cut || calls.is_ordered_around(ir, units) {
            return false;
        }
        if let Some(edit) = &mut calls.edit {
            edit.is_by_rank = true;
        }
        let rank = |it: &Self, unit| (it.calls.graph.rank(unit), unit);
        let mut work: BTreeSet<(u32, Op)> = units.iter().map(|&it| rank(self, it)).collect();
        while let Some((_, unit)) = work.pop_first() {
            let mut callers = self.redo(ir, unit, false);
            if let Some(edit) = &mut self.calls.edit {
                callers.append(&mut edit.callers);
            }
            if self.calls.has_given_up() {
                return false;
            }
            work.extend(callers.into_iter().filter(|&it| ir.is_alive(it)).map(|it| rank(self, it)));
        }
        if !self.redo_stale(ir) {
            return false;
        }
        let Some(edit) = &self.calls.edit else { return true };
        let n_contexts = |it: &Op| self.calls.contexts.of(*it).len();
        !edit.gives_up && edit.before.keys().all(|it| n_contexts(it) <= self.calls.n_apart())
    }

    /// Removes the contexts without askers. Returns false if one of their functions depends on the
    /// order of calls.
    fn redo_stale(&mut self, ir: &AnalysisInput<'_, A::Base>) -> bool {
        // Rank and first function of each component: members of a recursion are evaluated together.
        let mut work: BTreeSet<(u32, Op)> = BTreeSet::new();
        loop {
            while let Some(&(function, id)) = self.calls.contexts.unused().last() {
                if ir.is_alive(function) && self.calls.is_ordered_around(ir, &[function]) {
                    return false;
                }
                self.calls.contexts.pop_unused();
                let context = self.calls.contexts.get((function, id));
                if context.is_some_and(|it| !self.calls.is_entry(function, it)) {
                    self.calls.mark_stale(function);
                }
            }
            let Some(edit) = &mut self.calls.edit else { return true };
            let stale: Vec<Op> = edit.stale.drain().filter(|&it| ir.is_alive(it)).collect();
            let graph = &self.calls.graph;
            work.extend(stale.into_iter().map(|it| (graph.rank(it), graph.first(it))));
            let Some((rank, first)) = work.pop_last() else { return true };
            edit.resolved.remove(&rank);
            let _ = self.redo(ir, first, true);
        }
    }

    /// Evaluates the component of a unit again. Returns the units outside of the component that
    /// asked for a context with changed results. `is_last` is true if no unit will ask for further
    /// contexts.
    fn redo(&mut self, ir: &AnalysisInput<'_, A::Base>, unit: Op, is_last: bool) -> Vec<Op> {
        let mut callers = Vec::new();
        let (rank, is_recursive) =
            (self.calls.graph.rank(unit), self.calls.graph.is_recursive(unit));
        let mut members = self.calls.members(unit);
        members.retain(|it| ir.is_alive(*it));
        let Some(edit) = self.calls.edit.as_mut() else { return callers };
        if Flow::of(ir, unit) == Flow::Group || is_recursive && !edit.resolved.insert(rank) {
            return callers;
        }
        edit.redone.extend(&members);
        if !members.iter().all(|&it| self.calls.is_followed_function(ir, it)) {
            if is_recursive {
                self.calls.give_up_by_rank();
            } else {
                self.remember(ir, unit);
                self.calls.forget(unit);
                self.reset_function(ir, unit);
                self.run_unit(ir, unit);
            }
            return callers;
        }
        let depth = self.calls.depth;
        let (mut entries, mut asks) = (Vec::new(), Vec::new());
        for &member in &members {
            self.remember(ir, member);
            self.calls.forget_transcript(member);
            self.calls.uncalled.remove(&member);
            let is_assumed = self.is_live(ir, member) && self.calls.is_open(ir, member);
            let args = is_assumed.then(|| self.assumed_args(ir, member));
            self.assume_only(member, args);
            let body = flow::function_body(ir, member);
            let n_args = body.map_or(0, |it| ir.block(flow::entry_block(ir, it)).args.len());
            let contexts = self.calls.contexts.of(member).iter();
            let is_entry = contexts
                .map(|it| it.args.len() == n_args && self.calls.is_entry(member, it))
                .collect::<Vec<bool>>();
            for (context, is_entry) in self.calls.contexts.of_mut(member).iter_mut().zip(is_entry) {
                let former = context.renew();
                if is_entry {
                    entries.push(((member, context.id), former));
                }
                asks.push((member, context.id));
            }
            self.reset_function(ir, member);
            self.begin_function(ir, member);
        }
        let asks: Vec<_> = asks.into_iter().map(|it| self.calls.contexts.take_asks(it)).collect();
        for &(key, _) in &entries {
            self.calls.depth = depth.max(depth_of(ir, key.0));
            self.solve_from_here(ir, key);
        }
        for it in asks {
            self.calls.contexts.drop_asks(it);
        }
        for (key, former) in entries {
            let context = self.calls.contexts.get(key).filter(|it| it.results != former);
            let outside = context.into_iter().flat_map(CallContext::callers);
            callers
                .extend(outside.filter(|&it| !is_recursive || self.calls.graph.rank(it) != rank));
        }
        for &member in &members {
            self.calls.contexts.retain(member, |it| it.progress == Progress::Solved);
            if is_recursive && self.calls.ordered.contains(member) {
                self.calls.give_up_by_rank();
            }
        }
        for member in members {
            if !self.calls.shows_uncalled()
                || !self.is_live(ir, member)
                || self.calls.contexts.has(member)
            {
                continue;
            }
            if is_last {
                self.calls.uncalled.insert(member);
                let args = self.assumed_args(ir, member);
                let key = self.context_for(member, args, true);
                self.calls.depth = depth_of(ir, member);
                self.solve_from_here(ir, key);
            } else {
                self.calls.mark_stale(member);
            }
        }
        self.calls.depth = depth;
        callers
    }

    /// Solves a context without an asker, if it is not solved yet.
    fn solve_from_here(&mut self, ir: &AnalysisInput<'_, A::Base>, key: ContextKey) {
        let context = self.calls.contexts.get(key);
        if context.is_some_and(|it| it.progress != Progress::Solved) {
            self.solve_context(ir, key);
        }
    }

    /// Solves the recursion of a function again, including the new context that a call asks for.
    /// Returns false if no edit is propagated by rank, or the recursion was already solved again.
    #[inline(never)]
    pub(super) fn redo_recursion_of(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        function: Op,
    ) -> bool {
        let rank = self.calls.graph.rank(function);
        let edit = self.calls.edit.as_ref().filter(|it| it.is_by_rank);
        if edit.is_none_or(|it| it.gives_up || it.resolved.contains(&rank)) {
            return false;
        }
        let asker = self.calls.asker.take();
        let callers = self.redo(ir, function, false);
        self.calls.asker = asker;
        if let Some(edit) = self.calls.edit.as_mut() {
            edit.callers.extend(callers);
        }
        true
    }

    /// Sets the assumed context of a function, or removes it.
    fn assume_only(&mut self, function: Op, args: Option<Facts<A::Fact>>) {
        if self.calls.contexts.get((function, 0)).is_none() {
            self.calls.contexts.withdraw((function, 0));
        }
        self.calls.contexts.assume_none(function);
        if let Some(args) = args {
            let _ = self.context_for(function, args, true);
        }
    }

    /// Visits a function that was reset, but not its body.
    pub(super) fn begin_function(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) {
        self.calls.traversed.remove(&function);
        self.n_visits += 1;
        self.clock += 1;
        self.reached[function.index()] = self.is_live(ir, function);
        self.last_visit[function.index()] = self.clock;
    }

    /// Evaluates the connected units again, in the order of calls. Components that were already
    /// evaluated by rank count as touched, and so do their callers.
    fn redo_by_replay(&mut self, ir: &AnalysisInput<'_, A::Base>, units: Vec<Op>) {
        let calls = &mut self.calls;
        let Some(edit) = &mut calls.edit else { return };
        edit.restart();
        let mut touched: Vec<Op> = edit.before.keys().copied().chain(edit.stale.drain()).collect();
        touched.retain(|&it| !calls.transcripts.contains_key(&calls.graph.first(it)));
        let mut seen: FxHashSet<Op> = touched.iter().copied().collect();
        let mut at = 0;
        while let Some(&unit) = touched.get(at) {
            at += 1;
            let callers = calls.contexts.of(unit).iter().flat_map(CallContext::callers);
            touched.extend(callers.filter(|&it| seen.insert(it)));
        }
        seen.extend(units);
        self.replay(ir, &seen);
    }
}
