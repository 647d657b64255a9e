use super::*;

mod unknown_ops;

fn at(text: &str) -> (String, Range<usize>) {
    let start = text.find('|').expect("a cursor");
    let rest = text.replacen('|', "", 1);
    let end = rest.find('|').unwrap_or(start);
    (rest.replacen('|', "", 1), start..end)
}

fn done(text: &str, kind: RefactorKind, range: &Range<usize>) -> Result<String, String> {
    let document = Document::new(text);
    let found = offered(&document, range, &document.diagnostics(), true);
    if !found.iter().any(|it| it.kind == kind) {
        return Err("not offered".to_owned());
    }
    text::apply_edits(text, 0, &edits(&document, kind, range)?).ok_or_else(|| "overlap".to_owned())
}

/// Applies a refactoring to a text, at its `|` or to the range between two of them.
fn refactored(text: &str, kind: RefactorKind) -> Result<String, String> {
    let (text, range) = at(text);
    done(&text, kind, &range)
}

fn renamed(text: &str) -> Option<String> {
    done(text, RefactorKind::Number, &(0..0)).ok()
}

#[test]
fn all_names_become_numbers() {
    let text = "func.func @f(%n: index, %3: i32, %c: i1) -> i32 {
  %zero = arith.constant 0 : index
  %0 = arith.constant 1 : index
  %pair:2 = scf.for %i = %zero to %n step %0 iter_args(%x = %3, %y = %3) -> (i32, i32) {
%1 = arith.addi %x, %y : i32
scf.yield %1, %pair_of : i32, i32
  }
  cf.cond_br %c, ^bb1(%pair#1 : i32), ^bb1(%pair#0 : i32)
^bb1(%r: i32):
  return %r : i32
}
";
    assert_eq!(renamed(text), None, "an undefined name");
    let wanted = "func.func @f(%arg0: index, %arg1: i32, %arg2: i1) -> i32 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2:2 = scf.for %arg3 = %0 to %arg0 step %1 iter_args(%arg4 = %arg1, %arg5 = %arg1) -> (i32, i32) {
%3 = arith.addi %arg4, %arg5 : i32
scf.yield %3, %arg5 : i32, i32
  }
  cf.cond_br %arg2, ^bb1(%2#1 : i32), ^bb1(%2#0 : i32)
^bb1(%arg6: i32):
  return %arg6 : i32
}
";
    let found = renamed(&text.replace("%pair_of", "%y"));
    assert_eq!(found.as_deref(), Some(wanted));
    assert_eq!(renamed(wanted).as_deref(), Some(wanted), "twice is once");
}

#[test]
fn renaming_keeps_the_generic_form() {
    use noisy_syntax::{Source, print};
    let text = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.add %a, %a : !noisy.i32
  %0 = noisy.mul %1, %a : !noisy.i32
  \"t.x\"(%0) ({
  ^bb0(%q: i32):
\"t.y\"(%q) : (i32) -> ()
  }) : (!noisy.i32) -> ()
  return %0 : !noisy.i32
}
";
    let print = |text: &str| print::generic(Source::new(text).ir());
    let found = renamed(text).expect("no error");
    assert_eq!(print(&found), print(text));
    assert!(found.contains("%0 = noisy.add %arg0, %arg0"), "{found}");
}

