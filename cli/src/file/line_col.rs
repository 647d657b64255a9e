//! Converts byte offsets to lines and columns, both from 1; columns count Unicode scalar values.

use ropey::Rope;

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineCol {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl LineCol {
    /// The position of a byte.
    pub(crate) fn of(text: &Rope, byte: usize) -> Self {
        let byte = byte.min(text.len_bytes());
        let row = text.byte_to_line(byte);
        let column = text.byte_to_char(byte) - text.line_to_char(row);
        Self { line: row + 1, column: column + 1 }
    }
}
