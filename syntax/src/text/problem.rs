//! Problems of a text, found while reading it.

use crate::{Category, Code, Span};

/// One thing wrong with one op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The kind of problem.
    pub code: Code,
    /// Where: in the op's own text (see [`crate::OpData`]) once stored, in the lexed text while
    /// parsing.
    pub span: Span,
    /// The problem and, where it helps, its solution; starts in lower case, no full stop.
    pub message: String,
}

impl Problem {
    /// The family: that of its code.
    pub fn category(&self) -> Category {
        self.code.category()
    }
}
