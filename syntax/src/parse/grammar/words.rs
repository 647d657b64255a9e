//! Converts tokens to words, the input of the grammar of values.
//!
//! A *word* is a token with its text. Brackets are counted, without recursion, to find the words of
//! one value. So the grammar never sees more than one value (lists are parsed in linear time) and
//! never more than [`MAX_DEPTH`] open brackets (its recursion is bounded). The dimensions of shaped
//! types are split on the way: `4x8xf32` lexes as `4` and `x8xf32`, and `0x4xf32` even as a
//! hexadecimal number; as words they are `4` `x` `8` `x` `f32`.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::identifier::bare_id_len;
use crate::{Span, Token, TokenKind};

/// Maximum depth of nested brackets inside one type or attribute.
pub(super) const MAX_DEPTH: usize = 128;

/// A token, or part of one, with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    pub(super) start: u32,
    /// Index of its token; for a word from several tokens, of the last one.
    pub(super) token: u32,
    /// True if no blank separates it from the previous word.
    pub(super) is_adjacent: bool,
}

impl Word<'_> {
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len() as u32)
    }
}

/// The words of a value.
pub(super) type Words<'a> = &'a [Word<'a>];

/// Determines if a value continues after a `:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// A type ends before `:`.
    Colon,
    /// An attribute may have a type after `:`.
    Value,
}

/// Returns the index after the last token of the value that starts at `from`, or as an error the
/// index of a token that is nested too deeply.
pub(super) fn value_end(tokens: &[Token], from: usize, until: Until) -> Result<usize, usize> {
    let mut open: SmallVec<[TokenKind; 16]> = SmallVec::new();
    let mut is_complete = false;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        let step = match token.kind {
            TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace => {
                let continues = token.kind == TokenKind::LSquare || at == from + 1;
                if open.is_empty() && is_complete && !continues {
                    return Ok(at);
                }
                open.push(token.kind);
                ControlFlow::Continue(false)
            }
            // `<` in `(d0 <= 0)` opens nothing.
            TokenKind::Less if tokens.get(at + 1).is_some_and(|it| it.kind == TokenKind::Equal) => {
                ControlFlow::Continue(false)
            }
            TokenKind::Less => {
                open.push(TokenKind::Less);
                ControlFlow::Continue(false)
            }
            TokenKind::RParen => close(&mut open, TokenKind::LParen),
            TokenKind::RSquare => close(&mut open, TokenKind::LSquare),
            TokenKind::RBrace => close(&mut open, TokenKind::LBrace),
            // `>` in `(d0 >= 0)` closes nothing.
            TokenKind::Greater if !open.is_empty() && open.last() != Some(&TokenKind::Less) => {
                ControlFlow::Continue(false)
            }
            TokenKind::Greater => close(&mut open, TokenKind::Less),
            _ if !open.is_empty() => ControlFlow::Continue(true),
            TokenKind::Comma
            | TokenKind::Equal
            | TokenKind::Percent
            | TokenKind::Caret
            | TokenKind::Eof
            | TokenKind::Split
            | TokenKind::Ellipsis
            | TokenKind::FileMetaOpen
            | TokenKind::FileMetaClose
            | TokenKind::Bar
            | TokenKind::Slash
            | TokenKind::Plus
            | TokenKind::Star => ControlFlow::Break(at),
            TokenKind::Colon if until == Until::Colon => ControlFlow::Break(at),
            TokenKind::Colon | TokenKind::Arrow | TokenKind::Minus => ControlFlow::Continue(false),
            _ if is_complete => ControlFlow::Break(at),
            _ => ControlFlow::Continue(true),
        };
        match step {
            ControlFlow::Break(usize::MAX) if open.is_empty() => return Ok(at),
            // A bracket that closes another kind: the grammar parses it and reports it.
            ControlFlow::Break(usize::MAX) => return Ok(at + 1),
            ControlFlow::Break(end) => return Ok(end),
            ControlFlow::Continue(complete) => is_complete = complete,
        }
        if open.len() > MAX_DEPTH {
            return Err(at);
        }
    }
    Ok(tokens.len())
}

fn close(open: &mut SmallVec<[TokenKind; 16]>, kind: TokenKind) -> ControlFlow<usize, bool> {
    if open.last() == Some(&kind) {
        open.pop();
        ControlFlow::Continue(true)
    } else {
        ControlFlow::Break(usize::MAX)
    }
}

