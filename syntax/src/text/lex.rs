//! The lexer: converts any text to tokens and loses no byte.
//!
//! Every byte of the text is in one token or in the trivia (blanks, NUL bytes and comments) between
//! tokens. Bytes that MLIR rejects become [`TokenKind::Error`]. The rules are those of MLIR's
//! lexer. Two of them are unusual:
//!
//! - `!name<` and `#name<` without a blank open a *dialect body*: raw bytes with balanced brackets,
//!   in which `//` does not start a comment and `->` is skipped as a unit. Name and body are one
//!   token. If a body does not close before a line that starts an op, the name and the `<` are
//!   separate tokens, so an unclosed `<` affects only its line.
//! - A comment that contains `// -----`, followed by nothing or by another comment, splits the file
//!   at this mark, anywhere in its line. The token starts at the mark.
//!
//! *Cost.* Linear. The text after an unclosed body is searched once: the search also finds the ends
//! of the bodies inside.

use std::ops::Range;

use crate::dialect_body::DialectBodies;
use crate::identifier::{
    BARE, BARE_START, DIGIT, SUFFIX, SUFFIX_START, has_class, number_end, skip_class,
};
use crate::string::{Escape, string_end};
use crate::{SPLIT_MARKER, Token, TokenKind};

const SPLIT: &[u8] = SPLIT_MARKER.as_bytes();

/// A mark with this text behind it is the headline of a program that a pass has printed.
const IR_DUMP: &[u8] = b"// IR Dump";

/// The kind of each byte that is a complete token, regardless of the next byte (comments are
/// recognized earlier). Other bytes are errors.
static SINGLE: [TokenKind; 256] = {
    let mut single = [TokenKind::Error; 256];
    single[b':' as usize] = TokenKind::Colon;
    single[b',' as usize] = TokenKind::Comma;
    single[b'(' as usize] = TokenKind::LParen;
    single[b')' as usize] = TokenKind::RParen;
    single[b'}' as usize] = TokenKind::RBrace;
    single[b'[' as usize] = TokenKind::LSquare;
    single[b']' as usize] = TokenKind::RSquare;
    single[b'<' as usize] = TokenKind::Less;
    single[b'>' as usize] = TokenKind::Greater;
    single[b'=' as usize] = TokenKind::Equal;
    single[b'+' as usize] = TokenKind::Plus;
    single[b'*' as usize] = TokenKind::Star;
    single[b'?' as usize] = TokenKind::Question;
    single[b'|' as usize] = TokenKind::Bar;
    single[b'/' as usize] = TokenKind::Slash;
    single
};

/// Maximum number of bytes after a token that the lexer reads to find its end.
pub(crate) const LOOK_AHEAD: usize = 3;

/// The tokens of a text, with [`TokenKind::Eof`] at the end.
#[derive(Debug, Default)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
}

/// Lexes a text of less than 4 GiB.
pub fn lex(text: &str) -> Tokens {
    lex_part(text, true)
}

/// Lexes a part of a file that begins at the start of the file or right after a token.
pub(crate) fn lex_part(text: &str, at_file_start: bool) -> Tokens {
    let mut lexer = Lexer::new(at_file_start);
    let mut tokens = Vec::with_capacity(text.len() / 5 + 1);
    loop {
        let (token, _) = lexer.next(text.as_bytes());
        tokens.push(token);
        if token.kind == TokenKind::Eof {
            return Tokens { tokens };
        }
    }
}

/// Returns the position of the problem in the text of a [`TokenKind::Error`] token, and its
/// message.
pub(crate) fn error_in(text: &str) -> (Range<usize>, &'static str) {
    let start = usize::from(text.starts_with('@'));
    if text[start..].starts_with('"') {
        if let Some(at) = unknown_escape(text.as_bytes(), start) {
            let escaped = text[at + 1..].chars().next().map_or(0, char::len_utf8);
            return (at..at + 1 + escaped, "unknown escape in string literal");
        }
        return (0..text.len(), "expected '\"' in string literal");
    }
    (0..text.len(), error_message(text))
}

