//! The printer: the text and the names so far, and helpers that print custom syntax.
//!
//! Custom syntax cannot express every op: it may require operands of one type, or an attribute. The
//! printer of a piece of syntax returns [`Unfit`] for such an op.

use super::Style;
use super::locations::LocationNames;
use super::number::ValueNumbering;
use crate::intern::{AliasNames, NumberTypes, TextPrinter};
use crate::{Attr, AttrData, Block, Ir, Name, Op, OpKind, Region, Tool, Type, Value};

/// The custom syntax cannot express the op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfit;

/// A region that is recorded instead of printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OmittedRegion {
    /// The region.
    pub region: Region,
    /// True if its first block has a label.
    pub has_label: bool,
    /// The terminator that the text omits.
    pub omitted_terminator: Option<Op>,
}

/// Placeholder for a region. Strings in a print do not contain this character.
pub(crate) const REGION_PLACEHOLDER: &str = "\u{1}";

/// The attribute that names a symbol. It is always printed as a string.
pub(crate) const SYMBOL_ATTRIBUTE: &str = "sym_name";

/// The result of printing part of an op: an error if its custom syntax cannot express it.
pub(crate) type PrintResult<X = ()> = Result<X, Unfit>;

/// Returns `Ok` if the condition holds, an error otherwise.
pub(crate) fn fits(condition: bool) -> PrintResult {
    if condition { Ok(()) } else { Err(Unfit) }
}

/// The op that is being printed, and the numbers of its parts that were printed.
#[derive(Debug)]
pub(crate) struct PrintProgress {
    pub(crate) op: Op,
    pub(crate) n_operands: usize,
    pub(crate) n_results: usize,
    pub(crate) n_successors: usize,
    pub(crate) n_regions: usize,
    /// True if the header has printed the arguments of the next region.
    pub(crate) has_arguments: bool,
}

