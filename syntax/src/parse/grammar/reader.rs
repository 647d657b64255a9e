//! The reader: a position in the tokens of one item, and the reporting of problems.
//!
//! A syntax problem ends the parsing of the item: it is reported once and returned as
//! [`ReportedError`]. As in MLIR, a missing token is reported after the previous token, everything
//! else at the current token. Problems of types are reported, and parsing continues.

use super::ParsedOperand;
use super::{Alias, AliasUse, GrammarEnv, ParsedItem};
use crate::string::string_len;
use crate::{Attr, Code, Name, Problem, Span, Token, TokenKind, Type};

/// A syntax problem of the item, which was already reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedError;

pub(crate) type ReadResult<X = ()> = Result<X, ReportedError>;

#[derive(Debug)]
pub(crate) struct Reader<'r, 'e> {
    pub(crate) text: &'r str,
    pub(crate) tokens: &'r [Token],
    /// The current token.
    pub(crate) at: usize,
    pub(crate) env: &'r mut GrammarEnv<'e>,
    pub(crate) out: &'r mut ParsedItem,
    /// True while a guess is parsed: problems are not reported.
    pub(crate) is_quiet: bool,
    /// Number of mismatches that were not reported because of `is_quiet`.
    pub(crate) n_silenced: usize,
    /// Number of parsed regions.
    pub(crate) n_regions: usize,
    /// The arguments of the next region, which the header defines.
    pub(crate) header_arguments: Vec<super::ParsedArgument>,
}

