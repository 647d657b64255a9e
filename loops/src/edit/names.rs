//! Names of values in pieces of text.

use noisy_syntax::lex::lex;
use noisy_syntax::{Op, Source, TokenKind};
use rustc_hash::FxHashSet;

/// The names of values in a text that are meant, each mention by itself.
pub(super) fn defined_in(
    text: &str,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    for token in lex(text).tokens {
        let range = token.span().start as usize..token.span().end as usize;
        if token.kind == TokenKind::Percent && is_meant(&text[range.clone()]) {
            out.push(range);
        }
    }
    out
}

/// The names, with their `%`, that are defined inside of an op.
pub(super) fn definitions(source: &Source, op: Op) -> Vec<String> {
    let ir = source.ir();
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    for &(_, region) in &ir.op(op).regions {
        ir.walk(region, &mut |it| {
            let data = ir.op(it);
            let args = data.regions.iter().flat_map(|it| ir.blocks(it.1));
            let args: Vec<_> = args.flat_map(|it| ir.block(it).args.to_vec()).collect();
            for &value in data.results.iter().chain(&args) {
                let name = ir.interner.str(ir.value(value).name);
                if !name.is_empty() && seen.insert(name.to_owned()) {
                    out.push(format!("%{name}"));
                }
            }
        });
    }
    out
}

/// A text with some of its names changed.
pub fn renamed(text: &str, names: &[String], new: &dyn Fn(&str) -> String) -> String {
    let names: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let mut out = String::new();
    let mut at = 0;
    for range in defined_in(text, |name| names.contains(name)) {
        out += &text[at..range.start];
        out += &new(&text[range.clone()]);
        at = range.end;
    }
    out + &text[at..]
}

/// A name like this one that does not stand in a text.
pub fn fresh(text: &str, name: &str) -> String {
    let is_free = |name: &str| !text.contains(name);
    if is_free(name) {
        return name.to_owned();
    }
    // A text has fewer names than bytes.
    (0..=text.len()).map(|it| format!("{name}_{it}")).find(|it| is_free(it)).unwrap_or_default()
}
