//! Text and tokens as they are asked for, with holes where old items are taken over unread.
//!
//! The reader of items ([`crate::skeleton`]) asks for one token after the other. A whole text is at
//! hand at once; the text around an edit is copied from the rope piece by piece, each piece twice
//! as long as the one before, until an old item can be taken over. Then reading goes on after that:
//! what was read ahead is dropped, and a *hole* stands for what was left out: one [`FILLER`].
//!
//! *Coordinates.* Tokens are in bytes of what was read, [`TokenStream::text`]. A place in the
//! document is that plus [`TokenStream::base`], which grows with each hole.

use std::borrow::Cow;

use ropey::Rope;

use crate::lex::{LOOK_AHEAD, Lexer};
use crate::{Token, TokenKind};

/// Number of bytes of a rope that are read at first.
const FIRST_READ: usize = 160;

/// Stands for text that was left out, so that a region that holds it is not empty.
const FILLER: char = 'x';

/// Most texts have at most one token in this number of bytes.
const BYTES_PER_TOKEN: usize = 4;

/// Number of tokens that are lexed at once if the whole text is at hand.
const BATCH: usize = 256;

#[derive(Debug)]
pub(crate) struct TokenStream<'a> {
    text: Cow<'a, str>,
    /// The source of more text.
    rope: Option<&'a Rope>,
    base: usize,
    /// Start of the current piece in `text`.
    piece: usize,
    lexer: Lexer,
    tokens: Vec<Token>,
    /// For the few tokens whose end was found by reading further than [`LOOK_AHEAD`]: the index,
    /// and the byte of the document after the last that was read.
    reaches: Vec<(u32, u32)>,
    /// Bytes that were read, dropped ones included.
    n_read: usize,
}

impl<'a> TokenStream<'a> {
    /// A whole text.
    pub(crate) fn whole(text: &'a str) -> Self {
        // Not for all of a long text: what is read of it is cut off, stretch by stretch.
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

    /// The text of a rope from a byte on, which is its start or right after a token.
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

    /// The text that was read, without the holes.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The tokens that were read so far.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The distance from a place after the last hole to its place in the document.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Bytes that were read.
    pub(crate) fn n_read(&self) -> usize {
        self.n_read
    }

    /// A token, or the [`TokenKind::Eof`] before it.
    #[inline]
    pub(crate) fn token(&mut self, index: usize) -> Token {
        match self.tokens.get(index) {
            Some(&token) => token,
            None => self.token_ahead(index),
        }
    }

    fn token_ahead(&mut self, index: usize) -> Token {
        while index >= self.tokens.len() {
            match self.tokens.last() {
                Some(&last) if last.kind == TokenKind::Eof => return last,
                _ => self.lex(),
            }
        }
        self.tokens[index]
    }

    /// The byte of the document after the last that the ends of the tokens up to this one depend
    /// on, of those that looked far. Each is told once.
    #[inline]
    pub(crate) fn take_reach(&mut self, index: usize, next: &mut usize) -> Option<u32> {
        let (token, reach) = *self.reaches.get(*next)?;
        (token as usize <= index).then(|| {
            *next += 1;
            reach
        })
    }

    /// Number of tokens that looked far ahead.
    pub(crate) fn n_reaches(&self) -> usize {
        self.reaches.len()
    }

    fn lex(&mut self) {
        let batch = if self.rope.is_none() { BATCH } else { 1 };
        for _ in 0..batch {
            let state = self.lexer.state();
            let (token, looked) = self.lexer.next(self.text.as_bytes());
            if looked >= self.text.len() && self.read() {
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

    /// Reads on; `false` at the end.
    fn read(&mut self) -> bool {
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

    /// Cuts off the tokens before one, which is number 0 from now on: a stream of these alone.
    pub(crate) fn cut(&mut self, before: usize) -> TokenStream<'a> {
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

    /// Makes a hole of `len` bytes of the document where the trivia before token `index` starts, at
    /// byte `at`. Returns where it ends.
    pub(crate) fn skip(&mut self, index: usize, at: u32, len: usize) -> u32 {
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
