//! Parses ops without a row: heuristics find operands, successors and types.
//!
//! All `%x` among the own tokens of the op are operands, all `^x` successors. The result types are
//! the types after the last `:` or `->` outside brackets. If there are as many types as results,
//! each result gets its type. If there are more, a single result gets the type after `to`, or the
//! last one. It gets the first one if the list states the operand types and ends with a number type
//! (`: tensor<8xi32>, index`). These types are guesses, correct in four of five cases, and marked
//! as guesses. A `{key = value}` outside brackets is an attribute dictionary, which has the same
//! grammar for all ops. The dictionaries of operands and results follow their types
//! (`secret.generic(%a: T {key = value}) { .. } -> (T {..})`).
//!
//! The offsets, sizes and strides of `tensor.extract_slice` and `tensor.insert_slice` (`%a[%i, 0]
//! [1, 8] [1, 1]`) are lists as in the generic form, with a placeholder for each operand.
//!
//! The header of an unknown op may define the arguments of a region. That of `secret.generic` does
//! not: its form is known to this extent, and so are the types of its operands, its results and its
//! terminator's operands.

use smallvec::SmallVec;

use super::reader::{ReadResult, Reader, ReportedError};
use super::{Form, ParsedItem, ParsedSuccessor, ParsedSymbol};
use crate::namespace::{HEIR_OPERAND_COUNTS, SECRET_GENERIC, SECRET_YIELD};
use crate::op_traits::STATIC_LISTS;
use crate::string::unquoted;
use crate::{Attr, AttrData, Code, TokenKind, Type, TypeData};

/// Attribute dictionaries of operands and results, each with its number, in ascending order.
#[derive(Default)]
struct ListedAttrs {
    /// The number of the result whose type is being parsed; `None` before `->`.
    result: Option<usize>,
    of_operands: SmallVec<[(usize, Attr); 2]>,
    of_results: SmallVec<[(usize, Attr); 2]>,
}

impl ListedAttrs {
    /// Updates the number of the result at a token with this bracket depth.
    fn update_result(&mut self, token: TokenKind, depth: usize) {
        match token {
            TokenKind::Arrow if depth == 0 => self.result = Some(0),
            TokenKind::Comma if depth == 1 => self.result = self.result.map(|it| it + 1),
            _ => {}
        }
    }
}

/// Returns the number of values that the names on the left define.
pub(super) fn n_named_results(out: &ParsedItem) -> u64 {
    out.results.iter().map(|it| u64::from(it.count)).sum()
}

