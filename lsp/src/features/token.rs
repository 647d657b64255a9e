//! Semantic tokens, from the text alone: they are there while a program is broken, and cost what is shown.
//!
//! The text is lexed in pieces that start and end where items do, so that a piece is a few kilobytes of a file of any size.

use std::ops::Range;

use noisy_syntax::{OpKind, Source, T, Token, lex};

use super::walk::Walk;
use crate::position::{self, Encoding};

/// What a token is, as an index into [`TYPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Comments.
    Comment,
    /// Strings.
    String,
    /// Numbers.
    Number,
    /// Names of ops, and words of the syntax.
    Keyword,
    /// Names of ops that are known.
    Op,
    /// `%value`.
    Value,
    /// `@symbol`.
    Symbol,
    /// `^block`.
    Block,
    /// Types.
    Type,
    /// `#attribute`.
    Attribute,
    /// Names of attributes.
    Property,
}

/// The names of the kinds in the protocol.
pub(crate) const TYPES: [&str; 11] = [
    "comment",
    "string",
    "number",
    "keyword",
    "macro",
    "variable",
    "function",
    "label",
    "type",
    "decorator",
    "property",
];

/// The modifiers, each a bit: here it is defined; it is of the noisy dialect.
pub(crate) const MODIFIERS: [&str; 2] = ["definition", "noisy"];
const DEFINITION: u32 = 1;
const NOISY: u32 = 2;

/// A piece to lex is at least so long, but for the last.
const PIECE: usize = 4096;

/// The tokens of a range of a document, found bit by bit.
#[derive(Debug)]
pub(crate) struct Tokens {
    range: Range<usize>,
    encoding: Encoding,
    at: usize,
    /// The line and column of the last token.
    last: (u32, u32),
    data: Vec<u32>,
}

impl Tokens {
    /// Of the items that a range of bytes meets, cut to the range.
    pub(crate) fn new(source: &Source, range: Range<usize>, encoding: Encoding) -> Self {
        let ir = source.ir();
        let start = ir.item_at(range.start).map_or(0, |op| ir.start(op)).min(range.start);
        Self { range, encoding, at: start, last: (0, 0), data: Vec::new() }
    }

    /// Goes on by a piece; whether there is more.
    pub(crate) fn step(&mut self, source: &Source) -> bool {
        if self.at < self.range.end {
            let end = boundary(source, self.at);
            self.piece(source, self.at..end);
            self.at = end;
        }
        self.at < self.range.end
    }

    /// What was found, five numbers for each token, as the protocol wants them; nothing is left here.
    pub(crate) fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.data)
    }

    fn piece(&mut self, source: &Source, piece: Range<usize>) {
        let text = source.slice(piece.clone());
        let start = position::position(source.text(), piece.start, self.encoding);
        let mut cursor = Cursor {
            text: &text,
            encoding: self.encoding,
            is_ascii: text.is_ascii(),
            at: 0,
            line: start.line,
            column: start.character,
        };
        let tokens = lex::lex(&text).tokens;
        let mut end = 0;
        for (n, token) in tokens.iter().enumerate() {
            for comment in comments(&text, end..token.start as usize) {
                self.push(&mut cursor, piece.start, comment, Kind::Comment, 0);
            }
            end = token.end as usize;
            let before = n.checked_sub(1).map(|it| tokens[it]);
            let after = tokens.get(n + 1).copied();
            if let Some((kind, modifiers)) = classify(&text, before, *token, after) {
                self.push(&mut cursor, piece.start, token.range(), kind, modifiers);
            }
        }
    }

    /// Adds a token, line by line: the protocol's tokens end with their line.
    fn push(
        &mut self,
        cursor: &mut Cursor<'_>,
        base: usize,
        range: Range<usize>,
        kind: Kind,
        modifiers: u32,
    ) {
        let mut start = range.start;
        while start < range.end {
            let rest = &cursor.text[start..range.end];
            let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let inside = self.range.start <= base + start && base + start + len <= self.range.end;
            if len > 0 && inside {
                let (line, column) = cursor.go(start);
                let width = cursor.width(start..start + len);
                let same = line == self.last.0;
                let delta = if same { column - self.last.1 } else { column };
                self.data.extend([line - self.last.0, delta, width, kind as u32, modifiers]);
                self.last = (line, column);
            }
            start += len.max(1);
            while !cursor.text.is_char_boundary(start) {
                start += 1;
            }
        }
    }
}

