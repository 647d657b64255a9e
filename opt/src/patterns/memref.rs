//! Rules of `memref`.

use noisy_syntax::{Ir, Op, Value};

use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = &[];

/// The buffer that a subview is all of.
pub(crate) fn whole_subview(_: &Ir, _: Op) -> Option<Value> {
    None
}
