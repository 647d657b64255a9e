//! Advice on missing, superfluous and wrong tokens.

use super::scope::TextWindow;
use super::syntax::similar_builtin_type;
use super::{Adviser, nearest};
use crate::{OpKind, Token, TokenKind};

/// Maximum number of types that are tried where a type is missing.
pub(super) const MAX_TYPES: usize = 5;

impl Adviser<'_> {
    pub(super) fn advise_on_expected_token(&mut self) {
        if self.advise_on_missing_body() {
            return;
        }
        let window = self.window_with_line();
        let at = window.token_index_after(self.range.start);
        if self.advise_on_missing_result_name(&window, at)
            || self.advise_on_missing_attributes_keyword(&window, at)
            || self.advise_on_late_attributes(&window, at)
        {
            return;
        }
        let found = window.token(at);
        let before = at.checked_sub(1).and_then(|it| window.token(it));
        let here = found.filter(|it| !it.is_at_line_start);
        let wanted = expected_alternatives(&self.problem.message);
        self.add_found_token(&window, here);
        let is_value = self.problem.message.contains("SSA value");
        let is_type = wanted.iter().any(|it| it == "a type");
        let literals: Vec<String> =
            wanted.iter().filter_map(|it| expected_token_text(it)).map(str::to_owned).collect();
        if let Some(it) = here {
            let is_keyword = it.kind == TokenKind::Bare
                && !is_value
                && !is_type
                && self.advise_on_misspelled_keyword(window.str(it), window.range(it));
            if is_keyword {
                return;
            }
            match it.kind {
                TokenKind::Error => {}
                _ if is_value => self.advise_on_missing_value(&window, at, it),
                _ if is_type => self.advise_on_missing_type(&window, it),
                TokenKind::Bare if self.problem.message.contains("symbol name") => {
                    let name = window.str(it).to_owned();
                    self.set_help(format!("Names of symbols begin with `@`: `@{name}`"));
                    self.propose_insertion(
                        format!("Insert `@` before {name}"),
                        window.range(it).start,
                        "@",
                    );
                    self.mark_as_sure();
                }
                TokenKind::Bare if self.problem.message.contains("block") => {
                    let name = window.str(it).to_owned();
                    self.set_help(format!("Names of blocks begin with `^`: `^{name}`"));
                    self.propose_insertion(
                        format!("Insert `^` before {name}"),
                        window.range(it).start,
                        "^",
                    );
                }
                _ => {}
            }
        } else if is_value {
            self.advise_on_missing_operand();
        }
        self.advise_on_missing_op(before);
        if let Some(it) = here.filter(|_| is_value || is_type) {
            self.propose_value_sigils(&window, at, it);
        }
        self.advise_on_wrong_punctuation(&window, at);
        self.advise_on_swapped_store(&window, here);
        self.advise_on_function_argument(&window, at);
        if self.problem.message.contains("function type") {
            self.propose_type_parentheses(&window, at);
        }
        self.advise_on_digit_name(&window, before, here);
        self.propose_expected_keyword(&window, at, &literals);
        self.propose_missing_tokens(&window, at, &literals, is_type);
        self.propose_removing_token(&window, at, &literals);
        if self.out.help.is_none() {
            self.set_expected_help(&literals, here.is_none());
        }
    }

    /// The text of the op.
    pub(super) fn window_with_line(&self) -> TextWindow {
        self.window()
    }

    /// Adds the name of the op and the found token to the message.
    fn add_found_token(&mut self, window: &TextWindow, here: Option<Token>) {
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
        self.set_message(format!("{}{place}{found}", self.problem.message));
    }

    fn set_expected_help(&mut self, literals: &[String], is_end: bool) {
        let form = self.example_syntax();
        let missing = match literals {
            [one] if !is_end => Some(format!("Write `{one}` here")),
            [one] => Some(format!("The op is not complete: write `{one}` and the rest of the op")),
            _ => None,
        };
        match (missing, form) {
            (Some(it), Some(form)) => self.set_help(format!("{it}, as in `{form}`")),
            (Some(it), None) => self.set_help(it),
            (None, form) if self.out.proposals.len() == 1 => {
                let title = self.out.proposals[0].title.clone();
                let form = form.map_or(String::new(), |it| format!(", as in `{it}`"));
                self.set_help(format!("{title}{form}"));
            }
            (None, Some(form)) => self.set_help(format!("The form of the op is `{form}`")),
            (None, None) => {
                self.set_help("Write the expected text, or remove the superfluous text");
            }
        }
    }

    /// An example of the op in custom syntax, on one line.
    pub(super) fn example_syntax(&self) -> Option<String> {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.name.is_empty() || self.is_quoted() {
            return None;
        }
        let form = spec.template().replace(['«', '»'], "").replace("$0", "");
        let form = form.split_whitespace().collect::<Vec<_>>().join(" ");
        (form.len() <= 100 && form.contains(' ')).then_some(form)
    }

    /// Advises on a token where a value is expected.
    fn advise_on_missing_value(&mut self, window: &TextWindow, at: usize, it: Token) {
        let word = window.str(it).to_owned();
        let range = window.range(it);
        match it.kind {
            // `iter_args(acc = %init)`
            TokenKind::Bare
                if window.token(at + 1).is_some_and(|it| it.kind == TokenKind::Equal) =>
            {
                self.set_help(format!("Names of values begin with `%`: `%{word}`"));
                self.propose_insertion(format!("Insert `%` before {word}"), range.start, "%");
                self.mark_as_sure();
            }
            TokenKind::Bare => {
                let values = self.visible_values();
                let all: Vec<String> =
                    values.iter().map(|&it| self.bare_name(it).to_owned()).collect();
                let near: Vec<String> = if all.contains(&word) {
                    vec![word.clone()]
                } else {
                    nearest(&word, all.iter().map(String::as_str))
                        .into_iter()
                        .map(str::to_owned)
                        .collect()
                };
                self.set_help(format!(
                    "Names of values begin with `%`: `%{}`",
                    near.first().unwrap_or(&word)
                ));
                for name in near.iter().take(3) {
                    self.propose_replacement(
                        format!("Replace by %{name}"),
                        range.clone(),
                        format!("%{name}"),
                    );
                }
                if near.len() == 1 {
                    self.mark_as_sure();
                }
            }
            TokenKind::Int | TokenKind::Float | TokenKind::Minus => {
                let is_loop = self.ir.op(self.op).kind == OpKind::ScfFor;
                if is_loop {
                    self.set_message("bounds and step of `scf.for` are values, not numbers");
                    self.set_help(format!(
                        "Define `%c{word} = arith.constant {word} : index` before the loop, or use `affine.for`, which takes numbers"
                    ));
                } else {
                    self.set_help(format!(
                        "Operands are values, not numbers: define `%c = arith.constant {word} : TYPE` before this op and use %c"
                    ));
                }
                self.propose_constants(window, at);
            }
            TokenKind::LParen => {
                // `noisy.add(%a, %b)`.
                self.set_help("The operands of this op are written without parentheses");
                let close = window.tokens[at..].iter().position(|it| it.kind == TokenKind::RParen);
                if let Some(close) = close {
                    let close = window.range(window.tokens[at + close]);
                    self.propose(
                        "Remove the parentheses",
                        vec![(range, " ".to_owned()), (close, String::new())],
                    );
                    self.mark_as_sure();
                }
            }
            _ => self.advise_on_missing_operand(),
        }
    }

    /// Proposes `%` before all words from token `from` on that are names of values.
    fn propose_value_sigils(&mut self, window: &TextWindow, from: usize, first: Token) {
        let region = self.ir.op(self.op).parent;
        let (mut edits, mut names) = (Vec::new(), Vec::new());
        for (n, it) in window.tokens.iter().enumerate().skip(from) {
            if n > from && it.is_at_line_start || it.kind == TokenKind::Colon {
                break;
            }
            let id = self.ir.interner.find_name(window.str(*it));
            let is_value = id.is_some_and(|it| self.ir.visible_value(region, it).is_some());
            if it.kind == TokenKind::Bare && is_value {
                let start = window.range(*it).start;
                edits.push((start..start, "%".to_owned()));
                names.push(window.str(*it).to_owned());
            }
        }
        if edits.len() > 1 && first.kind == TokenKind::Bare {
            self.propose(format!("Insert `%` before {}", names.join(", ")), edits);
            self.mark_as_sure();
        }
    }

    /// Proposes constants for numbers where values are expected.
    fn propose_constants(&mut self, window: &TextWindow, from: usize) {
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
                if token.is_at_line_start && n > from || token.kind == TokenKind::LBrace {
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
                let is_new = !known.contains(&name);
                let name = if is_new && !self.is_unused_name(&name) {
                    self.unused_name(&name)
                } else {
                    name
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

    /// Advises on a token where a type is expected.
    fn advise_on_missing_type(&mut self, window: &TextWindow, it: Token) {
        let word = window.str(it).to_owned();
        let range = window.range(it);
        if it.kind == TokenKind::Bare {
            if word.contains('.') {
                let near = Self::similar_types(&format!("!{word}"));
                let name = near.first().cloned().unwrap_or_else(|| format!("!{word}"));
                self.set_help(format!("Types of dialects begin with `!`: `{name}`"));
                self.propose_replacement(format!("Replace by {name}"), range.clone(), name.clone());
                if name == format!("!{word}") || !near.is_empty() {
                    self.mark_as_sure();
                }
                return;
            }
            let is_alias = self.ir.alias_names(self.op, 256).contains(&format!("!{word}"));
            if is_alias {
                self.set_help(format!("Names of type aliases begin with `!`: `!{word}`"));
                self.propose_insertion(format!("Insert `!` before {word}"), range.start, "!");
                return self.mark_as_sure();
            }
            if let Some(near) = similar_builtin_type(&word) {
                self.set_help(format!(
                    "Write `{near}`: integers are i1, i32, ..., floats f16, f32 and f64"
                ));
                self.propose_replacement(format!("Replace by {near}"), range, near);
                return;
            }
            self.set_help(format!(
                "`{word}` is not a type: write a type such as i32, f32, index or `!noisy.i32`"
            ));
            for ty in self.likely_types().into_iter().take(MAX_TYPES) {
                self.propose_replacement(format!("Replace by {ty}"), range.clone(), ty);
            }
            return;
        }
        for ty in self.likely_types().into_iter().take(MAX_TYPES) {
            let space = if window.text[..it.start as usize].ends_with(' ') { "" } else { " " };
            self.propose_insertion(
                format!("Insert {ty}"),
                self.range.start,
                format!(" {ty}{}", if space.is_empty() { "" } else { " " }),
            );
        }
    }

    /// Advises on a missing operand.
    fn advise_on_missing_operand(&mut self) {
        let spec = self.ir.op(self.op).kind.spec();
        if spec.operands.least > 0 && spec.operands.least == spec.operands.most {
            let what = super::words::count_text(spec.operands.least, "operand");
            self.set_help(match self.example_syntax() {
                Some(form) => format!("The op takes {what}, as in `{form}`"),
                None => format!("The op takes {what}"),
            });
        }
        for value in self.visible_values().into_iter().take(6) {
            let name = self.ir.value_text(value);
            self.propose_insertion(format!("Insert {name}"), self.range.start, format!(" {name}"));
        }
    }

    /// Advises on `%a =` without an op.
    fn advise_on_missing_op(&mut self, before: Option<Token>) {
        let is_equal = before.is_some_and(|it| it.kind == TokenKind::Equal);
        if !is_equal || !self.problem.message.contains("operation") {
            return;
        }
        self.set_message("an op is missing after `=`");
        self.set_help("Write the op that defines this name");
    }

    /// Advises on `%0b`: a name that starts with a digit may only have digits.
    fn advise_on_digit_name(
        &mut self,
        window: &TextWindow,
        before: Option<Token>,
        here: Option<Token>,
    ) {
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
        self.advise_on_invalid_number(&whole);
    }

    /// Advises on a value whose numeric name is directly followed by letters. Returns true if it
    /// gave advice.
    pub(super) fn advise_on_digits_and_letters(&mut self) -> bool {
        let name = self.problem_text();
        let (start, line) = self.line_at(self.range.end);
        let rest: String = line
            .get(self.range.end - start..)
            .unwrap_or("")
            .chars()
            .take_while(|it| it.is_alphanumeric() || *it == '_')
            .collect();
        let is_number = name.len() > 1 && name[1..].bytes().all(|it| it.is_ascii_digit());
        if rest.is_empty() || !is_number {
            return false;
        }
        self.advise_on_invalid_number(&format!("{name}{rest}"));
        true
    }

    fn advise_on_invalid_number(&mut self, whole: &str) {
        let fresh = format!("v{}", &whole[1..]);
        self.set_message(format!(
            "`{whole}` is not a valid name: a name that starts with a digit has only digits"
        ));
        self.set_help(format!("Name the value %{fresh}"));
        self.propose_renaming(whole, &format!("%{fresh}"));
    }

    /// Proposes to replace a name throughout the function that contains the op.
    pub(super) fn propose_renaming(&mut self, old: &str, new: &str) {
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

    /// Returns true if the name of the op is quoted, so the op is in generic form.
    pub(super) fn is_quoted(&self) -> bool {
        self.source.slice(self.ir.name_range(self.op)).starts_with('"')
    }
}

/// The alternatives in a message such as `expected ',' or '>'`.
fn expected_alternatives(message: &str) -> Vec<String> {
    let Some(rest) = message.strip_prefix("expected ") else { return Vec::new() };
    // One of the alternatives may be a quoted comma.
    let rest = rest.replace("','", "'\u{1}'");
    let parts = rest.split(" or ").flat_map(|it| it.split(", "));
    parts.map(|it| it.trim().replace('\u{1}', ",")).collect()
}

/// The quoted token of an alternative: `->` in `'->'`, `=` in `'=' after the SSA name`.
fn expected_token_text(wanted: &str) -> Option<&str> {
    let rest = wanted.strip_prefix('\'')?;
    let (token, _) = rest.split_once('\'')?;
    (!token.is_empty()).then_some(token)
}
