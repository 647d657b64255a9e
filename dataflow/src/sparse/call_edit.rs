//! From an edit outward, through calls that are followed: which contexts are evaluated again.
//!
//! # Law
//!
//! Where no vectors are joined and every recursion is orderless (`recursion.rs`), what a function returns in a context depends only on its
//! text, its vector and what its callees return, and not on which call asks first. So the contexts of the functions that an edit touches
//! are evaluated again, callees before callers (`call_graph.rs`), the functions of a recursion together (`recursion_edit.rs`). Then follow
//! the contexts of the callers that asked for a context which now returns something else, until nothing changes. A new context is evaluated
//! when a call asks for it. A context that no call asks for any more is dropped, with the contexts that only it asked for, and the facts of
//! its function are joined again over the contexts that are left.
//!
//! Everywhere else the order of calls decides which vectors are joined, and what callers got before the joined vector grew; and an edit
//! anywhere among the connected units (`call_index.rs`) may change that order. If there is such a function among them, all asks are
//! replayed in order, and what their transcripts still describe is not evaluated (`replay.rs`).
//!
//! *Cost.* The functions with a context that is new, dropped or evaluated again, each at most twice per context; of a recursion all of its
//! functions; and the call graph, if it changed.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use noisy_syntax::{Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::call_graph::CallGraph;
use super::call_index::unit_of;
use super::component::depth_of;
use super::context::{Context, is_callable};
use super::few::Facts;
use super::{Input, Moved, Observer, Sparse, SparseForward, values_within};
use crate::flow::{self, Flow};

/// What an edit has touched so far.
#[derive(Debug)]
pub(super) struct CallEdit<F> {
    /// By unit: its values, with the facts that they had.
    before: FxHashMap<Op, Vec<(Value, F)>>,
    /// Functions whose contexts were all evaluated again.
    pub(super) redone: FxHashSet<Op>,
    /// Functions whose facts are to be joined again.
    pub(super) stale: FxHashSet<Op>,
    /// Recursions that were solved again, by the ranks of their components.
    pub(super) resolved: FxHashSet<u32>,
    /// Units that asked for a context of one of these which returns something else now.
    pub(super) callers: Vec<Op>,
    /// Whether it is followed from callees to callers.
    pub(super) is_followed: bool,
    /// Whether the connected units must be solved as a whole after all.
    pub(super) gives_up: bool,
}