#[test]
fn numbered_values_get_descriptive_names() {
    let text = "func.func private @rotate(!noisy.i32) -> (!noisy.i32 {noisy.bound = 20 : i64})
func.func |@f(%arg0: i5, %x: i32) -> i5 {
  %0 = noisy.encode %arg0 : i5 -> !noisy.i32
  %1 = func.call @rotate(%0) : (!noisy.i32) -> !noisy.i32
  %kept = noisy.add %0, %1 : !noisy.i32 // %0 stays in a comment
  %2 = noisy.add %1, %kept : !noisy.i32
  %3 = noisy.add %1, %2 : !noisy.i32
  %4 = noisy.add %3, %2 : !noisy.i32 loc(\"the sum\")
  %5 = noisy.add %3, %4 : !noisy.i32 loc(\"a.mlir\":1:2)
  %6 = arith.constant -3 : i32
  %7 = arith.constant 8 : index
  %8:2 = scf.for %9 = %7 to %7 step %7 iter_args(%10 = %6, %11 = %6) -> (i32, i32) {
    %12 = arith.addi %10, %11 : i32
    scf.yield %12, %10 : i32, i32
  }
  %13 = arith.addi %8#1, %8#0 : i32
  %14 = noisy.decode %5 : !noisy.i32 -> i5
  return %14 : i5
}
";
    let found = refactored(text, RefactorKind::Name).expect("names");
    for wanted in [
        "%encode = noisy.encode %arg0",
        "%rotate = func.call @rotate(%encode)",
        "%kept = noisy.add %encode, %rotate : !noisy.i32 // %0 stays in a comment",
        "%add = noisy.add %rotate, %kept",
        "%add_0 = noisy.add %rotate, %add",
        "%the_sum = noisy.add %add_0, %add",
        "%add_1 = noisy.add %add_0, %the_sum",
        "%cm3_i32 = arith.constant -3",
        "%c8 = arith.constant 8",
        "%for:2 = scf.for %9 = %c8",
        "%addi_0 = arith.addi %for#1, %for#0",
        "%decode = noisy.decode",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found}");
    }
}

#[test]
fn one_result_needs_no_parentheses() {
    let text = "func.func @f(%x: i32) -> i32 {
|  %0 = arith.addi %x, %x : i32
|  return %0 : i32
}
";
    let found = refactored(text, RefactorKind::Extract).expect("a function");
    assert!(found.contains("  %0 = func.call @f_part(%x) : (i32) -> i32\n"), "{found}");
    assert!(found.contains("func.func private @f_part(%x: i32) -> i32 {\n"), "{found}");
}

#[test]
fn ops_become_a_function() {
    let text = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  |// The product.
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %1, %0 : !noisy.i32 // and a sum
|  %3 = noisy.add %2, %1 : !noisy.i32
  %4 = noisy.decode %3 : !noisy.i32 -> i5
  return %4 : i5
} // the end
// After it.
";
    let found = refactored(text, RefactorKind::Extract).expect("a function");
    let wanted = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  // The product.
  %1, %2 = func.call @f_part(%0) : (!noisy.i32) -> (!noisy.i32, !noisy.i32) // and a sum
  %3 = noisy.add %2, %1 : !noisy.i32
  %4 = noisy.decode %3 : !noisy.i32 -> i5
  return %4 : i5
} // the end

func.func private @f_part(%0: !noisy.i32) -> (!noisy.i32, !noisy.i32) {
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %1, %0 : !noisy.i32
  func.return %1, %2 : !noisy.i32, !noisy.i32
}
// After it.
";
    assert_eq!(found, wanted);
}

#[test]
fn extracts_packs_and_regions() {
    let text = "module {
  func.func @f(%n: index, %p: i32) -> i32 {
    %a:2 = \"t.two\"() : () -> (i32, i32)
|    %b:2 = scf.for %i = %n to %n step %n iter_args(%u = %a#1, %v = %p) -> (i32, i32) {
      // Inside.
      %w = arith.addi %u, %v : i32
      scf.yield %w, %u : i32, i32
    }|
    %r = arith.addi %b#1, %a#1 : i32
    return %r : i32
  }
}
";
    let found = refactored(text, RefactorKind::Extract).expect("a function");
    assert!(
        found.contains(
            "    %b:2 = func.call @f_part(%n, %a#1, %p) : (index, i32, i32) -> (i32, i32)\n    %r ="
        ),
        "{found}"
    );
    assert!(found.contains("  func.func private @f_part(%n: index, %a_1: i32, %p: i32) -> (i32, i32) {\n    %b:2 = scf.for"), "{found}");
    assert!(found.contains("      // Inside.\n      %w = arith.addi"), "{found}");
    assert!(found.contains("iter_args(%u = %a_1, %v = %p)"), "{found}");
}

#[test]
fn does_not_extract_other_ranges() {
    let function = |ops: &str| format!("func.func @f(%x: i32) -> i32 {{\n{ops}\n}}\n");
    let why =
        |ops: &str| refactored(&function(ops), RefactorKind::Extract).expect_err("no function");
    assert_eq!(why("  |return %x : i32|"), "not offered");
    assert_eq!(
        why("  %0 = arith.ad|di %x, %x : i32\n  %1 = arith.addi %x, %0 : i32|\n  return %x : i32"),
        "not offered"
    );
    assert_eq!(why("  %0 = arith.addi %x, %x : i32 ||\n  return %x : i32"), "not offered");
    assert_eq!(
        why(
            "  |%m = memref.alloca() : memref<4xi32>|\n  %c = arith.constant 0 : index\n  memref.store %x, %m[%c] : memref<4xi32>\n  return %x : i32"
        ),
        "memref.alloca allocates memory that lives until its function ends"
    );
    let all = refactored(
        &function("|  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n|"),
        RefactorKind::Extract,
    );
    assert!(all.is_ok_and(|it| it.contains("%0 = func.call @f_part(%x)")), "the terminator stays");
}

