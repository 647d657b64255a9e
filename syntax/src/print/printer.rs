//! A print under construction: the numbers given and the text so far, and the helpers that print
//! custom syntax.
//!
//! Custom syntax can state less than an op may hold (all operands of one type, a required
//! attribute). The printer of a piece of syntax returns [`Unfit`] for an op that does not fit.

use super::Style;
use super::locations::LocationNames;
use super::number::Numbers;
use crate::intern::{AliasNames, Text, Types};
use crate::{Attr, AttrData, Block, Ir, Name, Op, OpKind, Region, Tool, Type, Value};

/// The op does not fit its custom syntax.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfit;

/// A region that is noted instead of printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownRegion {
    /// The region.
    pub region: Region,
    /// True if its first block has a label.
    pub has_label: bool,
    /// The terminator that the text leaves out.
    pub hidden: Option<Op>,
}

/// Stands for a region; strings in a print have no such character.
pub(crate) const HOLE: &str = "\u{1}";

/// The attribute that names a symbol: it is a string wherever it stands.
pub(crate) const SYMBOL: &str = "sym_name";

/// The result of printing a part of an op: an error if the op does not fit its syntax.
pub(crate) type Fits<X = ()> = Result<X, Unfit>;

/// Returns `Ok` if the op fits.
pub(crate) fn fits(condition: bool) -> Fits {
    if condition { Ok(()) } else { Err(Unfit) }
}

/// The op that is being printed, and the counts of its parts that are printed.
#[derive(Debug)]
pub(crate) struct PrintProgress {
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
    /// True if ops are printed in their custom forms.
    pub(crate) is_custom: bool,
    /// See [`Style::has_names`].
    pub(crate) has_names: bool,
    /// The names of locations, if they are printed.
    pub(super) locations: Option<LocationNames>,
    /// The number of regions around.
    pub(crate) depth: usize,
    /// The dialect that op names may leave out.
    pub(crate) default_dialect: Option<&'static str>,
    /// The op that is being printed in its custom form.
    pub(crate) place: Option<PrintProgress>,
    /// The regions in order, if they are noted instead of printed.
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

    pub(crate) fn place(&mut self) -> Fits<&mut PrintProgress> {
        self.place.as_mut().ok_or(Unfit)
    }

    /// Adds a blank, unless there is one or a bracket was opened.
    pub(crate) fn blank(&mut self) {
        if !self.text.out.ends_with([' ', '(', '[', '<']) {
            self.text.push(" ");
        }
    }

    /// Adds a keyword or other text between blanks.
    pub(crate) fn word(&mut self, word: &str) {
        self.blank();
        self.text.push(word);
    }

    /// Takes the next operand.
    pub(crate) fn take_operand(&mut self) -> Fits<Value> {
        let place = self.place()?;
        let at = place.n_operands;
        place.n_operands += 1;
        let op = place.op;
        self.ir.op(op).operands.get(at).and_then(|it| it.value).ok_or(Unfit)
    }

    /// The number of operands that are not taken yet.
    pub(crate) fn n_left(&self) -> usize {
        let n_written = self.place.as_ref().map_or(0, |it| it.n_operands);
        self.ir.op(self.op_id()).operands.len().saturating_sub(n_written)
    }

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

    /// Indents a line within the op by this many further levels.
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

    /// Prints the next operand after a blank; it has this type unless that is [`Type::UNKNOWN`].
    pub(crate) fn operand(&mut self, ty: Type) -> Fits {
        let value = self.take_operand()?;
        fits(ty == Type::UNKNOWN || self.type_of(value) == ty)?;
        self.blank();
        self.value(value)
    }

    /// Prints values with their types.
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

    /// Takes the next result and returns its type.
    pub(crate) fn take_result(&mut self) -> Fits<Type> {
        let place = self.place()?;
        let at = place.n_results;
        place.n_results += 1;
        let op = place.op;
        self.ir.op(op).results.get(at).map(|it| self.type_of(*it)).ok_or(Unfit)
    }

    /// Takes the results that are left and returns their types.
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

    /// The sizes of the `N` segments of the operands, if they add up to all operands.
    pub(crate) fn segment_sizes<const N: usize>(&self) -> Fits<[usize; N]> {
        let sizes = self.ir.segment_sizes(self.op_id()).ok_or(Unfit)?;
        sizes.try_into().map_err(|_| Unfit)
    }

    /// Prints the dictionary of the attributes that no element of the syntax states, after the word
    /// `before`; nothing if there are none.
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

    /// Prints an attribute after a blank.
    pub(crate) fn attr_word(&mut self, attr: Attr, types: Types) {
        self.blank();
        self.text.attr_typed(attr, types);
    }

    /// Takes the next successor: its block, and the range of operands that it is passed.
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
