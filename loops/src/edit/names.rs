//! Names of values in fragments of text.

use noisy_syntax::lex::lex;
use noisy_syntax::{Form, Ir, Op, Source, TokenKind, Value};
use rustc_hash::FxHashSet;

/// Returns the ranges of the value names in a text for which `is_meant` is true.
pub(super) fn names_in(text: &str, is_meant: impl Fn(&str) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    for token in lex(text).tokens {
        let range = token.span().start as usize..token.span().end as usize;
        if token.kind == TokenKind::Percent && is_meant(&text[range.clone()]) {
            out.push(range);
        }
    }
    out
}

/// Returns the names, with their `%`, that are defined inside an op.
pub(super) fn names_defined_in(source: &Source, op: Op) -> Vec<String> {
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
                if !name.is_empty() && is_defined(ir, value) && seen.insert(name.to_owned()) {
                    out.push(format!("%{name}"));
                }
            }
        });
    }
    out
}

/// Returns true if the text defines the value at its definition site. In the header of an opaque
/// op, each name may be a region argument; but a name that is already defined before the op is only
/// a use.
pub fn is_defined(ir: &Ir, value: Value) -> bool {
    let Some(site) = ir.definition_site(value) else { return true };
    let (data, span) = (ir.op(site), ir.value(value).span);
    if data.form != Form::Opaque {
        return true;
    }
    // The operands of an opaque op are in text order.
    let found = data.operands.binary_search_by_key(&span.start, |it| it.span.start);
    found.map_or(true, |at| data.operands[at].value.is_none())
}

/// Returns a text in which each of `names` is replaced by `new` of it.
pub fn with_names_replaced(text: &str, names: &[String], new: &dyn Fn(&str) -> String) -> String {
    let names: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let mut out = String::new();
    let mut at = 0;
    for range in names_in(text, |name| names.contains(name)) {
        out += &text[at..range.start];
        out += &new(&text[range.clone()]);
        at = range.end;
    }
    out + &text[at..]
}

/// Returns the stem of a new name. A number gets a letter in front, because a name that begins with
/// a digit may only contain digits.
pub fn fresh_stem(name: &str) -> String {
    match name.strip_prefix('%') {
        Some(bare) if bare.starts_with(|it: char| it.is_ascii_digit()) => format!("%v{bare}"),
        _ => name.to_owned(),
    }
}

/// Returns the name with a suffix, extended until it does not occur in the text. No other name
/// results in the same new name: the extension has a letter, which a suffix that counts copies has
/// not, and the stem of a number does not occur in the text.
pub fn fresh_name(text: &str, name: &str, suffix: &str) -> String {
    let is_free = |name: &str| !text.contains(name);
    let mut stem = fresh_stem(name);
    while stem != name && !is_free(&stem) {
        stem.insert(1, 'v');
    }
    let name = stem + suffix;
    if is_free(&name) {
        return name;
    }
    // A text has fewer names than bytes.
    (0..=text.len()).map(|it| format!("{name}_v{it}")).find(|it| is_free(it)).unwrap_or_default()
}
