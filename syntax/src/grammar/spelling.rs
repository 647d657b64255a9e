//! Spellings: strings and symbols without their quotes, type keywords, and one spelling for each dialect type.

use super::reader::Reader;
use super::values::{float_keyword, int_type};
use crate::{Name, Span, TypeData};

/// Integer types may be this wide.
pub(super) const MAX_WIDTH: u32 = 16_777_215;

impl Reader<'_, '_> {
    /// The text of a string token, unescaped.
    pub(super) fn string(&mut self, span: Span) -> Name {
        let quoted = &self.text[span.range()];
        let inner = quoted.strip_prefix('"').unwrap_or(quoted);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        if inner.contains('\\') {
            let text = unescape(inner);
            self.name(&text)
        } else {
            self.env.interner.name(inner)
        }
    }

    /// The name of `@name` or `@"name"`.
    pub(super) fn symbol_text(&mut self, span: Span) -> Name {
        let text = &self.text[span.range()][1..];
        if text.starts_with('"') {
            self.string(Span::new(span.start + 1, span.end))
        } else {
            self.env.interner.name(text)
        }
    }
}

/// A type of one bare word.
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

/// The dialect of `dialect.name<body>` or `dialect<body>`, and the rest without the dot.
pub(super) fn split_dialect(name: &str) -> (&str, &str) {
    match name.find(['.', '<']) {
        Some(at) if name.as_bytes()[at] == b'.' => (&name[..at], &name[at + 1..]),
        Some(at) => (&name[..at], &name[at..]),
        None => (name, ""),
    }
}

/// One spelling for `dialect<name>` and `dialect.name`. The body stays as it is written: what blanks mean in it only the
/// dialect knows.
pub(super) fn canonical_dialect(name: &str) -> String {
    let (dialect, rest) = split_dialect(name);
    let Some(body) = rest.strip_prefix('<').and_then(|it| it.strip_suffix('>')) else {
        return name.to_owned();
    };
    // MLIR prints a body that begins with a name, followed by nothing or by `<...>` to the end, after a dot.
    let len = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(body.len());
    let starts_well = body.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends_well = len == body.len() || body[len..].starts_with('<') && body.ends_with('>');
    if starts_well && ends_well { format!("{dialect}.{body}") } else { name.to_owned() }
}

/// Strings as bytes; what is no UTF-8 stays escaped.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        match bytes.get(at + 1) {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(it @ (b'"' | b'\\')) => out.push(*it),
            Some(_) => {
                let hex = text.get(at + 1..at + 3).and_then(|it| u8::from_str_radix(it, 16).ok());
                out.push(hex.unwrap_or(b'\\'));
                at += if hex.is_some() { 3 } else { 1 };
                continue;
            }
            None => out.push(b'\\'),
        }
        at += 2;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
