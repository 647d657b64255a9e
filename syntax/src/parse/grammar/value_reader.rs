//! Parses types and attributes: short ones by hand, others with the grammar.
//!
//! There are three ways, tried in this order:
//! 1. *Single tokens* (`i32`, `!noisy.i32`, `42`, `true`) are looked up or created directly.
//! 2. *Cached texts*: a text without aliases always has the same meaning, so a text that was parsed
//!    before is looked up. Only its brackets are matched.
//! 3. *The grammar* (`values.rs`). Its trees are lowered, and numbers are checked against their
//!    types.

use super::ast::{AttrTree, ExprTree, Literal, LocTree, TypeTree};
use super::elements;
use super::error::SyntaxError;
use super::reader::{ReadResult, Reader, ReportedError};
use super::resolve_types::{ExprInputs, MAX_TERMS};
use super::spelling::{MAX_WIDTH, may_mention_alias, split_dialect, type_word};
use super::values::{GRAMMAR, Grammar, int_type};
use super::words::{self, MAX_DEPTH, Until, Word, Words};
use super::{Alias, ParsedItem};
use crate::affine::{Affine, AffineBody, AffineExpr};
use crate::op_traits::DYNAMIC;
use crate::{Attr, AttrData, Code, Sign, Span, TokenKind, Type, TypeData};

/// Returns the type inside HEIR's `!secret.secret<..>`, from its canonical name; `None` for nested
/// secrets.
fn secret_body(canonical: &str) -> Option<&str> {
    let body = canonical.strip_prefix("secret.secret<")?.strip_suffix('>')?;
    (!body.contains("secret")).then_some(body)
}

impl Reader<'_, '_> {
    /// Parses a type.
    pub(crate) fn ty(&mut self) -> ReadResult<Type> {
        match self.peek() {
            TokenKind::Bare if self.peek_at(1) != TokenKind::Less => {
                let text = self.word();
                let ty = match self.env.interner.cached_type(text) {
                    Some(ty) => ty,
                    None => self.bare_type(text)?,
                };
                self.at += 1;
                Ok(ty)
            }
            TokenKind::Bang | TokenKind::BangBody => {
                let token = self.token();
                let ty = self.bang_type(self.slice(token), token.span())?;
                self.at += 1;
                Ok(ty)
            }
            TokenKind::Bare | TokenKind::LParen => self.long_type(),
            _ => Err(self.expected("a type")),
        }
    }

    /// Parses a type other than a function type.
    pub(crate) fn simple_type(&mut self) -> ReadResult<Type> {
        if self.peek() == TokenKind::LParen {
            Err(self.expected("a non-function type"))
        } else {
            self.ty()
        }
    }

    fn bare_type(&mut self, text: &str) -> ReadResult<Type> {
        let Some(data) = type_word(text) else {
            return Err(match int_type(text) {
                Some(_) => self.error_here(
                    Code::TooWide,
                    format!("integer bitwidth is limited to {MAX_WIDTH} bits"),
                ),
                None => self.expected("a type"),
            });
        };
        let ty = self.env.interner.intern_type(data);
        self.env.interner.cache_type(text, ty);
        Ok(ty)
    }

    /// Returns the type `!alias`, `!dialect.name`, `!dialect.name<body>` or `!dialect<body>`.
    pub(super) fn bang_type(&mut self, text: &str, span: Span) -> ReadResult<Type> {
        if let Some(ty) = self.env.interner.cached_type(text) {
            return Ok(ty);
        }
        let name = &text[1..];
        if !name.contains(['.', '<']) {
            let alias = self.name(text);
            self.use_alias(alias, span);
            return match self.look_up(alias) {
                Some(Alias::Type(ty)) => Ok(ty),
                // An undefined alias is reported when all names are known.
                _ => Ok(Type::UNKNOWN),
            };
        }
        let (dialect, rest) = split_dialect(name);
        if dialect == "noisy" {
            let is_noisy = matches!(rest, "i32" | "<i32>" | "i32<1>")
                || rest.strip_prefix("i32<").is_some_and(|it| it.ends_with('>'));
            if !is_noisy {
                return Err(self.error_at(
                    Code::UnknownType,
                    span,
                    format!(
                        "unknown type `{text}` in dialect `noisy`; its only type is `!noisy.i32`"
                    ),
                ));
            }
            self.env.interner.cache_type(text, Type::NOISY);
            return Ok(Type::NOISY);
        }
        let is_secret = rest.starts_with("secret<") || rest.starts_with("<secret<");
        if dialect == "secret" && !is_secret {
            let message = format!(
                "unknown type `{text}` in dialect `secret`; its only type is `!secret.secret<...>`"
            );
            return Err(self.error_at(Code::UnknownType, span, message));
        }
        if matches!(dialect, "func" | "arith" | "cf" | "scf" | "affine") {
            let message = format!("dialect `{dialect}` has no type `{text}`");
            return Err(self.error_at(Code::UnknownType, span, message));
        }
        let canonical = self.canonical_dialect(name, span)?;
        let name = self.name(&canonical);
        let ty = self.env.interner.intern_type(TypeData::Dialect(name));
        if let Some(body) = secret_body(&canonical)
            && self.env.interner.secret_element(ty).is_none()
        {
            let element = self.parse_type_text(body);
            self.env.interner.set_secret_element(ty, element);
        }
        if !may_mention_alias(text) {
            self.env.interner.cache_type(text, ty);
        }
        Ok(ty)
    }

