//! Snippets of ops: the templates of their rows, in the snippet syntax of the protocol.

use std::ops::Range;

use noisy_syntax::OpKind;

use crate::features::write::fill::{self, FillScope, split_at_placeholder};

/// The template of a known op, from its row.
fn template(name: &str) -> Option<String> {
    let kind = OpKind::of(name);
    (kind != OpKind::Unknown).then(|| kind.spec().template())
}

/// A template without its result.
fn template_without_result(template: &str) -> &str {
    match template.split_once(" = ") {
        Some((result, body)) if result.starts_with("«%r»") => body,
        _ => template,
    }
}

/// Converts the template of an op to a snippet of the protocol. `result` is the name of its result,
/// if the snippet includes the result. Values in scope become its operands.
pub(crate) fn snippet(name: &str, result: Option<&str>, scope: &FillScope) -> Option<String> {
    let kind = OpKind::of(name);
    let whole = fill::fill_template(kind, &template(name)?, scope);
    let mut rest = if result.is_some() { &whole } else { template_without_result(&whole) };
    let mut out = String::new();
    let mut n = 0;
    while let Some((before, place, after)) = split_at_placeholder(rest) {
        n += 1;
        let place = if place == "%r" { result.unwrap_or(place) } else { place };
        out.push_str(&format!("{before}${{{n}:{place}}}"));
        rest = after;
    }
    Some(out + rest)
}

/// The first line of an op, and the ranges of its placeholders in bytes.
pub(crate) fn first_line_with_placeholders(name: &str) -> Option<(String, Vec<Range<usize>>)> {
    let whole = template(name)?;
    let mut rest = template_without_result(&whole).lines().next()?;
    let (mut out, mut places) = (String::new(), Vec::new());
    while let Some((before, place, after)) = split_at_placeholder(rest) {
        out.push_str(before);
        places.push(out.len()..out.len() + place.len());
        out.push_str(place);
        rest = after;
    }
    Some((out + rest, places))
}

#[cfg(test)]
mod tests {
    use noisy_analyses::Document;
    use noisy_syntax::dialect;

    use super::*;

    #[test]
    fn snippets_of_all_ops_parse() {
        for kind in dialect::ALL {
            let name = kind.spec().name;
            let text = snippet(name, Some("%9"), &FillScope::default()).expect("a known op");
            let mut plain = text.replace("$0", "");
            while let Some(at) = plain.find("${") {
                let end = plain[at..].find('}').map_or(plain.len(), |it| at + it);
                let place = plain[at..end].split_once(':').map_or("", |it| it.1).to_owned();
                plain.replace_range(at..(end + 1).min(plain.len()), &place);
            }
            // Names may be undefined, but the syntax must be correct.
            let found = Document::new(&plain).diagnostics();
            let codes: Vec<_> = found.iter().map(|it| it.code).collect();
            let is_syntax = |it: &&str| it.starts_with("expected") || *it == "unknown-op";
            assert!(!codes.iter().any(is_syntax), "{name}: {plain}: {codes:?}");
        }
    }
}
