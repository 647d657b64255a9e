//! Units: the mapping of ops to units, and the units that an edit changes as a whole.

use noisy_syntax::{Attr, Delta, Form, Ir, Name, Op, OpKind, Region};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::FollowedCalls;
use super::index::unit_of;
use crate::flow::Flow;
use crate::sparse::{AnalysisInput, Observer, SparseForward, SparseSolver};

/// The properties of an op outside of functions that determine the resolution of calls and the
/// units of ops.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModuleLayout {
    kind: OpKind,
    form: Form,
    name: Name,
    around: Region,
    symbol: Option<Name>,
    visibility: Option<Attr>,
    regions: SmallVec<[Region; 1]>,
    /// Ops in the regions that are functions or have regions.
    members: Vec<Op>,
}

impl ModuleLayout {
    /// Returns the layout of an op. *Cost.* Linear in the items of its regions.
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

    /// Returns the layouts of all ops with regions that are outside of functions.
    pub(super) fn of_program(ir: &Ir) -> FxHashMap<Op, Self> {
        let mut out = FxHashMap::default();
        let mut stack = vec![ir.root()];
        while let Some(region) = stack.pop() {
            for op in ir.items(region) {
                let data = ir.op(op);
                if !data.regions.is_empty() && data.kind != OpKind::FuncFunc {
                    out.insert(op, Self::of(ir, op));
                    stack.extend(data.regions.iter().map(|it| it.1));
                }
            }
        }
        out
    }
}

impl<F> FollowedCalls<F> {
    /// Updates the layouts after an edit. Returns true if the resolution of calls or the units of
    /// ops may have changed.
    pub(in crate::sparse) fn update_layouts(&mut self, ir: &Ir, delta: &Delta) -> bool {
        if !self.is_on() {
            return false;
        }
        for op in &delta.removed {
            self.modules.remove(op);
        }
        let is_holder = |op: &Op| !ir.op(*op).regions.is_empty() && ir.function_of(*op).is_none();
        let holders: Vec<Op> = delta.changed.iter().copied().filter(is_holder).collect();
        holders.into_iter().any(|op| {
            let now = ModuleLayout::of(ir, op);
            let is_same = self.modules.get(&op) == Some(&now);
            if !is_same {
                self.modules.insert(op, now);
            }
            !is_same && self.holds_symbols(ir, op)
        })
    }

    fn holds_symbols(&self, ir: &Ir, op: Op) -> bool {
        let mut found = false;
        for &(_, region) in &ir.op(op).regions {
            ir.walk(region, &mut |it| {
                found |= ir.op(it).kind == OpKind::FuncFunc || self.index.contains(it);
            });
        }
        found
    }

    /// Returns true if a unit cannot be updated op by op: it has calls or callers, and its facts
    /// are not those of a single context.
    fn needs_whole_solution(&self, unit: Op) -> bool {
        self.index.is_connected(unit) && !self.has_one_context(unit)
    }

    /// Returns true if the unit of an op cannot be updated op by op.
    pub(in crate::sparse) fn is_in_whole_unit(&self, ir: &Ir, op: Op) -> bool {
        !self.index.is_empty() && self.needs_whole_solution(unit_of(ir, op))
    }

    /// Returns true if the results of an op may flow back to it through calls of its unit. If all
    /// vectors are joined
    /// ([`CallPolicy::CONTEXT_INSENSITIVE`](crate::sparse::CallPolicy::CONTEXT_INSENSITIVE)), the
    /// results of a call depend on the operands of every other call. An op between two calls is
    /// then part of a cycle, and its facts can only fall if the whole cycle is solved again.
    /// *Cost.* Linear in the calls of the unit.
    fn is_between_calls(&self, ir: &Ir, op: Op) -> bool {
        if self.n_apart() > 0 || self.index.is_empty() {
            return false;
        }
        let calls = self.index.calls_in(unit_of(ir, op));
        let end = ir.start(op) + ir.item_len(op);
        let is_before = |&it: &Op| ir.start(it) < end;
        calls.iter().any(is_before) && !calls.iter().all(is_before)
    }

