//! Parses the parts that items share: result names, the generic form, labels, aliases and resource
//! sections.

use rustc_hash::FxHashSet;

use super::opaque::n_named_results;
use super::reader::{ReadResult, Reader};
use super::{Alias, Form, ParsedArgument, ParsedResult, ParsedSuccessor, ParsedSymbol};
use crate::op_traits::{AttrSpec, PassedOperands};
use crate::string::{symbols_in_body, unquoted};
use crate::{
    Attr, AttrData, Code, MAX_REGION_DEPTH, Name, OpKind, Span, Token, TokenKind, Type, TypeData,
    namespace,
};

impl Reader<'_, '_> {
    pub(super) fn item(&mut self) {
        let result = match self.peek() {
            TokenKind::Caret => self.label(),
            TokenKind::Hash | TokenKind::HashBody => self.alias(OpKind::AttrAlias),
            TokenKind::Bang | TokenKind::BangBody => self.alias(OpKind::TypeAlias),
            TokenKind::FileMetaOpen => self.resources(),
            _ => self.op(),
        };
        if result.is_err() {
            self.out.form = Form::Broken;
            // The header defines its arguments even if the following text is malformed.
            if !self.header_arguments.is_empty() {
                let arguments = std::mem::take(&mut self.header_arguments);
                self.out.region_arguments.push(arguments);
            }
        }
        self.find_symbols();
    }

    /// Checks that nothing follows the item. Unknown text on a new line is a problem, but not an
    /// error of the item: the item is parsed without that line, so an unfinished line does not
    /// affect the op above.
    fn expect_end(&mut self) -> ReadResult {
        let is_apart = self.peek() != TokenKind::Eof && self.token().is_at_line_start;
        let is_junk = is_apart && !self.is_known_op();
        let n_problems = self.out.problems.len();
        let result = self.expect_no_more_tokens();
        if result.is_err() && is_junk && self.out.problems.len() == n_problems + 1 {
            self.out.is_followed_by_junk = true;
            return Ok(());
        }
        result
    }

    fn expect_no_more_tokens(&mut self) -> ReadResult {
        match self.peek() {
            TokenKind::Eof => Ok(()),
            // The following tokens are part of the next op.
            TokenKind::Percent => {
                self.at += 1;
                Err(self.expected("'=' after the SSA name"))
            }
            TokenKind::Bare => self.second_op(),
            TokenKind::Str => {
                self.at += 1;
                Err(self.expected("'(' to start the operand list"))
            }
            TokenKind::Caret => {
                self.at += 1;
                Err(self.expected("':' after the block name"))
            }
            TokenKind::Bang | TokenKind::Hash => {
                self.at += 1;
                Err(self.expected("'=' in alias definition"))
            }
            // The range starts at the end of the previous token, as in MLIR. It ends at the end of
            // the current token, which may be lines below.
            kind if kind != TokenKind::Error && self.token().is_at_line_start => {
                let span = match kind {
                    // The name of the result is missing.
                    TokenKind::Equal => self.token().span(),
                    _ => Span::new(self.end_before(), self.token().end),
                };
                Err(self.error_at(Code::ExpectedToken, span, "expected an operation".into()))
            }
            _ => Err(self.expected("an operation")),
        }
    }

    /// Returns true if the current token is the name of a known op.
    fn is_known_op(&mut self) -> bool {
        if self.peek() != TokenKind::Bare {
            return false;
        }
        let name = self.full_name(self.word());
        name.is_some_and(|it| self.env.interner.op_kind(it) != OpKind::Unknown)
    }

    /// Parses an op that does not start a line: it is part of the item of the preceding op. This is
    /// legal, but rarely intended.
    fn second_op(&mut self) -> ReadResult {
        if !self.is_known_op() {
            let message = format!("custom op '{}' is unknown", self.word());
            return Err(self.error_here(Code::UnknownOp, message));
        }
        let mut second = super::ParsedItem::default();
        super::parse_item(self.text, &self.tokens[self.at..], self.env, &mut second);
        self.out.depends_on_dialect |= second.depends_on_dialect;
        let span = self.token().span();
        self.at = self.tokens.len();
        self.out.operands.extend(second.operands);
        self.out.alias_uses.extend(second.alias_uses);
        self.out.alias_reads.extend(second.alias_reads);
        if let Some(problem) = second.problems.into_iter().next() {
            self.out.problems.push(problem);
            return Err(super::reader::ReportedError);
        }
        if self.out.kind.has(crate::Traits::TERMINATOR) {
            self.report_structure(
                Code::TerminatorNotLast,
                span,
                "a terminator must be the last op of its block",
            );
        }
        Ok(())
    }

