//! Editing: rows of text, edit and what was reparsed, each also against a parse from scratch; and random edits.

use proptest::prelude::*;

use super::Source;
use crate::laws::{check_ranges, fingerprint};

const PROGRAM: &str = "\
// A comment.
func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %0, %b : i32 // more
  %2:2 = \"foo.bar\"(%0, %1) ({
  ^bb0(%x: i32):
    %3 = arith.addi %x, %1 : i32
    \"foo.br\"(%3)[^bb0] : (i32) -> ()
  }) : (i32, i32) -> (i32, i32)
  weird.op %y in (%0) {
    %4 = arith.addi %y, %0 : i32
  }
  func.return %2#1 : i32
}

func.func @g() {
  func.call @f(%0) : () -> ()
  return
}
// -----
func.func @h() {
  return
}
";

/// Applies an edit and checks the laws.
fn edit(source: &mut Source, at: usize, remove: usize, insert: &str) -> super::Delta {
    let before = source.text().to_string();
    let delta = source.edit(at..at + remove, insert);
    let text = source.text().to_string();
    check_ranges(source);
    let fresh = Source::new(&text);
    let (ours, theirs) = (fingerprint(source), fingerprint(&fresh));
    if ours != theirs {
        let only =
            |a: &str, b: &str| a.lines().find(|it| !b.lines().any(|x| x == *it)).map(str::to_owned);
        let differs = (only(&ours, &theirs), only(&theirs, &ours));
        panic!(
            "edited and fresh differ at {differs:?}
before: {before:?}
edit: {at}+{remove} {insert:?}
after: {text:?}"
        );
    }
    delta
}

/// Edits the first occurrence of `needle` in [`PROGRAM`] and returns the text that was lexed again.
fn row(needle: &str, insert: &str) -> String {
    let mut source = Source::new(PROGRAM);
    let at = PROGRAM.find(needle).expect(needle);
    let delta = edit(&mut source, at, needle.len(), insert);
    format!("{} parsed", delta.n_parsed)
}

#[test]
fn an_edit_reparses_the_ops_it_meets() {
    assert_eq!(row("%0, %b", "%0, %a"), "1 parsed");
    assert_eq!(row("%1 = arith", "%9 = arith"), "1 parsed");
    assert_eq!(row("// more", "// less"), "1 parsed");
    assert_eq!(row("%3 = ", "%33 = "), "1 parsed");
}

#[test]
fn what_moves_is_not_parsed() {
    // A brace that closes the function early: the op it stands in, and the brace that is left over.
    assert_eq!(row("%1 = arith", "}%1 = arith"), "2 parsed");
    assert_eq!(row("  weird", "}  weird"), "3 parsed");
    // A split line more or less.
    assert_eq!(row("// -----\n", ""), "1 parsed");
    assert_eq!(row("// more", "// -----x"), "1 parsed");
    assert_eq!(row("// more", "// -----"), "3 parsed");
    assert_eq!(row("// more\n", "\n// -----\n"), "3 parsed");
}

#[test]
fn where_an_op_ends_in_its_line_may_depend_on_the_op_around() {
    let n_ops = |source: &Source| {
        let mut n = 0;
        source.ir().walk(source.ir().root(), &mut |_| n += 1);
        n
    };
    let (function, module) = ("func.func @f() {", "module @f {");
    let mut source =
        Source::new(&format!("{function}\n\"a.b\"() : () -> () call @g() : () -> () return\n}}"));
    assert_eq!(n_ops(&source), 4);
    edit(&mut source, 0, function.len(), module);
    assert_eq!(n_ops(&source), 3);
    edit(&mut source, 0, module.len(), function);
    assert_eq!(n_ops(&source), 4);
}

/// One function of `n` ops in a line.
fn straight(n: usize) -> String {
    let mut out = String::from("func.func @f(%a: i32, %b: i32) -> i32 {\n");
    for i in 0..n {
        let a = if i == 0 { "a".to_owned() } else { (i - 1).to_string() };
        out += &format!("  %{i} = arith.addi %{a}, %b : i32\n");
    }
    out + &format!("  return %{} : i32\n}}\nfunc.func @g() {{\n  return\n}}\n", n - 1)
}

