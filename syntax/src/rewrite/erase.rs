//! Erasing ops and blocks that nothing uses.

use std::fmt;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::{Block, Ir, Op, OpKind, Value};

/// The reason why something was not erased: it is still used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// This value, by an operand of an op that stays.
    Value(Value),
    /// This block, by a successor of an op that stays.
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
    /// Erases an op and all that is in it.
    ///
    /// # Errors
    /// If a value that it defines, in its regions included, is used from outside; then nothing
    /// happens.
    pub fn erase(&mut self, op: Op) -> Result<(), InUse> {
        self.erase_ops(&[op])
    }

    /// Erases a block and all its ops.
    ///
    /// # Errors
    /// If something else branches to it, or uses a value that it defines; then nothing happens.
    ///
    /// # Panics
    /// If the block has no label: at the top of a chunk.
    pub fn erase_block(&mut self, block: Block) -> Result<(), InUse> {
        self.erase_blocks(&[block])
    }

    /// Erases ops, which may use each other, and all that is in them.
    ///
    /// # Errors
    /// If something else uses a value that they define; then nothing happens.
    pub fn erase_ops(&mut self, ops: &[Op]) -> Result<(), InUse> {
        self.erase_items(ops)
    }

    /// Erases blocks, which may use each other, and all their ops.
    ///
    /// # Errors
    /// If something else branches to one, or uses a value that they define; then nothing happens.
    ///
    /// # Panics
    /// If a block has no label: at the top of a chunk.
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
            self.take_out(item);
        }
        let mut targets: SmallVec<[Block; 8]> = SmallVec::new();
        for &op in &going {
            self.unwire(op);
            if self.op(op).extra.is_none() {
                // It has no symbols and no successors.
                continue;
            }
            self.remove_symbols(op);
            targets.extend(self.extra(op).successors.iter().filter_map(|it| it.block));
        }
        // Once for each block, to which many of the ops may branch.
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
                // A list of uses that was long is not kept for the next value of that number.
                self.values[value.index()].uses = SmallVec::new();
            }
            self.free_values.extend_from_slice(&data.results);
            data.results.clear();
            data.alive = false;
            data.extra = None;
            data.result_names.clear();
            self.free_ops.push(op);
        }
        self.names.touched.forget();
        Ok(())
    }
}
