//! Tests of edits: examples with the numbers of reparsed items, and random edits. The result of
//! each edit is compared with a new parse.

mod edits;
mod strings;

use super::Source;
use crate::laws::{check_ranges, fingerprint};
use crate::{Code, MAX_REGION_DEPTH};

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

/// Edits the first occurrence of `needle` in [`PROGRAM`] and returns the number of parsed items.
fn n_parsed_after(needle: &str, insert: &str) -> String {
    let mut source = Source::new(PROGRAM);
    let at = PROGRAM.find(needle).expect(needle);
    let delta = edit(&mut source, at, needle.len(), insert);
    format!("{} parsed", delta.n_parsed)
}

#[test]
fn reparses_the_edited_op_only() {
    assert_eq!(n_parsed_after("%0, %b", "%0, %a"), "1 parsed");
    assert_eq!(n_parsed_after("%1 = arith", "%9 = arith"), "1 parsed");
    assert_eq!(n_parsed_after("// more", "// less"), "1 parsed");
    assert_eq!(n_parsed_after("%3 = ", "%33 = "), "1 parsed");
}

#[test]
fn does_not_parse_moved_items() {
    // A brace that closes the function early: the function and the superfluous brace are parsed.
    assert_eq!(n_parsed_after("%1 = arith", "}%1 = arith"), "2 parsed");
    assert_eq!(n_parsed_after("  weird", "}  weird"), "2 parsed");
    // A split line is added or removed.
    assert_eq!(n_parsed_after("// -----\n", ""), "1 parsed");
    assert_eq!(n_parsed_after("// more", "// -----x"), "1 parsed");
    assert_eq!(n_parsed_after("// more", "// -----"), "3 parsed");
    assert_eq!(n_parsed_after("// more\n", "\n// -----\n"), "3 parsed");
    // Text directly after a split line turns it into a comment.
    assert_eq!(n_parsed_after("\nfunc.func @h", "x\nfunc.func @h"), "1 parsed");
}

#[test]
fn verifies_a_step_again_if_its_constant_changes() {
    let text = "func.func @f(%n: index) {\n  %s = arith.constant 1 : index\n  scf.parallel (%i) = (%n) to (%n) step (%s) {\n  }\n  return\n}\n";
    let mut source = Source::new(text);
    let at = text.find("1 :").expect("a constant");
    for (was, is, n) in [("1", "0", 1), ("0", "-3", 1), ("-3", "4", 0), ("4", "0", 1)] {
        edit(&mut source, at, was.len(), is);
        assert_eq!(source.problems().len(), n, "{is}");
    }
}

#[test]
fn reports_adjacent_unmatched_braces_once() {
    let mut source = Source::new("}\n}} }\nmodule {}\n}\n");
    assert_eq!(source.problems().len(), 2);
    for (at, remove, insert, n) in [
        (5, 0, "}", 2),
        (0, 0, "module {", 2),
        (0, 8, "", 2),
        (4, 0, "module {}", 3),
        (4, 9, "", 2),
        (8, 9, "", 1),
    ] {
        edit(&mut source, at, remove, insert);
        let text = source.text().to_string();
        assert_eq!(source.problems().len(), n, "{text}");
    }
}