/// What edits of one op cost, and of what moves half a function: (parsed, linked, verified, read) each.
fn costs(n: usize) -> Vec<(&'static str, usize, usize, usize, usize)> {
    let text = straight(n);
    let mut source = Source::new(&text);
    let line = text.match_indices('\n').nth(n / 2).expect("n lines").0;
    let kinds = [
        ("blank", line - 2, " "),
        ("digit", line, "2"),
        ("line", line, "\n  %new = arith.addi %a, %a : i32"),
        ("brace", line, "{"),
        ("paren", line, "("),
        ("angle", line, "!a.b<"),
        ("quote", line, "\""),
        ("comment", line - 4, "//"),
        ("argument", text.find(')').expect("arguments"), ", %c: i32"),
        ("function", text.len(), "func.func @h() {\n  return\n}\n"),
        ("close", line, "\n}"),
        ("open", line, "\n  scf.if %c {"),
        ("split", line, "\n// -----\n"),
    ];
    let mut out = Vec::new();
    for (kind, at, insert) in kinds {
        let delta = source.edit(at..at, insert);
        let undone = source.edit(at..at + insert.len(), "");
        for (name, it) in [(kind, delta), (kind, undone)] {
            out.push((name, it.n_parsed, it.n_linked, it.n_verified, it.n_read));
        }
    }
    out
}

#[test]
fn an_edit_costs_what_it_changes() {
    let (small, large) = (costs(1_000), costs(100_000));
    for (small, large) in small.into_iter().zip(large) {
        let (kind, parsed, linked, verified, read) = large;
        // Names of a few digits more.
        assert!(parsed <= 6 && parsed == small.1, "{kind}: {parsed} parsed, {}", small.1);
        assert!(read <= 4096 && read <= 2 * small.4 + 64, "{kind}: {read} read, {}", small.4);
        if !matches!(kind, "close" | "open" | "split") {
            assert!(linked <= 8 && linked == small.2, "{kind}: {linked} linked, {}", small.2);
            assert!(
                verified <= 8 && verified == small.3,
                "{kind}: {verified} verified, {}",
                small.3
            );
        }
    }
}

/// A function of `n` ops of which five name aliases, defined by way of another, and one more that names that one.
fn aliased(n: usize) -> String {
    let mut out = String::from("!other = i64\n!base = i32\n!word = !base\n#one = 1 : !word\n");
    out += "func.func @f(%a: i32, %b: i32) {\n";
    for i in 0..n {
        let (ty, attr) = match i / (n / 6) {
            _ if i % (n / 6) != 0 => ("i32", ""),
            0 => ("!base", ""),
            1 | 2 => ("!word", ""),
            _ => ("i32", " {one = #one}"),
        };
        out += &format!("  %{i} = arith.addi %a, %b{attr} : {ty}\n");
    }
    out + "  return\n}\n"
}

