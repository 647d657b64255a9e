//! Semantic tokens. They follow from the text alone, so broken programs have them too, and their
//! cost is proportional to the visible part.
//!
//! The text is lexed in pieces that start and end at items, so a piece has a few kilobytes in a
//! file of any size.

use std::ops::Range;

use noisy_syntax::lex::Lexer;
use noisy_syntax::{OpKind, Source, Token, TokenKind};

use crate::features::walk::ItemWalk;
use crate::text::encoding::Encoding;

/// The class of a token, which determines its color in the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TokenClass {
    Comment,
    String,
    Number,
    /// Names of unknown ops, and words of the syntax.
    Keyword,
    /// Names of known ops.
    Op,
    /// `%value`.
    Value,
    /// `@symbol`.
    Symbol,
    /// `^block`.
    Block,
    Type,
    /// `#attribute`.
    Attribute,
    /// Names of attributes.
    Property,
}

impl TokenClass {
    /// All classes, in the order of their discriminants.
    pub(crate) const ALL: [TokenClass; 11] = [
        TokenClass::Comment,
        TokenClass::String,
        TokenClass::Number,
        TokenClass::Keyword,
        TokenClass::Op,
        TokenClass::Value,
        TokenClass::Symbol,
        TokenClass::Block,
        TokenClass::Type,
        TokenClass::Attribute,
        TokenClass::Property,
    ];
}

/// Modifier bit of a name at its definition.
pub(crate) const DEFINITION_BIT: u32 = 1;
/// Modifier bit of the noisy dialect.
pub(crate) const NOISY_BIT: u32 = 2;

/// Minimum size of a lexed piece, except for the last one and for short ranges.
const MIN_PIECE_BYTES: usize = 16 * 1024;
/// Maximum number of tokens per step; a single item may have a million.
const MAX_TOKENS_PER_STEP: usize = 1024;

/// Finds the tokens of a range of a document in steps.
#[derive(Debug)]
pub(crate) struct TokenJob {
    range: Range<usize>,
    encoding: Encoding,
    at: usize,
    piece: Option<Piece>,
    /// Line and column of the last token.
    last: (u32, u32),
    found: EncodedTokens,
}

/// A text of whole items that is being lexed.
#[derive(Debug)]
struct Piece {
    /// Offset in the document.
    start: usize,
    text: String,
    lexer: Lexer,
    /// The token before `token`.
    previous: Option<Token>,
    token: Token,
    cursor: LineColumnCounter,
}

/// Tokens in the encoding of the protocol, five numbers for each token, in blocks that do not move
/// when tokens are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EncodedTokens {
    blocks: Vec<Vec<u32>>,
}

/// Number of numbers in each block except the last one.
const BLOCK_LEN: usize = 5 * 4096;

impl EncodedTokens {
    fn push(&mut self, token: [u32; 5]) {
        match self.blocks.last_mut().filter(|it| it.len() < BLOCK_LEN) {
            Some(last) => last.extend_from_slice(&token),
            None => {
                // A short list allocates little memory.
                let mut block =
                    Vec::with_capacity(if self.blocks.is_empty() { 5 } else { BLOCK_LEN });
                block.extend_from_slice(&token);
                self.blocks.push(block);
            }
        }
    }

    /// Number of numbers, five for each token.
    pub(crate) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |it| (self.blocks.len() - 1) * BLOCK_LEN + it.len())
    }

    /// A range of the numbers, in slices.
    pub(crate) fn slices(&self, range: Range<usize>) -> impl Iterator<Item = &[u32]> {
        let range = range.start..range.end.max(range.start).min(self.len());
        let n_blocks = range.end.div_ceil(BLOCK_LEN);
        (range.start / BLOCK_LEN..n_blocks).map(move |n| {
            let at = n * BLOCK_LEN;
            let end = (range.end - at).min(BLOCK_LEN);
            &self.blocks[n][range.start.saturating_sub(at).min(end)..end]
        })
    }

    fn token(&self, n: usize) -> &[u32] {
        let at = 5 * n;
        &self.blocks[at / BLOCK_LEN][at % BLOCK_LEN..][..5]
    }
}