#[test]
fn inlining_replaces_the_call_by_the_body() {
    let text = "func.func private @g(%a: i32, %b: i32) -> (i32, i32) {
  // Twice.
  %0 = arith.addi %a, %a : i32 // of %a
  %1 = arith.muli %0, %b : i32
  return %1, %b : i32, i32
}
func.func @f(%x: i32) -> i32 {
  %0:2 = \"t.two\"() : () -> (i32, i32)
    %1, %2 = func.c|all @g(%x, %0#1) : (i32, i32) -> (i32, i32)
  %3 = arith.addi %1, %2 : i32
  return %3 : i32
}
";
    let found = refactored(text, RefactorKind::Inline).expect("its text");
    let wanted = "  %0:2 = \"t.two\"() : () -> (i32, i32)
    // Twice.
    %4 = arith.addi %x, %x : i32 // of %a
    %1 = arith.muli %4, %0#1 : i32
  %3 = arith.addi %1, %0#1 : i32
";
    assert!(found.contains(wanted), "{found}");
    let recursive = "func.func @f() {\n  func.ca|ll @f() : () -> ()\n  return\n}\n";
    assert!(refactored(recursive, RefactorKind::Inline).is_err());
    let declared =
        "func.func private @g()\nfunc.func @f() {\n  func.ca|ll @g() : () -> ()\n  return\n}\n";
    assert!(refactored(declared, RefactorKind::Inline).is_err());
    let elsewhere = "func.func @g() {\n  return\n}\ngpu.module @m {\n  func.func @f() {\n    func.ca|ll @g() : () -> ()\n    func.return\n  }\n}\n";
    assert!(refactored(elsewhere, RefactorKind::Inline).is_err());
    let empty = "func.func @g() {\n  return\n}\nfunc.func @f() {\n  func.ca|ll @g() : () -> ()\n  return\n}\n";
    let found = refactored(empty, RefactorKind::Inline).expect("nothing");
    assert!(found.ends_with("func.func @f() {\n  return\n}\n"), "{found}");
}

#[test]
fn inlining_an_empty_function_keeps_the_text_around_the_call() {
    let text = |ops: &str| {
        format!(
            "func.func private @e(%x: i32) {{ return }}\nfunc.func @f(%a: i32) {{\n{ops}  return\n}}\n"
        )
    };
    for (ops, wanted) in [
        (
            "  %z = arith.constant 5 : i32 ca|ll @e(%a) : (i32) -> ()\n  %y = arith.constant 7 : i32\n",
            "  %z = arith.constant 5 : i32 \n  %y = arith.constant 7 : i32\n",
        ),
        (
            "  ca|ll @e(%a) : (i32) -> () %y = arith.constant 7 : i32\n",
            "  %y = arith.constant 7 : i32\n",
        ),
        ("  ca|ll @e(%a) : (i32) -> () // kept\n", "  // kept\n"),
        ("  ca|ll @e(%a) : (i32) -> ()\r\n", ""),
    ] {
        assert_eq!(refactored(&text(ops), RefactorKind::Inline), Ok(text(wanted)), "{ops}");
    }
}

#[test]
fn inlining_a_text_that_ends_in_a_comment_keeps_the_op_after_the_call() {
    let text = |end: &str, rest: &str| {
        format!(
            "func.func private @g(%v: i32, %m: memref<i32>) {{
  memref.store %v, %m[] : memref<i32>{end}
  return
}}
func.func @f(%m: memref<i32>, %v: i32, %w: i32) {{
  func.ca|ll @g(%v, %m) : (i32, memref<i32>) -> (){rest}
  return
}}
"
        )
    };
    let next = "memref.store %w, %m[] : memref<i32>";
    for (end, rest, wanted) in [
        ("\n  // end", format!(" {next}"), format!("\n  // end\n  {next}")),
        (" // end", format!(" {next}"), format!(" // end\n  {next}")),
        (" // end", " // rest".to_owned(), " // end // rest".to_owned()),
        ("", format!(" {next}"), format!(" {next}")),
    ] {
        let found = refactored(&text(end, &rest), RefactorKind::Inline).expect("its text");
        let wanted = format!("  memref.store %v, %m[] : memref<i32>{wanted}\n  return\n}}\n");
        assert!(found.ends_with(&wanted), "{found}");
    }
}