#[test]
fn an_edit_of_an_alias_reads_what_names_it() {
    // (what is put for what, items read: those changed and those that name them, however indirectly)
    const LARGE: usize = 96_000;
    let edits = [
        // `!base`, `!word`, `#one`, and the six ops.
        ("!base = i32", "!base = i64", 9),
        ("!word = !base", "!word = i8", 1 + 1 + 5),
        ("!word = i8", "!word = !other", 1 + 1 + 5),
        // The same type.
        ("!word = !other", "!word = i64", 1),
        ("#one = 1", "#one = 2", 1 + 3),
        ("!other = i64", "!other = i8", 1),
        ("!word = i64", "!word = !other", 1 + 1 + 5),
        // Gone, and there again; first for who stands before it.
        ("#one = 2 : !word\n", "", 3),
        ("!other = i8\n", "!other = i8\n#one = 2 : i32\n", 1 + 3),
        // After the one that names it, which is first read as if it were before.
        ("!other = i8\n", "", 1 + 3),
        ("!word = !other\n", "!word = !other\n!other = i8\n", 1),
        ("func.func", "#one = 3 : i8\nfunc.func", 1),
        ("#one = 2 : i32\n", "", 4),
        ("  return\n}\n", "  return\n}\n!base = i8\n", 1),
        ("!base = i64\n", "", 3),
        ("\n!base = i8\n", "\n", 0),
        // A split line takes the definitions away from those who name them.
        ("func.func", "// -----\nfunc.func", 6),
    ];
    let run = |n: usize| {
        let mut source = Source::new(&aliased(n));
        let mut costs = Vec::new();
        for (from, to, parsed) in edits {
            let at = source.text().to_string().find(from).expect(from);
            let delta = match n {
                // The law takes time in proportion to the text.
                LARGE => source.edit(at..at + from.len(), to),
                _ => edit(&mut source, at, from.len(), to),
            };
            assert_eq!(delta.n_parsed, parsed, "{from:?} -> {to:?}");
            costs.push((delta.n_linked, delta.n_verified, delta.n_read));
        }
        costs
    };
    let (small, large) = (run(600), run(LARGE));
    // Splitting links again what moves.
    let n = small.len() - 1;
    for ((small, large), edit) in small[..n].iter().zip(&large).zip(edits) {
        assert_eq!((small.0, small.1), (large.0, large.1), "linked and verified by {edit:?}");
        assert!(large.2 <= 2 * small.2 + 1024, "{edit:?}: {} read, {}", large.2, small.2);
    }
}

/// Text that edits insert: what people type, and what breaks things.
fn snippet() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
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
        ])
        .prop_map(str::to_owned),
        "[ -~\n]{0,6}",
    ]
}

/// A program with much to verify: branches, loops, calls, symbols.
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

/// Lines that structured programs are made of, fitting and not.
const LINES: &[&str] = &[
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

/// Words that are put in the place of others.
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

/// An edit of a structured program: a place, and lines or a word to put there.
#[derive(Clone, Debug)]
enum Change {
    /// Removes lines from the one of this number on, and puts another in their place.
    Lines(usize, usize, Option<usize>),
    /// Replaces an occurrence of a word.
    Word(usize, usize),
}

fn change(n_lines: usize, n_words: usize) -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..64usize, 0..3usize, prop::option::weighted(0.8, 0..n_lines))
            .prop_map(|(at, remove, line)| Change::Lines(at, remove, line)),
        (0..64usize, 0..n_words).prop_map(|(at, word)| Change::Word(at, word)),
    ]
}

impl Change {
    fn apply(self, source: &mut Source, lines: &[&str], words: &[(&str, &str)]) {
        let text = source.text().to_string();
        match self {
            Change::Lines(at, remove, line) => {
                let starts: Vec<usize> =
                    std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
                let at = at % starts.len();
                let to = (at + remove).min(starts.len() - 1);
                let insert = line.map_or(String::new(), |it| format!("{}\n", lines[it]));
                edit(source, starts[at], starts[to] - starts[at], &insert);
            }
            Change::Word(at, word) => {
                let (from, to) = words[word];
                let places: Vec<usize> = text.match_indices(from).map(|it| it.0).collect();
                if let Some(&at) = places.get(at % places.len().max(1)) {
                    edit(source, at, from.len(), to);
                }
            }
        }
    }
}

/// A program of aliases, in two chunks.
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

/// Lines of aliases and of what names them.
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