/// Returns the first escape of the string at `start` that MLIR rejects.
fn unknown_escape(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] == b'\\' {
            let Some(escape) = Escape::at(bytes, at) else { return Some(at) };
            at += escape.len();
        } else {
            at += 1;
        }
    }
    None
}

fn error_message(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'@') => "@ identifier expected to start with letter or '_'",
        Some(b'%') => "invalid SSA name",
        Some(b'#') => "invalid attribute name",
        Some(b'!') => "invalid type identifier",
        Some(b'^') => "invalid block name",
        _ => "unexpected character",
    }
}

/// The state of the lexer, for readers that take tokens one by one.
#[derive(Debug, Default)]
pub struct Lexer {
    /// Start of the last token.
    start: usize,
    /// The next byte to read.
    at: usize,
    /// The byte after the last one that determines the end of the last token.
    reach: usize,
    /// True if the text begins at the start of the file.
    is_at_file_start: bool,
    /// True if only blanks and comments were read since the last line break.
    is_at_line_start: bool,
    bodies: DialectBodies,
}

impl Lexer {
    /// Creates a lexer at the start of a text, which is the start of the file or follows a token.
    pub fn new(at_file_start: bool) -> Self {
        Self { is_at_file_start: at_file_start, is_at_line_start: at_file_start, ..Self::default() }
    }

    /// Returns the position, for [`Lexer::go_to`].
    pub(crate) fn state(&self) -> (usize, bool) {
        (self.at, self.is_at_line_start)
    }

    /// Moves to a position right after a token, or to one that [`Lexer::state`] returned. Facts
    /// about the text behind it are dropped.
    pub(crate) fn go_to(&mut self, (at, at_line_start): (usize, bool)) {
        (self.at, self.is_at_line_start) = (at, at_line_start);
        self.bodies.clear();
    }

