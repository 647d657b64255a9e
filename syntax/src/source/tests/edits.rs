//! Random edits of text, of lines of a program with many rules to verify, and of aliases. After
//! each edit, everything equals a new parse (checked by `edit`).

use proptest::prelude::*;

use super::{PROGRAM, Source, edit};
use crate::laws::check_ranges;

/// Text that edits insert: usual text, and text that breaks programs.
fn snippet() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
            "}}\n}",
            "(",
            ")",
            "<",
            ">",
            "[",
            "]",
            "\"",
            "//",
            "\n",
            "\r\n",
            " ",
            "%0",
            "%1",
            "%a",
            "%y",
            "=",
            ":",
            ",",
            "#",
            "-",
            "!",
            "^bb0",
            "^bb1:",
            "@f",
            "return",
            "\n// -----\n",
            "{-#",
            "#-}",
            "\u{1F600}",
            "\u{e9}",
            "!foo.bar<",
            "%7 = arith.addi %0, %1 : i32\n",
            "\n%8 = \"foo\"() : () -> i32\n",
            "attributes {a}",
            "weird.op %z {\n%q = arith.addi %z, %0 : i32\n}\n",
            "func.func @k(%0: i32) {\n}\n",
            "\0",
            "i32",
            "->",
            "^bb2(%0: i32):\n",
            "#map = affine_map<() -> ()>\n",
            "else {",
            "loc(unknown)",
            "a.b",
            "\"x\"(",
            " weird.op %0 : i32 foo.nop ",
            " foo.nop arith.addi ",
            " foo.nop ^bb1(%0: i32): return ",
            "linalg.map {\narith.addf\n} ",
        ])
        .prop_map(str::to_owned),
        "[ -~\n]{0,6}",
    ]
}

/// A program to which many rules of the verifier apply: branches, loops, calls, symbols.
const STRUCTURED: &str = "\
func.func @f(%a: i32, %c: i1) -> i32 {
  %0 = arith.addi %a, %a : i32
  cf.cond_br %c, ^bb1, ^bb2(%0 : i32)
^bb1:
  %1 = arith.addi %0, %a : i32
  %2 = func.call @g(%1) : (i32) -> i32
  cf.br ^bb2(%2 : i32)
^bb2(%x: i32):
  %3 = scf.if %c -> (i32) {
    %4 = arith.addi %x, %0 : i32
    scf.yield %4 : i32
  } else {
    scf.yield %x : i32
  }
  cf.cond_br %c, ^bb1, ^bb3
^bb3:
  %5 = arith.addi %3, %0 : i32
  return %5 : i32
}
func.func @loops(%n: index, %m: memref<8xf32>) {
  scf.for %i = %n to %n step %n {
    %k = arith.addi %n, %n : index
    %l = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%l) {
      %v = affine.load %m[%j] : memref<8xf32>
    }
  }
  %w = scf.while (%x = %n) : (index) -> index {
    %t = arith.constant true
    scf.condition(%t) %x : index
  } do {
  ^bb0(%y: index):
    scf.yield %y : index
  }
  return
}
func.func private @g(%a: i32) -> i32
module @m {
  func.func @f(%a: i32) {
    %0 = func.call @f(%a) : (i32) -> i32
    return
  }
  func.func @g() {
    return
  }
}
";

