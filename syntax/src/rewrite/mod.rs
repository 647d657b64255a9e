//! The IR without text: creates, inserts, moves, erases and changes ops, for passes and for
//! programs without a source text.
//!
//! *With and without text.* The IR of a [`Source`] is derived from its text. Only shared references
//! to it are available, so nothing but an edit of the text changes it. [`Source::into_ir`] drops
//! the text, and [`Ir::new`] creates an IR without text. This module changes an IR without text.
//! The arenas, the accessors, the verifier ([`Ir::verify`]) and the printers ([`crate::print`]) are
//! the same for both. Spans and lengths have no meaning without the text, but [`Ir::origin`] still
//! returns the range from which an op was parsed.
//!
//! *Shape.* Without text nothing is implicit, as in the generic form: each terminator is an op,
//! `scf.if` has two regions, the default region of `scf.index_switch` is the first one, and each
//! block has a label, even the first one of a region. Only the block at the top of a chunk has
//! none. Any other region without a label has no block.
//!
//! *Laws* (`rewrite/tests.rs`). After each of these functions: [`ValueData::uses`] lists the
//! operands that refer to the value, [`BlockData::preds`] lists the successors that refer to the
//! block, definitions refer to their op or block and their number, the symbol tables agree with the
//! attributes, and the printed program parses to an equal program. *Cost.* O(log n) to find a
//! position among n ops, plus the number of affected operands, uses and nested ops.
//!
//! ```
//! use noisy_syntax::rewrite::{Builder, InsertionPoint, NewOp};
//! use noisy_syntax::{Ir, Type, print};
//!
//! let mut ir = Ir::new();
//! let top = InsertionPoint::End(ir.top_block());
//! let inputs = [Type::NOISY, Type::NOISY];
//! let (_, body) = Builder::new(&mut ir, top).insert_func("f", &inputs, &[Type::NOISY]);
//! let args = ir.block(body).args.clone();
//! let mut builder = Builder::new(&mut ir, InsertionPoint::End(body));
//! let add = NewOp::new("noisy.add").operands(&args).results(&[Type::NOISY]);
//! let sum = builder.insert_value(add);
//! builder.insert(NewOp::new("func.return").operands(&[sum]));
//!
//! assert_eq!(ir.verify(), []);
//! assert_eq!(
//!     print::custom(&ir),
//!     "module {
//!   func.func @f(%arg0: !noisy.i32, %arg1: !noisy.i32) -> !noisy.i32 {
//!     %0 = noisy.add %arg0, %arg1 : !noisy.i32
//!     return %0 : !noisy.i32
//!   }
//! }
//! "
//! );
//! ```
//!
//! [`Source`]: crate::Source
//! [`Source::into_ir`]: crate::Source::into_ir
//! [`ValueData::uses`]: crate::ValueData::uses
//! [`BlockData::preds`]: crate::BlockData::preds

use smallvec::SmallVec;

use crate::ir::seq;
use crate::ir::{OpData, Operand, Successor, ValueData};
use crate::op_traits::PassedOperands;
use crate::string;
use crate::{
    Attr, AttrData, Block, Def, Form, Ir, Name, Op, OpKind, Region, Span, Type, TypeData, Value,
};

mod builder;
mod detach;
mod erase;
mod locations;
#[cfg(test)]
mod tests;

pub use crate::ir::changes::IrChange;
pub use builder::{Builder, NewOp};
pub use erase::InUse;

/// A position at which an op can be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionPoint {
    /// Right before an op, in its block.
    Before(Op),
    /// Right after an op, in its block.
    After(Op),
    /// Before the first op of a block.
    Start(Block),
    /// After the last op of a block.
    End(Block),
}

impl Ir {
    /// The block at the top level of the first chunk.
    pub fn top_block(&self) -> Block {
        let chunk = self.items(self.root).next();
        let region = chunk.and_then(|it| self.op(it).regions.first()).map_or(self.root, |it| it.1);
        self.region(region).entry
    }