#[test]
fn an_op_is_written_in_the_other_form_and_back() {
    let text = "func.func @f(%x: !noisy.i32, %n: index) -> !noisy.i32 { // kept
  %y = noisy.a|dd %x, %x {a = 1 : i64} : !noisy.i32 // kept
  return %y : !noisy.i32
}
";
    let found = refactored(text, RefactorKind::Form).expect("generic");
    let line = "  %y = \"noisy.add\"(%x, %x) {a = 1 : i64} : (!noisy.i32, !noisy.i32) -> !noisy.i32 // kept\n";
    assert!(found.contains(line), "{found}");
    let back =
        done(&found, RefactorKind::Form, &(found.find("noisy.add").map_or(0..0, |it| it..it)));
    assert_eq!(back.as_deref(), Ok(&*text.replace('|', "")));
    let why = |text: &str| refactored(text, RefactorKind::Form).expect_err("stays");
    assert_eq!(
        why(&text.replace("func.func", "fu|nc.func").replace("a|dd", "add")),
        "the comment in it would be lost"
    );
    assert_eq!(why("func.func @f() {\n  \"t|.a\"() : () -> ()\n  return\n}\n"), "not offered");
    let nested = "func.func @f(%c: i1) {
  scf.i|f %c {
    \"t.a\"(%c) : (i1) -> ()
  }
  return
}
";
    let found = refactored(nested, RefactorKind::Form).expect("generic");
    assert!(found.contains("  \"scf.if\"(%c) ({\n    \"t.a\"(%c)"), "{found}");
}

#[test]
fn bounds_come_from_the_calls() {
    let text = "func.func private |@g(%a: !noisy.i32, %b: i5, %c: !noisy.i32 {t.x = \"}\"}, %d: !noisy.i32 {noisy.bound = 20 : i64}) {
  return
}
func.func @f(%x: i5) {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  func.call @g(%0, %x, %1, %0) : (!noisy.i32, i5, !noisy.i32, !noisy.i32) -> ()
  func.call @g(%1, %x, %0, %0) : (!noisy.i32, i5, !noisy.i32, !noisy.i32) -> ()
  return
}
";
    let found = refactored(text, RefactorKind::Contract).expect("bounds");
    let wanted = "@g(%a: !noisy.i32 {noisy.bound = 13 : i64}, %b: i5, %c: !noisy.i32 {noisy.bound = 13 : i64, t.x = \"}\"}, %d: !noisy.i32 {noisy.bound = 20 : i64})";
    assert!(found.contains(wanted), "{found}");
    let twice = found.replace("private @g", "private |@g");
    assert!(refactored(&twice, RefactorKind::Contract).is_err(), "all have one");
    assert!(
        refactored(&text.replace('|', "").replace("@f(", "|@f("), RefactorKind::Contract).is_err(),
        "no call"
    );
}

#[test]
fn bounds_are_written_before_comments() {
    for (argument, wanted) in [
        ("!noisy.i32 // only\n", "!noisy.i32 {noisy.bound = 13 : i64} // only\n"),
        ("!noisy.i32 // {a, (b\n", "!noisy.i32 {noisy.bound = 13 : i64} // {a, (b\n"),
        ("// (a\n!noisy.i32", "// (a\n!noisy.i32 {noisy.bound = 13 : i64}"),
        ("!noisy.i32 {// a\n}", "!noisy.i32 {noisy.bound = 13 : i64// a\n}"),
    ] {
        let text = |argument: &str| {
            format!(
                "func.func private |@g(%a: {argument}) {{
  return
}}
func.func @f(%x: i5) {{
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  func.call @g(%1) : (!noisy.i32) -> ()
  return
}}
"
            )
        };
        let found = refactored(&text(argument), RefactorKind::Contract);
        assert_eq!(found, Ok(text(wanted).replace('|', "")), "{argument}");
    }
}