impl<'r> Reader<'r, '_> {
    /// Returns the meaning of an alias in this item. The lookup is recorded, because a different
    /// meaning may change the item.
    pub(crate) fn look_up(&mut self, alias: Name) -> Option<Alias> {
        let found = self.env.aliases.get(&alias).copied();
        self.out.alias_reads.push((alias, found));
        found
    }

    /// Records the use of an alias that must be defined before.
    pub(crate) fn use_alias(&mut self, name: Name, span: Span) {
        self.out.alias_uses.push(AliasUse { name, span, is_location: false });
    }

    pub(crate) fn peek(&self) -> TokenKind {
        self.tokens.get(self.at).map_or(TokenKind::Eof, |it| it.kind)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::Eof, |it| it.kind)
    }

    /// Returns the current token; at the end, an empty token after the last one.
    pub(crate) fn token(&self) -> Token {
        self.tokens.get(self.at).copied().unwrap_or_else(|| {
            let end = self.end_before();
            Token { start: end, end, kind: TokenKind::Eof, is_at_line_start: false }
        })
    }

    pub(crate) fn slice(&self, token: Token) -> &'r str {
        &self.text[token.range()]
    }

    /// Returns the text of the current token.
    pub(crate) fn word(&self) -> &'r str {
        self.tokens.get(self.at).map_or("", |it| &self.text[it.range()])
    }

    pub(crate) fn bump(&mut self) -> Token {
        let token = self.token();
        self.at += 1;
        token
    }

    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let is = self.peek() == kind;
        self.at += usize::from(is);
        is
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.peek() == TokenKind::Bare && self.word() == word
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    pub(crate) fn expect(&mut self, kind: TokenKind) -> ReadResult<Token> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        if kind == TokenKind::At {
            return Err(
                self.error_here(Code::ExpectedToken, "expected a symbol name, such as @name")
            );
        }
        Err(self.expected(spelling(kind)))
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> ReadResult {
        if self.eat_word(word) {
            return Ok(());
        }
        // MLIR reports missing keywords at the current token.
        Err(self.error_here(Code::ExpectedToken, format!("expected '{word}'")))
    }

    /// Returns the end of the previous token.
    pub(crate) fn end_before(&self) -> u32 {
        let before = self.at.min(self.tokens.len());
        match before.checked_sub(1) {
            Some(it) => self.tokens[it].end,
            None => self.tokens.first().map_or(0, |it| it.start),
        }
    }

    /// Reports what must follow the previous token.
    #[cold]
    pub(crate) fn expected(&mut self, what: &str) -> ReportedError {
        if self.peek() == TokenKind::Error {
            return self.lexical(self.token());
        }
        let end = self.end_before();
        self.error_at(Code::ExpectedToken, Span::new(end, end), format!("expected {what}"))
    }

    /// Reports a problem with the current token.
    #[cold]
    pub(crate) fn error_here(&mut self, code: Code, message: impl Into<String>) -> ReportedError {
        if self.peek() == TokenKind::Error {
            return self.lexical(self.token());
        }
        self.error_at(code, self.token().span(), message.into())
    }

    /// Reports characters that do not form a token.
    #[cold]
    pub(crate) fn lexical(&mut self, token: Token) -> ReportedError {
        let (place, message) = crate::lex::error_in(self.slice(token));
        let [start, end] = [place.start, place.end].map(|it| token.start + it as u32);
        self.error_at(Code::UnexpectedCharacter, Span::new(start, end), message.into())
    }

    /// Returns the number of problems so far, reported or not.
    pub(crate) fn n_problems(&self) -> usize {
        self.out.problems.len() + self.n_silenced
    }

    /// Reports a problem that a verifier would report; parsing continues.
    #[cold]
    pub(crate) fn report_structure(&mut self, code: Code, span: Span, message: impl Into<String>) {
        if !self.is_quiet {
            let message = message.into();
            self.out.problems.push(Problem { code, span, message });
        }
    }

    #[cold]
    pub(crate) fn error_at(&mut self, code: Code, span: Span, message: String) -> ReportedError {
        if !self.is_quiet && !self.is_unclosed() {
            let (span, message) = self.unbalanced(span.end).unwrap_or((span, message));
            self.out.problems.push(Problem { code, span, message });
            self.out.has_reported_syntax_problem = true;
        }
        ReportedError
    }

    /// Returns the problem with the body of a dialect type or attribute with a name that ends at
    /// `at`, if its brackets do not balance. MLIR reports it at the last string before the wrong
    /// bracket, or at the `<` if there is no string.
    fn unbalanced(&self, at: u32) -> Option<(Span, String)> {
        let is_name =
            |it: &Token| it.end == at && matches!(it.kind, TokenKind::Hash | TokenKind::Bang);
        let body = &self.tokens[self.tokens.iter().position(is_name)? + 1..];
        let open = body.first().filter(|it| it.kind == TokenKind::Less && it.start == at)?;
        let mut told = open.span();
        let mut stack = Vec::new();
        for token in body {
            let opened = match token.kind {
                TokenKind::Str | TokenKind::HashBody | TokenKind::BangBody => {
                    let text = self.slice(*token);
                    let mut from = 0;
                    while let Some(quote) = text[from..].find('"') {
                        let start = token.start + (from + quote) as u32;
                        from += quote + string_len(&text[from + quote..]);
                        told = Span::new(start, token.start + from as u32);
                    }
                    continue;
                }
                TokenKind::Less | TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace => {
                    stack.push(token.kind);
                    continue;
                }
                TokenKind::Greater => TokenKind::Less,
                TokenKind::RParen => TokenKind::LParen,
                TokenKind::RSquare => TokenKind::LSquare,
                TokenKind::RBrace => TokenKind::LBrace,
                TokenKind::Region => break,
                _ => continue,
            };
            if stack.last() != Some(&opened) {
                break;
            }
            stack.pop();
            if stack.is_empty() {
                return None;
            }
        }
        let open = spelling(*stack.last()?);
        Some((told, format!("unbalanced {open} in the body of a dialect type or attribute")))
    }

    /// Returns true if the item ends with an unclosed region: then missing text after it is not a
    /// separate problem.
    fn is_unclosed(&self) -> bool {
        let at_end = self.at >= self.tokens.len();
        at_end
            && self
                .tokens
                .last()
                .is_some_and(|it| it.kind == TokenKind::Region && !self.slice(*it).ends_with('}'))
    }

    /// Reports types or counts that do not agree; parsing continues.
    #[cold]
    pub(crate) fn report_mismatch(&mut self, code: Code, span: Span, message: impl Into<String>) {
        if self.is_quiet {
            self.n_silenced += 1;
        } else {
            let message = message.into();
            self.out.problems.push(Problem { code, span, message });
        }
    }

    pub(crate) fn name(&mut self, text: &str) -> Name {
        self.env.interner.intern_name(text)
    }

    /// Parses `%a` or `%a#1` and adds it to the operands. Returns its index.
    pub(crate) fn operand(&mut self, ty: Type) -> ReadResult<usize> {
        let operand = self.value(ty)?;
        self.out.operands.push(operand);
        Ok(self.out.operands.len() - 1)
    }

    /// Parses `%a` or `%a#1`.
    pub(crate) fn value(&mut self, ty: Type) -> ReadResult<ParsedOperand> {
        if self.peek() != TokenKind::Percent {
            return Err(self.expected("an SSA value"));
        }
        let token = self.bump();
        let name =
            self.env.interner.intern_name(&self.text[token.start as usize + 1..token.end as usize]);
        let mut span = token.span();
        let mut number = 0;
        if self.peek() == TokenKind::Hash {
            let Ok(it) = self.word()[1..].parse() else {
                return Err(
                    self.error_here(Code::InvalidResultNumber, "invalid SSA value result number")
                );
            };
            number = it;
            span.end = self.bump().end;
        }
        Ok(ParsedOperand { name, number, span, ty, may_be_argument: false })
    }

    /// Parses items separated by commas, and the closing bracket. The opening one was parsed
    /// before.
    pub(crate) fn list(
        &mut self,
        close: TokenKind,
        mut item: impl FnMut(&mut Self) -> ReadResult,
    ) -> ReadResult {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(TokenKind::Comma) {
                return Err(self.expected(&format!("{} or ','", spelling(close))));
            }
        }
    }

    /// Sets an attribute by its name.
    pub(crate) fn set_attr(&mut self, name: &str, attr: Attr) {
        let name = self.name(name);
        self.set_attr_named(name, attr);
    }

    pub(crate) fn set_attr_named(&mut self, name: Name, attr: Attr) {
        match self.out.attrs.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1 = attr,
            None => self.out.attrs.push((name, attr)),
        }
    }

    pub(crate) fn int_attr(&mut self, value: i64, ty: Type) -> Attr {
        self.env.interner.intern_attr(crate::AttrData::Int { value: value.into(), ty })
    }

    /// Returns the type `i32`.
    pub(crate) fn i32_type(&mut self) -> Type {
        self.env
            .interner
            .intern_type(crate::TypeData::Int { width: 32, sign: crate::Sign::Signless })
    }

    /// Returns `array<i32: 1, 2>` or, with [`Type::I64`], `array<i64: 1, 2>`.
    pub(crate) fn dense_array(&mut self, element: Type, values: &[i64]) -> Attr {
        let values = values.iter().map(|it| self.int_attr(*it, element)).collect();
        self.env.interner.intern_attr(crate::AttrData::DenseArray { element, values })
    }
}

