//! Custom forms: walks along the description in the op table, one that reads it and one that writes it.
//!
//! Each element of a description has an arm in [`Reader::walk`] and one in [`Printer::write_form`]. What takes more than a few
//! lines stands in a file by its idea, reader and writer one below the other: `types.rs`, `flag.rs`, `branch.rs`, `func.rs`,
//! `loops.rs`, `affine.rs`, `memref.rs`.

use super::Form;
use super::opaque::count_results;
use super::reader::{Reader, Res};
use crate::dialect::format::E;
use crate::print::{Fits, Printer, Tool, Types, Unfit, fits};
use crate::{Attr, AttrData, Code, OpKind, Span, T, Type, dialect};

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
        let format = self.out.kind.spec().format;
        if is_lenient(self.out.kind) {
            return self.lenient(format);
        }
        self.walk(format)
    }

    /// `linalg.map { arith.addf } ins(...)`: inside an op that nobody knows, a name, perhaps attributes, and no operands, on the line of the brace.
    fn is_inline_payload(&mut self) -> bool {
        let is_end = match self.tokens.get(1).map(|it| it.kind) {
            None => true,
            Some(T::LBrace | T::Region) => {
                !self.tokens.iter().any(|it| matches!(it.kind, T::Percent | T::Colon | T::Caret))
            }
            _ => false,
        };
        let may_be = is_end
            && self.at == 1
            && !self.tokens[0].at_line_start
            && self.out.kind.has(dialect::Traits::PURE)
            && !self.out.kind.has(dialect::Traits::TERMINATOR)
            && self.slice(self.tokens[0]).contains('.');
        self.out.asks_dialect |= may_be;
        may_be && self.env.default_dialect == Some(dialect::SOME_DIALECT)
    }

    fn unknown(&mut self, name: crate::Name, span: Span) -> Res {
        let full = self.env.interner.str(name).to_owned();
        let dialect = full.split_once('.').map_or("", |it| it.0);
        let unprefixed = !self.slice(self.tokens[self.at - 1]).contains('.');
        let is_anyones = self.env.default_dialect == Some(dialect::SOME_DIALECT);
        if dialect::is_closed(dialect)
            || unprefixed && matches!(dialect, "" | "func" | "builtin") && !is_anyones
        {
            let _ = self.broken(Code::UnknownOp, span, super::item::unknown_op(dialect, &full));
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
        format.iter().try_for_each(|it| self.element(*it))
    }

    /// One element: an arm for each, so that one that nobody reads does not compile.
    #[expect(clippy::too_many_lines, reason = "one arm for each element")]
    fn element(&mut self, element: E) -> Res {
        match element {
            E::Punct(kind) => self.expect(kind).map(|_| ()),
            E::Uses(n) => {
                self.operand(Type::UNKNOWN)?;
                for _ in 1..n {
                    self.expect(T::Comma)?;
                    self.operand(Type::UNKNOWN)?;
                }
                Ok(())
            }
            E::AttrDict => self.attr_dict(),
            E::Type(bind) => self.bound_type(bind),
            E::Use(ty) => self.operand(ty).map(|_| ()),
            E::Word(word) => self.expect_word(word),
            E::EitherWord(one, other) => {
                if !self.eat_word(one) {
                    self.expect_word(other)?;
                }
                Ok(())
            }
            E::OptWord(word, attr) => {
                if self.eat_word(word) {
                    self.set_attr(attr, Attr::UNIT);
                }
                Ok(())
            }
            E::OptFlags(flags) => self.opt_flags(flags),
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
                    return Err(self.wrong(Code::ExpectedToken, "expected a string"));
                }
                let attr = self.attr()?;
                self.set_attr(name, attr);
                Ok(())
            }
            E::ResultIs(ty) => {
                self.out.result_types.push(ty);
                Ok(())
            }
            E::ResultTypes => self.result_types(),
            E::OptArrowTypes => self.opt_arrow_types(),
            E::OptArrowResultTypes => {
                if self.eat(T::Arrow) {
                    self.result_types()
                } else {
                    Ok(())
                }
            }
            E::FunctionType(from) => self.function_type(from as usize),
            E::OptRounding => {
                self.opt_rounding();
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
                if path.len() > 1 {
                    self.at -= 1;
                    let message = "expected the name of a symbol in reach, no path";
                    return Err(self.wrong(Code::InvalidAttribute, message));
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
            E::OptWeights => self.opt_weights(),
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
            E::AffineAccess(attr) => self.affine_access(attr),
            E::AccessedTypes(maps) => self.accessed_types(maps),
            E::OptStride => self.opt_stride(),
            E::PrefetchKind => self.prefetch_kind(),
            E::Delinearize => self.delinearize(),
            E::Linearize => self.linearize(),
            E::OptNontemporal => self.opt_nontemporal(),
            E::OptInt(name) => self.opt_int(name),
            E::Int32(name) => {
                let value = self.integer()?;
                let ty = self.i32_type();
                let attr = self.int_attr(value, ty);
                self.set_attr(name, attr);
                Ok(())
            }
            E::Permutation(name) => self.permutation(name),
            E::Subview => self.subview(),
            E::ReinterpretCast => self.reinterpret_cast(),
            E::Reassociation => {
                let attr = self.attr()?;
                self.set_attr("reassociation", attr);
                Ok(())
            }
            E::OutputShape => self.output_shape(),
            E::Global => self.global(),
            E::RmwKind => {
                let kind = self.rmw_kind()?;
                let attr = self.int_attr(kind as i64, Type::I64);
                self.set_attr("kind", attr);
                Ok(())
            }
            E::RmwTypes => self.rmw_types(),
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
        if !self.is_empty_region() && self.peek() != T::LBrace {
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
                let message = format!("'{name}' is said before the dictionary, and not in it");
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
        if self.peek() == T::Eof {
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
        for (word, value) in [("true", -1), ("false", 0)] {
            if self.eat_word(word) {
                return Ok(value);
            }
        }
        let is_negative = self.eat(T::Minus);
        if self.peek() != T::Int {
            return Err(self.wrong(Code::ExpectedToken, "expected an integer"));
        }
        let text = self.word();
        let value = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => text.parse::<i64>(),
        };
        let Ok(value) = value else {
            return Err(self.wrong(Code::TooLarge, "integer value too large"));
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

impl Printer<'_> {
    /// Writes an op along the description of its form, behind its name: what [`Reader::walk`] reads.
    pub(crate) fn write_form(&mut self, format: &'static [E]) -> Fits {
        format.iter().try_for_each(|it| self.write_element(*it))
    }

    fn write_element(&mut self, element: E) -> Fits {
        match element {
            E::Punct(kind) => {
                match kind {
                    T::Comma => self.text.push(","),
                    T::LParen => self.text.push("("),
                    T::RParen => self.text.push(")"),
                    T::LSquare if self.text.out.ends_with(',') => self.text.push(" ["),
                    T::LSquare => self.text.push("["),
                    T::RSquare => self.text.push("]"),
                    T::Colon => self.word(":"),
                    T::Arrow => self.word("->"),
                    _ => return Err(Unfit),
                }
                Ok(())
            }
            E::Word(word) | E::EitherWord(word, _) => {
                self.word(word);
                Ok(())
            }
            E::OptWord(word, attr) => match self.op_attr(attr) {
                Some(Attr::UNIT) => {
                    self.word(word);
                    Ok(())
                }
                it => fits(it.is_none()),
            },
            E::Use(ty) => self.operand(ty),
            E::Uses(n) => {
                let values = self.take_operands(n.into())?;
                self.blank();
                self.values(&values)
            }
            E::ParenUses(ty) => {
                let values = self.take_operands(self.n_left())?;
                fits(ty == Type::UNKNOWN || values.iter().all(|it| self.type_of(*it) == ty))?;
                self.text.push("(");
                self.values(&values)?;
                self.text.push(")");
                Ok(())
            }
            E::Indices(open) => self.write_indices(open),
            E::OptUsesTypes => {
                let values = self.take_operands(self.n_left())?;
                if values.is_empty() {
                    return Ok(());
                }
                self.blank();
                self.values_types(&values)
            }
            E::OptParenUsesTypes => {
                let values = self.take_operands(self.n_left())?;
                if values.is_empty() {
                    return Ok(());
                }
                self.text.push("(");
                self.values_types(&values)?;
                self.text.push(")");
                Ok(())
            }
            E::AttrDict => {
                self.other_attrs("");
                Ok(())
            }
            E::AttrDictWithKeyword => {
                self.other_attrs("attributes");
                Ok(())
            }
            E::ConstantValue => {
                let value = self.op_attr("value").ok_or(Unfit)?;
                fits(self.ir.interner.attr_type(value) == Some(self.take_result()?))?;
                self.attr_word(value, Types::All);
                Ok(())
            }
            E::StrAttr(name) => {
                self.string(name).ok_or(Unfit)?;
                self.attr_word(self.op_attr(name).ok_or(Unfit)?, Types::All);
                Ok(())
            }
            E::Type(bind) => self.write_bound_type(bind),
            E::ResultIs(ty) => fits(self.take_result()? == ty),
            E::ResultTypes => {
                let types = self.take_results()?;
                fits(!types.is_empty())?;
                self.blank();
                self.text.types(&types);
                Ok(())
            }
            E::OptArrowTypes => self.write_arrow_types(),
            E::OptArrowResultTypes => {
                let types = self.take_results()?;
                if !types.is_empty() {
                    self.word("-> ");
                    self.text.types(&types);
                }
                Ok(())
            }
            E::FunctionType(from) => self.write_function_type(from.into()),
            E::OptFlags(flags) => self.write_flags(flags),
            E::OptRounding => self.write_rounding(),
            E::Predicate(names) => {
                let at = usize::try_from(self.int("predicate")?).map_err(|_| Unfit)?;
                self.word(names.get(at).ok_or(Unfit)?);
                Ok(())
            }
            E::Select => self.write_select(),
            E::SymbolName => {
                let name = self.string("sym_name").ok_or(Unfit)?;
                self.blank();
                self.text.symbol(name);
                Ok(())
            }
            E::OptSymbolName => {
                if let Some(name) = self.string("sym_name") {
                    self.blank();
                    self.text.symbol(name);
                }
                Ok(())
            }
            E::SymbolUse(name) => {
                let symbol = self.op_attr(name).ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(symbol), AttrData::Symbol(_)))?;
                self.attr_word(symbol, Types::All);
                Ok(())
            }
            E::Successor => self.write_successor(),
            E::SuccessorSegments => {
                let sizes = self.segment_sizes::<3>()?;
                fits(sizes[0] == 1)
            }
            E::OptWeights => self.write_weights(),
            E::Switch => self.write_switch(),
            E::Region => self.next_region(),
            E::OptRegion => self.write_function_body(),
            E::OptElse => {
                let Ok(region) = self.region_at(1) else { return Ok(()) };
                if self.ir.items(region).next().is_none() {
                    self.skip_region();
                    return Ok(());
                }
                self.word("else");
                self.braces(region)
            }
            E::Visibility => {
                if let Some(visibility) = self.string("sym_visibility") {
                    self.word(self.ir.interner.str(visibility));
                }
                Ok(())
            }
            E::FuncSignature => self.write_func_signature(),
            E::ScfFor => self.write_scf_for(),
            E::ScfWhile => self.write_scf_while(),
            E::ScfParallel => self.write_scf_parallel(),
            E::ScfReduce => self.write_scf_reduce(),
            E::ScfForall => self.write_scf_forall(),
            E::IndexSwitch => self.write_index_switch(),
            E::AffineFor => self.write_affine_for(),
            E::AffineParallel => self.write_affine_parallel(),
            E::AffineApply(attr) => self.write_affine_apply(attr),
            E::AffineAccess(attr) => self.write_affine_access(attr),
            E::AccessedTypes(maps) => self.write_accessed_types(maps),
            E::OptStride => self.write_stride(),
            E::PrefetchKind => self.write_prefetch_kind(),
            E::Delinearize => self.write_delinearize(),
            E::Linearize => self.write_linearize(),
            E::OptNontemporal => {
                if self.tool != Tool::Mlir19
                    && let Some(value) = self.op_attr("nontemporal")
                {
                    self.word("nontemporal(");
                    self.text.attr(value);
                    self.text.push(")");
                }
                Ok(())
            }
            E::OptInt(name) => {
                if self.tool != Tool::Mlir19 && self.op_attr(name).is_some() {
                    let text = format!("{name} = {}", self.int(name)?);
                    self.word(&text);
                }
                Ok(())
            }
            E::Int32(name) => {
                let value = self.int(name)?;
                self.word(&value.to_string());
                Ok(())
            }
            E::Permutation(name) => self.write_permutation(name),
            E::Subview => self.write_static_lists(["[", "[", "["]),
            E::ReinterpretCast => {
                self.word("to");
                self.write_static_lists([" offset: [", ", sizes: [", ", strides: ["])
            }
            E::Reassociation => {
                let attr = self.op_attr("reassociation").ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(attr), AttrData::Array(_)))?;
                self.attr_word(attr, Types::All);
                Ok(())
            }
            E::OutputShape => {
                self.word("output_shape ");
                let sizes = self.ints("static_output_shape")?;
                self.write_mixed("[", &sizes, "]")
            }
            E::Global => self.write_global(),
            E::RmwKind => self.write_rmw_kind(),
            E::RmwTypes => self.write_rmw_types(),
        }
    }
}

/// Whether what does not fit the table may be right all the same.
pub(super) fn is_lenient(kind: OpKind) -> bool {
    kind.spec().name.starts_with("memref.")
}
