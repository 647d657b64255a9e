//! The verifier accepts loops that run several iterations at a time and branches with common terms,
//! and refuses programs that compute something else.

use noisy_certificate::equality::{Equality, FORMAT, PolynomialLimits, VERSION, verify};

const HEADER: &str =
    "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32, %p: i1) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
";

const END: &str = "  return %r : !noisy.i32
}
";

/// The program before: seven iterations, each with an observed op.
fn before() -> String {
    let text = "  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%w = %a) -> (!noisy.i32) {
    \"test.note\"(%i) : (index) -> ()
    %q = noisy.add %w, %b : !noisy.i32
    scf.yield %q : !noisy.i32
  }
";
    format!("{HEADER}{text}{END}")
}

/// The program after: two iterations that each replace three, and the last one.
const AFTER: &str = "  %s = scf.for %i = %c0 to %c6 step %c3 iter_args(%w = %a) -> (!noisy.i32) {
    \"test.note\"(%i) : (index) -> ()
    %j = arith.addi %i, %c1 : index
    \"test.note\"(%j) : (index) -> ()
    %k = arith.addi %j, %c1 : index
    \"test.note\"(%k) : (index) -> ()
    %t = noisy.add %b, %b : !noisy.i32
    %u = noisy.add %t, %b : !noisy.i32
    %v = noisy.add %w, %u : !noisy.i32
    scf.yield %v : !noisy.i32
  }
  %r = scf.for %i = %c6 to %c7 step %c1 iter_args(%w = %s) -> (!noisy.i32) {
    \"test.note\"(%i) : (index) -> ()
    %q = noisy.add %w, %b : !noisy.i32
    scf.yield %q : !noisy.i32
  }
";

/// Verifies with the loops of the second program in order, each of which replaces a number of
/// iterations.
fn compare(before: &str, after: &str, n_at_once: &[u64]) -> Result<(), String> {
    let starts = |text: &str| -> Vec<usize> {
        let ends = text.match_indices(" = scf.for").map(|it| it.0);
        ends.map(|it| text[..it].rfind("  %").expect("a line") + 2).collect()
    };
    let parts: Vec<(usize, u64)> =
        starts(after).into_iter().zip(n_at_once.iter().copied()).collect();
    let first = starts(before).first().copied().unwrap_or(0);
    let file = Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: String::new(),
        after: String::new(),
        rewritten: after.to_owned(),
        loops: Vec::new(),
        strides: if parts.is_empty() { Vec::new() } else { vec![(first, parts)] },
        steps: Vec::new(),
    };
    verify(before, &file, PolynomialLimits::default()).map(|_| ())
}

fn strided(from: &str, to: &str) -> Result<(), String> {
    assert!(AFTER.contains(from), "{from}");
    let after = format!("{HEADER}{}{END}", AFTER.replacen(from, to, 1));
    compare(&before(), &after, &[3, 1])
}

#[test]
fn accepts_several_iterations_at_once() {
    assert_eq!(strided("", ""), Ok(()));
    assert_eq!(strided("%w, %u", "%u, %w"), Ok(()));
}

#[test]
fn refuses_other_iterations() {
    for (from, to, why) in [
        ("%c0 to %c6", "%c0 to %c3", "other iterations"),
        ("%c0 to %c6", "%c1 to %c6", "other iterations"),
        ("step %c3", "step %c1", "other iterations"),
        ("%c6 to %c7", "%c6 to %c6", "other than arithmetic"),
        ("%c6 to %c7", "%c3 to %c7", "other iterations"),
        ("iter_args(%w = %a)", "iter_args(%w = %b)", "not equal"),
        ("iter_args(%w = %s)", "iter_args(%w = %a)", "not equal"),
        ("%j = arith.addi %i, %c1", "%j = arith.addi %i, %c3", "not equal"),
        ("\"test.note\"(%j)", "\"test.note\"(%k0)", "an error"),
        ("\"test.note\"(%k)", "\"test.note\"(%j)", "not equal"),
        ("    \"test.note\"(%k) : (index) -> ()\n", "", "ops other than arithmetic"),
        ("%v = noisy.add %w, %u", "%v = noisy.add %w, %t", "is not what"),
        ("scf.yield %v", "scf.yield %u", "is not what"),
        ("%q = noisy.add %w, %b", "%q = noisy.add %w, %c", "is not what"),
    ] {
        let is = strided(from, to).expect_err(to);
        assert!(is.contains(why), "{from} {to}: {is} instead of {why}");
    }
    let after = format!("{HEADER}{AFTER}{END}");
    for n in [&[3][..], &[1, 1], &[3, 0], &[0, 1], &[2, 1], &[u64::MAX, 1]] {
        assert!(compare(&before(), &after, n).is_err(), "{n:?}");
    }
    assert!(compare(&before(), &after, &[]).is_err());
}

