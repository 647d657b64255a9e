//! Types and attributes: the short ways by hand, the long way through the grammar, and what their trees mean.
//!
//! Three ways, tried in this order:
//! 1. *Single tokens* (`i32`, `!noisy.i32`, `42`, `true`) are looked up or made at once.
//! 2. *Remembered texts*: a text without aliases always means the same, so what was read once is found by its spelling. The tokens
//!    are only counted for brackets.
//! 3. *The grammar* (`values.rs`), whose trees are lowered here. This is where numbers are held against their types.

use super::elements;
use super::reader::{Broken, Reader, Res};
use super::values::{
    AttrTree, Compare, DimTree, ExprTree, GRAMMAR, Grammar, Literal, LocTree, MapTree, Number, TypeTree,
    Words, Wrong, float_keyword, int_type,
};
use super::words::{self, MAX_DEPTH, Until, Word};
use crate::affine::{Affine, Body, Expr, Operator};
use crate::{Attr, AttrData, Dim, Name, Sign, Span, T, Type, TypeData};

/// Integer types may be this wide.
const MAX_WIDTH: u32 = 16_777_215;

/// A sum or product may have this many terms.
const MAX_TERMS: usize = 1000;

impl Reader<'_, '_> {
    /// A type.
    pub(super) fn ty(&mut self) -> Res<Type> {
        match self.peek() {
            T::Bare if self.peek_at(1) != T::Less => {
                let text = self.word();
                let ty = match self.env.interner.type_of_text(text) {
                    Some(ty) => ty,
                    None => self.bare_type(text)?,
                };
                self.at += 1;
                Ok(ty)
            }
            T::Bang | T::BangBody => {
                let token = self.token();
                let ty = self.bang_type(self.slice(token), token.span())?;
                self.at += 1;
                Ok(ty)
            }
            T::Bare | T::LParen => self.long_type(),
            _ => Err(self.expected("a type")),
        }
    }

    /// A type that is no function type.
    pub(super) fn simple_type(&mut self) -> Res<Type> {
        if self.peek() == T::LParen { Err(self.expected("a non-function type")) } else { self.ty() }
    }

    fn bare_type(&mut self, text: &str) -> Res<Type> {
        let Some(data) = type_word(text) else {
            return Err(match int_type(text) {
                Some(_) => self.wrong("too-wide", format!("integer bitwidth is limited to {MAX_WIDTH} bits")),
                None => self.expected("a type"),
            });
        };
        let ty = self.env.interner.ty(data);
        self.env.interner.remember_type(text, ty);
        Ok(ty)
    }

    /// `!alias`, `!dialect.name`, `!dialect.name<body>`, `!dialect<body>`.
    fn bang_type(&mut self, text: &str, span: Span) -> Res<Type> {
        if let Some(ty) = self.env.interner.type_of_text(text) {
            return Ok(ty);
        }
        let name = &text[1..];
        if !name.contains(['.', '<']) {
            let alias = self.name(text);
            self.out.alias_uses.push((alias, span));
            return match self.env.aliases.types.get(&alias) {
                Some(ty) => Ok(*ty),
                // Names are judged by who knows the order of the file.
                None => Ok(Type::UNKNOWN),
            };
        }
        let (dialect, rest) = split_dialect(name);
        if dialect == "noisy" {
            let is_noisy = matches!(rest, "i32" | "<i32>" | "i32<1>")
                || rest.strip_prefix("i32<").is_some_and(|it| it.ends_with('>'));
            if !is_noisy {
                return Err(self.broken(
                    "unknown-type",
                    span,
                    format!("unknown type `{text}` in dialect `noisy`; its only type is `!noisy.i32`"),
                ));
            }
            self.env.interner.remember_type(text, Type::NOISY);
            return Ok(Type::NOISY);
        }
        if matches!(dialect, "func" | "arith" | "cf" | "scf" | "affine") {
            let message = format!("dialect `{dialect}` has no type `{text}`");
            return Err(self.broken("unknown-type", span, message));
        }
        let canonical = canonical_dialect(name);
        let name = self.name(&canonical);
        let ty = self.env.interner.ty(TypeData::Dialect(name));
        self.env.interner.remember_type(text, ty);
        Ok(ty)
    }