#[test]
fn updates_ops_on_one_line_if_the_enclosing_op_changes() {
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

/// A function with `n` straight-line ops.
fn straight(n: usize) -> String {
    let mut out = String::from("func.func @f(%a: i32, %b: i32) -> i32 {\n");
    for i in 0..n {
        let a = if i == 0 { "a".to_owned() } else { (i - 1).to_string() };
        out += &format!("  %{i} = arith.addi %{a}, %b : i32\n");
    }
    out + &format!("  return %{} : i32\n}}\nfunc.func @g() {{\n  return\n}}\n", n - 1)
}

/// The costs of edits of one op, and of edits that move half a function: (parsed, linked, verified,
/// read) for each edit.
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
fn cost_of_an_edit_does_not_depend_on_the_file_size() {
    let (small, large) = (costs(1_000), costs(100_000));
    for (small, large) in small.into_iter().zip(large) {
        let (kind, parsed, linked, verified, read) = large;
        // The names in the large program have more digits.
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

/// A function of `n` ops. Five of them use aliases that are defined by other aliases, and one uses
/// the base alias directly.
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
fn reparses_the_items_that_use_an_edited_alias() {
    // Each row: the replaced text, its replacement, and the number of parsed items: those changed
    // and those that use them, also indirectly.
    const LARGE: usize = 96_000;
    let edits = [
        // `!base`, `!word`, `#one`, and the six ops.
        ("!base = i32", "!base = i64", 9),
        ("!word = !base", "!word = i8", 1 + 1 + 5),
        ("!word = i8", "!word = !other", 1 + 1 + 5),
        // The same type again.
        ("!word = !other", "!word = i64", 1),
        ("#one = 1", "#one = 2", 1 + 3),
        ("!other = i64", "!other = i8", 1),
        ("!word = i64", "!word = !other", 1 + 1 + 5),
        // The alias is removed, and defined again before the ops.
        ("#one = 2 : !word\n", "", 3),
        ("!other = i8\n", "!other = i8\n#one = 2 : i32\n", 1 + 3),
        // The definition moves after the alias that refers to it.
        ("!other = i8\n", "", 1 + 3),
        ("!word = !other\n", "!word = !other\n!other = i8\n", 1),
        ("func.func", "#one = 3 : i8\nfunc.func", 1),
        ("#one = 2 : i32\n", "", 4),
        ("  return\n}\n", "  return\n}\n!base = i8\n", 1),
        ("!base = i64\n", "", 3),
        ("\n!base = i8\n", "\n", 0),
        // A split line separates the definitions from the items that refer to them.
        ("func.func", "// -----\nfunc.func", 6),
    ];
    let run = |n: usize| {
        let mut source = Source::new(&aliased(n));
        let mut costs = Vec::new();
        for (from, to, parsed) in edits {
            let at = source.text().to_string().find(from).expect(from);
            let delta = match n {
                // Checking the law takes time proportional to the text.
                LARGE => source.edit(at..at + from.len(), to),
                _ => edit(&mut source, at, from.len(), to),
            };
            assert_eq!(delta.n_parsed, parsed, "{from:?} -> {to:?}");
            costs.push((delta.n_linked, delta.n_verified, delta.n_read));
        }
        costs
    };
    let (small, large) = (run(600), run(LARGE));
    // Adding a split line links the moved items again.
    let n = small.len() - 1;
    for ((small, large), edit) in small[..n].iter().zip(&large).zip(edits) {
        assert_eq!((small.0, small.1), (large.0, large.1), "linked and verified by {edit:?}");
        assert!(large.2 <= 2 * small.2 + 1024, "{edit:?}: {} read, {}", large.2, small.2);
    }
}

#[test]
fn keeps_the_arguments_of_an_edited_label() {
    let uses = "  \"a.use\"(%a) : (i1) -> ()\n".repeat(50);
    let text = format!(
        "func.func @f(%c: i1) {{\n  cf.br ^bb1(%c : i1)\n^bb1(%a: i1):\n{uses}  cf.br ^bb1(%a : i1)\n}}\n"
    );
    let mut source = Source::new(&text);
    let at = text.find("bb1(%a: i1)").expect("a label");
    let counts = |it: &super::Delta| (it.n_linked, it.removed.len(), it.n_verified);
    // The branches to the label are resolved again; the uses of its argument are not.
    assert_eq!(counts(&edit(&mut source, at, 3, "again")), (2, 0, 55));
    assert_eq!(counts(&edit(&mut source, at, 5, "bb1")), (2, 0, 55));
    assert_eq!(counts(&edit(&mut source, at + 3, 0, " ")), (2, 0, 5));
    assert_eq!(counts(&edit(&mut source, at + 3, 1, "")), (2, 0, 5));
    // Another argument after it, or another type, requires no other links.
    let end = at + "bb1(%a: i1".len();
    assert_eq!(counts(&edit(&mut source, end, 0, ", %b: i1")), (2, 0, 5));
    assert_eq!(counts(&edit(&mut source, end - 1, 1, "8")), (2, 0, 55));
    // Another name of the argument does.
    assert_eq!(counts(&edit(&mut source, at + "bb1(%".len(), 1, "x")), (53, 0, 55));
}

/// Each of three labels gets one of two names, with or without a following blank, in all sequences
/// of three edits.
#[test]
fn reports_duplicate_labels_after_edits() {
    let start = "func.func @f(%c: i1) {\n  cf.br ^a(%c : i1)\n^a(%x: i1):\n  cf.br ^b(%x : i1)\n^b(%y: i1):\n  cf.br ^a(%y : i1)\n^a(%z: i1):\n  return\n}\n";
    let ways = 3 * 2 * 2;
    for script in 0..ways * ways * ways {
        let mut source = Source::new(start);
        for turn in [1, ways, ways * ways] {
            let way = script / turn % ways;
            let text = source.text().to_string();
            let (at, _) = text.match_indices("\n^").nth(way % 3).expect("a label");
            let end = text[at..].find('(').expect("arguments");
            let name = ["^a", "^b", "^a ", "^b "][way / 3];
            edit(&mut source, at + 1, end - 1, name);
        }
    }
}

#[test]
fn moves_a_broken_generic_op_with_short_names() {
    let text = "func.func @f() {\n  %0 = \"a.b\"() ({\n    \"a.c\"() : () -> ()\n  }) : 0\n}\n";
    let mut source = Source::new(text);
    let at = |source: &Source, what: &str| source.text().to_string().find(what).expect(what);
    let inside = at(&source, "  }");
    edit(&mut source, inside, 0, "  return\n");
    let before = at(&source, "  %0");
    edit(&mut source, before, 0, "// -----\n");
}

#[test]
fn text_before_the_first_label_adds_a_block() {
    let text = "func.func @f(%a: i32) {\n^bb0(%b: i32):\n  return\n}\n";
    let mut source = Source::new(text);
    for insert in ["{", "  %0 = arith.addi %a, %a : i32\n"] {
        let at = text.find('^').expect("a label");
        edit(&mut source, at, 0, insert);
        edit(&mut source, at, insert.len(), "");
    }
}

#[test]
fn keeps_the_values_of_unnamed_results() {
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
    // A name that is added later belongs to the same value.
    let at = source.text().to_string().find("arith").expect("an op");
    edit(&mut source, at, 0, "%x = ");
    let after = results(&source);
    assert_eq!((before[0].0, "%x"), (after[0].0, after[0].1.as_str()));
    assert_eq!(before[1..], after[1..]);
    edit(&mut source, at, 5, "");
    assert_eq!(before, results(&source));
}

#[test]
fn reparses_short_names_if_the_default_dialect_changes() {
    let mut source = Source::new(
        "x.y %c\n\"foo.bar\"() ({\n  %0 = \"x.z\"() : () -> i32\n  cf.br ^n module\n}) : () ->\n",
    );
    edit(&mut source, "x.y %c".len(), 0, " {");
    edit(&mut source, "x.y %c".len(), 2, "");
}

#[test]
fn updates_aliases_of_a_second_op_on_a_line() {
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

#[test]
fn reparses_items_that_move_too_deep() {
    let (open, close) = ("\"a.b\"() ({\n", "}) : () -> ()\n");
    for n in MAX_REGION_DEPTH - 3..=MAX_REGION_DEPTH + 1 {
        let text = format!("{}\"c.d\"() : () -> ()\n{}", open.repeat(n), close.repeat(n));
        let mut source = Source::new(&text);
        edit(&mut source, 0, 0, open);
        let end = source.text().len_bytes();
        edit(&mut source, end, 0, close);
        edit(&mut source, 0, open.len(), "");
    }
}

#[test]
fn reports_too_deep_nesting_once() {
    let inside = "^a:\n  return\nfunc.func @g() { return }\n";
    for (open, close) in [
        ("\"a.b\"() ({\n", "}) : () -> ()\n"),
        ("builtin.module {\n", "}\n"),
        ("scf.if %c {\n", "} else {\n  %x = arith.constant 1 : i8\n}\n"),
    ] {
        // Includes the enclosing and the inner function.
        for n in [198, 200, 210].map(|it| it + MAX_REGION_DEPTH - 200) {
            let (open, close) = (open.repeat(n), close.repeat(n));
            let text = format!("func.func @f(%c: i1) {{\n{open}{inside}{close}return\n}}\n");
            let mut source = Source::new(&text);
            let codes: Vec<Code> = source.problems().iter().map(|it| it.2.code).collect();
            let deep = codes.iter().filter(|&&it| it == Code::NestingTooDeep).count();
            assert_eq!(deep, usize::from(n + 1 > MAX_REGION_DEPTH), "{codes:?}");
            assert!(!codes.contains(&Code::ExpectedToken), "{codes:?}");
            // Removes a brace, and adds one.
            let at = text.len() - "}\nreturn\n}\n".len();
            edit(&mut source, at, 1, "");
            edit(&mut source, at, 0, "}");
            edit(&mut source, text.find(inside).expect("it"), 0, "{\n");
        }
    }
}

#[test]
fn incomplete_types_end_with_their_token() {
    // The text after it is kept without parsing, and is not part of its last dimension.
    for line in
        ["^b(%x: tensor<8xi32", "weird.op : tensor<8xi32", "%0 = arith.constant 1 : vector<4xf32"]
    {
        let text = format!("func.func @f() {{\n^a:\n{line}\n^b(%x: i32):\n  return\n}}\n");
        let at = text.find("^a:").expect("a label") + "^a:".len();
        edit(&mut Source::new(&text), at, 0, " // c");
    }
}

#[test]
fn updates_dominance_if_the_only_block_becomes_unreachable() {
    let text = "func.func @f(%x: i32, %y: i32) -> i32 {\n^bb1(%q: i32):\n  %1 = \"foo.bar\"(%y) ({\n  return %1 : i32\n}\n";
    let mut source = Source::new(text);
    let at = text.find("{\n^bb1").unwrap();
    edit(&mut source, at, 1, "{ {");
}

#[test]
fn updates_the_entry_block_if_the_start_is_removed() {
    let start = "\n  cf.cond_br %c, ^a, ^b\n^a:";
    let text = format!(
        "func.func @f(%c: i1) {{{start}\n  %0 = arith.constant 1 : i8\n  cf.br ^b\n^b:\n  %1 = arith.addi %0, %0 : i8\n  return\n}}\n"
    );
    let at = text.find(start).expect("the start of the region");
    edit(&mut Source::new(&text), at, start.len(), "");
}
