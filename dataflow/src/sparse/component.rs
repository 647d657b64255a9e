//! From an edit outward, through calls: what is followed op by op, and what is solved as a whole (see `call_index.rs`).

use noisy_syntax::{Delta, Ir, Op, OpKind};
use rustc_hash::FxHashSet;

use super::call_index::unit_of;
use super::{Calls, Input, Observer, Sparse, SparseForward};
use crate::flow::Flow;

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Whether an edit decides anew which functions calls find, or to which unit ops belong.
    pub(super) fn is_regrouped(&self, ir: &Input<'_, A::Base>, delta: &Delta) -> bool {
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
    pub(super) fn update_call_index(&mut self, ir: &Input<'_, A::Base>, delta: &Delta) {
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
        if self.calls == Calls::Apart {
            for unit in self.call_index.update(ir, delta, false) {
                self.enter_whole(ir, unit);
            }
            return;
        }
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        for unit in self.call_index.update(ir, delta, true) {
            if !seen.contains(&unit) {
                let units = self.call_index.component(ir, unit);
                if has_flowed || units.iter().any(|&it| self.flows(ir, it)) {
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

    /// Whether the unit of an op that is queued has come to be one that cannot be followed op by op.
    pub(super) fn is_whole_by_now(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        !self.call_index.is_empty() && self.is_whole(unit_of(ir, op))
    }

    /// Whether an op is a call, or a cycle with a call in it, through which facts flow.
    pub(super) fn reaches_calls(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
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
    pub(super) fn enter_whole(&mut self, ir: &Input<'_, A::Base>, op: Op) {
        let unit = unit_of(ir, op);
        if Flow::of(ir, unit) != Flow::Group && self.whole.insert(unit) {
            self.enter_exactly(ir, unit);
        }
    }

    /// Passes over a unit that was reset.
    pub(super) fn run_whole(&mut self, ir: &Input<'_, A::Base>, unit: Op) {
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