    /// Parses a text without aliases as a type; [`Type::UNKNOWN`] if this fails.
    fn parse_type_text(&mut self, text: &str) -> Type {
        let mut tokens = crate::lex::lex(text).tokens;
        tokens.pop();
        let mut out = ParsedItem::default();
        let mut reader = Reader {
            text,
            tokens: &tokens,
            at: 0,
            env: &mut *self.env,
            out: &mut out,
            is_quiet: true,
            n_silenced: 0,
            n_regions: 0,
            header_arguments: Vec::new(),
        };
        match reader.ty() {
            Ok(ty) if reader.at == tokens.len() => ty,
            _ => Type::UNKNOWN,
        }
    }

    /// Returns the end of the value at the current token, and true if the value can be cached by
    /// its text, which has no alias.
    pub(super) fn value_extent(&mut self, until: Until) -> ReadResult<(usize, bool)> {
        match words::value_end(self.tokens, self.at, until) {
            Ok(end) => {
                let is_alias = |it: &crate::Token| match it.kind {
                    TokenKind::Hash | TokenKind::Percent => true,
                    TokenKind::Bang => !self.text[it.range()].contains('.'),
                    TokenKind::HashBody | TokenKind::BangBody => {
                        may_mention_alias(&self.text[it.range()])
                    }
                    _ => false,
                };
                Ok((end, !self.tokens[self.at..end].iter().any(is_alias)))
            }
            Err(at) => {
                self.at = at;
                let message = format!("brackets are nested more than {MAX_DEPTH} deep");
                Err(self.error_here(Code::NestingTooDeep, message))
            }
        }
    }

    fn text_of(&self, end: usize) -> &str {
        let (from, to) = (self.token().start, self.tokens[end - 1].end);
        &self.text[from as usize..to as usize]
    }

    /// Parses a value with the grammar.
    pub(super) fn parse<O>(
        &mut self,
        end: usize,
        rule: impl for<'a> Fn(&Grammar<'a>, Words<'a>) -> Result<(ParseTree<'a>, usize), SyntaxError>,
        lower: impl FnOnce(&mut Self, ParseTree<'_>) -> ReadResult<O>,
    ) -> ReadResult<O> {
        let words = words::words(self.text, self.tokens, self.at, end);
        // A region other than an empty dictionary is no word of a value: `words` is then shorter.
        let parsed = GRAMMAR.with(|it| rule(it.get(), &words));
        match parsed {
            Ok((tree, n)) => {
                let value = lower(self, tree)?;
                self.at = words.get(n).map_or(end, |it| it.token as usize);
                Ok(value)
            }
            Err(wrong) => Err(self.report_grammar_error(&words, end, &wrong)),
        }
    }