    /// The region that contains a point, and the number of items before it.
    fn resolve_point(&self, at: InsertionPoint) -> (Region, usize) {
        match at {
            InsertionPoint::Before(op) => (self.op(op).parent, self.rank(op)),
            InsertionPoint::After(op) => (self.op(op).parent, self.rank(op) + 1),
            InsertionPoint::Start(block) => {
                let data = self.block(block);
                (data.region, data.label.map_or(0, |label| self.rank(label) + 1))
            }
            InsertionPoint::End(block) => {
                let data = self.block(block);
                let next = match data.label {
                    Some(label) => seq::next_label(self, label),
                    None => seq::first_label(self, data.region),
                };
                let end = next.map_or_else(|| seq::n_items(self, data.region), |it| self.rank(it));
                (data.region, end)
            }
        }
    }

    fn insert_item(&mut self, item: Op, (region, rank): (Region, usize)) {
        self.ops[item.index()].parent = region;
        seq::update_own_sums(self, item);
        seq::insert(self, region, rank, &[seq::SeqPiece::Item(item, 0)]);
        self.record_change(item, true);
    }

    /// Creates an op at a position. Its operands may be any values; the verifier checks that they
    /// dominate the op.
    pub fn insert(&mut self, new: NewOp, at: InsertionPoint) -> Op {
        let place = self.resolve_point(at);
        let name = self.interner.intern_name(&new.name);
        let kind = self.interner.op_kind(name);
        let op = self.new_op(OpData { form: Form::Generic, name, ..OpData::new(place.0, kind) });
        self.insert_item(op, place);
        self.set_default_location(op, at);
        for &ty in &new.results {
            let number = self.ops[op.index()].results.len() as u32;
            let value = self.new_unnamed_value(Def::Result(op, number), ty);
            self.ops[op.index()].results.push(value);
        }
        for _ in 0..new.n_regions {
            let region = self.new_region(Some(op));
            self.ops[op.index()].regions.push((0, region));
        }
        if !new.successors.is_empty() {
            let data = self.ops[op.index()].extra.get_or_insert_default();
            for &(block, _) in &new.successors {
                let (name, span) = (Name::EMPTY, Span::default());
                data.successors.push(Successor { name, span, operands: 0..0, block: Some(block) });
            }
            for (at, &(block, _)) in new.successors.iter().enumerate() {
                self.blocks[block.index()].preds.push((op, at as u32));
            }
        }
        let passed: Vec<&[Value]> = new.successors.iter().map(|it| it.1.as_slice()).collect();
        self.link_operands(op, &new.operands, &passed);
        for (name, attr) in &new.attrs {
            self.set_attr(op, name, *attr);
        }
        op
    }

    fn new_unnamed_value(&mut self, def: Def, ty: Type) -> Value {
        self.new_value(ValueData {
            def,
            ty,
            is_guessed: false,
            name: Name::EMPTY,
            number: 0,
            span: Span::default(),
            uses: SmallVec::new(),
        })
    }

    /// Sets and links the operands of an op, which must have no linked operands: its own operands,
    /// then those passed to each successor.
    fn link_operands(&mut self, op: Op, own: &[Value], passed: &[&[Value]]) {
        let mut operands: SmallVec<[Operand; 2]> = SmallVec::new();
        for &value in own.iter().chain(passed.iter().copied().flatten()) {
            let uses = &mut self.values[value.index()].uses;
            let slot = uses.len() as u32;
            uses.push((op, operands.len() as u32));
            operands.push(Operand {
                name: Name::EMPTY,
                number: 0,
                span: Span::default(),
                ty: self.value(value).ty,
                may_be_argument: false,
                value: Some(value),
                slot,
            });
        }
        let data = &mut self.ops[op.index()];
        data.operands = operands;
        if let Some(extra) = &mut data.extra {
            let mut at = own.len() as u32;
            for (successor, passed) in extra.successors.iter_mut().zip(passed) {
                successor.operands = at..at + passed.len() as u32;
                at = successor.operands.end;
            }
        }
        self.record_change(op, false);
        self.set_segment_sizes(op, own.len(), passed);
    }

