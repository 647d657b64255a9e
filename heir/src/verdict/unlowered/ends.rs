//! Finds values that a generic or a loop yields and that HEIR cannot type.

use noisy_syntax::{Ir, Op, OpKind};

use super::{RefusedOperand, UnloweredReason, is_checked_ciphertext, is_loop, is_result_used};
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::verdict::plaintexts::is_checked_plaintext;

/// Returns the operand at which the terminator of a generic is refused, with the reason.
pub(super) fn refused_yield(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    yielded_plain(ir, heir, op).or_else(|| yielded_twice(ir, heir, op))
}

/// Returns the first plaintext that a generic yields to a used result.
fn yielded_plain(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    let generic = ir.parent_op(op).filter(|&it| ir.is_secret_generic(it))?;
    let mut all = (0..).zip(&ir.op(op).operands);
    let found = all.find(|(at, it)| {
        is_result_used(ir, generic, *at)
            && it.value.is_some_and(|it| is_checked_plaintext(heir, it))
    });
    Some(RefusedOperand::new(found?.0, UnloweredReason::YieldedPlain))
}

/// Returns the first operand of the terminator of a generic or a loop that occurs twice and is a
/// result of the preceding op.
pub(super) fn yielded_twice(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    // The types of the results of calls and loops are known.
    let is_typed = |it: Op| is_loop(ir, it) || ir.op(it).kind == OpKind::FuncCall;
    let last = ir.prev(op).filter(|&it| !is_typed(it))?;
    let parent = ir.parent_op(op)?;
    if !(ir.is_secret_generic(parent) || is_loop(ir, parent)) {
        return None;
    }
    // HEIR removes results of the generic without uses.
    let is_used = |at: u32| !ir.is_secret_generic(parent) || is_result_used(ir, parent, at);
    let operands = &ir.op(op).operands;
    let mut all = (0..).zip(operands).skip(1);
    let found = all.find(|(at, operand)| {
        let is_result = operand
            .value
            .is_some_and(|it| ir.op(last).results.contains(&it) && is_checked_ciphertext(heir, it));
        let is_same = |it: u32| is_used(it) && operands[it as usize].value == operand.value;
        is_result && is_used(*at) && (0..*at).any(is_same)
    });
    Some(RefusedOperand::new(found?.0, UnloweredReason::YieldedTwice))
}
