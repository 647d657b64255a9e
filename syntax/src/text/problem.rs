//! Problems of a text that the parser or the verifier finds.

use crate::{Category, Code, Span};

/// A problem of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The code of the problem.
    pub code: Code,
    /// Its range: in the op's own text (see [`crate::OpData`]) once it is stored, in the lexed text
    /// during parsing.
    pub span: Span,
    /// The problem and, where it helps, a solution; starts in lower case, without a full stop.
    pub message: String,
}

impl Problem {
    /// Returns the family of its code.
    pub fn category(&self) -> Category {
        self.code.category()
    }
}
