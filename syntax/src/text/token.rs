//! Tokens: kinds and spans. The lexer is in [`crate::lex`].

use std::ops::Range;

/// The marker at which `mlir-opt --split-input-file` splits a text.
pub const SPLIT_MARKER: &str = "// -----";

/// The kind of a token. The text contains its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// `[A-Za-z_][A-Za-z0-9_$.]*`, keywords and integer types (`i32`) included.
    Bare,
    /// `@name` or `@"name"`.
    At,
    /// `%name`.
    Percent,
    /// `^name`.
    Caret,
    /// `#name` without an adjacent body: an alias, or a result number (`#1`).
    Hash,
    /// `!name` without an adjacent body: an alias, or a dialect type such as `!noisy.i32`.
    Bang,
    /// `#name<body>`, the raw body included.
    HashBody,
    /// `!name<body>`, the raw body included.
    BangBody,
    /// A decimal or hexadecimal integer, unsigned.
    Int,
    /// A float with its `.`.
    Float,
    /// A string with its quotes.
    Str,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// `[`
    LSquare,
    /// `]`
    RSquare,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `=`
    Equal,
    /// `+`
    Plus,
    /// `*`
    Star,
    /// `-`
    Minus,
    /// `->`
    Arrow,
    /// `?`
    Question,
    /// `|`
    Bar,
    /// `/`
    Slash,
    /// `...`
    Ellipsis,
    /// `{-#`
    FileMetaOpen,
    /// `#-}`
    FileMetaClose,
    /// A whole region `{ ... }` of an op; the grammar of an op sees each region as one token.
    Region,
    /// A `// -----` that splits the file, up to the end of its line.
    Split,
    /// Bytes that form no valid token: an unexpected character, an unterminated or malformed
    /// string, `#` or `!` without a name.
    Error,
    /// The end of the text.
    Eof,
}

/// A token with its range in bytes of the lexed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// Its kind.
    pub kind: TokenKind,
    /// True if a line break separates the previous token (or the start of the text) from this one.
    pub is_at_line_start: bool,
}

impl Token {
    /// Returns the range of the token in bytes.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the span of the token.
    pub fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// A range of bytes that takes only 8 bytes of memory. Each user defines its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// Creates a span from its first byte and the byte after its last.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Converts it into a range of `usize`.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the span from the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}
