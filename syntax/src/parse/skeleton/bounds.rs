//! The rules for the end of an item and for the meaning of a `{`; see [`super`].

use super::parser::Parser;
use super::{DEPENDS_ON_DIALECT, ItemShape, may_be_result};
use crate::{OpKind, Token, TokenKind, namespace};

/// Maximum number of tokens of a label that are searched for its colon (about 13,000 arguments). It
/// bounds the cost of an unfinished `^name(`.
const MAX_LABEL_TOKENS: usize = 1 << 16;

impl Parser<'_, '_> {
    /// Returns true if another item starts at the current token while no bracket is open.
    pub(super) fn starts_item(&mut self, name: Option<Token>) -> bool {
        let at = self.at;
        let token = self.token(at);
        let before = at.checked_sub(1).map(|it| self.stream.tokens()[it]);
        let after_name = name.is_some() && name == before;
        match token.kind {
            TokenKind::RBrace | TokenKind::FileMetaOpen => true,
            TokenKind::Percent => {
                if after_name {
                    // Within a line, an operand list is not searched for results.
                    let may_start = token.is_at_line_start
                        || may_be_result(self.kind(at + 1), self.kind(at + 2));
                    return may_start && self.starts_item_inside(at);
                }
                (token.is_at_line_start || at == 0 || self.kind(at - 1) != TokenKind::Comma)
                    && self.starts_results(at)
            }
            TokenKind::Bare if token.is_at_line_start => {
                let next = self.kind(at + 1);
                let word = self.str(at);
                if word.contains('.') {
                    return next != TokenKind::Equal;
                }
                let is_listed = namespace::is_unprefixed_anywhere(word);
                // `sink %a`: in some dialect, this name without a dot may be an op.
                let is_anyones = (word == "return" || is_listed && self.has_known_end(name))
                    || !continues_line(word)
                        && next == TokenKind::Percent
                        && !is_type_word(word)
                        && self.has_known_end(name);
                if !is_listed && !is_anyones {
                    return false;
                }
                let Some(op) = self.ops.last() else { return false };
                let starts = match op.default_dialect {
                    Some(namespace::ANY_DIALECT) => is_anyones,
                    Some(it) => namespace::is_unprefixed_op(it, word),
                    None => false,
                };
                self.add_dialect_dependence();
                starts
            }
            // Within a line, only after an op whose syntax does not allow the word, or after a
            // token that may end any op.
            TokenKind::Bare if !after_name => {
                let word = self.str(at);
                let is_short = !word.contains('.');
                if is_short && word != "return" && !namespace::is_unprefixed_anywhere(word)
                    || self.kind(at + 1) == TokenKind::Equal
                {
                    return false;
                }
                let is_known = self.has_known_end(name);
                let is_behind = (is_known || name.is_some()) && self.is_after_possible_end(at);
                if !is_short {
                    return is_behind || is_known && OpKind::of(self.str(at)) != OpKind::Unknown;
                }
                let is_return = self.str(at) == "return";
                if !is_known && !(is_behind && (is_return || self.kind(at + 1) == TokenKind::At)) {
                    return false;
                }
                if is_return {
                    return true;
                }
                self.add_dialect_dependence();
                // Other dialects have words inside ops that are also op names (`max`, `to`).
                let dialect = self.ops.last().and_then(|it| it.default_dialect);
                dialect.is_some_and(|it| {
                    matches!(it, "builtin" | "func")
                        && namespace::is_unprefixed_op(it, self.str(at))
                })
            }
            // After the name of an op without operands, such as `gpu.barrier`.
            TokenKind::Bare => {
                before.is_some_and(|it| self.word(it).contains('.'))
                    && !self.has_known_end(name)
                    && self.starts_item_inside(at)
            }
            TokenKind::Str if self.kind(at + 1) == TokenKind::LParen => {
                token.is_at_line_start || !after_name && self.is_behind_type(at, name)
            }
            TokenKind::Caret => self.starts_block(at, name, after_name),
            TokenKind::Hash | TokenKind::Bang => {
                self.kind(at + 1) == TokenKind::Equal
                    && (token.is_at_line_start || !after_name && self.is_behind_type(at, name))
            }
            _ => false,
        }
    }

