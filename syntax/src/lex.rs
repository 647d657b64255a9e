//! The lexer: text to tokens, total and lossless.
//!
//! Every byte of the text belongs to one token or to the trivia (blanks, NUL bytes and comments) between tokens; what
//! MLIR does not accept becomes [`T::Error`]. The rules are those of MLIR's own lexer. Two are not those of a usual one:
//!
//! - `!name<` and `#name<` without a blank open a *dialect body*: raw bytes with balanced brackets, in which `//` is no
//!   comment and `->` is skipped as a unit. The whole is one token. A body that does not close before a line that
//!   starts an op is not taken for one: the name is a token and `<` another, so that one unclosed `<` costs a line.
//! - A line `// -----` splits the file wherever it stands, and is a token.
//!
//! *Cost.* Linear, but for bodies that do not close; nesting is limited to [`MAX_BODY_DEPTH`], which bounds their cost.

use crate::{OpKind, T, Token};

/// Brackets may nest this deep inside a dialect body; deeper ones are not understood.
pub const MAX_BODY_DEPTH: usize = 128;

/// The tokens of a text, with [`T::Eof`] at the end.
#[derive(Debug, Default)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// For the few tokens whose end was found by looking further: the index and the byte looked at last.
    pub(crate) reaches: Vec<(u32, u32)>,
}

/// Lexes a text of less than 4 GiB.
pub fn lex(text: &str) -> Tokens {
    lex_part(text, true)
}

/// Lexes a part of a file that starts at the file's start or right behind a token.
pub(crate) fn lex_part(text: &str, at_file_start: bool) -> Tokens {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, at_file_start, out: Tokens::default() };
    lexer.out.tokens.reserve(text.len() / 5 + 1);
    lexer.run();
    lexer.out
}

/// What is wrong with the text of a [`T::Error`] token.
pub fn error_message(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "expected '\"' in string literal",
        Some(b'@') => "@ identifier expected to start with letter or '_'",
        Some(b'%') => "invalid SSA name",
        Some(b'#') => "invalid attribute name",
        Some(b'!') => "invalid type identifier",
        Some(b'^') => "invalid block name",
        _ => "unexpected character",
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    at_file_start: bool,
    out: Tokens,
}

const BARE_START: u8 = 1;
const BARE: u8 = 2;
const SUFFIX_START: u8 = 4;
const SUFFIX: u8 = 8;
const DIGIT: u8 = 16;