    /// Returns the next token of the text and the byte after the last one that determines its end.
    /// All calls must pass the same text. Returns [`TokenKind::Eof`] at the end.
    // The token is built here, at the end: a value in memory would be written in parts and
    // immediately read as a whole, which stalls processors.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> (Token, usize) {
        let (kind, at_line_start) = self.advance(bytes);
        let token = Token {
            start: self.start as u32,
            end: self.at as u32,
            kind,
            is_at_line_start: at_line_start,
        };
        (token, self.reach)
    }

    /// Moves to the end of the next token.
    fn advance(&mut self, bytes: &[u8]) -> (TokenKind, bool) {
        let at_line_start = self.skip_trivia(bytes);
        self.start = self.at;
        let mut reach = 0;
        let kind = match bytes.get(self.start) {
            Some(b'/') if bytes.get(self.start + 1) == Some(&b'/') => {
                self.at = line_end(bytes, self.start);
                TokenKind::Split
            }
            Some(&byte) => self.scan(bytes, byte, &mut reach),
            None => TokenKind::Eof,
        };
        self.is_at_line_start = false;
        self.reach = reach.max(self.at + LOOK_AHEAD);
        (kind, at_line_start || kind == TokenKind::Eof)
    }

    /// Moves to the next token. Returns true if a line break was passed.
    fn skip_trivia(&mut self, bytes: &[u8]) -> bool {
        let mut at_line_start = self.is_at_line_start;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\n' | b'\r' => {
                    at_line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0 => self.at += 1,
                // A byte order mark at the start of the file is accepted and has no meaning.
                0xEF if self.at == 0
                    && self.is_at_file_start
                    && bytes.starts_with(b"\xEF\xBB\xBF") =>
                {
                    self.at = 3;
                }
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => {
                    let end = line_end(bytes, self.at);
                    if let Some(split) = split_position(bytes, self.at..end) {
                        self.at = split;
                        break;
                    }
                    self.at = end;
                }
                _ => break,
            }
        }
        at_line_start
    }

    /// Moves past the token that starts at the current byte, `byte`.
    fn scan(&mut self, bytes: &[u8], byte: u8, reach: &mut usize) -> TokenKind {
        let kind = SINGLE[byte as usize];
        if kind != TokenKind::Error {
            self.at += 1;
            return kind;
        }
        let peek = |ahead: usize| bytes.get(self.at + ahead).copied().unwrap_or(0);
        let (kind, len) = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                self.at = skip_class(bytes, self.at + 1, BARE);
                return TokenKind::Bare;
            }
            b'%' => return self.scan_prefixed(bytes, TokenKind::Percent, reach),
            b'^' => return self.scan_prefixed(bytes, TokenKind::Caret, reach),
            b'#' if peek(1) == b'-' && peek(2) == b'}' => (TokenKind::FileMetaClose, 3),
            b'#' => return self.scan_prefixed(bytes, TokenKind::Hash, reach),
            b'!' => return self.scan_prefixed(bytes, TokenKind::Bang, reach),
            b'@' => return self.scan_at_name(bytes),
            b'0'..=b'9' => return self.scan_number(bytes),
            b'"' => return if self.scan_string(bytes) { TokenKind::Str } else { TokenKind::Error },
            b'{' if peek(1) == b'-' && peek(2) == b'#' => (TokenKind::FileMetaOpen, 3),
            b'{' => (TokenKind::LBrace, 1),
            b'-' if peek(1) == b'>' => (TokenKind::Arrow, 2),
            b'-' => (TokenKind::Minus, 1),
            b'.' if peek(1) == b'.' && peek(2) == b'.' => (TokenKind::Ellipsis, 3),
            _ => {
                // The token is the whole unexpected character, which may have several bytes.
                let rest = bytes.get(self.at + 1..).unwrap_or_default();
                (TokenKind::Error, 1 + rest.iter().take_while(|&it| it & 0xC0 == 0x80).count())
            }
        };
        self.at += len;
        kind
    }

    fn scan_prefixed(&mut self, bytes: &[u8], kind: TokenKind, reach: &mut usize) -> TokenKind {
        self.at += 1;
        let first = bytes.get(self.at).copied().unwrap_or(0);
        if has_class(first, DIGIT) {
            self.at = skip_class(bytes, self.at, DIGIT);
            return kind;
        }
        if !has_class(first, SUFFIX_START) {
            return TokenKind::Error;
        }
        self.at = skip_class(bytes, self.at, SUFFIX);
        if bytes.get(self.at) != Some(&b'<') || !matches!(kind, TokenKind::Hash | TokenKind::Bang) {
            return kind;
        }
        let (end, looked) = self.bodies.end(bytes, self.at);
        *reach = looked;
        match end {
            Some(end) => {
                self.at = end;
                if kind == TokenKind::Hash { TokenKind::HashBody } else { TokenKind::BangBody }
            }
            None => kind,
        }
    }

    fn scan_at_name(&mut self, bytes: &[u8]) -> TokenKind {
        self.at += 1;
        match bytes.get(self.at) {
            Some(b'"') => {
                return if self.scan_string(bytes) { TokenKind::At } else { TokenKind::Error };
            }
            Some(&byte) if has_class(byte, BARE_START) => {
                self.at = skip_class(bytes, self.at, BARE);
                return TokenKind::At;
            }
            _ => {}
        }
        TokenKind::Error
    }

    fn scan_number(&mut self, bytes: &[u8]) -> TokenKind {
        let (end, is_float) = number_end(bytes, self.at);
        self.at = end;
        if is_float { TokenKind::Float } else { TokenKind::Int }
    }

    /// Moves past the string that starts at the current byte. If it is malformed, moves to the end
    /// of the line and returns false.
    fn scan_string(&mut self, bytes: &[u8]) -> bool {
        let (end, is_fine) = string_end(bytes, self.at);
        self.at = end;
        is_fine
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    rest.iter().position(|&b| b == b'\n' || b == b'\r').map_or(bytes.len(), |n| at + n)
}