/// A random program: straight lines, loops and branches, packs, repeated names.
struct Writer {
    state: u64,
    out: String,
    n: usize,
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) as usize) % n
    }

    fn pick(&mut self, scope: &[String]) -> String {
        scope[self.below(scope.len())].clone()
    }

    fn ops(&mut self, size: usize, indent: &str, scope: &mut Vec<String>) {
        for _ in 0..size {
            let (a, b, n) = (self.pick(scope), self.pick(scope), self.n);
            self.n += 1;
            let (line, new) = match self.below(7) {
                0 => (
                    format!("%p{n}:2 = \"t.two\"({a}) : (i32) -> (i32, i32)"),
                    vec![format!("%p{n}#0"), format!("%p{n}#1")],
                ),
                1 => (format!("\"t.use\"({a}, {b}) : (i32, i32) -> () // {n}"), Vec::new()),
                2 if indent.len() < 6 => {
                    self.out.push_str(&format!("{indent}%s{n} = scf.for %i{n} = %k to %k step %k iter_args(%u{n} = {a}) -> (i32) {{\n"));
                    let mut inner = scope.clone();
                    inner.push(format!("%u{n}"));
                    self.ops(3, &format!("{indent}  "), &mut inner);
                    let last = self.pick(&inner);
                    (format!("  scf.yield {last} : i32\n{indent}}}"), vec![format!("%s{n}")])
                }
                3 => (format!("%c{n} = arith.constant {n} : i32"), vec![format!("%c{n}")]),
                _ => (format!("%v{n} = arith.addi {a}, {b} : i32"), vec![format!("%v{n}")]),
            };
            self.out.push_str(&format!("{indent}{line}\n"));
            scope.extend(new);
        }
    }

    fn program(seed: u64) -> String {
        let mut it = Self { state: seed, out: String::new(), n: 0 };
        it.out.push_str("func.func @f(%x: i32, %y: i32, %k: index) -> i32 {\n");
        let mut scope = vec!["%x".to_owned(), "%y".to_owned()];
        it.ops(9, "  ", &mut scope);
        let last = it.pick(&scope);
        it.out.push_str(&format!("  return {last} : i32\n}}\n"));
        it.out
    }
}

/// The generic print of the first function.
fn print_of_first(text: &str) -> String {
    let source = noisy_syntax::Source::new(text);
    print::op_in_style(source.ir(), source.ir().functions()[0], print::Style::default())
}

#[test]
fn inlining_undoes_extracting() {
    let mut n_done = 0;
    for seed in 0..40 {
        let text = Writer::program(seed);
        let mut random = Writer { state: seed, out: String::new(), n: 0 };
        for _ in 0..4 {
            let starts: Vec<usize> = text.match_indices('\n').map(|it| it.0 + 1).collect();
            let (a, b) = (random.below(starts.len()), random.below(starts.len()));
            let range = starts[a.min(b)]..starts[a.max(b)];
            let Ok(extracted) = done(&text, RefactorKind::Extract, &range) else { continue };
            assert_ne!(print_of_first(&extracted), print_of_first(&text));
            let call = extracted.find("call @").expect("a call");
            let back = done(&extracted, RefactorKind::Inline, &(call..call)).expect("inlined");
            assert_eq!(print_of_first(&back), print_of_first(&text), "{text}\n{extracted}\n{back}");
            let comments = |it: &str| it.matches("//").count();
            assert_eq!(comments(&extracted), comments(&text), "{extracted}");
            n_done += 1;
        }
    }
    assert!(n_done > 30, "{n_done}");
}

#[test]
fn every_op_of_a_random_program_has_both_forms() {
    for seed in 0..12 {
        let text = Writer::program(seed);
        let document = Document::new(&text);
        let ir = document.ir();
        let mut starts = Vec::new();
        ir.walk(ir.root(), &mut |op| starts.push(ir.name_range(op).start));
        for at in starts {
            let Ok(other) = done(&text, RefactorKind::Form, &(at..at)) else { continue };
            assert_ne!(other, text);
            let back = done(&other, RefactorKind::Form, &(at..at)).expect("back");
            assert_eq!(print_of_first(&back), print_of_first(&text));
        }
    }
}

#[test]
fn cleaning_up_keeps_the_bytes_of_remaining_ops() {
    let text = "func.func @|f(%a: i32,   %m: memref<8xi32>) -> i32 { // its head
  // A section.
  %zero = arith.constant   0 : i32   // goes
  %five = arith.constant 5 : i32   // stays

  %same = arith.addi %a, %zero : i32
  %x = arith.muli %same,   %five : i32   // a product
  %y = arith.muli %five, %a : i32
  %true = arith.constant true
  %z = scf.if %true -> i32 {
    // Within.
    %w = arith.xori %x,  %y : i32  // xor
    %v = arith.addi %w, %x : i32
    scf.yield %v : i32
  } else {
    scf.yield %a : i32
  }
  return %z : i32   // the end
}
// Between.
func.func @g(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %same = arith.addi %a, %zero : i32
  return %same : i32
}
";
    let wanted = "func.func @f(%a: i32,   %m: memref<8xi32>) -> i32 { // its head
  // A section.
  %five = arith.constant 5 : i32   // stays

  %x = arith.muli %a,   %five : i32   // a product
  // Within.
  %w = arith.xori %x,  %x : i32  // xor
