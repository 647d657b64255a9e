//! Block labels and the successors that refer to them. Each region has its own labels.

use super::Use;
use crate::{Block, Ir, Name, Op, Region};

impl Ir {
    pub(crate) fn set_label_block(&mut self, label: Op, block: Option<Block>) {
        match block {
            Some(block) => self.names.label_blocks.insert(label, block),
            None => self.names.label_blocks.remove(&label),
        };
    }

    /// Enters a label. Returns the successors that may now refer to it.
    pub(crate) fn add_label(&mut self, label: Op) -> Vec<Use> {
        let data = self.op(label);
        let key = (data.parent, data.name);
        let known = self.names.labels.get(&key).map_or(&[][..], |it| it.as_slice());
        let at = if self.names.is_in_order || known.is_empty() {
            known.len()
        } else {
            let rank = self.rank(label);
            known.partition_point(|&it| self.rank(it) < rank)
        };
        let first = known.first().copied();
        let mut retry = Vec::new();
        if let Some(first) = first {
            // Each label after the first is a problem; the previous first label may now be one.
            self.names.suspects.insert(label);
            self.names.suspects.insert(first);
            if at == 0 {
                retry.extend(self.block(self.label_block(first)).preds.iter().copied());
            }
        }
        self.names.labels.entry(key).or_default().insert(at, label);
        if let Some(uses) = self.names.unresolved_successors.get(&key) {
            retry.extend(uses.iter().copied());
        }
        retry
    }

    /// Removes a label. Returns the successors that refer to it (still linked).
    pub(crate) fn remove_label(&mut self, label: Op) -> Vec<Use> {
        let data = self.op(label);
        let key = (data.parent, data.name);
        if let Some(labels) = self.names.labels.get_mut(&key) {
            labels.retain(|it| *it != label);
            if labels.is_empty() {
                self.names.labels.remove(&key);
            }
        }
        self.block(self.label_block(label)).preds.to_vec()
    }

    /// The first label of that name in a region.
    pub(crate) fn find_label(&self, region: Region, name: Name) -> Option<Op> {
        self.names.labels.get(&(region, name))?.first().copied()
    }

    pub(crate) fn link_successor(&mut self, (op, index): Use) {
        let region = self.op(op).parent;
        self.names.touched.control_flow.push((region, Some(op)));
        let Some(extra) = &self.ops[op.index()].extra else { return };
        let name = extra.successors[index as usize].name;
        let block = self.find_label(region, name).map(|label| self.label_block(label));
        if let Some(extra) = &mut self.ops[op.index()].extra {
            extra.successors[index as usize].block = block;
        }
        match block {
            Some(block) => self.blocks[block.index()].preds.push((op, index)),
            None => {
                self.names.suspects.insert(op);
                let uses = self.names.unresolved_successors.entry((region, name)).or_default();
                uses.push((op, index));
            }
        }
    }

    pub(crate) fn unlink_successor(&mut self, (op, index): Use) {
        let region = self.op(op).parent;
        self.names.touched.control_flow.push((region, Some(op)));
        let Some(extra) = &mut self.ops[op.index()].extra else { return };
        let successor = &mut extra.successors[index as usize];
        let name = successor.name;
        if let Some(block) = successor.block.take() {
            let preds = &mut self.blocks[block.index()].preds;
            if let Some(at) = preds.iter().position(|&it| it == (op, index)) {
                preds.swap_remove(at);
            }
        } else if let Some(uses) = self.names.unresolved_successors.get_mut(&(region, name)) {
            if let Some(at) = uses.iter().position(|&it| it == (op, index)) {
                uses.swap_remove(at);
            }
            if uses.is_empty() {
                self.names.unresolved_successors.remove(&(region, name));
            }
        }
    }
}