/// Returns the name of a token in messages.
pub(crate) fn spelling(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Bare => "a keyword",
        TokenKind::At => "a symbol name",
        TokenKind::Percent => "an SSA value",
        TokenKind::Caret => "a block name",
        TokenKind::Hash | TokenKind::HashBody => "an attribute",
        TokenKind::Bang | TokenKind::BangBody => "a type",
        TokenKind::Int => "an integer",
        TokenKind::Float => "a number",
        TokenKind::Str => "a string",
        TokenKind::Colon => "':'",
        TokenKind::Comma => "','",
        TokenKind::LParen => "'('",
        TokenKind::RParen => "')'",
        TokenKind::LBrace => "'{'",
        TokenKind::RBrace => "'}'",
        TokenKind::LSquare => "'['",
        TokenKind::RSquare => "']'",
        TokenKind::Less => "'<'",
        TokenKind::Greater => "'>'",
        TokenKind::Equal => "'='",
        TokenKind::Plus => "'+'",
        TokenKind::Star => "'*'",
        TokenKind::Minus => "'-'",
        TokenKind::Arrow => "'->'",
        TokenKind::Question => "'?'",
        TokenKind::Bar => "'|'",
        TokenKind::Slash => "'/'",
        TokenKind::Ellipsis => "'...'",
        TokenKind::FileMetaOpen => "'{-#'",
        TokenKind::FileMetaClose => "'#-}'",
        TokenKind::Region => "a region",
        TokenKind::Split | TokenKind::Error | TokenKind::Eof => "the end of the op",
    }
}