    /// Parses `^bb0(%a: i32 loc(...), ...):`.
    fn label(&mut self) -> ReadResult {
        self.out.kind = OpKind::Label;
        self.out.form = Form::Custom;
        let token = self.bump();
        self.out.name_span = token.span();
        let name = self.slice(token);
        let name = self.name(&name[1..]);
        self.out.name = Some(name);
        if self.eat(TokenKind::LParen) {
            self.list(TokenKind::RParen, |it| {
                let name_span = it.token().span();
                let operand = it.value(Type::UNKNOWN)?;
                // In this list only, MLIR accepts `%a#0` for `%a`. `%a#1` defines no name.
                let name = (operand.number == 0).then_some(operand.name);
                if !it.eat(TokenKind::Colon) {
                    return Err(it.expected("':' and a type"));
                }
                let ty = it.ty()?;
                it.opt_location()?;
                it.out.arguments.push(ParsedArgument { name, span: name_span, ty, attrs: None });
                Ok(())
            })?;
        }
        self.expect(TokenKind::Colon)?;
        match self.peek() {
            TokenKind::Eof => Ok(()),
            _ => self.expect_end(),
        }
    }

    fn alias(&mut self, kind: OpKind) -> ReadResult {
        self.out.kind = kind;
        self.out.form = Form::Custom;
        let token = self.bump();
        self.out.name_span = token.span();
        let spelled = self.slice(token);
        let name = self.name(spelled);
        self.out.name = Some(name);
        if spelled.contains('.') {
            self.at = 0;
            let message = "names with a '.' are reserved for dialects";
            return Err(self.error_here(Code::DottedAlias, message));
        }
        if self.peek() != TokenKind::Equal {
            return Err(self.expected("'=' in alias definition"));
        }
        self.bump();
        // The alias is defined even if its value is malformed.
        self.out.alias = Some(match kind {
            OpKind::TypeAlias => Alias::Type(Type::UNKNOWN),
            _ => Alias::Attr(Attr::UNKNOWN),
        });
        if kind == OpKind::TypeAlias {
            self.out.alias = Some(Alias::Type(self.ty()?));
        } else {
            self.out.alias = Some(Alias::Attr(self.attr()?));
        }
        self.expect_end()
    }

    /// Parses `{-# dialect_resources: { dialect: { key: "0x..." } } #-}`.
    fn resources(&mut self) -> ReadResult {
        self.out.kind = OpKind::Resources;
        self.out.form = Form::Custom;
        self.out.name_span = self.bump().span();
        if self.eat(TokenKind::FileMetaClose) {
            return self.expect_end();
        }
        loop {
            let key = self.resource_key("expected a key of the resource section")?;
            self.expect(TokenKind::Colon)?;
            let map = self.resource_map(3)?;
            // A section may occur several times.
            self.out.attrs.push((key, map));
            if self.eat(TokenKind::FileMetaClose) {
                return self.expect_end();
            }
            if !self.eat(TokenKind::Comma) {
                return Err(self.expected("',' or '#-}'"));
            }
        }
    }

    fn resource_key(&mut self, what: &'static str) -> ReadResult<Name> {
        let token = self.token();
        let name = match token.kind {
            TokenKind::Bare => self.name(self.slice(token)),
            TokenKind::Str => self.string(token.span()),
            _ => return Err(self.error_here(Code::ExpectedToken, what)),
        };
        self.at += 1;
        Ok(name)
    }

    /// Parses entries in braces as a dictionary, in the order of the text.
    fn resource_map(&mut self, depth: usize) -> ReadResult<Attr> {
        let mut entries = Vec::new();
        // The skeleton may have replaced the braces by a region.
        if self.peek() == TokenKind::Region {
            self.at += 1;
        } else {
            self.expect(TokenKind::LBrace)?;
            self.list(TokenKind::RBrace, |it| {
                let key = it.resource_key("expected a key")?;
                it.expect(TokenKind::Colon)?;
                let value = match it.peek() {
                    TokenKind::LBrace | TokenKind::Region if depth > 0 => {
                        it.resource_map(depth - 1)?
                    }
                    TokenKind::Str | TokenKind::Int => it.attr()?,
                    TokenKind::Bare if matches!(it.word(), "true" | "false") => it.attr()?,
                    TokenKind::Bare => {
                        let token = it.bump();
                        let word = it.name(it.slice(token));
                        it.env.interner.intern_attr(AttrData::Text(word, None))
                    }
                    _ => return Err(it.expected("a value")),
                };
                entries.push((key, value));
                Ok(())
            })?;
        }
        Ok(self.env.interner.intern_attr(AttrData::Dict(entries.into())))
    }

