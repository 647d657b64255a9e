//! The block arguments that `mem2reg` adds, and the slots that it keeps. `twin.rs` checks
//! equivalence.

mod common;

use expect_test::{Expect, expect};
use noisy_syntax::print;

fn assert_canonicalized(text: &str, expected: &Expect) {
    let ir = common::run("builtin.module(mem2reg)", text).expect("the pass runs");
    expected.assert_eq(&print::custom(&ir));
}

#[test]
fn blocks_get_arguments_where_different_stores_reach_a_load() {
    assert_canonicalized(
        r#"func.func @f(%c: i1, %a: i32, %n: i32) -> i32 {
  %s = memref.alloca() : memref<i32>
  %unread = memref.alloca() : memref<1x1xf32>
  %f = arith.constant 1.0 : f32
  %i = arith.constant 0 : index
  memref.store %a, %s[] : memref<i32>
  cf.br ^head
^head:
  %v = memref.load %s[] : memref<i32>
  memref.store %f, %unread[%i, %i] : memref<1x1xf32>
  %d = arith.cmpi slt, %v, %n : i32
  cf.cond_br %d, ^body, ^end
^body:
  %x = arith.addi %v, %a : i32
  memref.store %x, %s[] : memref<i32>
  cf.cond_br %c, ^head, ^other
^other:
  cf.br ^head
^end:
  %r = memref.load %s[] : memref<i32>
  return %r : i32
^dead:
  %q = memref.load %s[] : memref<i32>
  memref.store %q, %s[] : memref<i32>
  cf.br ^head
}
"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.constant 0 : i32
                %1 = arith.constant 1.000000e+00 : f32
                %2 = arith.constant 0 : index
                cf.br ^bb1(%arg1 : i32)
              ^bb1(%3: i32):
                %4 = arith.cmpi slt, %3, %arg2 : i32
                cf.cond_br %4, ^bb2, ^bb4
              ^bb2:
                %5 = arith.addi %3, %arg1 : i32
                cf.cond_br %arg0, ^bb1(%5 : i32), ^bb3
              ^bb3:
                cf.br ^bb1(%5 : i32)
              ^bb4:
                return %3 : i32
              ^bb5:
                cf.br ^bb1(%0 : i32)
              }
            }
        "#]],
    );
}

#[test]
fn slots_with_other_uses_are_kept() {
    assert_canonicalized(
        r#"func.func @f(%c: i1, %a: i32, %i: index) -> (i32, i32) {
  %in_region = memref.alloca() : memref<i32>
  scf.if %c { memref.store %a, %in_region[] : memref<i32> }
  %0 = memref.load %in_region[] : memref<i32>
  %passed = memref.alloca() : memref<i32>
  "t.a"(%passed) : (memref<i32>) -> ()
  %1 = memref.load %passed[] : memref<i32>
  %two = memref.alloca() : memref<2xi32>
  memref.store %a, %two[%i] : memref<2xi32>
  %merged = memref.alloca() : memref<i32>
  memref.store %a, %merged[] : memref<i32>
  "t.branch"()[^x, ^y] : () -> ()
^x:
  memref.store %0, %merged[] : memref<i32>
  "t.branch"()[^y] : () -> ()
^y:
  %2 = memref.load %merged[] : memref<i32>
  return %1, %2 : i32, i32
}
"t.graph"() ({
  %s = memref.alloca() : memref<i32>
  %0 = memref.load %s[] : memref<i32>
  "t.a"(%0) : (i32) -> ()
}) : () -> ()
"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i1, %arg1: i32, %arg2: index) -> (i32, i32) {
                %0 = memref.alloca() : memref<i32>
                scf.if %arg0 {
                  memref.store %arg1, %0[] : memref<i32>
                }
                %1 = memref.load %0[] : memref<i32>
                %2 = memref.alloca() : memref<i32>
                "t.a"(%2) : (memref<i32>) -> ()
                %3 = memref.load %2[] : memref<i32>
                %4 = memref.alloca() : memref<2xi32>
                memref.store %arg1, %4[%arg2] : memref<2xi32>
                %5 = memref.alloca() : memref<i32>
                memref.store %arg1, %5[] : memref<i32>
                "t.branch"()[^bb1, ^bb2] : () -> ()
              ^bb1:
                memref.store %1, %5[] : memref<i32>
                "t.branch"()[^bb2] : () -> ()
              ^bb2:
                %6 = memref.load %5[] : memref<i32>
                return %3, %6 : i32, i32
              }
              "t.graph"() ({
                %0 = memref.alloca() : memref<i32>
                %1 = memref.load %0[] : memref<i32>
                "t.a"(%1) : (i32) -> ()
              }) : () -> ()
            }
        "#]],
    );
}

/// The branch operand for one slot was loaded from another slot, which is promoted later.
#[test]
fn slots_that_exchange_values_in_a_loop_are_promoted() {
    assert_canonicalized(
        r"func.func @rotate(%c: i1, %a: i32, %b: i32) -> i32 {
  %x = memref.alloca() : memref<i32>
  %y = memref.alloca() : memref<i32>
  %z = memref.alloca() : memref<i32>
  memref.store %a, %x[] : memref<i32>
  memref.store %b, %y[] : memref<i32>
  cf.br ^head
^head:
  %0 = memref.load %x[] : memref<i32>
  %1 = memref.load %y[] : memref<i32>
  %2 = memref.load %z[] : memref<i32>
  memref.store %1, %x[] : memref<i32>
  memref.store %2, %y[] : memref<i32>
  memref.store %0, %z[] : memref<i32>
  cf.cond_br %c, ^head, ^end
^end:
  %r = memref.load %x[] : memref<i32>
  return %r : i32
}
",
        &expect![[r#"
            module {
              func.func @rotate(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.constant 0 : i32
                cf.br ^bb1(%arg1, %arg2, %0 : i32, i32, i32)
              ^bb1(%1: i32, %2: i32, %3: i32):
                cf.cond_br %arg0, ^bb1(%2, %3, %1 : i32, i32, i32), ^bb2
              ^bb2:
                return %2 : i32
              }
            }
        "#]],
    );
}