/// Words of aliases that are put in the place of others.
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
    fn edited_aliases_mean_what_they_would_if_read_anew(
        changes in prop::collection::vec(change(ALIAS_LINES.len(), ALIAS_WORDS.len()), 1..12),
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
    fn edited_lines_are_verified_as_if_read_anew(
        changes in prop::collection::vec(change(LINES.len(), WORDS.len()), 1..12),
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
    fn edited_equals_parsed_anew(edits in prop::collection::vec((0.0..1.0f64, 0..24usize, snippet()), 1..14)) {
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
    fn any_text_is_read(text in "\\PC{0,80}", junk in prop::collection::vec(snippet(), 0..40)) {
        let text = text + &junk.concat();
        check_ranges(&Source::new(&text));
    }
}

#[test]
fn a_broken_generic_op_that_moves_takes_names_without_a_dialect_along() {
    let text = "func.func @f() {\n  %0 = \"a.b\"() ({\n    \"a.c\"() : () -> ()\n  }) : 0\n}\n";
    let mut source = Source::new(text);
    let at = |source: &Source, what: &str| source.text().to_string().find(what).expect(what);
    let inside = at(&source, "  }");
    edit(&mut source, inside, 0, "  return\n");
    let before = at(&source, "  %0");
    edit(&mut source, before, 0, "// -----\n");
}

#[test]
fn what_comes_before_the_first_label_makes_it_another_block() {
    let text = "func.func @f(%a: i32) {\n^bb0(%b: i32):\n  return\n}\n";
    let mut source = Source::new(text);
    for insert in ["{", "  %0 = arith.addi %a, %a : i32\n"] {
        let at = text.find('^').expect("a label");
        edit(&mut source, at, 0, insert);
        edit(&mut source, at, insert.len(), "");
    }
}

#[test]
fn results_without_names_are_values_and_stay_the_same_values() {
    let mut source = Source::new(
        "func.func @f(%a: i32) {\n  arith.addi %a, %a : i32\n  \"a.b\"() : () -> (i1, i2)\n  return\n}\n",
    );
    let results = |source: &Source| {
        let mut out = Vec::new();
        let ir = source.ir();
        ir.walk(ir.root(), &mut |op| {
            for &it in &ir.op(op).results {
                out.push((it, ir.value_text(it), ir.interner.type_text(ir.value(it).ty)));
            }
        });
        out
    };
    let before = results(&source);
    let texts: Vec<_> = before.iter().map(|it| (it.1.as_str(), it.2.as_str())).collect();
    assert_eq!(texts, [("arith.addi#0", "i32"), ("a.b#0", "i1"), ("a.b#1", "i2")]);
    // A name that comes later is a name of the same value.
    let at = source.text().to_string().find("arith").expect("an op");
    edit(&mut source, at, 0, "%x = ");
    let after = results(&source);
    assert_eq!((before[0].0, "%x"), (after[0].0, after[0].1.as_str()));
    assert_eq!(before[1..], after[1..]);
    edit(&mut source, at, 5, "");
    assert_eq!(before, results(&source));
}

#[test]
fn names_in_a_broken_generic_op_are_read_anew_where_their_dialect_is_another() {
    let mut source = Source::new(
        "x.y %c\n\"foo.bar\"() ({\n  %0 = \"x.z\"() : () -> i32\n  cf.br ^n module\n}) : () ->\n",
    );
    edit(&mut source, "x.y %c".len(), 0, " {");
    edit(&mut source, "x.y %c".len(), 2, "");
}

#[test]
fn what_a_second_op_of_a_line_looks_up_is_looked_up_again() {
    let mut source = Source::new("func.func @f(%a: i32) {\n  return return %a : !t\n}\n");
    edit(&mut source, 0, 0, "!t = i32\n");
    edit(&mut source, 0, "!t = i32\n".len(), "");
}

#[test]
fn a_label_may_have_thousands_of_arguments() {
    let list = |of: fn(usize) -> String| (0..5_000).map(of).collect::<Vec<_>>().join(", ");
    let text = format!(
        "func.func @f(%x: i32) {{\n  cf.br ^bb1({} : {})\n^bb1({}):\n  return\n}}\n",
        list(|_| "%x".to_owned()),
        list(|_| "i32".to_owned()),
        list(|at| format!("%a{at}: i32")),
    );
    let source = Source::new(&text);
    assert_eq!(source.problems(), []);
}
