//! Finds calls with ciphertexts that HEIR does not lower.
//!
//! In a generic, HEIR lowers a call of a declaration if nothing else refers to it. Outside of
//! generics, each function has one type, which all calls must match.

use std::sync::OnceLock;

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::FxHashMap;

use super::{
    RefusedOperand, RelatedPlace, UnloweredReason, first_operand_where, is_checked_ciphertext,
    level_and_dimension,
};
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::ops::rules;
use noisy_dataflow::flow;

/// The calls of a program.
#[derive(Debug)]
pub(super) struct CallsByCallee {
    /// The calls of each function, in textual order.
    by_callee: FxHashMap<Op, Vec<Op>>,
    /// True if the facts are correct for each call, although calls disagree; computed at the first
    /// query.
    is_checked: OnceLock<bool>,
}

impl CallsByCallee {
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
    pub(super) fn refused(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        call: Op,
    ) -> Option<RefusedOperand> {
        let callee = flow::callee(ir, call)?;
        if rules::enclosing_generic(ir, call).is_none() {
            return self.operand_with_other_numbers(ir, heir, call, callee);
        }
        let takes_ciphertext =
            |call: Op| first_operand_where(ir, call, |it| is_checked_ciphertext(heir, it));
        let at = takes_ciphertext(call)?;
        if flow::function_body(ir, callee).is_some() {
            return Some(RefusedOperand {
                at,
                reason: UnloweredReason::CalledBody,
                other: Some(RelatedPlace::Op(callee)),
            });
        }
        let calls = self.by_callee.get(&callee)?;
        // The last one is reported.
        let last = calls.iter().rfind(|&&it| takes_ciphertext(it).is_some())?;
        let other = calls.iter().find(|&&it| it != call)?;
        (ir.op(callee).regions.is_empty() && *last == call).then_some(RefusedOperand {
            at,
            reason: UnloweredReason::CalledTwice,
            other: Some(RelatedPlace::Op(*other)),
        })
    }

    /// Returns the first ciphertext that is passed to an argument with another level or number of
    /// polynomials.
    fn operand_with_other_numbers(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        call: Op,
        callee: Op,
    ) -> Option<RefusedOperand> {
        let args = &ir.block(flow::entry_block(ir, flow::function_body(ir, callee)?)).args;
        let pairs = (0..).zip(ir.op(call).operands.iter().zip(args));
        let mut pairs = pairs.filter_map(|(at, (operand, &arg))| Some((at, operand.value?, arg)));
        let differs = |&(_, given, taken): &_| {
            level_and_dimension(heir, given)
                .zip(level_and_dimension(heir, taken))
                .is_some_and(|(a, b)| a != b)
        };
        let (at, given, taken) = pairs.find(differs)?;
        let is_checked = || {
            let is_it = || heir.has_conflicts_in_calls_only(ir);
            is_checked_ciphertext(heir, given) && is_checked_ciphertext(heir, taken)
                || *self.is_checked.get_or_init(is_it)
        };
        let other = Some(RelatedPlace::Value(taken));
        is_checked().then_some(RefusedOperand {
            at,
            reason: UnloweredReason::CallWithOtherNumbers,
            other,
        })
    }
}