";
    let found = refactored(text, RefactorKind::Clean).expect("it is cleaned up");
    let wanted = wanted.replace("  // Within.\n  %w = arith.xori %x,  %x : i32  // xor\n", "");
    assert!(found.starts_with(&wanted), "{found}");
    assert!(found.contains("  return %x : i32   // the end\n}\n// Between.\n"), "{found}");
    assert!(found.ends_with(text.split("// Between.\n").nth(1).expect("@g")), "{found}");
    let again = found.replacen("@f", "@|f", 1);
    assert_eq!(refactored(&again, RefactorKind::Clean), Err("@f is already clean".to_owned()));
    let unread =
        "func.func @|f(%a: i32) -> i32 {\n  %0 = tosa.nobody knows %a\n  return %a : i32\n}\n";
    assert_eq!(refactored(unread, RefactorKind::Clean), Err("not offered".to_owned()));
}

#[test]
fn merges_folds_and_hoists_single_ops() {
    let text = "func.func @f(%a: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32 // three
  // Kept.
  %four = arith.addi %c3, %c3 : i32
  %p = arith.muli %a, %four : i32 // the product
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) {
    // Again.
    %q = arith.muli %a, %four : i32 // the product again
    %k = arith.muli %a,   %a : i32
    %l = arith.addi %s, %k : i32 // changes
    %m = arith.addi %l, %q : i32
    scf.yield %m : i32
  }
  %t = arith.muli %a, %four : i32
  %u = arith.addi %r, %t : i32
  %v = arith.addi %u, %p : i32
  return %v : i32
}
";
    let at = |op: &str, kind| {
        let start = text.find(op).expect("the op");
        done(text, kind, &(start..start))
    };
    let merged = at("%q =", RefactorKind::Merge).expect("it is merged");
    assert!(merged.contains("%m = arith.addi %l, %p : i32"), "{merged}");
    assert!(!merged.contains("%q"), "{merged}");
    assert!(merged.contains("%t = arith.muli"), "no other op is merged: {merged}");
    assert!(merged.contains("%k = arith.muli %a,   %a : i32"), "{merged}");
    let folded = at("%four =", RefactorKind::Fold).expect("it is folded");
    assert!(folded.contains("arith.constant 6 : i32"), "{folded}");
    assert!(folded.contains("%c3 = arith.constant 3 : i32 // three"), "{folded}");
    let hoisted = at("%k =", RefactorKind::Hoist).expect("it is hoisted");
    let (before, within) = hoisted.split_once("scf.for").expect("a loop");
    assert!(before.contains("  %k = arith.muli %a,   %a : i32\n"), "{hoisted}");
    assert!(within.contains("%q = arith.muli"), "nothing else moves: {hoisted}");
    for (op, kind) in [
        ("%l =", RefactorKind::Hoist),
        ("%l =", RefactorKind::Merge),
        ("%p =", RefactorKind::Merge),
        ("%p =", RefactorKind::Fold),
        ("%p =", RefactorKind::Hoist),
        ("%c3 =", RefactorKind::Fold),
    ] {
        assert_eq!(at(op, kind), Err("not offered".to_owned()), "{op} {kind:?}");
    }
}

#[test]
fn visits_long_functions_only_on_request() {
    let ops = |n: usize| {
        let lines: Vec<_> =
            (0..n).map(|i| format!("  %v{i} = arith.addi %a, %b : i32\n")).collect();
        lines.concat()
    };
    let merges = |n: usize, is_asked: bool| {
        let head = "func.func @f(%a: i32, %b: i32) -> (i32, i32) {\n";
        let text = format!("{head}{}  return %v0, %v1 : i32, i32\n}}\n", ops(n));
        let document = Document::new(&text);
        let start = text.find("%v1 =").expect("the op");
        let found = offered(&document, &(start..start), &[], is_asked);
        assert!(
            found.iter().any(|it| it.kind == RefactorKind::Form),
            "others are offered in any case"
        );
        found.iter().any(|it| it.kind == RefactorKind::Merge)
    };
    assert!(merges(10, false) && merges(10, true));
    assert!(!merges(2_000, false) && merges(2_000, true));
}
