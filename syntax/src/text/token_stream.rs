//! A stream of text and tokens that are read on demand, with holes for old items that are reused.
//!
//! The reader of items ([`crate::skeleton`]) requests one token after the other. If the whole text
//! is parsed, it is available at once. After an edit, the text around the edit is copied from the
//! rope in pieces, each twice as long as the previous one, until an old item can be reused. Reading
//! then continues after that item: text that was read ahead is dropped, and a *hole*, one
//! [`FILLER`], replaces the text of the reused items.
//!
//! *Coordinates.* Tokens are measured in bytes of [`TokenStream::text`]. Their position in the
//! document is that plus [`TokenStream::base`], which grows with each hole.

use std::borrow::Cow;

use ropey::Rope;

use crate::lex::{LOOK_AHEAD, Lexer};
use crate::{Token, TokenKind};

/// Number of bytes that are read from a rope at first.
const FIRST_READ: usize = 160;

/// Replaces the text of a hole, so that a region with only a hole is not empty.
const FILLER: char = 'x';

/// Most texts have at most one token per this number of bytes.
const BYTES_PER_TOKEN: usize = 4;

/// Number of tokens that are lexed at once if the whole text is available.
const BATCH: usize = 256;

#[derive(Debug)]
pub(crate) struct TokenStream<'a> {
    text: Cow<'a, str>,
    /// The source of further text; `None` if the whole text was given.
    rope: Option<&'a Rope>,
    base: usize,
    /// Start of the current piece in `text`.
    piece: usize,
    lexer: Lexer,
    tokens: Vec<Token>,
    /// For the few tokens with an end that depends on more than [`LOOK_AHEAD`] bytes behind it: the
    /// index of the token, and the byte of the document after the last one that was read.
    reaches: Vec<(u32, u32)>,
    /// Number of bytes that were read, including dropped ones.
    n_read: usize,
}

impl<'a> TokenStream<'a> {
    /// Creates a stream of a whole text.
    pub(crate) fn whole(text: &'a str) -> Self {
        // The capacity is limited because [`TokenStream::take_before`] removes the tokens of long
        // texts in stretches.
        let n_tokens = text.len().min(1 << 14) / BYTES_PER_TOKEN + 1;
        Self {
            text: Cow::Borrowed(text),
            rope: None,
            base: 0,
            piece: 0,
            lexer: Lexer::new(true),
            tokens: Vec::with_capacity(n_tokens),
            reaches: Vec::new(),
            n_read: text.len(),
        }
    }

    /// Creates a stream of a rope from byte `start` on, which is the start of the rope or follows a
    /// token.
    pub(crate) fn from_rope(rope: &'a Rope, start: usize) -> Self {
        Self {
            text: Cow::Owned(String::new()),
            rope: Some(rope),
            base: start,
            piece: 0,
            lexer: Lexer::new(start == 0),
            tokens: Vec::new(),
            reaches: Vec::new(),
            n_read: 0,
        }
    }

    /// Returns the text that was read, with a [`FILLER`] for each hole.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tokens that were read so far.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the difference between a position in the document and in [`TokenStream::text`],
    /// behind the last hole.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Returns the number of bytes that were read.
    pub(crate) fn n_read(&self) -> usize {
        self.n_read
    }

    /// Returns the token at `index`, or the [`TokenKind::Eof`] before it.
    #[inline]
    pub(crate) fn token(&mut self, index: usize) -> Token {
        match self.tokens.get(index) {
            Some(&token) => token,
            None => self.lex_until(index),
        }
    }

    fn lex_until(&mut self, index: usize) -> Token {
        while index >= self.tokens.len() {
            match self.tokens.last() {
                Some(&last) if last.kind == TokenKind::Eof => return last,
                _ => self.lex(),
            }
        }
        self.tokens[index]
    }

    /// Returns the next far reach (see the field `reaches`) if its token is at most `index`. `next`
    /// is the cursor of the caller, so each is returned once.
    #[inline]
    pub(crate) fn take_reach(&mut self, index: usize, next: &mut usize) -> Option<u32> {
        let (token, reach) = *self.reaches.get(*next)?;
        (token as usize <= index).then(|| {
            *next += 1;
            reach
        })
    }

    /// Number of tokens with a far reach.
    pub(crate) fn n_reaches(&self) -> usize {
        self.reaches.len()
    }

    fn lex(&mut self) {
        let batch = if self.rope.is_none() { BATCH } else { 1 };
        for _ in 0..batch {
            let state = self.lexer.state();
            let (token, looked) = self.lexer.next(self.text.as_bytes());
            if looked >= self.text.len() && self.read_more() {
                self.lexer.go_to(state);
                continue;
            }
            if looked > token.end as usize + LOOK_AHEAD {
                self.reaches.push((self.tokens.len() as u32, (looked + self.base) as u32));
            }
            self.tokens.push(token);
            if token.kind == TokenKind::Eof {
                return;
            }
        }
    }

    /// Reads more text; returns false at the end.
    fn read_more(&mut self) -> bool {
        let Some(rope) = self.rope else { return false };
        let from = self.base + self.text.len();
        if from >= rope.len_bytes() {
            return false;
        }
        let n_bytes = (self.text.len() - self.piece).max(FIRST_READ);
        let to = (from + n_bytes).min(rope.len_bytes());
        let to = rope.char_to_byte(rope.byte_to_char(to));
        let text = self.text.to_mut();
        for chunk in rope.byte_slice(from..to).chunks() {
            text.push_str(chunk);
        }
        self.n_read += to - from;
        true
    }

    /// Removes the tokens before token `before` and returns them as a stream. Token `before` gets
    /// the number 0.
    pub(crate) fn take_before(&mut self, before: usize) -> TokenStream<'a> {
        let rest = self.tokens.split_off(before.min(self.tokens.len()));
        self.reaches.retain_mut(|it| {
            let stays = it.0 as usize >= before;
            it.0 = it.0.saturating_sub(before as u32);
            stays
        });
        TokenStream {
            text: self.text.clone(),
            rope: None,
            base: self.base,
            piece: self.piece,
            lexer: Lexer::new(false),
            tokens: std::mem::replace(&mut self.tokens, rest),
            reaches: Vec::new(),
            n_read: 0,
        }
    }

    /// Replaces `len` bytes of the document by a hole. It starts at byte `at`, the start of the
    /// trivia before token `index`. Returns the end of the hole.
    pub(crate) fn insert_hole(&mut self, index: usize, at: u32, len: usize) -> u32 {
        self.tokens.truncate(index);
        while self.reaches.last().is_some_and(|it| it.0 as usize >= index) {
            self.reaches.pop();
        }
        let text = self.text.to_mut();
        text.truncate(at as usize);
        text.push(FILLER);
        self.piece = text.len();
        self.lexer.go_to((self.piece, false));
        // Items are never empty.
        self.base += len - FILLER.len_utf8();
        self.piece as u32
    }
}
