//! Tests of whole items.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;
use crate::lex::lex;
use crate::{Interner, T};

/// The tokens of one op whose regions are written as `{}`, and everything that is in them is left out.
pub(super) fn tokens_of(text: &str) -> Vec<Token> {
    let lexed = lex(text).tokens;
    let all: Vec<Token> = lexed.iter().copied().filter(|it| it.kind != T::Eof).collect();
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let token = all[at];
        at += 1;
        if token.kind == T::LBrace && all.get(at).is_some_and(|it| it.kind == T::RBrace) {
            out.push(Token { end: all[at].end, kind: T::Region, ..token });
            at += 1;
        } else {
            out.push(token);
        }
    }
    out
}

fn show(text: &str) -> String {
    let mut interner = Interner::default();
    let aliases = Aliases::default();
    let mut env = Env { interner: &mut interner, aliases: &aliases, default_dialect: Some("func") };
    let mut out = Parsed::default();
    parse_item(text, &tokens_of(text), &mut env, &mut out);
    let mut shown = String::new();
    let types = |interner: &Interner, list: &[Type]| {
        list.iter().map(|it| interner.type_text(*it)).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        shown,
        "{:?} {:?} {}",
        out.kind,
        out.form,
        out.name.map_or("", |it| interner.str(it))
    );
    if !out.result_types.is_empty() {
        let guessed = if out.guessed { " (guessed)" } else { "" };
        let _ = writeln!(shown, "  results: {}{guessed}", types(&interner, &out.result_types));
    }
    for it in &out.operands {
        let _ = writeln!(shown, "  %{}#{}: {}", interner.str(it.name), it.number, interner.type_text(it.ty));
    }
    for it in &out.successors {
        let _ = writeln!(shown, "  ^{} {:?}", interner.str(it.name), it.operands);
    }
    for (i, arguments) in out.region_arguments.iter().enumerate() {
        for it in arguments {
            let name = it.name.map_or("", |it| interner.str(it));
            let _ = writeln!(shown, "  region {i} %{name}: {}", interner.type_text(it.ty));
        }
    }
    for it in &out.arguments {
        let name = it.name.map_or("", |it| interner.str(it));
        let _ = writeln!(shown, "  argument %{name}: {}", interner.type_text(it.ty));
    }
    for (name, attr) in &out.attrs {
        let _ = writeln!(shown, "  {} = {}", interner.str(*name), interner.attr_text(*attr));
    }
    if let Some(it) = out.symbol {
        let _ = writeln!(shown, "  defines @{}", interner.str(it.name));
    }
    for it in &out.symbol_uses {
        let _ = writeln!(shown, "  uses @{}", interner.str(it.name));
    }
    for it in &out.problems {
        let span = it.span;
        let _ = writeln!(shown, "  {:?} {}..{}: {}", it.category, span.start, span.end, it.message);
    }
    shown
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(text));
}
