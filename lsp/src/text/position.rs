//! Positions in the three encodings of the protocol, to and from byte offsets.
//!
//! *Law.* Every function is total: a line after the last means the end of the text, a column after
//! the end of its line means that end, a position inside a character means the start of the
//! character. Each costs O(log n) in the text.

use std::ops::Range;

use ropey::Rope;
use tower_lsp::ls_types as lsp;

use super::encoding::Encoding;

/// Chooses one of the encodings that a client offers: bytes, which need no conversion, or else the
/// first known one.
pub(crate) fn negotiate(offered: &[lsp::PositionEncodingKind]) -> Encoding {
    let known = |kind: &lsp::PositionEncodingKind| match kind.as_str() {
        "utf-8" => Some(Encoding::Utf8),
        "utf-16" => Some(Encoding::Utf16),
        "utf-32" => Some(Encoding::Utf32),
        _ => None,
    };
    if offered.iter().any(|kind| known(kind) == Some(Encoding::Utf8)) {
        return Encoding::Utf8;
    }
    offered.iter().find_map(known).unwrap_or(Encoding::Utf16)
}

/// The protocol's name of an encoding.
pub(crate) fn encoding_kind(encoding: Encoding) -> lsp::PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
        Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        Encoding::Utf32 => lsp::PositionEncodingKind::UTF32,
    }
}

/// Converts a position to a byte offset.
pub(crate) fn offset(text: &Rope, position: lsp::Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= text.len_lines() {
        return text.len_bytes();
    }
    let column = position.character as usize;
    let start = text.line_to_char(line);
    let end = line_end(text, line);
    let char = match encoding {
        Encoding::Utf8 => {
            let byte = (text.char_to_byte(start) + column).min(text.char_to_byte(end));
            text.byte_to_char(byte)
        }
        Encoding::Utf16 => {
            let unit = text.char_to_utf16_cu(start) + column;
            text.utf16_cu_to_char(unit.min(text.char_to_utf16_cu(end)))
        }
        Encoding::Utf32 => (start + column).min(end),
    };
    text.char_to_byte(char)
}

/// The offset after the last character of a line, without its line break.
fn line_end(text: &Rope, line: usize) -> usize {
    if line + 1 >= text.len_lines() {
        return text.len_chars();
    }
    let start = text.line_to_char(line);
    let mut end = text.line_to_char(line + 1);
    if end > start && text.char(end - 1) == '\n' {
        end -= 1;
        if end > start && text.char(end - 1) == '\r' {
            end -= 1;
        }
    } else if end > start && text.char(end - 1) == '\r' {
        end -= 1;
    }
    end
}

/// Converts a range of the protocol to a byte range. The ends may be in the wrong order.
pub(crate) fn offsets(text: &Rope, range: lsp::Range, encoding: Encoding) -> Range<usize> {
    let (a, b) = (offset(text, range.start, encoding), offset(text, range.end, encoding));
    a.min(b)..a.max(b)
}

/// Converts a byte offset to a position.
pub(crate) fn position(text: &Rope, offset: usize, encoding: Encoding) -> lsp::Position {
    let (line, column) = encoding.line_column(text, offset);
    lsp::Position::new(line as u32, column as u32)
}

/// Converts byte offsets that mostly increase to positions. A conversion costs the distance from
/// the previous offset.
#[derive(Debug)]
pub(crate) struct IncrementalPositions {
    encoding: Encoding,
    at: usize,
    position: lsp::Position,
}

impl IncrementalPositions {
    /// At this distance (in bytes) or more, a position is computed without the previous one.
    const MAX_STEP_BYTES: usize = 1024;

    /// Begins at the start of a text.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, at: 0, position: lsp::Position::new(0, 0) }
    }

    /// Converts a byte offset to a position.
    pub(crate) fn position_at(&mut self, text: &Rope, offset: usize) -> lsp::Position {
        if self.at <= offset
            && offset - self.at < Self::MAX_STEP_BYTES
            && offset <= text.len_bytes()
        {
            let (chunk, start, ..) = text.chunk_at_byte(self.at);
            let has_gone = match chunk.get(self.at - start..offset - start) {
                Some(between) => self.advance([between]),
                None => text
                    .get_byte_slice(self.at..offset)
                    .is_some_and(|between| self.advance(between.chunks())),
            };
            if has_gone {
                self.at = offset;
                return self.position;
            }
        }
        self.at = offset;
        self.position = position(text, offset, self.encoding);
        self.position
    }

    /// Advances over a text in pieces. Returns false if the text ends with a CR, because the next
    /// character decides if that CR ends the line.
    fn advance<'a>(&mut self, pieces: impl IntoIterator<Item = &'a str>) -> bool {
        let mut last = b' ';
        for piece in pieces {
            let mut from = 0;
            for (at, &byte) in piece.as_bytes().iter().enumerate() {
                // The LF of a CRLF ends the line, not its CR.
                if byte == b'\n' || last == b'\r' {
                    self.position = lsp::Position::new(self.position.line + 1, 0);
                    from = at + usize::from(byte == b'\n');
                }
                last = byte;
            }
            self.position.character += self.encoding.width(&piece[from..]) as u32;
        }
        last != b'\r'
    }
}