/// Character classes of the ASCII bytes.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        if c.is_ascii_alphabetic() || c == b'_' {
            class[b] = BARE_START | BARE | SUFFIX_START | SUFFIX;
        } else if c.is_ascii_digit() {
            class[b] = BARE | SUFFIX | DIGIT;
        } else if c == b'$' || c == b'.' {
            class[b] = BARE | SUFFIX_START | SUFFIX;
        } else if c == b'-' {
            class[b] = SUFFIX_START | SUFFIX;
        }
        b += 1;
    }
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip(&mut self, class: u8) {
        while self.at < self.bytes.len() && is(self.bytes[self.at], class) {
            self.at += 1;
        }
    }

    fn run(&mut self) {
        let mut at_line_start = self.at_file_start;
        loop {
            let Some(&byte) = self.bytes.get(self.at) else {
                let end = self.at as u32;
                self.out.tokens.push(Token { start: end, end, kind: T::Eof, at_line_start: true });
                return;
            };
            match byte {
                b'\n' | b'\r' => {
                    at_line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | 0 => {
                    self.at += 1;
                    continue;
                }
                // A byte order mark at the very start is accepted and says nothing.
                0xEF if self.at == 0
                    && self.at_file_start
                    && self.bytes.starts_with(b"\xEF\xBB\xBF") =>
                {
                    self.at = 3;
                    continue;
                }
                b'/' if self.peek(1) == b'/' => {
                    let end = line_end(self.bytes, self.at);
                    if at_line_start && is_split(self.bytes, self.at) {
                        self.token(T::Split, end - self.at, true);
                    } else {
                        self.at = end;
                    }
                    continue;
                }
                _ => {}
            }
            let line = std::mem::replace(&mut at_line_start, false);
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.class_token(T::Bare, BARE, line),
                b'%' => self.prefixed(T::Percent, line),
                b'^' => self.prefixed(T::Caret, line),
                b'#' if self.peek(1) == b'-' && self.peek(2) == b'}' => {
                    self.token(T::FileMetaClose, 3, line);
                }
                b'#' => self.prefixed(T::Hash, line),
                b'!' => self.prefixed(T::Bang, line),
                b'@' => self.at_name(line),
                b'0'..=b'9' => self.number(line),
                b'"' => self.string(line),
                b'{' if self.peek(1) == b'-' && self.peek(2) == b'#' => {
                    self.token(T::FileMetaOpen, 3, line);
                }
                b'-' if self.peek(1) == b'>' => self.token(T::Arrow, 2, line),
                b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => {
                    self.token(T::Ellipsis, 3, line);
                }
                _ => self.punctuation(byte, line),
            }
        }
    }

    fn token(&mut self, kind: T, len: usize, at_line_start: bool) {
        let (start, end) = (self.at as u32, (self.at + len) as u32);
        self.at += len;
        self.out.tokens.push(Token { start, end, kind, at_line_start });
    }

    /// A token that started at `start` and ends here.
    fn token_from(&mut self, start: usize, kind: T, at_line_start: bool) {
        let end = self.at as u32;
        self.out.tokens.push(Token { start: start as u32, end, kind, at_line_start });
    }

    fn class_token(&mut self, kind: T, class: u8, line: bool) {
        let start = self.at;
        self.at += 1;
        self.skip(class);
        self.token_from(start, kind, line);
    }

    fn punctuation(&mut self, byte: u8, line: bool) {
        let kind = match byte {
            b':' => T::Colon,
            b',' => T::Comma,
            b'(' => T::LParen,
            b')' => T::RParen,
            b'{' => T::LBrace,
            b'}' => T::RBrace,
            b'[' => T::LSquare,
            b']' => T::RSquare,
            b'<' => T::Less,
            b'>' => T::Greater,
            b'=' => T::Equal,
            b'+' => T::Plus,
            b'*' => T::Star,
            b'-' => T::Minus,
            b'?' => T::Question,
            b'|' => T::Bar,
            b'/' => T::Slash,
            _ => T::Error,
        };
        // An unexpected character is the whole character.
        let mut len = 1;
        while self.bytes.get(self.at + len).is_some_and(|b| b & 0xC0 == 0x80) {
            len += 1;
        }
        self.token(kind, len, line);
    }

    fn prefixed(&mut self, kind: T, line: bool) {
        let start = self.at;
        self.at += 1;
        let first = self.peek(0);
        if is(first, DIGIT) {
            self.skip(DIGIT);
        } else if is(first, SUFFIX_START) {
            self.skip(SUFFIX);
            if self.peek(0) == b'<' && matches!(kind, T::Hash | T::Bang) {
                let (end, reach) = body_end(self.bytes, self.at);
                if let Some(end) = end {
                    self.at = end;
                    let kind = if kind == T::Hash { T::HashBody } else { T::BangBody };
                    self.token_from(start, kind, line);
                    return;
                }
                self.out.reaches.push((self.out.tokens.len() as u32, reach as u32));
            }
        } else {
            self.token_from(start, T::Error, line);
            return;
        }
        self.token_from(start, kind, line);
    }

    fn at_name(&mut self, line: bool) {
        let start = self.at;
        self.at += 1;
        match self.peek(0) {
            b'"' => {
                let kind = if self.string_end() { T::At } else { T::Error };
                self.token_from(start, kind, line);
            }
            byte if is(byte, BARE_START) => {
                self.skip(BARE);
                self.token_from(start, T::At, line);
            }
            _ => self.token_from(start, T::Error, line),
        }
    }

    fn number(&mut self, line: bool) {
        let start = self.at;
        if self.peek(0) == b'0' && self.peek(1) == b'x' && self.peek(2).is_ascii_hexdigit() {
            self.at += 2;
            while self.peek(0).is_ascii_hexdigit() {
                self.at += 1;
            }
            self.token_from(start, T::Int, line);
            return;
        }
        self.skip(DIGIT);
        if self.peek(0) != b'.' {
            self.token_from(start, T::Int, line);
            return;
        }
        self.at += 1;
        self.skip(DIGIT);
        if matches!(self.peek(0), b'e' | b'E') {
            let signed = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if is(self.peek(1 + signed), DIGIT) {
                self.at += 1 + signed;
                self.skip(DIGIT);
            }
        }
        self.token_from(start, T::Float, line);
    }

    fn string(&mut self, line: bool) {
        let start = self.at;
        let kind = if self.string_end() { T::Str } else { T::Error };
        self.token_from(start, kind, line);
    }

    /// Moves behind the string that starts here; `false` (and to the end of the line) if it is not well-formed.
    fn string_end(&mut self) -> bool {
        let (end, fine) = string_end(self.bytes, self.at);
        self.at = end;
        fine
    }
}

