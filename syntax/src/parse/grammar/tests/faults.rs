//! Items that are unknown, unfinished or malformed.

use expect_test::expect;

use super::super::words::MAX_DEPTH;
use super::super::*;
use super::{check, show, tokens_of};
use crate::Interner;

#[test]
fn unknown_ops_are_parsed_by_heuristics() {
    check(
        "%0 = foo.bar %a, %b#1 to %c {x = 1} : tensor<4xf32> to tensor<8xf32>",
        &expect![[r#"
            Unknown Opaque foo.bar
              results: tensor<8xf32> (guessed)
              %a#0: ?
              %b#1: ?
              %c#0: ?
              x = 1 : i64
        "#]],
    );
    check(
        "%0 = foo.rotate %a, %i : tensor<8xi32>, index",
        &expect![[r#"
            Unknown Opaque foo.rotate
              results: tensor<8xi32> (guessed)
              %a#0: ?
              %i#0: ?
        "#]],
    );
    check(
        "%0 = memref.realloc %m[%i] some<new> clause : memref<4xf32>",
        &expect![[r#"
            Unknown Opaque memref.realloc
              results: memref<4xf32> (guessed)
              %m#0: ?
              %i#0: ?
        "#]],
    );
}

#[test]
fn ops_of_schemes_state_the_types_of_their_operands() {
    check(
        "%0 = ckks.mul_plain %a, %b {x = 1 : i8} : (!lwe.c<1>, !lwe.p) -> !lwe.c<2>",
        &expect![[r#"
            Unknown Opaque ckks.mul_plain
              results: !lwe.c<2> (guessed)
              %a#0: !lwe.c<1>
              %b#0: !lwe.p
              x = 1 : i8
        "#]],
    );
    check(
        "%0 = bgv.rotate_cols %a, %i : index : !lwe.c",
        &expect![[r#"
            Unknown Opaque bgv.rotate_cols
              results: !lwe.c (guessed)
              %a#0: !lwe.c
              %i#0: ?
        "#]],
    );
    check(
        "%0 = lwe.rlwe_encode %a : f32 -> !lwe.p",
        &expect![[r#"
            Unknown Opaque lwe.rlwe_encode
              results: !lwe.p (guessed)
              %a#0: f32
        "#]],
    );
    // The number of types differs from that of operands.
    check(
        "%0 = lwe.add %a, %b : !lwe.c",
        &expect![[r#"
            Unknown Opaque lwe.add
              results: !lwe.c (guessed)
              %a#0: ?
              %b#0: ?
        "#]],
    );
}

#[test]
fn properties_in_angle_brackets_are_attributes() {
    check(
        "%1 = mgmt.level_reduce %x <levelToDrop = 2, id = 7 : i64> {y} : f32",
        &expect![[r#"
            Unknown Opaque mgmt.level_reduce
              results: f32 (guessed)
              %x#0: ?
              id = 7 : i64
              levelToDrop = 2 : i64
              y = unit
        "#]],
    );
    // A malformed value leaves the attribute unknown.
    check(
        "%1 = mgmt.level_reduce %x <levelToDrop = > : f32",
        &expect![[r#"
            Unknown Opaque mgmt.level_reduce
              results: f32 (guessed)
              %x#0: ?
              levelToDrop = unknown
        "#]],
    );
}

#[test]
fn lists_of_slices_are_attributes() {
    check(
        "%1 = tensor.extract_slice %x[%i, -1] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>",
        &expect![[r#"
            Unknown Opaque tensor.extract_slice
              results: tensor<8xf32> (guessed)
              %x#0: ?
              %i#0: ?
              static_offsets = array<i64: -9223372036854775808, -1>
              static_sizes = array<i64: 1, 8>
              static_strides = array<i64: 1, 1>
        "#]],
    );
    check(
        "%1 = tensor.insert_slice %e into %x[%i#1, 0] [] : f32 into f32",
        &expect![[r#"
        Unknown Opaque tensor.insert_slice
          results: f32 (guessed)
          %e#0: ?
          %x#0: ?
          %i#1: ?
    "#]],
    );
}

#[test]
fn attributes_of_operands_and_results_are_listed() {
    check(
        "%0:2 = secret.generic(%a: !s<i8> {x = [{}, 2]}, %b: i8, %c: i8 {y}) attrs = {z = 3} {} -> (i8, !s<i8> {x = 4})",
        &expect![[r#"
            Unknown Opaque secret.generic
              results: i8, !s.i8
              %a#0: !s.i8
              %b#0: i8
              %c#0: i8
              __argattrs = [{x = [{}, 2]}, {}, {y}]
              __resattrs = [{}, {x = 4 : i64}]
              z = 3 : i64
        "#]],
    );
    check(
        "%0 = secret.generic(%a: i8 {x = }) {} -> (i8 {x = 4)",
        &expect![[r#"
        Unknown Opaque secret.generic
          results: i8 (guessed)
          %a#0: i8
          __argattrs = [unknown]
          __resattrs = [unknown]
    "#]],
    );
}

#[test]
fn missing_tokens_are_reported_after_the_previous_token() {
    check(
        "%1 = arith.addi %0 %0 : i32",
        &expect![[r#"
        ArithAddi Broken arith.addi
          %0#0: ?
          Syntax 18..18: expected ','
    "#]],
    );
    check(
        "%1 = arith.addi %0, %0 :",
        &expect![[r#"
        ArithAddi Broken arith.addi
          %0#0: ?
          %0#0: ?
          Syntax 24..24: expected a type
    "#]],
    );
    check(
        "%1 = arith.addi %0, %0 : tensor<4xf32, >>",
        &expect![[r#"
        ArithAddi Broken arith.addi
          results: tensor<4xf32>
          %0#0: tensor<4xf32>
          %0#0: tensor<4xf32>
          Syntax 40..40: expected an operation
    "#]],
    );
    check(
        "%1 = arith.constant [1, 2",
        &expect![[r#"
        ArithConstant Broken arith.constant
          Syntax 25..25: expected ':', ',' or ']'
    "#]],
    );
    check(
        "%1 arith.constant 1",
        &expect![[r#"
        Unknown Broken 
          Syntax 2..2: expected '=' after the SSA name
    "#]],
    );
    check(
        "%x = func.return",
        &expect![[r#"
        FuncReturn Custom func.return
          Type 0..2: cannot name an operation with no results: `func.return`
    "#]],
    );
}

#[test]
fn aliases_are_defined() {
    check(
        "#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>",
        &expect![[r#"
            AttrAlias Custom #map
              is affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>
        "#]],
    );
    check(
        "!ty = tensor<4x?xf32>",
        &expect![[r#"
            TypeAlias Custom !ty
              is tensor<4x?xf32>
        "#]],
    );
    check(
        "#set = affine_set<(i) : (i >= 0, i - 4 == 0)>",
        &expect![[r#"
            AttrAlias Custom #set
              is affine_set<(d0) : (d0 >= 0, d0 - 4 == 0)>
        "#]],
    );
}

#[test]
fn a_guess_at_a_wrong_type_does_not_make_it_right_elsewhere() {
    let mut interner = Interner::default();
    let aliases = Aliases::default();
    let mut out = ParsedItem::default();
    for (text, n_problems) in [
        ("%0 = memref.realloc %m : memref<vector<0xf32>>", 0),
        ("%0 = foo.bar : vector<0xf32>", 0),
        ("%0 = arith.addf %a, %a : vector<0xf32>", 1),
        ("%0 = arith.addf %a, %a : vector<0xf32>", 1),
    ] {
        out.clear();
        let mut env =
            GrammarEnv { interner: &mut interner, aliases: &aliases, default_dialect: None };
        parse_item(text, &tokens_of(text), &mut env, &mut out);
        assert_eq!(out.problems.len(), n_problems, "{text}");
    }
}

#[test]
fn deep_nesting_is_a_problem_and_does_not_overflow_the_stack() {
    let deep = format!("%1 = arith.constant {}", "[".repeat(100_000));
    assert!(show(&deep).contains("nested more than"));
    // A level of the grammar takes 40 kB of stack without optimization, and 3 kB with it.
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(|| {
        let n = MAX_DEPTH;
        let nested = format!("%1 = arith.constant {}{}", "[".repeat(n), "]".repeat(n));
        assert!(!show(&nested).contains("nested more than"));
        let tuple = format!("%1 = noisy.add %a, %b : {}i32{}", "tuple<".repeat(n), ">".repeat(n));
        assert!(!show(&tuple).contains("Syntax"));
        let expr =
            format!("#m = affine_map<(d0) -> ({}d0{})>", "(".repeat(n - 2), ")".repeat(n - 2));
        assert!(!show(&expr).contains("Syntax"));
    });
    thread.expect("a thread starts").join().expect("no panic");
}

proptest::proptest! {
    /// No sequence of tokens makes the grammar panic.
    #[test]
    fn any_tokens_are_parsed_without_a_panic(
        words in proptest::collection::vec(0..WORDS.len(), 0..24),
        start in 0..STARTS.len(),
    ) {
        let words: Vec<&str> = words.into_iter().map(|it| WORDS[it]).collect();
        show(&format!("{}{}", STARTS[start], words.join(" ")));
    }
}

#[test]
fn a_global_may_name_a_resource() {
    let text = "memref.global \"private\" constant @g : memref<4xi32> = dense_resource<";
    assert!(!show(&format!("{text}weights>")).contains("Syntax"));
    assert!(show(&format!("{text}>")).contains("the key of a resource"));
}

const STARTS: &[&str] = &[
    "",
    "%a = ",
    "%a, %b:2 = ",
    "arith.addi ",
    "%0 = arith.constant ",
    "scf.for %i = ",
    "scf.forall (",
    "affine.for %i = ",
    "affine.parallel (%i) = (",
    "%0 = affine.load %m[",
    "func.func @f(",
    "cf.switch %a : i32, [",
    "\"x.y\"(",
    "\"cf.br\"(%a) ",
    "memref.subview %a[",
    "memref.global ",
    "^bb0(",
    "#a = ",
    "!a = ",
    "{-# ",
    "scf.while ",
    "%x = foo.bar ",
    "%x = arith.cmpi ",
];

const WORDS: &[&str] = &[
    "%a",
    "%b#1",
    "@f",
    "^bb1",
    "#map",
    "!ty",
    "!noisy.i32",
    "#a.b<c>",
    "i32",
    "index",
    "f32",
    "42",
    "0x1F",
    "1.5",
    "\"s\"",
    "\"0xFF\"",
    ":",
    ",",
    "(",
    ")",
    "{",
    "}",
    "{}",
    "[",
    "]",
    "<",
    ">",
    "=",
    "+",
    "*",
    "-",
    "->",
    "?",
    "|",
    "...",
    "{-#",
    "#-}",
    "$",
    "to",
    "step",
    "x",
    "x4xf32",
    "tensor<",
    "vector<",
    "memref<",
    "4x8xf32>",
    "dense<",
    "sparse<",
    "array<i32:",
    "affine_map<",
    "affine_set<",
    "(d0)",
    "d0",
    "floordiv",
    "mod",
    "loc(",
    "iter_args(",
    "attributes",
    "true",
    "unit",
    "symbol(",
    "max",
    "min",
    "in",
    "do",
    "else",
    "case",
    "default",
    "arith.addi",
    "return",
    "a = 1",
];

/// Returns the message of the first problem of a text, and the text at its span.
fn first_problem(text: &str) -> Option<(String, &str)> {
    let (_, range, problem) = crate::Source::new(text).problems().into_iter().next()?;
    Some((problem.message, &text[range]))
}

#[test]
fn literals_of_elements_have_shaped_types() {
    let message = "`dense_resource` expected a shaped type".to_owned();
    for ty in ["i32", "index", "tuple<i32>", "none", "complex<f32>", "() -> i32"] {
        let text = format!("module attributes {{t.a = dense_resource<a> : {ty}}} {{}}");
        assert_eq!(first_problem(&text).map(|it| it.0), Some(message.clone()), "{text}");
        let text = format!("module attributes {{t.a = sparse<1, 1> : {ty}}} {{}}");
        let found = first_problem(&text).map(|it| it.0);
        assert_eq!(found.as_deref(), Some("elements literal must be a shaped type"), "{text}");
    }
    let text = "module attributes {t.a = dense_resource<a> : i32} {}";
    assert_eq!(first_problem(text), Some((message, "i32")));
    for ty in ["tensor<?xi8>", "tensor<*xi8>", "vector<2xi8>", "memref<2xi8>", "!t.shaped"] {
        let text = format!("module attributes {{t.a = dense_resource<a> : {ty}}} {{}}");
        assert_eq!(first_problem(&text), None, "{text}");
    }
}

#[test]
fn an_unknown_escape_is_reported_like_in_mlir() {
    let message = "unknown escape in string literal".to_owned();
    for (text, place) in [
        ("module attributes {t.a = \"cr\\r\"} {}", "\\r"),
        ("func.func private @\"a\\q\"()", "\\q"),
        ("\"t.\\x\"() : () -> ()", "\\x"),
    ] {
        assert_eq!(first_problem(text), Some((message.clone(), place)), "{text}");
    }
}

#[test]
fn properties_win_over_attributes_of_the_same_name() {
    let flags = |text: &str| {
        let text = format!(
            "func.func @f(%a: i32) -> i32 {{
  %0 = \"arith.addi\"(%a, %a) {text} : (i32, i32) -> i32
  return %0 : i32
}}"
        );
        let source = crate::Source::new(&text);
        assert_eq!(source.problems(), [], "{text}");
        let printed = crate::print::generic(source.ir());
        let (_, rest) = printed.split_once("\"arith.addi\"(%arg0, %arg0) ").expect("the op");
        rest.split_once(" :").expect("its type").0.to_owned()
    };
    let [none, nsw, nuw] =
        ["none", "nsw", "nuw"].map(|it| format!("overflowFlags = #arith.overflow<{it}>"));
    assert_eq!(flags(&format!("<{{{nsw}}}> {{{nuw}}}")), format!("<{{{nsw}}}>"));
    assert_eq!(flags(&format!("<{{{none}}}> {{{nuw}}}")), format!("<{{{none}}}>"));
    assert_eq!(flags(&format!("{{{nuw}}}")), format!("<{{{nuw}}}>"));
    assert_eq!(flags(&format!("<{{}}> {{t.a, {nuw}}}")), format!("<{{{nuw}}}> {{t.a}}"));
}
