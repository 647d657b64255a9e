//! Passes that keep the text: what stays keeps its bytes, and the text says what the passes left.

use std::fmt::Write as _;

use noisy_analyses::TextEdit;
use noisy_opt::driver::keep;
use noisy_opt::driver::pipeline::Pipeline;
use noisy_syntax::Ir;
use noisy_syntax::print::{self, Style};

mod common;

fn kept(text: &str, pipeline: &str) -> String {
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let edits = keep::edits(text, &pipeline, None).unwrap_or_else(|it| panic!("{it}\n{text}"));
    TextEdit::apply_all(&edits, text)
}

/// A random program, a comment above and behind each op, from a seed.
fn program(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pick = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let mut out = "func.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>) -> i32 {\n  %i0 = arith.constant 0 : index\n  %i1 = arith.constant 1 : index\n  %i4 = arith.constant 4 : index\n".to_owned();
    let mut scopes: Vec<Vec<String>> = vec![vec!["%a".to_owned(), "%b".to_owned()]];
    let mut ends: Vec<&str> = Vec::new();
    for n in 0..30 {
        let values: Vec<String> = scopes.concat();
        let (x, y) = (&values[pick(values.len())], &values[pick(values.len())]);
        let pad = "  ".repeat(scopes.len());
        let name = format!("%v{n}");
        match pick(12) {
            0 if scopes.len() < 4 => {
                let _ = writeln!(
                    out,
                    "{pad}// loop {n}\n{pad}scf.for %j{n} = %i0 to %i4 step %i1 {{ // for {n}"
                );
                scopes.push(Vec::new());
                ends.push("");
                continue;
            }
            1 if scopes.len() < 4 => {
                let _ = writeln!(out, "{pad}// choice {n}\n{pad}scf.if %c {{ // if {n}");
                scopes.push(Vec::new());
                ends.push("");
                continue;
            }
            2 if scopes.len() > 1 => {
                scopes.pop();
                let _ = writeln!(out, "{}}} // end {n}", "  ".repeat(scopes.len()));
                continue;
            }
            3 => {
                let value = pick(3);
                let _ = writeln!(
                    out,
                    "{pad}// above {n}\n{pad}{name} = arith.constant   {value} : i32 // n{n}"
                );
            }
            4 => {
                let _ = writeln!(out, "{pad}memref.store {x}, %m[%i0] : memref<4xi32> // n{n}");
                continue;
            }
            5 => {
                let _ = writeln!(out, "{pad}{name} = arith.select %c,  {x}, {y} : i32 // n{n}");
            }
            kind => {
                let op = ["addi", "muli", "subi", "xori", "andi"][kind % 5];
                let _ = writeln!(
                    out,
                    "{pad}// above {n}\n{pad}{name} = arith.{op}  {x}, {y} : i32 // n{n}"
                );
            }
        }
        scopes.last_mut().expect("the body").push(name);
    }
    while scopes.len() > 1 {
        scopes.pop();
        let _ = writeln!(out, "{}}}", "  ".repeat(scopes.len()));
    }
    let last = scopes[0].last().expect("a value").clone();
    let _ = writeln!(out, "  // the end\n  return {last} : i32 // returned\n}}");
    out
}

/// The lines of a program, sorted: constants, which are named by what they are, may stand in another order.
fn printed(ir: &Ir) -> Vec<String> {
    let style = Style { is_custom: true, has_names: true, ..Style::default() };
    let mut lines: Vec<String> = print::document(ir, style).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn the_text_says_what_the_passes_left_and_comments_stay_with_their_ops() {
    let all = "builtin.module(canonicalize,cse,loop-invariant-code-motion,canonicalize)";
    let cleanup = "builtin.module(canonicalize,cse,canonicalize)";
    for seed in 0..60 {
        let text = program(seed);
        for passes in [all, "builtin.module(cse)", "builtin.module(loop-invariant-code-motion)"] {
            let found = kept(&text, passes);
            // Constants may stand elsewhere, which the passes undo.
            let left = common::run(passes, &text).expect("the passes run");
            let left = print::custom(&left);
            let again = common::run(cleanup, &left).expect("they run again");
            let from_text = common::run(cleanup, &found).expect("they run on the text");
            assert_eq!(printed(&from_text), printed(&again), "{text}\n{found}");
            // The number behind an op is that of its result.
            for line in found.lines() {
                let behind = line.split_once("// n").map(|it| it.1);
                let result = line.trim_start().strip_prefix("%v").and_then(|it| it.split_once(' '));
                if let (Some(behind), Some((result, _))) = (behind, result) {
                    assert_eq!(behind, result, "{line}\n{found}");
                }
                assert!(line.trim_start().starts_with("//") || line.matches("//").count() < 2);
            }
            // What is printed anew has single blanks.
            for line in found.lines().filter(|it| it.trim_start().starts_with("%v")) {
                assert!(line.trim_start().contains("  "), "{line}\n{found}");
            }
        }
    }
}

#[test]
fn bytes_stay_where_nothing_is_to_be_done() {
    for seed in 0..20 {
        let text = program(seed);
        assert_eq!(kept(&text, "builtin.module(test-module-pass)"), text);
        let once = kept(&text, "builtin.module(canonicalize)");
        assert_eq!(kept(&once, "builtin.module(canonicalize)"), once, "{text}");
    }
}

#[test]
fn edits_say_what_moved_what_is_new_and_what_lost_its_blocks() {
    let text = "// Head.
func.func @f(%a: i32, %m: memref<8xi32>) -> i32 {   // f
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index

  scf.for %i = %c0 to %c8 step %c1 {
    // Does not change.
    %inv = arith.muli %a,   %a : i32   // hoisted
    memref.store %inv, %m[%i] : memref<8xi32> // stays
  }
  %five = arith.constant 5 : i32   // five
  %seven = arith.constant 7 : i32  // seven
  %p = arith.muli %five, %seven : i32
  cf.br ^next   // on
^next:  // the next
  %r = arith.addi %a,  %p : i32 // sum
  return %r : i32
}
";
    let wanted = "// Head.
func.func @f(%a: i32, %m: memref<8xi32>) -> i32 {   // f
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index

  %c35_i32 = arith.constant 35 : i32
  // Does not change.
  %inv = arith.muli %a,   %a : i32   // hoisted
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %inv, %m[%i] : memref<8xi32> // stays
  }
  %r = arith.addi %a,  %c35_i32 : i32 // sum
  return %r : i32
}
";
    let passes = "builtin.module(canonicalize,loop-invariant-code-motion)";
    assert_eq!(kept(text, passes), wanted);
}

#[test]
fn what_cannot_be_read_or_fails_is_told() {
    let edits = |text: &str, passes: &str| {
        let pipeline = Pipeline::parse(passes).expect("a pipeline");
        keep::edits(text, &pipeline, None)
    };
    let wrong = edits("func.func @f() {\n  return %x : i32\n}\n", "builtin.module(cse)");
    assert!(wrong.is_err_and(|it| it.starts_with("the text has errors")));
    let failed = edits("func.func @f() {\n  return\n}\n", "builtin.module(test-pass-failure)");
    assert!(failed.is_err_and(|it| it.starts_with("a pass failed")));
}
