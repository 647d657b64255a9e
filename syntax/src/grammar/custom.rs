//! Custom forms: a walk along the description in the op table.

use super::opaque::count_results;
use super::reader::{Reader, Res};
use super::{Form, ParsedSuccessor};
use crate::dialect::format::{Bind, E, Flags, RMW, ROUNDING};
use crate::{Attr, AttrData, Dim, OpKind, Span, T, Type, TypeData, dialect};

impl Reader<'_, '_> {
    /// An op in custom form.
    pub(super) fn custom(&mut self) -> Res {
        let token = self.bump();
        let written = self.slice(token);
        self.out.name_span = token.span();
        let Some(name) = self.full_name(written) else {
            self.out.form = Form::Broken;
            let name = self.name(written);
            self.out.name = Some(name);
            let message = format!("custom op '{written}' is unknown");
            return Err(self.broken("unknown-op", token.span(), message));
        };
        self.out.name = Some(name);
        self.out.kind = self.env.interner.op_kind(name);
        if self.out.kind == OpKind::Unknown {
            return self.unknown(name, token.span());
        }
        if self.is_inline_payload() {
            self.out.kind = OpKind::Unknown;
            return self.opaque();
        }
        self.out.form = Form::Custom;
        let format = self.out.kind.spec().format;
        if is_lenient(self.out.kind) {
            return self.lenient(format);
        }
        self.walk(format)
    }

    /// `linalg.map { arith.addf } ins(...)`: inside an op that nobody knows, a name, perhaps attributes, and no operands, on the line of the brace.
    fn is_inline_payload(&self) -> bool {
        let is_end = match self.tokens.get(1).map(|it| it.kind) {
            None => true,
            Some(T::LBrace | T::Region) => {
                !self.tokens.iter().any(|it| matches!(it.kind, T::Percent | T::Colon | T::Caret))
            }
            _ => false,
        };
        is_end
            && self.env.default_dialect == Some(dialect::SOME_DIALECT)
            && self.at == 1
            && !self.tokens[0].at_line_start
            && self.out.kind.has(dialect::Traits::PURE)
            && !self.out.kind.has(dialect::Traits::TERMINATOR)
            && self.slice(self.tokens[0]).contains('.')
    }

    fn unknown(&mut self, name: crate::Name, span: Span) -> Res {
        let full = self.env.interner.str(name).to_owned();
        let dialect = full.split_once('.').map_or("", |it| it.0);
        let unprefixed = !self.slice(self.tokens[self.at - 1]).contains('.');
        let is_anyones = self.env.default_dialect == Some(dialect::SOME_DIALECT);
        if dialect::is_closed(dialect)
            || unprefixed && matches!(dialect, "" | "func" | "builtin") && !is_anyones
        {
            let _ = self.broken("unknown-op", span, super::item::unknown_op(dialect, &full));
            // Operands are still worth finding.
            self.is_quiet = true;
            let _ = self.opaque();
            self.is_quiet = false;
            self.out.form = Form::Broken;
            self.out.problems.truncate(1);
            return Err(super::reader::Broken);
        }
        self.opaque()
    }

    /// An op whose form grows from version to version: what does not fit is read as an unknown op.
    fn lenient(&mut self, format: &'static [E]) -> Res {
        let (start, n_problems) = (self.at, self.out.problems.len());
        self.is_quiet = true;
        let mut fits = self.walk(format).is_ok()
            && self.opt_location().is_ok()
            && self.at >= self.tokens.len();
        fits &= self.out.results.is_empty()
            || count_results(self.out) == self.out.result_types.len() as u64;
        self.is_quiet = false;
        if fits {
            return Ok(());
        }
        self.at = start;
        self.n_regions = 0;
        self.header_arguments.clear();
        self.out.problems.truncate(n_problems);
        self.out.operands.clear();
        self.out.result_types.clear();
        self.out.successors.clear();
        self.out.region_arguments.clear();
        self.out.arguments.clear();
        self.out.attrs.clear();
        self.out.alias_uses.clear();
        self.out.symbol = None;
        self.opaque()
    }

