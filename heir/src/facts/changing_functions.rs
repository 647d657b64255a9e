//! Functions that change the dimension or the level of a ciphertext.
//!
//! *Cost.* Linear in the program, once for each version of the text.

use std::collections::hash_map::Entry;

use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::fact::Ciphertext;
use crate::ops::placed::PlacedOp;
use crate::ops::rules;
use noisy_dataflow::flow;

/// Returns the functions that may raise the dimension of a ciphertext, if `placed` is a
/// relinearization, or change its level, if `placed` is a bootstrap. Each has an op, in its body or
/// in that of a callee, that does so. A value that may be a ciphertext counts as one.
pub(crate) fn changing_functions(
    ir: &Ir,
    of: &dyn Fn(Value) -> Ciphertext,
    placed: PlacedOp,
) -> FxHashMap<Op, Op> {
    let mut out = FxHashMap::default();
    let mut stack: Vec<(Op, Op)> = Vec::new();
    for function in ir.functions() {
        let Some(body) = flow::function_body(ir, function) else { continue };
        let mut by = None;
        ir.walk(body, &mut |op| {
            if by.is_none()
                && ir.op(op).kind != OpKind::FuncCall
                && has_changed_number(ir, of, placed, op)
            {
                by = Some(op);
            }
        });
        stack.extend(by.map(|it| (function, it)));
    }
    // An op of the function itself takes precedence over an op of a callee.
    let mut at = 0;
    while let Some(&(function, by)) = stack.get(at) {
        at += 1;
        if let Entry::Vacant(it) = out.entry(function) {
            it.insert(by);
            stack.extend(flow::callers_of(ir, function).map(|it| (it, by)));
        }
    }
    out
}

fn has_changed_number(ir: &Ir, of: &dyn Fn(Value) -> Ciphertext, placed: PlacedOp, op: Op) -> bool {
    let may_be = |it: &Value| of(*it) != Ciphertext::Plain;
    let data = ir.op(op);
    if !data.results.iter().any(may_be) {
        return false;
    }
    let name = ir.op_name(op);
    match placed {
        PlacedOp::Bootstrap(_) => rules::has_level_rule(name) || rules::is_scale_product(name),
        PlacedOp::Relinearize => {
            // The third operand of an op of `linalg` is the accumulator.
            let n = if rules::is_contraction(name) { 2 } else { data.operands.len() };
            let multiplied = data.operands.iter().take(n).filter_map(|it| it.value);
            let is_product = rules::is_contraction(name)
                || rules::dimension_rule(name) == Some(rules::DimensionRule::Product);
            is_product && multiplied.filter(may_be).count() > 1
        }
    }
}