#[test]
fn evaluates_the_last_iterations() {
    let arithmetic = |text: &str| -> String {
        text.lines()
            .filter(|it| !it.contains("test.note"))
            .fold(String::new(), |all, it| all + it + "\n")
    };
    let (before, after) = (arithmetic(&before()), arithmetic(AFTER));
    let first = after.split("  %r").next().unwrap_or_default();
    let with =
        |value: &str| format!("{HEADER}{first}  %r = noisy.add %s, {value} : !noisy.i32\n{END}");
    assert_eq!(compare(&before, &with("%b"), &[3]), Ok(()));
    assert!(compare(&before, &with("%c"), &[3]).is_err());
    assert!(compare(&before, &with("%s"), &[3]).is_err());
    let all = format!("{HEADER}{first}{END}").replace("return %r", "return %s");
    assert!(compare(&before, &all, &[3]).is_err());
}

#[test]
fn keeps_the_order_of_carried_values() {
    let swapping = |step: &str, n: usize| {
        let ends = ["%v, %w", "%w, %v"];
        format!(
            "{HEADER}  %r, %s = scf.for %i = %c0 to %c6 step {step} iter_args(%v = %a, %w = %b) -> (!noisy.i32, !noisy.i32) {{\n    scf.yield {} : !noisy.i32, !noisy.i32\n  }}\n{END}",
            ends[n % 2]
        )
    };
    let before = swapping("%c1", 1);
    assert!(compare(&before, &swapping("%c3", 3), &[3]).is_ok());
    assert!(compare(&before, &swapping("%c3", 2), &[3]).is_err());
    assert!(compare(&before, &swapping("%c6", 2), &[6]).is_ok());
}

#[test]
fn accepts_other_initial_values_of_sums_only() {
    let program = |op: &str, init: &str, end: &str| {
        format!(
            "{HEADER}  %q = scf.for %i = %c0 to %c6 step %c1 iter_args(%w = {init}) -> (!noisy.i32) {{\n    %x = noisy.{op} %w, %c : !noisy.i32\n    scf.yield %x : !noisy.i32\n  }}\n{end}{END}"
        )
    };
    let plain = "  %r = noisy.add %q, %c : !noisy.i32\n";
    let shifted = "  %t = noisy.sub %a, %b : !noisy.i32
  %u = noisy.add %q, %t : !noisy.i32
  %r = noisy.add %u, %c : !noisy.i32\n";
    let sums = |init, end| program("add", init, end);
    assert_eq!(compare(&sums("%a", plain), &sums("%b", shifted), &[1]), Ok(()));
    assert!(compare(&sums("%a", plain), &sums("%b", plain), &[1]).is_err());
    let products = |init, end| program("mul", init, end);
    assert!(compare(&products("%a", plain), &products("%b", shifted), &[1]).is_err());
}

fn branch(cases: [&str; 2], after: &str) -> String {
    format!(
        "{HEADER}  %s = scf.if %p -> (!noisy.i32) {{\n{}  }} else {{\n{}  }}\n{after}{END}",
        cases[0], cases[1]
    )
}

fn case(op: &str, x: &str, y: &str) -> String {
    format!("    %q = noisy.{op} {x}, {y} : !noisy.i32\n    scf.yield %q : !noisy.i32\n")
}

