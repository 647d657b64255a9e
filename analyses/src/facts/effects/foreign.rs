//! Effects of ops without a row in the table of ops, by name.
//!
//! Ops of `math` have no effects. The ops of `test` are those of upstream's tests that state
//! effects in their names.

use noisy_syntax::{Ir, Op};
use smallvec::{SmallVec, smallvec};

use super::{Access, Accesses};
use crate::facts::values::{attr_of, operand};

/// Returns the accesses of an op with this name; `None` if they are unknown.
pub(super) fn accesses(name: &str) -> Option<Accesses> {
    Some(match name {
        "test.op_with_memread" => smallvec![(Access::Read, None)],
        "test.op_with_memwrite" => smallvec![(Access::Write, None)],
        _ if name.starts_with("math.") => SmallVec::new(),
        "ub.poison"
        | "test.always_speculatable_op"
        | "test.conditionally_speculatable_op"
        | "test.pureop" => SmallVec::new(),
        _ => return None,
    })
}

/// Returns true if an op is defined for all operands.
pub(super) fn is_always_defined(ir: &Ir, op: Op) -> bool {
    match ir.op_name(op) {
        "test.always_speculatable_op" | "test.pureop" | "ub.poison" => true,
        "test.conditionally_speculatable_op" => {
            operand(ir, op, 0).is_some_and(|it| attr_of(ir, it).is_some())
        }
        name => name.starts_with("math."),
    }
}

/// Returns true if an op runs exactly one of its regions, once.
pub fn is_choice(name: &str) -> bool {
    name == "test.any_cond"
}
