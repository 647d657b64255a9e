//! Patterns of `func` and `builtin`.

use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{AttrData, Op, OpKind};

use super::patterns;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};

pub(super) const PATTERNS: &[Pattern] = patterns! {
    FuncCallIndirect: call_of_constant;
    BuiltinUnrealizedConversionCast: cast_back;
};

/// Replaces an indirect call of a known function by a direct call.
fn call_of_constant(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(constant) = rewriter.defined_by(rewriter.operand(op, 0), OpKind::FuncConstant) else {
        return false;
    };
    let Some(callee) = rewriter.ir.attr(constant, "value") else { return false };
    if !matches!(rewriter.ir.interner.attr_data(callee), AttrData::Symbol(path) if path.len() == 1)
    {
        return false;
    }
    let all = operands(rewriter.ir, op);
    let results: Vec<_> = rewriter.ir.op(op).results.iter().map(|&it| rewriter.ty(it)).collect();
    let mut new = NewOp::new("func.call").operands(&all[1..]).results(&results);
    new = new.attr("callee", callee);
    for name in ["arg_attrs", "res_attrs"] {
        if let Some(attr) = rewriter.ir.attr(op, name) {
            new = new.attr(name, attr);
        }
    }
    rewriter.replace_with(op, new);
    true
}

/// Replaces a cast of the results of an inverse cast by the operands of the inverse cast.
fn cast_back(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = &*rewriter.ir;
    let inputs = operands(ir, op);
    let results = &ir.op(op).results;
    let types =
        |it: &[noisy_syntax::Value]| -> Vec<_> { it.iter().map(|&it| ir.value(it).ty).collect() };
    if inputs.is_empty() {
        return false;
    }
    if types(&inputs) == types(results) {
        rewriter.replace(op, &inputs);
        return true;
    }
    let Some(inner) = rewriter.defined_by(inputs[0], OpKind::BuiltinUnrealizedConversionCast)
    else {
        return false;
    };
    let from = operands(ir, inner);
    if ir.op(inner).results[..] != inputs[..] || types(&from) != types(results) {
        return false;
    }
    rewriter.replace(op, &from);
    true
}
