//! Canonical texts: strings and symbols without their quotes, type keywords, and one text for each
//! dialect type.

use std::borrow::Cow;

use super::Alias;
use super::reader::{ReadResult, Reader, ReportedError};
use super::values::{float_keyword, int_type};
use crate::identifier::{suffix_id_len, word_len};
use crate::namespace::{is_read_by_heir, is_read_by_mlir};
use crate::string::{string_len, unquoted};
use crate::{Code, Name, Span, TypeData};

/// Maximum width of integer types.
pub(super) const MAX_WIDTH: u32 = 16_777_215;

impl Reader<'_, '_> {
    /// Returns the text of the bytes of a string token.
    pub(super) fn string(&mut self, span: Span) -> Name {
        match unquoted(&self.text[span.range()]) {
            Cow::Owned(text) => self.name(&text),
            Cow::Borrowed(text) => self.env.interner.intern_name(text),
        }
    }

    /// Returns the name of `@name` or `@"name"`.
    pub(crate) fn symbol_text(&mut self, span: Span) -> Name {
        let text = &self.text[span.range()][1..];
        if text.starts_with('"') {
            self.string(Span::new(span.start + 1, span.end))
        } else {
            self.env.interner.intern_name(text)
        }
    }
}

/// Returns the type with this name, if the type is a single bare word.
pub(super) fn type_word(text: &str) -> Option<TypeData> {
    match text {
        "index" => return Some(TypeData::Index),
        "none" => return Some(TypeData::None),
        "token" => return Some(TypeData::Token),
        _ => {}
    }
    if let Some((sign, width)) = int_type(text) {
        let width = width.parse().ok().filter(|it| *it <= MAX_WIDTH)?;
        return Some(TypeData::Int { width, sign });
    }
    float_keyword(text).map(TypeData::Float)
}

/// Returns the dialect of `dialect.name<body>` or `dialect<body>`, and the rest without the dot.
pub(super) fn split_dialect(name: &str) -> (&str, &str) {
    match name.find(['.', '<']) {
        Some(at) if name.as_bytes()[at] == b'.' => (&name[..at], &name[at + 1..]),
        Some(at) => (&name[..at], &name[at..]),
        None => (name, ""),
    }
}

/// Returns true if the body of a dialect type or attribute contains a possible alias: `#name` or
/// `!name` without a dot.
pub(super) fn may_mention_alias(text: &str) -> bool {
    let Some(open) = text.find('<') else { return false };
    let mut rest = &text[open..];
    while let Some(at) = rest.find(['#', '!']) {
        rest = &rest[at + 1..];
        if !rest[..suffix_id_len(rest)].contains('.') {
            return true;
        }
    }
    false
}

/// Maximum number of bytes of a type or attribute of another dialect with its aliases expanded.
pub(super) const MAX_SPELLED: usize = 1 << 16;

impl Reader<'_, '_> {
    /// Returns the canonical text of a dialect type or attribute without its sigil: `dialect.name`
    /// for `dialect<name>`, with the aliases in its body expanded. The rest of the body is kept:
    /// only the dialect knows which texts are equivalent.
    pub(super) fn canonical_dialect(&mut self, name: &str, span: Span) -> ReadResult<String> {
        let Some(open) = name.find('<') else { return Ok(name.to_owned()) };
        let mut out = name[..open].to_owned();
        let mut rest = &name[open..];
        while let Some(at) = rest.find(['#', '!', '"']) {
            let len = match rest.as_bytes()[at] {
                b'"' => string_len(&rest[at..]),
                _ => 1 + suffix_id_len(&rest[at + 1..]),
            };
            let word = &rest[at..at + len];
            out.push_str(&rest[..at]);
            match self.alias_text(word, MAX_SPELLED.saturating_sub(out.len()), span)? {
                Some((alias, text)) => {
                    let start = span.start + (1 + name.len() - rest.len() + at) as u32;
                    self.use_alias(alias, Span::new(start, start + len as u32));
                    out.push_str(&text);
                }
                None => {
                    // A name alone between commas or brackets is an alias if a tool parses the
                    // body. Elsewhere it may have another meaning.
                    let stands_alone =
                        |it: char| it.is_ascii_whitespace() || "\0<>()[]{},=".contains(it);
                    let dialect = split_dialect(name).0;
                    let is_alias = (is_read_by_mlir(dialect) || is_read_by_heir(dialect))
                        && word[1..].starts_with(|it: char| it.is_ascii_alphabetic())
                        && !word.contains('.')
                        && !word.starts_with('"')
                        && rest[..at].ends_with(stands_alone)
                        && rest[at + len..].starts_with(|it| it != '<' && stands_alone(it));
                    if is_alias {
                        // Here the name does not include the sigil of the whole type or attribute.
                        let start = span.start + (1 + name.len() - rest.len() + at) as u32;
                        let alias = self.name(word);
                        self.use_alias(alias, Span::new(start, start + len as u32));
                    }
                    out.push_str(word);
                }
            }
            rest = &rest[at + len..];
        }
        out.push_str(rest);
        Ok(pretty_form(&out))
    }

    /// Returns the meaning of an alias as a text of at most `most` bytes.
    fn alias_text(
        &mut self,
        word: &str,
        most: usize,
        span: Span,
    ) -> ReadResult<Option<(Name, String)>> {
        if word.contains('.') || !word.starts_with(['#', '!']) {
            return Ok(None);
        }
        let name = self.name(word);
        let text = match self.look_up(name) {
            None => return Ok(None),
            Some(Alias::Type(ty)) => self.env.interner.bounded_type_text(ty, most),
            Some(Alias::Attr(attr)) => self.env.interner.bounded_attr_text(attr, most),
        };
        match text {
            Some(text) => Ok(Some((name, text))),
            None => Err(self.too_long(span)),
        }
    }

    /// The body of a type or attribute of another dialect is stored as text with expanded aliases,
    /// so its length is limited.
    #[cold]
    pub(super) fn too_long(&mut self, span: Span) -> ReportedError {
        let message =
            format!("with its aliases expanded this is longer than {MAX_SPELLED} characters");
        self.error_at(Code::TooMany, span, message)
    }
}

/// Returns the same text for `dialect<name>` and `dialect.name`.
fn pretty_form(name: &str) -> String {
    let (dialect, rest) = split_dialect(name);
    let Some(body) = rest.strip_prefix('<').and_then(|it| it.strip_suffix('>')) else {
        return name.to_owned();
    };
    // MLIR prints a body after a dot if it starts with a name that is followed by nothing or by
    // `<...>` up to the end.
    let len = word_len(body);
    let starts_well = body.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends_well = len == body.len() || body[len..].starts_with('<') && body.ends_with('>');
    if starts_well && ends_well { format!("{dialect}.{body}") } else { name.to_owned() }
}
