//! Runs the tool with options that count, limit, bisect and print steps, and that reduce programs.

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
fn counters_limit_passes_and_patterns() {
    let input = file("counters.mlir", TEXT);
    let pipeline = "--pass-pipeline=builtin.module(func.func(cse))";
    // The pass is skipped on the first function and runs on the second one.
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
fn every_step_limit_gives_a_valid_program() {
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
    // The command fails as soon as the product of constants is folded.
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
fn commands_that_always_or_never_fail_or_do_not_exist_are_reported() {
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
fn reduction_keeps_the_cause_of_the_failure() {
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

#[test]
fn the_program_after_a_pass_is_shown_as_a_diff() {
    let input = file("diff.mlir", TEXT);
    let pipeline = "--pass-pipeline=builtin.module(func.func(cse,cse))";
    let output = run(&[pipeline, "--mlir-print-ir-after-all", "--mlir-print-ir-diff"], &input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("IR Dump After CSE (cse)").count(), 4, "{said}");
    // The first function does not change. The second one loses an op in the first run.
    assert_eq!(said.matches("// no change").count(), 3, "{said}");
    let expected = "--- cse
+++ cse
@@ -1,6 +1,5 @@
 func.func @g(%arg0: i32, %arg1: i32) -> i32 {
   %0 = arith.muli %arg0, %arg1 : i32
-  %1 = arith.muli %arg0, %arg1 : i32
-  %2 = arith.xori %0, %1 : i32
-  return %2 : i32
+  %1 = arith.xori %0, %0 : i32
+  return %1 : i32
 }
";
    assert!(said.contains(expected), "{said}");
    let flags = [pipeline, "--mlir-print-ir-after-all", "--mlir-print-ir-after-change"];
    let output = run(&[&flags[..], &["--mlir-print-ir-diff"]].concat(), &input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((said.matches("IR Dump").count(), said.matches("@@").count()), (1, 2), "{said}");
    // Passes in dynamic pipelines are also shown as diffs.
    let dynamic =
        "--pass-pipeline=builtin.module(func.func(composite-fixed-point-pass{pipeline=any(cse)}))";
    let output = run(&[dynamic, "--mlir-print-ir-after=cse", "--mlir-print-ir-diff"], &input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("-  %1 = arith.muli %arg0, %arg1 : i32\n"), "{said}");
    let _ = std::fs::remove_file(input);
}

#[test]
fn passes_report_each_changed_op() {
    let text = "func.func private @one(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
func.func @f(%c: i1, %a: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %0 = arith.andi %a, %c7 : i32
  %1 = arith.divsi %0, %c7 : i32
  %2 = arith.remsi %0, %c7 : i32
  %dead = arith.muli %1, %2 : i32
  %3 = func.call @one(%1) : (i32) -> i32
  %4 = func.call @one(%2) : (i32) -> i32
  %r = scf.if %c -> i32 {
    scf.yield %3 : i32
  } else {
    scf.yield %4 : i32
  }
  return %r : i32
}
";
    let input = file("each.mlir", text);
    let rows = input.with_extension("jsonl");
    let flag = format!("--replay={}", rows.display());
    for (pass, what, n) in [
        ("-inline=default-pipeline=", "the body of the callee replaces the call", 2),
        ("-inline=default-pipeline=", "nothing calls it", 1),
        ("-trivial-dce", "nothing uses it", 1),
        ("-arith-unsigned-when-equivalent", "never negative", 2),
    ] {
        assert!(run(&[pass, &flag], &input).status.success(), "{pass}");
        let rows = std::fs::read_to_string(&rows).expect("rows");
        assert_eq!(rows.matches(what).count(), n, "{pass}: {rows}");
    }
    // After each number of steps, the program is valid.
    let passes = [
        "-inline=default-pipeline=",
        "-arith-unsigned-when-equivalent",
        "-control-flow-sink",
        "-int-range-optimizations",
        "-trivial-dce",
        "-remove-dead-values",
    ];
    let whole = stdout(&run(&passes, &input));
    let mut last = String::new();
    for limit in 0..60 {
        let limit = format!("--bisect-limit={limit}");
        last = stdout(&run(&[&passes[..], &[&limit]].concat(), &input));
        let again = file("each-limited.mlir", &last);
        assert!(run(&[], &again).status.success(), "{last}");
        let _ = std::fs::remove_file(again);
    }
    assert_eq!(last, whole);
    let _ = (std::fs::remove_file(input), std::fs::remove_file(rows));
}