/// Returns the words of the tokens `from..to`.
pub(super) fn words<'a>(text: &'a str, tokens: &[Token], from: usize, to: usize) -> Vec<Word<'a>> {
    let mut out: Vec<Word<'a>> = Vec::with_capacity(to - from);
    let mut at = from;
    let mut end_before = 0;
    // True where dimensions may follow, and true if the last word was a dimension.
    let mut in_dims = false;
    let mut after_dim = false;
    while at < to {
        let token = tokens[at];
        let spelled = &text[token.range()];
        let is_adjacent = token.start == end_before;
        end_before = token.end;
        let word = Word {
            kind: token.kind,
            text: spelled,
            start: token.start,
            token: at as u32,
            is_adjacent,
        };
        at += 1;
        if token.kind == TokenKind::Less {
            in_dims =
                matches!(out.last(), Some(it) if matches!(it.text, "vector" | "tensor" | "memref"));
            after_dim = false;
            out.push(word);
            continue;
        }
        if !in_dims {
            out.push(word);
            continue;
        }
        match token.kind {
            TokenKind::Int if spelled.starts_with("0x") => {
                out.push(Word { text: &spelled[..1], ..word });
                (end_before, at, in_dims, after_dim) =
                    split_dims(text, tokens, (at - 1, to), token.start + 1, &mut out);
            }
            TokenKind::Int | TokenKind::Question | TokenKind::Star | TokenKind::RSquare => {
                out.push(word);
                after_dim = true;
            }
            TokenKind::LSquare => {
                out.push(word);
                after_dim = false;
            }
            TokenKind::Bare if after_dim && spelled.starts_with('x') => {
                (end_before, at, in_dims, after_dim) =
                    split_dims(text, tokens, (at - 1, to), token.start, &mut out);
            }
            _ => {
                out.push(word);
                in_dims = false;
            }
        }
    }
    out
}

/// Splits the text after a dimension, from the `x` at byte `start` on: `x8xf32`. Returns the byte
/// after it, the next token to read, and the values of `in_dims` and `after_dim`.
fn split_dims<'a>(
    text: &'a str,
    tokens: &[Token],
    (first, to): (usize, usize),
    start: u32,
    out: &mut Vec<Word<'a>>,
) -> (u32, usize, bool, bool) {
    // The tokens may skip text after the last token (regions); it is not part of the value.
    let rest = &text[start as usize..tokens[to - 1].end as usize];
    let len = bare_id_len(rest);
    // The text may span several tokens (`0xf8E5` `M2`).
    let end = start + len as u32;
    let mut next = first + 1;
    while next < to && tokens[next].start < end {
        next += 1;
    }
    let word = |kind, from: usize, to: usize| Word {
        kind,
        text: &rest[from..to],
        start: start + from as u32,
        token: next as u32 - 1,
        is_adjacent: true,
    };
    let run = &rest.as_bytes()[..len];
    let mut at = 0;
    let state = loop {
        if run.get(at) != Some(&b'x') {
            // The grammar reports a missing `x` after a dimension.
            if at < len {
                out.push(word(TokenKind::Bare, at, len));
            }
            break (false, false);
        }
        out.push(word(TokenKind::Bare, at, at + 1));
        at += 1;
        let digits = run[at..].iter().take_while(|it| it.is_ascii_digit()).count();
        if digits == 0 {
            if at < len {
                out.push(word(TokenKind::Bare, at, len));
                break (false, false);
            }
            break (true, false);
        }
        out.push(word(TokenKind::Int, at, at + digits));
        at += digits;
        if at == len {
            break (true, true);
        }
    };
    (end, next, state.0, state.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    fn check(text: &str, expected: &str) {
        let tokens = lex(text).tokens;
        let end = value_end(&tokens, 0, Until::Value).expect("not nested deeply");
        let words: Vec<_> = words(text, &tokens, 0, end).iter().map(|it| it.text).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn dimensions_are_split_at_x() {
        check("tensor<4x8xf32>", "tensor < 4 x 8 x f32 >");
        check("tensor<0x4xf32>", "tensor < 0 x 4 x f32 >");
        check("tensor<0xf32>", "tensor < 0 x f32 >");
        check("tensor<0xf8E5M2>", "tensor < 0 x f8E5M2 >");
        check("memref<?x4 x f32, #m>", "memref < ? x 4 x f32 , #m >");
        check("vector<[4]x!t.x>", "vector < [ 4 ] x !t.x >");
        check("tensor<*xvector<4xi1>>", "tensor < * x vector < 4 x i1 > >");
    }

    #[test]
    fn a_value_ends_where_it_is_complete() {
        check("f32 to f64", "f32");
        check("1 : i32, 2", "1 : i32");
        check("(i32) -> (i32) {", "( i32 ) -> ( i32 )");
        check("affine_set<(d0) : (d0 >= 0)>, 1", "affine_set < ( d0 ) : ( d0 > = 0 ) >");
        check("distinct[0]<1> %a", "distinct [ 0 ] < 1 >");
        check("@a::@b(%c)", "@a : : @b");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(value_end(&lex(&text).tokens, 0, Until::Value), Err(MAX_DEPTH));
    }
}