impl TokenJob {
    /// Finds the tokens of the items that touch a range of bytes, clipped to the range.
    pub(crate) fn new(source: &Source, range: Range<usize>, encoding: Encoding) -> Self {
        let ir = source.ir();
        let start = ir.item_at(range.start).map_or(0, |op| ir.start(op)).min(range.start);
        Self {
            range,
            encoding,
            at: start,
            piece: None,
            last: (0, 0),
            found: EncodedTokens::default(),
        }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, source: &Source) -> bool {
        let mut piece = match self.piece.take() {
            Some(piece) => piece,
            None if self.at < self.range.end => {
                let start = self.at;
                self.at = boundary(source, start, MIN_PIECE_BYTES.min(self.range.end - start));
                Piece::new(source, start..self.at, self.encoding)
            }
            None => return false,
        };
        if self.lex(&mut piece) {
            self.piece = Some(piece);
        }
        self.piece.is_some() || self.at < self.range.end
    }

    /// Removes and returns the tokens found so far.
    pub(crate) fn take(&mut self) -> EncodedTokens {
        std::mem::take(&mut self.found)
    }

    /// Lexes the next part of a piece; returns true if more of it remains.
    fn lex(&mut self, piece: &mut Piece) -> bool {
        let Piece { start, text, lexer, previous: before, token, cursor } = piece;
        for _ in 0..MAX_TOKENS_PER_STEP {
            let gap = before.map_or(0, |it| it.end as usize)..token.start as usize;
            if gap.len() > 1 {
                for comment in comments(text, gap) {
                    self.push(cursor, text, *start, comment, TokenClass::Comment, 0);
                }
            }
            if token.kind == TokenKind::Eof {
                return false;
            }
            let after = lexer.next(text.as_bytes()).0;
            if let Some((kind, modifiers)) = classify(text, *before, *token, after) {
                use TokenKind::{Bare, Caret, Float, Int, Percent};
                if matches!(token.kind, Bare | Caret | Float | Int | Percent) {
                    // These kinds of tokens contain no line breaks.
                    self.push_line(cursor, text, *start, token.range(), kind, modifiers);
                } else {
                    self.push(cursor, text, *start, token.range(), kind, modifiers);
                }
            }
            *before = Some(std::mem::replace(token, after));
        }
        true
    }

    /// Adds a token line by line, because a token of the protocol cannot span lines.
    fn push(
        &mut self,
        cursor: &mut LineColumnCounter,
        text: &str,
        base: usize,
        range: Range<usize>,
        kind: TokenClass,
        modifiers: u32,
    ) {
        let mut start = range.start;
        while start < range.end {
            let rest = &text.as_bytes()[start..range.end];
            let len = rest.iter().position(|it| matches!(it, b'\n' | b'\r')).unwrap_or(rest.len());
            if len > 0 {
                self.push_line(cursor, text, base, start..start + len, kind, modifiers);
            }
            start += len.max(1);
            while !text.is_char_boundary(start) {
                start += 1;
            }
        }
    }

    /// Adds a token within one line.
    #[inline]
    fn push_line(
        &mut self,
        cursor: &mut LineColumnCounter,
        text: &str,
        base: usize,
        range: Range<usize>,
        kind: TokenClass,
        modifiers: u32,
    ) {
        let (line, column) = cursor.move_to(text, range.start);
        let width = cursor.advance(text, range.end);
        if self.range.start <= base + range.start && base + range.end <= self.range.end {
            let same = line == self.last.0;
            let delta = if same { column - self.last.1 } else { column };
            self.found.push([line - self.last.0, delta, width, kind as u32, modifiers]);
            self.last = (line, column);
        }
    }
}

