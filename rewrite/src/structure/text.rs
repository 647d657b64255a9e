//! Text of new lines, and edits of programs.

use noisy_analyses::{FreshNames, Program, TextEdit};
use noisy_syntax::{Form, Ir, Op, Value};
use rustc_hash::FxHashMap;

use crate::extract::is_ring_op;
use crate::write::binary_op_text;

const NOISY: &str = "!noisy.i32";

/// The edits of a program in one pass.
pub(super) struct EditPass<'a> {
    pub program: &'a Program,
    pub ir: &'a Ir,
    pub names: FreshNames<'a>,
    pub edits: Vec<TextEdit>,
}

impl<'a> EditPass<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let ir = program.ir();
        Self { program, ir, names: FreshNames::of(ir), edits: Vec::new() }
    }

    pub(super) fn replace(&mut self, range: std::ops::Range<usize>, text: String) {
        self.edits.push(TextEdit { range, text });
    }

    /// Returns true if a value is defined outside of an op.
    pub(super) fn is_outside(&self, value: Value, op: Op) -> bool {
        let holder = self.ir.region(self.ir.def_region(value)).parent;
        holder.is_none_or(|it| !self.ir.is_within(it, op))
    }

    /// Returns true if a value has the type whose arithmetic is rewritten.
    pub(super) fn is_noisy(&self, value: Value) -> bool {
        self.ir.interner.type_text(self.ir.value(value).ty) == NOISY
    }

    /// Returns all ops within the regions of an op, outer ones before inner ones.
    pub(super) fn nested_ops(&self, op: Op) -> Vec<Op> {
        let mut out = Vec::new();
        for &(_, region) in &self.ir.op(op).regions {
            self.ir.walk(region, &mut |it| out.push(it));
        }
        out
    }

    /// Returns the edits; `None` if there are none or they overlap.
    pub(super) fn finish(self) -> Option<Vec<TextEdit>> {
        TextEdit::in_order(self.edits).filter(|it| !it.is_empty())
    }
}

/// The syntax of new lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStyle {
    Generic,
    Custom,
}

impl LineStyle {
    pub(super) fn of(ir: &Ir, op: Op) -> Self {
        if ir.op(op).form == Form::Generic { Self::Generic } else { Self::Custom }
    }

    /// Returns the text of a sum, a difference or a product.
    pub(super) fn line(self, result: &str, name: &str, a: &str, b: &str) -> String {
        binary_op_text(self == Self::Generic, NOISY, result, name, &format!("{a}, {b}"))
    }
}

/// Returns edits that remove unused arithmetic of some functions.
pub(super) fn remove_unused(program: &Program, functions: &[Op]) -> Option<Vec<TextEdit>> {
    let mut pass = EditPass::new(program);
    let mut is_gone: FxHashMap<Op, bool> = FxHashMap::default();
    for &function in functions {
        for op in pass.nested_ops(function).into_iter().rev() {
            let data = pass.ir.op(op);
            let is_used = |it: &Value| {
                pass.ir.value(*it).uses.iter().any(|it| !is_gone.get(&it.0).is_some_and(|it| *it))
            };
            if is_ring_op(pass.ir, op) && !data.results.iter().any(is_used) {
                is_gone.insert(op, true);
                pass.replace(program.source().lines_of(op, true), String::new());
            }
        }
    }
    pass.finish()
}
