//! Tests that the proof accepts equivalent programs and rejects all others.

use noisy_analyses::Program;
use noisy_rewrite::{Equality, prove_equal};

const HEADER: &str =
    "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32, %n: index) -> !noisy.i32 {\n";

/// Compares two function bodies; each line is an op.
fn compare(old: &[&str], new: &[&str]) -> Result<Equality, String> {
    let program = |lines: &[&str]| {
        let body = lines.iter().fold(String::new(), |text, it| text + "  " + it + "\n");
        let program = Program::new(&format!("{HEADER}{body}}}\n"));
        assert!(program.source().problems().is_empty(), "{body}");
        program
    };
    let (old, new) = (program(old), program(new));
    let functions = (old.ir().functions()[0], new.ir().functions()[0]);
    prove_equal((&old, functions.0), (&new, functions.1))
}

fn op(name: &str, result: &str, a: &str, b: &str) -> String {
    format!("%{result} = noisy.{name} %{a}, %{b} : !noisy.i32")
}

fn ops(list: &[(&str, &str, &str, &str)], result: &str) -> Vec<String> {
    let lines = list.iter().map(|&(name, to, a, b)| op(name, to, a, b));
    lines.chain([format!("return %{result} : !noisy.i32")]).collect()
}

fn texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

#[test]
fn accepts_the_laws_of_a_ring() {
    let pairs = [
        // Order and grouping.
        (
            ops(&[("add", "0", "a", "b"), ("add", "1", "0", "c")], "1"),
            ops(&[("add", "0", "c", "b"), ("add", "1", "a", "0")], "1"),
        ),
        // Distribution.
        (
            ops(&[("mul", "0", "a", "c"), ("mul", "1", "b", "c"), ("sub", "2", "0", "1")], "2"),
            ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "c")], "1"),
        ),
        // Terms that cancel.
        (
            ops(&[("add", "0", "a", "b"), ("sub", "1", "0", "b"), ("mul", "2", "1", "c")], "2"),
            ops(&[("mul", "0", "c", "a")], "0"),
        ),
    ];
    for (old, new) in pairs {
        assert!(compare(&texts(&old), &texts(&new)).is_ok(), "{old:?} {new:?}");
        assert!(compare(&texts(&new), &texts(&old)).is_ok(), "{new:?} {old:?}");
    }
}

#[test]
fn reduces_coefficients_modulo_32() {
    let double = |n: usize| -> Vec<String> {
        let mut list = vec![op("add", "d0", "a", "a")];
        list.extend((1..n).map(|it| {
            let (to, from) = (format!("d{it}"), format!("d{}", it - 1));
            op("add", &to, &from, &from)
        }));
        list
    };
    let with = |n: usize| {
        let mut lines = double(n);
        lines.push(op("add", "r", "b", &format!("d{}", n - 1)));
        lines.push("return %r : !noisy.i32".to_owned());
        lines
    };
    let nothing = ["return %b : !noisy.i32"];
    assert!(compare(&texts(&with(5)), &nothing).is_ok(), "32 a is zero");
    assert!(compare(&texts(&with(4)), &nothing).is_err(), "16 a is not");
}

#[test]
fn rejects_different_programs() {
    let old = ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "c")], "1");
    for new in [
        ops(&[("sub", "0", "b", "a"), ("mul", "1", "0", "c")], "1"),
        ops(&[("sub", "0", "a", "b"), ("mul", "1", "0", "0")], "1"),
        ops(&[("sub", "0", "a", "b")], "0"),
        ops(&[("add", "0", "a", "b"), ("mul", "1", "0", "c")], "1"),
    ] {
        assert!(compare(&texts(&old), &texts(&new)).is_err(), "{new:?}");
    }
}

#[test]
fn rejects_added_removed_and_moved_ops() {
    let decode = "%p = noisy.decode %a : !noisy.i32 -> i5";
    let encode = "%e = noisy.encode %p : i5 -> !noisy.i32";
    let other = "%o = noisy.decode %b : !noisy.i32 -> i5";
    let end = "return %e : !noisy.i32";
    let plain = "return %a : !noisy.i32";
    assert!(compare(&[decode, encode, end], &[decode, encode, end]).is_ok());
    assert!(compare(&[decode, encode, end], &[plain]).is_err());
    assert!(compare(&[plain], &[decode, plain]).is_err());
    assert!(compare(&[decode, other, plain], &[other, decode, plain]).is_err());
    let wrong = "%p = noisy.decode %b : !noisy.i32 -> i5";
    assert!(compare(&[decode, encode, end], &[wrong, encode, end]).is_err());
}

fn counted(n: u32, body: &str) -> Vec<String> {
    vec![
        "%lo = arith.constant 0 : index".to_owned(),
        "%one = arith.constant 1 : index".to_owned(),
        format!("%hi = arith.constant {n} : index"),
        format!(
            "%r = scf.for %i = %lo to %hi step %one iter_args(%w = %a) -> (!noisy.i32) {{\n{body}\n}}"
        ),
        "return %r : !noisy.i32".to_owned(),
    ]
}

#[test]
fn evaluates_removed_loops() {
    let body = "%q = noisy.add %w, %b : !noisy.i32\nscf.yield %q : !noisy.i32";
    let old = counted(2, body);
    let constants = &old[..3];
    let with = |list: &[(&str, &str, &str, &str)]| -> Vec<String> {
        constants.iter().cloned().chain(ops(list, "s")).collect()
    };
    let right = with(&[("add", "t", "b", "b"), ("add", "s", "a", "t")]);
    assert!(compare(&texts(&old), &texts(&right)).is_ok());
    let wrong = with(&[("add", "s", "a", "b")]);
    assert!(compare(&texts(&old), &texts(&wrong)).is_err());
}

#[test]
fn compares_bodies_of_remaining_loops() {
    let body = |x: &str, y: &str| {
        format!(
            "%p = noisy.mul %{x}, %{y} : !noisy.i32\n%q = noisy.add %p, %w : !noisy.i32\nscf.yield %q : !noisy.i32"
        )
    };
    let old = counted(1_000_000, &body("b", "c"));
    assert!(compare(&texts(&old), &texts(&counted(1_000_000, &body("c", "b")))).is_ok());
    assert!(compare(&texts(&old), &texts(&counted(1_000_000, &body("c", "c")))).is_err());
    assert!(compare(&texts(&old), &texts(&counted(1_000_001, &body("b", "c")))).is_err());
}

#[test]
fn reports_a_proof_that_takes_too_long() {
    // 39 repeated squarings of a sum of two values have 2^39 factors.
    let square = |from: &str| -> Vec<String> {
        let mut lines = vec![op("add", "s0", "a", from)];
        lines.extend((1..40).map(|it| {
            let (to, of) = (format!("s{it}"), format!("s{}", it - 1));
            op("mul", &to, &of, &of)
        }));
        lines.push("return %s39 : !noisy.i32".to_owned());
        lines
    };
    assert!(compare(&texts(&square("b")), &texts(&square("c"))).is_err());
    assert!(compare(&texts(&square("b")), &texts(&square("b"))).is_ok());
}
