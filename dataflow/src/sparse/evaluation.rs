//! The body of a function, passed over in one of its contexts.
//!
//! The facts of the values in a body are the join over its contexts: an evaluation starts from bottom, and joins in the end what the values
//! had before.

use noisy_syntax::{Def, Op, OpKind, Region, Value};
use smallvec::{SmallVec, smallvec};

use super::few::Facts;
use super::{Domain, Input, Observer, Pass, Round, Sparse, SparseForward, values_within};
use crate::flow;
use crate::lattice::Lattice;

/// What the pass around a call keeps for itself.
struct Outer {
    rounds: SmallVec<[Round; 2]>,
    passes: SmallVec<[Pass; 2]>,
    fuel: u64,
    cycle_start: u32,
    is_degraded: bool,
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Passes over the body of a function in a context; what it returns. The facts of its values are joined with what they were.
    pub(super) fn evaluate(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        at: usize,
        number: u64,
    ) -> Facts<A::Fact> {
        let n_results = flow::n_results(ir, function);
        let Some(region) = flow::body(ir, function) else { return Facts::new() };
        let Some(context) = self.context(function, at) else { return Facts::new() };
        let (id, args) = (context.id, context.args.clone());
        self.remember(ir, function);
        let asker = self.contexts.asker.replace((function, id));
        let outer = Outer {
            rounds: std::mem::take(&mut self.rounds),
            passes: std::mem::take(&mut self.passes),
            fuel: self.fuel,
            cycle_start: self.cycle_start,
            is_degraded: std::mem::replace(&mut self.is_degraded, false),
        };
        self.contexts.depth += 1;
        self.enter_context(Some(id), number);
        let mut values: Vec<Value> = Vec::new();
        if !self.contexts.passed_over.insert(function) {
            values_within(ir, function, &mut values);
            self.unreach(ir, region);
        }
        let before: Vec<A::Fact> = values
            .iter()
            .map(|it| std::mem::replace(&mut self.facts[it.index()], A::Fact::bottom()))
            .collect();
        let n_dirty = self.dirty.len();
        self.clock += 1;
        if self.checks_order {
            self.cycle_start = self.clock;
        }
        self.reached[function.index()] = true;
        self.stamp[function.index()] = self.clock;
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
        self.dirty.truncate(n_dirty);
        self.leave_context();
        self.contexts.depth -= 1;
        self.rounds = outer.rounds;
        self.passes = outer.passes;
        self.fuel = outer.fuel;
        self.cycle_start = outer.cycle_start;
        self.is_degraded = outer.is_degraded;
        self.contexts.asker = asker;
        results
    }

    /// Forgets that ops of a region were reached and visited.
    fn unreach(&mut self, ir: &Input<'_, A::Base>, region: Region) {
        for op in ir.items(region) {
            self.reached[op.index()] = false;
            self.stamp[op.index()] = 0;
            if ir.op(op).kind == OpKind::Label {
                self.live[ir.label_block(op).index()] = false;
            }
            for &(_, inner) in &ir.op(op).regions {
                self.live[ir.region(inner).entry.index()] = false;
                self.unreach(ir, inner);
            }
        }
    }

    /// What the live returns of a body give, joined; unknown if a live block ends otherwise.
    fn returned_by(&self, ir: &Input<'_, A::Base>, region: Region, n: usize) -> Facts<A::Fact> {
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

    /// Whether what a value is computed from was reached: then bottom says that it is never computed.
    pub(super) fn is_computed(&self, ir: &Input<'_, A::Base>, value: Value) -> bool {
        match ir.value(value).def {
            Def::Result(op, _) => self.reached[op.index()],
            Def::Argument(block, _) => self.live[block.index()],
        }
    }
}