    /// Returns true if a unit is in the queue to be solved as a whole.
    pub(in crate::sparse) fn is_pending(&self, unit: Op) -> bool {
        self.pending.contains(&unit)
    }

    /// Returns true if contexts lost their last asker.
    pub(in crate::sparse) fn has_unused(&self) -> bool {
        !self.contexts.unused().is_empty()
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Updates the index of calls after an edit, and queues the units whose calls or callers
    /// changed.
    pub(in crate::sparse) fn update_call_index(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        delta: &Delta,
    ) {
        if !self.calls.is_on() {
            return;
        }
        for op in delta.removed.iter().chain(&delta.changed) {
            if !ir.is_alive(*op) || ir.op(*op).kind != OpKind::FuncFunc {
                self.calls.forget(*op);
            }
        }
        let touched = delta.removed.iter().chain(&delta.changed);
        let entered: Vec<Op> =
            touched.filter_map(|&it| self.function_with_new_entry(ir, it)).collect();
        for unit in self.calls.index.update(ir, delta, &entered) {
            self.queue_unit(ir, unit);
        }
    }

    /// Returns the function around an op if the change of the op may have changed the entry block
    /// of the function or its arguments. Calls pass their operands to these arguments, and the
    /// generic form writes them on a label, separate from the type of the function.
    fn function_with_new_entry(&self, ir: &Ir, op: Op) -> Option<Op> {
        let region = ir.op(op).parent;
        let function = ir.region(region).parent.filter(|&it| ir.is_alive(it))?;
        if ir.op(function).kind != OpKind::FuncFunc {
            return None;
        }
        let first = ir.items(region).next().filter(|&it| ir.op(it).kind == OpKind::Label);
        let is_same = self.branches.first_label(region) == first && first != Some(op);
        (!is_same).then_some(function)
    }

    /// Returns true if the unit of a queued op must be solved as a whole, because the op affects
    /// calls or other units depend on it. `is_start` is false for the end of an op.
    pub(in crate::sparse) fn needs_whole_unit(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        is_start: bool,
    ) -> bool {
        self.calls.is_in_whole_unit(ir, op)
            || self.calls.is_between_calls(ir, op)
            || is_start && self.reaches_calls(ir, op)
    }

    /// Returns true if an op is a followed call, a function with calls or callers, or a present or
    /// former cycle around such calls.
    fn reaches_calls(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> bool {
        let calls = &self.calls;
        if calls.index.is_empty() {
            return calls.is_followed_function(ir, op) && self.is_cycle(ir, op);
        }
        match ir.op(op).kind {
            OpKind::FuncCall => calls.is_followed_call(ir, op),
            OpKind::FuncFunc if calls.index.is_connected(op) => calls.is_followed_function(ir, op),
            _ if !self.is_cycle(ir, op) && !self.iterated.contains(&op) => false,
            _ if calls.is_followed_function(ir, op) => true,
            _ => {
                let mut inside = calls.index.calls_in(unit_of(ir, op)).iter();
                inside.any(|&it| ir.is_within(it, op) && calls.is_followed_call(ir, it))
            }
        }
    }

    /// Queues the unit of an op, to be solved as a whole with all units that depend on it.
    pub(in crate::sparse) fn queue_unit(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        let unit = unit_of(ir, op);
        if Flow::of(ir, unit) != Flow::Group && self.calls.pending.insert(unit) {
            self.queue.push_start(ir, unit);
        }
    }

    /// Visits a unit that was reset and is not evaluated in contexts.
    pub(super) fn run_unit(&mut self, ir: &AnalysisInput<'_, A::Base>, unit: Op) {
        self.calls.depth = depth_of(ir, unit);
        self.clock += 1;
        self.cycle.start = self.clock;
        let live = self.is_live(ir, unit);
        let _ = self.run(ir, unit, live);
        self.cycle.start = 0;
        self.calls.depth = 0;
    }
}

/// Number of regions around an op.
pub(super) fn depth_of(ir: &Ir, op: Op) -> usize {
    1 + std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it)).count()
}
