//! Tests of malformed input: no panic, no deep recursion, and work in proportion to size. Work is
//! counted, not timed.

use std::fmt::Write as _;

use super::Source;
use crate::laws::check_ranges;
use crate::work::count_steps_of;

/// Texts that grow with `n`. Each is difficult to parse efficiently.
fn growing_texts(n: usize) -> Vec<(&'static str, String)> {
    let r = |text: &str| text.repeat(n);
    let f = |body: String| format!("func.func @f(%a: i32) {{\n{body}\n  return\n}}\n");
    vec![
        ("parens", r("(")),
        ("braces", r("{")),
        ("angles", r("<")),
        ("squares", r("[")),
        ("closing", r("}")),
        ("closing parens in an op", f(format!("  foo.op {}{}", r("("), r("]")))),
        ("brackets that do not match", f(format!("  foo.op {}{}", r("(["), r("))")))),
        ("nested regions", r("\"a.b\"() ({\n")),
        ("nested ops", format!("{}{}", r("\"a.b\"() ({\n"), r("}) : () -> ()\n"))),
        ("nested arrays", f(format!("  \"a.b\"() {{x = {}{}}} : () -> ()", r("["), r("]")))),
        ("nested dicts", f(format!("  \"a.b\"() {{x = {}{}}} : () -> ()", r("{a = "), r("}")))),
        ("nested types", f(format!("  \"a.b\"() : () -> {}i32{}", r("tuple<"), r(">")))),
        ("nested function types", f(format!("  \"a.b\"() : {}", r("() -> ")))),
        ("nested locations", format!("#l = {}", r("loc(fused["))),
        ("nested affine", format!("#m = affine_map<(d0) -> ({}d0{})>", r("("), r(")"))),
        ("bodies left open", r("!a.b<")),
        ("bodies left open on lines", r("foo.op !a.b<\n")),
        ("bodies left open behind a string", r("!a.b<\"x\" ")),
        ("bodies in bodies", format!("{}{}", r("!a.b<"), r(">"))),
        ("bodies with a broken string", format!("{}\"", r("#a.b<("))),
        ("strings left open", r("\"a\n")),
        ("strings left open in a line", r("\"a ")),
        ("names at signs", r("@\"a\n")),
        ("a long line", f(format!("  \"a.b\"(%a{}) : () -> ()", r(", %a")))),
        ("lists of results", r("%a,\n")),
        ("lists of results in a bracket", format!("foo.op (\n{}", r("%a,\n"))),
        ("results of nothing", r("%a = ")),
        ("labels", r("^a(\n")),
        ("labels with arguments", f(r("^bb(%x: i32, \n"))),
        ("labels of one name", f(r("^bb:\n"))),
        ("branches to nowhere", f(r("  cf.br ^x\n"))),
        ("a comment", format!("// {}", r("x"))),
        ("comments", r("// -----x\n")),
        ("splits", r("// -----\n")),
        ("splits in a bracket", r("foo.op (\n// -----\n")),
        ("blanks", r(" ")),
        ("zero bytes", r("\0")),
        ("carriage returns", r("arith.addi\r")),
        ("byte order marks", r("\u{feff}")),
        ("letters", r("é")),
        ("names", r("a")),
        ("numbers", r("1.e")),
        ("errors", f(r("  arith.addi\n"))),
        ("names without a definition", f(r("  arith.addi %x, %y : i32\n"))),
        ("one name defined often", f(r("  %0 = arith.addi %a, %a : i32\n"))),
        ("one value used often", f(r("  arith.addi %a, %a : i32\n"))),
        ("aliases", r("!t = i32\n")),
        ("aliases left out", r("!t = \n")),
        ("resources", r("{-# ")),
        ("symbols", r("func.func @f()\n")),
        ("cases", cases(n)),
        ("blocks in a cycle", blocks_in_a_cycle(n)),
    ]
}

fn cases(n: usize) -> String {
    let mut out = "func.func @f(%i: index) {\n  scf.index_switch %i\n".to_owned();
    for k in 0..n {
        let _ = write!(out, "  case {k} {{\n    scf.yield\n  }}\n");
    }
    out + "  default {\n  }\n  return\n}\n"
}

fn blocks_in_a_cycle(n: usize) -> String {
    let mut out = "func.func @f() {\n  cf.br ^bb0\n".to_owned();
    for k in 0..n {
        let _ = write!(out, "^bb{k}:\n  cf.br ^bb{}\n", (k + 1) % n);
    }
    out + "}\n"
}

#[test]
fn reads_any_text() {
    for (name, text) in growing_texts(40) {
        let mut source = Source::new(&text);
        check_ranges(&source);
        // The text is also shortened character by character by edits.
        for _ in 0..text.len().min(60) {
            let text = source.text().to_string();
            let last = text.char_indices().next_back().map_or(0, |it| it.0);
            source.edit(last..text.len(), "");
            let fresh = Source::new(&text[..last]);
            let (ours, theirs) = (source.problems().len(), fresh.problems().len());
            assert_eq!(ours, theirs, "{name}: {:?}", &text[..last]);
        }
    }
}

#[test]
fn reads_deep_nesting_without_recursion() {
    for (name, text) in growing_texts(100_000) {
        // Other long texts are part of another test.
        if name.starts_with("nested") || text.len() <= 200_000 {
            Source::new(&text);
        }
    }
}

#[test]
fn work_is_in_proportion_to_size() {
    for ((name, small), (_, large)) in growing_texts(1_000).into_iter().zip(growing_texts(10_000)) {
        let work = |text: &str| {
            let (source, n) = count_steps_of(|| Source::new(text));
            drop(source);
            n
        };
        let (small, large) = (work(&small), work(&large));
        assert!(large <= 11 * small + 1_000, "{name}: {small}, then {large}");
    }
}
