//! Call hierarchy: callers and callees of a function.

use std::ops::Range;

use noisy_syntax::{Ir, Op, Source};

use crate::features::find::cursor::{self, Entity};
use crate::features::find::reference;

/// A caller or a callee, with its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallsOfFunction {
    pub function: Op,
    /// The symbol references of the calls.
    pub ranges: Vec<Range<usize>>,
}

/// The function whose name is at an offset.
pub(crate) fn function_named_at(source: &Source, offset: usize) -> Option<Op> {
    match cursor::mention_at(source, offset)?.entity {
        Entity::Symbol(op) => Some(op),
        _ => None,
    }
}

/// The callers of a function.
pub(crate) fn callers(ir: &Ir, function: Op) -> Vec<CallsOfFunction> {
    let mut out = Vec::new();
    for (op, place) in reference::symbol_uses(ir, function) {
        if let Some(caller) = ir.function_of(op) {
            add(&mut out, caller, place);
        }
    }
    out
}

/// The callees of a function.
pub(crate) fn callees(ir: &Ir, function: Op) -> Vec<CallsOfFunction> {
    let mut out = Vec::new();
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut |op| {
            for &(last, first, span) in &ir.extra(op).symbol_uses {
                if let Some(callee) = cursor::resolve_symbol(ir, op, first, last) {
                    add(&mut out, callee, ir.absolute(op, span));
                }
            }
        });
    }
    out
}

fn add(out: &mut Vec<CallsOfFunction>, function: Op, place: Range<usize>) {
    match out.iter_mut().find(|it| it.function == function) {
        Some(calls) => calls.ranges.push(place),
        None => out.push(CallsOfFunction { function, ranges: vec![place] }),
    }
}
