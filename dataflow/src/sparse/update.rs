//! The incremental solution after an edit: the work loop, and the ops that are queued for each
//! added, changed or removed op.

use noisy_syntax::{Block, Def, Delta, Op, OpKind, Region, Value};
use smallvec::SmallVec;

use super::reads::ReadSubject;
use super::{
    AnalysisInput, ChangedValues, Domain, Observer, SparseForward, SparseSolver, values_within,
};
use crate::flow::{self, Flow};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Updates the facts after an edit. `below` are the values with new facts in the base.
    /// Afterwards the facts equal those from scratch.
    pub fn update(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        delta: &Delta,
        below: &ChangedValues,
    ) {
        let ChangedValues::These(below) = below else { return self.solve(ir) };
        self.n_visits = 0;
        self.moved = ChangedValues::These(Vec::new());
        self.resize_tables(ir);
        if self.calls.update_layouts(ir, delta) {
            return self.solve(ir);
        }
        self.clock += 1;
        self.checks_order = true;
        self.update_call_index(ir, delta);
        for &op in &delta.removed {
            self.iterated.remove(&op);
            self.observer.forget(op);
            self.undecided.remove(&op);
            self.reached[op.index()] = false;
            self.queue_dependents(ir, op);
            self.queue_around(ir, op);
        }
        for &op in &delta.changed {
            self.observer.forget(op);
            self.undecided.remove(&op);
            self.queue_dependents(ir, op);
            self.queue_around(ir, op);
            self.queue_op(ir, op);
            if let Some((name, _)) = ir.op(op).extra.as_ref().and_then(|it| it.symbol) {
                self.queue_readers(ir, ReadSubject::Name(name));
            }
            if ir.op(op).kind == OpKind::Label && !self.branches.labels.contains_key(&op) {
                self.queue_block(ir, ir.label_block(op));
            }
        }
        for &value in below {
            self.queue_moved_below(ir, value);
        }
        // Beyond this number, a pass over the whole program is cheaper than the queue.
        let mut many = 1000 + ir.n_slots().0 / 16;
        loop {
            let Some((op, is_start)) = self.queue.pop() else {
                if !self.calls.has_unused() {
                    break;
                }
                // Removed functions had asked for contexts that are unused now.
                many += self.update_units(ir);
                self.queue_users(ir);
                continue;
            };
            if !ir.is_alive(op) {
                continue;
            }
            if self.n_visits + self.queue.len() > many {
                return self.solve(ir);
            }
            if self.calls.is_pending(op) && is_start {
                if !ir.extra(op).successors.is_empty() {
                    // A branch next to functions is so rare that it is not handled incrementally.
                    return self.solve(ir);
                }
                // A pass over the whole program would visit connected units too.
                many += self.update_units(ir);
            } else if self.needs_whole_unit(ir, op, is_start) {
                self.queue_unit(ir, op);
            } else if !is_start {
                self.join_yields(ir, op, self.is_live(ir, op));
                self.n_visits += 1;
            } else if self.is_cycle(ir, op) || self.iterated.remove(&op) {
                let holds_functions =
                    matches!(ir.op(op).kind, OpKind::Chunk | OpKind::BuiltinModule);
                if self.calls.is_on() && holds_functions {
                    // Functions are visited after all other ops.
                    return self.solve(ir);
                }
                self.redo_cycle(ir, op);
            } else {
                self.visit(ir, op);
            }
            self.queue_users(ir);
        }
    }

    /// Visits the definitions of some values again, because the answers of
    /// [`SparseForward::refine`] changed.
    pub fn refine_again(&mut self, ir: &AnalysisInput<'_, A::Base>, values: &[Value]) {
        self.subscriptions.reads_own = true;
        self.update(ir, &Delta::default(), &ChangedValues::These(values.to_vec()));
    }

    /// Queues the ops that depend on the former state of a removed or changed op.
    fn queue_dependents(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        self.queue_readers(ir, ReadSubject::Op(op));
        self.queue_users_of_definer(ir, op);
        self.subscriptions.forget(op);
        if let Some(blocks) = self.branches.targets.remove(&op) {
            for block in blocks {
                self.queue_label_of(ir, block);
            }
        }
        // The ops after a removed label are part of the preceding block now. If a label still
        // starts the same block, the other ops of the block are the same, except for ops that the
        // delta contains anyway.
        let label = |it: Op| (ir.op(it).parent, ir.label_block(it));
        let is_label = ir.is_alive(op) && ir.op(op).kind == OpKind::Label;
        if is_label && self.branches.labels.get(&op) == Some(&label(op)) {
            return;
        }
        if let Some((region, _)) = self.branches.labels.remove(&op) {
            self.queue_region(ir, region);
            if let Some(parent) = ir.region(region).parent.filter(|&it| ir.is_alive(it)) {
                self.queue_op(ir, parent);
            }
        }
    }

    /// Queues the users of the values of an op that have read its definition. Users of a removed op
    /// are in the delta anyway.
    fn queue_users_of_definer(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        if !ir.is_alive(op) {
            return;
        }
        let data = ir.op(op);
        let label = (data.kind == OpKind::Label).then(|| ir.label_block(op));
        let entries = data.regions.iter().map(|it| ir.region(it.1).entry);
        let args = label.into_iter().chain(entries).flat_map(|it| &ir.block(it).args);
        for &value in data.results.iter().chain(args) {
            for &(user, _) in &ir.value(value).uses {
                if self.subscriptions.has_read_definers(user) && ir.is_alive(user) {
                    self.queue_op(ir, user);
                }
            }
        }
    }

    /// Queues the readers of a subject.
    fn queue_readers(&mut self, ir: &AnalysisInput<'_, A::Base>, read: ReadSubject) {
        let readers: SmallVec<[Op; 4]> = self.subscriptions.readers(read).collect();
        for op in readers.into_iter().filter(|&it| ir.is_alive(it)) {
            self.queue_op(ir, op);
        }
    }

    /// Queues the ops that depend on a value with new facts in the base.
    fn queue_moved_below(&mut self, ir: &AnalysisInput<'_, A::Base>, value: Value) {
        if self.subscriptions.reads_own
            && let Some(site) = ir.definition_site(value)
        {
            self.queue_alive(ir, site);
            // The results of an op with regions are joined from its yields, so the whole op is
            // queued.
            if let Def::Argument(block, _) = ir.value(value).def
                && let Some(holder) = ir.region(ir.block(block).region).parent
                && ir.op(holder).kind != OpKind::Chunk
            {
                self.queue_alive(ir, holder);
            }
        }
        let ty = ir.value(value).ty;
        if self.analysis.interval(&ir.interner, ty, &A::Fact::unknown()).is_none() {
            for &(user, _) in &ir.value(value).uses {
                if !ir.op(user).regions.is_empty() || flow::controlling_operand(ir, user).is_some()
                {
                    self.queue_alive(ir, user);
                }
            }
        }
        self.queue_readers(ir, ReadSubject::Base(value));
    }

    fn queue_alive(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        if ir.is_alive(op) {
            self.queue_op(ir, op);
        }
    }

    /// Queues the op around `op`, or its end, if its facts may depend on `op`.
    fn queue_around(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        let Some(parent) = ir.region(ir.op(op).parent).parent else { return };
        if !ir.is_alive(parent) {
            return;
        }
        self.check_entry(ir, ir.op(op).parent);
        if self.calls.is_in_whole_unit(ir, parent) {
            return self.queue_unit(ir, parent);
        }
        match ir.op(parent).kind {
            // The op at the end of the region defines the results.
            OpKind::ScfParallel | OpKind::ScfForall => return self.queue_op(ir, parent),
            OpKind::ScfReduce | OpKind::ScfForallInParallel => {
                self.queue_op(ir, parent);
                if let Some(around) = ir.parent_op(parent) {
                    self.queue_op(ir, around);
                }
                return;
            }
            _ => {}
        }
        match Flow::of(ir, parent) {
            Flow::Choice => self.queue_end(ir, parent),
            Flow::For { .. } | Flow::While => self.queue_op(ir, parent),
            // The region may start with another label.
            _ if ir.op(op).kind == OpKind::Label => self.queue_op(ir, parent),
            _ => {}
        }
    }

    /// Queues the entry of a region and its former entry if they differ. The former entry gets its
    /// arguments from branches now.
    fn check_entry(&mut self, ir: &AnalysisInput<'_, A::Base>, region: Region) {
        let first = ir.items(region).next().filter(|&it| ir.op(it).kind == OpKind::Label);
        let former = match first {
            Some(label) => self.branches.first_labels.insert(region, label),
            None => self.branches.first_labels.remove(&region),
        };
        if former == first {
            return;
        }
        for label in former.into_iter().chain(first) {
            if ir.is_alive(label) && ir.op(label).kind == OpKind::Label {
                self.queue_op(ir, label);
                self.queue_block(ir, ir.label_block(label));
            }
        }
        if let Some(parent) = ir.region(region).parent {
            self.queue_op(ir, parent);
        }
    }

    /// Queues an op. If the op is within a cycle, queues the outermost cycle instead; if its unit
    /// is solved as a whole, queues the unit.
    fn queue_op(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        if self.calls.is_in_whole_unit(ir, op) {
            return self.queue_unit(ir, op);
        }
        let target = self.outermost_cycle(ir, op).unwrap_or(op);
        self.queue.push_start(ir, target);
    }

    /// Queues the end of an op with regions.
    fn queue_end(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        if self.outermost_cycle(ir, op).is_some() {
            self.queue_op(ir, op);
        } else {
            self.queue.push_end(ir, op);
        }
    }

    fn outermost_cycle(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> Option<Op> {
        let mut found = None;
        let mut at = Some(op);
        while let Some(it) = at {
            if self.is_cycle(ir, it) {
                found = Some(it);
            }
            at = ir.parent_op(it);
        }
        found
    }

    pub(super) fn is_cycle(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> bool {
        let data = ir.op(op);
        !data.regions.is_empty()
            && (self.is_loop(ir, op)
                || (!self.branches.cyclic.is_empty()
                    && data.regions.iter().any(|(_, it)| self.branches.cyclic.contains(it))))
    }

    /// Returns true if an op must be iterated because it carries facts from round to round.
    pub(super) fn is_loop(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> bool {
        match Flow::of(ir, op) {
            Flow::For { .. } | Flow::Parallel { .. } => {
                ir.op(op).results.iter().any(|&it| self.carries(ir, it))
            }
            flow => flow == Flow::While,
        }
    }

    fn queue_block(&mut self, ir: &AnalysisInput<'_, A::Base>, block: Block) {
        for op in ir.block_ops(block) {
            self.queue_op(ir, op);
        }
    }

    fn queue_region(&mut self, ir: &AnalysisInput<'_, A::Base>, region: Region) {
        if ir.region(region).parent.is_some_and(|it| ir.is_alive(it)) {
            for op in ir.items(region) {
                self.queue_op(ir, op);
            }
        }
    }

    fn queue_label_of(&mut self, ir: &AnalysisInput<'_, A::Base>, block: Block) {
        if let Some(label) = ir.block(block).label {
            let data = ir.op(label);
            if ir.is_alive(label) && data.kind == OpKind::Label && ir.label_block(label) == block {
                self.queue_op(ir, label);
            }
        }
    }

    /// Queues the users of values with new facts.
    fn queue_users(&mut self, ir: &AnalysisInput<'_, A::Base>) {
        let mut dirty = std::mem::take(&mut self.queue.dirty);
        for value in dirty.drain(..) {
            for &(user, _) in &ir.value(value).uses {
                self.queue_op(ir, user);
            }
        }
        self.queue.dirty = dirty;
    }

    /// Visits an op outside of all cycles.
    fn visit(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        self.n_visits += 1;
        self.last_visit[op.index()] = self.clock;
        self.observer.forget(op);
        self.undecided.remove(&op);
        let data = ir.op(op);
        if data.kind == OpKind::FuncFunc {
            self.assume(ir, op);
        }
        if data.kind == OpKind::Label {
            let block = ir.label_block(op);
            let was = self.is_block_live(block);
            if ir.prev(op).is_none() {
                // The entry block gets its facts from the enclosing op.
                if let Some(parent) = ir.parent_op(op) {
                    self.queue_op(ir, parent);
                }
                self.branches.labels.insert(op, (data.parent, block));
            } else {
                let _ = self.visit_label(ir, op);
            }
            if was != self.is_block_live(block) {
                self.queue_block(ir, block);
            }
            return;
        }
        let live = self.is_live(ir, op);
        if data.regions.is_empty() {
            let _ = self.apply(ir, op, live);
        } else {
            self.reached[op.index()] = live;
            for index in 0..data.regions.len() {
                let block = flow::entry_block(ir, data.regions[index].1);
                let was = self.is_block_live(block);
                self.open(ir, op, index, live);
                if was != self.is_block_live(block) {
                    self.queue_block(ir, block);
                }
            }
            self.queue_end(ir, op);
        }
        if self.note_branch(ir, op) {
            // A backward branch makes its region a cycle.
            self.branches.cyclic.insert(data.parent);
            self.queue_op(ir, op);
        }
        for successor in &ir.extra(op).successors {
            if let Some(block) = successor.block {
                self.queue_label_of(ir, block);
            }
        }
        let gives_results = match data.kind {
            OpKind::ScfYield | OpKind::AffineYield | OpKind::MemrefAllocaScopeReturn => true,
            OpKind::Unknown => flow::is_yield(ir, op),
            _ => false,
        };
        if gives_results && let Some(parent) = ir.parent_op(op) {
            self.queue_end(ir, parent);
        }
        if let Some(parent) = ir.parent_op(op)
            && ir.op(parent).kind == OpKind::ScfForallInParallel
            && let Some(around) = ir.parent_op(parent)
        {
            self.queue_end(ir, around);
        }
    }

    /// Records the targets of a branch. Returns true if it goes backward.
    fn note_branch(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> bool {
        let successors = &ir.extra(op).successors;
        if successors.is_empty() {
            return false;
        }
        self.branches.targets.insert(op, successors.iter().filter_map(|it| it.block).collect());
        let labels = successors.iter().filter_map(|it| ir.block(it.block?).label);
        let mut labels = labels.filter(|&label| ir.op(label).parent == ir.op(op).parent);
        labels.any(|label| ir.is_before(label, op))
    }

    /// Iterates an outermost cycle again, from bottom.
    fn redo_cycle(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        let live = self.is_live(ir, op);
        let mut values: Vec<Value> = ir.op(op).results.to_vec();
        values_within(ir, op, &mut values);
        let before: Vec<A::Fact> = values.iter().map(|it| self.facts[it.index()].clone()).collect();
        self.reset_within(ir, op);
        self.clock += 1;
        self.cycle.start = self.clock;
        let n_dirty = self.queue.dirty.len();
        let _ = self.run(ir, op, live);
        self.cycle.start = 0;
        self.queue.dirty.truncate(n_dirty);
        self.queue.dirty.extend(ir.op(op).results.iter().zip(&before).filter_map(
            |(&value, before)| (self.facts[value.index()] != *before).then_some(value),
        ));
        self.note_moved(&values, &before);
    }

    /// Records the values whose facts differ from `before`.
    pub(super) fn note_moved(&mut self, values: &[Value], before: &[A::Fact]) {
        let ChangedValues::These(moved) = &mut self.moved else { return };
        for (value, before) in values.iter().zip(before) {
            if self.facts[value.index()] != *before {
                moved.push(*value);
            }
        }
    }
}
