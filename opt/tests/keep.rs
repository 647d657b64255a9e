//! Passes with text edits: unchanged ops keep their text, and the edited text parses to the result
//! of the passes.

use noisy_analyses::TextEdit;
use noisy_opt::driver::keep;
use noisy_opt::driver::pipeline::Pipeline;
use noisy_syntax::Ir;
use noisy_syntax::print::{self, Style};

mod common;
mod programs;

use programs::program;

fn kept(text: &str, pipeline: &str) -> String {
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let edits = keep::edits(text, &pipeline, None).unwrap_or_else(|it| panic!("{it}\n{text}"));
    TextEdit::apply_all(&edits, text)
}

/// Returns the sorted lines of a program, because the order of constants may differ. Constants are
/// named after their values.
fn printed(ir: &Ir) -> Vec<String> {
    let style = Style { is_custom: true, has_names: true, ..Style::default() };
    let mut lines: Vec<String> = print::document(ir, style).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn edited_text_equals_the_result_and_comments_stay_with_their_ops() {
    let all = "builtin.module(canonicalize,cse,loop-invariant-code-motion,canonicalize)";
    let cleanup = "builtin.module(canonicalize,cse,canonicalize)";
    for seed in 0..60 {
        let text = program(seed);
        for passes in [all, "builtin.module(cse)", "builtin.module(loop-invariant-code-motion)"] {
            let found = kept(&text, passes);
            // Constants may be at other positions. Running the passes again removes such
            // differences.
            let left = common::run(passes, &text).expect("the passes run");
            let left = print::custom(&left);
            let again = common::run(cleanup, &left).expect("they run again");
            let from_text = common::run(cleanup, &found).expect("they run on the text");
            assert_eq!(printed(&from_text), printed(&again), "{text}\n{found}");
            // The number in the comment after an op is the number of its result.
            for line in found.lines() {
                let behind = line.split_once("// n").map(|it| it.1);
                let result = line.trim_start().strip_prefix("%v").and_then(|it| it.split_once(' '));
                if let (Some(behind), Some((result, _))) = (behind, result) {
                    assert_eq!(behind, result, "{line}\n{found}");
                }
                assert!(line.trim_start().starts_with("//") || line.matches("//").count() < 2);
            }
            // Ops with two blanks have their original text, because printed ops have single blanks.
            for line in found.lines().filter(|it| it.trim_start().starts_with("%v")) {
                assert!(line.trim_start().contains("  "), "{line}\n{found}");
            }
        }
    }
}

#[test]
fn unchanged_text_is_preserved() {
    for seed in 0..20 {
        let text = program(seed);
        assert_eq!(kept(&text, "builtin.module()"), text);
        let once = kept(&text, "builtin.module(canonicalize)");
        assert_eq!(kept(&once, "builtin.module(canonicalize)"), once, "{text}");
    }
}

#[test]
fn edits_move_insert_and_remove_ops_and_blocks() {
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
fn errors_in_the_text_and_failed_passes_are_reported() {
    let edits = |text: &str, passes: &str| {
        let pipeline = Pipeline::parse(passes).expect("a pipeline");
        keep::edits(text, &pipeline, None)
    };
    let wrong = edits("func.func @f() {\n  return %x : i32\n}\n", "builtin.module(cse)");
    assert!(wrong.is_err_and(|it| it.starts_with("the text has errors")));
    let failed = edits("func.func @f() {\n  return\n}\n", "builtin.module(test-pass-failure)");
    assert!(failed.is_err_and(|it| it.starts_with("a pass failed")));
}