    /// Sets the attributes of a branch that contain the numbers of its operands.
    fn set_segment_sizes(&mut self, op: Op, n_own: usize, passed: &[&[Value]]) {
        let count = |it: &[&[Value]]| it.iter().map(|it| it.len() as i64).sum::<i64>();
        let own = n_own as i64;
        match (self.op(op).kind.spec().passed_operands, passed) {
            (PassedOperands::Segments, [yes, no]) => {
                let sizes = [own, count(&[yes]), count(&[no])];
                self.set_i32_array_attr(op, "operandSegmentSizes", &sizes);
            }
            (PassedOperands::Cases, [default, cases @ ..]) => {
                let sizes = [own, count(&[default]), count(cases)];
                self.set_i32_array_attr(op, "operandSegmentSizes", &sizes);
                let sizes: Vec<i64> = cases.iter().map(|it| it.len() as i64).collect();
                self.set_i32_array_attr(op, "case_operand_segments", &sizes);
            }
            _ => {}
        }
    }

    fn set_i32_array_attr(&mut self, op: Op, name: &str, sizes: &[i64]) {
        let width = TypeData::Int { width: 32, sign: crate::Sign::Signless };
        let element = self.interner.intern_type(width);
        let mut int = |value: i64| {
            self.interner.intern_attr(AttrData::Int { value: value.into(), ty: element })
        };
        let values = sizes.iter().map(|it| int(*it)).collect();
        let attr = self.interner.intern_attr(AttrData::DenseArray { element, values });
        self.set_attr(op, name, attr);
    }

    fn unlink_operands(&mut self, op: Op) {
        for index in 0..self.op(op).operands.len() {
            self.unlink_use((op, index as u32));
        }
        self.ops[op.index()].operands.clear();
        self.names.touched.clear();
    }

    /// The operands of an op that are not passed to a successor.
    pub fn own_operands(&self, op: Op) -> Vec<Value> {
        let n = self.op(op).operands.len() as u32;
        let starts = self.extra(op).successors.iter().filter(|it| !it.operands.is_empty());
        let n_own = starts.map(|it| it.operands.start).min().unwrap_or(n);
        self.op(op).operands[..n_own as usize].iter().filter_map(|it| it.value).collect()
    }

    /// The operands that an op passes to one of its successors.
    pub fn passed_operands(&self, op: Op, successor: usize) -> Vec<Value> {
        let Some(successor) = self.extra(op).successors.get(successor) else { return Vec::new() };
        let range = successor.operands.start as usize..successor.operands.end as usize;
        let operands = self.op(op).operands.get(range).unwrap_or_default();
        operands.iter().filter_map(|it| it.value).collect()
    }