    /// Returns true if a label starts at the current token: at the start of a line, or after an op
    /// that has no successor at this position.
    fn starts_block(&mut self, at: usize, name: Option<Token>, after_name: bool) -> bool {
        if self.token(at).is_at_line_start {
            return self.label_end(at).is_some();
        }
        let is_known = self.has_known_end(name);
        let is_behind_op = match name {
            Some(name) if after_name => {
                is_known && self.kind_named(name).spec().successors.most == 0
            }
            _ if is_known => self.kind(at - 1) != TokenKind::Comma,
            _ => name.is_some() && self.is_after_possible_end(at),
        };
        if !is_behind_op {
            return false;
        }
        let Some(end) = self.label_end(at) else { return false };
        // The colon may start the types of an unknown op.
        is_known
            || match self.kind(end + 1) {
                TokenKind::Percent => true,
                TokenKind::Str => self.kind(end + 2) == TokenKind::LParen,
                TokenKind::Bare => {
                    let word = self.str(end + 1);
                    word == "return" || word.contains('.')
                }
                _ => false,
            }
    }

    /// Returns true if the previous token may end an op of any syntax: no punctuation except
    /// closing brackets, and no word except a type.
    fn is_after_possible_end(&self, at: usize) -> bool {
        use TokenKind::{At, Caret, Float, Hash, HashBody, Int, Percent, Str};
        let before = self.stream.tokens()[at - 1];
        matches!(before.kind, At | Caret | Float | Hash | HashBody | Int | Percent | Str)
            || matches!(self.word(before), "true" | "false")
            || self.ends_with_type(at)
    }

    /// Returns true if the open item may end before this token: its end is known, or the token
    /// follows a type, which may end an op of any syntax.
    fn is_behind_type(&self, at: usize, name: Option<Token>) -> bool {
        self.has_known_end(name) || name.is_some() && self.ends_with_type(at)
    }

    /// Returns true if the previous token may be a type or closes a bracket.
    fn ends_with_type(&self, at: usize) -> bool {
        use TokenKind::{Bang, BangBody, Bare, Greater, RBrace, RParen, RSquare};
        let before = self.stream.tokens()[at - 1];
        match before.kind {
            Bare => is_type_word(self.word(before)),
            kind => matches!(kind, Bang | BangBody | Greater | RBrace | RParen | RSquare),
        }
    }

    /// Records that the open item depends on the default dialect.
    fn add_dialect_dependence(&mut self) {
        if let Some(op) = self.ops.last_mut() {
            op.context_deps |= DEPENDS_ON_DIALECT;
        }
    }

    /// Returns true if the end of the open item is known, so that another item may follow on its
    /// line. This holds for an alias with its value, and for an op with this name token that is in
    /// generic form or has a row. The op of a name without a dot depends on the default dialect.
    fn has_known_end(&self, name: Option<Token>) -> bool {
        let Some(name) = name else {
            return self.ops.last().is_some_and(|it| {
                matches!(it.shape, ItemShape::TypeAlias | ItemShape::AttrAlias)
                    && self.at >= it.first_token as usize + 3
            });
        };
        if name.kind == TokenKind::Str {
            return true;
        }
        self.kind_named(name) != OpKind::Unknown
    }

    /// Returns the kind of the open op from its name token. A name without a dot is that of an op
    /// of the default dialect.
    fn kind_named(&self, name: Token) -> OpKind {
        let name = self.word(name);
        let dialect = self.ops.last().and_then(|it| it.default_dialect);
        match dialect {
            Some(dialect) if !name.contains('.') => OpKind::of(&format!("{dialect}.{name}")),
            _ => OpKind::of(name),
        }
    }

