//! `--replay`: the steps convert the initial program to the final one, and back if undone.

mod programs;
mod tool;

use std::sync::atomic::{AtomicUsize, Ordering};

use programs::program;
use serde_json::Value;
use tool::{file, run};

const GENERIC: &str = "--mlir-print-op-generic";

/// Returns the generic form of a program.
fn generic(text: &str) -> String {
    static N: AtomicUsize = AtomicUsize::new(0);
    let input = file(&format!("generic-{}.mlir", N.fetch_add(1, Ordering::Relaxed)), text);
    let output = run(&[GENERIC], &input);
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let _ = std::fs::remove_file(input);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|it| it.as_str().unwrap_or("").to_owned()).collect()
}

/// Replaces lines, which must equal `old`.
fn replace(lines: &mut Vec<String>, at: usize, old: &[String], new: Vec<String>) {
    assert_eq!(lines[at..at + old.len()], *old);
    lines.splice(at..at + old.len(), new);
}

/// Returns the programs before the first and after the last step, and the number of steps with
/// changes.
fn replayed(rows: &str) -> (String, String, usize) {
    let rows: Vec<Value> =
        rows.lines().map(|it| serde_json::from_str(it).expect("a row is JSON")).collect();
    let start = strings(&rows[0]["program"]);
    let mut lines = start.clone();
    let mut done: Vec<(usize, Vec<String>, Vec<String>)> = Vec::new();
    let mut n_changes = 0;
    for row in &rows[1..] {
        assert_ne!(row["what"], "(unrecorded change)", "{row}");
        let changes: Vec<Value> = row["changes"].as_array().cloned().unwrap_or_default();
        n_changes += usize::from(!changes.is_empty());
        for it in changes.iter().rev() {
            let at = it["line"].as_u64().expect("a line") as usize - 1;
            let (old, new) = (strings(&it["removed"]), strings(&it["inserted"]));
            replace(&mut lines, at, &old, new.clone());
            done.push((at, old, new));
        }
    }
    let end = lines.join("\n");
    for (at, old, new) in done.into_iter().rev() {
        replace(&mut lines, at, &new, old);
    }
    assert_eq!(lines, start, "undone, the steps give the program back");
    (start.join("\n"), end, n_changes)
}

/// Runs passes and checks the first and the last program of the replay. Returns the number of steps
/// with changes.
fn check_replay(name: &str, text: &str, passes: &[&str], least: usize) -> usize {
    let input = file(&format!("{name}.mlir"), text);
    let rows = input.with_extension("jsonl");
    let flag = format!("--replay={}", rows.display());
    let output = run(&[passes, &[flag.as_str()]].concat(), &input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
    let (start, end, n) = replayed(&std::fs::read_to_string(&rows).expect("rows"));
    assert!(n >= least, "{n} steps of {passes:?}\n{text}");
    assert_eq!(generic(&start), generic(text), "{text}");
    let plain = String::from_utf8_lossy(&run(passes, &input).stdout).into_owned();
    assert_eq!(generic(&end), generic(&plain), "{passes:?}\n{text}");
    let _ = (std::fs::remove_file(input), std::fs::remove_file(rows));
    n
}

#[test]
fn the_last_step_equals_the_output_of_the_passes() {
    for seed in 0..8 {
        let text = program(seed);
        let all =
            ["-canonicalize", "-cse", "-sccp", "-loop-invariant-code-motion", "-canonicalize"];
        check_replay("random", &text, &all, 5);
        let pipeline = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),symbol-dce)";
        check_replay("nested", &text, &[pipeline], 5);
    }
}

#[test]
fn steps_after_the_visit_limit_are_merged() {
    // Each step adds more ops than the limit up to which only changed ops are compared.
    let (n_calls, n_ops) = (1100, 60);
    let ops = (1..n_ops).map(|it| format!("  %{it} = arith.muli %{}, %a : i32\n", it - 1));
    let calls =
        (1..=n_calls).map(|it| format!("  %{it} = func.call @g(%{}) : (i32) -> i32\n", it - 1));
    let text = format!(
        "func.func @g(%a: i32) -> i32 {{\n  %0 = arith.muli %a, %a : i32\n{}  return %{} : i32\n}}\n\
         func.func @f(%0: i32) -> i32 {{\n{}  return %{n_calls} : i32\n}}\n",
        ops.collect::<String>(),
        n_ops - 1,
        calls.collect::<String>(),
    );
    let n_steps = check_replay("large", &text, &["-inline=default-pipeline="], 400);
    assert!(n_steps < n_calls - 100, "{n_steps} steps");
}

#[test]
fn removed_functions_merged_blocks_and_inlined_bodies_are_replayed() {
    let text = "func.func private @gone(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
func.func @f(%c: i1, %a: i32) -> (i32, i32) {
  %0 = func.call @gone(%a) : (i32) -> i32
  %t = arith.constant true
  cf.cond_br %t, ^one(%0 : i32), ^two
^one(%x: i32):
  %r:2 = scf.if %c -> (i32, i32) {
    %1 = arith.muli %x, %x : i32
    scf.yield %1, %x : i32, i32
  } else {
    %1 = arith.subi %x, %a : i32
    scf.yield %1, %a : i32, i32
  }
  return %r#0, %r#1 : i32, i32
^two:
  %y = arith.muli %a, %a : i32
  return %y, %a : i32, i32
}
";
    check_replay("calls", text, &["-inline", "-canonicalize", "-symbol-dce", "-cse"], 4);
    check_replay("blocks", text, &["-canonicalize"], 3);
    check_replay("sccp", text, &["-sccp", "-remove-dead-values", "-canonicalize"], 2);
}

#[test]
fn the_page_is_self_contained_and_has_all_parts_of_a_split_file() {
    let text = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.constant 0 : i32\n  %1 = arith.addi %a, %0 : i32\n  return %1 : i32\n}\n";
    let input = file("parts.mlir", &format!("{text}// -----\n{}", text.replace("@f", "@g")));
    let page = input.with_extension("html");
    let flag = format!("--replay={}", page.display());
    let output = run(&["-canonicalize", "-split-input-file", &flag], &input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(
        html.contains("default-src 'none'") && !html.contains("http:") && !html.contains("https:"),
        "no network"
    );
    assert!(html.contains("@f(%a: i32)") && html.contains("@g(%a: i32)"), "{html}");
    let output = run(&["-canonicalize", "--keep-source", &flag], &input);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), said.trim()),
        (Some(1), "noisy-opt: --replay cannot be combined with --keep-source")
    );
    let output = run(&["-canonicalize", "--replay=/nowhere/at/all.html"], &input);
    assert_eq!(output.status.code(), Some(1));
    let _ = (std::fs::remove_file(input), std::fs::remove_file(page));
}
