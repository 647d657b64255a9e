//! Numbers of values and blocks, like in the output of MLIR.
//!
//! Results are `%0`, `%1`, ..., arguments of entry blocks `%arg0`; arguments of other blocks are
//! numbered like results, and blocks are `^bb0`. Numbers start at 0 in each isolated op. The values
//! of a region are numbered before those of nested regions, because a nested op may use a value
//! that is defined after it. The numbers of a region are reused after the region.
//!
//! Some ops suggest names for their results (`%c0_i32`, `%alloc`), which MLIR's custom form uses:
//! see [`Naming`]. If a name is taken in the region or around it, a number is appended.

use std::borrow::Cow;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use super::PrintedNames;
use crate::{AttrData, Block, Ir, Op, Region, Traits, Type, TypeData, Value};

/// A range of the text of all names; empty for a value without a name.
type TextRange = (u32, u32);

/// The names that a print assigns to values and blocks.
#[derive(Debug, Default)]
pub(super) struct ValueNumbering {
    /// All names, concatenated.
    text: String,
    /// Names by the index of the value.
    values: Vec<TextRange>,
    /// The result list of each op (the text left of `=`), by the index of the op.
    result_lists: Vec<TextRange>,
    blocks: FxHashMap<Block, u32>,
    /// Labels that the caller has assigned, without `^`.
    labels: FxHashMap<Block, String>,
    n_values: u32,
    n_arguments: u32,
    naming: Option<Naming>,
}

/// The names that ops suggest, and the names that are taken.
#[derive(Debug, Default)]
struct Naming {
    taken: FxHashSet<Box<str>>,
    /// The taken names, in order: the end of a region removes those of the region.
    order: Vec<Box<str>>,
    next: u32,
}

impl ValueNumbering {
    /// If `has_names` is true, results get the names that their ops suggest.
    pub(super) fn new(has_names: bool) -> Self {
        Self { naming: has_names.then(Naming::default), ..Self::default() }
    }

    /// Returns the name of a value: `%0`, `%0#1`, `%c0`.
    pub(super) fn value(&self, value: Value) -> Option<&str> {
        self.piece(self.values.get(value.index()).copied())
    }

    /// Returns the number after `^bb`.
    pub(super) fn block(&self, block: Block) -> Option<u32> {
        self.blocks.get(&block).copied()
    }