/// Returns the position at which a comment, up to the end of its line, splits the file: the first
/// [`SPLIT`] before only blanks or another comment.
///
/// `mlir-opt --split-input-file` splits at every [`SPLIT`] and reads the rest of the line as code.
/// If this rest is an error or an op, the text is a comment here, as it is for tools that do not
/// split: `// ----- A headline -----`. A comment that quotes the headline of a printed program does
/// not split either: `// CHECK: // -----// IR Dump`.
fn split_position(bytes: &[u8], comment: Range<usize>) -> Option<usize> {
    let text = &bytes[comment.clone()];
    let is_split = |at: usize| {
        let behind = &text[at + SPLIT.len()..];
        let is_quoted = at > 0 && behind.starts_with(IR_DUMP);
        // MLIR would read the first slash of `/// -----` as an error.
        at != 1 && is_over(behind) && !is_quoted
    };
    let mut found = text.windows(SPLIT.len()).enumerate().filter(|it| it.1 == SPLIT);
    found.find(|it| is_split(it.0)).map(|it| comment.start + it.0)
}

/// Returns true if the rest of a line contains only blanks and comments.
fn is_over(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.is_empty() || rest.starts_with(b"//")
}

/// Returns true if a text ends in a comment, which would continue in text after it.
pub fn ends_in_comment(text: &str) -> bool {
    let tokens = lex(text).tokens;
    let last = tokens.iter().rfind(|it| it.kind != TokenKind::Eof);
    let behind = &text[last.map_or(0, |it| it.range().end)..];
    let mut lines = behind.rsplit(['\n', '\r']);
    let has_comment = lines.next().is_some_and(|it| it.contains("//"));
    // The last line is that of the last token if no line break follows the token.
    has_comment || lines.next().is_none() && last.is_some_and(|it| it.kind == TokenKind::Split)
}

