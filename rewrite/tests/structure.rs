//! Tests with branches, and with loops that are too long to unroll or contain other ops than
//! arithmetic.

use std::time::Duration;

use noisy_analyses::{Document, PlacementOptions as Placing, Program};
use noisy_certificate::equality::{Equality, FORMAT, PolynomialLimits, VERSION, verify};
use noisy_placement::PlacementLimits as PlacingLimits;
use noisy_rewrite::{RewriteOptions, prove_equal, rewrite};

const CALLEE: &str = "func.func private @g(%x: !noisy.i32) -> !noisy.i32 {
  %s = noisy.add %x, %x : !noisy.i32
  return %s : !noisy.i32
}
";

/// Returns a function with a loop. `head` is the head of the loop up to the carried value, and
/// `body` defines the yielded value `%q`.
fn counted(head: &str, body: &str) -> String {
    let dialect = if head.starts_with("affine") { "affine" } else { "scf" };
    format!(
        "{CALLEE}func.func @f(%x: !noisy.i32, %y: !noisy.i32, %z: !noisy.i32, %p: i1) -> !noisy.i32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %n = arith.constant 1000 : index
  %r = {head} iter_args(%w = %x) -> (!noisy.i32) {{
{body}    {dialect}.yield %q : !noisy.i32
  }}
  return %r : !noisy.i32
}}
"
    )
}

const CALL: &str = "    %a = func.call @g(%y) : (!noisy.i32) -> !noisy.i32\n";

/// Returns the cost of the last function before and after rewriting, and the rewritten program.
fn rewritten(text: &str) -> (f64, f64, String) {
    let before = Document::new(text);
    assert!(before.source().problems().is_empty(), "{text}");
    let functions = before.ir().functions();
    let time = Duration::from_secs(20);
    let limits = PlacingLimits { time: Some(time), ..PlacingLimits::default() };
    let placing = Placing { limits, ..Placing::default() };
    let options = RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: 1.5,
        keeps_structure: false,
    };
    let after = rewrite(&before, &functions, &options).expect("it is rewritten");
    let written = after.document.source().text().to_string();
    let proofs = || after.savings.iter().map(|it| &it.equality);
    let file = Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: String::new(),
        after: String::new(),
        rewritten: written.clone(),
        loops: proofs().flat_map(|it| it.loops.iter().copied()).collect(),
        strides: proofs().flat_map(|it| it.strides.iter().cloned()).collect(),
        steps: proofs().flat_map(|it| it.steps.iter().copied()).collect(),
    };
    let verified = verify(text, &file, PolynomialLimits::default());
    assert!(verified.is_ok(), "{verified:?}\n{text}\nbecame\n{written}");
    let saving = after.savings.last().expect("a function is rewritten");
    (saving.before, saving.after, written)
}

#[track_caller]
fn saves(head: &str, body: &str, before: f64, after: f64) -> String {
    let text = counted(head, body);
    let (is_before, is_after, written) = rewritten(&text);
    assert!(
        is_before >= before && is_after <= after,
        "{is_before} to {is_after}, not {before} to {after}:\n{text}\nbecame\n{written}"
    );
    written
}

#[test]
fn loops_with_calls_take_several_iterations_at_once() {
    let sum = format!("{CALL}    %q = noisy.add %w, %a : !noisy.i32\n");
    let written = saves("scf.for %i = %c0 to %n step %c1", &sum, 1000.0, 50.0);
    assert!(written.matches("scf.for").count() == 2, "{written}");
    saves("affine.for %i = 3 to 997 step 2", &sum, 497.0, 30.0);
    let horner = format!(
        "{CALL}    %t = noisy.mul %w, %z : !noisy.i32\n    %q = noisy.add %t, %a : !noisy.i32\n"
    );
    saves("scf.for %i = %c0 to %n step %c1", &horner, 1000.0, 510.0);
}

#[test]
fn long_loops_of_arithmetic_take_several_iterations_at_once() {
    let sum = "    %q = noisy.add %w, %y : !noisy.i32\n";
    saves("affine.for %i = 0 to 1000000", sum, 1_000_000.0, 0.0);
    let product = "    %q = noisy.mul %w, %y : !noisy.i32\n";
    saves("affine.for %i = 0 to 50003", product, 50_003.0, 1000.0);
}

#[test]
fn invariant_products_leave_loops() {
    let body = "    \"test.note\"(%i) : (index) -> ()
    %s = noisy.mul %y, %z : !noisy.i32
    %t = noisy.mul %s, %z : !noisy.i32
    %q = noisy.add %w, %t : !noisy.i32\n";
    saves("scf.for %i = %c0 to %n step %c1", body, 2000.0, 60.0);
}

fn branch(cases: [(&str, &str); 2]) -> String {
    let case = |(lines, end): (&str, &str)| format!("{lines}      scf.yield {end} : !noisy.i32\n");
    format!(
        "    %q = scf.if %p -> !noisy.i32 {{\n{}    }} else {{\n{}    }}\n",
        case(cases[0]),
        case(cases[1])
    )
}

