//! What is wrong with a text, found while reading it.

use crate::{Category, Code, Span};

/// One thing wrong with one op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong, whatever it is wrong with.
    pub code: Code,
    /// Where: in the op's own text (see [`crate::OpData`]) once stored, in the lexed text while parsing.
    pub span: Span,
    /// What is wrong and, where it helps, what to do; starts in lower case, no full stop.
    pub message: String,
}

impl Problem {
    /// The family: that of its code.
    pub fn category(&self) -> Category {
        self.code.category()
    }
}
