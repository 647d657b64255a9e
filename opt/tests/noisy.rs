//! Passes of the MLIR tutorial: `noisy-reduce-noise`, `mul-to-add`, `affine-full-unroll`.

mod common;

use expect_test::{Expect, expect};
use noisy_syntax::print;

/// Returns the resulting program, or the error of a pass.
fn run(pass: &str, text: &str) -> Result<String, Vec<String>> {
    common::run(&format!("builtin.module({pass})"), text).map(|it| print::custom(&it))
}

fn assert_canonicalized(pass: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&run(pass, text).expect("the pass runs"));
}

#[test]
fn the_search_time_may_be_limited() {
    let text = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %0 : !noisy.i32
  %d = noisy.decode %2 : !noisy.i32 -> i5
  return %d : i5
}
";
    let usual = run("noisy-reduce-noise", text);
    assert!(usual.as_ref().is_ok_and(|it| it.contains("noisy.reduce_noise")), "{usual:?}");
    for seconds in ["0", "1", "9223372036854775807"] {
        assert_eq!(run(&format!("noisy-reduce-noise{{time-limit={seconds}}}"), text), usual);
    }
    let told = run("noisy-reduce-noise{time-limit=-1}", text).expect_err("there is no such time");
    assert!(told[0].contains("time-limit is a number of seconds, 0 or more"), "{told:?}");
}

#[test]
fn noise_is_reduced_in_branches_and_loops() {
    assert_canonicalized(
        "noisy-reduce-noise",
        "func.func @branch(%x: i5, %c: i1) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  cf.cond_br %c, ^a(%1 : !noisy.i32), ^b
^b:
  %2 = noisy.mul %0, %0 : !noisy.i32
  cf.br ^a(%2 : !noisy.i32)
^a(%3: !noisy.i32):
  %4 = noisy.mul %3, %1 : !noisy.i32
  %d = noisy.decode %4 : !noisy.i32 -> i5
  return %d : i5
}
func.func @loop(%x: i5, %n: index) -> i5 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (!noisy.i32) {
    %2 = noisy.add %a, %0 : !noisy.i32
    scf.yield %2 : !noisy.i32
  }
  %d = noisy.decode %r : !noisy.i32 -> i5
  return %d : i5
}
",
        &expect![[r#"
            module {
              func.func @branch(%arg0: i5, %arg1: i1) -> i5 {
                %0 = noisy.encode %arg0 : i5 -> !noisy.i32
                %1 = noisy.mul %0, %0 : !noisy.i32
                %2 = noisy.reduce_noise %1 : !noisy.i32
                cf.cond_br %arg1, ^bb2(%2 : !noisy.i32), ^bb1
              ^bb1:
                %3 = noisy.mul %0, %0 : !noisy.i32
                %4 = noisy.reduce_noise %3 : !noisy.i32
                cf.br ^bb2(%4 : !noisy.i32)
              ^bb2(%5: !noisy.i32):
                %6 = noisy.mul %5, %2 : !noisy.i32
                %7 = noisy.decode %6 : !noisy.i32 -> i5
                return %7 : i5
              }
              func.func @loop(%arg0: i5, %arg1: index) -> i5 {
                %0 = arith.constant 0 : index
                %1 = arith.constant 1 : index
                %2 = noisy.encode %arg0 : i5 -> !noisy.i32
                %3 = scf.for %arg2 = %0 to %arg1 step %1 iter_args(%arg3 = %2) -> (!noisy.i32) {
                  %5 = noisy.add %arg3, %2 : !noisy.i32
                  %6 = noisy.reduce_noise %5 : !noisy.i32
                  scf.yield %6 : !noisy.i32
                }
                %4 = noisy.decode %3 : !noisy.i32 -> i5
                return %4 : i5
              }
            }
        "#]],
    );
}

#[test]
fn only_the_functions_in_the_op_are_changed() {
    let text = "module {
  module @a {
    func.func @f(%x: !noisy.i32) -> !noisy.i32 {
      %0 = noisy.mul %x, %x : !noisy.i32
      %1 = noisy.mul %0, %x : !noisy.i32
      return %1 : !noisy.i32
    }
  }
  func.func @g(%x: !noisy.i32) -> !noisy.i32 {
    %0 = noisy.mul %x, %x : !noisy.i32
    %1 = noisy.mul %0, %x : !noisy.i32
    return %1 : !noisy.i32
  }
}
";
    let after = run("builtin.module(noisy-reduce-noise-optimizer)", text).expect("the pass runs");
    let (inner, outer) = after.split_once("@g").expect("two functions");
    assert_eq!(inner.matches("reduce_noise").count(), 1, "{after}");
    assert_eq!(outer.matches("reduce_noise").count(), 0, "{after}");
}

