//! How ops are written, with the places to fill in.

use std::ops::Range;

/// How an op is written. `«...»` is a place to fill in and `$0` where the cursor stays in the end; what stands before `=` is
/// left out where a result is
/// written already.
const TEMPLATES: [(&str, &str); 11] = [
    ("noisy.encode", "«%r» = noisy.encode «%x» : «i5» -> !noisy.i32"),
    ("noisy.decode", "«%r» = noisy.decode «%a» : !noisy.i32 -> «i5»"),
    ("noisy.reduce_noise", "«%r» = noisy.reduce_noise «%a» : !noisy.i32"),
    ("noisy.add", "«%r» = noisy.add «%a», «%b» : !noisy.i32"),
    ("noisy.sub", "«%r» = noisy.sub «%a», «%b» : !noisy.i32"),
    ("noisy.mul", "«%r» = noisy.mul «%a», «%b» : !noisy.i32"),
    ("func.func", "func.func @«name»(«%a: !noisy.i32») -> «!noisy.i32» {\n  $0\n}"),
    ("func.call", "func.call @«name»(«») : («») -> «()»"),
    ("scf.for", "scf.for «%i» = «%lb» to «%ub» step «%step» {\n  $0\n}"),
    ("scf.if", "scf.if «%condition» {\n  $0\n}"),
    ("arith.constant", "«%r» = arith.constant «0» : «i5»"),
];

fn template(name: &str) -> Option<&'static str> {
    TEMPLATES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// What an op computes, without its result.
fn body(template: &'static str) -> &'static str {
    template.strip_prefix("«%r» = ").unwrap_or(template)
}

/// An op as a snippet of the protocol. `result` is the name of its result, where that is to be written, too.
pub(crate) fn snippet(name: &str, result: Option<&str>) -> Option<String> {
    let whole = template(name)?;
    let mut rest = if result.is_some() { whole } else { body(whole) };
    let mut out = String::new();
    let mut n = 0;
    while let Some((before, place, after)) = split(rest) {
        n += 1;
        let place = if place == "%r" { result.unwrap_or(place) } else { place };
        out.push_str(&format!("{before}${{{n}:{place}}}"));
        rest = after;
    }
    Some(out + rest)
}

/// The first line of an op as it is shown, and the places to fill in, in bytes of it.
pub(crate) fn shown(name: &str) -> Option<(String, Vec<Range<usize>>)> {
    let mut rest = body(template(name)?).lines().next()?;
    let (mut out, mut places) = (String::new(), Vec::new());
    while let Some((before, place, after)) = split(rest) {
        out.push_str(before);
        places.push(out.len()..out.len() + place.len());
        out.push_str(place);
        rest = after;
    }
    Some((out + rest, places))
}

/// What is before the first place of a template, the place, and what is after it.
fn split(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('«')?;
    let (place, after) = rest.split_once('»')?;
    Some((before, place, after))
}

#[cfg(test)]
mod tests {
    use noisy_analyses::Document;

    use super::*;

    #[test]
    fn snippets_are_ops_that_are_read() {
        for (name, _) in TEMPLATES {
            let text = snippet(name, Some("%9")).unwrap_or_default();
            let mut plain = text.replace("$0", "");
            while let Some(at) = plain.find("${") {
                let end = plain[at..].find('}').map_or(plain.len(), |it| at + it);
                let place = plain[at..end].split_once(':').map_or("", |it| it.1).to_owned();
                plain.replace_range(at..(end + 1).min(plain.len()), &place);
            }
            // Names may be undefined; the syntax is right.
            let found = Document::new(&plain).diagnostics();
            let codes: Vec<_> = found.iter().map(|it| it.code).collect();
            let is_syntax = |it: &&str| it.starts_with("expected") || *it == "unknown-op";
            assert!(!codes.iter().any(is_syntax), "{name}: {plain}: {codes:?}");
        }
    }
}
