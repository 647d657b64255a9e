//! Erases unused ops and blocks.

use std::fmt;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::{Block, Ir, Op, OpKind, Value};

/// The error of an erasure: a value or a block is still used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// The value is used by an operand of an op that is not erased.
    Value(Value),
    /// The block is a successor of an op that is not erased.
    Block(Block),
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InUse::Value(_) => "a value is still used",
            InUse::Block(_) => "a block is still branched to",
        })
    }
}

impl std::error::Error for InUse {}

impl Ir {
    /// Erases an op and its contents.
    ///
    /// # Errors
    /// If a value that the op or its contents define is used from outside. Then nothing is changed.
    pub fn erase(&mut self, op: Op) -> Result<(), InUse> {
        self.erase_ops(&[op])
    }

    /// Erases a block and all its ops.
    ///
    /// # Errors
    /// If another op branches to the block, or uses a value that is defined in it. Then nothing is
    /// changed.
    ///
    /// # Panics
    /// If the block has no label: the block at the top of a chunk.
    pub fn erase_block(&mut self, block: Block) -> Result<(), InUse> {
        self.erase_blocks(&[block])
    }

    /// Erases ops and their contents. The ops may use each other's results.
    ///
    /// # Errors
    /// If another op uses a value that they define. Then nothing is changed.
    pub fn erase_ops(&mut self, ops: &[Op]) -> Result<(), InUse> {
        self.erase_items(ops)
    }

    /// Erases blocks and all their ops. The blocks may use and branch to each other.
    ///
    /// # Errors
    /// If another op branches to one of the blocks, or uses a value that is defined in them. Then
    /// nothing is changed.
    ///
    /// # Panics
    /// If a block has no label: the block at the top of a chunk.
    pub fn erase_blocks(&mut self, blocks: &[Block]) -> Result<(), InUse> {
        let mut items = Vec::new();
        for &block in blocks {
            let label = self.block(block).label;
            items.push(label.expect("the top of a chunk is no block to erase"));
            items.extend(self.block_ops(block));
        }
        self.erase_items(&items)
    }

    fn erase_items(&mut self, items: &[Op]) -> Result<(), InUse> {
        // All ops that are erased, and their contents.
        let mut going: SmallVec<[Op; 8]> = SmallVec::from_slice(items);
        let mut at = 0;
        while let Some(&op) = going.get(at) {
            for &(_, region) in &self.op(op).regions {
                going.extend(self.items(region));
            }
            at += 1;
        }
        let many: FxHashSet<Op> =
            if going.spilled() { going.iter().copied().collect() } else { FxHashSet::default() };
        let goes = |it: Op| if many.is_empty() { going.contains(&it) } else { many.contains(&it) };
        for &op in &going {
            for &value in &self.op(op).results {
                if self.value(value).uses.iter().any(|it| !goes(it.0)) {
                    return Err(InUse::Value(value));
                }
            }
            if self.op(op).kind == OpKind::Label {
                let block = self.label_block(op);
                if self.block(block).preds.iter().any(|it| !goes(it.0)) {
                    return Err(InUse::Block(block));
                }
            }
        }
        for &item in items {
            self.remove_item(item);
        }
        let mut targets: SmallVec<[Block; 8]> = SmallVec::new();
        for &op in &going {
            self.unlink_operands(op);
            if self.op(op).extra.is_none() {
                // Without extra data, the op has neither symbols nor successors.
                continue;
            }
            self.remove_symbols(op);
            targets.extend(self.extra(op).successors.iter().filter_map(|it| it.block));
        }
        // Each block is processed once, although many of the ops may branch to it.
        targets.sort_unstable_by_key(|it| it.index());
        targets.dedup();
        for block in targets {
            self.blocks[block.index()].preds.retain(|it| !goes(it.0));
        }
        for &op in &going {
            if let Some(origin) = self.origins.get_mut(op.index()) {
                *origin = None;
            }
            if self.op(op).kind == OpKind::Label {
                let block = self.label_block(op);
                self.set_label_block(op, None);
                self.free_blocks.push(block);
            }
            if !self.op(op).regions.is_empty() {
                for (_, region) in std::mem::take(&mut self.ops[op.index()].regions) {
                    self.free_blocks.push(self.region(region).entry);
                    self.free_regions.push(region);
                }
            }
            let data = &mut self.ops[op.index()];
            for value in &data.results {
                // Frees the memory of the list of uses, which may be long.
                self.values[value.index()].uses = SmallVec::new();
            }
            self.free_values.extend_from_slice(&data.results);
            data.results.clear();
            data.alive = false;
            data.extra = None;
            data.result_names.clear();
            self.free_ops.push(op);
        }
        self.names.touched.clear();
        Ok(())
    }
}
