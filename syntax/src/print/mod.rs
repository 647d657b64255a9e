//! Printing: ops as MLIR prints them, in the generic form and in each op's own.
//!
//! An op is printed in its custom form along the syntax in its row, along which it is read, too
//! (`dialect/syntax/`). An op that does not fit its syntax is printed in the generic form instead.

use rustc_hash::FxHashMap;

pub use crate::Tool;
use crate::{Block, Ir, Op, Value};
pub use lines::{Lines, Shape};
pub use number::ResultNames;
use printer::Printer;
pub use printer::ShownRegion;

mod custom;
mod generic;
mod lines;
mod located;
mod locations;
mod number;
pub(crate) mod printer;
mod resources;

/// The style of a printed program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The tool whose print is reproduced.
    pub tool: Tool,
    /// Ops are printed in their own forms, not in the generic one.
    pub is_custom: bool,
    /// Results get the names that their ops suggest (`%c0_i32`, `%alloc`); in the generic form they
    /// never do.
    pub has_names: bool,
    /// Affine maps and sets are defined above the program, as `#map` and `#set`, and not spelled
    /// out where they are used.
    pub has_aliases: bool,
    /// Ops and block arguments say where they come from, if the program has locations.
    pub has_locations: bool,
}

/// Names for values, as their uses write them (`%a`, `%a#1`), and labels for blocks, without `^`.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By value.
    pub values: FxHashMap<Value, String>,
    /// By block.
    pub blocks: FxHashMap<Block, String>,
}

/// The whole document in generic form; the parts of a split file one after the other, with the line
/// between them.
pub fn generic(ir: &Ir) -> String {
    generic_as(ir, Tool::default())
}

/// The whole document in generic form, as a tool prints it.
pub fn generic_as(ir: &Ir, tool: Tool) -> String {
    document(ir, Style { tool, ..Style::default() })
}

/// The whole document in a style; the parts of a split file one after the other, with the line
/// between them. A long type or attribute that would be spelled out too often has a name above
/// (`!type`, `#attr`).
pub fn document(ir: &Ir, style: Style) -> String {
    let mut out = String::new();
    for (n, chunk) in ir.items(ir.root()).enumerate() {
        if n > 0 {
            out.push_str("// -----\n");
        }
        out += &named_if_long(ir, style, |printer| {
            for &(_, region) in &ir.op(chunk).regions {
                printer.top(region);
            }
        });
    }
    out
}

/// The print, with names for long types and attributes if it is out of proportion without them.
fn named_if_long(ir: &Ir, style: Style, print: impl Fn(&mut Printer<'_>)) -> String {
    let mut printer = Printer::new(ir, style);
    print(&mut printer);
    if printer.text.is_cut() {
        printer = Printer::new(ir, style);
        printer.text.name_long();
        print(&mut printer);
    }
    printer.finish()
}

/// One op with its regions in a style, its values numbered from 0.
pub fn op_in(ir: &Ir, op: Op, style: Style) -> String {
    op_within(ir, op, op, style)
}

/// One op with its regions in a style, its values numbered as they are where another op around it
/// is printed.
pub fn op_within(ir: &Ir, op: Op, around: Op, style: Style) -> String {
    named_if_long(ir, style, |printer| {
        printer.number(&[around]);
        printer.op(op);
    })
}

/// The print for a place in a text, where no names can be defined above; `None` if it is out of
/// proportion.
fn whole(printer: Printer<'_>) -> Option<String> {
    (!printer.text.is_cut()).then(|| printer.finish())
}

/// One op with its regions in a style; values and blocks that have no name in `names` are
/// numbered from 0. Nothing if it is out of proportion to the program.
pub fn op_with_names(ir: &Ir, op: Op, style: Style, names: &Names) -> Option<String> {
    let mut printer = Printer::new(ir, style);
    printer.number(&[op]);
    printer.numbers.give(ir, op, names);
    printer.op(op);
    whole(printer)
}

/// The name that MLIR proposes for the only result of an op, without `%`: `c7_i32` for a constant.
pub fn suggested_name(ir: &Ir, op: Op) -> Option<String> {
    match number::suggested(ir, op).as_slice() {
        [(name, 1)] => name.clone(),
        _ => None,
    }
}

/// The whole document, each op in its own form where it has one; the parts of a split file one
/// after the other.
///
/// Ops of unknown form are printed in the generic form, as far as they are known.
pub fn custom(ir: &Ir) -> String {
    custom_as(ir, Tool::default())
}

/// The whole document, each op in its own form, as a tool prints it.
pub fn custom_as(ir: &Ir, tool: Tool) -> String {
    document(ir, Style { tool, is_custom: true, ..Style::default() })
}
