//! Rules of `scf`.

use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = &[];
