//! Rules of `affine`.

use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = &[];
