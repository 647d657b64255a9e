//! From an edit outward, through calls: which units are followed op by op, and which are solved as a whole (see `call_index.rs`).

use noisy_syntax::{Attr, Delta, Form, Ir, Name, Op, OpKind, Region};
use smallvec::SmallVec;

use super::call_index::unit_of;
use super::{Input, Observer, Sparse, SparseForward};
use crate::flow::Flow;

/// What of an op outside of functions decides which functions calls find, and to which unit ops belong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    kind: OpKind,
    form: Form,
    name: Name,
    around: Region,
    symbol: Option<Name>,
    visibility: Option<Attr>,
    regions: SmallVec<[Region; 1]>,
    /// The ops in its regions that hold others or are functions.
    members: Vec<Op>,
}

impl Group {
    /// That of an op. *Cost.* The items of its regions.
    fn of(ir: &Ir, op: Op) -> Self {
        let data = ir.op(op);
        let regions: SmallVec<[Region; 1]> = data.regions.iter().map(|it| it.1).collect();
        let is_member =
            |it: &Op| !ir.op(*it).regions.is_empty() || ir.op(*it).kind == OpKind::FuncFunc;
        Self {
            kind: data.kind,
            form: data.form,
            name: data.name,
            around: data.parent,
            symbol: ir.extra(op).symbol.map(|it| it.0),
            visibility: ir.attr(op, "sym_visibility"),
            members: regions.iter().flat_map(|&it| ir.items(it)).filter(is_member).collect(),
            regions,
        }
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Whether an edit decides anew which functions calls find, or to which unit ops belong.
    pub(super) fn is_regrouped(&mut self, ir: &Input<'_, A::Base>, delta: &Delta) -> bool {
        if !self.follows_calls() {
            return false;
        }
        for op in &delta.removed {
            self.groups.remove(op);
        }
        let is_holder = |op: &Op| !ir.op(*op).regions.is_empty() && ir.function_of(*op).is_none();
        let holders: Vec<Op> = delta.changed.iter().copied().filter(is_holder).collect();
        holders.into_iter().any(|op| {
            let now = Group::of(ir, op);
            let is_same = self.groups.get(&op) == Some(&now);
            if !is_same {
                self.groups.insert(op, now);
            }
            !is_same && self.holds_symbols(ir, op)
        })
    }

    /// Notes what decides that, of a whole program.
    pub(super) fn note_groups(&mut self, ir: &Ir) {
        self.groups.clear();
        let mut stack = vec![ir.root()];
        while let Some(region) = stack.pop() {
            for op in ir.items(region) {
                let data = ir.op(op);
                if !data.regions.is_empty() && data.kind != OpKind::FuncFunc {
                    self.groups.insert(op, Group::of(ir, op));
                    stack.extend(data.regions.iter().map(|it| it.1));
                }
            }
        }
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
        if !self.follows_calls() {
            return;
        }
        for op in delta.removed.iter().chain(&delta.changed) {
            if !ir.is_alive(*op) || ir.op(*op).kind != OpKind::FuncFunc {
                self.forget_contexts(*op);
            }
        }
        let touched = delta.removed.iter().chain(&delta.changed);
        let entered: Vec<Op> = touched.filter_map(|&it| self.entered_anew(ir, it)).collect();
        for unit in self.call_index.update(ir, delta, &entered) {
            self.enter_whole(ir, unit);
        }
    }

    /// The function whose entry is another one, or may have other arguments, now that an op of its body came, changed or left. Calls pass
    /// their operands to these arguments, which in generic form are not written where the function's type is.
    fn entered_anew(&self, ir: &Ir, op: Op) -> Option<Op> {
        let region = ir.op(op).parent;
        let function = ir.region(region).parent.filter(|&it| ir.is_alive(it))?;
        if ir.op(function).kind != OpKind::FuncFunc {
            return None;
        }
        let first = ir.items(region).next().filter(|&it| ir.op(it).kind == OpKind::Label);
        let is_same = self.first_labels.get(&region).copied() == first && first != Some(op);
        (!is_same).then_some(function)
    }

    /// Whether a unit cannot be followed op by op: other units depend on what stands in it, or it is analyzed in several contexts.
    pub(super) fn is_whole(&self, unit: Op) -> bool {
        self.call_index.is_connected(unit) && !self.has_one_context(unit)
    }

    /// Whether the unit of an op that is queued has come to be one that cannot be followed op by op.
    pub(super) fn is_whole_by_now(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        !self.call_index.is_empty() && self.is_whole(unit_of(ir, op))
    }

    /// Whether what an op gives may come back to it through calls of its unit: where all that is passed to a function is joined
    /// ([`super::Calls::JOINED`]), a call gives what depends on the operands of every other, so what stands between two calls is part of a
    /// cycle, and falls only if all of that is solved anew. *Cost.* The calls of the unit.
    pub(super) fn is_between_calls(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        if self.apart() > 0 || self.call_index.is_empty() {
            return false;
        }
        let calls = self.call_index.calls_in(unit_of(ir, op));
        let end = ir.start(op) + ir.len(op);
        let is_before = |&it: &Op| ir.start(it) < end;
        calls.iter().any(is_before) && !calls.iter().all(is_before)
    }

    /// Whether an op is a call that is followed, what is or was a cycle with one in it, or a function with some: what it is decides whether
    /// they are followed, and with what.
    pub(super) fn reaches_calls(&self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        if self.call_index.is_empty() {
            return self.is_followed(ir, op) && self.is_cycle(ir, op);
        }
        match ir.op(op).kind {
            OpKind::FuncCall => self.is_call_followed(ir, op),
            OpKind::FuncFunc if self.call_index.is_connected(op) => self.is_followed(ir, op),
            _ if !self.is_cycle(ir, op) && !self.iterated.contains(&op) => false,
            _ if self.is_followed(ir, op) => true,
            _ => {
                let mut calls = self.call_index.calls_in(unit_of(ir, op)).iter();
                calls.any(|&it| ir.is_within(it, op) && self.is_call_followed(ir, it))
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

    /// Passes over a unit that was reset and is no function that is evaluated in contexts.
    pub(super) fn run_whole(&mut self, ir: &Input<'_, A::Base>, unit: Op) {
        self.contexts.depth = depth_of(ir, unit);
        self.clock += 1;
        self.cycle_start = self.clock;
        let live = self.is_live(ir, unit);
        let _ = self.run(ir, unit, live);
        self.cycle_start = 0;
        self.contexts.depth = 0;
    }
}

/// How many regions are around an op.
pub(super) fn depth_of(ir: &Ir, op: Op) -> usize {
    1 + std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it)).count()
}
