//! What is wrong with a text, found while reading it.

use crate::{Code, Span};

/// The family of a problem; each is a category of the diagnostics that users see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// The text does not follow the grammar.
    Syntax,
    /// A name is not defined, defined twice, or out of reach.
    Name,
    /// Types or counts do not agree, or a literal does not fit its type.
    Type,
    /// The program is well-formed text that a verifier rejects.
    Structure,
}

/// One thing wrong with one op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The family.
    pub category: Category,
    /// What is wrong, whatever it is wrong with.
    pub code: Code,
    /// Where: in the op's own text (see [`crate::OpData`]) once stored, in the lexed text while parsing.
    pub span: Span,
    /// What is wrong and, where it helps, what to do; starts in lower case, no full stop.
    pub message: String,
}
