//! Liveness of values. A value is live if an op with effects, a condition, or code outside the
//! program depends on it.
//!
//! *Law.* A value that is not in [`LiveValues`] may be replaced by any value of its type without an
//! observable change. Values that loops carry, that conditional ops yield, and that private
//! functions receive and return, are live only if the value that they become is live. *Cost.*
//! Linear in the ops, their operands and the calls.

use noisy_dataflow::flow;
use noisy_syntax::{Block, Def, Ir, Op, OpKind, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::nested_ops;
use noisy_analyses::facts::effects;
use noisy_analyses::facts::values::operand;

/// The live values.
#[derive(Debug, Default)]
pub(crate) struct LiveValues {
    values: FxHashSet<Value>,
    ops: FxHashSet<Op>,
    stack: Vec<Value>,
    /// The calls of each private function, if all of them are known.
    calls: FxHashMap<Op, Vec<Op>>,
    /// The callee of each of these calls.
    callees: FxHashMap<Op, Op>,
}

impl LiveValues {
    /// Returns the live values in an op. `calls` has the calls of each private function, if all of
    /// them are known.
    pub(crate) fn new(ir: &Ir, top: Op, calls: FxHashMap<Op, Vec<Op>>) -> Self {
        let mut callees = FxHashMap::default();
        let all = nested_ops(ir, top);
        for &function in all.iter().filter(|it| calls.contains_key(it)) {
            callees.extend(calls[&function].iter().map(|&it| (it, function)));
        }
        let mut out = Self { calls, callees, ..Self::default() };
        for &op in &all {
            if !ir.op(op).kind.has(Traits::TERMINATOR) && !effects::is_erasable_if_unused(ir, op) {
                out.mark_op(ir, op);
            }
        }
        out.propagate(ir);
        out
    }

    /// Returns true if a value is live.
    pub(crate) fn is_live(&self, value: Value) -> bool {
        self.values.contains(&value)
    }

    fn mark(&mut self, value: Value) {
        if self.values.insert(value) {
            self.stack.push(value);
        }
    }

    fn mark_operand(&mut self, ir: &Ir, op: Option<Op>, at: usize) {
        if let Some(value) = op.and_then(|it| operand(ir, it, at)) {
            self.mark(value);
        }
    }

    fn propagate(&mut self, ir: &Ir) {
        while let Some(value) = self.stack.pop() {
            match ir.value(value).def {
                Def::Result(op, at) => {
                    self.mark_op(ir, op);
                    self.mark_result_sources(ir, op, at as usize);
                }
                Def::Argument(block, at) => self.mark_argument_sources(ir, block, at as usize),
            }
        }
    }

    /// Marks an op as live: its own operands, the terminators of its regions and its enclosing ops
    /// become live.
    fn mark_op(&mut self, ir: &Ir, op: Op) {
        if !self.ops.insert(op) {
            return;
        }
        let data = ir.op(op);
        let first_passed = self.first_passed(ir, op);
        let own = &data.operands[..first_passed.min(data.operands.len())];
        for it in own {
            if let Some(value) = it.value {
                self.mark(value);
            }
        }
        for &(_, region) in &data.regions {
            for end in region_terminators(ir, region) {
                self.mark_op(ir, end);
            }
        }
        // An op runs only if its enclosing ops run.
        if let Some(around) = ir.parent_op(op).filter(|&it| ir.op(it).kind.is_op()) {
            self.mark_op(ir, around);
        }
    }

    /// Returns the index of the first operand that an op only forwards; all later operands are
    /// forwarded, too.
    fn first_passed(&self, ir: &Ir, op: Op) -> usize {
        let around = ir.parent_op(op).map(|it| ir.op(it).kind);
        match ir.op(op).kind {
            OpKind::ScfFor => 3,
            OpKind::ScfWhile => 0,
            OpKind::ScfCondition => 1,
            OpKind::ScfYield
                if matches!(
                    around,
                    Some(
                        OpKind::ScfFor
                            | OpKind::ScfWhile
                            | OpKind::ScfIf
                            | OpKind::ScfIndexSwitch
                            | OpKind::ScfExecuteRegion
                    )
                ) =>
            {
                0
            }
            OpKind::FuncCall if self.callees.contains_key(&op) => 0,
            OpKind::FuncReturn
                if ir.parent_op(op).is_some_and(|it| self.calls.contains_key(&it)) =>
            {
                0
            }
            _ => usize::MAX,
        }
    }

    /// Marks the values that are forwarded to a result.
    fn mark_result_sources(&mut self, ir: &Ir, op: Op, at: usize) {
        let data = ir.op(op);
        match data.kind {
            OpKind::ScfFor => self.mark_iter_arg_sources(ir, op, at),
            OpKind::ScfWhile => {
                let end =
                    data.regions.first().map(|it| region_terminators(ir, it.1)).unwrap_or_default();
                self.mark_operand(ir, end.first().copied(), at + 1);
            }
            OpKind::ScfIf | OpKind::ScfIndexSwitch | OpKind::ScfExecuteRegion => {
                for &(_, region) in &data.regions {
                    for end in region_terminators(ir, region) {
                        self.mark_operand(ir, Some(end), at);
                    }
                }
            }
            OpKind::FuncCall => {
                let body = self.callees.get(&op).and_then(|&it| flow::function_body(ir, it));
                for end in body.map(|it| region_terminators(ir, it)).unwrap_or_default() {
                    self.mark_operand(ir, Some(end), at);
                }
            }
            _ => {}
        }
    }

    /// Marks the initial and the yielded value of an `iter_arg` of `scf.for`.
    fn mark_iter_arg_sources(&mut self, ir: &Ir, op: Op, at: usize) {
        self.mark_operand(ir, Some(op), 3 + at);
        for &(_, region) in &ir.op(op).regions {
            for end in region_terminators(ir, region) {
                self.mark_operand(ir, Some(end), at);
            }
        }
    }

    fn mark_argument_sources(&mut self, ir: &Ir, block: Block, at: usize) {
        let region = ir.block(block).region;
        let Some(op) = ir.region(region).parent.filter(|&it| ir.op(it).kind.is_op()) else {
            return;
        };
        self.mark_op(ir, op);
        match ir.op(op).kind {
            OpKind::ScfFor if at > 0 => self.mark_iter_arg_sources(ir, op, at - 1),
            OpKind::ScfWhile => {
                let regions: Vec<Region> = ir.op(op).regions.iter().map(|it| it.1).collect();
                let [before, after] = regions[..] else { return };
                if region == before {
                    self.mark_operand(ir, Some(op), at);
                    self.mark_operand(ir, region_terminators(ir, after).first().copied(), at);
                } else {
                    self.mark_operand(ir, region_terminators(ir, before).first().copied(), at + 1);
                }
            }
            OpKind::FuncFunc if block == ir.entry_block(region) => {
                for call in self.calls.get(&op).cloned().unwrap_or_default() {
                    self.mark_operand(ir, Some(call), at);
                }
            }
            _ => {}
        }
    }
}

/// Returns the terminators of the blocks of a region.
pub(crate) fn region_terminators(ir: &Ir, region: Region) -> Vec<Op> {
    ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it)).collect()
}