/// The end of the string that starts at `at` and whether it is well-formed; an unterminated one ends with its line.
fn string_end(bytes: &[u8], mut at: usize) -> (usize, bool) {
    at += 1;
    let mut fine = true;
    loop {
        match bytes.get(at) {
            Some(b'"') => return (at + 1, fine),
            None | Some(b'\n' | 0x0B | 0x0C) => return (at, false),
            Some(b'\\') => {
                let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
                if matches!(next, b'"' | b'\\' | b'n' | b't') {
                    at += 2;
                } else if next.is_ascii_hexdigit()
                    && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
                {
                    at += 3;
                } else {
                    fine = false;
                    at += 1;
                }
            }
            Some(_) => at += 1,
        }
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    rest.iter().position(|&b| b == b'\n' || b == b'\r').map_or(bytes.len(), |n| at + n)
}

/// Whether the comment at `at` (the first thing in its line) is a split marker.
fn is_split(bytes: &[u8], at: usize) -> bool {
    let line_start = at == 0 || matches!(bytes[at - 1], b'\n' | b'\r' | 0xBF);
    let line = &bytes[at..];
    line_start
        && line.starts_with(b"// -----")
        && (line.len() == 8
            || matches!(line[8], b'\n' | b'\r')
            || line[8..].starts_with(b"// IR Dump"))
}

/// The end of the dialect body whose `<` is at `open`, if it closes before a line that starts an op, and the last byte
/// that was looked at.
fn body_end(bytes: &[u8], open: usize) -> (Option<usize>, usize) {
    let mut stack = [0u8; MAX_BODY_DEPTH];
    let mut depth = 0;
    let mut at = open;
    while let Some(&byte) = bytes.get(at) {
        let close = match byte {
            b'"' => {
                let (end, fine) = string_end(bytes, at);
                if !fine {
                    return (None, end);
                }
                at = end;
                continue;
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => {
                at += 2;
                continue;
            }
            b'\n' | b'\r' => {
                at += 1;
                if let Some(reach) = line_starts_op(bytes, at) {
                    return (None, reach);
                }
                continue;
            }
            b'<' => b'>',
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'>' | b')' | b']' | b'}' => {
                if stack[depth - 1] != byte {
                    return (None, at);
                }
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return (Some(at), at);
                }
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if depth == MAX_BODY_DEPTH {
            return (None, at);
        }
        stack[depth] = close;
        depth += 1;
        at += 1;
    }
    (None, bytes.len())
}

/// Whether the line from `at` on surely starts an op (`%a, %b:2 = dialect.op`, or the name of a known op) or splits the
/// file; if so, how far that had to be looked at.
fn line_starts_op(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes[at..].starts_with(b"// -----") && is_split(bytes, at) {
        return Some(at + 19);
    }
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    let start = at;
    if bytes.get(at) == Some(&b'%') {
        while bytes
            .get(at)
            .is_some_and(|&b| is(b, SUFFIX) || matches!(b, b'%' | b',' | b' ' | b':' | b'\t'))
        {
            at += 1;
        }
        return (bytes.get(at) == Some(&b'=')).then_some(at + 1);
    }
    while bytes.get(at).is_some_and(|&b| is(b, BARE)) {
        at += 1;
    }
    let word = std::str::from_utf8(&bytes[start..at]).ok()?;
    (word.contains('.') && OpKind::of(word) != OpKind::Unknown).then_some(at)
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
            .filter(|token| token.kind != T::Eof)
            .map(|token| format!("{:?} {}", token.kind, &text[token.range()]))
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn minus_belongs_to_prefixed_names_only() {
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
    fn numbers() {
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
    fn only_whole_lines_split() {
        check(
            "a // -----\n// -----\nb\n // -----\n// --------\n// -----// IR Dump x\r// -----",
            expect![[r"
                Bare a
                Split // -----
                Bare b
                Split // -----// IR Dump x
                Split // -----"]],
        );
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
