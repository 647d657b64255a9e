//! From an edit outward, through calls: what is followed op by op, and what is solved as a whole (see `call_index.rs`).

use std::cmp::Reverse;

use noisy_syntax::{Delta, Ir, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use super::call_index::unit_of;
use super::{AnalysisContext, Calls, Observer, Sparse, SparseForward, values_within};
use crate::flow::Flow;

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Whether an edit decides anew which functions calls find, or to which unit ops belong.
    pub(super) fn is_regrouped(&self, ir: &AnalysisContext<'_, A::Base>, delta: &Delta) -> bool {
        (self.calls != Calls::Opaque)
            && delta.changed.iter().any(|&op| {
                let data = ir.op(op);
                !data.regions.is_empty()
                    && ir.function_of(op).is_none()
                    && self.holds_symbols(ir, op)
            })
    }

    fn holds_symbols(&self, ir: &Ir, op: Op) -> bool {
        let mut found = false;
        for &(_, region) in &ir.op(op).regions {
            ir.walk(region, &mut |it| {
                found |= ir.op(it).kind == OpKind::FuncFunc || self.call_index.contains(it);
            });
        }
        found
    }

    /// Takes an edit into the tables, and enters the units whose calls and callers it changes.
    pub(super) fn update_call_index(&mut self, ir: &AnalysisContext<'_, A::Base>, delta: &Delta) {
        if self.calls == Calls::Opaque {
            return;
        }
        let mut has_flowed = false;
        for op in delta.removed.iter().chain(&delta.changed) {
            if !ir.is_alive(*op) || ir.op(*op).kind != OpKind::FuncFunc {
                self.forget_contexts(*op);
                has_flowed |= self.summaries.remove(op).is_some();
            }
        }
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        for unit in self.call_index.update(ir, delta) {
            if !seen.contains(&unit) {
                let units = self.call_index.component(ir, unit);
                if self.calls == Calls::Apart
                    || has_flowed
                    || units.iter().any(|&it| self.flows(ir, it))
                {
                    self.enter_whole(ir, unit);
                }
                seen.extend(units);
            }
        }
    }

    /// Whether a unit cannot be followed op by op: other units depend on what stands in it, or it is analyzed in several contexts.
    pub(super) fn is_whole(&self, unit: Op) -> bool {
        if self.calls == Calls::Apart {
            self.call_index.is_connected(unit) && !self.has_one_context(unit)
        } else {
            self.summaries.contains_key(&unit)
        }
    }

    /// Whether an op is a call, or a cycle with a call in it, through which facts flow.
    pub(super) fn reaches_calls(&self, ir: &AnalysisContext<'_, A::Base>, op: Op) -> bool {
        if self.call_index.is_empty() {
            return self.calls == Calls::Apart && self.is_followed(ir, op) && self.is_cycle(ir, op);
        }
        let flows = |call: Op| {
            self.is_call_followed(ir, call)
                || self.calls == Calls::Joined && self.linked_callee(ir, call).is_some()
        };
        match ir.op(op).kind {
            OpKind::FuncCall => flows(op),
            _ if !self.is_cycle(ir, op) => false,
            _ if self.is_followed(ir, op) => true,
            _ => {
                let mut calls = self.call_index.calls_in(unit_of(ir, op)).iter();
                calls.any(|&it| is_around(ir, op, it) && flows(it))
            }
        }
    }

    /// Queues the unit of an op, to be solved with all that it is connected to.
    pub(super) fn enter_whole(&mut self, ir: &AnalysisContext<'_, A::Base>, op: Op) {
        let unit = unit_of(ir, op);
        if Flow::of(ir, unit) != Flow::Group && self.whole.insert(unit) {
            self.enter_exactly(ir, unit);
        }
    }

    /// Solves a unit anew, and all that it is connected to. How many ops that visited.
    pub(super) fn redo_component(&mut self, ir: &AnalysisContext<'_, A::Base>, unit: Op) -> usize {
        let n_visits = self.n_visits;
        let units = self.call_index.component(ir, unit);
        if self.calls == Calls::Joined {
            self.find_summaries(ir, &units);
        }
        let all: FxHashSet<Op> = units.iter().copied().collect();
        let mut queue = std::mem::take(&mut self.queue);
        queue.retain(|&Reverse(((_, is_start, _), op))| {
            let stays = !ir.is_alive(op) || !all.contains(&unit_of(ir, op));
            if !stays {
                self.queued.remove(&(op, is_start));
            }
            stays
        });
        self.queue = queue;
        self.whole.retain(|it| !all.contains(it));
        let mut values: Vec<Value> = Vec::new();
        for &unit in &units {
            values.extend(&ir.op(unit).results);
            values_within(ir, unit, &mut values);
        }
        let before: Vec<A::Fact> = values.iter().map(|it| self.facts[it.index()].clone()).collect();
        let n_dirty = self.dirty.len();
        for &unit in &units {
            self.reset_within(ir, unit);
            self.forget_contexts(unit);
        }
        for &unit in &units {
            self.run_whole(ir, unit);
        }
        self.settle_calls(ir, &units);
        self.dirty.truncate(n_dirty);
        for (value, before) in values.iter().zip(&before) {
            if self.facts[value.index()] != *before {
                // Only the results of a unit are used outside of it.
                self.dirty.push(*value);
            }
        }
        self.note_moved(&values, &before);
        self.n_visits - n_visits
    }

    /// Passes over a unit that was reset.
    pub(super) fn run_whole(&mut self, ir: &AnalysisContext<'_, A::Base>, unit: Op) {
        let mut around = ir.parent_op(unit);
        self.contexts.depth = 1;
        while let Some(op) = around {
            self.contexts.depth += 1;
            around = ir.parent_op(op);
        }
        self.clock += 1;
        self.cycle_start = self.clock;
        let live = self.is_live(ir, unit);
        let _ = self.run(ir, unit, live);
        self.cycle_start = 0;
        self.contexts.depth = 0;
    }
}

/// Whether an op stands in a region of another.
fn is_around(ir: &Ir, outer: Op, inner: Op) -> bool {
    std::iter::successors(ir.parent_op(inner), |&it| ir.parent_op(it)).any(|it| it == outer)
}
