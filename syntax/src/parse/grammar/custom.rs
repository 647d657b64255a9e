//! Parses an op in custom form along the syntax in its row; helpers that parse pieces of syntax.
//!
//! The elements of syntax are in `dialect/syntax/`.

use super::Form;
use super::reader::{ReadResult, Reader};
use crate::string::unquoted;
use crate::{Attr, AttrData, Code, OpKind, Span, TokenKind, Type, namespace};

impl Reader<'_, '_> {
    /// Parses an op in custom form.
    pub(crate) fn custom(&mut self) -> ReadResult {
        let token = self.bump();
        let written = self.slice(token);
        self.out.name_span = token.span();
        let Some(name) = self.full_name(written) else {
            self.out.form = Form::Broken;
            let name = self.name(written);
            self.out.name = Some(name);
            let message = format!("custom op '{written}' is unknown");
            return Err(self.error_at(Code::UnknownOp, token.span(), message));
        };
        self.out.name = Some(name);
        self.out.kind = self.env.interner.op_kind(name);
        if self.out.kind == OpKind::Unknown {
            return self.unknown_op(name, token.span());
        }
        if self.is_inline_payload() {
            self.out.kind = OpKind::Unknown;
            return self.read_opaque();
        }
        self.out.form = Form::Custom;
        self.read_syntax(self.out.kind.spec().syntax)
    }

    /// True for `arith.addf` in `linalg.map { arith.addf } ins(...)`: an op name inside an unknown
    /// op, on the line of the brace, with optional attributes and without operands.
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
            && !self.tokens[0].is_at_line_start
            && self.out.kind.is_pure()
            && !self.out.kind.has(crate::Traits::TERMINATOR)
            && self.slice(self.tokens[0]).contains('.');
        self.out.depends_on_dialect |= may_be;
        may_be && self.env.default_dialect == Some(namespace::ANY_DIALECT)
    }

    fn unknown_op(&mut self, name: crate::Name, span: Span) -> ReadResult {
        let full = self.env.interner.str(name).to_owned();
        let dialect = full.split_once('.').map_or("", |it| it.0);
        let unprefixed = !self.slice(self.tokens[self.at - 1]).contains('.');
        let is_anyones = self.env.default_dialect == Some(namespace::ANY_DIALECT);
        let is_cut = full.ends_with('.') && namespace::is_read_by_mlir(dialect);
        if namespace::is_closed(dialect)
            || is_cut
            || unprefixed && matches!(dialect, "" | "func" | "builtin") && !is_anyones
        {
            let _ = self.error_at(Code::UnknownOp, span, OpKind::unknown_message(dialect, &full));
            // The operands are still useful.
            self.is_quiet = true;
            let _ = self.read_opaque();
            self.is_quiet = false;
            self.out.form = Form::Broken;
            self.out.problems.truncate(1);
            return Err(super::reader::ReportedError);
        }
        self.read_opaque()
    }

    /// Parses `%a, %b : i32, i64`.
    pub(crate) fn uses_types(&mut self) -> ReadResult {
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

    /// Parses types for the operands from `first` on, separated by commas.
    fn operand_types(&mut self, first: usize) -> ReadResult {
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
            self.report_mismatch(Code::OperandCount, span, message);
        }
        Ok(())
    }

    pub(crate) fn set_segment_sizes(&mut self, sizes: &[i64]) {
        let ty = self.i32_type();
        let attr = self.dense_array(ty, sizes);
        self.set_attr("operandSegmentSizes", attr);
    }

    /// Parses an optional `attributes {..}`.
    pub(crate) fn opt_dict_with_keyword(&mut self) -> ReadResult<Option<Attr>> {
        if !self.eat_word("attributes") {
            return Ok(None);
        }
        if !self.is_empty_region() && self.peek() != TokenKind::LBrace {
            return Err(self.expected("'{'"));
        }
        self.opt_dict()
    }

    pub(crate) fn set_string_attr(&mut self, name: &str, value: &str) {
        let value = self.name(value);
        let attr = self.env.interner.intern_attr(AttrData::String(value, None));
        self.set_attr(name, attr);
    }

    /// Parses an integer with its sign. MLIR parses `true` and `false` as one-bit integers.
    pub(crate) fn integer(&mut self) -> ReadResult<i64> {
        self.integer_up_to(i64::MAX.into())
    }

    /// Like [`Reader::integer`], but also accepts unsigned 64-bit integers; returns the signed
    /// integer with the same bits.
    pub(crate) fn integer_bits(&mut self) -> ReadResult<i64> {
        self.integer_up_to(u64::MAX.into())
    }

    fn integer_up_to(&mut self, most: i128) -> ReadResult<i64> {
        for (word, value) in [("true", -1), ("false", 0)] {
            if self.eat_word(word) {
                return Ok(value);
            }
        }
        let is_negative = self.eat(TokenKind::Minus);
        if self.peek() != TokenKind::Int {
            return Err(self.error_here(Code::ExpectedToken, "expected an integer"));
        }
        let text = self.word();
        let value = match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => text.parse::<i128>(),
        };
        let value = value.map(|it| if is_negative { -it } else { it });
        let is_within = |it: &i128| (i64::MIN.into()..=most).contains(it);
        let Some(value) = value.ok().filter(is_within) else {
            return Err(self.error_here(Code::TooLarge, "integer value too large"));
        };
        self.at += 1;
        Ok(value as i64)
    }

    /// Parses one of these names, bare or as a string, and returns its index.
    pub(crate) fn enum_case(&mut self, names: &[&str]) -> ReadResult<usize> {
        let text = match self.peek() {
            TokenKind::Bare | TokenKind::Str => unquoted(self.word()),
            _ => {
                let message = format!("expected one of {}", names.join(", "));
                return Err(self.error_here(Code::UnknownCase, message));
            }
        };
        let Some(at) = names.iter().position(|it| *it == text) else {
            return Err(
                self.error_here(Code::UnknownCase, format!("expected one of {}", names.join(", ")))
            );
        };
        self.at += 1;
        Ok(at)
    }
}
