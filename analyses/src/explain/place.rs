//! The range of the text at which an op or a value is reported.

use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, Value};

/// Returns the range of the name and the operands of an op, without results, attributes, types and
/// regions.
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
        // Includes the closing parenthesis of `"noisy.add"(%0, %1)`.
        end = (end + u32::from(end > name.end)).min(data.own_len);
    }
    ir.absolute(op, noisy_syntax::Span::new(name.start, end))
}

/// Returns the range of a value: the core of its defining op, or the name of an argument.
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
