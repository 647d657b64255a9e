//! Lowers the syntax trees of the grammar to types, attributes and affine maps.
//!
//! Here numbers are checked against their types, aliases are looked up and affine expressions are
//! simplified. The recursion is bounded because `words.rs` limits the nesting of the text.

use super::Alias;
use super::ast::{AttrTree, ComparisonOp, DimTree, ExprTree, MapTree, Number, TypeTree};
use super::elements;
use super::flags::flags_attr;
use super::reader::{ReadResult, Reader, ReportedError};
use super::spelling::{MAX_SPELLED, MAX_WIDTH, split_dialect, type_word};
use super::words::Word;
use crate::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use crate::identifier::is_bare_id;
use crate::string::{self, quoted, unquoted};
use crate::{Attr, AttrData, Code, Dim, Name, Span, TokenKind, Type, TypeData};

/// Maximum number of terms of a sum or product, and of identifiers of a map: all pairs of them are
/// compared.
pub(crate) const MAX_TERMS: usize = 1000;

impl Reader<'_, '_> {
    pub(super) fn lower_type(&mut self, tree: &TypeTree<'_>) -> ReadResult<Type> {
        let data = match tree {
            TypeTree::Word(word) => {
                if word.kind != TokenKind::Bare {
                    return self.bang_type(word.text, word.span());
                }
                let Some(data) = type_word(word.text) else {
                    let message = format!("integer bitwidth is limited to {MAX_WIDTH} bits");
                    return Err(self.error_at(Code::TooWide, word.span(), message));
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
                    self.report_mismatch(
                        Code::InvalidElement,
                        word.span(),
                        "invalid element type for complex",
                    );
                }
                TypeData::Complex(element)
            }
            TypeTree::Shaped(word, dims, element, rest) => {
                return self.lower_shaped(word, dims.as_deref(), element, rest);
            }
        };
        Ok(self.env.interner.intern_type(data))
    }