/// The first start of an item at least a piece behind an offset.
fn boundary(source: &Source, offset: usize) -> usize {
    let ir = source.ir();
    let end = source.text().len_bytes();
    if offset + PIECE >= end {
        return end;
    }
    let (_, mut walk) = Walk::from(ir, offset + PIECE);
    while let Some(item) = walk.next(ir) {
        if item.start > offset {
            return item.start;
        }
    }
    end
}

/// Counts lines and columns while going forward through a text.
struct Cursor<'a> {
    text: &'a str,
    encoding: Encoding,
    is_ascii: bool,
    at: usize,
    line: u32,
    column: u32,
}

impl Cursor<'_> {
    fn width(&self, range: Range<usize>) -> u32 {
        if self.is_ascii {
            range.len() as u32
        } else {
            self.encoding.width(&self.text[range]) as u32
        }
    }

    /// Line and column of an offset not before the last one.
    fn go(&mut self, to: usize) -> (u32, u32) {
        let bytes = self.text.as_bytes();
        let mut from = self.at;
        for at in self.at..to {
            // The LF of a CRLF ends the line, its CR does not.
            if bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                self.line += 1;
                self.column = 0;
                from = at + 1;
            }
        }
        self.column += self.width(from..to);
        self.at = to;
        (self.line, self.column)
    }
}

/// The comments between two tokens.
fn comments(text: &str, trivia: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = trivia.start;
    std::iter::from_fn(move || {
        let start = at + text.get(at..trivia.end)?.find("//")?;
        let rest = &text[start..trivia.end];
        let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
        at = end;
        Some(start..end)
    })
}

fn classify(
    text: &str,
    before: Option<Token>,
    token: Token,
    after: Option<Token>,
) -> Option<(Kind, u32)> {
    let is = |token: Option<Token>, kind: T| token.is_some_and(|it| it.kind == kind);
    let starts_line = token.at_line_start || before.is_none();
    let word = &text[token.range()];
    let defined = |it: bool| if it { DEFINITION } else { 0 };
    let dialect = |it: &str| if it.starts_with("noisy.") { NOISY } else { 0 };
    Some(match token.kind {
        T::Percent => (Kind::Value, defined(starts_line && !is(after, T::RParen))),
        T::At => {
            let word_before = before.map_or("", |it| &text[it.range()]);
            let defines = matches!(
                word_before,
                "func.func" | "func" | "private" | "public" | "nested" | "module"
            );
            (Kind::Symbol, defined(defines))
        }
        T::Caret => (Kind::Block, defined(starts_line)),
        T::Hash | T::HashBody => (Kind::Attribute, defined(starts_line && is(after, T::Equal))),
        T::Bang | T::BangBody => {
            let noisy = if word.starts_with("!noisy.") { NOISY } else { 0 };
            (Kind::Type, noisy | defined(starts_line && is(after, T::Equal)))
        }
        T::Int | T::Float => (Kind::Number, 0),
        T::Str if (starts_line || is(before, T::Equal)) && is(after, T::LParen) => {
            let name = word.trim_matches('"');
            (op_kind(name), dialect(name))
        }
        T::Str => (Kind::String, 0),
        T::Split => (Kind::Comment, 0),
        T::Bare if starts_line || is(before, T::Equal) => match op_kind(word) {
            Kind::Keyword if is_type(word) => (Kind::Type, 0),
            Kind::Keyword if starts_line && is(after, T::Equal) => (Kind::Property, 0),
            kind => (kind, dialect(word)),
        },
        T::Bare if is_type(word) => (Kind::Type, 0),
        T::Bare if is(after, T::Equal) => (Kind::Property, 0),
        T::Bare => (Kind::Keyword, 0),
        _ => return None,
    })
}