impl Piece {
    fn new(source: &Source, range: Range<usize>, encoding: Encoding) -> Self {
        let text = source.slice(range.clone());
        let (line, column) = encoding.line_column(source.text(), range.start);
        let is_ascii = text.is_ascii();
        let cursor = LineColumnCounter {
            encoding,
            is_ascii,
            at: 0,
            line: line as u32,
            column: column as u32,
        };
        let mut lexer = Lexer::new(true);
        let token = lexer.next(text.as_bytes()).0;
        Self { start: range.start, text, lexer, previous: None, token, cursor }
    }
}

/// The first start of an item at least `len` bytes after an offset.
fn boundary(source: &Source, offset: usize, len: usize) -> usize {
    let ir = source.ir();
    let end = source.text().len_bytes();
    if offset + len >= end {
        return end;
    }
    let (_, mut walk) = ItemWalk::starting_at(ir, offset + len);
    while let Some(item) = walk.next(ir) {
        if item.start > offset {
            return item.start;
        }
    }
    end
}

/// Computes lines and columns of increasing offsets in a text.
#[derive(Debug)]
struct LineColumnCounter {
    encoding: Encoding,
    is_ascii: bool,
    at: usize,
    line: u32,
    column: u32,
}

impl LineColumnCounter {
    fn width(&self, text: &str, range: Range<usize>) -> u32 {
        if self.is_ascii { range.len() as u32 } else { self.encoding.width(&text[range]) as u32 }
    }

    /// Moves to an offset on the same line; returns the distance in columns.
    fn advance(&mut self, text: &str, to: usize) -> u32 {
        let width = self.width(text, self.at..to);
        self.column += width;
        self.at = to;
        width
    }

    /// Moves to an offset and returns its line and column. Offsets must not decrease.
    fn move_to(&mut self, text: &str, to: usize) -> (u32, u32) {
        let (from, bytes) = (self.at, text.as_bytes());
        for (n, &byte) in bytes[from..to].iter().enumerate() {
            // Neither CR nor LF. Almost all bytes take this branch.
            if byte > b'\r' {
                continue;
            }
            let at = from + n;
            // The LF of a CRLF ends the line, not its CR.
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                self.line += 1;
                self.column = 0;
                self.at = at + 1;
            }
        }
        self.advance(text, to);
        (self.line, self.column)
    }
}

