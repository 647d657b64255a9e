//! Ops in their own forms, as `mlir-opt` prints them: the same rows of the op table that are read are walked and written.
//!
//! What an element writes stands next to what it reads, in `grammar/`. A form can say less than an op may hold (all operands of
//! one type, an attribute that must be there). An op that its form cannot say is printed in the generic form instead: each
//! element says whether the op fits, and in the end everything that the op has must have been said.

use super::generic::{Printer, ordered_regions};
use super::{Style, Tool, Types};
use crate::{Attr, AttrData, Block, Ir, Name, Op, OpKind, Region, Traits, Type, Value, dialect};

/// The whole document, each op in its own form where it has one; the parts of a split file one after the other.
///
/// Ops of unknown form are printed in the generic form, with what is known of them.
pub fn custom(ir: &Ir) -> String {
    custom_as(ir, Tool::default())
}

/// The whole document, each op in its own form, as a tool prints it.
pub fn custom_as(ir: &Ir, tool: Tool) -> String {
    super::document(ir, Style { tool, is_custom: true, ..Style::default() })
}

/// One op with its regions in its own form, its values numbered from 0.
pub fn custom_op(ir: &Ir, op: Op) -> String {
    super::op_in(ir, op, Style { is_custom: true, ..Style::default() })
}

/// An op that its form cannot say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfit;

/// Whether the op fits.
pub(crate) type Fits<X = ()> = Result<X, Unfit>;

/// `Ok` if the op fits.
pub(crate) fn fits(condition: bool) -> Fits {
    if condition { Ok(()) } else { Err(Unfit) }
}

/// The op that is being written, and how much of it was.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) op: Op,
    pub(crate) n_operands: usize,
    pub(crate) n_results: usize,
    pub(crate) n_successors: usize,
    pub(crate) n_regions: usize,
    /// The header has written the arguments of the next region.
    pub(crate) has_arguments: bool,
}