fn op_kind(name: &str) -> Kind {
    if OpKind::of(name) == OpKind::Unknown { Kind::Keyword } else { Kind::Op }
}

fn is_type(word: &str) -> bool {
    let bits = |prefix: &str| {
        word.strip_prefix(prefix)
            .is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(
        word,
        "index"
            | "none"
            | "vector"
            | "tensor"
            | "memref"
            | "complex"
            | "tuple"
            | "bf16"
            | "tf32"
            | "token"
    ) || bits("i")
        || bits("si")
        || bits("ui")
        || bits("f")
        || word.starts_with("f8E")
}

/// The one edit that makes new data of old: where it starts, how much goes, what comes. Both count numbers.
pub(crate) fn difference<'a>(old: &[u32], new: &'a [u32]) -> (usize, usize, &'a [u32]) {
    let same = |(a, b): &(&[u32], &[u32])| a == b;
    let prefix = old.chunks(5).zip(new.chunks(5)).take_while(same).count() * 5;
    let (old, new) = (&old[prefix.min(old.len())..], &new[prefix.min(new.len())..]);
    let suffix = old.rchunks(5).zip(new.rchunks(5)).take_while(same).count() * 5;
    (prefix, old.len() - suffix.min(old.len()), &new[..new.len() - suffix.min(new.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(u32, u32, u32, Kind)> {
        const KINDS: [Kind; 11] = [
            Kind::Comment,
            Kind::String,
            Kind::Number,
            Kind::Keyword,
            Kind::Op,
            Kind::Value,
            Kind::Symbol,
            Kind::Block,
            Kind::Type,
            Kind::Attribute,
            Kind::Property,
        ];
        let source = Source::new(text);
        let mut tokens = Tokens::new(&source, 0..text.len(), Encoding::Utf16);
        while tokens.step(&source) {}
        let data = tokens.take();
        let (mut line, mut column) = (0, 0);
        data.chunks(5)
            .map(|it| {
                column = if it[0] == 0 { column + it[1] } else { it[1] };
                line += it[0];
                (line, column, it[2], KINDS[it[3] as usize])
            })
            .collect()
    }

    #[test]
    fn kinds_and_places() {
        let text = "// \u{1F600}\r\n%0 = noisy.add %a, %b : !noisy.i32 // c\r\n";
        let wanted = [
            (0, 0, 5, Kind::Comment),
            (1, 0, 2, Kind::Value),
            (1, 5, 9, Kind::Op),
            (1, 15, 2, Kind::Value),
            (1, 19, 2, Kind::Value),
            (1, 24, 10, Kind::Type),
            (1, 35, 4, Kind::Comment),
        ];
        assert_eq!(tokens(text), wanted);
    }

    #[test]
    fn pieces_join_without_a_seam() {
        let line = "  %0 = arith.addi %x, %x {s = \"\u{e9}\"} : i32 // c\n";
        let text = format!("func.func @f(%x: i32) {{\n{}  return\n}}\n", line.repeat(1000));
        let found = tokens(&text);
        let by_line = |n: u32| {
            found.iter().filter(|it| it.0 == n).map(|it| (it.1, it.2, it.3)).collect::<Vec<_>>()
        };
        for n in 2..=1000 {
            assert_eq!(by_line(n), by_line(1), "line {n}");
        }
    }

    #[test]
    fn difference_is_one_edit() {
        let old: Vec<u32> = (0..50).collect();
        let mut new = old.clone();
        new.splice(10..20, [1, 2, 3, 4, 5]);
        let (start, n, data) = difference(&old, &new);
        let mut out = old.clone();
        out.splice(start..start + n, data.iter().copied());
        assert_eq!(out, new);
        assert_eq!((start, n, data.len()), (10, 10, 5));
        assert_eq!(difference(&old, &old), (50, 0, &[][..]));
    }
}
