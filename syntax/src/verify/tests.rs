//! Programs with one structural fault each, and programs that only look faulty.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::{Category, Source};

fn check(text: &str, expected: &Expect) {
    let source = Source::new(text);
    assert!(
        source.problems().iter().all(|it| it.2.category == Category::Structure),
        "{:?}",
        source.problems()
    );
    let mut out = String::new();
    for (op, range, problem) in source.problems() {
        let row = text[..range.start].matches('\n').count() + 1;
        let _ =
            writeln!(out, "{row} {}: {} ({})", source.slice(range), problem.message, problem.code);
        assert!(source.ir().is_alive(op));
    }
    expected.assert_eq(&out);
}

#[test]
fn noisy_ops_want_noisy_integers_and_narrow_plaintexts() {
    check(
        "func.func @f(%a: i6, %b: i32) {
  %0 = noisy.encode %a : i6 -> !noisy.i32
  %1 = noisy.add %b, %b : i32
  return
}",
        &expect![[r#"
            2 %a: operand #0 must be an integer of 1 to 5 bits, but got 'i6' (operand-type)
            3 %b: operand #0 must be `!noisy.i32`, but got 'i32' (operand-type)
        "#]],
    );
}

#[test]
fn blocks_end_and_receive_what_they_take() {
    check(
        "func.func @f(%a: i32) {
  cf.br ^bb1
^bb1(%b: i32):
  %c = arith.addi %b, %b : i32
}
func.func @g(%a: i32) -> i32 {
  return %a : i32
  return %a : i32
}
func.func @h(%a: i32) -> i64 {
  return %a : i32
}",
        &expect![[r#"
            2 ^bb1: passes 0 operands, but ^bb1 has 1 arguments (successor-operands)
            4 arith.addi: block with no terminator, has `arith.addi` (missing-terminator)
            7 return: must be the last operation in the parent block (terminator-not-last)
            11 %a: operand #0 has type 'i32', but the function returns 'i64' (operand-type)
        "#]],
    );
}

#[test]
fn values_dominate_their_uses() {
    check(
        "func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  %y = arith.addi %x, %z : i32
  %z = arith.constant 1 : i32
  return %y : i32
^bb3:
  %u = arith.addi %v, %v : i32
  %v = arith.addi %u, %u : i32
  return %u : i32
}",
        &expect![[r#"
            7 %x: operand %x does not dominate this use (dominance)
            7 %z: operand %z does not dominate this use (dominance)
        "#]],
    );
}

#[test]
fn functions_are_islands_with_one_name_each() {
    check(
        "%g = arith.constant 1 : i32
func.func @f() -> i32 {
  return %g : i32
}
func.func @f()
func.func @h() {
  call @nothing() : () -> ()
  return
}",
        &expect![[r#"
            3 %g: uses a value defined outside of the isolated region (isolated)
            5 func.func: symbol declaration cannot have public visibility (public-declaration)
            5 @f: redefinition of symbol named 'f' (redefined-symbol)
            7 @nothing: 'nothing' does not reference a valid function (unknown-function)
        "#]],
    );
}
