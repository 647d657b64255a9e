//! Evaluation of the body of a function in one of its contexts.
//!
//! The fact of a value in a body is the join over all contexts: an evaluation starts from bottom,
//! and joins the former facts at the end.

use noisy_syntax::{OpKind, Region, Value};
use smallvec::smallvec;

use super::context::ContextKey;
use super::small_map::Facts;
use crate::flow;
use crate::lattice::Lattice;
use crate::sparse::{AnalysisInput, Domain, Observer, SparseForward, SparseSolver, values_within};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Evaluates the body of a function in a context, for the `number`-th time, from 1. Returns its
    /// results.
    pub(super) fn evaluate(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        key: ContextKey,
        number: u64,
    ) -> Facts<A::Fact> {
        let (function, id) = key;
        let n_results = flow::n_results(ir, function);
        let Some(region) = flow::function_body(ir, function) else { return Facts::new() };
        let Some(context) = self.calls.contexts.get(key) else { return Facts::new() };
        let args = context.args.clone();
        self.remember(ir, function);
        let asker = self.calls.asker.replace(key);
        // The cycles around a call are not cycles around the body of the callee.
        let outer = std::mem::take(&mut self.cycle);
        self.cycle.fuel = outer.fuel;
        self.calls.depth += 1;
        self.enter_context(Some(id), number);
        let mut values: Vec<Value> = Vec::new();
        if !self.calls.traversed.insert(function) {
            values_within(ir, function, &mut values);
            self.unreach(ir, region);
        }
        let before: Vec<A::Fact> = values
            .iter()
            .map(|it| std::mem::replace(&mut self.facts[it.index()], A::Fact::bottom()))
            .collect();
        let n_dirty = self.queue.dirty.len();
        self.clock += 1;
        self.cycle.start = if self.checks_order { self.clock } else { outer.start };
        self.reached[function.index()] = true;
        self.last_visit[function.index()] = self.clock;
        let entry = flow::entry_block(ir, region);
        let header = ir.region(region).entry;
        if header != entry {
            self.live[header.index()] = true;
            self.set_unknown(ir, function, header, true);
        }
        self.live[entry.index()] = true;
        for (&value, fact) in ir.block(entry).args.iter().zip(args) {
            if self.carries(ir, value) {
                let _ = self.set(ir, function, value, fact);
            }
        }
        self.run_region(ir, region, true);
        let results = self.returned_by(ir, region, n_results);
        for (value, before) in values.iter().zip(&before) {
            let _ = self.facts[value.index()].join(before);
        }
        self.queue.dirty.truncate(n_dirty);
        self.leave_context();
        self.calls.depth -= 1;
        self.cycle = outer;
        self.calls.asker = asker;
        results
    }

    /// Marks the ops of a region as not reached and not visited.
    fn unreach(&mut self, ir: &AnalysisInput<'_, A::Base>, region: Region) {
        for op in ir.items(region) {
            self.reached[op.index()] = false;
            self.last_visit[op.index()] = 0;
            if ir.op(op).kind == OpKind::Label {
                self.live[ir.label_block(op).index()] = false;
            }
            for &(_, inner) in &ir.op(op).regions {
                self.live[ir.region(inner).entry.index()] = false;
                self.unreach(ir, inner);
            }
        }
    }

    /// Returns the join of the operands of live returns; unknown if a live block ends with anything
    /// else than a return or a branch.
    fn returned_by(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        n: usize,
    ) -> Facts<A::Fact> {
        let mut out: Facts<A::Fact> = smallvec![A::Fact::bottom(); n];
        let unknown = || smallvec![A::Fact::unknown(); n];
        if n == 0 {
            return out;
        }
        if !self.is_block_live(flow::entry_block(ir, region)) {
            return unknown();
        }
        for block in ir.blocks(region) {
            if !self.is_block_live(block) {
                continue;
            }
            let Some(end) = ir.last_op(block) else { return unknown() };
            if ir.op(end).kind == OpKind::FuncReturn && ir.op(end).operands.len() == n {
                for (index, fact) in out.iter_mut().enumerate() {
                    let _ = fact.join(&self.read_passed(ir, end, index));
                }
            } else if ir.extra(end).successors.is_empty() {
                return unknown();
            }
        }
        out
    }
}
