//! Prints ops like MLIR, in the generic form and in their custom forms.
//!
//! The custom form of an op is printed along the syntax in its row, which the parser uses, too
//! (`dialect/syntax/`). An op that its syntax cannot express is printed in the generic form
//! instead.

use rustc_hash::FxHashMap;

pub use crate::Tool;
use crate::{Block, Ir, Op, Value};
pub use lines::{OpText, StableOpPrinter};
pub use number::ResultNames;
pub use printer::OmittedRegion;
use printer::Printer;

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
    /// The tool with output that is reproduced.
    pub tool: Tool,
    /// True if ops are printed in their custom forms instead of the generic form.
    pub is_custom: bool,
    /// True if results get the names that their ops suggest (`%c0_i32`, `%alloc`). This has no
    /// effect in the generic form.
    pub has_names: bool,
    /// True if affine maps and sets are defined above the program, as `#map` and `#set`, instead of
    /// being expanded where they are used.
    pub has_aliases: bool,
    /// True if locations of ops and block arguments are printed, if the program has any.
    pub has_locations: bool,
}

/// Names of values, as their uses print them (`%a`, `%a#1`), and labels of blocks, without `^`.
#[derive(Clone, Debug, Default)]
pub struct PrintedNames {
    /// Names by value.
    pub values: FxHashMap<Value, String>,
    /// Labels by block.
    pub blocks: FxHashMap<Block, String>,
}

/// Prints the whole document in generic form. Chunks are separated by `// -----` lines.
pub fn generic(ir: &Ir) -> String {
    generic_as(ir, Tool::default())
}

/// Prints the whole document in generic form, like a tool.
pub fn generic_as(ir: &Ir, tool: Tool) -> String {
    document(ir, Style { tool, ..Style::default() })
}

/// Prints the whole document in a style. Chunks are separated by `// -----` lines. A long type or
/// attribute that would be expanded too often is defined as an alias above (`!type`, `#attr`).
pub fn document(ir: &Ir, style: Style) -> String {
    let mut out = String::new();
    for (n, chunk) in ir.items(ir.root()).enumerate() {
        if n > 0 {
            out.push_str("// -----\n");
        }
        out += &named_if_long(ir, style, |printer| {
            for &(_, region) in &ir.op(chunk).regions {
                printer.top_level(region);
            }
        });
    }
    out
}

/// Prints without aliases for long types and attributes, and again with aliases if the first output
/// is much longer than the program.
fn named_if_long(ir: &Ir, style: Style, print: impl Fn(&mut Printer<'_>)) -> String {
    let mut printer = Printer::new(ir, style);
    print(&mut printer);
    if printer.text.is_cut() {
        printer = Printer::new(ir, style);
        printer.text.enable_long_names();
        print(&mut printer);
    }
    printer.finish()
}

/// Prints an op with its regions in a style. Values are numbered from 0.
pub fn op_in_style(ir: &Ir, op: Op, style: Style) -> String {
    op_within(ir, op, op, style)
}

/// Prints an op with its regions in a style. Values are numbered as in a print of `around`, an op
/// around it.
pub fn op_within(ir: &Ir, op: Op, around: Op, style: Style) -> String {
    named_if_long(ir, style, |printer| {
        printer.number_ops(&[around]);
        printer.op(op);
    })
}

/// Returns a print for a position at which no aliases can be defined; `None` if it is much longer
/// than the program.
fn finish_unless_cut(printer: Printer<'_>) -> Option<String> {
    (!printer.text.is_cut()).then(|| printer.finish())
}

/// Prints an op with its regions in a style. Values and blocks without a name in `names` are
/// numbered from 0. Returns `None` if the output is much longer than the program.
pub fn op_with_names(ir: &Ir, op: Op, style: Style, names: &PrintedNames) -> Option<String> {
    let mut printer = Printer::new(ir, style);
    printer.number_ops(&[op]);
    printer.numbers.assign_names(ir, op, names);
    printer.op(op);
    finish_unless_cut(printer)
}

/// Returns the name that MLIR suggests for the only result of an op, without `%`: `c7_i32` for a
/// constant.
pub fn suggested_name(ir: &Ir, op: Op) -> Option<String> {
    match number::suggested_names(ir, op).as_slice() {
        [(name, 1)] => name.clone(),
        _ => None,
    }
}

/// Prints the whole document in custom form. Chunks are separated by `// -----` lines.
///
/// Ops of unknown form are printed in the generic form, as far as they are known.
pub fn custom(ir: &Ir) -> String {
    custom_as(ir, Tool::default())
}

/// Prints the whole document in custom form, like a tool.
pub fn custom_as(ir: &Ir, tool: Tool) -> String {
    document(ir, Style { tool, is_custom: true, ..Style::default() })
}