#[test]
fn impossible_placements_are_reported() {
    let text = "func.func @f(%x: !noisy.i32 {noisy.bound = 40 : i32}) -> !noisy.i32 {
  %0 = noisy.mul %x, %x : !noisy.i32
  return %0 : !noisy.i32
}
";
    let told = run("noisy-reduce-noise", text).expect_err("nothing helps").join("\n");
    expect!["test:1: error: unexpected error: no placement is possible: %arg0 has at least 40 bits of noise, and at most 26 are allowed"].assert_eq(&told);
}

/// Evaluates a function with one 8-bit argument that consists of constants, products, sums and a
/// return.
fn value(text: &str, argument: u8) -> u8 {
    let mut values = std::collections::HashMap::from([("%arg0".to_owned(), argument)]);
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split([' ', ',']).filter(|it| !it.is_empty()).collect();
        match words[..] {
            ["return", value, ..] => return values[value],
            [name, "=", op, a, ..] => {
                let of = |it: &str| values[it];
                let value = match op {
                    "arith.constant" => a.parse::<i16>().expect("a number") as u8,
                    "arith.addi" => of(a).wrapping_add(of(words[4])),
                    "arith.muli" => of(a).wrapping_mul(of(words[4])),
                    _ => panic!("{line}"),
                };
                values.insert(name.to_owned(), value);
            }
            _ => {}
        }
    }
    panic!("nothing is returned: {text}")
}

#[test]
fn mul_to_add_preserves_results() {
    for factor in -128_i16..128 {
        let text = format!(
            "func.func @f(%x: i8) -> i8 {{
  %c = arith.constant {factor} : i8
  %0 = arith.muli %x, %c : i8
  return %0 : i8
}}
"
        );
        let after = run("mul-to-add", &text).expect("the pass runs");
        for argument in [0, 1, 3, 100, 128, 255] {
            assert_eq!(value(&after, argument), argument.wrapping_mul(factor as u8), "{after}");
        }
        let is_kept = factor < 0 && factor != -128;
        assert_eq!(after.contains("muli"), is_kept, "{after}");
    }
}

#[test]
fn full_unrolling_succeeds_or_reports_a_failure() {
    let text = |n: &str| {
        format!(
            "func.func @f(%m: memref<4x3xi32>, %n: index) {{
  %c = arith.constant 0 : i32
  affine.for %i = 0 to {n} {{
    affine.for %j = 0 to 3 {{
      affine.store %c, %m[%i, %j] : memref<4x3xi32>
    }}
  }}
  return
}}
"
        )
    };
    let after = run("affine-full-unroll", &text("4")).expect("the pass runs");
    assert_eq!(
        (after.matches("affine.for").count(), after.matches("affine.store").count()),
        (0, 12)
    );
    let told = run("affine-full-unroll", &text("%n")).expect_err("it cannot be unrolled");
    assert!(told.join("").contains("unrolling failed"), "{told:?}");
    let after = run("affine-full-unroll-rewrite", &text("%n")).expect("the pass runs");
    assert_eq!(
        (after.matches("affine.for").count(), after.matches("affine.store").count()),
        (1, 3)
    );
}

#[test]
fn sums_and_loops_are_rewritten() {
    let text = "func.func @f(%x: !noisy.i32, %y: !noisy.i32, %c: i1) -> !noisy.i32 {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 40 : index
  %r = scf.for %i = %lo to %n step %one iter_args(%w = %x) -> (!noisy.i32) {
    %q = noisy.add %w, %y : !noisy.i32
    scf.yield %q : !noisy.i32
  }
  %s = scf.if %c -> (!noisy.i32) {
    %a = noisy.mul %x, %y : !noisy.i32
    %b = noisy.mul %y, %y : !noisy.i32
    %d = noisy.sub %a, %b : !noisy.i32
    %e = noisy.mul %d, %x : !noisy.i32
    scf.yield %e : !noisy.i32
  } else {
    scf.yield %r : !noisy.i32
  }
  return %s : !noisy.i32
}
";
    let n_reductions = |it: &str| it.matches("noisy.reduce_noise").count();
    let placed = run("noisy-reduce-noise", text).expect("it is placed");
    let rewritten = run("noisy-rewrite,noisy-reduce-noise", text).expect("it is rewritten");
    assert!(placed.contains("scf.for") && n_reductions(&placed) > 1, "{placed}");
    assert!(!rewritten.contains("scf.for") && n_reductions(&rewritten) <= 1, "{rewritten}");
}

#[test]
fn functions_that_need_no_reduction_are_not_rewritten() {
    let text = "func.func @f(%x: !noisy.i32, %y: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %x, %y : !noisy.i32
  %1 = noisy.mul %x, %x : !noisy.i32
  %2 = noisy.add %0, %1 : !noisy.i32
  return %2 : !noisy.i32
}
";
    assert_eq!(run("noisy-rewrite", text).as_deref(), run("", text).as_deref());
    let told = run("noisy-rewrite{growth=-1}", text).expect_err("there is no such growth");
    assert!(told[0].contains("time-limit and growth are numbers, 0 or more"), "{told:?}");
}