    #[cold]
    fn report_grammar_error(
        &mut self,
        words: &[Word<'_>],
        end: usize,
        wrong: &SyntaxError,
    ) -> ReportedError {
        if let Some(word) = words.get(wrong.at)
            && word.kind == TokenKind::Error
        {
            return self.lexical(self.tokens[word.token as usize]);
        }
        if wrong.at >= words.len()
            && self.tokens.get(end).is_some_and(|it| it.kind == TokenKind::Error)
        {
            return self.lexical(self.tokens[end]);
        }
        let at = match wrong.at.checked_sub(1).and_then(|it| words.get(it)) {
            Some(before) => before.span().end,
            None => self.end_before(),
        };
        self.error_at(Code::ExpectedToken, Span::new(at, at), wrong.message())
    }

    fn long_type(&mut self) -> ReadResult<Type> {
        let (end, is_pure) = self.value_extent(Until::Colon)?;
        if is_pure && let Some(ty) = self.env.interner.cached_type(self.text_of(end)) {
            self.at = end;
            return Ok(ty);
        }
        let from = self.at;
        let n_problems = self.n_problems();
        let ty = self.parse(
            end,
            |grammar, words| run_rule(&grammar.ty, words, ParseTree::Type),
            |it, raw| match raw {
                ParseTree::Type(tree) => it.lower_type(&tree),
                _ => Err(ReportedError),
            },
        )?;
        if is_pure && self.at == end && n_problems == self.n_problems() {
            let key =
                &self.text[self.tokens[from].start as usize..self.tokens[end - 1].end as usize];
            self.env.interner.cache_type(key, ty);
        }
        Ok(ty)
    }

    /// Parses an attribute.
    pub(crate) fn attr(&mut self) -> ReadResult<Attr> {
        match self.peek() {
            TokenKind::Int
                if self.peek_at(1) == TokenKind::Colon && self.peek_at(2) == TokenKind::Bare =>
            {
                // `42 : i32`
                let word = self.slice(self.tokens[self.at + 2]);
                if let Some(&TypeData::Int { width: width @ 8..=64, sign: Sign::Signless }) =
                    self.env.interner.cached_type(word).map(|it| self.env.interner.type_data(it))
                    && let Ok(value) = self.word().parse::<u32>()
                    && (width > 32 || u64::from(value) < 1 << (width - 1))
                {
                    let ty = self.env.interner.cached_type(word).unwrap_or(Type::I64);
                    self.at += 3;
                    return Ok(self.int_attr(value.into(), ty));
                }
                self.long_attr()
            }
            TokenKind::Bare
                if self.peek_at(1) != TokenKind::Less
                    && matches!(self.word(), "true" | "false") =>
            {
                let value = self.bump();
                let value = self.slice(value) == "true";
                Ok(self.env.interner.intern_attr(AttrData::Bool(value)))
            }
            TokenKind::Str if self.peek_at(1) != TokenKind::Colon => {
                let token = self.bump();
                let name = self.string(token.span());
                Ok(self.env.interner.intern_attr(AttrData::String(name, None)))
            }
            _ => self.long_attr(),
        }
    }

    fn long_attr(&mut self) -> ReadResult<Attr> {
        self.cached_attr(|grammar, words| run_rule(&grammar.attr, words, ParseTree::Attr), true)
    }

    fn cached_attr(
        &mut self,
        rule: impl for<'a> Fn(&Grammar<'a>, Words<'a>) -> Result<(ParseTree<'a>, usize), SyntaxError>,
        until_value: bool,
    ) -> ReadResult<Attr> {
        let until = if until_value { Until::Value } else { Until::Colon };
        let (end, is_pure) = self.value_extent(until)?;
        if end == self.at {
            return Err(self.expected("an attribute value"));
        }
        if is_pure && let Some(attr) = self.env.interner.cached_attr(self.text_of(end)) {
            self.at = end;
            return Ok(attr);
        }
        let from = self.at;
        let n_problems = self.n_problems();
        let attr = self.parse(end, rule, |it, raw| match raw {
            ParseTree::Attr(tree) => it.lower_attr(&tree),
            _ => Err(ReportedError),
        })?;
        if is_pure && self.at == end && n_problems == self.n_problems() {
            let key =
                &self.text[self.tokens[from].start as usize..self.tokens[end - 1].end as usize];
            self.env.interner.cache_attr(key, attr);
        }
        Ok(attr)
    }

    /// Parses an optional `{a = 1, b}`.
    pub(crate) fn opt_dict(&mut self) -> ReadResult<Option<Attr>> {
        match self.peek() {
            TokenKind::Region if self.is_empty_region() => {
                self.at += 1;
                Ok(None)
            }
            TokenKind::LBrace => self
                .cached_attr(
                    |grammar, words| run_rule(&grammar.dict, words, ParseTree::Attr),
                    false,
                )
                .map(Some),
            _ => Ok(None),
        }
    }