    /// The tokens of the value here, and whether it may be remembered by its text (no alias in it).
    fn value_extent(&mut self, until: Until) -> Res<(usize, bool)> {
        match words::extent(self.tokens, self.at, until) {
            Ok(end) => {
                let is_alias = |it: &crate::Token| match it.kind {
                    T::Hash | T::Percent => true,
                    T::Bang => !self.text[it.range()].contains('.'),
                    _ => false,
                };
                Ok((end, !self.tokens[self.at..end].iter().any(is_alias)))
            }
            Err(at) => {
                self.at = at;
                let message = format!("brackets nest deeper than {MAX_DEPTH}");
                Err(self.wrong("nesting-too-deep", message))
            }
        }
    }

    fn text_of(&self, end: usize) -> &str {
        let (from, to) = (self.token().start, self.tokens[end - 1].end);
        &self.text[from as usize..to as usize]
    }

    /// Reads a value with the grammar.
    fn parse<O>(
        &mut self,
        end: usize,
        rule: impl for<'a> Fn(&Grammar<'a>, Words<'a>) -> Result<(Raw<'a>, usize), Wrong>,
        lower: impl FnOnce(&mut Self, Raw<'_>) -> Res<O>,
    ) -> Res<O> {
        let words = words::words(self.text, self.tokens, self.at, end);
        // A region that is no empty dictionary is no word of a value.
        let parsed = GRAMMAR.with(|it| rule(it.get(), &words));
        match parsed {
            Ok((tree, n)) => {
                let value = lower(self, tree)?;
                self.at = words.get(n).map_or(end, |it| it.token as usize);
                Ok(value)
            }
            Err(wrong) => Err(self.tell(&words, end, &wrong)),
        }
    }

    #[cold]
    fn tell(&mut self, words: &[Word<'_>], end: usize, wrong: &Wrong) -> Broken {
        if let Some(word) = words.get(wrong.at)
            && word.kind == T::Error
        {
            return self.lexical(self.tokens[word.token as usize]);
        }
        if wrong.at >= words.len() && self.tokens.get(end).is_some_and(|it| it.kind == T::Error) {
            return self.lexical(self.tokens[end]);
        }
        let at = match wrong.at.checked_sub(1).and_then(|it| words.get(it)) {
            Some(before) => before.span().end,
            None => self.end_before(),
        };
        self.broken("expected-token", Span::new(at, at), wrong.message())
    }

    fn long_type(&mut self) -> Res<Type> {
        let (end, is_pure) = self.value_extent(Until::Colon)?;
        if is_pure && let Some(ty) = self.env.interner.type_of_text(self.text_of(end)) {
            self.at = end;
            return Ok(ty);
        }
        let from = self.at;
        let n_problems = self.out.problems.len();
        let ty = self.parse(
            end,
            |grammar, words| run(&grammar.ty, words, Raw::Type),
            |it, raw| match raw {
                Raw::Type(tree) => it.lower_type(&tree),
                _ => Err(Broken),
            },
        )?;
        if is_pure && self.at == end && n_problems == self.out.problems.len() {
            let key = &self.text[self.tokens[from].start as usize..self.tokens[end - 1].end as usize];
            self.env.interner.remember_type(key, ty);
        }
        Ok(ty)
    }

    /// An attribute.
    pub(super) fn attr(&mut self) -> Res<Attr> {
        match self.peek() {
            T::Int if self.peek_at(1) == T::Colon && self.peek_at(2) == T::Bare => {
                // `42 : i32`
                let word = self.slice(self.tokens[self.at + 2]);
                if let Some(&TypeData::Int { width: width @ 8..=64, sign: Sign::Signless }) =
                    self.env.interner.type_of_text(word).map(|it| self.env.interner.type_data(it))
                    && let Ok(value) = self.word().parse::<u32>()
                    && (width > 32 || u64::from(value) < 1 << (width - 1))
                {
                    let ty = self.env.interner.type_of_text(word).unwrap_or(Type::I64);
                    self.at += 3;
                    return Ok(self.int_attr(value.into(), ty));
                }
                self.long_attr()
            }
            T::Bare if self.peek_at(1) != T::Less && matches!(self.word(), "true" | "false") => {
                let value = self.bump();
                let value = self.slice(value) == "true";
                Ok(self.env.interner.attr(AttrData::Bool(value)))
            }
            T::Str if self.peek_at(1) != T::Colon => {
                let token = self.bump();
                let name = self.string(token.span());
                Ok(self.env.interner.attr(AttrData::String(name, None)))
            }
            _ => self.long_attr(),
        }
    }

    fn long_attr(&mut self) -> Res<Attr> {
        self.remembered_attr(|grammar, words| run(&grammar.attr, words, Raw::Attr), true)
    }

    fn remembered_attr(
        &mut self,
        rule: impl for<'a> Fn(&Grammar<'a>, Words<'a>) -> Result<(Raw<'a>, usize), Wrong>,
        until_value: bool,
    ) -> Res<Attr> {
        let until = if until_value { Until::Value } else { Until::Colon };
        let (end, is_pure) = self.value_extent(until)?;
        if end == self.at {
            return Err(self.expected("an attribute value"));
        }
        if is_pure && let Some(attr) = self.env.interner.attr_of_text(self.text_of(end)) {
            self.at = end;
            return Ok(attr);
        }
        let from = self.at;
        let n_problems = self.out.problems.len();
        let attr = self.parse(end, rule, |it, raw| match raw {
            Raw::Attr(tree) => it.lower_attr(&tree),
            _ => Err(Broken),
        })?;
        if is_pure && self.at == end && n_problems == self.out.problems.len() {
            let key = &self.text[self.tokens[from].start as usize..self.tokens[end - 1].end as usize];
            self.env.interner.remember_attr(key, attr);
        }
        Ok(attr)
    }

