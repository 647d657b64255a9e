//! Editing: rows of text, edit and what was reparsed, each also against a parse from scratch; and random edits.

use proptest::prelude::*;

use super::Source;
use crate::testing::{check_ranges, fingerprint};

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
        let differs = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
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
    let at = PROGRAM.find(needle).unwrap_or(0);
    let delta = edit(&mut source, at, needle.len(), insert);
    if delta.all { "all".into() } else { format!("{} parsed", delta.n_parsed) }
}

#[test]
fn an_edit_reparses_the_ops_it_meets() {
    assert_eq!(row("%0, %b", "%0, %a"), "1 parsed");
    assert_eq!(row("%1 = arith", "%9 = arith"), "2 parsed");
    assert_eq!(row("// more", "// less"), "2 parsed");
    assert_eq!(row("%3 = ", "%33 = "), "2 parsed");
}

#[test]
fn a_split_line_reparses_everything() {
    assert_eq!(row("// -----\n", ""), "all");
    assert_eq!(row("// more", "// -----"), "2 parsed");
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

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
    fn any_text_is_read(text in "\\\\PC{0,80}", junk in prop::collection::vec(snippet(), 0..40)) {
        let text = text + &junk.concat();
        check_ranges(&Source::new(&text));
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
    let at = source.text().to_string().find("arith").unwrap_or_default();
    edit(&mut source, at, 0, "%x = ");
    let after = results(&source);
    assert_eq!((before[0].0, "%x"), (after[0].0, after[0].1.as_str()));
    assert_eq!(before[1..], after[1..]);
    edit(&mut source, at, 5, "");
    assert_eq!(before, results(&source));
}
