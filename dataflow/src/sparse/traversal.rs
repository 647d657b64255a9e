//! The solution from scratch: visits in program order.
//!
//! Loops are iterated where they occur (`cycles/loops.rs`). The blocks of regions with backward
//! branches are visited in another order (`cycles/blocks.rs`).
//!
//! *Cost.* The outermost cycle has fuel for a number of visits that is linear in its size; the cost
//! of a visit includes the operands. If the fuel runs out, the cycle is visited once more with
//! unknown carried facts, and it is [undecided](SparseSolver::undecided). So the solver always
//! terminates, and no error is reported about values that the cycle carries.

use noisy_syntax::{Ir, Op, OpKind, Region, Value};
use smallvec::SmallVec;

use super::{AnalysisInput, Domain, Observer, SparseForward, SparseSolver};
use crate::flow::{self, Flow};
use crate::lattice::{Changed, Lattice};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Visits all items of a region in order, in several passes if the region has a cycle. The
    /// facts of its entry block are already set.
    pub(super) fn run_region(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        live: bool,
    ) {
        self.calls.depth += 1;
        self.run_items(ir, region, live);
        self.calls.depth -= 1;
    }

    fn run_items(&mut self, ir: &AnalysisInput<'_, A::Base>, region: Region, live: bool) {
        match ir.region(region).parent.filter(|_| has_backward_branch(ir, region)) {
            Some(holder) => {
                self.branches.cyclic.insert(region);
                self.run_blocks(ir, holder, region, live);
            }
            None => {
                self.branches.cyclic.remove(&region);
                if self.cycle.is_inside() {
                    self.begin(ir.items(region));
                } else {
                    self.clock += 1;
                }
                let _ = self.pass(ir, region, ir.items(region), live);
            }
        }
    }

    /// Begins a pass over items and marks them as not visited, so that a use that precedes its
    /// definition does not see facts of an earlier pass.
    pub(super) fn begin(&mut self, items: impl Iterator<Item = Op>) {
        self.clock += 1;
        for op in items {
            self.last_visit[op.index()] = 0;
        }
    }

    /// Visits the items of whole blocks of a region. `live` is true if the first of these blocks is
    /// live.
    pub(super) fn pass(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        items: impl Iterator<Item = Op>,
        live: bool,
    ) -> Changed {
        let mut out = Changed::No;
        let mut live = live;
        let first = ir.items(region).next();
        for op in items {
            let data = ir.op(op);
            if data.kind == OpKind::Label {
                let block = ir.label_block(op);
                self.last_visit[op.index()] = self.clock;
                if Some(op) == first {
                    self.branches.labels.insert(op, (region, ir.label_block(op)));
                    self.branches.first_labels.insert(region, op);
                } else {
                    out = out.or(self.visit_label(ir, op));
                }
                live = self.live[block.index()];
                continue;
            }
            out = out.or(self.run(ir, op, live));
            if data.extra.is_some() {
                let successors = &ir.extra(op).successors;
                if !successors.is_empty() {
                    let blocks: SmallVec<[_; 2]> =
                        successors.iter().filter_map(|it| it.block).collect();
                    self.branches.targets.insert(op, blocks);
                }
            }
        }
        out
    }

    /// Visits an op and everything inside.
    pub(super) fn run(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, live: bool) -> Changed {
        self.n_visits += 1;
        self.cycle.fuel = self.cycle.fuel.saturating_sub(cost(ir, op));
        let data = ir.op(op);
        if data.regions.is_empty() {
            let changed = self.apply(ir, op, live);
            self.last_visit[op.index()] = self.clock;
            return changed;
        }
        self.reached[op.index()] = live;
        let before: SmallVec<[A::Fact; 2]> =
            data.results.iter().map(|it| self.facts[it.index()].clone()).collect();
        if self.is_loop(ir, op) {
            self.iterated.insert(op);
        }
        match Flow::of(ir, op) {
            Flow::For { first } if self.is_loop(ir, op) => self.run_for(ir, op, first, live),
            Flow::While => self.run_while(ir, op, live),
            Flow::Parallel { first } if self.is_loop(ir, op) => {
                self.run_parallel(ir, op, first, live);
            }
            // `run_parallel` runs the regions of the reduction, after the runs of the body.
            Flow::Reduce if live && ir.parent_op(op).is_some_and(|it| self.is_loop(ir, it)) => {}
            // The bodies of functions are visited after all other ops.
            Flow::Function if self.calls.is_followed_function(ir, op) => {}
            _ => {
                for index in 0..data.regions.len() {
                    self.open(ir, op, index, live);
                    let region = data.regions[index].1;
                    let live = self.live[flow::entry_block(ir, region).index()];
                    self.run_region(ir, region, live);
                }
                self.join_yields(ir, op, live);
            }
        }
        // The stamp is set when the op is finished, so that uses inside the op do not see its
        // results.
        self.last_visit[op.index()] = self.clock;
        Changed::when(
            data.results.iter().zip(&before).any(|(it, before)| self.facts[it.index()] != *before),
        )
    }

    /// Sets the fuel if `op` is the outermost cycle. Returns true in this case.
    pub(super) fn refuel(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> bool {
        if self.cycle.is_inside() || self.cycle.is_degraded {
            return false;
        }
        let mut n = 0_u64;
        for &(_, region) in &ir.op(op).regions {
            ir.walk(region, &mut |it| n += cost(ir, it));
        }
        self.cycle.fuel = 200_000 + 64 * n;
        true
    }

    /// Ends the outermost cycle. If its fuel ran out, it is visited once more with unknown carried
    /// facts, which are above the facts of any number of rounds.
    pub(super) fn give_up_if_spent(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        if self.cycle.fuel == 0 && !self.cycle.is_degraded {
            self.degrade(ir, op, |it| {
                let live = it.is_live(ir, op);
                let _ = it.run(ir, op, live);
            });
        }
    }

    /// Runs a cycle again with unknown carried facts.
    pub(super) fn degrade(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        run: impl FnOnce(&mut Self),
    ) {
        self.reset_within(ir, op);
        self.run_degraded(op, run);
    }

    /// Visits a part of an op, whose facts are already reset, with unknown carried facts.
    pub(super) fn run_degraded(&mut self, op: Op, run: impl FnOnce(&mut Self)) {
        self.undecided.insert(op);
        self.cycle.is_degraded = true;
        run(self);
        self.cycle.is_degraded = false;
    }

    /// Resets all facts in a function to bottom and removes the findings about it, in all of its
    /// contexts.
    pub(super) fn reset_function(&mut self, ir: &AnalysisInput<'_, A::Base>, function: Op) {
        self.enter_context(None, 1);
        self.reset_within(ir, function);
        self.leave_context();
    }

    /// Resets the results of an op and all facts inside the op to bottom.
    pub(super) fn reset_within(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op) {
        self.observer.forget(op);
        self.undecided.remove(&op);
        for &value in &ir.op(op).results {
            self.facts[value.index()] = A::Fact::bottom();
        }
        for &(_, region) in &ir.op(op).regions {
            for block in [ir.region(region).entry, flow::entry_block(ir, region)] {
                self.live[block.index()] = false;
                for &value in &ir.block(block).args {
                    self.facts[value.index()] = A::Fact::bottom();
                }
            }
            self.reset_items(ir, region);
        }
    }

    /// Resets all facts in a region to bottom, but those of its entry.
    pub(super) fn reset_items(&mut self, ir: &AnalysisInput<'_, A::Base>, region: Region) {
        for (n, inner) in ir.items(region).enumerate() {
            self.reached[inner.index()] = false;
            let is_label = ir.op(inner).kind == OpKind::Label;
            if is_label {
                if n == 0 {
                    // The enclosing op owns the facts of the entry block.
                    self.observer.forget(inner);
                    continue;
                }
                self.live[ir.label_block(inner).index()] = false;
            }
            self.reset_within(ir, inner);
        }
    }

    /// Sets the facts of the results of an op. Results beyond the end of `facts` are unknown.
    pub(super) fn set_results(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        facts: impl IntoIterator<Item = A::Fact>,
        live: bool,
    ) -> Changed {
        let mut facts = facts.into_iter();
        let mut changed = Changed::No;
        for &value in &ir.op(op).results {
            let fact = facts.next().unwrap_or_else(A::Fact::unknown);
            let carries = live && self.carries(ir, value);
            let fact = if carries { fact } else { A::Fact::bottom() };
            changed = changed.or(self.set(ir, op, value, fact));
        }
        changed
    }
}

/// Fuel for a visit of an op. Operands count, because a round of a loop that carries a thousand
/// values is expensive.
fn cost(ir: &Ir, op: Op) -> u64 {
    1 + ir.op(op).operands.len() as u64 / 4
}

/// Returns true if a branch in a region targets a preceding label.
fn has_backward_branch(ir: &Ir, region: Region) -> bool {
    let goes_back = |label: Op, op: Op| ir.op(op).parent == region && !ir.is_before(op, label);
    ir.labels(region).any(|label| {
        let preds = &ir.block(ir.label_block(label)).preds;
        preds.iter().any(|&(op, _)| goes_back(label, op))
    })
}

/// Appends all values defined inside an op: arguments of its regions, and results and region
/// arguments of the nested ops.
pub fn values_within(ir: &Ir, op: Op, out: &mut Vec<Value>) {
    for &(_, region) in &ir.op(op).regions {
        values_in(ir, region, out);
    }
}

pub(super) fn values_in(ir: &Ir, region: Region, out: &mut Vec<Value>) {
    out.extend(ir.block(ir.region(region).entry).args.iter().copied());
    for inner in ir.items(region) {
        out.extend(ir.op(inner).results.iter().copied());
        values_within(ir, inner, out);
    }
}