/// Returns the positions of [`SPLIT_MARKER`] at which `mlir-opt --split-input-file` splits a text,
/// except in strings and dialect bodies. They include all tokens that split, and the comments in
/// which MLIR reads the rest of the line as code: the function in
/// `// ----- func.func private @f()`.
pub fn split_positions(text: &str) -> Vec<usize> {
    let mut places: Vec<usize> = text.match_indices(SPLIT_MARKER).map(|it| it.0).collect();
    if !places.is_empty() {
        let tokens = lex(text).tokens;
        places.retain(|&at| {
            let next = tokens.partition_point(|it| it.range().end <= at);
            let around = tokens.get(next).filter(|it| it.range().start <= at);
            around.is_none_or(|it| it.kind == TokenKind::Split)
        });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[allow(clippy::needless_pass_by_value, reason = "expect! yields a value")]
    fn check(text: &str, expected: Expect) {
        let tokens = lex(text).tokens;
        let shown: Vec<String> = tokens
            .iter()
            .filter(|token| token.kind != TokenKind::Eof)
            .map(|token| format!("{:?} {}", token.kind, &text[token.range()]))
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn only_prefixed_names_contain_minus() {
        check(
            "!noisy.i32->i5 %a-1 a-1 @a-1",
            expect![[r"
                Bang !noisy.i32-
                Greater >
                Bare i5
                Percent %a-1
                Bare a
                Minus -
                Int 1
                At @a
                Minus -
                Int 1"]],
        );
    }

    #[test]
    fn lexes_numbers() {
        check(
            "0x10 0xi32 1. 1e5 1.5e-3 12.e+x",
            expect![[r"
                Int 0x10
                Int 0
                Bare xi32
                Float 1.
                Int 1
                Bare e5
                Float 1.5e-3
                Float 12.
                Bare e
                Plus +
                Bare x"]],
        );
    }

    #[test]
    fn dialect_bodies_are_raw() {
        check(
            "!foo.bar<a -> b // c\n> #x<\"(>\"> !t <a> !foo.bar<a>=b>",
            expect![[r#"
                BangBody !foo.bar<a -> b // c
                >
                HashBody #x<"(>">
                Bang !t
                Less <
                Bare a
                Greater >
                BangBody !foo.bar<a>
                Equal =
                Bare b
                Greater >"#]],
        );
    }

    #[test]
    fn an_unclosed_body_costs_a_line() {
        check(
            "a !foo.bar<x\n  %0 = foo.bar",
            expect![[r"
                Bare a
                Bang !foo.bar
                Less <
                Bare x
                Percent %0
                Equal =
                Bare foo.bar"]],
        );
    }

    #[test]
    fn comments_split_where_mlir_opt_reads_nothing_behind_the_mark() {
        for line in [
            "// -----",
            "// ----- //",
            "// -----//",
            "  // -----\t// text",
            "// text // ----- // text",
            "//// -----",
            "// -----x // -----",
            "// -----// // -----",
        ] {
            let tokens = lex(&format!("a {line}\nb")).tokens;
            let kinds: Vec<_> = tokens.iter().map(|it| it.kind).collect();
            let wanted = [TokenKind::Bare, TokenKind::Split, TokenKind::Bare, TokenKind::Eof];
            assert_eq!(kinds, wanted, "{line}");
            let at_start = lex(&format!("{line}\nb")).tokens;
            assert_eq!(at_start[0].kind, TokenKind::Split, "{line}");
        }
        for line in [
            "/// -----",
            "// ------",
            "//-----",
            "// ---- //",
            "// ----- x",
            "// -----/",
            "//  -----",
        ] {
            assert_eq!(lex(&format!("a {line}\nb")).tokens.len(), 3, "{line}");
        }
        let body = "!e.f<\n  // ----- //\n>";
        assert!(lex(body).tokens.iter().any(|it| it.kind == TokenKind::Split), "{body}");
    }

    #[test]
    fn comments_that_end_in_the_mark_split() {
        check(
            "a // -----\n// -----\nb\n // -----\n// --------\n// -----// IR Dump x\r// // -----\r\nc /// -----\n// ----- x\n// CHECK: // -----// IR Dump\n\
             d \"// -----\" !e.f<// ----- > !e.f<\n  // -----\n //-----\n// -----",
            expect![[r##"
                Bare a
                Split // -----
                Split // -----
                Bare b
                Split // -----
                Split // -----// IR Dump x
                Split // -----
                Bare c
                Bare d
                Str "// -----"
                BangBody !e.f<// ----- >
                Bang !e.f
                Less <
                Split // -----
                Split // -----"##]],
        );
    }

    #[test]
    fn finds_a_comment_at_the_end() {
        for text in ["// a", "a // b", "a // b ", "a\n// b", "a // -----", "a\r//", "!a.b<//> //"] {
            assert!(ends_in_comment(text), "{text}");
        }
        for text in ["", "a", "// a\n", "// a\r", "a // -----\n", "a \"//\"", "!a.b<//>"] {
            assert!(!ends_in_comment(text), "{text}");
        }
    }

    #[test]
    fn an_unknown_escape_is_located() {
        for (text, place, escape) in [
            ("\"cr\\r\"", 3..5, true),
            ("@\"\\n\\é\"", 4..7, true),
            ("\"a\\4\"", 2..4, true),
            ("\"a\\", 2..3, true),
            ("\"\\0A\\\"", 0..6, false),
            ("@\"a", 0..3, false),
        ] {
            let token = lex(text).tokens[0];
            assert_eq!((token.kind, token.range()), (TokenKind::Error, 0..text.len()), "{text}");
            let (at, message) = error_in(text);
            assert_eq!((at, message.starts_with("unknown escape")), (place, escape), "{text}");
        }
    }

    #[test]
    fn broken_strings_end_with_their_line() {
        check(
            "\"a\\0Ab\" \"a\n\"\\q\" @\"x y\" \u{e9} #-} {-# #",
            expect![[r##"
                Str "a\0Ab"
                Error "a
                Error "\q"
                At @"x y"
                Error é
                FileMetaClose #-}
                FileMetaOpen {-#
                Error #"##]],
        );
    }
}