    fn op(&mut self) -> ReadResult {
        if self.peek() == TokenKind::Percent {
            self.result_names()?;
        }
        match self.peek() {
            TokenKind::Str => {
                self.out.form = Form::Generic;
                self.generic()?;
            }
            TokenKind::Bare => self.custom()?,
            TokenKind::Error => return Err(self.lexical(self.token())),
            _ => return Err(self.expected("an operation name")),
        }
        if self.out.form == Form::Opaque {
            return Ok(());
        }
        self.opt_location()?;
        self.expect_end()?;
        self.check_results();
        Ok(())
    }

    fn result_names(&mut self) -> ReadResult {
        loop {
            if self.peek() != TokenKind::Percent {
                return Err(self.expected("an SSA name"));
            }
            let token = self.bump();
            let name = self
                .env
                .interner
                .intern_name(&self.text[token.start as usize + 1..token.end as usize]);
            let mut count = 1;
            if self.eat(TokenKind::Colon) {
                if self.peek() != TokenKind::Int {
                    return Err(self.expected("an integer number of results"));
                }
                let Ok(n @ 1..) = self.word().parse::<u32>() else {
                    let message = "expected a named operation to have at least 1 result";
                    return Err(self.error_here(Code::NoResults, message));
                };
                count = n;
                self.bump();
            }
            self.out.results.push(ParsedResult { name, span: token.span(), count });
            if self.eat(TokenKind::Equal) {
                return Ok(());
            }
            if !self.eat(TokenKind::Comma) {
                return Err(self.expected("'=' after the SSA name"));
            }
        }
    }

    /// Checks that the number of names is the number of results.
    fn check_results(&mut self) {
        if self.out.results.is_empty() || self.out.is_guessed {
            return;
        }
        let named = n_named_results(self.out);
        let actual = self.out.result_types.len() as u64;
        if named == actual {
            return;
        }
        let span = self.out.results[0].span;
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let message = if actual == 0 {
            format!("cannot name an operation with no results: `{name}`")
        } else {
            format!("`{name}` defines {actual} results but was provided {named} to bind")
        };
        self.report_mismatch(Code::ResultCount, span, message);
    }

