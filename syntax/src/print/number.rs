//! Numbers for values and blocks, as MLIR gives them.
//!
//! Results are `%0`, `%1`, ..., arguments of entry blocks `%arg0`, those of other blocks numbered like results, blocks `^bb0`.
//! Isolated ops number from 0 on. What stands in a region is numbered before what is nested in it, so that a nested op may use what is defined
//! behind it; the numbers of what a region defines are free again behind the region.

use rustc_hash::FxHashMap;

use crate::{Block, Ir, Op, Region, Traits, Value};

/// The names that a print gives.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    values: FxHashMap<Value, String>,
    blocks: FxHashMap<Block, u32>,
    ops: FxHashMap<Op, u32>,
    n_values: u32,
    n_arguments: u32,
}

impl Numbers {
    /// `%0` or `%0#1`
    pub(super) fn value(&self, value: Value) -> Option<&str> {
        self.values.get(&value).map(String::as_str)
    }

    /// The number behind `^bb`.
    pub(super) fn block(&self, block: Block) -> Option<u32> {
        self.blocks.get(&block).copied()
    }

    /// The number on the left of an op with results.
    pub(super) fn op(&self, op: Op) -> Option<u32> {
        self.ops.get(&op).copied()
    }

    /// Numbers ops that stand side by side, and then all that is in them. `regions` gives the regions of an op in the order in which
    /// they are printed.
    pub(super) fn add(&mut self, ir: &Ir, ops: &[Op], regions: &dyn Fn(Op) -> Vec<Region>) {
        for &op in ops {
            self.results(ir, op);
        }
        for &op in ops {
            self.inside(ir, op, regions);
        }
    }

    fn results(&mut self, ir: &Ir, op: Op) {
        let results = &ir.op(op).results;
        if results.is_empty() {
            return;
        }
        let number = self.n_values;
        self.n_values += 1;
        self.ops.insert(op, number);
        for (i, &value) in results.iter().enumerate() {
            let is_only = results.len() == 1;
            let text = if is_only { format!("%{number}") } else { format!("%{number}#{i}") };
            self.values.insert(value, text);
        }
    }

    /// What the regions of an op define. The numbers are free again behind each region.
    fn inside(&mut self, ir: &Ir, op: Op, regions: &dyn Fn(Op) -> Vec<Region>) {
        let data = ir.op(op);
        if data.regions.is_empty() {
            return;
        }
        let saved = (self.n_values, self.n_arguments);
        if data.kind.has(Traits::ISOLATED) {
            (self.n_values, self.n_arguments) = (0, 0);
        }
        let start = (self.n_values, self.n_arguments);
        for region in regions(op) {
            (self.n_values, self.n_arguments) = start;
            let blocks = ir.blocks(region);
            for (n, &block) in blocks.iter().enumerate() {
                self.blocks.insert(block, n as u32);
                for &value in &ir.block(block).args {
                    self.argument(value, n == 0);
                }
                for op in ir.block_ops(block) {
                    self.results(ir, op);
                }
            }
            for op in blocks.iter().flat_map(|&it| ir.block_ops(it)) {
                self.inside(ir, op, regions);
            }
        }
        (self.n_values, self.n_arguments) = saved;
    }

    fn argument(&mut self, value: Value, is_entry: bool) {
        let name = if is_entry {
            self.n_arguments += 1;
            format!("%arg{}", self.n_arguments - 1)
        } else {
            self.n_values += 1;
            format!("%{}", self.n_values - 1)
        };
        self.values.insert(value, name);
    }
}
