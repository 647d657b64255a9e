//! Enters the names of ops in the name tables and removes them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::LoweringWork;
use crate::ir::names::Use;
use crate::ir::seq;
use crate::{Form, Ir, Name, Op, OpKind, Region, Value};

impl Ir {
    /// The first value of each name to the left of `=`.
    pub(super) fn first_results(&self, op: Op) -> SmallVec<[Value; 1]> {
        let results = &self.op(op).results;
        let is_first = |it: &Value| {
            let data = self.value(*it);
            data.number == 0 && data.name != Name::EMPTY
        };
        results.iter().copied().filter(is_first).collect()
    }

    pub(super) fn add_result_defs(&mut self, op: Op, retry: &mut Vec<Use>) {
        for value in self.first_results(op) {
            self.define(value, retry);
        }
    }

    /// Enters the name of a value in the tables.
    pub(crate) fn define(&mut self, value: Value, retry: &mut Vec<Use>) {
        self.add_def(value, retry);
        self.note_duplicate(self.def_region(value), self.value(value).name);
    }

    pub(super) fn remove_result_defs(&mut self, op: Op, retry: &mut Vec<Use>) {
        for value in self.first_results(op) {
            self.remove_def(value, retry);
        }
    }

    /// Enters the definitions of a new op: results or block arguments, header arguments, label,
    /// symbols.
    pub(crate) fn add_defs(&mut self, op: Op, work: &mut LoweringWork) {
        if self.op(op).kind == OpKind::Label {
            self.add_label_defs(op, work);
        } else {
            self.add_result_defs(op, &mut work.uses_to_resolve);
        }
        for index in 0..self.op(op).regions.len() {
            let (_, region) = self.op(op).regions[index];
            let opaque = self.op(op).form == Form::Opaque;
            for value in self.block(self.region(region).entry).args.clone() {
                let (name, guessed) = (self.value(value).name, self.value(value).is_guessed);
                if opaque && guessed {
                    self.add_possible_argument(op, region, name, value);
                } else if name != Name::EMPTY {
                    self.define(value, &mut work.uses_to_resolve);
                }
            }
        }
        self.add_symbols_and_aliases(op);
    }

    /// Enters the symbols and aliases that an item defines or uses. The item must already be in its
    /// sequence.
    pub(crate) fn add_symbols_and_aliases(&mut self, op: Op) {
        self.add_symbols(op);
        // In textual order, the definition of an alias is entered before the next item is parsed.
        if !self.names.is_in_order {
            self.define_alias(op);
        }
        self.add_alias_reads(op);
    }

    /// Removes the symbols and aliases that an item defines or uses from the tables.
    fn remove_symbols_and_aliases(&mut self, op: Op) {
        self.remove_symbols(op);
        self.remove_aliases(op);
    }

    /// Links the operands and successors of a new op.
    pub(crate) fn link(&mut self, op: Op) {
        for index in 0..self.op(op).operands.len() {
            self.link_use((op, index as u32));
        }
        for index in 0..self.extra(op).successors.len() {
            self.link_successor((op, index as u32));
        }
    }

    /// Removes the uses, successors and symbols of an op from the tables.
    pub(super) fn unlink(&mut self, op: Op) {
        for index in 0..self.op(op).operands.len() {
            self.unlink_use((op, index as u32));
        }
        for index in 0..self.extra(op).successors.len() {
            self.unlink_successor((op, index as u32));
        }
        self.remove_symbols_and_aliases(op);
    }

    pub(super) fn drop_value(&mut self, value: Value, retry: &mut Vec<Use>) {
        // The remaining uses are resolved again.
        for (op, index) in std::mem::take(&mut self.values[value.index()].uses) {
            self.ops[op.index()].operands[index as usize].value = None;
            self.note_unresolved((op, index));
            retry.push((op, index));
        }
        self.values[value.index()].name = Name::EMPTY;
        self.free_values.push(value);
    }

