//! Edits that insert ops before an op and apply them to one of its operands.

use noisy_syntax::{Form, Ir, Op, Value};
use rustc_hash::FxHashSet;

use crate::program::Program;
use crate::report::diagnostic::TextEdit;

/// Fresh names for values. All fixes of one request share them.
#[derive(Debug, Default)]
pub(super) struct SharedFreshNames {
    reserved: FxHashSet<String>,
}

impl SharedFreshNames {
    /// Returns a name with its `%`, derived from the name of `like`. No value in the function of
    /// `op` has this name.
    pub(super) fn fresh(&mut self, program: &Program, op: Op, like: Value) -> Option<String> {
        let ir = program.ir();
        let counts = program.name_counts(ir.function_of(op)?)?;
        let stem = ir.value_text(like).trim_start_matches('%').replace('#', "_");
        // MLIR would read `%4_r` as the two tokens `%4` and `_r`.
        let is_number = stem.starts_with(|it: char| it.is_ascii_digit());
        let stem = if is_number { format!("r{stem}") } else { format!("{stem}_r") };
        let numbered = (1..).map(|n| format!("{stem}_{n}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let name = names.find(|it| !counts.contains_key(it) && !self.reserved.contains(it))?;
        self.reserved.insert(name.clone());
        Some(format!("%{name}"))
    }
}

/// An op to be inserted, with one operand and one result of the same type.
#[derive(Debug)]
pub(crate) struct NewOpText {
    pub(crate) name: &'static str,
    /// The text of its properties. HEIR 2026.10.1 and later read them only in the generic form.
    pub(crate) properties: Option<String>,
    /// The text of its other attributes.
    pub(crate) attributes: Option<String>,
}

impl NewOpText {
    /// Creates an op without attributes.
    pub(super) const fn plain(name: &'static str) -> Self {
        Self { name, properties: None, attributes: None }
    }

    /// Returns the text of the op.
    pub(crate) fn text(&self, result: &str, operand: &str, ty: &str, is_generic: bool) -> String {
        let Self { name, properties, attributes } = self;
        let dict = attributes.as_ref().map_or(String::new(), |it| format!(" {{{it}}}"));
        match properties {
            None if !is_generic => format!("{result} = {name} {operand}{dict} : {ty}"),
            _ => {
                let properties =
                    properties.as_ref().map_or(String::new(), |it| format!(" <{{{it}}}>"));
                format!("{result} = \"{name}\"({operand}){properties}{dict} : ({ty}) -> {ty}")
            }
        }
    }
}

/// Returns the edits that insert a chain of ops before `op`. The first takes `value`, and the
/// result of the last replaces `value` as an operand of `op`.
pub(super) fn insert_chain(
    program: &Program,
    (op, value): (Op, Value),
    new: &[NewOpText],
    names: &mut SharedFreshNames,
) -> Option<Vec<TextEdit>> {
    let ir = program.ir();
    let ty = ir.interner.type_text(ir.value(value).ty);
    let is_generic = ir.op(op).form == Form::Generic;
    let mut operand = ir.value_text(value);
    let mut lines = Vec::new();
    for new in new {
        let name = names.fresh(program, op, value)?;
        lines.push(new.text(&name, &operand, &ty, is_generic));
        operand = name;
    }
    let mut edits = vec![program.source().in_front_of(op, &lines)];
    for it in ir.op(op).operands.iter().filter(|it| it.value == Some(value)) {
        edits.push(TextEdit { range: ir.absolute(op, it.span), text: operand.clone() });
    }
    TextEdit::in_order(edits)
}

/// Returns an id for a new `mgmt.adjust_scale`. HEIR numbers these ops from zero, so an id far
/// above their number is unused.
pub(super) fn unused_adjust_id(ir: &Ir) -> usize {
    let mut n = 0;
    ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == "mgmt.adjust_scale"));
    n + 1000
}
