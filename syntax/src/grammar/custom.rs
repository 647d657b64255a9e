//! Reads an op along the description of its form in the op table; `print/form.rs` writes along the same one.
//!
//! Each element of a description has an arm in [`Reader::element`]. What takes more than a few lines stands in a file by its idea,
//! and its writer in the file of the same name in `print/`: `types.rs`, `flag.rs`, `branch.rs`, `func.rs`,
//! `loops.rs`, `affine.rs`, `memref.rs`.

use super::Form;
use super::reader::{Reader, Res};
use crate::dialect::format::Element;
use crate::string::unquoted;
use crate::{Attr, AttrData, Code, OpKind, Span, TokenKind, Type, dialect};

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
            return Err(self.broken(Code::UnknownOp, token.span(), message));
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
        let format = self.out.kind.spec().form;
        self.walk(format)
    }

    /// `linalg.map { arith.addf } ins(...)`: inside an op that nobody knows, a name, perhaps attributes, and no operands, on
    /// the line of the brace.
    fn is_inline_payload(&mut self) -> bool {
        let is_end = match self.tokens.get(1).map(|it| it.kind) {
            None => true,
            Some(TokenKind::LBrace | TokenKind::Region) => !self.tokens.iter().any(|it| {
                matches!(it.kind, TokenKind::Percent | TokenKind::Colon | TokenKind::Caret)
            }),
            _ => false,
        };
        let may_be = is_end
            && self.at == 1
            && !self.tokens[0].at_line_start
            && self.out.kind.is_pure()
            && !self.out.kind.has(dialect::Traits::TERMINATOR)
            && self.slice(self.tokens[0]).contains('.');
        self.out.depends_on_dialect |= may_be;
        may_be && self.env.default_dialect == Some(dialect::SOME_DIALECT)
    }

    fn unknown(&mut self, name: crate::Name, span: Span) -> Res {
        let full = self.env.interner.str(name).to_owned();
        let dialect = full.split_once('.').map_or("", |it| it.0);
        let unprefixed = !self.slice(self.tokens[self.at - 1]).contains('.');
        let is_anyones = self.env.default_dialect == Some(dialect::SOME_DIALECT);
        let is_cut = full.ends_with('.') && dialect::is_read_by_mlir(dialect);
        if dialect::is_closed(dialect)
            || is_cut
            || unprefixed && matches!(dialect, "" | "func" | "builtin") && !is_anyones
        {
            let _ = self.broken(Code::UnknownOp, span, dialect::unknown_op(dialect, &full));
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

    pub(super) fn walk(&mut self, format: &'static [Element]) -> Res {
        format.iter().try_for_each(|it| self.element(*it))
    }

    /// One element: an arm for each, so that one that nobody reads does not compile.
    #[expect(clippy::too_many_lines, reason = "one arm for each element")]
    fn element(&mut self, element: Element) -> Res {
        match element {
            Element::Punct(kind) => self.expect(kind).map(|_| ()),
            Element::Uses(n) => {
                self.operand(Type::UNKNOWN)?;
                for _ in 1..n {
                    self.expect(TokenKind::Comma)?;
                    self.operand(Type::UNKNOWN)?;
                }
                Ok(())
            }
            Element::AttrDict => self.attr_dict(),
            Element::Type(bind) => self.bound_type(bind),
            Element::Use(ty) => self.operand(ty).map(|_| ()),
            Element::Word(word) => self.expect_word(word),
            Element::OptWord(word, attr) => {
                if self.eat_word(word) {
                    self.set_attr(attr, Attr::UNIT);
                }
                Ok(())
            }
            Element::OptFlags(flags) => self.opt_flags(flags),
            Element::ParenUses(ty) => self.paren_uses(ty),
            Element::Indices(open) => self.indices(open),
            Element::OptUsesTypes => {
                if self.peek() == TokenKind::Percent {
                    self.uses_types()?;
                }
                Ok(())
            }
            Element::AttrDictWithKeyword => self.attr_dict_with_keyword(),
            Element::ConstantValue => self.constant_value(),
            Element::StrAttr(name) => {
                if self.peek() != TokenKind::Str {
                    return Err(self.wrong(Code::ExpectedToken, "expected a string"));
                }
                let attr = self.attr()?;
                self.set_attr(name, attr);
                Ok(())
            }
            Element::ResultIs(ty) => {
                self.out.result_types.push(ty);
                Ok(())
            }
            Element::ResultTypes => self.result_types(),
            Element::OptArrowTypes => self.opt_arrow_types(),
            Element::OptArrowResultTypes => {
                if self.eat(TokenKind::Arrow) {
                    self.result_types()
                } else {
                    Ok(())
                }
            }
            Element::FunctionType(from) => self.function_type(from as usize),
            Element::OptRounding => {
                self.opt_rounding();
                Ok(())
            }
            Element::Predicate(names) => {
                let at = self.enum_case(names)?;
                let attr = self.int_attr(at as i64, Type::I64);
                self.set_attr("predicate", attr);
                Ok(())
            }
            Element::Select => self.select(),
            Element::SymbolName => {
                self.expect(TokenKind::At)?;
                self.define_symbol();
                Ok(())
            }
            Element::OptSymbolName => {
                if self.eat(TokenKind::At) {
                    self.define_symbol();
                }
                Ok(())
            }
            Element::SymbolUse(attr) => {
                let token = self.expect(TokenKind::At)?;
                let name = self.symbol_text(token.span());
                let mut path = vec![name];
                while self.peek() == TokenKind::Colon && self.peek_at(1) == TokenKind::Colon {
                    self.at += 2;
                    let token = self.expect(TokenKind::At)?;
                    path.push(self.symbol_text(token.span()));
                }
                if path.len() > 1 {
                    self.at -= 1;
                    let message = "expected a symbol name, not a nested reference";
                    return Err(self.wrong(Code::InvalidAttribute, message));
                }
                let symbol = self.env.interner.attr(AttrData::Symbol(path.into()));
                self.set_attr(attr, symbol);
                Ok(())
            }
            Element::Successor => self.successor(),
            Element::SuccessorSegments => {
                let sizes: Vec<i64> = std::iter::once(1)
                    .chain(self.out.successors.iter().map(|it| it.operands.len() as i64))
                    .collect();
                self.segments(&sizes);
                Ok(())
            }
            Element::Switch => self.switch(),
            Element::Region => self.region().map(|_| ()),
            Element::OptRegion => self.function_body(),
            Element::OptElse => {
                if self.eat_word("else") {
                    self.region()?;
                }
                Ok(())
            }
            Element::Visibility => {
                if let Some(it) = ["public", "private", "nested"].iter().find(|it| self.is_word(it))
                {
                    self.at += 1;
                    self.set_string_attr("sym_visibility", it);
                }
                Ok(())
            }
            Element::OptWeights => self.opt_weights(),
            Element::FuncSignature => self.func_signature(),
            Element::ScfFor => self.scf_for(),
            Element::ScfWhile => self.scf_while(),
            Element::ScfParallel => self.scf_parallel(),
            Element::ScfReduce => self.scf_reduce(),
            Element::ScfForall => self.scf_forall(),
            Element::IndexSwitch => self.index_switch(),
            Element::AffineFor => self.affine_for(),
            Element::AffineParallel => self.affine_parallel(),
            Element::AffineApply(attr) => self.affine_apply(attr),
            Element::AffineAccess(attr) => self.affine_access(attr),
            Element::AccessedTypes(maps) => self.accessed_types(maps),
            Element::OptStride => self.opt_stride(),
            Element::PrefetchKind => self.prefetch_kind(),
            Element::Delinearize => self.delinearize(),
            Element::Linearize => self.linearize(),
            Element::OptNontemporal => self.opt_nontemporal(),
            Element::OptInt(name) => self.opt_int(name),
            Element::Int32(name) => {
                let value = self.integer()?;
                let ty = self.i32_type();
                let attr = self.int_attr(value, ty);
                self.set_attr(name, attr);
                Ok(())
            }
            Element::Permutation(name) => self.permutation(name),
            Element::Subview => self.subview(),
            Element::ReinterpretCast => self.reinterpret_cast(),
            Element::Reassociation => {
                let attr = self.attr()?;
                self.set_attr("reassociation", attr);
                Ok(())
            }
            Element::OutputShape => self.output_shape(),
            Element::Global => self.global(),
            Element::RmwKind => {
                let kind = self.rmw_kind()?;
                let attr = self.int_attr(kind as i64, Type::I64);
                self.set_attr("kind", attr);
                Ok(())
            }
            Element::RmwTypes => self.rmw_types(),
        }
    }

    // Operands.

    fn paren_uses(&mut self, ty: Type) -> Res {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| it.operand(ty).map(|_| ()))
    }

    /// `%a, %b : i32, i64`
    pub(super) fn uses_types(&mut self) -> Res {
        let first = self.out.operands.len();
        loop {
            self.operand(Type::UNKNOWN)?;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Colon)?;
        self.operand_types(first)
    }

    /// Types for operands `first..`, separated by commas.
    fn operand_types(&mut self, first: usize) -> Res {
        let mut at = first;
        loop {
            let ty = self.ty()?;
            self.set_operand_type(at, ty);
            at += 1;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        let (n, n_types) = (self.out.operands.len() - first, at - first);
        if n != n_types {
            let span = self.out.operands[first].span;
            let message = format!("{n} operands present, but expected {n_types}");
            self.mismatch(Code::OperandCount, span, message);
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
        let span = self.token().span();
        if !self.eat_word("attributes") {
            return Ok(());
        }
        if !self.is_empty_region() && self.peek() != TokenKind::LBrace {
            return Err(self.expected("'{'"));
        }
        let Some(dict) = self.opt_dict()? else { return Ok(()) };
        if self.out.kind == OpKind::FuncFunc
            && let AttrData::Dict(entries) = self.env.interner.attr_data(dict)
        {
            let said = ["sym_visibility", "sym_name", "function_type"];
            let twice = said.iter().find(|said| {
                entries.iter().any(|(name, _)| self.env.interner.str(*name) == **said)
            });
            if let Some(name) = twice {
                let message =
                    format!("'{name}' belongs before the attribute dictionary, not in it");
                return Err(self.broken(Code::InvalidAttribute, span, message));
            }
        }
        self.add_dict(dict);
        Ok(())
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
        if self.peek() == TokenKind::Eof {
            return Err(self.expected("an attribute value"));
        }
        let attr = self.attr()?;
        let Some(ty) = self.env.interner.attr_type(attr) else {
            return Err(self.broken(
                Code::InvalidAttribute,
                span,
                "a constant needs a value with a type".into(),
            ));
        };
        self.set_attr("value", attr);
        self.out.result_types.push(ty);
        Ok(())
    }

    /// An integer with its sign. MLIR takes `true` and `false` for integers of one bit.
    pub(super) fn integer(&mut self) -> Res<i64> {
        self.integer_up_to(i64::MAX.into())
    }

    /// As [`Reader::integer`], or an unsigned one of 64 bits: the signed one of the same bits.
    pub(super) fn bits(&mut self) -> Res<i64> {
        self.integer_up_to(u64::MAX.into())
    }

    fn integer_up_to(&mut self, most: i128) -> Res<i64> {
        for (word, value) in [("true", -1), ("false", 0)] {
            if self.eat_word(word) {
                return Ok(value);
            }
        }
        let is_negative = self.eat(TokenKind::Minus);
        if self.peek() != TokenKind::Int {
            return Err(self.wrong(Code::ExpectedToken, "expected an integer"));
        }
        let text = self.word();
        let value = match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => text.parse::<i128>(),
        };
        let value = value.map(|it| if is_negative { -it } else { it });
        let is_within = |it: &i128| (i64::MIN.into()..=most).contains(it);
        let Some(value) = value.ok().filter(is_within) else {
            return Err(self.wrong(Code::TooLarge, "integer value too large"));
        };
        self.at += 1;
        Ok(value as i64)
    }

    /// One of these names, bare or as a string: its number.
    pub(super) fn enum_case(&mut self, names: &[&str]) -> Res<usize> {
        let text = match self.peek() {
            TokenKind::Bare | TokenKind::Str => unquoted(self.word()),
            _ => {
                let message = format!("expected one of {}", names.join(", "));
                return Err(self.wrong(Code::UnknownCase, message));
            }
        };
        let Some(at) = names.iter().position(|it| *it == text) else {
            return Err(
                self.wrong(Code::UnknownCase, format!("expected one of {}", names.join(", ")))
            );
        };
        self.at += 1;
        Ok(at)
    }
}
