//! A print under construction: what is numbered and written so far, and what custom forms are
//! written with.
//!
//! A form can say less than an op may hold (all operands of one type, an attribute that must be
//! there). Whoever writes a part of a form returns [`Unfit`] where the op does not fit.

use super::Style;
use super::locations::LocationNames;
use super::number::Numbers;
use crate::intern::{AliasNames, Text, Types};
use crate::{Attr, AttrData, Block, Ir, Name, Op, OpKind, Region, Tool, Type, Value};

/// An op that its form cannot say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfit;

/// A region that is noted instead of printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownRegion {
    /// The region.
    pub region: Region,
    /// True if its first block has a label.
    pub has_label: bool,
    /// The terminator that goes without saying.
    pub hidden: Option<Op>,
}

/// Stands for a region; strings in a print have no such character.
pub(crate) const HOLE: &str = "\u{1}";

/// The attribute that names a symbol: it is a string wherever it stands.
pub(crate) const SYMBOL: &str = "sym_name";

/// The result of printing a part of an op: an error if the op does not fit its syntax.
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

/// A print under construction.
#[derive(Debug)]
pub(crate) struct Printer<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) tool: Tool,
    pub(crate) text: Text<'a>,
    pub(super) numbers: Numbers,
    /// Ops are printed in their own forms.
    pub(crate) is_custom: bool,
    /// See [`Style::has_names`].
    pub(crate) has_names: bool,
    /// The names of locations, if they are printed.
    pub(super) locations: Option<LocationNames>,
    /// How many regions are around.
    pub(crate) depth: usize,
    /// The dialect that op names need not mention.
    pub(crate) default_dialect: Option<&'static str>,
    /// The op that is being written in its own form.
    pub(crate) place: Option<Place>,
    /// Regions are not printed but noted here, in order, if this is there.
    pub(crate) shown: Option<Vec<ShownRegion>>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(ir: &'a Ir, style: Style) -> Self {
        let mut text = Text::new(&ir.interner, Some(style.tool));
        text.aliases = style.has_aliases.then(AliasNames::default);
        let (n_ops, n_values, ..) = ir.bounds();
        text.keep_in_proportion(n_ops + n_values);
        Self {
            ir,
            tool: style.tool,
            text,
            numbers: Numbers::new(style.has_names && style.is_custom),
            is_custom: style.is_custom,
            has_names: style.has_names,
            locations: style.has_locations.then(LocationNames::default),
            depth: 0,
            default_dialect: Some("builtin"),
            place: None,
            shown: None,
        }
    }

    pub(crate) fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push("  ");
        }
    }

    pub(crate) fn op_id(&self) -> Op {
        self.place.as_ref().map_or(Op::from_index(0), |it| it.op)
    }

    pub(crate) fn kind(&self) -> OpKind {
        self.ir.op(self.op_id()).kind
    }

    pub(crate) fn place(&mut self) -> Fits<&mut Place> {
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

    /// The next operand after a blank; of this type, if one is given.
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

    /// The sizes of the segments of the operands, as many as are wanted, which add up to all
    /// operands.
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

    /// `{a = 1}` of the attributes that no element of the form writes, with what stands before it;
    /// or nothing.
    pub(crate) fn other_attrs(&mut self, before: &str) {
        let ir = self.ir;
        let op = self.op_id();
        let syntax = self.kind().spec().syntax;
        let tool = self.tool;
        let is_written = |name: Name| {
            let name = ir.interner.str(name);
            syntax.iter().any(|it| it.attributes(tool).contains(&name))
        };
        let attrs = ir.extra(op).attrs.iter().copied();
        let others: Vec<(Name, Attr)> = attrs.filter(|it| !is_written(it.0)).collect();
        if !others.is_empty() {
            self.word(before);
            self.blank();
            self.text.dict(&others);
        }
    }

    /// An attribute after a blank.
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
        let name = self.numbers.label(block).ok_or(Unfit)?;
        self.text.push(&format!("^{name}"));
        Ok(())
    }
}