    pub(super) fn lower_types(&mut self, trees: &[TypeTree<'_>]) -> ReadResult<Box<[Type]>> {
        trees.iter().map(|it| self.lower_type(it)).collect()
    }

    pub(super) fn lower_shaped(
        &mut self,
        word: &Word<'_>,
        dims: Option<&[DimTree<'_>]>,
        element: &TypeTree<'_>,
        rest: &[AttrTree<'_>],
    ) -> ReadResult<Type> {
        let is_vector = word.text == "vector";
        let dims: Option<Box<[Dim]>> = match dims {
            Some(dims) => Some(
                dims.iter().map(|it| self.lower_dim(it, is_vector)).collect::<ReadResult<_>>()?,
            ),
            None => None,
        };
        let element = self.lower_type(element)?;
        let data = self.env.interner.type_data(element);
        let fits = match word.text {
            "vector" => {
                matches!(
                    data,
                    TypeData::Int { .. }
                        | TypeData::Float(_)
                        | TypeData::Index
                        | TypeData::Unknown
                        | TypeData::Dialect(_)
                )
            }
            "tensor" => !matches!(
                data,
                TypeData::Function { .. }
                    | TypeData::Tuple(_)
                    | TypeData::None
                    | TypeData::Tensor { .. }
                    | TypeData::MemRef { .. }
            ),
            _ => !matches!(
                data,
                TypeData::Function { .. }
                    | TypeData::Tuple(_)
                    | TypeData::None
                    | TypeData::Tensor { .. }
            ),
        };
        if !fits || element == Type::NOISY && word.text != "tensor" {
            self.report_mismatch(
                Code::InvalidElement,
                word.span(),
                format!("invalid {} element type", word.text),
            );
        }
        let data = match word.text {
            "vector" => {
                let Some(dims) = dims else {
                    return Err(self.error_at(
                        Code::ExpectedToken,
                        word.span(),
                        "expected a dimension".into(),
                    ));
                };
                if !rest.is_empty() {
                    return Err(self.error_at(
                        Code::ExpectedToken,
                        word.span(),
                        "expected '>'".into(),
                    ));
                }
                TypeData::Vector { dims, element }
            }
            "tensor" => {
                let encoding = match rest {
                    [] => None,
                    [it] => Some(self.lower_attr(it)?),
                    _ => {
                        let message = "a tensor type has one encoding at most".into();
                        return Err(self.error_at(Code::ExpectedToken, word.span(), message));
                    }
                };
                if dims.is_none() && encoding.is_some() {
                    self.report_mismatch(
                        Code::InvalidType,
                        word.span(),
                        "cannot apply encoding to unranked tensor",
                    );
                }
                TypeData::Tensor { dims, element, encoding }
            }
            _ => {
                let rest = self.lower_layout_and_space(word, dims.as_deref(), rest)?;
                TypeData::MemRef { dims, element, rest }
            }
        };
        Ok(self.env.interner.intern_type(data))
    }

    /// Lowers the layouts and the memory space of a memref, without default ones.
    fn lower_layout_and_space(
        &mut self,
        word: &Word<'_>,
        dims: Option<&[Dim]>,
        rest: &[AttrTree<'_>],
    ) -> ReadResult<Box<[Attr]>> {
        let mut kept: Vec<Attr> = Vec::new();
        let mut n_spaces = 0;
        for it in rest {
            let attr = self.lower_attr(it)?;
            let data = self.env.interner.attr_data(attr);
            let n = match data {
                AttrData::Affine(map) if !map.is_set() => Some(map.n_dims as usize),
                AttrData::Text(text, _) => n_strides(self.env.interner.str(*text)),
                _ => None,
            };
            let mut message = None;
            if let Some(n) = n {
                message = match dims {
                    None => Some("cannot have affine map for unranked memref type"),
                    _ if n_spaces > 0 => Some("expected memory space to be last in memref type"),
                    Some(dims) if dims.len() != n => Some(match data {
                        AttrData::Affine(_) => "memref layout does not agree with the rank",
                        _ => "expected the number of strides to match the rank",
                    }),
                    Some(_) => None,
                };
            } else if !matches!(data, AttrData::Text(..) | AttrData::Unknown) {
                n_spaces += 1;
                if n_spaces > 1 {
                    message = Some("multiple memory spaces in memref type");
                } else if !is_memory_space(data) {
                    message = Some("unsupported memory space Attribute");
                }
            }
            let is_default = match data {
                AttrData::Affine(map) => *map == Affine::identity(map.n_dims),
                // Space 0 is the default.
                AttrData::Int { value: 0, ty } => *ty == Type::I64,
                _ => false,
            };
            match message {
                Some(message) => self.report_mismatch(Code::InvalidType, word.span(), message),
                None if !is_default => kept.push(attr),
                None => {}
            }
        }
        Ok(kept.into())
    }

    pub(super) fn lower_dim(&mut self, dim: &DimTree<'_>, is_vector: bool) -> ReadResult<Dim> {
        let word = &dim.word;
        if word.kind == TokenKind::Question {
            if is_vector {
                let message = "expected a size; vectors have no dynamic dimension".into();
                return Err(self.error_at(Code::ExpectedToken, word.span(), message));
            }
            return Ok(Dim::Dynamic);
        }
        let Some(size) = word.text.parse::<u64>().ok().filter(|it| i64::try_from(*it).is_ok())
        else {
            return Err(self.error_at(
                Code::InvalidDimension,
                word.span(),
                "invalid dimension".into(),
            ));
        };
        if is_vector && size == 0 {
            self.report_mismatch(
                Code::InvalidDimension,
                word.span(),
                "vector types must have positive constant sizes",
            );
        }
        if dim.is_scalable {
            if !is_vector {
                return Err(self.error_at(
                    Code::ExpectedToken,
                    word.span(),
                    "expected a size or '?'".into(),
                ));
            }
            return Ok(Dim::Scalable(size));
        }
        Ok(Dim::Fixed(size))
    }

    pub(super) fn lower_attr(&mut self, tree: &AttrTree<'_>) -> ReadResult<Attr> {
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
            AttrTree::Array(list) => AttrData::Array(
                list.iter().map(|it| self.lower_attr(it)).collect::<ReadResult<_>>()?,
            ),
            AttrTree::Dict(entries) => return self.lower_dict(entries),
            AttrTree::Symbol(path) => {
                AttrData::Symbol(path.iter().map(|it| self.symbol_text(it.span())).collect())
            }
            AttrTree::Map(tree) => return self.lower_map(tree, false),
            AttrTree::Set(tree) => return self.lower_map(tree, true),
            AttrTree::Dense(word, literal, ty) => {
                let ty = self.lower_type(ty)?;
                let text = elements::dense_elements_text(self, word, literal.as_ref(), ty)?;
                AttrData::Elements(self.name(&text), ty)
            }
            AttrTree::Sparse(both, written) => {
                let ty = self.lower_type(written)?;
                if self.is_unshaped(ty) {
                    let span = self.span_of(written);
                    let message = "elements literal must be a shaped type";
                    self.report_mismatch(Code::LiteralType, span, message);
                    return Ok(Attr::UNKNOWN);
                }
                let text = elements::sparse_elements_text(both.as_ref());
                AttrData::Elements(self.name(&text), ty)
            }
            AttrTree::Resource(key, written) => {
                let ty = self.lower_type(written)?;
                if self.is_unshaped(ty) {
                    let span = self.span_of(written);
                    let message = "`dense_resource` expected a shaped type";
                    self.report_mismatch(Code::LiteralType, span, message);
                    return Ok(Attr::UNKNOWN);
                }
                AttrData::Elements(self.resource_text(key.text), ty)
            }
            AttrTree::DenseArray(ty, values) => return elements::dense_array(self, ty, values),
            AttrTree::Strided(strides, offset) => {
                let shown: Vec<String> =
                    strides.iter().map(|it| elements::stride_text(self, it)).collect();
                if let Some(at) = shown.iter().position(|it| it == "0") {
                    let span = strides[at].word.span();
                    self.report_mismatch(Code::InvalidAttribute, span, "strides must not be zero");
                }
                let mut text = format!("strided<[{}]", shown.join(", "));
                if let Some(offset) =
                    offset.as_ref().map(|it| elements::stride_text(self, it)).filter(|it| it != "0")
                {
                    text.push_str(", offset: ");
                    text.push_str(&offset);
                }
                text.push('>');
                AttrData::Text(self.name(&text), None)
            }
            AttrTree::Distinct(id, inner) => {
                let span = id.map_or_else(|| self.token().span(), |it| it.span());
                let inner = match inner {
                    Some(it) => self.lower_attr(it)?,
                    None => Attr::UNIT,
                };
                let mut text = format!("distinct[{}]<", id.map_or("", |it| it.text));
                if inner != Attr::UNIT {
                    let Some(inner) = self.env.interner.bounded_attr_text(inner, MAX_SPELLED)
                    else {
                        return Err(self.too_long(span));
                    };
                    text.push_str(&inner);
                }
                text.push('>');
                AttrData::Text(self.name(&text), None)
            }
            AttrTree::Location(tree) => return self.lower_location(tree),
            AttrTree::Hash(word, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.lower_type(ty)?),
                    None => None,
                };
                return self.hash_attr(word, ty);
            }
        };
        Ok(self.env.interner.intern_attr(data))
    }

    /// Returns the span of a type that is one word, otherwise of the current token.
    pub(super) fn span_of(&self, ty: &TypeTree<'_>) -> Span {
        match ty {
            TypeTree::Word(word) => word.span(),
            _ => self.token().span(),
        }
    }

    /// True for a type that is surely not shaped. Types of other dialects may be shaped.
    fn is_unshaped(&self, ty: Type) -> bool {
        !matches!(
            self.env.interner.type_data(ty),
            TypeData::Vector { .. }
                | TypeData::Tensor { .. }
                | TypeData::MemRef { .. }
                | TypeData::Dialect(_)
                | TypeData::Unknown
        )
    }

    /// Returns `dense_resource<key>`. The key is quoted only if necessary.
    pub(crate) fn resource_text(&mut self, key: &str) -> Name {
        let key = unquoted(key);
        let key = if is_bare_id(&key) { key } else { quoted(&key).into() };
        self.name(&format!("dense_resource<{key}>"))
    }

    /// Returns the attribute of `#alias` or `#dialect.name<body>`.
    pub(super) fn hash_attr(&mut self, word: &Word<'_>, ty: Option<Type>) -> ReadResult<Attr> {
        let name = &word.text[1..];
        if !name.contains(['.', '<']) {
            let alias = self.name(word.text);
            self.use_alias(alias, word.span());
            return match self.look_up(alias) {
                Some(Alias::Attr(attr)) => Ok(attr),
                _ => Ok(Attr::UNKNOWN),
            };
        }
        let (dialect, _) = split_dialect(name);
        if matches!(dialect, "noisy" | "func" | "cf") {
            let message = format!("dialect `{dialect}` has no attribute `{}`", word.text);
            return Err(self.error_at(Code::UnknownAttribute, word.span(), message));
        }
        let mut text = format!("#{}", self.canonical_dialect(name, word.span())?);
        match flags_attr(&text) {
            None => {}
            Some(Ok(it)) => text = it,
            Some(Err(message)) => {
                return Err(self.error_at(Code::UnknownCase, word.span(), message));
            }
        }
        let text = self.name(&text);
        Ok(self.env.interner.intern_attr(AttrData::Text(text, ty)))
    }

    pub(super) fn lower_dict(
        &mut self,
        entries: &[(Word<'_>, Option<AttrTree<'_>>)],
    ) -> ReadResult<Attr> {
        let mut dict = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let name = if key.kind == TokenKind::Str {
                self.string(key.span())
            } else {
                self.name(key.text)
            };
            if self.env.interner.str(name).is_empty() {
                let message = "expected a name of an attribute".into();
                return Err(self.error_at(Code::EmptyName, key.span(), message));
            }
            let value = match value {
                Some(it) => self.lower_attr(it)?,
                None => Attr::UNIT,
            };
            dict.push((name, value, key.span()));
        }
        let interner = &*self.env.interner;
        dict.sort_by(|a, b| string::compare_by_bytes(interner.str(a.0), interner.str(b.0)));
        if let Some(twice) = dict.windows(2).find(|it| it[0].0 == it[1].0) {
            let (name, span) = (twice[1].0, twice[1].2);
            let message = format!("duplicate key '{}' in dictionary", self.env.interner.str(name));
            return Err(self.error_at(Code::DuplicateKey, span, message));
        }
        let dict = dict.into_iter().map(|(name, value, _)| (name, value)).collect();
        Ok(self.env.interner.intern_attr(AttrData::Dict(dict)))
    }

