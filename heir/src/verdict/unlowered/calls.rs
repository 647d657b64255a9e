//! Finds calls with ciphertexts that HEIR does not lower.
//!
//! In a generic, HEIR lowers a call of a declaration if nothing else refers to it. Outside of
//! generics, each function has one type, which all calls must match.

use std::sync::OnceLock;

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::FxHashMap;

use super::{Found, Other, Reason, is_encrypted, shape, takes};
use crate::facts::known::Heir;
use crate::ops::rules;
use noisy_dataflow::flow;

/// The calls of a program.
#[derive(Debug)]
pub(super) struct Calls {
    /// The calls of each function, in textual order.
    by_callee: FxHashMap<Op, Vec<Op>>,
    /// True if the facts are correct for each call, although calls disagree; computed at the first
    /// query.
    is_checked: OnceLock<bool>,
}

impl Calls {
    /// Collects the calls among some ops, which are in textual order.
    pub(super) fn new(ir: &Ir, ops: &[Op]) -> Self {
        let mut by_callee: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
        for &call in ops.iter().filter(|&&it| ir.op(it).kind == OpKind::FuncCall) {
            if let Some(callee) = flow::callee(ir, call) {
                by_callee.entry(callee).or_default().push(call);
            }
        }
        Self { by_callee, is_checked: OnceLock::new() }
    }

    /// Returns the operand at which a call is refused, with the reason.
    pub(super) fn refused(&self, ir: &Ir, heir: &Heir, call: Op) -> Option<Found> {
        let callee = flow::callee(ir, call)?;
        if rules::generic_around(ir, call).is_none() {
            return self.other_shape(ir, heir, call, callee);
        }
        let takes_ciphertext = |call: Op| takes(ir, call, |it| is_encrypted(heir, it));
        let at = takes_ciphertext(call)?;
        if flow::body(ir, callee).is_some() {
            return Some(Found { at, reason: Reason::CalledBody, other: Some(Other::Op(callee)) });
        }
        let calls = self.by_callee.get(&callee)?;
        // The last one is reported.
        let last = calls.iter().rfind(|&&it| takes_ciphertext(it).is_some())?;
        let other = calls.iter().find(|&&it| it != call)?;
        (ir.op(callee).regions.is_empty() && *last == call).then_some(Found {
            at,
            reason: Reason::CalledTwice,
            other: Some(Other::Op(*other)),
        })
    }

    /// Returns the first ciphertext that is passed to an argument with another level or number of
    /// polynomials.
    fn other_shape(&self, ir: &Ir, heir: &Heir, call: Op, callee: Op) -> Option<Found> {
        let args = &ir.block(flow::entry_block(ir, flow::body(ir, callee)?)).args;
        let pairs = (0..).zip(ir.op(call).operands.iter().zip(args));
        let mut pairs = pairs.filter_map(|(at, (operand, &arg))| Some((at, operand.value?, arg)));
        let differs = |&(_, given, taken): &_| {
            shape(heir, given).zip(shape(heir, taken)).is_some_and(|(a, b)| a != b)
        };
        let (at, given, taken) = pairs.find(differs)?;
        let is_checked = || {
            let is_it = || heir.conflicts_in_calls_only(ir);
            is_encrypted(heir, given) && is_encrypted(heir, taken)
                || *self.is_checked.get_or_init(is_it)
        };
        let other = Some(Other::Value(taken));
        is_checked().then_some(Found { at, reason: Reason::CallShape, other })
    }
}