    /// Parses `"dialect.op"(%a)[^bb] <{...}> ({...}) {...} : (i32) -> i32`.
    fn generic(&mut self) -> ReadResult {
        let token = self.bump();
        self.out.name_span = token.span();
        let name = self.string(token.span());
        self.out.name = Some(name);
        self.out.kind = self.env.interner.op_kind(name);
        let full = self.env.interner.str(name);
        if full.is_empty() {
            self.at -= 1;
            return Err(self.error_here(Code::EmptyName, "empty operation name is invalid"));
        }
        if self.out.kind == OpKind::Unknown
            && let Some((dialect, _)) = full.split_once('.')
            && namespace::is_closed(dialect)
        {
            let message = OpKind::unknown_message(dialect, full);
            self.report_structure(Code::UnregisteredOp, token.span(), message);
        }
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| it.operand(Type::UNKNOWN).map(|_| ()))?;
        if self.eat(TokenKind::LSquare) {
            if self.peek() == TokenKind::RSquare {
                return Err(self.expected("a block name"));
            }
            self.list(TokenKind::RSquare, |it| {
                let token = it.expect(TokenKind::Caret)?;
                let name = it.slice(token);
                let name = it.name(&name[1..]);
                it.out.successors.push(ParsedSuccessor {
                    name,
                    span: token.span(),
                    operands: 0..0,
                });
                Ok(())
            })?;
        }
        if self.eat(TokenKind::Less) {
            let properties = match self.peek() {
                TokenKind::LBrace | TokenKind::Region => self.opt_dict()?,
                _ => Some(self.other_properties()?),
            };
            if let Some(it) = properties {
                self.add_properties(it);
            }
            self.expect(TokenKind::Greater)?;
        }
        if self.peek() == TokenKind::LParen {
            self.bump();
            if self.peek() == TokenKind::RParen {
                return Err(self.expected("a region"));
            }
            self.list(TokenKind::RParen, |it| it.region().map(|_| ()))?;
        }
        // Properties take precedence over attributes with the same name.
        let properties = std::mem::take(&mut self.out.attrs);
        let result = self.attr_dict();
        if !properties.is_empty() {
            let names: FxHashSet<Name> = properties.iter().map(|it| it.0).collect();
            self.out.attrs.retain(|it| !names.contains(&it.0));
            self.out.attrs.extend(properties);
        }
        result?;
        self.expect(TokenKind::Colon)?;
        let type_span = self.token().span();
        let ty = self.ty()?;
        self.bind_generic_types(ty, type_span)?;
        self.drop_defaults();
        self.generic_successors();
        Ok(())
    }

    /// Parses properties that are not written as a dictionary. For known ops, only an alias of a
    /// dictionary is allowed.
    fn other_properties(&mut self) -> ReadResult<Attr> {
        let span = self.token().span();
        let attr = self.attr()?;
        let data = self.env.interner.attr_data(attr);
        if self.out.kind != OpKind::Unknown
            && !matches!(data, AttrData::Dict(_) | AttrData::Unknown)
        {
            let message = "the properties of an op are a dictionary, such as <{a = 1}>".to_owned();
            return Err(self.error_at(Code::InvalidAttribute, span, message));
        }
        Ok(attr)
    }

    /// Adds `<{..}>`. A known op keeps only the properties in its row: properties differ between
    /// versions, and the others have no meaning.
    fn add_properties(&mut self, dict: Attr) {
        let kind = self.out.kind;
        self.add_dict(dict);
        if kind != OpKind::Unknown {
            let interner = &*self.env.interner;
            let spec = kind.spec();
            self.out.attrs.retain(|it| spec.attr(interner.str(it.0)).is_some());
        }
    }

    fn bind_generic_types(&mut self, ty: Type, type_span: Span) -> ReadResult {
        let n_inputs = match self.env.interner.type_data(ty) {
            TypeData::Function { inputs, results } => {
                for (operand, ty) in self.out.operands.iter_mut().zip(inputs) {
                    operand.ty = *ty;
                }
                self.out.result_types.extend_from_slice(results);
                inputs.len()
            }
            TypeData::Unknown => {
                self.out.is_guessed = true;
                return Ok(());
            }
            _ => {
                return Err(self.error_at(
                    Code::ExpectedToken,
                    type_span,
                    "expected a function type".into(),
                ));
            }
        };
        let n_operands = self.out.operands.len();
        if n_inputs != n_operands {
            let message = format!("expected {n_operands} operand types but had {n_inputs}");
            self.report_mismatch(Code::OperandCount, type_span, message);
        }
        Ok(())
    }

    /// Assigns operands to successors if the op is known.
    fn generic_successors(&mut self) {
        let n = self.out.operands.len() as u32;
        match self.out.kind.spec().passed_operands {
            PassedOperands::All => {
                if let [only] = self.out.successors.as_mut_slice() {
                    only.operands = 0..n;
                }
            }
            PassedOperands::Segments => {
                let sizes = self.attr_ints("operandSegmentSizes");
                if let [condition, yes, no] = sizes[..]
                    && let [first, second] = self.out.successors.as_mut_slice()
                    && condition + yes + no == i128::from(n)
                    && [condition, yes, no].iter().all(|it| *it >= 0)
                {
                    let (condition, yes) = (condition as u32, yes as u32);
                    first.operands = condition..condition + yes;
                    second.operands = condition + yes..n;
                }
            }
            PassedOperands::Cases => {
                let sizes = self.attr_ints("operandSegmentSizes");
                let cases = self.attr_ints("case_operand_segments");
                if let [flag, default, rest] = sizes[..]
                    && flag + default + rest == i128::from(n)
                    && cases.iter().all(|it| *it >= 0)
                    && cases.iter().sum::<i128>() == rest
                {
                    let mut at = flag as u32;
                    let sizes = std::iter::once(default).chain(cases);
                    for (successor, size) in self.out.successors.iter_mut().zip(sizes) {
                        successor.operands = at..at + size as u32;
                        at += size as u32;
                    }
                }
            }
            PassedOperands::None => {}
        }
    }

    /// Returns the integers of a dense array attribute.
    fn attr_ints(&self, name: &str) -> Vec<i128> {
        let interner = &*self.env.interner;
        let found = self.out.attrs.iter().find(|it| interner.str(it.0) == name);
        match found.map(|it| interner.attr_data(it.1)) {
            Some(AttrData::DenseArray { values, .. }) => values
                .iter()
                .filter_map(|it| match interner.attr_data(*it) {
                    AttrData::Int { value, .. } => Some(*value),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Removes inherent attributes that have their default value.
    pub(super) fn drop_defaults(&mut self) {
        let spec = self.out.kind.spec();
        if self.out.attrs.is_empty() || spec.attrs.iter().all(|it| it.default().is_none()) {
            return;
        }
        let interner = &*self.env.interner;
        self.out.attrs.retain(|&(name, attr)| {
            let default = spec.attr(interner.str(name)).and_then(AttrSpec::default);
            default.is_none_or(|it| interner.short_attr_text(attr) != it)
        });
    }

    /// Parses a region. Its arguments are those that the header has defined.
    pub(crate) fn region(&mut self) -> ReadResult<Span> {
        match self.peek() {
            TokenKind::Region => {}
            TokenKind::LBrace => {
                let message = format!("regions are nested more than {MAX_REGION_DEPTH} deep");
                return Err(self.error_here(Code::NestingTooDeep, message));
            }
            _ => return Err(self.expected("'{' to begin a region")),
        }
        self.n_regions += 1;
        let arguments = std::mem::take(&mut self.header_arguments);
        self.out.region_arguments.push(arguments);
        Ok(self.bump().span())
    }

    /// Collects the symbols that the op defines and uses, from all its tokens.
    fn find_symbols(&mut self) {
        let mut has_symbol = false;
        let mut at = 0;
        while at < self.tokens.len() {
            let token = self.tokens[at];
            at += 1;
            match token.kind {
                TokenKind::At => has_symbol = true,
                // The body of an attribute or type of a dialect is one token.
                TokenKind::HashBody | TokenKind::BangBody => {
                    for it in symbols_in_body(self.slice(token)) {
                        let span =
                            Span::new(token.start + it.start as u32, token.start + it.end as u32);
                        let name = self.symbol_text(span);
                        self.out.symbol_uses.push(ParsedSymbol { name, root: name, span });
                    }
                    continue;
                }
                _ => continue,
            }
            let root = self.symbol_text(token.span());
            let (mut name, mut span) = (root, token.span());
            while let [a, b, c, ..] = self.tokens[at..]
                && a.kind == TokenKind::Colon
                && b.kind == TokenKind::Colon
                && c.kind == TokenKind::At
            {
                name = self.symbol_text(c.span());
                span.end = c.end;
                at += 3;
            }
            if self.out.symbol.is_some_and(|it| it.span == span) {
                continue;
            }
            self.out.symbol_uses.push(ParsedSymbol { name, root, span });
        }
        if self.out.form == Form::Generic && (has_symbol || !self.out.attrs.is_empty()) {
            self.generic_symbol();
        }
    }

    /// Finds the symbol that an op in generic form defines: `sym_name = "f"` or `"sym_name" = "f"`.
    fn generic_symbol(&mut self) {
        let is_key = |it: Token| match it.kind {
            TokenKind::Bare => self.slice(it) == "sym_name",
            TokenKind::Str => unquoted(self.slice(it)) == "sym_name",
            _ => false,
        };
        let found = self.tokens.windows(3).find(|it| {
            it[1].kind == TokenKind::Equal && it[2].kind == TokenKind::Str && is_key(it[0])
        });
        if let Some(token) = found.map(|it| it[2]) {
            let name = self.string(token.span());
            self.out.symbol = Some(ParsedSymbol { name, root: name, span: token.span() });
        }
    }

    /// Returns the full name of an op from the written name; `None` if it has no dot and the
    /// default dialect has no such op.
    pub(super) fn full_name(&mut self, written: &str) -> Option<Name> {
        if written.contains('.') {
            return Some(self.name(written));
        }
        self.out.depends_on_dialect = true;
        let full = match (self.env.default_dialect?, written) {
            (namespace::ANY_DIALECT, name) => return Some(self.name(name)),
            ("func", "return") => "func.return",
            ("func", "call") => "func.call",
            ("builtin", "module") => "builtin.module",
            (it @ ("func" | "builtin"), name) if !namespace::is_unprefixed_op(it, name) => {
                return None;
            }
            (dialect, name) => return Some(self.name(&format!("{dialect}.{name}"))),
        };
        Some(self.name(full))
    }
}