    /// Returns the label of a block, without `^`.
    pub(super) fn label(&self, block: Block) -> Option<Cow<'_, str>> {
        match self.labels.get(&block) {
            Some(name) => Some(Cow::Borrowed(name)),
            None => self.block(block).map(|it| Cow::Owned(format!("bb{it}"))),
        }
    }

    /// Assigns the given names to the values and blocks of an op and of its regions.
    pub(super) fn assign_names(&mut self, ir: &Ir, op: Op, names: &PrintedNames) {
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            let data = ir.op(op);
            for value in
                data.operands.iter().filter_map(|it| it.value).chain(data.results.iter().copied())
            {
                self.assign_value_name(value, names);
            }
            self.assign_result_list(op, &data.results, names);
            for successor in &ir.extra(op).successors {
                self.assign_block_name(successor.block, names);
            }
            for &(_, region) in &data.regions {
                for block in ir.blocks(region) {
                    self.assign_block_name(Some(block), names);
                    for &value in &ir.block(block).args {
                        self.assign_value_name(value, names);
                    }
                    stack.extend(ir.block_ops(block));
                }
            }
        }
    }

    pub(super) fn assign_block_name(&mut self, block: Option<Block>, names: &PrintedNames) {
        if let Some((block, name)) = block.and_then(|it| Some((it, names.blocks.get(&it)?))) {
            self.labels.insert(block, name.clone());
        }
    }

    pub(super) fn assign_value_name(&mut self, value: Value, names: &PrintedNames) {
        if let Some(name) = names.values.get(&value) {
            self.values[value.index()] = self.write(name);
        }
    }

    /// Assigns the result list of an op: `%a`, `%a:2, %b`.
    pub(super) fn assign_result_list(&mut self, op: Op, results: &[Value], names: &PrintedNames) {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for value in results {
            let Some(name) = names.values.get(value) else { return };
            let (stem, number) = name.split_once('#').unwrap_or((name, "0"));
            match groups.last_mut() {
                Some((last, n)) if *last == stem && number != "0" => *n += 1,
                _ => groups.push((stem, 1)),
            }
        }
        let left: Vec<String> = groups
            .into_iter()
            .map(|(stem, n)| if n == 1 { stem.to_owned() } else { format!("{stem}:{n}") })
            .collect();
        self.result_lists[op.index()] = self.write(&left.join(", "));
    }

    fn write(&mut self, text: &str) -> TextRange {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        (start, self.text.len() as u32)
    }

    /// Returns the result list of an op: `%0`, `%0:2`, `%base_buffer, %sizes:2`.
    pub(super) fn result_list(&self, op: Op) -> Option<&str> {
        self.piece(self.result_lists.get(op.index()).copied())
    }

    fn piece(&self, piece: Option<TextRange>) -> Option<&str> {
        piece.filter(|it| it.0 < it.1).map(|it| &self.text[it.0 as usize..it.1 as usize])
    }

    /// Numbers the ops of one region, and then their contents. `regions` returns the regions of an
    /// op in the order of printing.
    pub(super) fn number_ops(&mut self, ir: &Ir, ops: &[Op], regions: &dyn Fn(Op) -> Vec<Region>) {
        let (n_ops, n_values, ..) = ir.n_slots();
        self.result_lists.resize(n_ops, (0, 0));
        self.values.resize(n_values, (0, 0));
        for &op in ops {
            self.number_results(ir, op);
        }
        for &op in ops {
            self.number_regions(ir, op, regions);
        }
    }

    fn number_results(&mut self, ir: &Ir, op: Op) {
        let results = &ir.op(op).results;
        if results.is_empty() {
            return;
        }
        let groups = if self.naming.is_some() { suggested_names(ir, op) } else { Vec::new() };
        let one = match &groups[..] {
            [] if results.len() == 1 => Some(None),
            [(name, 1)] => Some(name.as_deref()),
            _ => None,
        };
        if let Some(name) = one {
            let piece = self.name(name);
            self.values[results[0].index()] = piece;
            self.result_lists[op.index()] = piece;
            return;
        }
        let groups = if groups.is_empty() { vec![(None, results.len())] } else { groups };
        let mut left = String::new();
        let mut results = results.iter();
        for (name, n) in groups {
            let stem = self.name(name.as_deref());
            let stem = self.text[stem.0 as usize..stem.1 as usize].to_owned();
            let comma = if left.is_empty() { "" } else { ", " };
            let _ = if n == 1 {
                write!(left, "{comma}{stem}")
            } else {
                write!(left, "{comma}{stem}:{n}")
            };
            for (i, value) in results.by_ref().take(n).enumerate() {
                let start = self.text.len() as u32;
                let _ = match n {
                    1 => write!(self.text, "{stem}"),
                    _ => write!(self.text, "{stem}#{i}"),
                };
                self.values[value.index()] = (start, self.text.len() as u32);
            }
        }
        let start = self.text.len() as u32;
        self.text.push_str(&left);
        self.result_lists[op.index()] = (start, self.text.len() as u32);
    }

    /// Appends `%name`, or `%` and the next number.
    fn name(&mut self, name: Option<&str>) -> TextRange {
        let start = self.text.len() as u32;
        self.text.push('%');
        match (name, &mut self.naming) {
            (Some(name), Some(naming)) => naming.write(&mut self.text, name),
            (Some(name), None) => self.text.push_str(name),
            (None, _) => {
                let _ = write!(self.text, "{}", self.n_values);
                self.n_values += 1;
            }
        }
        (start, self.text.len() as u32)
    }

    /// Numbers the values that the regions of an op define. Each region reuses the numbers of the
    /// previous one.
    fn number_regions(&mut self, ir: &Ir, op: Op, regions: &dyn Fn(Op) -> Vec<Region>) {
        let data = ir.op(op);
        if data.regions.is_empty() {
            return;
        }
        let next = |it: &Self| it.naming.as_ref().map_or(0, |it| it.next);
        let saved = (self.n_values, self.n_arguments, next(self));
        if data.kind.has(Traits::ISOLATED) {
            (self.n_values, self.n_arguments) = (0, 0);
        }
        let start = (self.n_values, self.n_arguments, next(self));
        for region in regions(op) {
            self.restore_counters(start);
            let n_taken = self.naming.as_ref().map_or(0, |it| it.order.len());
            let blocks = ir.blocks(region);
            for (n, &block) in blocks.iter().enumerate() {
                self.blocks.insert(block, n as u32);
                for &value in &ir.block(block).args {
                    self.number_argument(value, n == 0);
                }
                for op in ir.block_ops(block) {
                    self.number_results(ir, op);
                }
            }
            for op in blocks.iter().flat_map(|&it| ir.block_ops(it)) {
                self.number_regions(ir, op, regions);
            }
            if let Some(naming) = &mut self.naming {
                for name in naming.order.drain(n_taken..) {
                    naming.taken.remove(&name);
                }
            }
        }
        self.restore_counters(saved);
    }

    fn restore_counters(&mut self, (n_values, n_arguments, next): (u32, u32, u32)) {
        (self.n_values, self.n_arguments) = (n_values, n_arguments);
        if let Some(naming) = &mut self.naming {
            naming.next = next;
        }
    }

    fn number_argument(&mut self, value: Value, is_entry: bool) {
        let piece = if is_entry {
            self.n_arguments += 1;
            let name = format!("arg{}", self.n_arguments - 1);
            self.name(Some(&name))
        } else {
            self.name(None)
        };
        self.values[value.index()] = piece;
    }
}