/// The comments between two tokens.
fn comments(text: &str, trivia: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    // Most gaps contain no comment.
    let has_one = text.as_bytes().get(trivia.clone()).is_some_and(|it| it.contains(&b'/'));
    let mut at = if has_one { trivia.start } else { trivia.end };
    std::iter::from_fn(move || {
        if at >= trivia.end {
            return None;
        }
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
    after: Token,
) -> Option<(TokenClass, u32)> {
    let is = |token: Option<Token>, kind: TokenKind| token.is_some_and(|it| it.kind == kind);
    let starts_line = token.is_at_line_start || before.is_none();
    let word = || &text[token.range()];
    let defined = |it: bool| if it { DEFINITION_BIT } else { 0 };
    let dialect = |it: &str| if it.starts_with("noisy.") { NOISY_BIT } else { 0 };
    Some(match token.kind {
        TokenKind::Percent => {
            (TokenClass::Value, defined(starts_line && !is(Some(after), TokenKind::RParen)))
        }
        TokenKind::At => {
            let word_before = before.map_or("", |it| &text[it.range()]);
            let defines = matches!(
                word_before,
                "func.func" | "func" | "private" | "public" | "nested" | "module"
            );
            (TokenClass::Symbol, defined(defines))
        }
        TokenKind::Caret => (TokenClass::Block, defined(starts_line)),
        TokenKind::Hash | TokenKind::HashBody => {
            (TokenClass::Attribute, defined(starts_line && is(Some(after), TokenKind::Equal)))
        }
        TokenKind::Bang | TokenKind::BangBody => {
            let noisy = if word().starts_with("!noisy.") { NOISY_BIT } else { 0 };
            (TokenClass::Type, noisy | defined(starts_line && is(Some(after), TokenKind::Equal)))
        }
        TokenKind::Int | TokenKind::Float => (TokenClass::Number, 0),
        TokenKind::Str
            if (starts_line || is(before, TokenKind::Equal))
                && is(Some(after), TokenKind::LParen) =>
        {
            let name = word().trim_matches('"');
            (op_kind(name), dialect(name))
        }
        TokenKind::Str => (TokenClass::String, 0),
        TokenKind::Split => (TokenClass::Comment, 0),
        TokenKind::Bare if starts_line || is(before, TokenKind::Equal) => match op_kind(word()) {
            TokenClass::Keyword if is_type(word()) => (TokenClass::Type, 0),
            TokenClass::Keyword if starts_line && is(Some(after), TokenKind::Equal) => {
                (TokenClass::Property, 0)
            }
            kind => (kind, dialect(word())),
        },
        TokenKind::Bare if is_type(word()) || is_rest_of_shape(before, token, word()) => {
            (TokenClass::Type, 0)
        }
        TokenKind::Bare if is(Some(after), TokenKind::Equal) => (TokenClass::Property, 0),
        TokenKind::Bare => (TokenClass::Keyword, 0),
        _ => return None,
    })
}

/// A name with a dialect prefix is the name of an op, known or not. A name without a prefix is the
/// name of an op only if the op is known.
fn op_kind(name: &str) -> TokenClass {
    let is_op = name.contains('.') || OpKind::of(name) != OpKind::Unknown;
    if is_op { TokenClass::Op } else { TokenClass::Keyword }
}

/// True for the rest of a shape after its first size, such as `x4xf32` of `tensor<?x4xf32>`: more
/// sizes and the element type.
fn is_rest_of_shape(before: Option<Token>, token: Token, word: &str) -> bool {
    let is_size = |it: Token| matches!(it.kind, TokenKind::Int | TokenKind::Question);
    let follows = before.is_some_and(|it| is_size(it) && it.end == token.start);
    let Some(parts) = word.strip_prefix('x').filter(|_| follows) else { return false };
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let (sizes, last) = parts.rsplit_once('x').unwrap_or(("", parts));
    sizes.split('x').all(is_number) && (is_number(last) || is_type(last))
}

fn is_type(word: &str) -> bool {
    let is_width = |it: &[u8]| !it.is_empty() && it.iter().all(u8::is_ascii_digit);
    match word.as_bytes() {
        [b'i' | b'f', bits @ ..] | [b's' | b'u', b'i', bits @ ..] if is_width(bits) => true,
        [b'f', b'8', b'E', ..] => true,
        _ => matches!(
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
        ),
    }
}

/// The single edit that turns `old` into `new`: the removed range of `old`, and the range of `new`
/// that replaces it.
pub(crate) fn difference(old: &EncodedTokens, new: &EncodedTokens) -> (Range<usize>, Range<usize>) {
    let (n_old, n_new) = (old.len() / 5, new.len() / 5);
    let n = n_old.min(n_new);
    let prefix = (0..n).take_while(|&it| old.token(it) == new.token(it)).count();
    let is_same = |it: &usize| old.token(n_old - 1 - it) == new.token(n_new - 1 - it);
    let suffix = (0..n - prefix).take_while(is_same).count();
    (5 * prefix..5 * (n_old - suffix), 5 * prefix..5 * (n_new - suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(u32, u32, u32, TokenClass)> {
        let source = Source::new(text);
        let mut tokens = TokenJob::new(&source, 0..text.len(), Encoding::Utf16);
        while tokens.step(&source) {}
        let data = tokens.take();
        let data = data.slices(0..data.len()).collect::<Vec<_>>().concat();
        let (mut line, mut column) = (0, 0);
        data.chunks(5)
            .map(|it| {
                column = if it[0] == 0 { column + it[1] } else { it[1] };
                line += it[0];
                (line, column, it[2], TokenClass::ALL[it[3] as usize])
            })
            .collect()
    }

    #[test]
    fn finds_kinds_and_positions() {
        let text = "// \u{1F600}\r\n%0 = noisy.add %a, %b : !noisy.i32 // c\r\n";
        let wanted = [
            (0, 0, 5, TokenClass::Comment),
            (1, 0, 2, TokenClass::Value),
            (1, 5, 9, TokenClass::Op),
            (1, 15, 2, TokenClass::Value),
            (1, 19, 2, TokenClass::Value),
            (1, 24, 10, TokenClass::Type),
            (1, 35, 4, TokenClass::Comment),
        ];
        assert_eq!(tokens(text), wanted);
    }

    #[test]
    fn shapes_are_types_and_ops_of_any_dialect_are_ops() {
        let text = "%0 = foo.bar %a : tensor<?x4xf32>, memref<4x8x!noisy.i32>\nlinalg.fill %0\n\"x.y\"() : () -> ()\nfoo\n";
        let all = tokens(text);
        let of = |line: u32, word: &str| {
            let column = text.lines().nth(line as usize).and_then(|it| it.find(word));
            all.iter().find(|it| it.0 == line && Some(it.1 as usize) == column).map(|it| it.3)
        };
        for (line, word, kind) in [
            (0, "foo.bar", TokenClass::Op),
            (0, "x4xf32", TokenClass::Type),
            (0, "x8x", TokenClass::Type),
            (0, "!noisy.i32", TokenClass::Type),
            (1, "linalg.fill", TokenClass::Op),
            (2, "\"x.y\"", TokenClass::Op),
            (3, "foo", TokenClass::Keyword),
        ] {
            assert_eq!(of(line, word), Some(kind), "{word}");
        }
    }

    #[test]
    fn finds_tokens_across_the_ends_of_pieces() {
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
    fn a_long_item_is_lexed_in_steps() {
        let text = format!("\"t.a\"() {{a = [{}0]}} : () -> ()\n", "1, ".repeat(20_000));
        let source = Source::new(&text);
        let mut found = TokenJob::new(&source, 0..text.len(), Encoding::Utf16);
        let mut n = 1;
        while found.step(&source) {
            n += 1;
        }
        assert!(n > 20 && tokens(&text).len() > 20_000, "{n}");
    }

    fn numbers(all: impl Iterator<Item = u32>) -> EncodedTokens {
        let mut out = EncodedTokens::default();
        all.for_each(|n| out.push([n; 5]));
        out
    }

    #[test]
    fn difference_is_one_edit() {
        // More than a block.
        let n = 10_000;
        let old = numbers(0..n);
        assert_eq!(old.slices(0..old.len()).map(<[u32]>::len).sum::<usize>(), old.len());
        for (from, to, come) in [(0, 0, 2), (10, 20, 1), (4090, 4100, 7), (0, n, 0), (5, n, 3)] {
            let new = numbers((0..from).chain((0..come).map(|it| n + it)).chain(to..n));
            let (gone, came) = difference(&old, &new);
            assert_eq!(gone, 5 * from as usize..5 * to as usize);
            assert_eq!(came.len(), 5 * come as usize);
            let slices = [
                old.slices(0..gone.start).collect::<Vec<_>>(),
                new.slices(came).collect(),
                old.slices(gone.end..old.len()).collect(),
            ];
            let whole: Vec<_> = new.slices(0..new.len()).collect();
            assert_eq!(slices.concat().concat(), whole.concat());
        }
        assert_eq!(
            difference(&old, &old),
            (5 * n as usize..5 * n as usize, 5 * n as usize..5 * n as usize)
        );
    }
}
