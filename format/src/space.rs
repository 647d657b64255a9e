//! The blanks between two tokens on one line of an op: none, one, or as written.
//!
//! A rule depends on the two tokens, on the brackets that enclose them, and on the adjacent tokens.
//! If MLIR's grammar does not decide (`4x4`, `-1`, `a - 1`, `offset: ?`), existing blanks are kept;
//! several become one.
//!
//! *Law.* A blank is removed only if the tokens would not merge.

use noisy_syntax::{Token, TokenKind};

/// The blanks between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Tight,
    One,
    /// One blank if there is any.
    AsWritten,
}

/// The kind of op that contains the tokens: the distinctions that affect blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpacingKind {
    /// A function. It declares arguments with `%a: type`.
    Function,
    /// A label. It declares arguments, too.
    Label,
    Generic,
    /// Anything else.
    Other,
}

/// The currently open brackets.
#[derive(Debug, Default)]
pub(crate) struct OpenBrackets {
    open: Vec<(TokenKind, usize)>,
}

impl OpenBrackets {
    /// Processes token `at`. An opening bracket is stored with `number`; for a closing bracket,
    /// returns the number of its opening bracket.
    pub(crate) fn push_token(
        &mut self,
        tokens: &[Token],
        at: usize,
        number: usize,
    ) -> Option<usize> {
        let kind = tokens[at].kind;
        if is_opening_bracket(tokens, at) {
            self.open.push((kind, number));
            return None;
        }
        let opener = match kind {
            TokenKind::RParen => TokenKind::LParen,
            TokenKind::RSquare => TokenKind::LSquare,
            TokenKind::RBrace => TokenKind::LBrace,
            TokenKind::Greater if self.innermost() == Some(TokenKind::Less) => TokenKind::Less,
            _ => return None,
        };
        let found = self.open.iter().rposition(|it| it.0 == opener)?;
        let number = self.open[found].1;
        self.open.truncate(found);
        Some(number)
    }

    /// Returns the innermost bracket.
    pub(crate) fn innermost(&self) -> Option<TokenKind> {
        self.open.last().map(|it| it.0)
    }

    /// Returns the kind and the number of the innermost bracket.
    pub(crate) fn last(&self) -> Option<(TokenKind, usize)> {
        self.open.last().copied()
    }

    /// Returns the number of open brackets.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }
}

/// Returns true if a token is an opening bracket. `<` is one if it starts the body of a type or an
/// attribute.
pub(crate) fn is_opening_bracket(tokens: &[Token], at: usize) -> bool {
    match tokens[at].kind {
        TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace => true,
        TokenKind::Less => {
            let next = tokens.get(at + 1).map(|it| it.kind);
            let before = at.checked_sub(1).map(|it| tokens[it]);
            let is_after_name = before.is_some_and(|it| {
                it.end == tokens[at].start
                    && matches!(
                        it.kind,
                        TokenKind::Bare | TokenKind::Bang | TokenKind::Hash | TokenKind::RSquare
                    )
            });
            is_after_name && next != Some(TokenKind::Equal) || next == Some(TokenKind::LBrace)
        }
        _ => false,
    }
}

/// Returns the blanks before token `at`, which is not the first. `brackets` are those open after
/// the previous token. `in_results`: true before the `=` of the results; `after_name`: true
/// directly after the quoted name of an op.
#[expect(clippy::match_same_arms, reason = "the rules stand in the order in which they count")]
pub(crate) fn spacing_before(
    tokens: &[Token],
    at: usize,
    kind: SpacingKind,
    brackets: &OpenBrackets,
    text: &str,
    (in_results, after_name): (bool, bool),
) -> Spacing {
    use Spacing::{AsWritten, One, Tight};
    let (prev, next) = (tokens[at - 1], tokens[at]);
    let further = |it: Option<usize>| it.and_then(|it| tokens.get(it));
    let two_before = further(at.checked_sub(2)).filter(|it| it.end == prev.start);
    let after = further(Some(at + 1)).filter(|it| it.start == next.end);
    let is_colon = |it: Option<&Token>| it.is_some_and(|it| it.kind == TokenKind::Colon);
    let innermost = brackets.innermost();
    let closes = match next.kind {
        TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace => true,
        TokenKind::Greater => innermost == Some(TokenKind::Less),
        _ => false,
    };
    match (prev.kind, next.kind) {
        (_, TokenKind::Comma) => Tight,
        (TokenKind::Comma, _) => One,
        _ if closes || is_opening_bracket(tokens, at - 1) => Tight,
        // `@a::@b`
        (TokenKind::Colon, TokenKind::Colon) => AsWritten,
        (_, TokenKind::Colon) if is_colon(after) => AsWritten,
        (TokenKind::Colon, _) if is_colon(two_before) => AsWritten,
        (TokenKind::Arrow, _) | (_, TokenKind::Arrow) => One,
        // `>=`, `==`
        (TokenKind::Less | TokenKind::Greater | TokenKind::Equal, TokenKind::Equal) => AsWritten,
        (TokenKind::Equal | TokenKind::Plus, _) | (_, TokenKind::Equal | TokenKind::Plus) => One,
        (_, TokenKind::Colon) | (TokenKind::Colon, _) if in_results => Tight,
        (_, TokenKind::Colon) => match (kind, innermost) {
            (SpacingKind::Label, None) => Tight,
            (SpacingKind::Label | SpacingKind::Function, Some(TokenKind::LParen))
                if prev.kind == TokenKind::Percent =>
            {
                Tight
            }
            (_, None | Some(TokenKind::LBrace)) => One,
            // `^bb1(%a : i32)`
            (_, Some(TokenKind::LParen)) if prev.kind == TokenKind::Percent => One,
            _ => AsWritten,
        },
        // `loc("file":1:2)`
        (TokenKind::Colon, TokenKind::Int) => AsWritten,
        (TokenKind::Colon, _) => One,
        (
            TokenKind::At
            | TokenKind::Caret
            | TokenKind::Hash
            | TokenKind::HashBody
            | TokenKind::Percent,
            TokenKind::LParen,
        )
        | (TokenKind::Percent, TokenKind::LSquare) => Tight,
        (_, TokenKind::LParen) if after_name => Tight,
        // `%a#1`
        (TokenKind::Percent, TokenKind::Hash)
            if text[next.range()][1..].starts_with(|it: char| it.is_ascii_digit()) =>
        {
            Tight
        }
        (_, TokenKind::LBrace) => One,
        (TokenKind::RBrace, _) if brackets.depth() == 0 => One,
        (
            TokenKind::RParen | TokenKind::RSquare | TokenKind::Greater,
            TokenKind::LParen | TokenKind::Less,
        ) if kind == SpacingKind::Generic && brackets.depth() == 0 => One,
        _ => AsWritten,
    }
}