    /// Returns true if the current token is an empty region, `{}`, which may also be an empty
    /// dictionary.
    pub(crate) fn is_empty_region(&self) -> bool {
        if self.peek() != TokenKind::Region {
            return false;
        }
        let text = self.word();
        // A fast path for the usual `{}`. Otherwise, the region may contain only blanks and
        // comments.
        text == "{}"
            || text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).is_some_and(|it| {
                let it = it.trim_start_matches([' ', '\t', '\r', '\n', '\0']);
                // Both characters end a comment.
                let mut lines = it.split(['\n', '\r']);
                it.is_empty()
                    || it.starts_with("//")
                        && lines.all(|line| {
                            let line = line.trim_start_matches([' ', '\t', '\0']);
                            line.is_empty() || line.starts_with("//")
                        })
            })
    }

    /// Parses an optional `{a = 1, b}` and adds it to the attributes of the op.
    pub(crate) fn attr_dict(&mut self) -> ReadResult {
        if !matches!(self.peek(), TokenKind::LBrace | TokenKind::Region) {
            return Ok(());
        }
        if let Some(dict) = self.opt_dict()? {
            self.add_dict(dict);
        }
        Ok(())
    }

    pub(crate) fn add_dict(&mut self, dict: Attr) {
        let AttrData::Dict(entries) = self.env.interner.attr_data(dict) else { return };
        // Names within a dictionary are distinct.
        let n_before = self.out.attrs.len();
        for &(name, attr) in entries {
            match self.out.attrs[..n_before].iter_mut().find(|it| it.0 == name) {
                Some(it) => it.1 = attr,
                None => self.out.attrs.push((name, attr)),
            }
        }
    }

    /// Parses the expressions of `[%i + 1, symbol(%n)]`, between the brackets, as a map and its
    /// operands.
    pub(crate) fn ssa_exprs(&mut self) -> ReadResult<(Affine, Vec<super::ParsedOperand>)> {
        if let Some(plain) = self.plain_exprs() {
            return Ok(plain);
        }
        // The extent starts at the opening bracket, so that it ends with the closing one.
        self.at -= 1;
        let (end, _) = self.value_extent(Until::Colon)?;
        self.at += 1;
        self.exprs_until(end)
    }

    /// Parses affine expressions of SSA values up to token `end`.
    fn exprs_until(&mut self, end: usize) -> ReadResult<(Affine, Vec<super::ParsedOperand>)> {
        self.parse(
            end,
            |grammar, words| run_rule(&grammar.exprs, words, ParseTree::Exprs),
            |it, raw| match raw {
                ParseTree::Exprs(trees) => it.lower_exprs(&trees),
                _ => Err(ReportedError),
            },
        )
    }

    /// Parses `%i, %j` up to the `]`: SSA values without arithmetic, as in most accesses.
    fn plain_exprs(&mut self) -> Option<(Affine, Vec<super::ParsedOperand>)> {
        let n = self.tokens[self.at..]
            .chunks(2)
            .take(MAX_TERMS)
            .position(|it| !matches!(it, [a, b, ..] if a.kind == TokenKind::Percent && b.kind == TokenKind::Comma));
        let n = n.unwrap_or(0);
        let last = self.at + 2 * n;
        let is_plain = self.tokens.get(last).is_some_and(|it| it.kind == TokenKind::Percent)
            && self.tokens.get(last + 1).is_some_and(|it| it.kind == TokenKind::RSquare);
        if !is_plain {
            return None;
        }
        let mut operands: Vec<super::ParsedOperand> = Vec::with_capacity(n + 1);
        let mut results = Vec::with_capacity(n + 1);
        for i in 0..=n {
            let operand = self.value(Type::INDEX).ok()?;
            let at = operands.iter().position(|it| it.name == operand.name);
            results.push(AffineExpr::Dim(at.unwrap_or(operands.len()) as u32));
            if at.is_none() {
                operands.push(operand);
            }
            self.at += usize::from(i < n);
        }
        let n_dims = operands.len() as u32;
        Some((Affine { n_dims, n_symbols: 0, body: AffineBody::Map(results) }, operands))
    }

    /// Parses one affine expression of SSA values, up to a comma or closing bracket.
    pub(crate) fn ssa_expr(&mut self) -> ReadResult<(Affine, Vec<super::ParsedOperand>)> {
        let mut depth = 0usize;
        let mut end = self.at;
        while let Some(token) = self.tokens.get(end) {
            match token.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen | TokenKind::Comma if depth == 0 => break,
                TokenKind::RParen => depth -= 1,
                _ => {}
            }
            if depth > MAX_DEPTH {
                self.at = end;
                let message = format!("brackets are nested more than {MAX_DEPTH} deep");
                return Err(self.error_here(Code::NestingTooDeep, message));
            }
            end += 1;
        }
        if end == self.at {
            return Err(self.expected("an affine expression"));
        }
        self.exprs_until(end)
    }

    /// Parses `dense<..>` without a type, as elements of type `ty`.
    pub(crate) fn dense_elements(&mut self, ty: Type) -> ReadResult<Attr> {
        let (end, _) = self.value_extent(Until::Colon)?;
        self.parse(
            end,
            |grammar, words| {
                run_rule(&grammar.elements, words, |(word, it)| ParseTree::Elements(word, it))
            },
            |it, raw| match raw {
                ParseTree::Elements(word, literal) => {
                    let text = elements::dense_elements_text(it, &word, literal.as_ref(), ty)?;
                    let text = it.name(&text);
                    Ok(it.env.interner.intern_attr(AttrData::Elements(text, ty)))
                }
                _ => Err(ReportedError),
            },
        )
    }

    fn lower_exprs(
        &mut self,
        trees: &[ExprTree<'_>],
    ) -> ReadResult<(Affine, Vec<super::ParsedOperand>)> {
        let mut inputs = ExprInputs::Values { dims: Vec::new(), symbols: Vec::new() };
        let mut results = Vec::with_capacity(trees.len());
        for tree in trees {
            results.push(self.lower_expr(tree, &mut inputs)?);
            if results.len() > MAX_TERMS {
                let message = format!("more than {MAX_TERMS} affine expressions");
                return Err(self.error_here(Code::TooMany, message));
            }
        }
        let ExprInputs::Values { dims, symbols } = inputs else { return Err(ReportedError) };
        let map = Affine {
            n_dims: dims.len() as u32,
            n_symbols: symbols.len() as u32,
            body: AffineBody::Map(results),
        };
        Ok((map, dims.into_iter().chain(symbols).collect()))
    }

    /// Returns true for the ops of `tensor` with lists of offsets, sizes and strides.
    pub(super) fn is_slice(&self) -> bool {
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        matches!(name, "tensor.extract_slice" | "tensor.insert_slice")
    }

    /// Returns the list of integers and operands that starts here. Its tokens are skipped later.
    pub(super) fn static_list(&self) -> Option<Vec<i64>> {
        let mut out = Vec::new();
        let mut rest = self.tokens.get(self.at + 1..)?.iter().peekable();
        while rest.next_if(|it| it.kind == TokenKind::RSquare).is_none() {
            let sign =
                if rest.next_if(|it| it.kind == TokenKind::Minus).is_some() { -1 } else { 1 };
            let token = rest.next()?;
            out.push(match token.kind {
                TokenKind::Percent => DYNAMIC,
                TokenKind::Int => sign * self.slice(*token).parse::<i64>().ok()?,
                _ => return None,
            });
            rest.next_if(|it| it.kind == TokenKind::Hash);
            if rest.next_if(|it| it.kind == TokenKind::Comma).is_none() {
                return (rest.next()?.kind == TokenKind::RSquare).then_some(out);
            }
        }
        Some(out)
    }
}

/// The syntax tree that a rule of the grammar returns.
pub(super) enum ParseTree<'a> {
    Type(TypeTree<'a>),
    Attr(AttrTree<'a>),
    Location(LocTree<'a>),
    Exprs(Vec<ExprTree<'a>>),
    Elements(Word<'a>, Option<Literal<'a>>),
}

/// Returns true if an integer fits into 32 bits.
pub(super) fn has_32_bits(text: &str) -> bool {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).is_ok(),
        None => text.parse::<u32>().is_ok(),
    }
}

/// Applies a rule of the grammar to some words.
pub(super) fn run_rule<'a, X>(
    rule: &impl chumsky::Parser<'a, Words<'a>, (X, usize), chumsky::extra::Err<SyntaxError>>,
    words: Words<'a>,
    wrap: impl Fn(X) -> ParseTree<'a>,
) -> Result<(ParseTree<'a>, usize), SyntaxError> {
    match rule.parse(words).into_output_errors() {
        (Some((tree, n)), _) => Ok((wrap(tree), n)),
        (None, mut errors) => Err(errors.swap_remove(0)),
    }
}