    /// `{a = 1, b}` if there is one here.
    pub(super) fn opt_dict(&mut self) -> Res<Option<Attr>> {
        match self.peek() {
            T::Region if self.is_empty_region() => {
                self.at += 1;
                Ok(None)
            }
            T::LBrace => {
                self.remembered_attr(|grammar, words| run(&grammar.dict, words, Raw::Attr), false)
                    .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether the region here is `{}`, which may as well be an empty dictionary.
    pub(super) fn is_empty_region(&self) -> bool {
        if self.peek() != T::Region {
            return false;
        }
        let text = self.word();
        // Short for the usual `{}`; else nothing but blanks and comments.
        text == "{}"
            || text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).is_some_and(|it| {
                it.lines().all(|line| {
                    let line = line.trim_start_matches([' ', '\t', '\r', '\0']);
                    line.is_empty() || line.starts_with("//")
                })
            })
    }

    /// `{a = 1, b}` or nothing, added to the attributes of the op.
    pub(super) fn attr_dict(&mut self) -> Res {
        if !matches!(self.peek(), T::LBrace | T::Region) {
            return Ok(());
        }
        if let Some(dict) = self.opt_dict()? {
            self.add_dict(dict);
        }
        Ok(())
    }

    pub(super) fn add_dict(&mut self, dict: Attr) {
        let AttrData::Dict(entries) = self.env.interner.attr_data(dict) else { return };
        for &(name, attr) in entries {
            match self.out.attrs.iter_mut().find(|it| it.0 == name) {
                Some(it) => it.1 = attr,
                None => self.out.attrs.push((name, attr)),
            }
        }
    }

    /// `loc(...)` or nothing.
    pub(super) fn opt_location(&mut self) -> Res {
        if !self.is_word("loc") {
            return Ok(());
        }
        self.at += 1;
        if self.peek() != T::LParen {
            return Err(self.expected("'(' in location"));
        }
        let (end, _) = self.value_extent(Until::Colon)?;
        self.parse(
            end,
            |grammar, words| run(&grammar.location, words, Raw::Location),
            |it, raw| match raw {
                // An alias directly in `loc(#x)` may be defined later, or in another place: no use that could be wrong.
                Raw::Location(LocTree::Alias(_)) => Ok(()),
                Raw::Location(tree) => it.check_location(&tree),
                _ => Err(Broken),
            },
        )
    }

    fn check_location(&mut self, tree: &LocTree<'_>) -> Res {
        match tree {
            LocTree::Alias(word) => {
                self.hash_attr(word, None)?;
            }
            LocTree::Leaf => {}
            LocTree::Node(attr, inner) => {
                if let Some(attr) = attr {
                    self.lower_attr(attr)?;
                }
                for it in inner {
                    self.check_location(it)?;
                }
            }
        }
        Ok(())
    }

    /// The expressions of `[%i + 1, symbol(%n)]`, behind the `[`, up to the `]`: a map and its operands.
    pub(super) fn ssa_exprs(&mut self) -> Res<(Affine, Vec<crate::ParsedOperand>)> {
        // From the bracket on, so that the extent ends with its partner.
        self.at -= 1;
        let (end, _) = self.value_extent(Until::Colon)?;
        self.at += 1;
        self.parse(
            end,
            |grammar, words| run(&grammar.exprs, words, Raw::Exprs),
            |it, raw| match raw {
                Raw::Exprs(trees) => it.lower_exprs(&trees),
                _ => Err(Broken),
            },
        )
    }

    /// One such expression, up to a comma or closing bracket.
    pub(super) fn ssa_expr(&mut self) -> Res<(Affine, Vec<crate::ParsedOperand>)> {
        let mut depth = 0usize;
        let mut end = self.at;
        while let Some(token) = self.tokens.get(end) {
            match token.kind {
                T::LParen => depth += 1,
                T::RParen | T::Comma if depth == 0 => break,
                T::RParen => depth -= 1,
                _ => {}
            }
            if depth > MAX_DEPTH {
                self.at = end;
                let message = format!("brackets nest deeper than {MAX_DEPTH}");
                return Err(self.wrong("nesting-too-deep", message));
            }
            end += 1;
        }
        if end == self.at {
            return Err(self.expected("an affine expression"));
        }
        self.parse(
            end,
            |grammar, words| run(&grammar.exprs, words, Raw::Exprs),
            |it, raw| match raw {
                Raw::Exprs(trees) => it.lower_exprs(&trees),
                _ => Err(Broken),
            },
        )
    }

    /// `dense<..>` whose type is known from elsewhere.
    pub(super) fn elements_of(&mut self, ty: Type) -> Res<Attr> {
        let (end, _) = self.value_extent(Until::Colon)?;
        self.parse(
            end,
            |grammar, words| run(&grammar.elements, words, |(word, it)| Raw::Elements(word, it)),
            |it, raw| match raw {
                Raw::Elements(word, literal) => {
                    let text = elements::dense(it, &word, literal.as_ref(), ty)?;
                    let text = it.name(&text);
                    Ok(it.env.interner.attr(AttrData::Elements(text, ty)))
                }
                _ => Err(Broken),
            },
        )
    }

    fn lower_exprs(&mut self, trees: &[ExprTree<'_>]) -> Res<(Affine, Vec<crate::ParsedOperand>)> {
        let mut inputs = Inputs::Values { dims: Vec::new(), symbols: Vec::new() };
        let mut results = Vec::with_capacity(trees.len());
        for tree in trees {
            results.push(self.lower_expr(tree, &mut inputs)?);
        }
        let Inputs::Values { dims, symbols } = inputs else { return Err(Broken) };
        let map = Affine {
            n_dims: dims.len() as u32,
            n_symbols: symbols.len() as u32,
            body: Body::Map(results),
        };
        Ok((map, dims.into_iter().chain(symbols).collect()))
    }

    // From trees to data.

    pub(super) fn lower_type(&mut self, tree: &TypeTree<'_>) -> Res<Type> {
        let data = match tree {
            TypeTree::Word(word) => {
                if word.kind != T::Bare {
                    return self.bang_type(word.text, word.span());
                }
                let Some(data) = type_word(word.text) else {
                    let message = format!("integer bitwidth is limited to {MAX_WIDTH} bits");
                    return Err(self.broken("too-wide", word.span(), message));
                };
                data
            }
            TypeTree::Function(inputs, results) => TypeData::Function {
                inputs: self.lower_types(inputs)?,
                results: self.lower_types(results)?,
            },
            TypeTree::Tuple(types) => TypeData::Tuple(self.lower_types(types)?),
            TypeTree::Complex(word, element) => {
                let element = self.lower_type(element)?;
                let data = self.env.interner.type_data(element);
                if !matches!(data, TypeData::Int { .. } | TypeData::Float(_) | TypeData::Unknown) {
                    self.mismatch("invalid-element", word.span(), "invalid element type for complex");
                }
                TypeData::Complex(element)
            }
            TypeTree::Shaped(word, dims, element, rest) => {
                return self.lower_shaped(word, dims.as_deref(), element, rest);
            }
        };
        Ok(self.env.interner.ty(data))
    }

    fn lower_types(&mut self, trees: &[TypeTree<'_>]) -> Res<Box<[Type]>> {
        trees.iter().map(|it| self.lower_type(it)).collect()
    }

    fn lower_shaped(
        &mut self,
        word: &Word<'_>,
        dims: Option<&[DimTree<'_>]>,
        element: &TypeTree<'_>,
        rest: &[AttrTree<'_>],
    ) -> Res<Type> {
        let is_vector = word.text == "vector";
        let dims: Option<Box<[Dim]>> = match dims {
            Some(dims) => Some(dims.iter().map(|it| self.lower_dim(it, is_vector)).collect::<Res<_>>()?),
            None => None,
        };
        let element = self.lower_type(element)?;
        use TypeData as D;
        let data = self.env.interner.type_data(element);
        let fits = match word.text {
            "vector" => {
                matches!(data, D::Int { .. } | D::Float(_) | D::Index | D::Unknown | D::Dialect(_))
            }
            "tensor" => !matches!(
                data,
                D::Function { .. } | D::Tuple(_) | D::None | D::Tensor { .. } | D::MemRef { .. }
            ),
            _ => !matches!(data, D::Function { .. } | D::Tuple(_) | D::None | D::Tensor { .. }),
        };
        if !fits || element == Type::NOISY && word.text != "tensor" {
            self.mismatch("invalid-element", word.span(), format!("invalid {} element type", word.text));
        }
        let data = match word.text {
            "vector" => {
                let Some(dims) = dims else {
                    return Err(self.broken("expected-token", word.span(), "expected a dimension".into()));
                };
                if !rest.is_empty() {
                    return Err(self.broken("expected-token", word.span(), "expected '>'".into()));
                }
                D::Vector { dims, element }
            }
            "tensor" => {
                let encoding = match rest {
                    [] => None,
                    [it] => Some(self.lower_attr(it)?),
                    _ => {
                        let message = "a tensor type has one encoding at most".into();
                        return Err(self.broken("expected-token", word.span(), message));
                    }
                };
                if dims.is_none() && encoding.is_some() {
                    self.mismatch("invalid-type", word.span(), "cannot apply encoding to unranked tensor");
                }
                D::Tensor { dims, element, encoding }
            }
            _ => {
                let mut kept: Vec<Attr> = Vec::new();
                let mut n_spaces = 0;
                for it in rest {
                    let attr = self.lower_attr(it)?;
                    match self.env.interner.attr_data(attr) {
                        AttrData::Affine(map) => {
                            let rank = dims.as_ref().map(|it| it.len() as u32);
                            if rank.is_some_and(|it| it != map.n_dims) || map.is_set() {
                                let message = "memref layout does not agree with the rank";
                                self.mismatch("invalid-type", word.span(), message);
                            } else if *map != Affine::identity(map.n_dims) {
                                kept.push(attr);
                            }
                        }
                        // Space 0 is the default one.
                        AttrData::Int { value: 0, ty } if *ty == Type::I64 => n_spaces += 1,
                        AttrData::Text(text, _) if self.env.interner.str(*text).starts_with("strided<") => {
                            kept.push(attr);
                        }
                        AttrData::Text(..) | AttrData::Unknown => kept.push(attr),
                        _ => {
                            n_spaces += 1;
                            kept.push(attr);
                        }
                    }
                }
                if n_spaces > 1 {
                    self.mismatch("invalid-type", word.span(), "multiple memory spaces in memref type");
                }
                D::MemRef { dims, element, rest: kept.into() }
            }
        };
        Ok(self.env.interner.ty(data))
    }

    fn lower_dim(&mut self, dim: &DimTree<'_>, is_vector: bool) -> Res<Dim> {
        let word = &dim.word;
        if word.kind == T::Question {
            if is_vector {
                let message = "expected a size; vectors have no dynamic dimension".into();
                return Err(self.broken("expected-token", word.span(), message));
            }
            return Ok(Dim::Dynamic);
        }
        let Some(size) = word.text.parse::<u64>().ok().filter(|it| i64::try_from(*it).is_ok()) else {
            return Err(self.broken("invalid-dimension", word.span(), "invalid dimension".into()));
        };
        if is_vector && size == 0 {
            self.mismatch("invalid-dimension", word.span(), "vector types must have positive constant sizes");
        }
        if dim.is_scalable {
            if !is_vector {
                return Err(self.broken("expected-token", word.span(), "expected a size or '?'".into()));
            }
            return Ok(Dim::Scalable(size));
        }
        Ok(Dim::Fixed(size))
    }

    pub(super) fn lower_attr(&mut self, tree: &AttrTree<'_>) -> Res<Attr> {
        let data = match tree {
            AttrTree::Number(number, ty) => return self.lower_number(number, ty.as_deref()),
            AttrTree::Bool(value) => AttrData::Bool(*value),
            AttrTree::Unit => return Ok(Attr::UNIT),
            AttrTree::String(word, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.lower_type(ty)?).filter(|it| *it != Type::NONE),
                    None => None,
                };
                AttrData::String(self.string(word.span()), ty)
            }
            AttrTree::Type(ty) => AttrData::Type(self.lower_type(ty)?),
            AttrTree::Array(list) => {
                AttrData::Array(list.iter().map(|it| self.lower_attr(it)).collect::<Res<_>>()?)
            }
            AttrTree::Dict(entries) => return self.lower_dict(entries),
            AttrTree::Symbol(path) => {
                AttrData::Symbol(path.iter().map(|it| self.symbol_text(it.span())).collect())
            }
            AttrTree::Map(tree) => return self.lower_map(tree, false),
            AttrTree::Set(tree) => return self.lower_map(tree, true),
            AttrTree::Dense(word, literal, ty) => {
                let ty = self.lower_type(ty)?;
                let text = elements::dense(self, word, literal.as_ref(), ty)?;
                AttrData::Elements(self.name(&text), ty)
            }
            AttrTree::Sparse(both, ty) => {
                let ty = self.lower_type(ty)?;
                let text = elements::sparse(both.as_ref());
                AttrData::Elements(self.name(&text), ty)
            }
            AttrTree::Resource(key, ty) => {
                let ty = self.lower_type(ty)?;
                AttrData::Elements(self.name(&format!("dense_resource<{}>", key.text)), ty)
            }
            AttrTree::DenseArray(ty, values) => return elements::dense_array(self, ty, values),
            AttrTree::Strided(strides, offset) => {
                let show = |it: &Number<'_>| format!("{}{}", if it.is_negative { "-" } else { "" }, it.word.text);
                let mut text =
                    format!("strided<[{}]", strides.iter().map(show).collect::<Vec<_>>().join(", "));
                if let Some(offset) = offset.as_ref().filter(|it| it.word.text != "0") {
                    text += &format!(", offset: {}", show(offset));
                }
                text.push('>');
                AttrData::Text(self.name(&text), None)
            }
            AttrTree::Distinct(id, inner) => {
                let inner = match inner {
                    Some(it) => self.lower_attr(it)?,
                    None => Attr::UNIT,
                };
                let mut text = format!("distinct[{}]<", id.map_or("", |it| it.text));
                if inner != Attr::UNIT {
                    crate::print::write_attr(self.env.interner, &mut text, inner);
                }
                text.push('>');
                AttrData::Text(self.name(&text), None)
            }
            AttrTree::Location(tree) => {
                self.check_location(tree)?;
                AttrData::Text(self.name("loc(unknown)"), None)
            }
            AttrTree::Hash(word, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.lower_type(ty)?),
                    None => None,
                };
                return self.hash_attr(word, ty);
            }
        };
        Ok(self.env.interner.attr(data))
    }

    /// `#alias`, `#dialect.name<body>`
    fn hash_attr(&mut self, word: &Word<'_>, ty: Option<Type>) -> Res<Attr> {
        let name = &word.text[1..];
        if !name.contains(['.', '<']) {
            let alias = self.name(word.text);
            self.out.alias_uses.push((alias, word.span()));
            return Ok(self.env.aliases.attrs.get(&alias).copied().unwrap_or(Attr::UNKNOWN));
        }
        let (dialect, _) = split_dialect(name);
        if matches!(dialect, "noisy" | "func" | "cf") {
            let message = format!("dialect `{dialect}` has no attribute `{}`", word.text);
            return Err(self.broken("unknown-attribute", word.span(), message));
        }
        let text = format!("#{}", canonical_dialect(name));
        let text = self.name(&text);
        Ok(self.env.interner.attr(AttrData::Text(text, ty)))
    }

    fn lower_dict(&mut self, entries: &[(Word<'_>, Option<AttrTree<'_>>)]) -> Res<Attr> {
        let mut dict = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let name =
                if key.kind == T::Str { self.string(key.span()) } else { self.name(key.text) };
            let value = match value {
                Some(it) => self.lower_attr(it)?,
                None => Attr::UNIT,
            };
            dict.push((name, value, key.span()));
        }
        let interner = &*self.env.interner;
        dict.sort_by(|a, b| interner.str(a.0).cmp(interner.str(b.0)));
        if let Some(twice) = dict.windows(2).find(|it| it[0].0 == it[1].0) {
            let (name, span) = (twice[1].0, twice[1].2);
            let message = format!("duplicate key '{}' in dictionary", self.env.interner.str(name));
            return Err(self.broken("duplicate-key", span, message));
        }
        let dict = dict.into_iter().map(|(name, value, _)| (name, value)).collect();
        Ok(self.env.interner.attr(AttrData::Dict(dict)))
    }

    fn lower_number(&mut self, number: &Number<'_>, ty: Option<&TypeTree<'_>>) -> Res<Attr> {
        let ty = match ty {
            Some(ty) => Some(self.lower_type(ty)?),
            None => None,
        };
        let default = if number.word.kind == T::Float { Type::F64 } else { Type::I64 };
        let attr = elements::number(self.env.interner, number, ty.unwrap_or(default));
        attr.or_else(|message| {
            self.mismatch("literal-type", number.word.span(), message);
            Ok(Attr::UNKNOWN)
        })
    }

    fn lower_map(&mut self, tree: &MapTree<'_>, is_set: bool) -> Res<Attr> {
        for (at, id) in tree.dims.iter().chain(&tree.symbols).enumerate() {
            if tree.dims.iter().chain(&tree.symbols).take(at).any(|it| it.text == id.text) {
                let message = format!("redefinition of identifier '{}'", id.text);
                return Err(self.broken("redefined-identifier", id.span(), message));
            }
        }
        let mut inputs = Inputs::Ids { dims: &tree.dims, symbols: &tree.symbols };
        let (mut results, mut constraints) = (Vec::new(), Vec::new());
        for (left, compared) in &tree.results {
            let left = self.lower_expr(left, &mut inputs)?;
            match compared {
                None => results.push(left),
                Some((compare, right)) => {
                    let right = self.lower_expr(right, &mut inputs)?;
                    let minus = |a: Expr, b: Expr| Expr::binary(Operator::Add, a, b.negated());
                    constraints.push(match compare {
                        Compare::Greater => (minus(left, right), false),
                        Compare::Less => (minus(right, left), false),
                        Compare::Equal => (minus(left, right), true),
                    });
                }
            }
        }
        let body = if is_set {
            if constraints.is_empty() {
                constraints.push((Expr::Const(0), true));
            }
            Body::Set(constraints)
        } else {
            Body::Map(results)
        };
        let map = Affine {
            n_dims: tree.dims.len() as u32,
            n_symbols: tree.symbols.len() as u32,
            body,
        };
        Ok(self.env.interner.attr(AttrData::Affine(map)))
    }

    fn lower_expr(&mut self, tree: &ExprTree<'_>, inputs: &mut Inputs<'_>) -> Res<Expr> {
        match tree {
            ExprTree::Word(word) if word.kind == T::Int => match word.text.parse() {
                Ok(value) => Ok(Expr::Const(value)),
                Err(_) => {
                    let message = "constant too large for an index".into();
                    Err(self.broken("too-large", word.span(), message))
                }
            },
            ExprTree::Word(word) => {
                if let Inputs::Ids { dims, symbols } = inputs {
                    if let Some(at) = dims.iter().position(|it| it.text == word.text) {
                        return Ok(Expr::Dim(at as u32));
                    }
                    if let Some(at) = symbols.iter().position(|it| it.text == word.text) {
                        return Ok(Expr::Symbol(at as u32));
                    }
                }
                let message = format!("use of undeclared identifier '{}'", word.text);
                Err(self.broken("undeclared-identifier", word.span(), message))
            }
            ExprTree::Use(word, number, is_symbol) => {
                let Inputs::Values { dims, symbols } = inputs else { return Err(Broken) };
                let mut span = word.span();
                if let Some(number) = number {
                    span.end = number.span().end;
                }
                let operand = crate::ParsedOperand {
                    name: self.env.interner.name(&word.text[1..]),
                    number: number.and_then(|it| it.text[1..].parse().ok()).unwrap_or(0),
                    span,
                    ty: Type::INDEX,
                    maybe_argument: false,
                };
                let list = if *is_symbol { symbols } else { dims };
                let same = |it: &crate::ParsedOperand| it.name == operand.name && it.number == operand.number;
                let at = list.iter().position(same).unwrap_or_else(|| {
                    list.push(operand);
                    list.len() - 1
                });
                Ok(if *is_symbol { Expr::Symbol(at as u32) } else { Expr::Dim(at as u32) })
            }
            ExprTree::Negated(inner) => Ok(self.lower_expr(inner, inputs)?.negated()),
            ExprTree::Chain(first, rest) => {
                if rest.len() > MAX_TERMS {
                    let message = format!("more than {MAX_TERMS} terms in an affine expression");
                    return Err(self.broken("nesting-too-deep", rest[0].0.span(), message));
                }
                let mut left = self.lower_expr(first, inputs)?;
                for (op, right) in rest {
                    let right = self.lower_expr(right, inputs)?;
                    let operator = match op.text {
                        "+" | "-" => Operator::Add,
                        "*" => Operator::Mul,
                        "mod" => Operator::Mod,
                        "floordiv" => Operator::FloorDiv,
                        _ => Operator::CeilDiv,
                    };
                    let is_affine = match operator {
                        Operator::Add => true,
                        Operator::Mul => left.is_symbolic() || right.is_symbolic(),
                        _ => right.is_symbolic(),
                    };
                    if !is_affine {
                        let message = "non-affine expression: one side must be a constant or symbol".into();
                        return Err(self.broken("non-affine", op.span(), message));
                    }
                    let right = if op.text == "-" { right.negated() } else { right };
                    left = Expr::binary(operator, left, right);
                }
                Ok(left)
            }
        }
    }

    /// The text of a string token, unescaped.
    pub(super) fn string(&mut self, span: Span) -> Name {
        let quoted = &self.text[span.range()];
        let inner = quoted.strip_prefix('"').unwrap_or(quoted);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        if inner.contains('\\') {
            let text = unescape(inner);
            self.name(&text)
        } else {
            self.env.interner.name(inner)
        }
    }

    /// The name of `@name` or `@"name"`.
    pub(super) fn symbol_text(&mut self, span: Span) -> Name {
        let text = &self.text[span.range()][1..];
        if text.starts_with('"') {
            self.string(Span::new(span.start + 1, span.end))
        } else {
            self.env.interner.name(text)
        }
    }
}

/// What a rule of the grammar gave.
pub(super) enum Raw<'a> {
    Type(TypeTree<'a>),
    Attr(AttrTree<'a>),
    Location(LocTree<'a>),
    Exprs(Vec<ExprTree<'a>>),
    Elements(Word<'a>, Option<Literal<'a>>),
}

fn run<'a, X>(
    rule: &impl chumsky::Parser<'a, Words<'a>, (X, usize), chumsky::extra::Err<Wrong>>,
    words: Words<'a>,
    wrap: impl Fn(X) -> Raw<'a>,
) -> Result<(Raw<'a>, usize), Wrong> {
    match rule.parse(words).into_output_errors() {
        (Some((tree, n)), _) => Ok((wrap(tree), n)),
        (None, mut errors) => Err(errors.swap_remove(0)),
    }
}

/// What the leaves of an affine expression are.
enum Inputs<'a> {
    Ids { dims: &'a [Word<'a>], symbols: &'a [Word<'a>] },
    Values { dims: Vec<crate::ParsedOperand>, symbols: Vec<crate::ParsedOperand> },
}

