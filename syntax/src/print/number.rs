//! Numbers for values and blocks, as MLIR gives them.
//!
//! Results are `%0`, `%1`, ..., arguments of entry blocks `%arg0`, those of other blocks numbered like results, blocks `^bb0`.
//! Isolated ops number from 0 on, and behind an op the numbers of what its regions define are free again.

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

    /// Numbers an op and all that is in it. `regions` gives the regions of an op in the order in which they are printed.
    pub(super) fn add(&mut self, ir: &Ir, op: Op, regions: &dyn Fn(Op) -> Vec<Region>) {
        let data = ir.op(op);
        let n = data.results.len() as u32;
        if n > 0 {
            let number = self.n_values;
            self.n_values += 1;
            self.ops.insert(op, number);
            for (i, &value) in data.results.iter().enumerate() {
                let text = if n == 1 { format!("%{number}") } else { format!("%{number}#{i}") };
                self.values.insert(value, text);
            }
        }
        if data.regions.is_empty() {
            return;
        }
        let saved = (self.n_values, self.n_arguments);
        if data.kind.has(Traits::ISOLATED) {
            (self.n_values, self.n_arguments) = (0, 0);
        }
        for region in regions(op) {
            let saved = (self.n_values, self.n_arguments);
            for (n, block) in ir.blocks(region).into_iter().enumerate() {
                self.blocks.insert(block, n as u32);
                for &value in &ir.block(block).args {
                    self.argument(value, n == 0);
                }
                for inner in ir.block_ops(block) {
                    self.add(ir, inner, regions);
                }
            }
            (self.n_values, self.n_arguments) = saved;
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