    /// Replaces the value of one operand.
    ///
    /// # Panics
    /// If the op has fewer operands.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let ty = self.value(value).ty;
        self.unlink_use((op, index as u32));
        let uses = &mut self.values[value.index()].uses;
        let operand = &mut self.ops[op.index()].operands[index];
        operand.slot = uses.len() as u32;
        uses.push((op, index as u32));
        (operand.ty, operand.name, operand.number) = (ty, Name::EMPTY, 0);
        operand.value = Some(value);
        self.record_change(op, false);
        self.names.touched.clear();
    }

    /// Replaces the own operands of an op. The operands that it passes to successors are unchanged.
    pub fn set_operands(&mut self, op: Op, operands: &[Value]) {
        let n = self.extra(op).successors.len();
        let passed: Vec<Vec<Value>> = (0..n).map(|it| self.passed_operands(op, it)).collect();
        self.unlink_operands(op);
        let passed: Vec<&[Value]> = passed.iter().map(Vec::as_slice).collect();
        self.link_operands(op, operands, &passed);
    }

    /// Replaces a successor by a block that is passed `values`.
    ///
    /// # Panics
    /// If the op has fewer successors.
    pub fn set_successor(&mut self, op: Op, index: usize, block: Block, values: &[Value]) {
        if let Some(extra) = &mut self.ops[op.index()].extra {
            let old = extra.successors[index].block.replace(block);
            let used = (op, index as u32);
            if let Some(old) = old {
                remove_one(&mut self.blocks[old.index()].preds, used);
            }
            self.blocks[block.index()].preds.push(used);
        }
        self.record_change(op, false);
        if self.passed_operands(op, index) == values {
            // The operands are unchanged, so nothing must be linked again.
            return;
        }
        let own = self.own_operands(op);
        let n = self.extra(op).successors.len();
        let mut passed: Vec<Vec<Value>> = (0..n).map(|it| self.passed_operands(op, it)).collect();
        passed[index] = values.to_vec();
        self.unlink_operands(op);
        let passed: Vec<&[Value]> = passed.iter().map(Vec::as_slice).collect();
        self.link_operands(op, &own, &passed);
    }

    /// Replaces all uses of a value by another value.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_, _| true);
    }

    /// Replaces those uses of a value (op and operand index) for which `is_meant` is true.
    pub(crate) fn replace_uses_if(
        &mut self,
        old: Value,
        new: Value,
        mut is_meant: impl FnMut(Op, usize) -> bool,
    ) {
        if old == new {
            return;
        }
        for (op, index) in self.value(old).uses.clone() {
            if is_meant(op, index as usize) {
                self.set_operand(op, index as usize, new);
            }
        }
    }

    /// Replaces all uses of the results of an op by `values`, and erases the op.
    ///
    /// # Errors
    /// If a value or block in its regions is used from outside. The uses of the results are
    /// replaced nevertheless.
    ///
    /// # Panics
    /// If there are fewer values than results.
    pub fn replace(&mut self, op: Op, values: &[Value]) -> Result<(), InUse> {
        for (at, result) in self.op(op).results.clone().into_iter().enumerate() {
            self.replace_uses(result, values[at]);
        }
        self.erase(op)
    }

    /// Sets an attribute, inherent or discardable.
    pub fn set_attr(&mut self, op: Op, name: &str, attr: Attr) {
        let name = self.interner.intern_name(name);
        self.change_attrs(op, |ir, attrs| {
            let key = ir.interner.str(name);
            match attrs.binary_search_by(|it| string::compare_by_bytes(ir.interner.str(it.0), key))
            {
                Ok(at) => attrs[at].1 = attr,
                Err(at) => attrs.insert(at, (name, attr)),
            }
        });
    }

    /// Removes an attribute, if it exists.
    pub fn remove_attr(&mut self, op: Op, name: &str) {
        if let Some(name) = self.interner.find_name(name) {
            self.change_attrs(op, |_, attrs| attrs.retain(|it| it.0 != name));
        }
    }

    fn change_attrs(&mut self, op: Op, change: impl FnOnce(&Ir, &mut Vec<(Name, Attr)>)) {
        self.remove_symbols(op);
        let mut extra = self.ops[op.index()].extra.take().unwrap_or_default();
        change(self, &mut extra.attrs);
        let name = self.interner.find_name("sym_name");
        let defined = extra.attrs.iter().find(|it| Some(it.0) == name);
        extra.symbol = defined.and_then(|it| match self.interner.attr_data(it.1) {
            AttrData::String(text, None) => Some((*text, Span::default())),
            _ => None,
        });
        let paths = self.interner.symbol_paths_in(extra.attrs.iter().map(|it| it.1));
        let ends = paths.iter().filter_map(|it| Some((*it.last()?, *it.first()?)));
        extra.symbol_uses = ends.map(|(last, first)| (last, first, Span::default())).collect();
        self.ops[op.index()].extra = Some(extra);
        self.record_change(op, false);
        self.add_symbols(op);
        self.names.touched.clear();
    }

    /// Adds a region without blocks after the regions of an op.
    pub(crate) fn add_region(&mut self, op: Op) -> Region {
        let region = self.new_region(Some(op));
        self.ops[op.index()].regions.push((0, region));
        self.record_change(op, false);
        region
    }

    /// Adds a block after those of a region, with arguments of these types.
    pub fn add_block(&mut self, region: Region, types: &[Type]) -> Block {
        let end = seq::n_items(self, region);
        self.insert_label(region, end, types)
    }

    /// Adds a block right after another one, with arguments of these types.
    pub fn add_block_after(&mut self, block: Block, types: &[Type]) -> Block {
        let (region, end) = self.resolve_point(InsertionPoint::End(block));
        self.insert_label(region, end, types)
    }

    /// Moves the regions of `from`, with their contents, to `to`, which must have none.
    ///
    /// # Panics
    /// If `to` has regions.
    pub fn move_regions(&mut self, from: Op, to: Op) {
        assert!(self.op(to).regions.is_empty(), "an op that is given regions has none");
        let regions = std::mem::take(&mut self.ops[from.index()].regions);
        for &(_, region) in &regions {
            self.regions[region.index()].parent = Some(to);
        }
        self.ops[to.index()].regions = regions;
        self.record_change(from, false);
        self.record_change(to, false);
    }

    /// Splits a block before an op. The op and the following ops move to the new block, which has
    /// arguments of these types. Branches to the old block still branch to it.
    pub fn split_before(&mut self, op: Op, types: &[Type]) -> Block {
        let (region, rank) = self.resolve_point(InsertionPoint::Before(op));
        self.insert_label(region, rank, types)
    }

    fn insert_label(&mut self, region: Region, rank: usize, types: &[Type]) -> Block {
        let label =
            self.new_op(OpData { form: Form::Custom, ..OpData::new(region, OpKind::Label) });
        self.insert_item(label, (region, rank));
        let block = self.new_block(region, Some(label));
        self.set_label_block(label, Some(block));
        for ty in types {
            self.add_argument(block, *ty);
        }
        block
    }

    /// Adds an argument after the arguments of a block.
    pub fn add_argument(&mut self, block: Block, ty: Type) -> Value {
        let number = self.block(block).args.len() as u32;
        let value = self.new_unnamed_value(Def::Argument(block, number), ty);
        self.blocks[block.index()].args.push(value);
        self.set_argument_location(value, block);
        if let Some(label) = self.block(block).label {
            self.ops[label.index()].results.push(value);
            self.record_change(label, false);
        }
        value
    }

    /// Erases an argument of a block. Branches to the block must be changed separately.
    ///
    /// # Errors
    /// If it is used.
    ///
    /// # Panics
    /// If the block has fewer arguments.
    pub fn erase_argument(&mut self, block: Block, index: usize) -> Result<(), InUse> {
        self.erase_arguments(block, &[index])
    }

    /// Erases several unused arguments of a block, given in ascending order; all or none.
    ///
    /// # Errors
    /// If one is used.
    pub fn erase_arguments(&mut self, block: Block, indices: &[usize]) -> Result<(), InUse> {
        let old = std::mem::take(&mut self.blocks[block.index()].args);
        let is_used = |it: &&usize| !self.value(old[**it]).uses.is_empty();
        if let Some(&used) = indices.iter().find(is_used) {
            let value = old[used];
            self.blocks[block.index()].args = old;
            return Err(InUse::Value(value));
        }
        let mut going = indices.iter().peekable();
        let mut args = SmallVec::with_capacity(old.len() - indices.len());
        for (at, &value) in old.iter().enumerate() {
            if going.next_if(|&&it| it == at).is_some() {
                self.free_values.push(value);
                continue;
            }
            self.values[value.index()].def = Def::Argument(block, args.len() as u32);
            args.push(value);
        }
        if let Some(label) = self.block(block).label {
            self.ops[label.index()].results = args.iter().copied().collect();
            self.record_change(label, false);
        }
        self.blocks[block.index()].args = args;
        Ok(())
    }

    /// Moves an op with its contents to another position.
    ///
    /// # Panics
    /// If that position is inside the op.
    pub fn move_op(&mut self, op: Op, to: InsertionPoint) {
        if matches!(to, InsertionPoint::Before(it) | InsertionPoint::After(it) if it == op) {
            return;
        }
        let target = self.resolve_point(to).0;
        let is_inside = self.op(op).regions.iter().any(|&(_, it)| self.region_encloses(it, target));
        assert!(!is_inside, "an op cannot be moved into itself");
        self.remove_symbols(op);
        self.remove_item(op);
        let place = self.resolve_point(to);
        self.insert_item(op, place);
        self.add_symbols(op);
        self.names.touched.clear();
    }

    fn remove_item(&mut self, item: Op) {
        self.record_change(item, true);
        seq::remove(self, item);
    }
}

/// Removes one entry of an unordered list.
fn remove_one(list: &mut SmallVec<[(Op, u32); 2]>, entry: (Op, u32)) {
    if let Some(at) = list.iter().position(|it| *it == entry) {
        list.swap_remove(at);
    }
}