impl Printer<'_> {
    /// Writes an op in its own form, behind its indentation; says whether it could.
    pub(super) fn try_custom(&mut self, op: Op) -> bool {
        let ir = self.ir;
        let data = ir.op(op);
        let spec = data.kind.spec();
        if spec.form.is_empty() || data.form == crate::Form::Opaque {
            return false;
        }
        let len = self.text.out.len();
        let inner = Place {
            op,
            n_operands: 0,
            n_results: 0,
            n_successors: 0,
            n_regions: 0,
            has_arguments: false,
        };
        let outer = self.place.replace(inner);
        let dialect = self.default_dialect;
        self.op_name(spec.name);
        self.default_dialect = dialect::inner_dialect(dialect, spec.name);
        let is_written = self.write_form(spec.form).is_ok();
        self.default_dialect = dialect;
        let place = std::mem::replace(&mut self.place, outer);
        let is_whole = place.is_some_and(|it| {
            it.n_operands == data.operands.len()
                && it.n_results == data.results.len()
                && it.n_successors == ir.extra(op).successors.len()
                && it.n_regions == data.regions.len()
        });
        if !is_written || !is_whole {
            self.text.out.truncate(len);
            return false;
        }
        true
    }

    /// The name of an op, without its dialect where that goes without saying.
    fn op_name(&mut self, name: &'static str) {
        let short = name.split_once('.').filter(|(dialect, name)| {
            self.default_dialect == Some(dialect) && dialect::is_unprefixed_op(dialect, name)
        });
        self.text.push(short.map_or(name, |it| it.1));
    }

    // What elements are made of.

    pub(crate) fn op_id(&self) -> Op {
        self.place.as_ref().map_or(Op::from_index(0), |it| it.op)
    }

    pub(crate) fn kind(&self) -> OpKind {
        self.ir.op(self.op_id()).kind
    }

    fn place(&mut self) -> Fits<&mut Place> {
        self.place.as_mut().ok_or(Unfit)
    }

    /// A blank, unless there is one or a bracket was opened.
    pub(crate) fn blank(&mut self) {
        if !self.text.out.ends_with([' ', '(', '[', '<']) {
            self.text.push(" ");
        }
    }

    /// A keyword or anything else that stands between blanks.
    pub(crate) fn word(&mut self, word: &str) {
        self.blank();
        self.text.push(word);
    }

    /// The next operand, which is not written yet.
    pub(crate) fn take_operand(&mut self) -> Fits<Value> {
        let place = self.place()?;
        let at = place.n_operands;
        place.n_operands += 1;
        let op = place.op;
        self.ir.op(op).operands.get(at).and_then(|it| it.value).ok_or(Unfit)
    }

    /// How many operands are not written yet.
    pub(crate) fn n_left(&self) -> usize {
        let n_written = self.place.as_ref().map_or(0, |it| it.n_operands);
        self.ir.op(self.op_id()).operands.len().saturating_sub(n_written)
    }

    /// The next operands.
    pub(crate) fn take_operands(&mut self, n: usize) -> Fits<Vec<Value>> {
        (0..n).map(|_| self.take_operand()).collect()
    }

    /// `%0`
    pub(crate) fn value_name(&self, value: Value) -> Fits<&str> {
        self.numbers.value(value).ok_or(Unfit)
    }

    /// `%0`
    pub(crate) fn value(&mut self, value: Value) -> Fits {
        let name = self.numbers.value(value).ok_or(Unfit)?;
        self.text.push(name);
        Ok(())
    }

    /// The indentation of a line of the op's own, so many levels further in.
    pub(crate) fn line_start(&mut self, further: usize) {
        self.indent(self.depth + further);
    }

    /// `%0, %1`
    pub(crate) fn values(&mut self, values: &[Value]) -> Fits {
        for (i, value) in values.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            self.value(*value)?;
        }
        Ok(())
    }

    /// The next operand behind a blank; of this type, if one is given.
    pub(crate) fn operand(&mut self, ty: Type) -> Fits {
        let value = self.take_operand()?;
        fits(ty == Type::UNKNOWN || self.type_of(value) == ty)?;
        self.blank();
        self.value(value)
    }

    /// The operands that are left, with their types.
    pub(crate) fn values_types(&mut self, values: &[Value]) -> Fits {
        self.values(values)?;
        self.text.push(" : ");
        let types: Vec<Type> = values.iter().map(|it| self.type_of(*it)).collect();
        self.text.types(&types);
        Ok(())
    }

    pub(crate) fn type_of(&self, value: Value) -> Type {
        self.ir.value(value).ty
    }

    /// The type of an operand by its number.
    pub(crate) fn operand_type(&self, at: usize) -> Fits<Type> {
        let operand = self.ir.op(self.op_id()).operands.get(at).ok_or(Unfit)?;
        operand.value.map(|it| self.type_of(it)).ok_or(Unfit)
    }

    /// The type of the next result.
    pub(crate) fn take_result(&mut self) -> Fits<Type> {
        let place = self.place()?;
        let at = place.n_results;
        place.n_results += 1;
        let op = place.op;
        self.ir.op(op).results.get(at).map(|it| self.type_of(*it)).ok_or(Unfit)
    }

    /// The types of all results that are not said yet.
    pub(crate) fn take_results(&mut self) -> Fits<Vec<Type>> {
        let op = self.op_id();
        let n = self.ir.op(op).results.len() - self.place()?.n_results;
        (0..n).map(|_| self.take_result()).collect()
    }

    /// An attribute of the op.
    pub(crate) fn op_attr(&self, name: &str) -> Option<Attr> {
        self.ir.attr(self.op_id(), name)
    }

    /// An integer attribute of the op.
    pub(crate) fn int(&self, name: &str) -> Fits<i64> {
        self.int_of(self.op_attr(name).ok_or(Unfit)?)
    }

    pub(crate) fn int_of(&self, attr: Attr) -> Fits<i64> {
        match self.ir.interner.attr_data(attr) {
            AttrData::Int { value, .. } => i64::try_from(*value).map_err(|_| Unfit),
            _ => Err(Unfit),
        }
    }

    /// A string attribute of the op.
    pub(crate) fn string(&self, name: &str) -> Option<Name> {
        match self.ir.interner.attr_data(self.op_attr(name)?) {
            AttrData::String(text, None) => Some(*text),
            _ => None,
        }
    }

    /// The integers of an array attribute of the op, `array<i64: 1, 2>` or `[1, 2]`.
    pub(crate) fn ints(&self, name: &str) -> Fits<Vec<i64>> {
        match self.ir.interner.attr_data(self.op_attr(name).ok_or(Unfit)?) {
            AttrData::DenseArray { values, .. } | AttrData::Array(values) => {
                values.iter().map(|it| self.int_of(*it)).collect()
            }
            _ => Err(Unfit),
        }
    }

    /// The sizes of the segments of the operands, as many as are wanted, which add up to all operands.
    pub(crate) fn segment_sizes<const N: usize>(&self) -> Fits<[usize; N]> {
        let sizes = self.ints("operandSegmentSizes")?;
        let sizes: Vec<usize> = sizes
            .into_iter()
            .map(|it| usize::try_from(it).map_err(|_| Unfit))
            .collect::<Fits<_>>()?;
        let total = sizes.iter().fold(0usize, |n, it| n.saturating_add(*it));
        fits(total == self.ir.op(self.op_id()).operands.len())?;
        sizes.try_into().map_err(|_| Unfit)
    }

    /// `{a = 1}` of the attributes that no element of the form writes, with what stands before it; or nothing.
    pub(crate) fn other_attrs(&mut self, before: &str) {
        let ir = self.ir;
        let op = self.op_id();
        let format = self.kind().spec().form;
        let tool = self.tool;
        let is_written = |name: Name| {
            let name = ir.interner.str(name);
            format.iter().any(|it| it.attrs(tool).contains(&name))
        };
        let attrs = ir.extra(op).attrs.iter().copied();
        let others: Vec<(Name, Attr)> = attrs.filter(|it| !is_written(it.0)).collect();
        if !others.is_empty() {
            self.word(before);
            self.blank();
            self.text.dict(&others);
        }
    }

    /// An attribute behind a blank.
    pub(crate) fn attr_word(&mut self, attr: Attr, types: Types) {
        self.blank();
        self.text.attr_typed(attr, types);
    }

    /// The next successor: its block, and which operands it is passed.
    pub(crate) fn take_successor(&mut self) -> Fits<(Block, std::ops::Range<u32>)> {
        let place = self.place()?;
        let at = place.n_successors;
        place.n_successors += 1;
        let op = place.op;
        let successor = self.ir.extra(op).successors.get(at).ok_or(Unfit)?;
        Ok((successor.block.ok_or(Unfit)?, successor.operands.clone()))
    }

    /// `^bb1`
    pub(crate) fn block_name(&mut self, block: Block) -> Fits {
        let number = self.numbers.block(block).ok_or(Unfit)?;
        self.text.push(&format!("^bb{number}"));
        Ok(())
    }

    // Regions.

    /// The region of this number, in the order of the generic form.
    pub(crate) fn region_at(&self, at: usize) -> Fits<Region> {
        ordered_regions(self.ir, self.op_id()).get(at).copied().ok_or(Unfit)
    }

    /// The arguments of a region's entry block, which the header writes.
    pub(crate) fn header_arguments(&mut self, region: Region) -> Fits<Vec<Value>> {
        self.place()?.has_arguments = true;
        let entry = self.ir.blocks(region).first().copied().ok_or(Unfit)?;
        Ok(self.ir.block(entry).args.to_vec())
    }

    /// The next region is there, and its form does not write it.
    pub(crate) fn skip_region(&mut self) {
        if let Some(place) = &mut self.place {
            place.n_regions += 1;
            place.has_arguments = false;
        }
    }

    /// ` {..}`, the next region.
    pub(crate) fn next_region(&mut self) -> Fits {
        let at = self.place()?.n_regions;
        let region = self.region_at(at)?;
        self.braces(region)
    }

    /// ` {..}`, a region, without the terminator that goes without saying.
    pub(crate) fn braces(&mut self, region: Region) -> Fits {
        let place = self.place()?;
        place.n_regions += 1;
        let op = place.op;
        let has_arguments = std::mem::take(&mut place.has_arguments);
        let ir = self.ir;
        let blocks = ir.blocks(region);
        let first = blocks.first().copied().ok_or(Unfit)?;
        // In its own form a region without blocks cannot be told from one with an empty block.
        let has_block = ir.op(op).form == crate::Form::Custom
            || ir.items(region).next().is_some()
            || !ir.block(first).args.is_empty();
        fits(has_block)?;
        // Nor can a first block that is empty, where the second one has a label.
        fits(blocks.len() == 1 || ir.last_op(first).is_some())?;
        // Nor one that is branched to, which no program may have.
        fits(ir.block(first).preds.is_empty())?;
        // Where a terminator may go without saying, its absence cannot be said.
        let has_end = ir.op(op).form == crate::Form::Custom
            || ir.op(op).kind.implicit_terminator().is_none()
            || blocks.len() > 1
            || ir.last_op(first).is_some_and(|it| is_terminator(ir, it));
        fits(has_end)?;
        let is_plain = has_arguments || ir.block(first).args.is_empty();
        let hidden = self.hidden_terminator(op, &blocks);
        self.word("{\n");
        self.depth += 1;
        for (n, &block) in blocks.iter().enumerate() {
            let has_label = n > 0 || !is_plain;
            self.block(block, has_label, hidden);
        }
        // `mlir-opt` writes this one, whether or not it was written.
        if ir.missing_terminator(op, region) == Some(OpKind::ScfReduce) {
            self.indent(self.depth);
            self.text.push("scf.reduce\n");
        }
        self.depth -= 1;
        self.indent(self.depth);
        self.text.push("}");
        Ok(())
    }

    /// Whether a region is one block without arguments and ops.
    fn is_empty_block(&self, op: Op, region: Region) -> bool {
        let ir = self.ir;
        let mut items = ir.items(region);
        match items.next() {
            None => ir.op(op).form == crate::Form::Custom,
            Some(first) => {
                let data = ir.op(first);
                data.kind == OpKind::Label && data.results.is_empty() && items.next().is_none()
            }
        }
    }

    /// The terminator at the end of the only block of a region, if reading the text without it gives it back.
    fn hidden_terminator(&self, op: Op, blocks: &[Block]) -> Option<Op> {
        let ir = self.ir;
        let [only] = blocks else { return None };
        let terminator = ir.op(op).kind.implicit_terminator()?;
        // `mlir-opt` writes it all the same.
        if terminator == OpKind::ScfReduce {
            return None;
        }
        let last = ir.last_op(*only)?;
        let data = ir.op(last);
        if ir.prev(last).is_some_and(|it| is_terminator(ir, it)) {
            return None;
        }
        let says_nothing = data.kind == terminator
            && data.operands.is_empty()
            && data.results.is_empty()
            && ir.extra(last).attrs.is_empty()
            && data.regions.iter().all(|&(_, it)| self.is_empty_block(last, it));
        (says_nothing && data.form != crate::Form::Broken).then_some(last)
    }
}

fn is_terminator(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind.has(Traits::TERMINATOR)
}