impl<F> Default for CallEdit<F> {
    fn default() -> Self {
        Self {
            before: FxHashMap::default(),
            redone: FxHashSet::default(),
            stale: FxHashSet::default(),
            resolved: FxHashSet::default(),
            callers: Vec::new(),
            is_followed: false,
            gives_up: false,
        }
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Solves again the units that are queued as a whole, and what depends on them. How many ops that visited.
    pub(super) fn redo_units(&mut self, ir: &Input<'_, A::Base>) -> usize {
        let n_visits = self.n_visits;
        let n_dirty = self.dirty.len();
        let n_moved = if let Moved::These(it) = &self.moved { it.len() } else { 0 };
        let mut units: Vec<Op> = self.whole.drain().filter(|&it| ir.is_alive(it)).collect();
        units.sort_unstable();
        self.contexts.edit = Some(CallEdit::default());
        if self.call_index.take_changed() {
            self.call_graph = CallGraph::new(ir, &self.call_index, self.apart() == 0);
            self.contexts.ordered.regroup();
        }
        if self.apart() == 0 || !self.redo_callers(ir, &units) && !self.replay_callers(ir, &units) {
            self.redo_connected(ir, &units);
        }
        let edit = self.contexts.edit.take().unwrap_or_default();
        let mut queue = std::mem::take(&mut self.queue);
        queue.retain(|&Reverse(((_, is_start, _), op))| {
            let stays = ir.is_alive(op) && !edit.before.contains_key(&unit_of(ir, op));
            if !stays {
                self.queued.remove(&(op, is_start));
            }
            stays
        });
        self.queue = queue;
        self.dirty.truncate(n_dirty);
        if let Moved::These(it) = &mut self.moved {
            it.truncate(n_moved);
        }
        let mut before: Vec<_> = edit.before.into_iter().collect();
        before.sort_unstable_by_key(|it| it.0);
        for (unit, before) in before {
            self.whole.remove(&unit);
            for (value, before) in before {
                if self.facts[value.index()] == before {
                    continue;
                }
                self.note_moved(&[value], &[before]);
                // Only the results of a unit are used outside of it.
                if ir.op(unit).results.contains(&value) {
                    self.dirty.push(value);
                }
            }
        }
        self.n_visits - n_visits
    }

    /// Keeps what the values of a unit have, if an edit touches it for the first time.
    pub(super) fn remember(&mut self, ir: &Input<'_, A::Base>, unit: Op) {
        let Some(edit) = &mut self.contexts.edit else { return };
        edit.before.entry(unit).or_insert_with(|| {
            let mut values = ir.op(unit).results.to_vec();
            values_within(ir, unit, &mut values);
            let facts = &self.facts;
            values.into_iter().map(|it| (it, facts[it.index()].clone())).collect()
        });
    }

    /// Whether a context may be asked for; if not, the connected units will be solved as a whole.
    pub(super) fn may_ask(&mut self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        let most = 2 * self.apart();
        let Some(edit) = self.contexts.edit.as_mut().filter(|it| it.is_followed) else {
            return true;
        };
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        edit.gives_up |= self.contexts.ordered.contains(function) || contexts.len() > most;
        if edit.gives_up {
            return false;
        }
        // What was looked at by itself is called now. What was followed op by op has not said what it returns.
        let was_uncalled = self.contexts.uncalled.remove(&function);
        if was_uncalled
            || self.has_one_context(function)
                && self.contexts.edit.as_mut().is_some_and(|it| it.redone.insert(function))
        {
            self.remember(ir, function);
            self.forget_transcript(function);
            self.reset_function(ir, function);
            self.contexts.passed_over.remove(&function);
            for context in self.contexts.of.get_mut(&function).into_iter().flatten() {
                let _ = context.renew();
                if was_uncalled {
                    context.is_assumed = false;
                    self.contexts.unused.push((function, context.id));
                }
            }
            if let Some(edit) = &mut self.contexts.edit {
                edit.stale.insert(function);
            }
        }
        true
    }

    /// Whether the vectors of a function may be joined.
    pub(super) fn may_join(&self) -> bool {
        self.contexts.edit.as_ref().is_none_or(|it| !it.is_followed)
    }

    /// The connected units must be solved as a whole.
    pub(super) fn give_up_edit(&mut self) {
        if let Some(edit) = &mut self.contexts.edit {
            edit.gives_up = true;
        }
    }

    pub(super) fn gives_up(&self) -> bool {
        self.contexts.edit.as_ref().is_some_and(|it| it.gives_up)
    }

    /// Evaluates units again, and what depends on them. Whether that is all; otherwise the connected units must be solved as a whole.
    fn redo_callers(&mut self, ir: &Input<'_, A::Base>, units: &[Op]) -> bool {
        if self.contexts.is_cut || self.is_ordered_around(ir, units) {
            return false;
        }
        if let Some(edit) = &mut self.contexts.edit {
            edit.is_followed = true;
        }
        let mut work: BTreeSet<(u32, Op)> =
            units.iter().map(|&it| (self.call_graph.rank(it), it)).collect();
        while let Some((_, unit)) = work.pop_first() {
            let mut callers = self.redo(ir, unit, false);
            if self.gives_up() {
                return false;
            }
            if let Some(edit) = &mut self.contexts.edit {
                callers.append(&mut edit.callers);
            }
            let callers = callers.into_iter().filter(|&it| ir.is_alive(it));
            work.extend(callers.map(|it| (self.call_graph.rank(it), it)));
        }
        loop {
            if !self.remove_unused(ir) {
                return false;
            }
            let Some(edit) = &mut self.contexts.edit else { return true };
            // What is left of a recursion may be solved again, as nobody will ask for more.
            edit.resolved.clear();
            let mut stale: Vec<Op> = edit.stale.drain().filter(|&it| ir.is_alive(it)).collect();
            if stale.is_empty() {
                break;
            }
            stale.sort_unstable();
            for function in stale {
                let _ = self.redo(ir, function, true);
            }
        }
        let Some(edit) = &self.contexts.edit else { return true };
        let n_contexts = |it: &Op| self.contexts.of.get(it).map_or(0, Vec::len);
        !edit.gives_up && edit.before.keys().all(|it| n_contexts(it) <= self.apart())
    }

    /// Goes through the connected units again, where the order of calls matters. What was evaluated in vain was touched, and so were those
    /// who asked for it.
    fn replay_callers(&mut self, ir: &Input<'_, A::Base>, units: &[Op]) -> bool {
        let Some(edit) = &mut self.contexts.edit else { return false };
        (edit.is_followed, edit.gives_up) = (false, false);
        let mut touched: Vec<Op> = edit.before.keys().chain(&edit.stale).copied().collect();
        edit.stale.clear();
        touched.retain(|&it| !self.contexts.transcripts.contains_key(&self.call_graph.first(it)));
        for at in 0..touched.len() {
            let contexts = self.contexts.of.get(&touched[at]).into_iter().flatten();
            touched.extend(contexts.flat_map(Context::callers));
        }
        touched.extend(units);
        touched.sort_unstable();
        touched.dedup();
        self.replay(ir, &touched)
    }

    /// Whether vectors are joined in a function that is connected to one of these. Who asks first decides which, perhaps through functions
    /// that an edit leaves alone.
    fn is_ordered_around(&self, ir: &Input<'_, A::Base>, units: &[Op]) -> bool {
        !self.contexts.ordered.is_empty()
            && units.iter().any(|&unit| {
                self.call_index
                    .component(ir, unit)
                    .iter()
                    .any(|&it| self.contexts.ordered.contains(it))
            })
    }

    /// Forgets the contexts that nobody asks for any more. Whether none of them is of a recursion, whose contexts ask for each other, or
    /// leads to joined vectors.
    fn remove_unused(&mut self, ir: &Input<'_, A::Base>) -> bool {
        while let Some((function, id)) = self.contexts.unused.last().copied() {
            let is_alive = ir.is_alive(function);
            if is_alive && self.is_ordered_around(ir, &[function]) {
                return false;
            }
            self.contexts.unused.pop();
            // Contexts of a recursion ask for each other: those that are left are found from those that others ask for.
            let is_recursive = self.call_graph.is_recursive(function);
            let rank = self.call_graph.rank(function);
            let ranks = &self.call_graph;
            let is_unused = |it: &Context<A::Fact>| {
                !it.is_assumed && it.callers().all(|it| is_recursive && ranks.rank(it) == rank)
            };
            let Some(contexts) = self.contexts.of.get_mut(&function) else { continue };
            let Some(at) = contexts.iter().position(|it| it.id == id && is_unused(it)) else {
                continue;
            };
            if !is_recursive {
                contexts.remove(at);
                if contexts.is_empty() {
                    self.contexts.of.remove(&function);
                }
                self.contexts.withdraw((function, id));
                self.forget_transcript(function);
            }
            if let Some(edit) = &mut self.contexts.edit {
                edit.stale.insert(function);
            }
        }
        true
    }

    /// Evaluates a unit again, with those that it may come to call itself through; see [`Sparse::redo_unit`].
    fn redo(&mut self, ir: &Input<'_, A::Base>, unit: Op, is_last: bool) -> Vec<Op> {
        if self.call_graph.is_recursive(unit) {
            self.redo_recursion(ir, self.call_graph.rank(unit), is_last)
        } else {
            self.redo_unit(ir, unit, is_last)
        }
    }

    /// Evaluates a unit again, in all of its contexts. The units that asked for a context which returns something else now. `is_last`:
    /// nobody will ask for another one.
    fn redo_unit(&mut self, ir: &Input<'_, A::Base>, unit: Op, is_last: bool) -> Vec<Op> {
        let mut callers = Vec::new();
        if Flow::of(ir, unit) == Flow::Group {
            return callers;
        }
        self.remember(ir, unit);
        self.forget_transcript(unit);
        if let Some(edit) = &mut self.contexts.edit {
            edit.redone.insert(unit);
        }
        let body = flow::body(ir, unit).filter(|_| is_callable(ir, unit));
        let Some(body) = body.filter(|_| ir.op(unit).kind == OpKind::FuncFunc) else {
            self.forget_contexts(unit);
            self.reset_function(ir, unit);
            self.run_whole(ir, unit);
            return callers;
        };
        let live = self.is_live(ir, unit);
        let is_open = self.is_open(ir, unit);
        if is_open {
            self.contexts.uncalled.remove(&unit);
        } else if live && self.shows_uncalled() && !self.contexts.of.contains_key(&unit) {
            if is_last {
                self.contexts.uncalled.insert(unit);
            } else if let Some(edit) = &mut self.contexts.edit {
                edit.stale.insert(unit);
            }
        }
        let is_assumed = live && (is_open || self.contexts.uncalled.contains(&unit));
        let args = if is_assumed { Some(self.assumed(ir, unit)) } else { None };
        self.assume_only(unit, args);
        self.reset_function(ir, unit);
        self.begin_function(ir, unit);
        self.contexts.depth = depth_of(ir, unit);
        let n_args = ir.block(flow::entry_block(ir, body)).args.len();
        for at in 0..self.contexts.of.get(&unit).map_or(0, Vec::len) {
            let Some(context) = self.context(unit, at) else { continue };
            if context.args.len() != n_args {
                // Nobody will ask for it.
                continue;
            }
            let (id, former) = (context.id, context.renew());
            let asks = self.contexts.take_asks((unit, id));
            self.solve_from_here(ir, unit, id);
            self.contexts.drop_asks(asks);
            if let Some(context) = self.context(unit, at)
                && context.results != former
            {
                callers.extend(context.callers());
            }
        }
        self.contexts.depth = 0;
        callers
    }

    /// A function has this context that is assumed for it, or none.
    pub(super) fn assume_only(&mut self, function: Op, args: Option<Facts<A::Fact>>) {
        let contexts = self.contexts.of.get(&function).map_or(&[][..], Vec::as_slice);
        if !contexts.iter().any(|it| it.id == 0) {
            self.contexts.withdraw((function, 0));
        }
        for context in self.contexts.of.get_mut(&function).into_iter().flatten() {
            if std::mem::replace(&mut context.is_assumed, false) {
                self.contexts.unused.push((function, context.id));
            }
        }
        if let Some(args) = args {
            let _ = self.context_for(function, args, true);
        }
    }

    /// Visits a function that was reset, without its body.
    pub(super) fn begin_function(&mut self, ir: &Input<'_, A::Base>, function: Op) {
        self.contexts.passed_over.remove(&function);
        self.n_visits += 1;
        self.clock += 1;
        self.reached[function.index()] = self.is_live(ir, function);
        self.stamp[function.index()] = self.clock;
    }

    /// Solves units anew, as from scratch, with all that they are connected to.
    fn redo_connected(&mut self, ir: &Input<'_, A::Base>, units: &[Op]) {
        let mut first = units.to_vec();
        if let Some(edit) = &mut self.contexts.edit {
            edit.is_followed = false;
            first.extend(edit.before.keys());
            first.extend(edit.stale.drain());
        }
        let mut all: FxHashSet<Op> = FxHashSet::default();
        loop {
            // What the contexts asked for that are gone may be connected to them no more.
            first.extend(self.contexts.unused.drain(..).map(|it| it.0));
            first.retain(|it| ir.is_alive(*it) && !all.contains(it));
            let Some(unit) = first.pop() else { break };
            for unit in self.call_index.component(ir, unit) {
                self.remember(ir, unit);
                self.forget_contexts(unit);
                all.insert(unit);
            }
        }
        let mut units: Vec<Op> = all.into_iter().collect();
        units.sort_by_cached_key(|&it| ir.start(it));
        for &unit in &units {
            self.reset_function(ir, unit);
        }
        let (functions, others): (Vec<Op>, Vec<Op>) =
            units.into_iter().partition(|&it| self.is_followed(ir, it));
        for &function in &functions {
            self.begin_function(ir, function);
        }
        for unit in others {
            self.run_whole(ir, unit);
        }
        self.run_functions(ir, functions);
    }
}