    /// The items of a region that are not kept.
    pub(crate) fn items_not_kept(&self, region: Region, kept: &FxHashMap<Op, usize>) -> Vec<Op> {
        let mut out = Vec::new();
        let mut at = seq::first(self, region);
        while let Some(op) = at {
            at = match kept.get(&op) {
                Some(n) => seq::nth(self, region, self.rank(op) + n),
                None => {
                    out.push(op);
                    self.next(op)
                }
            };
        }
        out
    }

    /// Removes the names of the block and the values that an item defines from the tables.
    fn remove_names(&mut self, op: Op, work: &mut LoweringWork) {
        if self.op(op).kind != OpKind::Label {
            self.remove_result_defs(op, &mut work.uses_to_resolve);
            return;
        }
        self.names.touched.control_flow.push((self.op(op).parent, None));
        for use_ in self.remove_label(op) {
            self.unlink_successor(use_);
            work.successors_to_resolve.push(use_);
        }
        for value in self.op(op).results.clone() {
            if self.value(value).name != Name::EMPTY {
                self.remove_def(value, &mut work.uses_to_resolve);
            }
        }
    }

    /// Removes the names of an item that moves to another region, and of its contents, from the
    /// tables.
    pub(crate) fn remove_moved_names(&mut self, op: Op, work: &mut LoweringWork) {
        self.remove_names(op, work);
        for index in 0..self.extra(op).successors.len() {
            self.unlink_successor((op, index as u32));
            work.successors_to_resolve.push((op, index as u32));
        }
        self.remove_symbols_and_aliases(op);
    }

    /// Enters a label and the names of its arguments.
    fn add_label_defs(&mut self, op: Op, work: &mut LoweringWork) {
        for value in self.op(op).results.clone() {
            if self.value(value).name != Name::EMPTY {
                self.define(value, &mut work.uses_to_resolve);
            }
        }
        self.names.touched.control_flow.push((self.op(op).parent, None));
        work.successors_to_resolve.extend(self.add_label(op));
    }

    /// Enters the names of an item that moved here from another region. Its uses must be resolved
    /// again.
    pub(crate) fn add_moved_names(&mut self, op: Op, work: &mut LoweringWork) {
        if self.op(op).kind == OpKind::Label {
            let block = self.label_block(op);
            self.blocks[block.index()].region = self.op(op).parent;
            self.add_label_defs(op, work);
        } else {
            self.add_result_defs(op, &mut work.uses_to_resolve);
        }
        self.add_symbols_and_aliases(op);
    }

    /// Removes an op and its contents from the IR, except from its sequence.
    pub(crate) fn remove(&mut self, op: Op, work: &mut LoweringWork) {
        for (_, region) in std::mem::take(&mut self.ops[op.index()].regions) {
            for item in self.items_not_kept(region, &work.kept) {
                self.remove(item, work);
            }
            let entry = self.region(region).entry;
            let opaque = self.op(op).form == Form::Opaque;
            for value in std::mem::take(&mut self.blocks[entry.index()].args) {
                let (name, guessed) = (self.value(value).name, self.value(value).is_guessed);
                if opaque && guessed {
                    self.remove_possible_argument(op, region, name, &mut work.uses_to_resolve);
                } else if name != Name::EMPTY {
                    self.remove_def(value, &mut work.uses_to_resolve);
                }
                self.drop_value(value, &mut work.uses_to_resolve);
            }
            self.names.aliases.forget(region);
            self.free_blocks.push(entry);
            self.free_regions.push(region);
        }
        self.unlink(op);
        self.names.suspects.remove(&op);
        self.remove_names(op, work);
        if self.op(op).kind == OpKind::Label {
            let block = self.label_block(op);
            self.set_label_block(op, None);
            self.free_blocks.push(block);
        }
        for value in std::mem::take(&mut self.ops[op.index()].results) {
            self.drop_value(value, &mut work.uses_to_resolve);
        }
        let data = &mut self.ops[op.index()];
        data.alive = false;
        data.extra = None;
        data.operands.clear();
        data.result_names.clear();
        self.free_ops.push(op);
        work.removed.push(op);
    }
}