    /// Returns true if the token can only start another item although a bracket is open. It is at
    /// the start of a line.
    pub(super) fn starts_item_inside(&mut self, at: usize) -> bool {
        let token = self.token(at);
        match token.kind {
            TokenKind::Percent => {
                let Some(equal) = self.results_end(at) else { return false };
                match self.kind(equal + 1) {
                    TokenKind::Bare => self.str(equal + 1).contains('.'),
                    TokenKind::Str => self.kind(equal + 2) == TokenKind::LParen,
                    _ => false,
                }
            }
            TokenKind::Bare => {
                let word = self.str(at);
                word.contains('.')
                    && OpKind::of(word) != OpKind::Unknown
                    && !matches!(self.kind(at + 1), TokenKind::Equal | TokenKind::Comma)
                    && !self.opens_payload(at.saturating_sub(1))
            }
            TokenKind::Caret => self.label_end(at).is_some(),
            TokenKind::FileMetaOpen => true,
            _ => false,
        }
    }

    /// Returns true for `%a, %b:2 =` before a possible op.
    fn starts_results(&mut self, at: usize) -> bool {
        let Some(equal) = self.results_end(at) else { return false };
        match self.kind(equal + 1) {
            TokenKind::Bare => !is_type_word(self.str(equal + 1)),
            TokenKind::Str => self.kind(equal + 2) == TokenKind::LParen,
            _ => false,
        }
    }

    /// Returns the index of the `=` after a list of results that starts at a token.
    pub(super) fn results_end(&mut self, first: usize) -> Option<usize> {
        if first < self.no_results_before {
            return None;
        }
        if let Some((_, equal)) = self.results.filter(|it| it.0 == first) {
            return Some(equal);
        }
        let mut at = first;
        loop {
            if self.kind(at) != TokenKind::Percent {
                break;
            }
            at += 1;
            if self.kind(at) == TokenKind::Colon && self.kind(at + 1) == TokenKind::Int {
                at += 2;
            }
            match self.kind(at) {
                TokenKind::Comma => at += 1,
                TokenKind::Equal => {
                    self.results = Some((first, at));
                    return Some(at);
                }
                _ => break,
            }
        }
        self.no_results_before = self.no_results_before.max(at);
        None
    }

    /// Returns true for `%a` with nothing after it on its line: the start of an unfinished op.
    fn is_name_alone(&mut self, at: usize) -> bool {
        let next = self.token(at + 1);
        next.is_at_line_start && next.kind != TokenKind::RBrace
    }

