//! Tokens that are missing, superfluous or another one.

use super::scope::Window;
use super::syntax::near_builtin;
use super::{Adviser, near};
use crate::{OpKind, Token, TokenKind};

/// At most so many types are tried where one is missing.
const MAX_TYPES: usize = 5;

impl Adviser<'_> {
    pub(super) fn expected_token(&mut self) {
        let window = self.window_with_line();
        let at = window.after(self.at.start);
        let found = window.get(at);
        let before = at.checked_sub(1).and_then(|it| window.get(it));
        let here = found.filter(|it| !it.at_line_start);
        let wanted = wanted(&self.problem.message);
        self.name_found(&window, here);
        let is_value = self.problem.message.contains("SSA value");
        let is_type = wanted.iter().any(|it| it == "a type");
        let literals: Vec<String> =
            wanted.iter().filter_map(|it| literal(it)).map(str::to_owned).collect();
        if let Some(it) = here {
            match it.kind {
                TokenKind::Error => {}
                _ if is_value => self.no_value(&window, at, it),
                _ if is_type => self.no_type(&window, it),
                TokenKind::Bare if self.problem.message.contains("symbol name") => {
                    let name = window.str(it).to_owned();
                    self.help(format!("Names of symbols begin with `@`: `@{name}`"));
                    self.insert(format!("Insert `@` before {name}"), window.range(it).start, "@");
                    self.sure();
                }
                TokenKind::Bare if self.problem.message.contains("block") => {
                    let name = window.str(it).to_owned();
                    self.help(format!("Names of blocks begin with `^`: `^{name}`"));
                    self.insert(format!("Insert `^` before {name}"), window.range(it).start, "^");
                }
                _ => {}
            }
        } else if is_value {
            self.missing_operand();
        }
        self.after_equal(before);
        if let Some(it) = here.filter(|_| is_value || is_type) {
            self.all_bare(&window, at, it);
        }
        self.other_sign(&window, at);
        self.swapped_store(&window, here);
        self.argument(&window, at);
        if self.problem.message.contains("function type") {
            self.wrap_types(&window, at);
        }
        self.digit_name(&window, before, here);
        self.missing_pieces(&window, at, &literals, is_type);
        self.superfluous(&window, at, &literals);
        if self.out.help.is_none() {
            self.expected_help(&literals, here.is_none());
        }
    }

    /// The op and the rest of its line.
    pub(super) fn window_with_line(&self) -> Window {
        self.window()
    }

    /// Says in which op the token is missing and what is there.
    fn name_found(&mut self, window: &Window, here: Option<Token>) {
        let place = match (self.op_name(), self.ir.op(self.op).kind) {
            (Some(name), _) => format!(" in `{name}`"),
            (None, OpKind::Label) => " in this label".to_owned(),
            _ => String::new(),
        };
        let found = match here {
            Some(it) if it.kind == TokenKind::Region => ", found `{`".to_owned(),
            Some(it) => {
                let text: String = window.str(it).chars().take(24).collect();
                format!(", found `{}`", text.lines().next().unwrap_or(""))
            }
            None => ", found the end of the line".to_owned(),
        };
        self.say(format!("{}{place}{found}", self.problem.message));
    }

    fn expected_help(&mut self, literals: &[String], is_end: bool) {
        let form = self.form();
        let missing = match literals {
            [one] if !is_end => Some(format!("Write `{one}` here")),
            [one] => Some(format!("The op is not complete: write `{one}` and what follows it")),
            _ => None,
        };
        match (missing, form) {
            (Some(it), Some(form)) => self.help(format!("{it}, as in `{form}`")),
            (Some(it), None) => self.help(it),
            (None, Some(form)) => self.help(format!("The form of the op is `{form}`")),
            (None, None) => self.help("Write what is expected, or remove what is superfluous"),
        }
    }

    /// The custom syntax of the op, with examples of operands, on one line.
    pub(super) fn form(&self) -> Option<String> {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.name.is_empty() || self.is_quoted() {
            return None;
        }
        let form = spec.template().replace(['«', '»'], "").replace("$0", "");
        let form = form.split_whitespace().collect::<Vec<_>>().join(" ");
        (form.len() <= 100 && form.contains(' ')).then_some(form)
    }

    /// A value is expected, and another token stands there.
    fn no_value(&mut self, window: &Window, at: usize, it: Token) {
        let word = window.str(it).to_owned();
        let range = window.range(it);
        match it.kind {
            TokenKind::Bare => {
                let values = self.values();
                let all: Vec<String> =
                    values.iter().map(|&it| self.bare_name(it).to_owned()).collect();
                let near: Vec<String> = if all.contains(&word) {
                    vec![word.clone()]
                } else {
                    near::nearest(&word, all.iter().map(String::as_str))
                        .into_iter()
                        .map(str::to_owned)
                        .collect()
                };
                self.help(format!(
                    "Names of values begin with `%`: `%{}`",
                    near.first().unwrap_or(&word)
                ));
                for name in near.iter().take(3) {
                    self.replace(format!("Replace by %{name}"), range.clone(), format!("%{name}"));
                }
                if near.len() == 1 {
                    self.sure();
                }
            }
            TokenKind::Int | TokenKind::Float | TokenKind::Minus => {
                let is_loop = self.ir.op(self.op).kind == OpKind::ScfFor;
                if is_loop {
                    self.say("bounds and step of `scf.for` are values, not numbers");
                    self.help(format!(
                        "Define `%c{word} = arith.constant {word} : index` before the loop, or use `affine.for`, which takes numbers"
                    ));
                } else {
                    self.help(format!(
                        "Operands are values, not numbers: define `%c = arith.constant {word} : TYPE` before this op and use %c"
                    ));
                }
                self.numbers(window, at);
            }
            TokenKind::LParen => {
                // `noisy.add(%a, %b)`.
                self.help("The operands of this op stand without parentheses");
                let close = window.tokens[at..].iter().position(|it| it.kind == TokenKind::RParen);
                if let Some(close) = close {
                    let close = window.range(window.tokens[at + close]);
                    self.propose(
                        "Remove the parentheses",
                        vec![(range, " ".to_owned()), (close, String::new())],
                    );
                    self.sure();
                }
            }
            _ => self.missing_operand(),
        }
    }

    /// Proposes `%` before all words from a place on that are names of values.
    fn all_bare(&mut self, window: &Window, from: usize, first: Token) {
        let region = self.ir.op(self.op).parent;
        let (mut edits, mut names) = (Vec::new(), Vec::new());
        for (n, it) in window.tokens.iter().enumerate().skip(from) {
            if n > from && it.at_line_start || it.kind == TokenKind::Colon {
                break;
            }
            let id = self.ir.interner.find_name(window.str(*it));
            let is_value = id.is_some_and(|it| self.ir.visible(region, it).is_some());
            if it.kind == TokenKind::Bare && is_value {
                let start = window.range(*it).start;
                edits.push((start..start, "%".to_owned()));
                names.push(window.str(*it).to_owned());
            }
        }
        if edits.len() > 1 && first.kind == TokenKind::Bare {
            self.propose(format!("Insert `%` before {}", names.join(", ")), edits);
            self.sure();
        }
    }

    /// Proposes constants for the numbers that stand where values are expected.
    fn numbers(&mut self, window: &Window, from: usize) {
        let line = self.source.line_start(self.ir.range(self.op).start);
        if !self.source.is_first_on_line(self.ir.range(self.op).start) {
            return;
        }
        let indentation = self.indentation(self.op);
        let types: Vec<String> = match self.ir.op(self.op).kind {
            OpKind::ScfFor => vec!["index".to_owned()],
            _ => self.likely_types(),
        };
        for ty in types.iter().take(MAX_TYPES) {
            let (mut edits, mut constants, mut known) = (Vec::new(), String::new(), Vec::new());
            for (n, token) in window.tokens.iter().enumerate().skip(from) {
                if token.at_line_start && n > from || token.kind == TokenKind::LBrace {
                    break;
                }
                let is_operand = n == from
                    || matches!(window.tokens[n - 1].kind, TokenKind::Comma)
                    || matches!(window.str(window.tokens[n - 1]), "to" | "step");
                if !is_operand || !matches!(token.kind, TokenKind::Int | TokenKind::Float) {
                    continue;
                }
                let number = window.str(*token).to_owned();
                let name = format!("c{}", number.replace(['.', '+', '-'], "_"));
                let name = match known.contains(&name) {
                    true => name,
                    false if self.is_taken(&name) => self.fresh(&name),
                    false => name,
                };
                if !known.contains(&name) {
                    constants +=
                        &format!("{indentation}%{name} = arith.constant {number} : {ty}\n");
                    known.push(name.clone());
                }
                edits.push((window.range(*token), format!("%{name}")));
            }
            if edits.is_empty() {
                return;
            }
            let mut all = vec![(line..line, constants)];
            all.extend(edits);
            self.propose(format!("Define constants of type {ty}"), all);
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        let region = self.ir.op(self.op).parent;
        let id = self.ir.interner.find_name(name);
        id.is_some_and(|it| self.ir.visible(region, it).is_some())
    }

    /// A type is expected, and another token stands there.
    fn no_type(&mut self, window: &Window, it: Token) {
        let word = window.str(it).to_owned();
        let range = window.range(it);
        if it.kind == TokenKind::Bare {
            if word.contains('.') {
                let near = self.near_types(&format!("!{word}"));
                let name = near.first().cloned().unwrap_or_else(|| format!("!{word}"));
                self.help(format!("Types of dialects begin with `!`: `{name}`"));
                self.replace(format!("Replace by {name}"), range.clone(), name.clone());
                if name == format!("!{word}") || !near.is_empty() {
                    self.sure();
                }
                return;
            }
            let is_alias = self.ir.alias_names(self.op, 256).contains(&format!("!{word}"));
            if is_alias {
                self.help(format!("Names of type aliases begin with `!`: `!{word}`"));
                self.insert(format!("Insert `!` before {word}"), range.start, "!");
                return self.sure();
            }
            if let Some(near) = near_builtin(&word) {
                self.help(format!(
                    "Write `{near}`: integers are i1, i32, ..., floats f16, f32 and f64"
                ));
                self.replace(format!("Replace by {near}"), range, near);
                return;
            }
            self.help(format!(
                "`{word}` is no type: write a type such as i32, f32, index or `!noisy.i32`"
            ));
            for ty in self.likely_types().into_iter().take(MAX_TYPES) {
                self.replace(format!("Replace by {ty}"), range.clone(), ty);
            }
            return;
        }
        for ty in self.likely_types().into_iter().take(MAX_TYPES) {
            let space = if window.text[..it.start as usize].ends_with(' ') { "" } else { " " };
            self.insert(
                format!("Insert {ty}"),
                self.at.start,
                format!(" {ty}{}", if space.is_empty() { "" } else { " " }),
            );
        }
    }

    /// An operand is missing.
    fn missing_operand(&mut self) {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.operands.least > 0 && spec.operands.least == spec.operands.most {
            let what = super::words::count(spec.operands.least, "operand");
            self.help(match self.form() {
                Some(form) => format!("The op takes {what}, as in `{form}`"),
                None => format!("The op takes {what}"),
            });
        }
        for value in self.values().into_iter().take(6) {
            let name = self.ir.value_text(value);
            self.insert(format!("Insert {name}"), self.at.start, format!(" {name}"));
        }
    }

    /// `%a =` with nothing behind it: the op is missing.
    fn after_equal(&mut self, before: Option<Token>) {
        let is_equal = before.is_some_and(|it| it.kind == TokenKind::Equal);
        if !is_equal || !self.problem.message.contains("operation") {
            return;
        }
        self.say("an op is missing after `=`");
        self.help("Write the op whose result has this name");
    }

    /// `%0b`: a name that starts with a digit has digits only.
    fn digit_name(&mut self, window: &Window, before: Option<Token>, here: Option<Token>) {
        let (Some(name), Some(rest)) = (before, here) else { return };
        let is_number = |it: &str| it[1..].bytes().all(|it| it.is_ascii_digit());
        if name.kind != TokenKind::Percent
            || rest.kind != TokenKind::Bare
            || rest.start != name.end
            || !is_number(window.str(name))
        {
            return;
        }
        let whole = format!("{}{}", window.str(name), window.str(rest));
        self.bad_number(&whole);
    }

    /// A value whose name is followed by letters, in an op that was read without its grammar.
    pub(super) fn digits_and_letters(&mut self) -> bool {
        let name = self.text_here();
        let (start, line) = self.line(self.at.end);
        let rest: String = line
            .get(self.at.end - start..)
            .unwrap_or("")
            .chars()
            .take_while(|it| it.is_alphanumeric() || *it == '_')
            .collect();
        let is_number = name.len() > 1 && name[1..].bytes().all(|it| it.is_ascii_digit());
        if rest.is_empty() || !is_number {
            return false;
        }
        self.bad_number(&format!("{name}{rest}"));
        true
    }

    fn bad_number(&mut self, whole: &str) {
        let fresh = format!("v{}", &whole[1..]);
        self.say(format!("`{whole}` is no name: a name that starts with a digit has digits only"));
        self.help(format!("Name the value %{fresh}"));
        self.rename_text(whole, &format!("%{fresh}"));
    }

    /// Proposes to write a name in the function of the op in another way.
    pub(super) fn rename_text(&mut self, old: &str, new: &str) {
        let around = self.function().unwrap_or(self.op);
        let Some(window) = self.window_of_op(around) else { return };
        let mut edits = Vec::new();
        for (at, _) in window.text.match_indices(old) {
            let next = window.text[at + old.len()..].chars().next();
            if next.is_none_or(|it| !(it.is_alphanumeric() || it == '_')) {
                edits.push((window.start + at..window.start + at + old.len(), new.to_owned()));
            }
        }
        self.propose(format!("Rename {old} to {new}"), edits);
    }

    /// Proposes to insert what is expected, alone and with what may follow.
    fn missing_pieces(&mut self, window: &Window, at: usize, literals: &[String], is_type: bool) {
        let here = window.get(at).filter(|it| !it.at_line_start);
        let next = window.text.get(self.at.start - window.start..).and_then(|it| it.chars().next());
        let is_apart = next.is_none_or(char::is_whitespace);
        let mut types = self.likely_types();
        types.truncate(MAX_TYPES);
        let mut out: Vec<(String, usize, String)> = Vec::new();
        // The place may be behind the blanks before the next token.
        let end = at.checked_sub(1).and_then(|it| window.get(it)).map(|it| window.range(it).end);
        let between = |end: usize| self.source.slice(end..self.at.start);
        let start = match end {
            Some(end) if end < self.at.start && between(end).trim().is_empty() => end,
            _ => self.at.start,
        };
        let is_apart = is_apart || start < self.at.start;
        for it in literals {
            let is_closer = matches!(it.as_str(), "," | ")" | "]" | ">");
            let is_argument = it == ":" && self.ir.op(self.op).kind == OpKind::FuncFunc;
            let space = if is_closer || is_argument { "" } else { " " };
            let is_closed = matches!(next, Some(')' | ',' | ']' | '>'));
            let behind = if is_apart || is_closed || is_closer && it != "," { "" } else { " " };
            // A keyword that is almost right.
            if let Some(token) = here
                && token.kind == TokenKind::Bare
                && near::distance(window.str(token), it, 2).is_some()
                && it.len() > 1
            {
                self.replace(format!("Replace by {it}"), window.range(token), it.clone());
            }
            if let Some(token) = here
                && is_punctuation(token.kind)
                && !matches!(it.as_str(), "{" | "}")
            {
                self.replace(format!("Replace by `{it}`"), window.range(token), it.clone());
            }
            if it == "[" {
                self.brackets(window, here, start);
                continue;
            }
            if it == "}" {
                // Before the types behind the dictionary.
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
                // `-> i32 {` of an op whose types stand in parentheses.
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
                    self.function_types(&mut out);
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
                for value in self.values().into_iter().take(4) {
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
            self.insert(title, at, text);
        }
        // One missing token in the middle of a line: nothing else can be meant.
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
            self.only_type();
        }
    }

    /// `memref.load %m : T`, `memref.load %m(%i) : T`: indices are missing, or in parentheses.
    fn brackets(&mut self, window: &Window, here: Option<Token>, start: usize) {
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
                self.sure();
            }
            return;
        }
        let values = self.values_of_type(crate::Type::INDEX);
        for it in values.into_iter().take(3) {
            let name = self.ir.value_text(it);
            self.insert(format!("Insert the index [{name}]"), start, format!("[{name}]"));
            self.insert(
                format!("Insert the indices [{name}, {name}]"),
                start,
                format!("[{name}, {name}]"),
            );
        }
        self.insert("Insert `[]`", start, "[]");
        if self.ir.op_name(self.op).starts_with("affine.") {
            self.insert("Insert the index [0]", start, "[0]");
        }
    }

    /// `memref.store %m[%i], %v : T`: the value comes first.
    fn swapped_store(&mut self, window: &Window, here: Option<Token>) {
        let name = self.ir.op_name(self.op);
        let is_store = matches!(name, "memref.store" | "affine.store");
        if !is_store || here.is_none_or(|it| it.kind != TokenKind::LSquare) {
            return;
        }
        let tokens = &window.tokens;
        let memref = tokens.iter().position(|it| it.kind == TokenKind::Percent);
        let close = tokens.iter().position(|it| it.kind == TokenKind::RSquare);
        let (Some(memref), Some(close)) = (memref, close) else { return };
        let [comma, value] = [close + 1, close + 2].map(|it| window.get(it));
        let (Some(comma), Some(value)) = (comma, value) else { return };
        if comma.kind != TokenKind::Comma || value.kind != TokenKind::Percent {
            return;
        }
        let place = window.range(tokens[memref]).start..window.range(tokens[close]).end;
        let old = self.source.slice(place.clone());
        let new = window.str(value).to_owned();
        self.say(format!("`{name}` takes the value first: `{new}, {old}`"));
        self.help("Write the value, a comma, and the memref with its indices");
        let behind = place.end..window.range(value).end;
        self.propose(
            "Write the value first",
            vec![(place.start..place.start, format!("{new}, ")), (behind, String::new())],
        );
        self.sure();
    }

    /// `=>`, `==`, `:=`, and `:` instead of `->`.
    fn other_sign(&mut self, window: &Window, at: usize) {
        let tokens = &window.tokens;
        let Some(here) = window.get(at) else { return };
        let range = window.range(here);
        let next = window.get(at + 1).filter(|it| it.start == here.end);
        let before = at
            .checked_sub(1)
            .and_then(|it| tokens.get(it).copied())
            .filter(|it| it.end == here.start);
        let is_function = self.ir.op(self.op).kind == OpKind::FuncFunc;
        if here.kind == TokenKind::Equal
            && let Some(next) = next.filter(|it| it.kind == TokenKind::Greater)
        {
            self.say("expected `->` before the result type, found `=>`");
            self.help("Write `->`");
            self.replace("Replace by `->`", range.start..window.range(next).end, "->");
            return self.sure();
        }
        if here.kind == TokenKind::Equal
            && let Some(before) =
                before.filter(|it| matches!(it.kind, TokenKind::Equal | TokenKind::Colon))
        {
            let whole = window.range(before).start..range.end;
            let written = self.source.slice(whole.clone());
            self.say(format!("expected `=` after the name, found `{written}`"));
            self.help("Write `=`");
            self.replace("Replace by `=`", whole, "=");
            return self.sure();
        }
        if here.kind == TokenKind::Colon && is_function {
            self.say("expected `->` before the result type, found `:`");
            self.help("Write `->`");
            self.replace("Replace by `->`", range, "->");
            return self.sure();
        }
        if here.kind == TokenKind::Colon && window.get(at + 1).is_none_or(|it| it.at_line_start) {
            let op = self.ir.op_name(self.op).to_owned();
            self.say(format!("a type is missing after the `:` of `{op}`"));
            self.help("Write the type, such as i32");
            let mut types = self.likely_types();
            types.truncate(MAX_TYPES);
            for ty in types {
                self.insert(format!("Insert {ty}"), range.end, format!(" {ty}"));
            }
            let start = tokens[at - 1].end as usize + window.start;
            self.replace("Remove the `:`", start..range.end, "");
        }
    }

    /// `: i32, i32 -> i32` in generic form, where the types stand in parentheses.
    fn wrap_types(&mut self, window: &Window, at: usize) {
        let tokens = window.tokens.get(at..).unwrap_or(&[]);
        let arrow = tokens.iter().position(|it| it.kind == TokenKind::Arrow);
        let (Some(first), Some(arrow)) = (tokens.first(), arrow) else { return };
        let Some(last) = arrow.checked_sub(1).map(|it| tokens[it]) else { return };
        self.help("In generic form the types of operands stand in parentheses");
        let (start, end) = (window.range(*first).start, window.range(last).end);
        self.propose(
            "Insert parentheses",
            vec![(start..start, "(".to_owned()), (end..end, ")".to_owned())],
        );
        self.sure();
    }

    /// `a: i32` and `i32 %a` in the arguments of a function.
    fn argument(&mut self, window: &Window, at: usize) {
        if self.ir.op(self.op).kind != OpKind::FuncFunc {
            return;
        }
        let Some(here) = window.get(at) else { return };
        let next = window.get(at + 1);
        if here.kind == TokenKind::Bare && next.is_some_and(|it| it.kind == TokenKind::Colon) {
            let name = window.str(here).to_owned();
            self.help(format!("Names of arguments begin with `%`: `%{name}`"));
            self.rename_bare(&name);
            self.insert(format!("Insert `%` before {name}"), window.range(here).start, "%");
            return self.sure();
        }
        let Some(ty) = at.checked_sub(1).and_then(|it| window.tokens.get(it).copied()) else {
            return;
        };
        if here.kind == TokenKind::Percent && matches!(ty.kind, TokenKind::Bare | TokenKind::Bang) {
            let (name, text) = (window.str(here).to_owned(), window.str(ty).to_owned());
            self.say(format!("the name of an argument stands before its type: `{name}: {text}`"));
            self.help(format!("Write `{name}: {text}`"));
            let range = window.range(ty).start..window.range(here).end;
            self.replace("Write the name first", range, format!("{name}: {text}"));
            self.sure();
        }
    }

    /// Proposes `%` before all arguments of the header that lack it.
    fn rename_bare(&mut self, first: &str) {
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

    /// Where all operands have one type, the missing type can only be that.
    fn only_type(&mut self) {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.name.starts_with("noisy.")
            && !spec.name.ends_with("code")
            && let Some(it) =
                self.out.proposals.iter_mut().find(|it| it.title == "Insert `: !noisy.i32`")
        {
            it.is_sure = true;
        }
        let name = self.ir.op_name(self.op);
        if let Some(form) = self.form()
            && name.starts_with("noisy.")
        {
            self.help(format!("The type is missing: write the op as in `{form}`"));
        }
    }

    /// Returns true if the name of the op is quoted: it is in generic form.
    fn is_quoted(&self) -> bool {
        self.source.slice(self.ir.name_range(self.op)).starts_with('"')
    }

    /// Function types for an op in generic form.
    fn function_types(&self, out: &mut Vec<(String, usize, String)>) {
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
                let value = self.ir.visible(region, name)?;
                self.ir.interner.written_type_text(self.type_of(value))
            })
            .collect();
        let mut results: Vec<String> = match n_names {
            0 => vec!["()".to_owned()],
            _ => self.likely_types(),
        };
        results.truncate(MAX_TYPES);
        for it in results {
            let text = format!(": ({}) -> {it}", types.join(", "));
            out.push((format!("Insert `{text}`"), self.at.start, format!(" {text}")));
        }
    }

    /// Proposes to remove what stands there: a sign, or an operand too many.
    fn superfluous(&mut self, window: &Window, at: usize, literals: &[String]) {
        let Some(here) = window.get(at).filter(|it| !it.at_line_start) else { return };
        let next = window.get(at + 1);
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
                let n = super::words::count(spec.operands.most, "operand");
                self.say(format!("`{}` takes {n}, but {name} is one more", spec.name));
                self.help(format!("Remove {name}"));
            }
            self.replace(format!("Remove the operand {name}"), range, "");
            return;
        }
        if is_punctuation(here.kind) && !literals.is_empty() || here.kind == TokenKind::Comma {
            let range = window.range(here);
            let text = window.str(here).to_owned();
            self.replace(format!("Remove `{text}`"), range, "");
        }
    }
}

/// The alternatives of a message: `expected ',' or '>'`.
fn wanted(message: &str) -> Vec<String> {
    let Some(rest) = message.strip_prefix("expected ") else { return Vec::new() };
    // A comma may be quoted itself.
    let rest = rest.replace("','", "'\u{1}'");
    let parts = rest.split(" or ").flat_map(|it| it.split(", "));
    parts.map(|it| it.trim().replace('\u{1}', ",")).collect()
}

/// The token of an alternative that is one: `'->'`, `'=' after the SSA name`.
fn literal(wanted: &str) -> Option<&str> {
    let rest = wanted.strip_prefix('\'')?;
    let (token, _) = rest.split_once('\'')?;
    (!token.is_empty()).then_some(token)
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