/// Converts a byte range to a range of the protocol.
pub(crate) fn range(text: &Rope, bytes: &Range<usize>, encoding: Encoding) -> lsp::Range {
    lsp::Range::new(
        position(text, bytes.start, encoding),
        position(text, bytes.end.max(bytes.start), encoding),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    fn at(text: &str, line: u32, character: u32, encoding: Encoding) -> usize {
        offset(&Rope::from_str(text), lsp::Position::new(line, character), encoding)
    }

    #[test]
    fn incremental_positions_equal_direct_ones() {
        let piece = "a\u{e9}\u{1F600}b\r\n\u{4e2d}\u{6587}\rc\n\nlast \u{1F600}\r\r\n";
        let text = piece.repeat(200);
        let rope = Rope::from_str(&text);
        let ends: Vec<usize> = text.char_indices().map(|it| it.0).collect();
        for encoding in ALL {
            for step in [1, 2, 3, 7, 50, 2000] {
                let mut forward = IncrementalPositions::new(encoding);
                let back = ends[ends.len() / 2];
                for &offset in ends.iter().step_by(step).chain([&back, &text.len()]) {
                    let wanted = position(&rope, offset, encoding);
                    assert_eq!(
                        forward.position_at(&rope, offset),
                        wanted,
                        "{encoding:?} {step} {offset}"
                    );
                }
            }
        }
    }

    #[test]
    fn round_trips_every_character_boundary() {
        let text = "a\u{e9}\u{1F600}b\r\n\u{4e2d}\u{6587}\rc\n\nlast \u{1F600}";
        let rope = Rope::from_str(text);
        for encoding in ALL {
            for (byte, _) in text.char_indices().chain([(text.len(), ' ')]) {
                // There is no position between CR and LF.
                if byte > 0 && &text.as_bytes()[byte - 1..=byte.min(text.len() - 1)] == b"\r\n" {
                    continue;
                }
                let found = position(&rope, byte, encoding);
                assert_eq!(offset(&rope, found, encoding), byte, "{encoding:?} {found:?}");
            }
        }
    }

    /// A slow reference: finds the offset of a position character by character.
    fn offset_by_scan(text: &str, line: u32, character: u32, encoding: Encoding) -> usize {
        let (mut at_line, mut column) = (0, 0);
        let mut chars = text.char_indices().peekable();
        while let Some((at, it)) = chars.next() {
            let is_break = matches!(it, '\n' | '\r');
            let width = match encoding {
                Encoding::Utf8 => it.len_utf8(),
                Encoding::Utf16 => it.len_utf16(),
                Encoding::Utf32 => 1,
            } as u32;
            if at_line == line && (is_break || column + width > character) {
                return at;
            }
            column += width;
            if is_break {
                if it == '\r' {
                    let _ = chars.next_if(|it| it.1 == '\n');
                }
                (at_line, column) = (at_line + 1, 0);
            }
        }
        text.len()
    }

    proptest! {
        #[test]
        fn positions_equal_those_of_a_scan(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "%x", "\u{e9}", "\u{4e2d}", "\u{1F600}", "\n", "\r\n", "\r", "\u{2028}", "\u{85}", "\t", "\0", "\u{FEFF}",
                ]),
                0..400,
            ),
            places in prop::collection::vec((0..60u32, 0..40u32), 1..40),
        ) {
            let text = pieces.concat();
            let rope = Rope::from_str(&text);
            for encoding in ALL {
                for &(line, character) in &places {
                    let found = offset(&rope, lsp::Position::new(line, character), encoding);
                    prop_assert_eq!(found, offset_by_scan(&text, line, character, encoding));
                }
                for (at, _) in text.char_indices() {
                    let is_within_break = text[..at].ends_with('\r') && text[at..].starts_with('\n');
                    if !is_within_break {
                        let found = position(&rope, at, encoding);
                        prop_assert_eq!(offset_by_scan(&text, found.line, found.character, encoding), at);
                    }
                }
            }
        }
    }

    #[test]
    fn out_of_range_is_clamped() {
        for encoding in ALL {
            assert_eq!(at("ab\ncd", 0, 99, encoding), 2);
            assert_eq!(at("ab\r\ncd", 0, u32::MAX, encoding), 2);
            assert_eq!(at("ab\rcd", 0, 3, encoding), 2);
            assert_eq!(at("ab\ncd", u32::MAX, u32::MAX, encoding), 5);
            assert_eq!(at("", 0, 1, encoding), 0);
            assert_eq!(position(&Rope::from_str("ab\n"), 99, encoding), lsp::Position::new(1, 0));
        }
    }

    #[test]
    fn a_position_inside_a_character_means_its_start() {
        assert_eq!(at("x\u{1F600}y", 0, 2, Encoding::Utf16), 1);
        assert_eq!(at("x\u{1F600}y", 0, 3, Encoding::Utf16), 5);
        assert_eq!(at("x\u{1F600}y", 0, 3, Encoding::Utf8), 1);
        assert_eq!(at("x\u{1F600}y", 0, 2, Encoding::Utf32), 5);
    }

    #[test]
    fn only_lf_crlf_and_cr_end_a_line() {
        let text = "// a\u{2028}b\u{85}c\x0bd\x0ce\nx";
        assert_eq!(at(text, 1, 0, Encoding::Utf16), text.len() - 1);
    }

    #[test]
    fn prefers_utf8() {
        let kinds = |names: &[&str]| {
            names
                .iter()
                .map(|it| lsp::PositionEncodingKind::from((*it).to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(negotiate(&kinds(&["utf-16", "utf-8"])), Encoding::Utf8);
        assert_eq!(negotiate(&kinds(&["utf-32", "utf-16"])), Encoding::Utf32);
        assert_eq!(negotiate(&kinds(&["ebcdic"])), Encoding::Utf16);
        assert_eq!(negotiate(&[]), Encoding::Utf16);
    }
}
