//! Finds ops with operands at different levels.
//!
//! *Law.* Only ciphertexts whose levels are known and checked are compared: by their types if all
//! of these state a level, else by the facts. The operand with the fewest used levels is reported:
//! levels can be dropped, but not regained. *Cost.* Linear in the operands.

use noisy_syntax::{Ir, Op, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Level};
use crate::verdict::requirements::{self, Condition, Requirement};

/// An op with ciphertexts at different levels.
#[derive(Clone, Copy, Debug)]
pub struct UnequalLevels {
    /// The op.
    pub op: Op,
    /// The index of the operand whose levels must be dropped.
    pub operand: u32,
    /// The value of that operand.
    pub value: Value,
    /// The ciphertext with the most used levels.
    pub other: Value,
    /// Number of levels that `other` uses more than `value`.
    pub n_levels: u32,
    /// The requirement that does not hold.
    pub requirement: &'static Requirement,
}

/// Returns the used levels of a ciphertext, if they are known and checked.
fn used_levels(ir: &Ir, heir: &CiphertextFacts, value: Value) -> Option<u32> {
    let Ciphertext::Encrypted { level, .. } = heir.ciphertext(value) else { return None };
    if heir.is_level_unchecked(value) || level == Level::Invalid {
        return None;
    }
    heir.used_levels(ir, value, level)
}

/// Returns the operands of an op that are at different levels.
pub(crate) fn unequal_levels(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<UnequalLevels> {
    let requirement = requirements::requirement_on_op(ir.op_name(op), Condition::OneLevel)?;
    let operands = &ir.op(op).operands;
    let mut ciphertexts = Vec::new();
    for (at, operand) in (0..).zip(operands) {
        let value = operand.value?;
        if matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. }) {
            ciphertexts.push((at, value));
        }
    }
    let by_type = |&(at, value): &(u32, Value)| {
        let left = u32::try_from(heir.level_by_type(ir, value)?).ok()?;
        // Fewer remaining moduli mean more used levels.
        Some((u32::MAX - left, at, value))
    };
    let by_facts = |&(at, value): &(u32, Value)| Some((used_levels(ir, heir, value)?, at, value));
    let levels: Option<Vec<_>> = ciphertexts.iter().map(by_type).collect();
    let levels = levels.or_else(|| ciphertexts.iter().map(by_facts).collect())?;
    let &(least, at, value) = levels.iter().min_by_key(|it| it.0)?;
    let &(most, _, other) = levels.iter().max_by_key(|it| it.0)?;
    let by = most - least;
    (by > 0).then_some(UnequalLevels { op, operand: at, value, other, n_levels: by, requirement })
}