#[test]
fn branches_that_add_to_the_same_value_share_the_sum() {
    let line = |op: &str, it: &str| format!("      %c = noisy.{op} %w, {it} : !noisy.i32\n");
    let both = branch([(&line("add", "%y"), "%c"), (&line("add", "%z"), "%c")]);
    let written = saves("affine.for %i = 0 to 40", &both, 40.0, 0.0);
    assert!(written.contains("scf.yield %y") && written.contains("scf.yield %z"), "{written}");
    saves("affine.for %i = 0 to 1000", &both, 1000.0, 60.0);
    // One case may yield the value unchanged.
    let one = branch([(&line("sub", "%y"), "%c"), ("", "%w")]);
    saves("affine.for %i = 0 to 1000", &one, 500.0, 60.0);
}

#[test]
fn encryption_is_not_copied() {
    let text = counted(
        "affine.for %i = 0 to 1000",
        "    %k = arith.constant 3 : i5
    %e = noisy.encode %k : i5 -> !noisy.i32
    %s = noisy.mul %y, %z : !noisy.i32
    %t = noisy.mul %s, %e : !noisy.i32
    %q = noisy.add %w, %t : !noisy.i32\n",
    );
    let (_, _, written) = rewritten(&text);
    assert_eq!(written.matches("noisy.encode").count(), 1, "{written}");
}

const BODY: &str = "    \"test.note\"(%i) : (index) -> ()
    %q = noisy.add %w, %y : !noisy.i32\n";

const STRIDES: &str = "  %s = scf.for %i = %c0 to %c6 step %c3 iter_args(%w = %x) -> (!noisy.i32) {
    \"test.note\"(%i) : (index) -> ()
    %j = arith.addi %i, %c1 : index
    \"test.note\"(%j) : (index) -> ()
    %k = arith.addi %j, %c1 : index
    \"test.note\"(%k) : (index) -> ()
    %t = noisy.add %y, %y : !noisy.i32
    %u = noisy.add %t, %y : !noisy.i32
    %v = noisy.add %w, %u : !noisy.i32
    scf.yield %v : !noisy.i32
  }
  %r = scf.for %i = %c6 to %c7 step %c1 iter_args(%w = %s) -> (!noisy.i32) {
    \"test.note\"(%i) : (index) -> ()
    %q = noisy.add %w, %y : !noisy.i32
    scf.yield %q : !noisy.i32
  }
";

/// Compares a loop of seven iterations with its strided form, after replacing `from` in the latter.
fn compare_strided(from: &str, to: &str) -> Result<(), String> {
    let old = counted("scf.for %i = %c0 to %c7 step %c1", BODY);
    assert!(STRIDES.contains(from), "{from}");
    let start = old.find("  %r =").expect("a loop");
    let end = old.find("  return %r").expect("an end");
    let new = format!("{}{}{}", &old[..start], STRIDES.replacen(from, to, 1), &old[end..]);
    let (old, new) = (Program::new(&old), Program::new(&new));
    let last = |it: &Program| *it.ir().functions().last().expect("a function");
    let functions = (last(&old), last(&new));
    prove_equal((&old, functions.0), (&new, functions.1)).map(|_| ())
}

#[test]
fn accepts_only_equal_iterations() {
    assert_eq!(compare_strided("", ""), Ok(()));
    for (from, to) in [
        ("%c0 to %c6", "%c0 to %c3"),
        ("%c0 to %c6", "%c1 to %c6"),
        ("step %c3", "step %c1"),
        ("%c6 to %c7", "%c6 to %c6"),
        ("%c6 to %c7", "%c3 to %c7"),
        ("iter_args(%w = %x)", "iter_args(%w = %y)"),
        ("iter_args(%w = %s)", "iter_args(%w = %x)"),
        ("%j = arith.addi %i, %c1", "%j = arith.addi %i, %c3"),
        ("\"test.note\"(%k)", "\"test.note\"(%j)"),
        ("    \"test.note\"(%k) : (index) -> ()\n", ""),
        ("%v = noisy.add %w, %u", "%v = noisy.add %w, %t"),
        ("scf.yield %v", "scf.yield %u"),
        ("%q = noisy.add %w, %y", "%q = noisy.add %w, %z"),
    ] {
        assert!(compare_strided(from, to).is_err(), "{from} {to}");
    }
}

#[test]
fn accepts_only_common_parts_of_cases() {
    let compare = |old: [(&str, &str); 2], new: [(&str, &str); 2], after: &str| {
        let old = counted("affine.for %i = 0 to 9", &branch(old));
        let new = branch(new).replace("%q =", "%d =") + after;
        let new = counted("affine.for %i = 0 to 9", &new);
        let (old, new) = (Program::new(&old), Program::new(&new));
        let last = |it: &Program| *it.ir().functions().last().expect("a function");
        prove_equal((&old, last(&old)), (&new, last(&new))).is_ok()
    };
    for op in ["add", "mul"] {
        let line = |it: &str| format!("      %c = noisy.{op} %w, {it} : !noisy.i32\n");
        let (y, z) = (line("%y"), line("%z"));
        let old = || [(&*y, "%c"), (&*z, "%c")];
        let after = |it: &str| format!("    %q = noisy.{op} {it}, %d : !noisy.i32\n");
        assert!(compare(old(), [("", "%y"), ("", "%z")], &after("%w")), "{op}");
        assert!(!compare(old(), [("", "%z"), ("", "%y")], &after("%w")), "{op}");
        assert!(!compare(old(), [("", "%y"), ("", "%y")], &after("%w")), "{op}");
        assert!(!compare(old(), [("", "%y"), ("", "%z")], &after("%x")), "{op}");
    }
}