#[test]
fn accepts_only_common_terms_and_factors_after_branches() {
    let plain = |it: &str| format!("    scf.yield {it} : !noisy.i32\n");
    let line = |op: &str, it: &str| format!("  %r = noisy.{op} %s, {it} : !noisy.i32\n");
    let all = |cases: [String; 2], after: &str| branch([&cases[0], &cases[1]], after);
    let same = line("add", "%a");
    for op in ["add", "mul"] {
        let before = all([case(op, "%c", "%a"), case(op, "%b", "%c")], &same);
        let after = |it: &str, other: &str| {
            let end = line("add", "%a").replace("%s", "%t");
            let joined = format!("  %t = noisy.{op} %s, {it} : !noisy.i32\n{end}");
            all([plain("%a"), plain(other)], &joined)
        };
        assert_eq!(compare(&before, &after("%c", "%b"), &[]), Ok(()), "{op}");
        assert!(compare(&before, &after("%b", "%b"), &[]).is_err(), "{op}");
        assert!(compare(&before, &after("%c", "%c"), &[]).is_err(), "{op}");
        assert!(compare(&before, &after("%c", "%a"), &[]).is_err(), "{op}");
    }
    // A value that is defined in one case is not common to both.
    let local = "    %x = \"test.make\"() : () -> !noisy.i32\n";
    let before = all([local.to_owned() + &case("add", "%x", "%a"), case("add", "%b", "%a")], &same);
    let end = "  %q = noisy.add %s, %a : !noisy.i32\n  %r = noisy.add %q, %a : !noisy.i32\n";
    let after = all([local.to_owned() + &plain("%x"), plain("%b")], end);
    assert_eq!(compare(&before, &after, &[]), Ok(()));
    let wrong = all([local.to_owned() + &plain("%a"), plain("%b")], &same);
    assert!(compare(&before, &wrong, &[]).is_err());
}

#[test]
fn refuses_long_lists_of_iterations() {
    let program = |step: u64| {
        format!(
            "func.func @f(%a: !noisy.i32) -> !noisy.i32 {{\n  %r = affine.for %i = 0 to 4000000000 step {step} iter_args(%w = %a) -> (!noisy.i32) {{\n    affine.yield %w : !noisy.i32\n  }}\n{END}"
        )
    };
    let (before, after) = (program(1), program(4_000_000_000));
    let first = |text: &str| text.find("%r").expect("a loop");
    let file = Equality {
        format: FORMAT.to_owned(),
        version: VERSION,
        before: String::new(),
        after: String::new(),
        rewritten: after.clone(),
        loops: Vec::new(),
        strides: vec![(first(&before), vec![(first(&after), 4_000_000_000)])],
        steps: Vec::new(),
    };
    let is = verify(&before, &file, PolynomialLimits::default()).expect_err("it is too long");
    assert!(is.contains("too many iterations"), "{is}");
}

#[test]
fn refuses_narrow_induction_variables_and_steps_that_wrap() {
    let program = |ty: &str, lower: &str, step: &str, upper: &str| {
        format!(
            "func.func @f(%a: !noisy.i32) -> !noisy.i32 {{\n  %l = arith.constant {lower} : {ty}\n  %s = arith.constant {step} : {ty}\n  %u = arith.constant {upper} : {ty}\n  %r = scf.for %i = %l to %u step %s iter_args(%w = %a) -> (!noisy.i32) {} {{\n    scf.yield %w : !noisy.i32\n  }}\n{END}",
            if ty == "index" { String::new() } else { format!(": {ty}") }
        )
    };
    let compare = |ty: &str, lower: &str, step: &str, by: u64, upper: &str| {
        let step_by = step.parse::<u64>().expect("a number") * by;
        let after = program(ty, lower, &step_by.to_string(), upper);
        at_once(&program(ty, lower, step, upper), &after, by)
    };
    assert_eq!(compare("index", "0", "1", 100, "100"), Ok(()));
    assert!(compare("i8", "0", "1", 100, "100").is_err());
    assert!(compare("index", "0", "4611686018427387904", 2, "5000000000000000000").is_err());
}

fn at_once(before: &str, after: &str, n: u64) -> Result<(), String> {
    compare(before, after, &[n])
}