impl Reader<'_, '_> {
    /// Parses the rest of an op of unknown form, after its name.
    pub(super) fn read_opaque(&mut self) -> ReadResult {
        self.out.form = Form::Opaque;
        let from = self.at;
        let has_region = self.tokens[from..].iter().any(|it| it.kind == TokenKind::Region);
        let mut last_operand = from;
        let mut error = None;
        // Number of open brackets: only a dictionary outside all brackets has attributes of the op.
        let mut depth = 0_usize;
        let is_generic =
            self.out.name.is_some_and(|it| self.env.interner.str(it) == SECRET_GENERIC);
        // HEIR's generics in custom form have attributes of operands and results after their types.
        let mut listed = is_generic.then(ListedAttrs::default);
        // Their operands, each with its type, are in parentheses.
        let is_wrapped = is_generic && self.peek() == TokenKind::LParen;
        let is_heir = !has_region && self.is_of_heir();
        let mut types_from = None;
        let mut static_lists = self.is_slice().then(Vec::new);
        while self.at < self.tokens.len() {
            if is_heir && depth == 0 {
                self.check_heir_token(from, last_operand, &mut types_from)?;
            }
            if let Some(it) = &mut listed {
                it.update_result(self.peek(), depth);
            }
            if depth == 0
                && self.peek() == TokenKind::LSquare
                && let Some(lists) = &mut static_lists
            {
                lists.push(self.static_list());
            }
            match self.peek() {
                TokenKind::LBrace if depth == 0 && self.read_opaque_attrs() => continue,
                TokenKind::LBrace if depth == 1 && self.read_listed_attrs(listed.as_mut()) => {
                    continue;
                }
                // Properties: `<name = value>` or `<{name = value}>`.
                TokenKind::Less
                    if depth == 0
                        && self.peek_at(1) == TokenKind::Bare
                        && self.peek_at(2) == TokenKind::Equal
                        && self.read_opaque_attrs() =>
                {
                    continue;
                }
                TokenKind::Less if depth == 0 && self.peek_at(1) == TokenKind::LBrace => {
                    self.at += 1;
                    if !self.read_opaque_attrs() || !self.eat(TokenKind::Greater) {
                        depth += 1;
                    }
                    continue;
                }
                TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace | TokenKind::Less => {
                    depth += 1;
                }
                TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace | TokenKind::Greater => {
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Percent => {
                    let is_numbered = self.peek_at(1) == TokenKind::Hash
                        && self.slice(self.tokens[self.at + 1])[1..]
                            .bytes()
                            .all(|it| it.is_ascii_digit());
                    if is_numbered {
                        self.operand(Type::UNKNOWN)?;
                    } else {
                        let token = self.bump();
                        let text = self.slice(token);
                        let name = self.name(&text[1..]);
                        let (number, span) = (0, token.span());
                        self.out.operands.push(super::ParsedOperand {
                            name,
                            number,
                            span,
                            ty: Type::UNKNOWN,
                            may_be_argument: false,
                        });
                    }
                    if let Some(it) = self.out.operands.last_mut() {
                        it.may_be_argument = has_region && !is_generic;
                    }
                    if is_wrapped && depth == 1 && self.peek() != TokenKind::Colon {
                        return Err(self.expected("':'"));
                    }
                    if is_generic && depth == 1 && !self.read_following_type() && is_wrapped {
                        self.at += 1;
                        return Err(self.expected("a type"));
                    }
                    last_operand = self.at;
                    continue;
                }
                TokenKind::Caret => {
                    let token = self.token();
                    let text = self.slice(token);
                    let name = self.name(&text[1..]);
                    let span = token.span();
                    self.out.successors.push(ParsedSuccessor { name, span, operands: 0..0 });
                }
                TokenKind::Region if is_wrapped && depth > 0 => {
                    return Err(self.expected("')'"));
                }
                TokenKind::Region => {
                    self.n_regions += 1;
                    self.out.region_arguments.push(Vec::new());
                }
                TokenKind::Error if error.is_none() => error = Some(self.token()),
                TokenKind::Bare if self.word() == "loc" && self.peek_at(1) == TokenKind::LParen => {
                    self.skip_brackets();
                    continue;
                }
                TokenKind::Hash | TokenKind::Bang => {
                    let token = self.token();
                    let text = self.slice(token);
                    let is_number = text[1..].bytes().all(|it| it.is_ascii_digit());
                    if !text.contains('.') && !is_number {
                        let alias = self.name(text);
                        self.use_alias(alias, token.span());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        if is_wrapped {
            self.check_arrow_after_region()?;
        }
        if is_heir {
            self.check_heir_operands(last_operand, types_from)?;
        }
        if let Some(it) = listed {
            self.set_listed("__argattrs", &it.of_operands);
            self.set_listed("__resattrs", &it.of_results);
        }
        if let Some([Some(offsets), Some(sizes), Some(strides)]) = static_lists.as_deref() {
            for (name, list) in STATIC_LISTS.into_iter().zip([offsets, sizes, strides]) {
                let attr = self.dense_array(Type::I64, list);
                self.set_attr(name, attr);
            }
        }
        self.guess_symbol(from, has_region);
        if is_generic && self.read_secret_results() {
            self.at = self.tokens.len();
            return error.map_or(Ok(()), |it| Err(self.lexical(it)));
        }
        if self.writes_operand_types() {
            self.read_operand_types(last_operand.max(from));
        }
        if !self.out.results.is_empty() {
            if self.has_no_results(from) {
                let span = self.out.results[0].span;
                let message = "cannot name an operation with no results";
                self.report_mismatch(Code::ResultCount, span, message);
            }
            self.out.is_guessed = true;
            self.guess_types(last_operand.max(from));
        }
        self.at = self.tokens.len();
        match error {
            Some(token) => Err(self.lexical(token)),
            None => Ok(()),
        }
    }

    /// Returns true if the custom form of the op is known to consist of operands with commas, then
    /// attributes, then types. This holds for these dialects of HEIR.
    fn is_of_heir(&self) -> bool {
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let dialect = name.split_once('.').map_or("", |it| it.0);
        matches!(dialect, "mgmt" | "secret" | "tensor_ext")
    }

    /// Checks that `->` precedes the types after the region of a `secret.generic`.
    fn check_arrow_after_region(&mut self) -> ReadResult {
        let region = self.tokens.iter().rposition(|it| it.kind == TokenKind::Region);
        let Some(next) = region.map(|it| it + 1).filter(|&it| it < self.tokens.len()) else {
            return Ok(());
        };
        let is_type = matches!(
            self.tokens[next].kind,
            TokenKind::Bang | TokenKind::BangBody | TokenKind::LParen
        );
        if !is_type {
            return Ok(());
        }
        let end = std::mem::replace(&mut self.at, next);
        let result = Err(self.expected("'->'"));
        self.at = end;
        result
    }

    /// Checks the order of the parts of an op of HEIR, at a token outside brackets.
    fn check_heir_token(
        &mut self,
        from: usize,
        last_operand: usize,
        types_from: &mut Option<usize>,
    ) -> ReadResult {
        match self.peek() {
            TokenKind::Colon => *types_from = Some(self.at),
            // `%a %b`, without a comma.
            TokenKind::Percent if self.at == last_operand && last_operand > from => {
                return Err(self.expected("','"));
            }
            TokenKind::LBrace if types_from.is_some_and(|it| it + 1 < self.at) => {
                let before = self.tokens[self.at - 1].kind;
                let is_behind_type = matches!(
                    before,
                    TokenKind::Greater | TokenKind::Bare | TokenKind::Bang | TokenKind::BangBody
                );
                if is_behind_type {
                    let span = self.token().span();
                    let message = "expected the attributes before ':'".to_owned();
                    return Err(self.error_at(Code::ExpectedToken, span, message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the number of operands of a known op of HEIR, and that each has a type.
    fn check_heir_operands(
        &mut self,
        last_operand: usize,
        types_from: Option<usize>,
    ) -> ReadResult {
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let Some(&(_, wanted)) = HEIR_OPERAND_COUNTS.iter().find(|it| it.0 == name) else {
            return Ok(());
        };
        let given = self.out.operands.len();
        if given >= wanted {
            let types = types_from.map_or(&[][..], |it| &self.tokens[it..self.at]);
            let has_comma = types.iter().any(|it| it.kind == TokenKind::Comma);
            // A type such as `!a.b<c, d>` also contains commas; then nothing is reported.
            return match types.last() {
                Some(_) if wanted > 1 && !has_comma => Err(self.expected("','")),
                Some(it) if it.kind == TokenKind::Comma => Err(self.expected("a type")),
                _ => Ok(()),
            };
        }
        let end = std::mem::replace(&mut self.at, last_operand);
        let wanted = if given == 0 { "an SSA value" } else { "','" };
        let result = Err(self.expected(wanted));
        self.at = end;
        result
    }

    /// Tries to parse. Drops the problems and alias uses that are found.
    fn try_read<T>(&mut self, read: impl FnOnce(&mut Self) -> ReadResult<T>) -> Option<T> {
        let (n_aliases, n_problems) = (self.out.alias_uses.len(), self.out.problems.len());
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let out = read(self).ok();
        self.is_quiet = was_quiet;
        self.out.alias_uses.truncate(n_aliases);
        self.out.problems.truncate(n_problems);
        out
    }

    /// Parses an optional `: type` after an operand and sets its type. Returns true if there is
    /// one. The position does not change: the tokens are skipped later.
    fn read_following_type(&mut self) -> bool {
        let start = self.at;
        let ty = if self.eat(TokenKind::Colon) { self.try_read(Self::ty) } else { None };
        if let (Some(ty), Some(operand)) = (ty, self.out.operands.last_mut()) {
            operand.ty = ty;
        }
        self.at = start;
        ty.is_some()
    }

    /// Parses the result types of a `secret.generic` after its region, each with optional
    /// attributes. Returns true if they are known.
    fn read_secret_results(&mut self) -> bool {
        let mut depth = 0_usize;
        let mut behind = None;
        for (at, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace | TokenKind::Less => {
                    depth += 1;
                }
                TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace | TokenKind::Greater => {
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Arrow if depth == 0 => break,
                TokenKind::Region if depth == 0 => behind = Some(at + 1),
                _ => {}
            }
        }
        let Some(behind) = behind else { return false };
        self.at = behind;
        let types = self.try_read(|it| {
            let mut types: SmallVec<[Type; 1]> = SmallVec::new();
            let mut one = |it: &mut Self| {
                types.push(it.ty()?);
                it.opt_dict().map(|_| ())
            };
            if it.eat(TokenKind::Arrow) {
                if it.eat(TokenKind::LParen) {
                    it.list(TokenKind::RParen, one)?;
                } else {
                    one(it)?;
                }
            }
            Ok(types)
        });
        let is_end =
            self.at >= self.tokens.len() || self.peek() == TokenKind::Bare && self.word() == "loc";
        let Some(types) = types.filter(|_| is_end) else { return false };
        self.out.result_types.extend(types);
        true
    }

    /// Returns true if the types after the last colon are those of the operands, optionally
    /// followed by an arrow and the result type. This holds for `secret.yield` and for the schemes
    /// of HEIR.
    fn writes_operand_types(&self) -> bool {
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let dialect = name.split_once('.').map_or("", |it| it.0);
        name == SECRET_YIELD || matches!(dialect, "bgv" | "ckks" | "lwe")
    }

    /// Parses the types of the operands: `: T, T`, `: (T, T) -> T`, and `: T` for the ciphertext of
    /// a rotation, whose shift is followed by its own type.
    fn read_operand_types(&mut self, from: usize) {
        let Some(start) = self.last_mark(from, |it| it == TokenKind::Colon) else { return };
        let end = self.at;
        self.at = start;
        let types = self.try_read(|it| {
            let mut types: SmallVec<[Type; 2]> = SmallVec::new();
            if it.eat(TokenKind::LParen) {
                it.list(TokenKind::RParen, |it| {
                    types.push(it.ty()?);
                    Ok(())
                })?;
                return Ok(types);
            }
            loop {
                types.push(it.ty()?);
                if !it.eat(TokenKind::Comma) {
                    return Ok(types);
                }
            }
        });
        self.at = end;
        let Some(types) = types else { return };
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let n = if name.contains(".rotate") { 1 } else { self.out.operands.len() };
        if types.len() == n {
            for (operand, ty) in self.out.operands.iter_mut().zip(types) {
                operand.ty = ty;
            }
        }
    }

    /// Parses the attributes after the type of an operand or a result. If this fails, returns false
    /// and the attributes are unknown.
    fn read_listed_attrs(&mut self, listed: Option<&mut ListedAttrs>) -> bool {
        let Some(listed) = listed else { return false };
        let (start, n_problems) = (self.at, self.out.problems.len());
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let dict = self.opt_dict();
        self.is_quiet = was_quiet;
        let (all, at) = match listed.result {
            Some(at) => (&mut listed.of_results, Some(at)),
            None => (&mut listed.of_operands, self.out.operands.len().checked_sub(1)),
        };
        let is_read = matches!(dict, Ok(Some(_)));
        let dict = dict.ok().flatten().unwrap_or(Attr::UNKNOWN);
        all.extend(at.map(|it| (it, dict)));
        if !is_read {
            self.at = start;
            self.out.problems.truncate(n_problems);
        }
        is_read
    }

    /// Sets the attributes of operands or results as in the generic form: an array of dictionaries
    /// up to the last value that has one.
    fn set_listed(&mut self, name: &str, listed: &[(usize, Attr)]) {
        let Some(&(last, _)) = listed.last() else { return };
        let interner = &mut *self.env.interner;
        let none = interner.intern_attr(AttrData::Dict(Box::default()));
        let mut all = vec![none; last + 1];
        for &(at, dict) in listed {
            all[at] = dict;
        }
        let attr = interner.intern_attr(AttrData::Array(all.into()));
        self.set_attr(name, attr);
    }

    /// Parses a dictionary of attributes, whose grammar does not depend on the op. If this fails,
    /// returns false: the keys then have unknown values, and the tokens are parsed like others.
    fn read_opaque_attrs(&mut self) -> bool {
        let (start, n_problems) = (self.at, self.out.problems.len());
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let is_read = match self.peek() {
            TokenKind::Less => self.angled_attrs().is_ok(),
            _ => self.attr_dict().is_ok(),
        };
        self.is_quiet = was_quiet;
        if is_read {
            return true;
        }
        self.at = start;
        self.out.problems.truncate(n_problems);
        let mut depth = 0_usize;
        for at in start..self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace | TokenKind::Less => {
                    depth += 1;
                }
                TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace | TokenKind::Greater => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                TokenKind::Equal if depth == 1 => {
                    let key = unquoted(self.slice(self.tokens[at - 1])).into_owned();
                    self.set_attr(&key, Attr::UNKNOWN);
                }
                _ => {}
            }
        }
        false
    }

    /// Parses `<name = value, ..>`, the form of properties in HEIR since 2026.10.1.
    fn angled_attrs(&mut self) -> ReadResult {
        self.at += 1;
        loop {
            let key = self.word().to_owned();
            if !(self.eat(TokenKind::Bare) && self.eat(TokenKind::Equal)) {
                return Err(ReportedError);
            }
            let attr = self.attr()?;
            self.set_attr(&key, attr);
            if !self.eat(TokenKind::Comma) {
                return if self.eat(TokenKind::Greater) { Ok(()) } else { Err(ReportedError) };
            }
        }
    }

    /// Returns true if the op surely has no results: a terminator that passes values on, a
    /// structured op of `linalg` without tensor outputs, or an op of `gpu` that is not asynchronous
    /// (only asynchronous ones have a result, the token).
    fn has_no_results(&self, from: usize) -> bool {
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let Some((dialect, op)) = name.split_once('.') else { return false };
        let own = &self.tokens[from..];
        let last = op.rsplit('.').next().unwrap_or(op);
        match (dialect, op) {
            ("linalg", _) if last != "yield" => {
                !own.iter().any(|it| matches!(it.kind, TokenKind::Colon | TokenKind::Arrow))
            }
            ("gpu", "wait" | "dealloc" | "memcpy" | "memset" | "launch" | "launch_func") => {
                let is_async =
                    |it: &crate::Token| it.kind == TokenKind::Bare && self.slice(*it) == "async";
                !own.iter().any(is_async)
            }
            _ => matches!(last, "return" | "yield"),
        }
    }

    /// Skips `loc(...)`.
    fn skip_brackets(&mut self) {
        self.at += 1;
        let mut depth = 0usize;
        while self.at < self.tokens.len() {
            match self.bump().kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Sets the first `@x` as the symbol of the op if the op probably defines it.
    fn guess_symbol(&mut self, from: usize, has_region: bool) {
        let Some(at) = self.tokens[from..].iter().position(|it| it.kind == TokenKind::At) else {
            return;
        };
        let before = &self.tokens[from..from + at];
        let is_early = !before.iter().any(|it| {
            matches!(
                it.kind,
                TokenKind::LParen | TokenKind::LBrace | TokenKind::Colon | TokenKind::Percent
            ) || it.kind == TokenKind::Bare && self.slice(*it) == "attributes"
        });
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_definer = matches!(
            last,
            "func"
                | "module"
                | "global"
                | "named_sequence"
                | "machine"
                | "sequence"
                | "class"
                | "pattern"
        );
        if is_early && (has_region || is_definer) {
            let span = self.tokens[from + at].span();
            let name = self.symbol_text(span);
            self.out.symbol = Some(ParsedSymbol { name, root: name, span });
        }
    }

    fn guess_types(&mut self, from: usize) {
        let n = n_named_results(self.out).min(64) as usize;
        let name = self.out.name.map_or("", |it| self.env.interner.str(it));
        let (dialect, op) = name.split_once('.').unwrap_or(("", name));
        let is_index = op == "dim"
            || dialect == "index" && !matches!(op, "cmp" | "casts" | "castu" | "bool.constant")
            || dialect == "gpu" && (op.ends_with("_id") || op.ends_with("_dim"));
        if is_index {
            self.out.result_types.resize(n, Type::INDEX);
            return;
        }
        let takes_element =
            matches!(op, "load" | "extract") && matches!(dialect, "tensor" | "memref" | "vector");
        let Some(start) = self.last_type_mark(from) else { return };
        self.at = start;
        let is_arrow = self.tokens[start - 1].kind == TokenKind::Arrow;
        self.is_quiet = true;
        let n_aliases = self.out.alias_uses.len();
        let types = self.guess_type_list(is_arrow);
        self.out.alias_uses.truncate(n_aliases);
        self.is_quiet = false;
        let (Some(&first), Some(&last)) = (types.first(), types.last()) else { return };
        if types.len() == n {
            self.out.result_types.extend_from_slice(&types);
        } else {
            let is_number = |ty: Type| {
                let data = self.env.interner.type_data(ty);
                matches!(data, TypeData::Int { .. } | TypeData::Index | TypeData::Float(_))
            };
            let lists_operands = types.len() == self.out.operands.len() && types.len() > 1;
            let ty = match n {
                1 if lists_operands && is_number(last) && !is_arrow => first,
                1 => last,
                _ if types.len() == 1 => last,
                _ => Type::UNKNOWN,
            };
            self.out.result_types.resize(n, ty);
        }
        if takes_element && !is_arrow {
            for ty in &mut self.out.result_types {
                *ty = self.env.interner.element_type(*ty);
            }
        }
    }

    /// Returns the position at which types may begin: after the last `:` or `->` outside brackets.
    fn last_type_mark(&self, from: usize) -> Option<usize> {
        self.last_mark(from, |it| matches!(it, TokenKind::Colon | TokenKind::Arrow))
    }

    /// Returns the position after the last token of some kind outside brackets.
    fn last_mark(&self, from: usize, is_mark: impl Fn(TokenKind) -> bool) -> Option<usize> {
        let mut depth = 0i32;
        let mut found = None;
        for (at, token) in self.tokens.iter().enumerate().skip(from.saturating_sub(1)) {
            match token.kind {
                TokenKind::LParen | TokenKind::LSquare | TokenKind::LBrace | TokenKind::Less => {
                    depth += 1;
                }
                TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace | TokenKind::Greater => {
                    depth = (depth - 1).max(0);
                }
                it if is_mark(it) && depth == 0 && at >= from => found = Some(at + 1),
                TokenKind::Bare if depth == 0 && self.slice(*token) == "loc" => break,
                _ => {}
            }
        }
        found
    }

    fn guess_type_list(&mut self, is_arrow: bool) -> SmallVec<[Type; 4]> {
        let mut types = SmallVec::new();
        if is_arrow && self.eat(TokenKind::LParen) {
            let _ = self.list(TokenKind::RParen, |it| {
                let ty = it.ty()?;
                types.push(ty);
                Ok(())
            });
            return types;
        }
        while let Ok(ty) = self.ty() {
            types.push(ty);
            let is_conversion = self.peek() == TokenKind::Bare
                && matches!(self.word(), "to" | "into")
                && self.peek_at(1) != TokenKind::Eof;
            if is_conversion {
                self.at += 1;
                types.clear();
            } else if is_arrow || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        types
    }
}
