//! The unit of columns in a text.

use ropey::Rope;

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// UTF-16 code units, the default of the protocol.
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl Encoding {
    /// The width of a text in columns.
    pub(crate) fn width(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 if text.is_ascii() => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            Encoding::Utf32 => text.chars().count(),
        }
    }

    /// The line and the column of a byte offset, both from 0. Costs O(log n) in the text.
    pub(crate) fn line_column(self, text: &Rope, offset: usize) -> (usize, usize) {
        let offset = offset.min(text.len_bytes());
        let line = text.byte_to_line(offset);
        let start = text.line_to_byte(line);
        let column = match self {
            Encoding::Utf8 => offset - start,
            Encoding::Utf16 => {
                let (from, to) = (text.byte_to_char(start), text.byte_to_char(offset));
                text.char_to_utf16_cu(to) - text.char_to_utf16_cu(from)
            }
            Encoding::Utf32 => text.byte_to_char(offset) - text.byte_to_char(start),
        };
        (line, column)
    }
}