/// Lines of structured programs, correct and incorrect ones.
const LINES: &[&str] = &[
    "  ^bb7(%u: tensor<8xi32",
    "  weird.op : vector<4x",
    "  weird.op %0 : i32 return %0 : i32",
    "  foo.nop memref.load weird.op : i32 ^bb1: \"foo.nop\"() : () -> () foo.nop",
    "^bb1:",
    "^bb2(%x: i32):",
    "^bb2(%x: i64):",
    "^bb3:",
    "^bb4:",
    "  cf.br ^bb1",
    "  cf.br ^bb2(%0 : i32)",
    "  cf.br ^bb3",
    "  cf.br ^bb4",
    "  cf.cond_br %c, ^bb1, ^bb3",
    "  cf.cond_br %c, ^bb3, ^bb4",
    "  \"foo.branch\"()[^bb1, ^bb4] : () -> ()",
    "  return",
    "  return %0 : i32",
    "  %0 = arith.addi %a, %a : i32",
    "  %1 = arith.addi %0, %a : i32",
    "  %1:2 = \"foo.pair\"(%0) : (i32) -> (i32, i32)",
    "  %3 = arith.addi %5, %5 : i32",
    "  %3 = func.call @f(%0) : (i32) -> i32",
    "  func.call @h() : () -> ()",
    "  %3 = scf.if %c -> (i32) {",
    "  %3 = scf.if %c -> (i64) {",
    "  scf.for %i = %n to %n step %n {",
    "  \"foo.region\"() ({",
    "  }) : () -> ()",
    "  scf.yield",
    "  scf.yield %0 : i32",
    "  } else {",
    "  scf.execute_region {",
    "  %n = arith.constant 1 : index",
    "  %n = arith.constant 0 : index",
    "  scf.parallel (%j) = (%n) to (%n) step (%n) {",
    "    %k = arith.addi %i, %n : index",
    "    %k = \"foo.index\"() : () -> index",
    "    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%k) {",
    "  ^bb0(%y: i32):",
    "    scf.yield %y : index",
    "    affine.yield",
    "    scf.condition(%t) %t : i1",
    "}",
    "func.func @f(%a: i32) {",
    "func.func @f(%a: i32, %c: i1) -> i32 {",
    "func.func @g(%a: i32) -> i64 {",
    "func.func @h() {",
    "func.func private @h()",
    "func.func @l() { call @h() : () -> () \"a.b\"() : () -> () call @h() : () -> () return }",
    "func.func @h()",
    "module {",
    "func.func @k(%a: i32, %c: i1) -> i32 {\n  cf.br ^bb1\n^bb1:\n  return %a : i32\n}",
];

/// Replacements of words.
const WORDS: &[(&str, &str)] = &[
    ("i32", "i64"),
    ("i64", "i32"),
    ("-> i32", "-> i64"),
    ("-> (i32) {", "-> (i64) {"),
    ("i1", "i32"),
    ("^bb1", "^bb3"),
    ("^bb3", "^bb1"),
    ("@g", "@h"),
    ("@f", "@g"),
    ("private ", ""),
    ("func.func @", "func.func private @"),
    ("%0", "%1"),
    ("%3 =", "%5 ="),
    ("%a: i32", "%a: i64"),
    ("func.call", "call"),
    ("func.func @l() {", "module @l {"),
    ("scf.if", "scf.for"),
    ("scf.for", "affine.for"),
    ("%n, %n", "%i, %n"),
    ("(%k)", "(%i)"),
    ("(%x = %n)", "(%x = %m)"),
    (": (index) -> index", ": (index) -> i32"),
    ("{", "attributes {x} {"),
];

/// An edit of a structured program.
#[derive(Clone, Debug)]
enum RandomEdit {
    /// The index of a line, the number of lines to remove, and the index of the line to insert.
    Lines(usize, usize, Option<usize>),
    /// The occurrence of a word, and the index of its replacement.
    Word(usize, usize),
}

fn random_edit(n_lines: usize, n_words: usize) -> impl Strategy<Value = RandomEdit> {
    prop_oneof![
        (0..64usize, 0..3usize, prop::option::weighted(0.8, 0..n_lines))
            .prop_map(|(at, remove, line)| RandomEdit::Lines(at, remove, line)),
        (0..64usize, 0..n_words).prop_map(|(at, word)| RandomEdit::Word(at, word)),
    ]
}

impl RandomEdit {
    fn apply(self, source: &mut Source, lines: &[&str], words: &[(&str, &str)]) {
        let text = source.text().to_string();
        match self {
            RandomEdit::Lines(at, remove, line) => {
                let starts: Vec<usize> =
                    std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
                let at = at % starts.len();
                let to = (at + remove).min(starts.len() - 1);
                let insert = line.map_or(String::new(), |it| format!("{}\n", lines[it]));
                edit(source, starts[at], starts[to] - starts[at], &insert);
            }
            RandomEdit::Word(at, word) => {
                let (from, to) = words[word];
                let places: Vec<usize> = text.match_indices(from).map(|it| it.0).collect();
                if let Some(&at) = places.get(at % places.len().max(1)) {
                    edit(source, at, from.len(), to);
                }
            }
        }
    }
}

