//! Proposals that insert, replace or remove tokens where another token is expected.

use super::Adviser;
use super::scope::TextWindow;
use super::tokens::MAX_TYPES;
use crate::text::near::distance;
use crate::{OpKind, Token, TokenKind};

/// Maximum number of ops that are searched for an undefined name.
const MAX_SEARCHED_OPS: usize = 64;

impl Adviser<'_> {
    /// Proposes indices in square brackets for `memref.load %m : T` and `memref.load %m(%i) : T`.
    pub(super) fn propose_indices(
        &mut self,
        window: &TextWindow,
        here: Option<Token>,
        start: usize,
    ) {
        if let Some(open) = here.filter(|it| it.kind == TokenKind::LParen) {
            let close = window
                .tokens
                .iter()
                .find(|it| it.start > open.start && it.kind == TokenKind::RParen);
            if let Some(close) = close {
                self.propose(
                    "Write square brackets",
                    vec![
                        (window.range(open), "[".to_owned()),
                        (window.range(*close), "]".to_owned()),
                    ],
                );
                self.mark_as_sure();
            }
            return;
        }
        let values = self.values_of_type(crate::Type::INDEX);
        for it in values.into_iter().take(3) {
            let name = self.ir.value_text(it);
            self.propose_insertion(
                format!("Insert the index [{name}]"),
                start,
                format!("[{name}]"),
            );
            self.propose_insertion(
                format!("Insert the indices [{name}, {name}]"),
                start,
                format!("[{name}, {name}]"),
            );
        }
        self.propose_insertion("Insert `[]`", start, "[]");
        if self.ir.op_name(self.op).starts_with("affine.") {
            self.propose_insertion("Insert the index [0]", start, "[0]");
        }
    }

    /// Advises on `memref.store %m[%i], %v : T`: the value must be the first operand.
    pub(super) fn advise_on_swapped_store(&mut self, window: &TextWindow, here: Option<Token>) {
        let name = self.ir.op_name(self.op);
        let is_store = matches!(name, "memref.store" | "affine.store");
        if !is_store || here.is_none_or(|it| it.kind != TokenKind::LSquare) {
            return;
        }
        let tokens = &window.tokens;
        let memref = tokens.iter().position(|it| it.kind == TokenKind::Percent);
        let close = tokens.iter().position(|it| it.kind == TokenKind::RSquare);
        let (Some(memref), Some(close)) = (memref, close) else { return };
        let [comma, value] = [close + 1, close + 2].map(|it| window.token(it));
        let (Some(comma), Some(value)) = (comma, value) else { return };
        if comma.kind != TokenKind::Comma || value.kind != TokenKind::Percent {
            return;
        }
        let place = window.range(tokens[memref]).start..window.range(tokens[close]).end;
        let old = self.source.slice(place.clone());
        let new = window.str(value).to_owned();
        self.set_message(format!("`{name}` takes the value first: `{new}, {old}`"));
        self.set_help("Write the value, a comma, and the memref with its indices");
        let behind = place.end..window.range(value).end;
        self.propose(
            "Write the value first",
            vec![(place.start..place.start, format!("{new}, ")), (behind, String::new())],
        );
        self.mark_as_sure();
    }

    /// Advises on `= arith.addi %a, %b`, where the name of the result is missing. Proposes the next
    /// undefined name. Returns true if it gave advice.
    pub(super) fn advise_on_missing_result_name(&mut self, window: &TextWindow, at: usize) -> bool {
        let here = window.token(at);
        let is_equal = here.is_some_and(|it| it.kind == TokenKind::Equal && it.is_at_line_start);
        if !is_equal || self.problem.message != "expected an operation" {
            return false;
        }
        self.set_message("expected the name of a value before `=`");
        self.set_help("Write a name such as %0 before `=`, or remove the `=`");
        let later = std::iter::successors(self.ir.next(self.op), |&it| self.ir.next(it));
        let mut operands =
            later.take(MAX_SEARCHED_OPS).flat_map(|it| self.ir.op(it).operands.iter());
        let missing = operands.find(|it| it.value.is_none() && it.name != crate::Name::EMPTY);
        if let Some(it) = missing {
            let name = self.ir.interner.str(it.name).to_owned();
            self.propose_insertion(
                format!("Name the result %{name}"),
                self.range.start,
                format!("%{name} "),
            );
            self.mark_as_sure();
        }
        true
    }

    /// Advises on `mgmt.modreduce %x : T {key = value}`: the attributes must precede the types.
    /// Returns true if it gave advice.
    pub(super) fn advise_on_late_attributes(&mut self, window: &TextWindow, at: usize) -> bool {
        if !self.problem.message.starts_with("expected the attributes before") {
            return false;
        }
        let name = self.ir.op_name(self.op).to_owned();
        self.set_message(format!("the attributes of `{name}` come before its types"));
        self.set_help("Write the attributes before the `:`");
        let mut depth = 0_usize;
        let close = window.tokens[at..].iter().find(|it| {
            depth += usize::from(it.kind == TokenKind::LBrace);
            depth -= usize::from(it.kind == TokenKind::RBrace).min(depth);
            depth == 0
        });
        let colon = window.tokens[..at].iter().find(|it| it.kind == TokenKind::Colon);
        let (Some(close), Some(colon)) = (close, colon) else { return true };
        let end = window.range(*close).end;
        let before = window.range(window.tokens[at - 1]).end;
        let dictionary = self.source.slice(self.range.start..end);
        let colon = window.range(*colon).start;
        self.propose(
            "Move the attributes before the types",
            vec![(colon..colon, format!("{dictionary} ")), (before..end, String::new())],
        );
        self.mark_as_sure();
        true
    }

    /// Advises on `module @m {scheme.ckks} {`, where the keyword before the attributes is missing.
    /// Returns true if it gave advice.
    pub(super) fn advise_on_missing_attributes_keyword(
        &mut self,
        window: &TextWindow,
        at: usize,
    ) -> bool {
        let name = self.ir.op_name(self.op);
        let is_header = name == "builtin.module";
        let close = at.checked_sub(1).and_then(|it| window.token(it));
        let is_region =
            self.problem.message.contains("operation") || self.problem.message.contains("region");
        let before = &window.tokens[..at.min(window.tokens.len())];
        let has_keyword = before.iter().any(|it| window.str(*it) == "attributes");
        if !is_header
            || !is_region
            || has_keyword
            || close.is_none_or(|it| it.kind != TokenKind::RBrace)
        {
            return false;
        }
        let open = before.iter().find(|it| it.kind == TokenKind::LBrace).copied();
        let Some(open) = open.map(|it| window.range(it)) else { return false };
        let name = self.symbol_or_op_name(self.op);
        self.set_message(format!(
            "expected `attributes` before the attributes of {name}, found `{{`"
        ));
        self.set_help("Write `attributes` before the `{`");
        self.add_related(open.clone(), "the attributes begin here");
        self.propose_insertion("Insert `attributes`", open.start, "attributes ");
        self.mark_as_sure();
        true
    }

    /// Proposes the expected keyword if the text contains a word or a sign of another language
    /// instead.
    pub(super) fn propose_expected_keyword(
        &mut self,
        window: &TextWindow,
        at: usize,
        literals: &[String],
    ) {
        let Some(here) = window.token(at).filter(|it| !it.is_at_line_start) else { return };
        for it in literals {
            let is_keyword = it.len() > 1 && it.bytes().all(|it| it.is_ascii_lowercase());
            if is_keyword && matches!(here.kind, TokenKind::Bare | TokenKind::Arrow) {
                let range = window.range(here);
                self.propose_replacement(format!("Replace by {it}"), range, it.clone());
                self.mark_as_sure();
            }
        }
        // `0..8`
        if self.problem.message.contains("bound") && self.ir.op_name(self.op) == "affine.for" {
            let range = window.range(here);
            let (start, line) = self.line_at(range.start);
            let rest = line.get(range.start - start..).unwrap_or("");
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && rest[digits..].starts_with("..") {
                let dots = range.start + digits;
                self.set_help("Write `to` between the bounds");
                self.propose_replacement("Replace by to", dots..dots + 2, " to ");
                self.mark_as_sure();
            }
        }
        // `memref<4xi32, %i: index`
        if here.kind == TokenKind::Percent
            && let Some(comma) = at.checked_sub(1).and_then(|it| window.token(it))
            && comma.kind == TokenKind::Comma
        {
            let start = window.range(comma).start;
            self.propose_insertion("Insert `>`", start, ">");
        }
    }

    /// Advises on `=>`, `==`, `:=`, and on `:` instead of `->`.
    pub(super) fn advise_on_wrong_punctuation(&mut self, window: &TextWindow, at: usize) {
        let tokens = &window.tokens;
        let Some(here) = window.token(at) else { return };
        let range = window.range(here);
        let next = window.token(at + 1).filter(|it| it.start == here.end);
        let before = at
            .checked_sub(1)
            .and_then(|it| tokens.get(it).copied())
            .filter(|it| it.end == here.start);
        let is_function = self.ir.op(self.op).kind == OpKind::FuncFunc;
        if here.kind == TokenKind::Equal
            && let Some(next) = next.filter(|it| it.kind == TokenKind::Greater)
        {
            self.set_message("expected `->` before the result type, found `=>`");
            self.set_help("Write `->`");
            self.propose_replacement("Replace by `->`", range.start..window.range(next).end, "->");
            return self.mark_as_sure();
        }
        if here.kind == TokenKind::Equal
            && let Some(before) =
                before.filter(|it| matches!(it.kind, TokenKind::Equal | TokenKind::Colon))
        {
            let whole = window.range(before).start..range.end;
            let written = self.source.slice(whole.clone());
            self.set_message(format!("expected `=` after the name, found `{written}`"));
            self.set_help("Write `=`");
            self.propose_replacement("Replace by `=`", whole, "=");
            return self.mark_as_sure();
        }
        if here.kind == TokenKind::Colon && is_function {
            self.set_message("expected `->` before the result type, found `:`");
            self.set_help("Write `->`");
            self.propose_replacement("Replace by `->`", range, "->");
            return self.mark_as_sure();
        }
        if here.kind == TokenKind::Colon
            && window.token(at + 1).is_none_or(|it| it.is_at_line_start)
        {
            let op = self.ir.op_name(self.op).to_owned();
            self.set_message(format!("a type is missing after the `:` of `{op}`"));
            self.set_help("Write the type, such as i32");
            let mut types = self.likely_types();
            types.truncate(MAX_TYPES);
            for ty in types {
                self.propose_insertion(format!("Insert {ty}"), range.end, format!(" {ty}"));
            }
            let start = tokens[at - 1].end as usize + window.start;
            self.propose_replacement("Remove the `:`", start..range.end, "");
        }
    }

    /// Proposes parentheses for `: i32, i32 -> i32` in generic form.
    pub(super) fn propose_type_parentheses(&mut self, window: &TextWindow, at: usize) {
        let tokens = window.tokens.get(at..).unwrap_or(&[]);
        let arrow = tokens.iter().position(|it| it.kind == TokenKind::Arrow);
        let (Some(first), Some(arrow)) = (tokens.first(), arrow) else { return };
        let Some(last) = arrow.checked_sub(1).map(|it| tokens[it]) else { return };
        self.set_help("In generic form the types of operands are written in parentheses");
        let (start, end) = (window.range(*first).start, window.range(last).end);
        self.propose(
            "Insert parentheses",
            vec![(start..start, "(".to_owned()), (end..end, ")".to_owned())],
        );
        self.mark_as_sure();
    }

    /// Advises on `a: i32` and `i32 %a` in the arguments of a function.
    pub(super) fn advise_on_function_argument(&mut self, window: &TextWindow, at: usize) {
        if self.ir.op(self.op).kind != OpKind::FuncFunc {
            return;
        }
        let Some(here) = window.token(at) else { return };
        let next = window.token(at + 1);
        if here.kind == TokenKind::Bare && next.is_some_and(|it| it.kind == TokenKind::Colon) {
            let name = window.str(here).to_owned();
            self.set_help(format!("Names of arguments begin with `%`: `%{name}`"));
            self.propose_argument_prefixes(&name);
            self.propose_insertion(
                format!("Insert `%` before {name}"),
                window.range(here).start,
                "%",
            );
            return self.mark_as_sure();
        }
        let Some(ty) = at.checked_sub(1).and_then(|it| window.tokens.get(it).copied()) else {
            return;
        };
        if here.kind == TokenKind::Percent && matches!(ty.kind, TokenKind::Bare | TokenKind::Bang) {
            let (name, text) = (window.str(here).to_owned(), window.str(ty).to_owned());
            self.set_message(format!(
                "the name of an argument comes before its type: `{name}: {text}`"
            ));
            self.set_help(format!("Write `{name}: {text}`"));
            let range = window.range(ty).start..window.range(here).end;
            self.propose_replacement("Write the name first", range, format!("{name}: {text}"));
            self.mark_as_sure();
        }
    }

    /// Proposes to insert all missing `%` before the arguments of the header.
    pub(super) fn propose_argument_prefixes(&mut self, first: &str) {
        let window = self.window();
        let pairs = window.tokens.windows(2);
        let found = pairs.filter(|it| {
            it[0].kind == TokenKind::Bare
                && it[1].kind == TokenKind::Colon
                && !window.str(it[0]).contains('.')
        });
        let edits: Vec<_> = found
            .map(|it| {
                let start = window.range(it[0]).start;
                (start..start, "%".to_owned())
            })
            .collect();
        if edits.len() > 1 {
            self.propose(format!("Insert `%` before {first} and the other arguments"), edits);
        }
    }

    /// Proposes to insert the expected tokens, alone and with text that may follow.
    pub(super) fn propose_missing_tokens(
        &mut self,
        window: &TextWindow,
        at: usize,
        literals: &[String],
        is_type: bool,
    ) {
        let here = window.token(at).filter(|it| !it.is_at_line_start);
        let next =
            window.text.get(self.range.start - window.start..).and_then(|it| it.chars().next());
        let is_apart = next.is_none_or(char::is_whitespace);
        let mut types = self.likely_types();
        if self.ir.op_name(self.op) == "tensor_ext.rotate" {
            types.insert(0, "index".to_owned());
        }
        types.truncate(MAX_TYPES);
        let mut out: Vec<(String, usize, String)> = Vec::new();
        // The problem may be after the blanks that precede the next token.
        let end = at.checked_sub(1).and_then(|it| window.token(it)).map(|it| window.range(it).end);
        let between = |end: usize| self.source.slice(end..self.range.start);
        let start = match end {
            Some(end) if end < self.range.start && between(end).trim().is_empty() => end,
            _ => self.range.start,
        };
        let is_apart = is_apart || start < self.range.start;
        for it in literals {
            let is_closer = matches!(it.as_str(), "," | ")" | "]" | ">");
            let kind = self.ir.op(self.op).kind;
            let is_argument = it == ":" && matches!(kind, OpKind::FuncFunc | OpKind::Label);
            let space = if is_closer || is_argument { "" } else { " " };
            let is_closed = matches!(next, Some(')' | ',' | ']' | '>'));
            let behind = if is_apart || is_closed || is_closer && it != "," { "" } else { " " };
            // A misspelled keyword.
            if let Some(token) = here
                && token.kind == TokenKind::Bare
                && distance(window.str(token), it, 2).is_some()
                && it.len() > 1
            {
                self.propose_replacement(
                    format!("Replace by {it}"),
                    window.range(token),
                    it.clone(),
                );
            }
            if let Some(token) = here
                && is_punctuation(token.kind)
                && !matches!(it.as_str(), "{" | "}")
            {
                let mut range = window.range(token);
                if it == "x" {
                    let behind = &window.text[range.end - window.start..];
                    range.end += behind.len() - behind.trim_start_matches(' ').len();
                }
                self.propose_replacement(format!("Replace by `{it}`"), range, it.clone());
            }
            if it == ":" && self.ir.is_secret_generic(self.op) {
                // The type of the preceding operand.
                let value = at.checked_sub(1).and_then(|it| window.token(it));
                let name = value.map(|it| window.str(it).trim_start_matches('%').to_owned());
                let id = name.and_then(|it| self.ir.interner.find_name(&it));
                let value = id.and_then(|it| self.ir.visible_value(self.ir.op(self.op).parent, it));
                let ty = value.map(|it| self.type_of(it));
                if let Some(ty) = ty.and_then(|it| self.ir.interner.insertable_type_text(it)) {
                    self.propose_insertion(format!("Insert `: {ty}`"), start, format!(": {ty}"));
                }
            }
            if it == "[" {
                self.propose_indices(window, here, start);
                continue;
            }
            if it == "}" {
                // Insert `}` before the types that follow the dictionary.
                let line = window.tokens.iter().enumerate().skip(at.saturating_sub(8)).rev();
                let colons = line.filter(|it| it.1.kind == TokenKind::Colon).take(3);
                for (_, colon) in colons {
                    let place = window.range(*colon).start;
                    out.push(("Insert `}`".to_owned(), place, "} ".to_owned()));
                }
            }
            if it == ")" && here.is_none() {
                let head = self.ir.head_range(self.op);
                let text = self.source.slice(head.start..head.end.min(head.start + 4096));
                if let Some(brace) = text.lines().next().and_then(|it| it.rfind(" {")) {
                    out.push(("Insert `)`".to_owned(), head.start + brace, ")".to_owned()));
                }
            }
            if it == "x" && here.is_some_and(|it| it.kind == TokenKind::Greater) {
                for ty in ["i32", "f32", "!noisy.i32"] {
                    out.push((format!("Insert the element type {ty}"), start, format!("x{ty}")));
                }
            }
            if it == "(" {
                // `-> i32 {` of an op whose types need parentheses.
                if let Some(token) = here {
                    let range = window.range(token);
                    self.propose(
                        "Insert parentheses",
                        vec![
                            (range.start..range.start, "(".to_owned()),
                            (range.end..range.end, ")".to_owned()),
                        ],
                    );
                }
                continue;
            }
            out.push((format!("Insert `{it}`"), start, format!("{space}{it}{behind}")));
            if matches!(it.as_str(), ":" | "->" | "to" | "into" | ",") {
                for ty in &types {
                    out.push((
                        format!("Insert `{it} {ty}`"),
                        start,
                        format!("{space}{it} {ty}{behind}"),
                    ));
                    if it == "->" {
                        out.push((
                            format!("Insert `-> ({ty})`"),
                            start,
                            format!(" -> ({ty}){behind}"),
                        ));
                    }
                }
                let is_cast = self.ir.op(self.op).kind.spec().syntax.len() > 4;
                if it == ":" && (is_cast || self.is_quoted()) {
                    self.collect_function_types(&mut out);
                    for from in types.iter().take(2) {
                        for to in &types {
                            for word in ["to", "->", "into", ","] {
                                let text = format!(
                                    "{from}{}{word} {to}",
                                    if word == "," { "" } else { " " }
                                );
                                out.push((
                                    format!("Insert `: {text}`"),
                                    start,
                                    format!(" : {text}{behind}"),
                                ));
                            }
                        }
                    }
                }
            }
            if it == "," && self.ir.op(self.op).kind.spec().successors.most > 0 {
                let region = self.ir.op(self.op).parent;
                for label in self.ir.labels(region).take(4) {
                    let name = self.ir.interner.str(self.ir.op(label).name);
                    out.push((format!("Insert the block ^{name}"), start, format!(", ^{name}")));
                }
            }
            if it == "," {
                let is_rotation = self.ir.op_name(self.op) == "tensor_ext.rotate";
                let values = if is_rotation {
                    self.values_of_type(crate::Type::INDEX)
                } else {
                    self.visible_values()
                };
                for value in values.into_iter().take(4) {
                    let name = self.ir.value_text(value);
                    out.push((format!("Insert the operand {name}"), start, format!(", {name}")));
                }
            }
        }
        if is_type && here.is_none() {
            for ty in types {
                out.push((format!("Insert {ty}"), start, format!(" {ty}")));
            }
        }
        for (title, at, text) in out {
            self.propose_insertion(title, at, text);
        }
        // One missing token in the middle of a line: no other correction is plausible.
        if let ([_], Some(_)) = (literals, here)
            && let Some(it) = self
                .out
                .proposals
                .iter_mut()
                .find(|it| it.title == format!("Insert `{}`", literals[0]))
        {
            it.is_sure = true;
        }
        if literals.iter().any(|it| it == ":") && here.is_none() {
            self.advise_on_only_type();
        }
    }

    /// If all operands of an op must have one type, the missing type can only be that type.
    pub(super) fn advise_on_only_type(&mut self) {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.name.starts_with("noisy.")
            && !spec.name.ends_with("code")
            && let Some(it) =
                self.out.proposals.iter_mut().find(|it| it.title == "Insert `: !noisy.i32`")
        {
            it.is_sure = true;
        }
        let name = self.ir.op_name(self.op);
        if let Some(form) = self.example_syntax()
            && name.starts_with("noisy.")
        {
            self.set_help(format!("The type is missing: write the op as in `{form}`"));
        }
    }

    /// Appends proposals of function types for an op in generic form.
    pub(super) fn collect_function_types(&self, out: &mut Vec<(String, usize, String)>) {
        if !self.is_quoted() && self.ir.op(self.op).kind != OpKind::FuncCall {
            return;
        }
        let region = self.ir.op(self.op).parent;
        let window = self.window();
        let n_names = self.ir.op(self.op).result_names.len();
        let names = window.tokens.iter().filter(|it| it.kind == TokenKind::Percent).skip(n_names);
        let types: Vec<String> = names
            .filter_map(|&it| {
                let name = self.ir.interner.find_name(window.str(it).trim_start_matches('%'))?;
                let value = self.ir.visible_value(region, name)?;
                self.ir.interner.insertable_type_text(self.type_of(value))
            })
            .collect();
        let mut results: Vec<String> = match n_names {
            0 => vec!["()".to_owned()],
            _ => self.likely_types(),
        };
        results.truncate(MAX_TYPES);
        for it in results {
            let text = format!(": ({}) -> {it}", types.join(", "));
            out.push((format!("Insert `{text}`"), self.range.start, format!(" {text}")));
        }
    }

    /// Proposes to remove a superfluous token or operand.
    pub(super) fn propose_removing_token(
        &mut self,
        window: &TextWindow,
        at: usize,
        literals: &[String],
    ) {
        let Some(here) = window.token(at).filter(|it| !it.is_at_line_start) else { return };
        let next = window.token(at + 1);
        let is_doubled = self.problem.message.contains("SSA");
        if here.kind == TokenKind::Comma
            && let Some(next) = next
            && next.kind == TokenKind::Percent
            && !is_doubled
        {
            let name = window.str(next).to_owned();
            let range = window.range(here).start..window.range(next).end;
            let spec = self.ir.op(self.op).kind.spec();
            if spec.operands.least == spec.operands.most && spec.operands.most > 0 {
                let n = super::words::count_text(spec.operands.most, "operand");
                self.set_message(format!("`{}` takes {n}, so {name} is superfluous", spec.name));
                self.set_help(format!("Remove {name}"));
            }
            self.propose_replacement(format!("Remove the operand {name}"), range, "");
            return;
        }
        if is_punctuation(here.kind) && !literals.is_empty() || here.kind == TokenKind::Comma {
            let range = window.range(here);
            let text = window.str(here).to_owned();
            self.propose_replacement(format!("Remove `{text}`"), range, "");
        }
    }
}

fn is_punctuation(kind: TokenKind) -> bool {
    use TokenKind as K;
    matches!(
        kind,
        K::Colon
            | K::Comma
            | K::Arrow
            | K::Equal
            | K::Plus
            | K::Star
            | K::Minus
            | K::Slash
            | K::Question
            | K::Bar
            | K::RParen
            | K::RSquare
            | K::Greater
            | K::Less
            | K::Ellipsis
    )
}
