//! The part of the text that stands for an op or a value.

use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, Value};

/// The part of an op that computes: its name and its operands.
pub(crate) fn core_range(ir: &Ir, op: Op) -> Range<usize> {
    let data = ir.op(op);
    let name = data.name_span;
    if !data.kind.is_op() || name.end <= name.start {
        return ir.head_range(op);
    }
    let limit = data.regions.first().map_or(u32::MAX, |&(own, _)| own);
    let ends = data.operands.iter().map(|it| it.span.end).filter(|&it| it <= limit);
    let mut end = ends.max().unwrap_or(0).max(name.end);
    if data.form == Form::Generic {
        // `"noisy.add"(%0, %1)`: the parenthesis belongs to it.
        end = (end + u32::from(end > name.end)).min(data.own_len);
    }
    ir.absolute(op, noisy_syntax::Span::new(name.start, end))
}

/// The range that shows a value: the part of its op that computes it, or the name of an argument.
pub fn value_range(ir: &Ir, value: Value) -> Range<usize> {
    let data = ir.value(value);
    match data.def {
        Def::Result(op, _) => core_range(ir, op),
        Def::Argument(..) => match ir.definition_site(value) {
            Some(op) => ir.absolute(op, data.span),
            None => 0..0,
        },
    }
}