/// A program with aliases in two chunks.
const ALIASED: &str = "\
!t = i32
#a = 1 : !t
#map = affine_map<(d0) -> (d0)>
!u = tuple<!t, !foo.bar<!t>>
func.func @f(%x: !t, %y: !u, %i: index) -> !t {
  %0 = arith.addi %x, %x {a = #a} : !t
  %1 = \"foo.bar\"(%y) <{b = #a}> ({
  ^bb0(%z: !t):
    \"foo.baz\"(%z) {map = #map} : (!t) -> () loc(#l)
  }) : (!u) -> !t
  %2 = affine.apply #map(%i)
  %3 = weird.op %w in (%x : !t) attributes {a = #a} {
    %4 = arith.addi %w, %0 : i32
  } : !t
  return %1 : !t
}
#l = loc(\"here\")
// -----
!t = i64
func.func private @g(!t) attributes {a = #a}
";

/// Lines that define or use aliases.
const ALIAS_LINES: &[&str] = &[
    "!t = i32",
    "!t = i64",
    "!t = !u",
    "!u = !t",
    "!t =",
    "!u = tuple<!t>",
    "#a = 1 : !t",
    "#a = 2 : i32",
    "#a = #b",
    "#b = #a",
    "#map = affine_map<(d0) -> (d0 + 1)>",
    "#map = affine_map<(d0, d1) -> (d0)>",
    "#l = loc(#k)",
    "#k = loc(\"there\")",
    "// -----",
    "func.func private @h(!t) attributes {a = #a}",
    "func.func @k(%x: !t) {",
    "  return loc(#l)",
    "}",
    "  %5 = arith.constant #a",
    "  %6 = affine.apply #map(%i)",
    "  %7 = weird.op %0 {b = #b} : !u",
    "^bb1(%q: !t):",
    "module {",
];

/// Replacements of words that concern aliases.
const ALIAS_WORDS: &[(&str, &str)] = &[
    ("!t", "!u"),
    ("!u", "!t"),
    ("!t", "i32"),
    ("#a", "#b"),
    ("#map", "#a"),
    ("i32", "!t"),
    ("!t =", "!v ="),
    ("#a =", "#b ="),
    ("= i32", "= i64"),
    ("= 1", "= 2"),
    ("-> (d0)", "-> (d0 + 2)"),
    ("\n", ""),
    ("// -----", ""),
    ("loc(#l)", "loc(#k)"),
    ("{", "{ {"),
    ("}", ""),
    ("foo.bar", "\"foo.bar\""),
    ("weird.op", "scf.if"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_aliases_equal_a_new_parse(
        changes in prop::collection::vec(random_edit(ALIAS_LINES.len(), ALIAS_WORDS.len()), 1..12),
    ) {
        let mut source = Source::new(ALIASED);
        for change in changes {
            change.apply(&mut source, ALIAS_LINES, ALIAS_WORDS);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_lines_equal_a_new_parse(
        changes in prop::collection::vec(random_edit(LINES.len(), WORDS.len()), 1..12),
    ) {
        let mut source = Source::new(STRUCTURED);
        for change in changes {
            change.apply(&mut source, LINES, WORDS);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_text_equals_a_new_parse(edits in prop::collection::vec((0.0..1.0f64, 0..24usize, snippet()), 1..14)) {
        let mut source = Source::new(PROGRAM);
        for (at, remove, insert) in edits {
            let text = source.text().to_string();
            let mut at = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut to = (at + if remove > 12 { 0 } else { remove }).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            edit(&mut source, at, to - at, &insert);
        }
    }

    #[test]
    fn reads_random_text(text in "\\PC{0,80}", junk in prop::collection::vec(snippet(), 0..40)) {
        let text = text + &junk.concat();
        check_ranges(&Source::new(&text));
    }
}

#[test]
fn updates_brackets_that_extend_across_a_split_line() {
    let text =
        "func.func @f() {\n  return\n}\n#a = #foo.bar<// -----\n#b = a<1>\nx.y\n// -----\nx.z\n";
    let at = text.find("a<1>").expect("there");
    let mut source = Source::new(text);
    edit(&mut source, at, 2, "");
    edit(&mut source, at, 0, "a<");
    edit(&mut source, at + 4, 0, ">");
}

#[test]
fn missing_map_operands_cause_no_panic() {
    let text = "#low = affine_map<(d0) -> (d0)>
\"affine.parallel\"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = #low, reductions = [], steps = [1], \
                upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = #none}> ({
^bb0(%i: index):
  \"affine.yield\"() : () -> ()
}) : () -> ()
";
    let mut source = Source::new(text);
    let at = text.find("(d0) ->").expect("there");
    edit(&mut source, at, 0, "d1 ");
    edit(&mut source, at, 3, "");
    let at = text.find("#none").expect("there");
    edit(&mut source, at, 5, "#low");
}