/// The state of printing a program.
#[derive(Debug)]
pub(crate) struct Printer<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) tool: Tool,
    pub(crate) text: TextPrinter<'a>,
    pub(super) numbers: ValueNumbering,
    /// True if ops are printed in their custom forms.
    pub(crate) is_custom: bool,
    /// See [`Style::has_names`].
    pub(crate) has_names: bool,
    /// The names of locations, if locations are printed.
    pub(super) locations: Option<LocationNames>,
    /// Number of regions around the current op.
    pub(crate) depth: usize,
    /// The dialect prefix that op names may omit.
    pub(crate) default_dialect: Option<&'static str>,
    /// The op that is being printed in its custom form.
    pub(crate) progress: Option<PrintProgress>,
    /// The regions in order, if they are recorded instead of printed.
    pub(crate) omitted_regions: Option<Vec<OmittedRegion>>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(ir: &'a Ir, style: Style) -> Self {
        let mut text = TextPrinter::new(&ir.interner, Some(style.tool));
        text.aliases = style.has_aliases.then(AliasNames::default);
        let (n_ops, n_values, ..) = ir.n_slots();
        text.limit_in_proportion(n_ops + n_values);
        Self {
            ir,
            tool: style.tool,
            text,
            numbers: ValueNumbering::new(style.has_names && style.is_custom),
            is_custom: style.is_custom,
            has_names: style.has_names,
            locations: style.has_locations.then(LocationNames::default),
            depth: 0,
            default_dialect: Some("builtin"),
            progress: None,
            omitted_regions: None,
        }
    }

    pub(crate) fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.text.push("  ");
        }
    }

    pub(crate) fn op_id(&self) -> Op {
        self.progress.as_ref().map_or(Op::from_index(0), |it| it.op)
    }

    pub(crate) fn kind(&self) -> OpKind {
        self.ir.op(self.op_id()).kind
    }

    pub(crate) fn progress(&mut self) -> PrintResult<&mut PrintProgress> {
        self.progress.as_mut().ok_or(Unfit)
    }

    /// Appends a blank, unless the text ends with a blank or an opening bracket.
    pub(crate) fn blank(&mut self) {
        if !self.text.out.ends_with([' ', '(', '[', '<']) {
            self.text.push(" ");
        }
    }

    /// Appends a keyword or other text after a blank.
    pub(crate) fn word(&mut self, word: &str) {
        self.blank();
        self.text.push(word);
    }

    /// Returns the next operand and marks it as printed.
    pub(crate) fn take_operand(&mut self) -> PrintResult<Value> {
        let place = self.progress()?;
        let at = place.n_operands;
        place.n_operands += 1;
        let op = place.op;
        self.ir.op(op).operands.get(at).and_then(|it| it.value).ok_or(Unfit)
    }

    /// Returns the number of operands that are not marked as printed.
    pub(crate) fn n_left(&self) -> usize {
        let n_written = self.progress.as_ref().map_or(0, |it| it.n_operands);
        self.ir.op(self.op_id()).operands.len().saturating_sub(n_written)
    }

    pub(crate) fn take_operands(&mut self, n: usize) -> PrintResult<Vec<Value>> {
        (0..n).map(|_| self.take_operand()).collect()
    }

    /// Returns the name of a value: `%0`.
    pub(crate) fn value_name(&self, value: Value) -> PrintResult<&str> {
        self.numbers.value(value).ok_or(Unfit)
    }

    /// Prints the name of a value: `%0`.
    pub(crate) fn value(&mut self, value: Value) -> PrintResult {
        let name = self.numbers.value(value).ok_or(Unfit)?;
        self.text.push(name);
        Ok(())
    }

    /// Indents a line within the op by `further` additional levels.
    pub(crate) fn line_start(&mut self, further: usize) {
        self.indent(self.depth + further);
    }

    /// Prints `%0, %1`.
    pub(crate) fn values(&mut self, values: &[Value]) -> PrintResult {
        for (i, value) in values.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            self.value(*value)?;
        }
        Ok(())
    }

    /// Prints the next operand after a blank. It must have type `ty` unless that is
    /// [`Type::UNKNOWN`].
    pub(crate) fn operand(&mut self, ty: Type) -> PrintResult {
        let value = self.take_operand()?;
        fits(ty == Type::UNKNOWN || self.type_of(value) == ty)?;
        self.blank();
        self.value(value)
    }

    /// Prints values with their types.
    pub(crate) fn values_types(&mut self, values: &[Value]) -> PrintResult {
        self.values(values)?;
        self.text.push(" : ");
        let types: Vec<Type> = values.iter().map(|it| self.type_of(*it)).collect();
        self.text.types(&types);
        Ok(())
    }

    pub(crate) fn type_of(&self, value: Value) -> Type {
        self.ir.value(value).ty
    }

    /// Returns the type of an operand by its index.
    pub(crate) fn operand_type(&self, at: usize) -> PrintResult<Type> {
        let operand = self.ir.op(self.op_id()).operands.get(at).ok_or(Unfit)?;
        operand.value.map(|it| self.type_of(it)).ok_or(Unfit)
    }

    /// Marks the next result as printed and returns its type.
    pub(crate) fn take_result(&mut self) -> PrintResult<Type> {
        let place = self.progress()?;
        let at = place.n_results;
        place.n_results += 1;
        let op = place.op;
        self.ir.op(op).results.get(at).map(|it| self.type_of(*it)).ok_or(Unfit)
    }

    /// Marks all further results as printed and returns their types.
    pub(crate) fn take_results(&mut self) -> PrintResult<Vec<Type>> {
        let op = self.op_id();
        let n = self.ir.op(op).results.len() - self.progress()?.n_results;
        (0..n).map(|_| self.take_result()).collect()
    }

    /// Returns an attribute of the op.
    pub(crate) fn op_attr(&self, name: &str) -> Option<Attr> {
        self.ir.attr(self.op_id(), name)
    }

    /// Returns an integer attribute of the op.
    pub(crate) fn int(&self, name: &str) -> PrintResult<i64> {
        self.int_of(self.op_attr(name).ok_or(Unfit)?)
    }

    pub(crate) fn int_of(&self, attr: Attr) -> PrintResult<i64> {
        match self.ir.interner.attr_data(attr) {
            AttrData::Int { value, .. } => i64::try_from(*value).map_err(|_| Unfit),
            _ => Err(Unfit),
        }
    }

    /// Returns a string attribute of the op.
    pub(crate) fn string(&self, name: &str) -> Option<Name> {
        match self.ir.interner.attr_data(self.op_attr(name)?) {
            AttrData::String(text, None) => Some(*text),
            _ => None,
        }
    }

    /// Returns the integers of an array attribute of the op: `array<i64: 1, 2>` or `[1, 2]`.
    pub(crate) fn ints(&self, name: &str) -> PrintResult<Vec<i64>> {
        match self.ir.interner.attr_data(self.op_attr(name).ok_or(Unfit)?) {
            AttrData::DenseArray { values, .. } | AttrData::Array(values) => {
                values.iter().map(|it| self.int_of(*it)).collect()
            }
            _ => Err(Unfit),
        }
    }

    /// Returns the sizes of the `N` operand segments if they add up to the number of operands.
    pub(crate) fn segment_sizes<const N: usize>(&self) -> PrintResult<[usize; N]> {
        let sizes = self.ir.segment_sizes(self.op_id()).ok_or(Unfit)?;
        sizes.try_into().map_err(|_| Unfit)
    }

    /// Prints the dictionary of the attributes that no element of the syntax expresses, after the
    /// word `before`. Prints nothing if there are none.
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
    pub(crate) fn attr_word(&mut self, attr: Attr, types: NumberTypes) {
        self.blank();
        self.text.attr_typed(attr, types);
    }

    /// Returns the next successor, marked as printed: its block, and the range of its operands.
    pub(crate) fn take_successor(&mut self) -> PrintResult<(Block, std::ops::Range<u32>)> {
        let place = self.progress()?;
        let at = place.n_successors;
        place.n_successors += 1;
        let op = place.op;
        let successor = self.ir.extra(op).successors.get(at).ok_or(Unfit)?;
        Ok((successor.block.ok_or(Unfit)?, successor.operands.clone()))
    }

    /// Prints `^bb1`.
    pub(crate) fn block_name(&mut self, block: Block) -> PrintResult {
        let name = self.numbers.label(block).ok_or(Unfit)?;
        self.text.push(&format!("^{name}"));
        Ok(())
    }
}