impl Naming {
    /// Appends a name, followed by a number if the name is taken.
    fn write(&mut self, out: &mut String, name: &str) {
        let start = out.len();
        out.push_str(name);
        while self.taken.contains(&out[start..]) {
            out.truncate(start + name.len());
            let _ = write!(out, "_{}", self.next);
            self.next += 1;
        }
        let name: Box<str> = out[start..].into();
        self.taken.insert(name.clone());
        self.order.push(name);
    }
}

/// The rule for the names that an op suggests for its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultNames {
    /// No names: results are numbered.
    None,
    /// The name of the op, without its prefix.
    OfOp,
    /// One name for each result; no names if the number of results differs.
    Each(&'static [&'static str]),
    /// A name from the attribute `value`: `c7_i32`, `true`, `cst`.
    ConstantValue,
    /// `base_buffer`, `offset`, and packs of `sizes` and `strides`.
    StridedMetadata,
}

/// Returns the names that an op suggests for its results, each with the number of results that it
/// names; empty for most ops.
pub(super) fn suggested_names(ir: &Ir, op: Op) -> Vec<(Option<String>, usize)> {
    let data = ir.op(op);
    let one = |name: &str| vec![(Some(name.to_owned()), 1)];
    match data.kind.spec().result_names {
        ResultNames::OfOp => {
            let name = data.kind.spec().name;
            one(name.split_once('.').map_or(name, |it| it.1))
        }
        ResultNames::Each(names) if data.results.len() == names.len() => {
            names.iter().map(|it| (Some((*it).to_owned()), 1)).collect()
        }
        ResultNames::Each(_) | ResultNames::None => Vec::new(),
        ResultNames::ConstantValue => {
            let value = ir.attr(op, "value").map(|it| ir.interner.attr_data(it));
            match value {
                Some(AttrData::Bool(it)) => one(if *it { "true" } else { "false" }),
                Some(AttrData::Int { value, ty }) if *ty == Type::I1 => {
                    one(if *value == 0 { "false" } else { "true" })
                }
                Some(AttrData::Int { value, ty }) => match ir.interner.type_data(*ty) {
                    TypeData::Index => one(&format!("c{value}")),
                    _ => one(&format!("c{value}_{}", ir.interner.type_text(*ty))),
                },
                _ => one("cst"),
            }
        }
        ResultNames::StridedMetadata => {
            let name = |it: &str| Some(it.to_owned());
            let rank = data.results.len().saturating_sub(2) / 2;
            let mut names = vec![(name("base_buffer"), 1), (name("offset"), 1)];
            if rank > 0 {
                names.extend([(name("sizes"), rank), (name("strides"), rank)]);
            }
            names
        }
    }
}