    pub(super) fn walk(&mut self, format: &'static [E]) -> Res {
        for element in format {
            match *element {
                E::Punct(kind) => {
                    self.expect(kind)?;
                }
                E::Uses(n) => {
                    self.operand(Type::UNKNOWN)?;
                    for _ in 1..n {
                        self.expect(T::Comma)?;
                        self.operand(Type::UNKNOWN)?;
                    }
                }
                E::AttrDict => self.attr_dict()?,
                E::Type(bind) => self.bound_type(bind)?,
                E::Use(ty) => {
                    self.operand(ty)?;
                }
                E::Word(word) => self.expect_word(word)?,
                E::EitherWord(one, other) => {
                    if !self.eat_word(one) {
                        self.expect_word(other)?;
                    }
                }
                E::OptWord(word, attr) => {
                    if self.eat_word(word) {
                        self.set_attr(attr, Attr::UNIT);
                    }
                }
                E::OptFlags(flags) => self.opt_flags(flags)?,
                _ => self.rare(*element)?,
            }
        }
        Ok(())
    }

    fn rare(&mut self, element: E) -> Res {
        match element {
            E::ParenUses(ty) => self.paren_uses(ty),
            E::Indices(open) => self.indices(open),
            E::OptUsesTypes => {
                if self.peek() == T::Percent {
                    self.uses_types()?;
                }
                Ok(())
            }
            E::OptParenUsesTypes => {
                if self.eat(T::LParen) {
                    self.uses_types()?;
                    self.expect(T::RParen)?;
                }
                Ok(())
            }
            E::AttrDictWithKeyword => self.attr_dict_with_keyword(),
            E::ConstantValue => self.constant_value(),
            E::StrAttr(name) => {
                if self.peek() != T::Str {
                    return Err(self.wrong("expected-token", "expected a string"));
                }
                let attr = self.attr()?;
                self.set_attr(name, attr);
                Ok(())
            }
            E::ResultIs(ty) => {
                self.out.result_types.push(ty);
                Ok(())
            }
            E::ResultTypes => loop {
                let ty = self.ty()?;
                self.out.result_types.push(ty);
                if !self.eat(T::Comma) {
                    return Ok(());
                }
            },
            E::OptArrowTypes => self.opt_arrow_types(),
            E::FunctionType(from) => self.function_type(from as usize),
            E::OptRounding => {
                if let Some(at) = ROUNDING.iter().position(|it| self.is_word(it)) {
                    self.at += 1;
                    let ty = self.i32_type();
                    let attr = self.int_attr(at as i64, ty);
                    self.set_attr("roundingmode", attr);
                }
                Ok(())
            }
            E::Predicate(names) => {
                let at = self.enum_case(names)?;
                let attr = self.int_attr(at as i64, Type::I64);
                self.set_attr("predicate", attr);
                Ok(())
            }
            E::Select => self.select(),
            E::SymbolName => {
                self.expect(T::At)?;
                self.define_symbol();
                Ok(())
            }
            E::OptSymbolName => {
                if self.eat(T::At) {
                    self.define_symbol();
                }
                Ok(())
            }
            E::SymbolUse(attr) => {
                let token = self.expect(T::At)?;
                let name = self.symbol_text(token.span());
                let mut path = vec![name];
                while self.peek() == T::Colon && self.peek_at(1) == T::Colon {
                    self.at += 2;
                    let token = self.expect(T::At)?;
                    path.push(self.symbol_text(token.span()));
                }
                let symbol = self.env.interner.attr(AttrData::Symbol(path.into()));
                self.set_attr(attr, symbol);
                Ok(())
            }
            E::Successor => self.successor(),
            E::SuccessorSegments => {
                let sizes: Vec<i64> = std::iter::once(1)
                    .chain(self.out.successors.iter().map(|it| it.operands.len() as i64))
                    .collect();
                self.segments(&sizes);
                Ok(())
            }
            E::Switch => self.switch(),
            E::Region => self.region().map(|_| ()),
            E::OptRegion => self.function_body(),
            E::OptElse => {
                if self.eat_word("else") {
                    self.region()?;
                }
                Ok(())
            }
            E::Visibility => {
                if let Some(it) = ["public", "private", "nested"].iter().find(|it| self.is_word(it))
                {
                    self.at += 1;
                    self.set_string_attr("sym_visibility", it);
                }
                Ok(())
            }
            E::OptWeights => {
                if self.eat_word("weights") {
                    self.expect(T::LParen)?;
                    self.expect(T::LSquare)?;
                    let mut weights = Vec::new();
                    self.list(T::RSquare, |it| {
                        weights.push(it.integer()?);
                        Ok(())
                    })?;
                    self.expect(T::RParen)?;
                    let ty = self.i32_type();
                    let attr = self.dense_array(ty, &weights);
                    self.set_attr("branch_weights", attr);
                }
                Ok(())
            }
            E::FuncSignature => self.func_signature(),
            E::ScfFor => self.scf_for(),
            E::ScfWhile => self.scf_while(),
            E::ScfParallel => self.scf_parallel(),
            E::ScfReduce => self.scf_reduce(),
            E::ScfForall => self.scf_forall(),
            E::IndexSwitch => self.index_switch(),
            E::AffineFor => self.affine_for(),
            E::AffineParallel => self.affine_parallel(),
            E::AffineApply(attr) => self.affine_apply(attr),
            E::AffineAccess => self.affine_access(),
            E::PrefetchKind => self.prefetch_kind(),
            E::Delinearize => self.delinearize(),
            E::Linearize => self.linearize(),
            other => self.memref_element(other),
        }
    }

