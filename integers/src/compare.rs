//! The predicates of comparisons. Folding, ranges and patterns all use these functions.

use noisy_syntax::{AttrData, Op};

use noisy_dataflow::view::ProgramView;

/// Returns the predicate of a comparison, as the integer of its attribute.
pub fn predicate(ir: &impl ProgramView, op: Op) -> Option<i128> {
    match ir.interner().attr_data(ir.attr(op, "predicate")?) {
        AttrData::Int { value, .. } => Some(*value),
        _ => None,
    }
}

/// Returns the result of `arith.cmpi` for two sign-extended numbers. `None` for an invalid
/// predicate.
pub fn holds_cmpi(predicate: i128, a: i128, b: i128, width: u32) -> Option<bool> {
    let (ua, ub) = (as_unsigned(a, width), as_unsigned(b, width));
    Some(match predicate {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        6 => ua < ub,
        7 => ua <= ub,
        8 => ua > ub,
        9 => ua >= ub,
        _ => return None,
    })
}

/// Returns the result of `arith.cmpi` for two equal numbers.
pub fn is_true_for_equal(predicate: i128) -> bool {
    matches!(predicate, 0 | 3 | 5 | 7 | 9)
}

/// Returns true if the first two operands are the same value.
pub(super) fn has_equal_operands(ir: &impl ProgramView, op: Op) -> bool {
    let operand = |index: usize| ir.op(op).operands.get(index)?.value;
    let (a, b) = (operand(0), operand(1));
    a.is_some() && a == b
}

/// Returns the low `width` bits, as an unsigned number.
pub(super) fn as_unsigned(value: i128, width: u32) -> u128 {
    let unused = 128 - width;
    (value.cast_unsigned() << unused) >> unused
}