/// A type of one bare word.
fn type_word(text: &str) -> Option<TypeData> {
    match text {
        "index" => return Some(TypeData::Index),
        "none" => return Some(TypeData::None),
        "token" => return Some(TypeData::Token),
        _ => {}
    }
    if let Some((sign, width)) = int_type(text) {
        let width = width.parse().ok().filter(|it| *it <= MAX_WIDTH)?;
        return Some(TypeData::Int { width, sign });
    }
    float_keyword(text).map(TypeData::Float)
}

/// The dialect of `dialect.name<body>` or `dialect<body>`, and the rest without the dot.
fn split_dialect(name: &str) -> (&str, &str) {
    match name.find(['.', '<']) {
        Some(at) if name.as_bytes()[at] == b'.' => (&name[..at], &name[at + 1..]),
        Some(at) => (&name[..at], &name[at..]),
        None => (name, ""),
    }
}

/// One spelling for `dialect<name>` and `dialect.name`, with one blank for each run of blanks.
fn canonical_dialect(name: &str) -> String {
    let name = &one_blank(name);
    let (dialect, rest) = split_dialect(name);
    let Some(body) = rest.strip_prefix('<').and_then(|it| it.strip_suffix('>')) else {
        return name.clone();
    };
    // MLIR prints a body that begins with a name, followed by nothing or by `<...>` to the end, after a dot.
    let len = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(body.len());
    let starts_well = body.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends_well = len == body.len() || body[len..].starts_with('<') && body.ends_with('>');
    if starts_well && ends_well { format!("{dialect}.{body}") } else { name.clone() }
}

/// Line breaks and the blanks around them as one blank, outside of strings.
fn one_blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in text.chars() {
        if !in_string && matches!(c, ' ' | '\t' | '\r' | '\n') {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            continue;
        }
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = in_string && c == '\\' && !is_escaped;
        out.push(c);
    }
    out
}

/// Strings as bytes; what is no UTF-8 stays escaped.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        match bytes.get(at + 1) {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(it @ (b'"' | b'\\')) => out.push(*it),
            Some(_) => {
                let hex = text.get(at + 1..at + 3).and_then(|it| u8::from_str_radix(it, 16).ok());
                out.push(hex.unwrap_or(b'\\'));
                at += if hex.is_some() { 3 } else { 1 };
                continue;
            }
            None => out.push(b'\\'),
        }
        at += 2;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