    // Types.

    fn bound_type(&mut self, bind: Bind) -> Res {
        let ty = self.ty()?;
        let out = &mut *self.out;
        match bind {
            Bind::All => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                out.result_types.push(ty);
            }
            Bind::Operands => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
            }
            Bind::AllAnd(n) => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                for _ in 0..n {
                    out.result_types.push(ty);
                }
            }
            Bind::Operand(at) => self.set_operand_type(at as usize, ty),
            Bind::Result | Bind::NextResult => out.result_types.push(ty),
            Bind::ElementOf(at) => {
                self.set_operand_type(at as usize, ty);
                let element = self.memref_element_type(ty)?;
                self.out.result_types.push(element);
            }
            Bind::StoreTo => {
                self.set_operand_type(1, ty);
                let element = self.memref_element_type(ty)?;
                self.set_operand_type(0, element);
            }
            Bind::Compared => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                let i1 = self.i1_like(ty);
                self.out.result_types.push(i1);
            }
            Bind::Assumed => {
                self.set_operand_type(0, ty);
                if !self.out.results.is_empty() {
                    self.out.result_types.push(ty);
                }
            }
        }
        Ok(())
    }

    fn set_operand_type(&mut self, at: usize, ty: Type) {
        if let Some(it) = self.out.operands.get_mut(at) {
            it.ty = ty;
        }
    }

    fn memref_element_type(&mut self, ty: Type) -> Res<Type> {
        match self.env.interner.type_data(ty) {
            TypeData::MemRef { element, .. } => Ok(*element),
            TypeData::Unknown => Ok(ty),
            _ => {
                self.at -= 1;
                Err(self.wrong("invalid-type", "expected a memref type"))
            }
        }
    }

    /// `i1`, or a shape of it.
    pub(super) fn i1_like(&mut self, ty: Type) -> Type {
        let data = match self.env.interner.type_data(ty).clone() {
            TypeData::Unknown => return ty,
            TypeData::Vector { dims, .. } => TypeData::Vector { dims, element: Type::I1 },
            TypeData::Tensor { dims, encoding, .. } => {
                TypeData::Tensor { dims, element: Type::I1, encoding }
            }
            _ => return Type::I1,
        };
        self.env.interner.ty(data)
    }

    pub(super) fn opt_arrow_types(&mut self) -> Res {
        if self.eat(T::Arrow) { self.arrow_types() } else { Ok(()) }
    }

    /// `T` or `(T, U)`, behind `->`.
    pub(super) fn arrow_types(&mut self) -> Res {
        if self.eat(T::LParen) {
            return self.list(T::RParen, |it| {
                let ty = it.ty()?;
                it.out.result_types.push(ty);
                Ok(())
            });
        }
        let ty = self.simple_type()?;
        self.out.result_types.push(ty);
        Ok(())
    }

    /// `: (A) -> B`: the types of operands `from..` and of the results.
    fn function_type(&mut self, from: usize) -> Res {
        let span = self.token().span();
        let ty = self.ty()?;
        let out = &mut *self.out;
        match self.env.interner.type_data(ty) {
            TypeData::Function { inputs, results } => {
                out.result_types.extend_from_slice(results);
                let n = out.operands.len() - from;
                for (operand, ty) in out.operands[from..].iter_mut().zip(inputs) {
                    operand.ty = *ty;
                }
                let n_inputs = inputs.len();
                if from == 1 {
                    out.operands[0].ty = ty;
                }
                if n != n_inputs {
                    let span = out.operands.get(from).map_or(span, |it| it.span);
                    let message = format!("{n} operands present, but expected {n_inputs}");
                    self.mismatch("operand-count", span, message);
                }
                Ok(())
            }
            TypeData::Unknown => {
                out.guessed = true;
                Ok(())
            }
            _ => Err(self.broken("invalid-type", span, "expected a function type".into())),
        }
    }

    // Operands.

    fn paren_uses(&mut self, ty: Type) -> Res {
        self.expect(T::LParen)?;
        self.list(T::RParen, |it| it.operand(ty).map(|_| ()))
    }

    /// `%a, %b : i32, i64`
    pub(super) fn uses_types(&mut self) -> Res {
        let first = self.out.operands.len();
        loop {
            self.operand(Type::UNKNOWN)?;
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect(T::Colon)?;
        self.operand_types(first)
    }

    /// Types for operands `first..`, separated by commas.
    fn operand_types(&mut self, first: usize) -> Res {
        let mut at = first;
        loop {
            let ty = self.ty()?;
            self.set_operand_type(at, ty);
            at += 1;
            if !self.eat(T::Comma) {
                break;
            }
        }
        let (n, n_types) = (self.out.operands.len() - first, at - first);
        if n != n_types {
            let span = self.out.operands[first].span;
            let message = format!("{n} operands present, but expected {n_types}");
            self.mismatch("operand-count", span, message);
        }
        Ok(())
    }

    pub(super) fn segments(&mut self, sizes: &[i64]) {
        let ty = self.i32_type();
        let attr = self.dense_array(ty, sizes);
        self.set_attr("operandSegmentSizes", attr);
    }

    // Attributes.

    fn attr_dict_with_keyword(&mut self) -> Res {
        if !self.eat_word("attributes") {
            return Ok(());
        }
        if self.is_empty_region() || self.peek() == T::LBrace {
            return self.attr_dict();
        }
        Err(self.expected("'{'"))
    }

    pub(super) fn set_string_attr(&mut self, name: &str, value: &str) {
        let value = self.name(value);
        let attr = self.env.interner.attr(AttrData::String(value, None));
        self.set_attr(name, attr);
    }

    fn define_symbol(&mut self) {
        let span = self.tokens[self.at - 1].span();
        let name = self.symbol_text(span);
        self.out.symbol = Some(super::ParsedSymbol { name, root: name, span });
        let attr = self.env.interner.attr(AttrData::String(name, None));
        self.set_attr("sym_name", attr);
    }

    fn constant_value(&mut self) -> Res {
        let span = self.token().span();
        if self.peek() == T::Eof {
            return Err(self.expected("an attribute value"));
        }
        let attr = self.attr()?;
        let Some(ty) = self.attr_type(attr) else {
            return Err(self.broken(
                "invalid-attribute",
                span,
                "a constant needs a value with a type".into(),
            ));
        };
        self.set_attr("value", attr);
        self.out.result_types.push(ty);
        Ok(())
    }

    /// An integer with its sign.
    pub(super) fn integer(&mut self) -> Res<i64> {
        let is_negative = self.eat(T::Minus);
        if self.peek() != T::Int {
            return Err(self.wrong("expected-token", "expected an integer"));
        }
        let text = self.word();
        let value = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => text.parse::<i64>(),
        };
        let Ok(value) = value else {
            return Err(self.wrong("too-large", "integer value too large"));
        };
        self.at += 1;
        Ok(if is_negative { -value } else { value })
    }

    /// One of these names, bare or as a string: its number.
    pub(super) fn enum_case(&mut self, names: &[&str]) -> Res<usize> {
        let text = match self.peek() {
            T::Bare => self.word(),
            T::Str => self.word().trim_matches('"'),
            _ => {
                let message = format!("expected one of {}", names.join(", "));
                return Err(self.wrong("unknown-case", message));
            }
        };
        let Some(at) = names.iter().position(|it| *it == text) else {
            return Err(self.wrong("unknown-case", format!("expected one of {}", names.join(", "))));
        };
        self.at += 1;
        Ok(at)
    }

    /// `overflow<nsw, nuw>`, `fastmath<fast>` or nothing.
    fn opt_flags(&mut self, flags: &'static Flags) -> Res {
        if flags.word.is_empty() {
            // `<no_inline>`
            if self.peek() == T::Less {
                self.at += 1;
                self.expect_word(flags.flags[0].0)?;
                self.expect(T::Greater)?;
                self.set_attr(flags.attr, Attr::UNIT);
            }
            return Ok(());
        }
        if !self.eat_word(flags.word) {
            return Ok(());
        }
        self.expect(T::Less)?;
        let mut bits = 0;
        loop {
            let names: Vec<_> = flags.flags.iter().map(|it| it.0).collect();
            let at = self.enum_case(&names)?;
            bits |= flags.flags[at].1;
            if self.eat(T::Greater) {
                break;
            }
            if !self.eat(T::Comma) {
                return Err(self.expected("'>' or ','"));
            }
        }
        if bits == 0 {
            return Ok(());
        }
        let mut left = bits;
        let mut names = Vec::new();
        for (name, mask) in flags.flags {
            if *mask != 0 && left & mask == *mask {
                names.push(*name);
                left &= !mask;
            }
        }
        let text = format!("{}<{}>", flags.prefix, names.join(flags.separator));
        let text = self.name(&text);
        let attr = self.env.interner.attr(AttrData::Text(text, None));
        self.set_attr(flags.attr, attr);
        Ok(())
    }

    /// `T`, or `C, T` where the condition has a type of its own.
    fn select(&mut self) -> Res {
        let mut condition = Type::I1;
        let mut ty = self.ty()?;
        if self.eat(T::Comma) {
            condition = ty;
            ty = self.ty()?;
        }
        self.set_operand_type(0, condition);
        self.set_operand_type(1, ty);
        self.set_operand_type(2, ty);
        self.out.result_types.push(ty);
        Ok(())
    }

    // Branches.

    fn block_name(&mut self) -> Res {
        if self.peek() != T::Caret {
            return Err(self.expected("a block name"));
        }
        let token = self.bump();
        let text = self.slice(token);
        let name = self.name(&text[1..]);
        let at = self.out.operands.len() as u32;
        self.out.successors.push(ParsedSuccessor { name, span: token.span(), operands: at..at });
        Ok(())
    }

    fn successor(&mut self) -> Res {
        self.block_name()?;
        if self.eat(T::LParen) {
            if self.peek() != T::Percent {
                return Err(self.expected("an SSA value"));
            }
            self.uses_types()?;
            self.expect(T::RParen)?;
            let n = self.out.operands.len() as u32;
            if let Some(it) = self.out.successors.last_mut() {
                it.operands.end = n;
            }
        }
        Ok(())
    }

    /// `default: ^bb, 1: ^bb(%a : i32)`, between the brackets of `cf.switch`.
    fn switch(&mut self) -> Res {
        self.expect_word("default")?;
        self.expect(T::Colon)?;
        self.successor()?;
        let mut cases = Vec::new();
        while self.eat(T::Comma) {
            cases.push(self.integer()?);
            self.expect(T::Colon)?;
            self.successor()?;
        }
        let sizes: Vec<i64> =
            self.out.successors.iter().map(|it| it.operands.len() as i64).collect();
        self.segments(&[1, sizes[0], sizes[1..].iter().sum()]);
        let i32_type = self.i32_type();
        let segments = self.dense_array(i32_type, &sizes[1..]);
        self.set_attr("case_operand_segments", segments);
        if !cases.is_empty() {
            let flag = self.out.operands[0].ty;
            let n = cases.len() as u64;
            let is_splat = cases.iter().all(|it| *it == cases[0]);
            let text = if is_splat {
                format!("dense<{}>", cases[0])
            } else {
                let all: Vec<_> = cases.iter().map(ToString::to_string).collect();
                format!("dense<[{}]>", all.join(", "))
            };
            let dims = [Dim::Fixed(n)].into();
            let ty = self.env.interner.ty(TypeData::Vector { dims, element: flag });
            let text = self.name(&text);
            let attr = self.env.interner.attr(AttrData::Elements(text, ty));
            self.set_attr("case_values", attr);
        }
        Ok(())
    }

    /// Kinds of reductions.
    pub(super) fn rmw_kind(&mut self) -> Res<usize> {
        self.enum_case(RMW)
    }
}

/// Whether what does not fit the table may be right all the same.
pub(super) fn is_lenient(kind: OpKind) -> bool {
    kind.spec().name.starts_with("memref.")
}