    /// Returns the index of the colon of `^name :` or `^name ( ... ) :`.
    fn label_end(&mut self, at: usize) -> Option<usize> {
        match self.kind(at + 1) {
            TokenKind::Colon => Some(at + 1),
            TokenKind::LParen => {
                let mut depth = 0;
                for index in at + 1..at + MAX_LABEL_TOKENS {
                    match self.kind(index) {
                        TokenKind::LParen => depth += 1,
                        TokenKind::RParen => {
                            depth -= 1;
                            if depth == 0 {
                                let is_label = self.kind(index + 1) == TokenKind::Colon;
                                return is_label.then_some(index + 1);
                            }
                        }
                        TokenKind::RBrace
                        | TokenKind::Eof
                        | TokenKind::Split
                        | TokenKind::Caret => return None,
                        _ => {}
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Returns true if the `{` at the current token opens a region of the open item.
    pub(super) fn opens_region(&mut self, generic: bool) -> bool {
        let Some(op) = self.ops.last() else { return false };
        if op.shape != ItemShape::Op {
            return false;
        }
        let Some(name) = op.name else { return false };
        let first = op.regions.is_empty();
        let at = self.at;
        if generic {
            return self.brackets.innermost() == Some(TokenKind::LParen);
        }
        let kind = self.kind_named(name);
        if kind == OpKind::Unknown && self.opens_payload(at) {
            return false;
        }
        let has_no_region = match kind {
            OpKind::Unknown => OpKind::dialect_has_no_regions(self.word(name)),
            _ => kind.spec().regions.most == 0,
        };
        if has_no_region {
            // An unclosed `{` in this op is a dictionary.
            return false;
        }
        if self.brackets.has(TokenKind::Less) || self.brackets.has(TokenKind::LBrace) {
            return false;
        }
        let is_bare = self.brackets.is_empty();
        if !is_bare && kind.spec().brace_is_region(true) {
            // The parentheses of these ops contain arguments.
            return false;
        }
        if is_bare && kind.spec().brace_is_region(first) {
            return !(self.kind(at - 1) == TokenKind::Bare && self.str(at - 1) == "attributes");
        }
        let op = self.ops.last();
        let inner = op.and_then(|op| self.inner_dialect(op));
        let is_full = kind != OpKind::Unknown
            && op.is_some_and(|it| it.regions.len() >= kind.spec().regions.most);
        // `{}` is an empty dictionary if no region can follow: after the last region, after another
        // region without a keyword, and beside the types of `secret.generic`.
        let is_dict = is_full
            || kind != OpKind::Unknown && !first && self.kind(at - 1) == TokenKind::RBrace
            || !is_bare && self.word(name) == namespace::SECRET_GENERIC;
        if self.kind(at + 1) == TokenKind::RBrace && is_dict {
            return false;
        }
        self.brace_opens_region(inner, is_full)
    }

    /// Returns true if this token is the `{` of `linalg.map { arith.addf } ..`, which contains an
    /// op name.
    fn opens_payload(&self, at: usize) -> bool {
        let Some(name) = self.ops.last().and_then(|it| it.name) else { return false };
        let tokens = self.stream.tokens();
        tokens[at].kind == TokenKind::LBrace
            && at.checked_sub(1).is_some_and(|it| tokens[it] == name)
            && matches!(self.word(name), "linalg.map" | "linalg.reduce")
    }

    /// Returns true if the `{` at the current token opens a region, judging by the previous and the
    /// next tokens. `inner` is the default dialect inside. `is_full`: the op already has all its
    /// regions.
    fn brace_opens_region(&mut self, inner: Option<&str>, is_full: bool) -> bool {
        let (before, next) = (self.at - 1, self.at + 1);
        if self.kind(before) == TokenKind::Bare {
            match self.str(before) {
                "attributes" => return false,
                // These words always precede a region.
                "do" | "else" | "default" => return true,
                _ => {}
            }
        }
        if self.kind(before) == TokenKind::Int && self.is_case(before) {
            return true;
        }
        match self.kind(next) {
            // `{%x: i32}` and `{%x, %y}` are not lists of results.
            TokenKind::Percent => {
                self.results_end(next).is_some()
                    || self.token(next).is_at_line_start && self.is_name_alone(next)
            }
            TokenKind::RBrace | TokenKind::Caret => true,
            TokenKind::Str => self.kind(next + 1) == TokenKind::LParen,
            TokenKind::Bare => {
                let at_line_start = self.token(next).is_at_line_start;
                let after = self.kind(next + 1);
                let word = self.str(next);
                if after == TokenKind::Equal {
                    return false;
                }
                if inner.is_some_and(|dialect| namespace::is_unprefixed_op(dialect, word)) {
                    return true;
                }
                if matches!(after, TokenKind::Comma | TokenKind::RBrace) && !at_line_start {
                    return false;
                }
                word.contains('.') || at_line_start && !is_full
            }
            _ => false,
        }
    }

    /// Returns true if the number at `at` is that of `case 2` or `case -2`.
    fn is_case(&mut self, at: usize) -> bool {
        let sign = at.saturating_sub(1);
        let word = if self.kind(sign) == TokenKind::Minus { sign.saturating_sub(1) } else { sign };
        self.kind(word) == TokenKind::Bare && self.str(word) == "case"
    }
}

/// Returns true for words that start a line before an operand in ops with a row.
fn continues_line(word: &str) -> bool {
    matches!(word, "to" | "step" | "from" | "into" | "max" | "min")
}

/// Returns true for words that are types: `%a : i32` is not a list of results before an op.
fn is_type_word(word: &str) -> bool {
    let n_letters = word.bytes().take_while(u8::is_ascii_lowercase).count();
    let (letters, digits) = word.split_at(n_letters);
    if digits.is_empty() {
        return matches!(letters, "index" | "none");
    }
    let is_number = matches!(n_letters, 1 | 2) && digits.bytes().all(|it| it.is_ascii_digit());
    is_number || word.starts_with("f8E")
}
