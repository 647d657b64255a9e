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

#[test]
fn arithmetic_binds_one_type_to_all() {
    check("%1 = arith.addi %0, %0 : i32", &expect![[r""]]);
    check("%1 = arith.addi %0, %a#1 overflow<nsw, nuw> {x} : vector<4xi8>", &expect![[r""]]);
    check("%1 = arith.cmpi \"slt\", %0, %0 : tensor<4xi8>", &expect![[r""]]);
    check("%1 = arith.select %c, %a, %b : vector<4xi1>, vector<4xf32>", &expect![[r""]]);
    check("%s, %c = arith.addui_extended %a, %b : i8, i1", &expect![[r""]]);
}

#[test]
fn constants_have_the_type_of_their_value() {
    check("%1 = arith.constant 255 : i8", &expect![[r""]]);
    check("%1 = arith.constant true", &expect![[r""]]);
    check("%1 = arith.constant 256 : i8", &expect![[r""]]);
    check("%1 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", &expect![[r""]]);
    check("%1 = arith.constant 0.1 : f32", &expect![[r""]]);
}

#[test]
fn noisy_ops_spell_their_types() {
    check("%1 = noisy.encode %0 : i5 -> !noisy.i32", &expect![[r""]]);
    check("%1 = noisy.add %0, %0 : !noisy.i33", &expect![[r""]]);
    check("%1 = noisy.ad %0, %0 : !noisy.i32", &expect![[r""]]);
}

#[test]
fn functions_define_arguments() {
    check("func.func private @f(%a: i32 {x.y = 1 : i8}, %b: !noisy.i32 loc(\"f\":1:2)) -> (i32 {z}, f32)", &expect![[r""]]);
    check("func @g(%a: i32) attributes {k} { }", &expect![[r""]]);
    check("func.func @f(i32, %a: i32)", &expect![[r""]]);
}

#[test]
fn branches_pass_operands_to_blocks() {
    check("cf.cond_br %c, ^bb1(%a, %b : i32, i64), ^bb2", &expect![[r""]]);
    check("cf.switch %f : i32, [default: ^bb1, 42: ^bb2(%a : i1)]", &expect![[r""]]);
    check("^bb1(%a: i32, %b: f32 loc(unknown)):", &expect![[r""]]);
    check("cf.br ^bb1()", &expect![[r""]]);
}

#[test]
fn loops_define_region_arguments() {
    check("%r:2 = scf.for %i = %l to %u step %s iter_args(%a = %x, %b = %y) -> (i32, f32) {}", &expect![[r""]]);
    check("%r = scf.while (%a = %x) : (i32) -> f32 {} do {}", &expect![[r""]]);
    check("scf.forall (%i, %j) in (%n, 4) shared_outs(%o = %t) -> (tensor<4xf32>) {}", &expect![[r""]]);
    check("affine.for %i = 0 to min affine_map<(d0)[s0] -> (d0 + 1, s0)>(%a)[%b] step 2 {}", &expect![[r""]]);
}

#[test]
fn accesses_collect_an_affine_map() {
    check("%v = affine.load %m[%i + 1, symbol(%n) * 2 + %i mod 4] : memref<4x8xf32>", &expect![[r""]]);
    check("%v = affine.load %m[%i * %j] : memref<4xf32>", &expect![[r""]]);
}

#[test]
fn the_generic_form_gives_the_same_shape() {
    check("%1 = \"arith.addi\"(%a, %a) <{overflowFlags = #arith.overflow<none>}> {tag} : (i32, i32) -> i32", &expect![[r""]]);
    check("\"cf.cond_br\"(%c, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()", &expect![[r""]]);
    check("\"x.y\"(%a) : (i32, i32) -> ()", &expect![[r""]]);
}

#[test]
fn unknown_ops_are_guessed_at() {
    check("%0 = foo.bar %a, %b#1 to %c {x = 1} : tensor<4xf32> to tensor<8xf32>", &expect![[r""]]);
    check("%0 = memref.load %m[%i] some<new> clause : memref<4xf32>", &expect![[r""]]);
}

#[test]
fn expected_things_are_told_behind_the_token_before() {
    check("%1 = arith.addi %0 %0 : i32", &expect![[r""]]);
    check("%1 = arith.addi %0, %0 :", &expect![[r""]]);
    check("%1 = arith.addi %0, %0 : tensor<4xf32, >>", &expect![[r""]]);
    check("%1 = arith.constant [1, 2", &expect![[r""]]);
    check("%1 arith.constant 1", &expect![[r""]]);
    check("%x = func.return", &expect![[r""]]);
}

#[test]
fn aliases_are_defined() {
    check("#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>", &expect![[r""]]);
    check("!ty = tensor<4x?xf32>", &expect![[r""]]);
    check("#set = affine_set<(i) : (i >= 0, i - 4 == 0)>", &expect![[r""]]);
}

#[test]
fn deep_nesting_is_a_problem_and_no_overflow() {
    let deep = format!("%1 = arith.constant {}", "[".repeat(100_000));
    assert!(show(&deep).contains("nest deeper"));
    let nested = format!("%1 = arith.constant {}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(!show(&nested).contains("nest deeper"));
    let tuple =
        format!("%1 = noisy.add %a, %b : {}i32{}", "tuple<".repeat(MAX_DEPTH), ">".repeat(MAX_DEPTH));
    assert!(!show(&tuple).contains("Syntax"));
    let inner = MAX_DEPTH - 2;
    let expr = format!("#m = affine_map<(d0) -> ({}d0{})>", "(".repeat(inner), ")".repeat(inner));
    assert!(!show(&expr).contains("Syntax"));
}

proptest::proptest! {
    /// No sequence of tokens makes the grammar panic.
    #[test]
    fn any_tokens_are_read(
        words in proptest::collection::vec(0..WORDS.len(), 0..24),
        start in 0..STARTS.len(),
    ) {
        let words: Vec<&str> = words.into_iter().map(|it| WORDS[it]).collect();
        show(&format!("{}{}", STARTS[start], words.join(" ")));
    }
}

const STARTS: &[&str] = &[
    "", "%a = ", "%a, %b:2 = ", "arith.addi ", "%0 = arith.constant ", "scf.for %i = ", "scf.forall (",
    "affine.for %i = ", "affine.parallel (%i) = (", "%0 = affine.load %m[", "func.func @f(",
    "cf.switch %a : i32, [", "\"x.y\"(", "\"cf.br\"(%a) ", "memref.subview %a[", "memref.global ", "^bb0(",
    "#a = ", "!a = ", "{-# ", "scf.while ", "%x = foo.bar ", "%x = arith.cmpi ",
];

const WORDS: &[&str] = &[
    "%a", "%b#1", "@f", "^bb1", "#map", "!ty", "!noisy.i32", "#a.b<c>", "i32", "index", "f32", "42",
    "0x1F", "1.5", "\"s\"", "\"0xFF\"", ":", ",", "(", ")", "{", "}", "{}", "[", "]", "<", ">", "=", "+",
    "*", "-", "->", "?", "|", "...", "{-#", "#-}", "$", "to", "step", "x", "x4xf32", "tensor<", "vector<",
    "memref<", "4x8xf32>", "dense<", "sparse<", "array<i32:", "affine_map<", "affine_set<", "(d0)", "d0",
    "floordiv", "mod", "loc(", "iter_args(", "attributes", "true", "unit", "symbol(", "max", "min", "in",
    "do", "else", "case", "default", "arith.addi", "return", "a = 1",
];
