//! What files of other projects do, and no error may be told of.

use expect_test::expect;

use crate::Source;

use super::check;

/// `stream.splat %a : i32 -> !stream.resource<*>{%size}`: sizes, not a body.
#[test]
fn values_in_braces_are_no_region() {
    check(
        r#"func.func @f(%a: i32, %n: index, %m: index) -> !s.r<*> {
  %0 = s.splat %a : i32 -> !s.r<*>{%n}
  %1 = s.update %0[%n], %0 : !s.r<*>{%n, %m} -> !s.r<*>{%m}
  %2:2 = s.pair %0 : tensor<?x?xf32>{%n,
    %m} -> !s.r<*>
  %3 = s.gather %0 {
    %n::%m[%n] -> %0 : !s.r<*>{%n},
    %m::%n[%m] -> %0 : !s.r<*>{%m}
  } : !s.r<*>
  %4 = s.body %0 {
    %5 = arith.addi %a, %a : i32
    s.yield %5 : i32
  }
  return %3 : !s.r<*>
}"#,
        &expect![[""]],
    );
}

/// `handshake.func` makes `handshake` the dialect of names without one.
#[test]
fn short_names_in_bodies_of_other_dialects_may_be_right() {
    check(
        r#"handshake.func @f(%a: i32, %b: none, ...) -> (i32, none) {
  %0 = arith.addi %a, %a : i32
  sink %0 : i32
  %1 = arith.addi %a, %a : i32
  return %1, %b : i32, none
}"#,
        &expect![[""]],
    );
}

/// Dialects print their types with blanks or without.
#[test]
fn blanks_in_types_of_other_dialects_say_nothing() {
    check(
        r#"func.func @f(%a: !torch.vtensor<[2,3], f32>, %b: !torch.vtensor<[2,3],f64>) -> !torch.vtensor<[2, 3],f32> {
  %0 = t.use %a : !torch.vtensor<[2, 3],f32>
  return %a : !torch.vtensor<[2,3],f32>
}
// -----
func.func @g(%b: !torch.vtensor<[2,3],f64>) -> !torch.vtensor<[2,3],f32> {
  return %b : !torch.vtensor<[2,3],f64>
}"#,
        &expect![[r#"
            7 %b: operand #0 has type '!torch.vtensor<[2,3],f64>', but the function returns '!torch.vtensor<[2,3],f32>' (operand-type)
        "#]],
    );
}

/// The types of several results stand after the arrow without parentheses.
#[test]
fn a_switch_gives_several_results() {
    check(
        "func.func @f(%i: index, %a: i32, %b: f32) -> i32 {
  %0:2 = scf.index_switch %i -> i32, f32
  case 1 {
    scf.yield %a, %b : i32, f32
  }
  default {
    scf.yield %a, %b : i32, f32
  }
  return %0#0 : i32
}",
        &expect![[""]],
    );
}

#[test]
fn long_broken_ops_are_cut_between_characters() {
    // Only so many bytes are searched for names; wherever that is, it is not in the middle of a character.
    for before in 0..4 {
        let text =
            format!("{}%0 = \"{}", " ".repeat(before), "\u{e4}\u{20ac}\u{1F600}".repeat(10_000));
        assert!(!Source::new(&text).problems().is_empty(), "{before}");
        let text = format!("{}{}", "x".repeat(before), "\u{feff}".repeat(30_000));
        assert!(!Source::new(&text).problems().is_empty(), "{before}");
    }
}
