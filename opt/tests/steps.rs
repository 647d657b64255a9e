//! Steps as they are counted, let through, searched and reduced: the tool as it is run.

mod tool;

use std::process::Output;

use tool::{file, run};

const TEXT: &str = "func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.addi %a, %c0 : i32
  %1 = arith.muli %c5, %c7 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
func.func @g(%a: i32, %b: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %b : i32
  %2 = arith.xori %0, %1 : i32
  return %2 : i32
}
";

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn counters_let_passes_and_patterns_through_by_number() {
    let input = file("counters.mlir", TEXT);
    let pipeline = "--pass-pipeline=builtin.module(func.func(cse))";
    // The second function is the second that the pass runs on.
    let counters = ["--mlir-debug-counter=pass-execution-skip=1,pass-execution-count=1"];
    let output = run(&[pipeline, counters[0], "--mlir-print-debug-counter"], &input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("pass-execution                  : {2,1,1}"), "{said}");
    assert_eq!(stdout(&output).matches("arith.muli").count(), 2);
    let output = run(&[pipeline, "--mlir-debug-counter=pass-execution-count=1"], &input);
    assert_eq!(stdout(&output).matches("arith.muli").count(), 3);
    let output = run(&["-canonicalize", "--mlir-debug-counter=apply-pattern-count=0"], &input);
    assert!(stdout(&output).contains("%c35_i32"), "folds are no patterns");
    let output = run(&[pipeline, "--mlir-debug-counter=pass-execution=1"], &input);
    assert_eq!(output.status.code(), Some(1));
    let _ = std::fs::remove_file(input);
}

#[test]
fn each_step_that_is_let_through_leaves_a_valid_program_and_all_of_them_what_no_limit_does() {
    let input = file("limit.mlir", TEXT);
    let passes = ["-canonicalize", "-cse", "-canonicalize"];
    let whole = stdout(&run(&passes, &input));
    let mut seen = Vec::new();
    for limit in 0..100 {
        let limit = format!("--bisect-limit={limit}");
        let text = stdout(&run(&[&passes[..], &[&limit]].concat(), &input));
        let again = file("limited.mlir", &text);
        assert!(run(&[], &again).status.success(), "{text}");
        let _ = std::fs::remove_file(again);
        if seen.last() != Some(&text) {
            seen.push(text);
        }
        if seen.last() == Some(&whole) {
            break;
        }
    }
    assert_eq!(seen.last(), Some(&whole));
    assert!(seen.len() > 5, "{}", seen.len());
    let _ = std::fs::remove_file(input);
}

#[test]
fn bisecting_finds_the_rewrite_after_which_a_command_fails() {
    let input = file("bisect.mlir", TEXT);
    // Fails as soon as the product of constants is one.
    let output = run(&["-cse", "-canonicalize", "--bisect", "! grep -q 'constant 35'"], &input);
    let said = stdout(&output);
    assert!(said.contains("pass: Canonicalizer\nrewrite: a fold\nop: arith.muli\n"), "{said}");
    assert!(said.contains("bisect.mlir:6:3\n"), "{said}");
    let limit = said.lines().find_map(|it| it.strip_prefix("after: ")).expect("it is told");
    let text = stdout(&run(&["-cse", "-canonicalize", limit], &input));
    assert!(text.contains("constant 35"), "{text}");
    let limit = said.lines().find_map(|it| it.strip_prefix("before: ")).expect("it is told");
    let text = stdout(&run(&["-cse", "-canonicalize", limit], &input));
    assert!(!text.contains("constant 35"), "{text}");
    let _ = std::fs::remove_file(input);
}

#[test]
fn commands_that_always_or_never_fail_or_that_are_not_there_are_told() {
    let input = file("never.mlir", TEXT);
    for (command, said) in [
        ("true", "does not fail after all"),
        ("false", "fails before any pass has run"),
        ("no-such-command-of-noisy", "cannot be run: exit code 127"),
    ] {
        let output = run(&["-cse", "--bisect", command], &input);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(said), "{text}");
        assert!(output.stdout.is_empty());
    }
    let output = run(&["--reduce", "true"], &input);
    assert_eq!(output.status.code(), Some(1));
    let _ = std::fs::remove_file(input);
}

#[test]
fn reducing_leaves_what_a_command_fails_on() {
    let input = file("reduce.mlir", TEXT);
    let text = stdout(&run(&["--reduce", "! grep -q arith.xori"], &input));
    assert_eq!(text.matches("arith.").count(), 1, "{text}");
    assert!(text.contains("arith.xori") && !text.contains("@f"), "{text}");
    let branches = file(
        "branches.mlir",
        "func.func @f(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.muli %a, %a : i32
  cf.br ^bb3(%0 : i32)
^bb2:
  %1 = arith.addi %a, %a : i32
  cf.br ^bb3(%1 : i32)
^bb3(%x: i32):
  return %x : i32
}
",
    );
    let text = stdout(&run(&["--reduce", "! grep -q arith.addi {}"], &branches));
    assert!(text.contains("arith.addi") && !text.contains("cf."), "{text}");
    let _ = (std::fs::remove_file(input), std::fs::remove_file(branches));
}