    pub(super) fn lower_number(
        &mut self,
        number: &Number<'_>,
        ty: Option<&TypeTree<'_>>,
    ) -> ReadResult<Attr> {
        let ty = match ty {
            Some(ty) => Some(self.lower_type(ty)?),
            None => None,
        };
        let default = if number.word.kind == TokenKind::Float { Type::F64 } else { Type::I64 };
        let attr = elements::number_attr(self.env.interner, number, ty.unwrap_or(default));
        attr.or_else(|message| {
            self.report_mismatch(Code::LiteralType, number.word.span(), message);
            Ok(Attr::UNKNOWN)
        })
    }

    pub(super) fn lower_map(&mut self, tree: &MapTree<'_>, is_set: bool) -> ReadResult<Attr> {
        let n_ids = tree.dims.len() + tree.symbols.len();
        if n_ids > MAX_TERMS {
            let message = format!("more than {MAX_TERMS} identifiers in an affine map");
            let span = tree.dims.iter().chain(&tree.symbols).nth(MAX_TERMS).map(Word::span);
            return Err(self.error_at(Code::TooMany, span.unwrap_or_default(), message));
        }
        for (at, id) in tree.dims.iter().chain(&tree.symbols).enumerate() {
            if tree.dims.iter().chain(&tree.symbols).take(at).any(|it| it.text == id.text) {
                let message = format!("redefinition of identifier '{}'", id.text);
                return Err(self.error_at(Code::RedefinedIdentifier, id.span(), message));
            }
        }
        let mut inputs = ExprInputs::Ids { dims: &tree.dims, symbols: &tree.symbols };
        let (mut results, mut constraints) = (Vec::new(), Vec::new());
        for (left, compared) in &tree.results {
            let left = self.lower_expr(left, &mut inputs)?;
            match compared {
                None => results.push(left),
                Some((compare, right)) => {
                    let right = self.lower_expr(right, &mut inputs)?;
                    let minus = |a: AffineExpr, b: AffineExpr| {
                        AffineExpr::binary(AffineOperator::Add, a, b.negated())
                    };
                    constraints.push(match compare {
                        ComparisonOp::Greater => (minus(left, right), false),
                        ComparisonOp::Less => (minus(right, left), false),
                        ComparisonOp::Equal => (minus(left, right), true),
                    });
                }
            }
        }
        let body = if is_set {
            if constraints.is_empty() {
                constraints.push((AffineExpr::Const(0), true));
            }
            AffineBody::Set(constraints)
        } else {
            AffineBody::Map(results)
        };
        let map =
            Affine { n_dims: tree.dims.len() as u32, n_symbols: tree.symbols.len() as u32, body };
        Ok(self.env.interner.intern_attr(AttrData::Affine(map)))
    }

    pub(super) fn lower_expr(
        &mut self,
        tree: &ExprTree<'_>,
        inputs: &mut ExprInputs<'_>,
    ) -> ReadResult<AffineExpr> {
        match tree {
            ExprTree::Word(word) if word.kind == TokenKind::Int => {
                let value = match word.text.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => word.text.parse(),
                };
                if let Ok(value) = value {
                    return Ok(AffineExpr::Const(value));
                }
                let message = "constant too large for an index".into();
                Err(self.error_at(Code::TooLarge, word.span(), message))
            }
            ExprTree::Word(word) => {
                if let ExprInputs::Ids { dims, symbols } = inputs {
                    if let Some(at) = dims.iter().position(|it| it.text == word.text) {
                        return Ok(AffineExpr::Dim(at as u32));
                    }
                    if let Some(at) = symbols.iter().position(|it| it.text == word.text) {
                        return Ok(AffineExpr::Symbol(at as u32));
                    }
                }
                let message = format!("use of undeclared identifier '{}'", word.text);
                Err(self.error_at(Code::UndeclaredIdentifier, word.span(), message))
            }
            ExprTree::Use(word, number, is_symbol) => {
                let ExprInputs::Values { dims, symbols } = inputs else {
                    return Err(ReportedError);
                };
                let mut span = word.span();
                if let Some(number) = number {
                    span.end = number.span().end;
                }
                let operand = super::ParsedOperand {
                    name: self.env.interner.intern_name(&word.text[1..]),
                    number: number.and_then(|it| it.text[1..].parse().ok()).unwrap_or(0),
                    span,
                    ty: Type::INDEX,
                    may_be_argument: false,
                };
                let list = if *is_symbol { symbols } else { dims };
                let same = |it: &super::ParsedOperand| {
                    it.name == operand.name && it.number == operand.number
                };
                let at = list.iter().position(same).unwrap_or_else(|| {
                    list.push(operand);
                    list.len() - 1
                });
                Ok(if *is_symbol {
                    AffineExpr::Symbol(at as u32)
                } else {
                    AffineExpr::Dim(at as u32)
                })
            }
            ExprTree::Negated(inner) => Ok(self.lower_expr(inner, inputs)?.negated()),
            ExprTree::Chain(first, rest) => {
                if rest.len() > MAX_TERMS {
                    let message = format!("more than {MAX_TERMS} terms in an affine expression");
                    return Err(self.error_at(Code::NestingTooDeep, rest[0].0.span(), message));
                }
                let mut left = self.lower_expr(first, inputs)?;
                for (op, right) in rest {
                    let right = self.lower_expr(right, inputs)?;
                    let operator = match op.text {
                        "+" | "-" => AffineOperator::Add,
                        "*" => AffineOperator::Mul,
                        "mod" => AffineOperator::Mod,
                        "floordiv" => AffineOperator::FloorDiv,
                        _ => AffineOperator::CeilDiv,
                    };
                    let is_affine = match operator {
                        AffineOperator::Add => true,
                        AffineOperator::Mul => left.is_symbolic() || right.is_symbolic(),
                        _ => right.is_symbolic(),
                    };
                    if !is_affine {
                        let message =
                            "non-affine expression: one side must be a constant or symbol".into();
                        return Err(self.error_at(Code::NonAffine, op.span(), message));
                    }
                    let right = if op.text == "-" { right.negated() } else { right };
                    left = AffineExpr::binary(operator, left, right);
                }
                Ok(left)
            }
        }
    }
}

/// The names that the leaves of an affine expression refer to.
pub(super) enum ExprInputs<'a> {
    Ids { dims: &'a [Word<'a>], symbols: &'a [Word<'a>] },
    Values { dims: Vec<super::ParsedOperand>, symbols: Vec<super::ParsedOperand> },
}

/// Returns the number of strides in the text of `strided<[..]>`; `None` for other texts.
fn n_strides(text: &str) -> Option<usize> {
    let (strides, _) = text.strip_prefix("strided<[")?.split_once(']')?;
    Some(strides.split(',').filter(|it| !it.is_empty()).count())
}

/// Returns true if an attribute may be a memory space. Attributes of other dialects may be.
fn is_memory_space(data: &AttrData) -> bool {
    matches!(
        data,
        AttrData::Int { .. } | AttrData::Bool(_) | AttrData::String(..) | AttrData::Dict(_)
    )
}
