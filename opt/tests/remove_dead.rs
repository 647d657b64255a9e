//! `remove-dead-values` with recursive calls, carried values that only they themselves use, and
//! argument attributes.

mod common;

use expect_test::{Expect, expect};
use noisy_syntax::print;

fn assert_canonicalized(text: &str, expected: &Expect) {
    let ir = common::run("builtin.module(remove-dead-values)", text).expect("the pass runs");
    expected.assert_eq(&print::custom(&ir));
}

#[test]
fn values_used_only_by_themselves_are_removed() {
    assert_canonicalized(
        r#"func.func private @callee(%a: i32, %b: i32, %c: i32) -> (i32, i32) {
 %0 = arith.addi %a, %a : i32
 return %0, %b : i32, i32 }
func.func @caller(%x: i32) -> i32 {
 %0:2 = func.call @callee(%x, %x, %x) : (i32, i32, i32) -> (i32, i32)
 return %0#0 : i32 }
func.func private @rec(%a: i32, %n: i32) -> i32 {
 %0 = func.call @rec(%a, %n) : (i32, i32) -> i32
 return %n : i32 }
func.func @rc(%x: i32) -> i32 {
 %r = func.call @rec(%x, %x) : (i32, i32) -> i32
 return %x : i32 }
func.func @acyc(%c: i1, %m: memref<i32>) {
 %0 = arith.constant 1 : i32
 %1 = arith.constant 2 : i32
 %2 = scf.if %c -> i32 {
  memref.store %0, %m[] : memref<i32>
  scf.yield %0 : i32
 } else {
  scf.yield %1 : i32
 }
 return }
func.func @whl(%a: i32, %b: i32, %c: i1) -> i32 {
 %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
  %n = "test.cond"(%x) : (i32) -> i1
  scf.condition(%n) %x, %y : i32, i32
 } do {
 ^bb0(%p: i32, %q: i32):
  %s = arith.addi %q, %q : i32
  scf.yield %p, %s : i32, i32
 }
 return %r#0 : i32 }
func.func @forl(%a: i32, %b: i32, %n: index) -> i32 {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (i32, i32) {
  %s = arith.addi %x, %a : i32
  %t = arith.addi %y, %s : i32
  scf.yield %s, %t : i32, i32
 }
 return %r#0 : i32 }
func.func private @attrs(%a: i32 {test.x}, %b: i32 {test.y}) -> (i32 {test.r}, i32 {test.s}) {
 return %a, %a : i32, i32 }
func.func @cattrs(%x: i32) -> i32 {
 %0:2 = func.call @attrs(%x, %x) : (i32, i32) -> (i32, i32)
 return %0#1 : i32 }
func.func @blk(%c: i1, %a: i32, %m: memref<i32>) {
 %0 = arith.addi %a, %a : i32
 memref.store %a, %m[] : memref<i32>
 return }
"#,
        &expect![[r#"
            module {
              func.func private @callee(%arg0: i32) -> i32 {
                %0 = arith.addi %arg0, %arg0 : i32
                return %0 : i32
              }
              func.func @caller(%arg0: i32) -> i32 {
                %0 = call @callee(%arg0) : (i32) -> i32
                return %0 : i32
              }
              func.func private @rec() {
                call @rec() : () -> ()
                return
              }
              func.func @rc(%arg0: i32) -> i32 {
                call @rec() : () -> ()
                return %arg0 : i32
              }
              func.func @acyc(%arg0: i1, %arg1: memref<i32>) {
                %0 = arith.constant 1 : i32
                scf.if %arg0 {
                  memref.store %0, %arg1[] : memref<i32>
                } else {
                }
                return
              }
              func.func @whl(%arg0: i32, %arg1: i32, %arg2: i1) -> i32 {
                %0 = scf.while (%arg3 = %arg0) : (i32) -> i32 {
                  %1 = "test.cond"(%arg3) : (i32) -> i1
                  scf.condition(%1) %arg3 : i32
                } do {
                ^bb0(%arg3: i32):
                  scf.yield %arg3 : i32
                }
                return %0 : i32
              }
              func.func @forl(%arg0: i32, %arg1: i32, %arg2: index) -> i32 {
                %0 = arith.constant 0 : index
                %1 = arith.constant 1 : index
                %2 = scf.for %arg3 = %0 to %arg2 step %1 iter_args(%arg4 = %arg0) -> (i32) {
                  %3 = arith.addi %arg4, %arg0 : i32
                  scf.yield %3 : i32
                }
                return %2 : i32
              }
              func.func private @attrs(%arg0: i32 {test.x}) -> (i32 {test.s}) {
                return %arg0 : i32
              }
              func.func @cattrs(%arg0: i32) -> i32 {
                %0 = call @attrs(%arg0) : (i32) -> i32
                return %0 : i32
              }
              func.func @blk(%arg0: i1, %arg1: i32, %arg2: memref<i32>) {
                memref.store %arg1, %arg2[] : memref<i32>
                return
              }
            }
        "#]],
    );
}

#[test]
fn unused_arguments_of_nested_blocks_are_removed() {
    assert_canonicalized(
        r"func.func @main(%p: i64, %m: memref<8xi64>, %c: i1) -> i64 {
  %0 = arith.constant 1 : i8
  %1 = arith.constant 0 : i32
  %2:2 = scf.execute_region -> (i8, i32) {
    cf.cond_br %c, ^a, ^b(%0, %1 : i8, i32)
  ^a:
    cf.br ^b(%0, %1 : i8, i32)
  ^b(%x: i8, %y: i32):
    scf.if %c {
      %3:2 = scf.execute_region -> (i32, i64) {
        %4 = arith.constant 1 : index
        memref.store %p, %m[%4] : memref<8xi64>
        %5 = arith.constant -9223372036854775808 : i64
        cf.br ^d(%y, %5 : i32, i64)
      ^d(%z: i32, %w: i64):
        scf.yield %z, %p : i32, i64
      }
    }
    scf.yield %0, %y : i8, i32
  }
  return %p : i64
}
",
        &expect![[r#"
            module {
              func.func @main(%arg0: i64, %arg1: memref<8xi64>, %arg2: i1) -> i64 {
                %0 = arith.constant 1 : i8
                %1 = arith.constant 0 : i32
                %2:2 = scf.execute_region -> (i8, i32) {
                  cf.cond_br %arg2, ^bb1, ^bb2(%1 : i32)
                ^bb1:
                  cf.br ^bb2(%1 : i32)
                ^bb2(%3: i32):
                  scf.if %arg2 {
                    %4:2 = scf.execute_region -> (i32, i64) {
                      %5 = arith.constant 1 : index
                      memref.store %arg0, %arg1[%5] : memref<8xi64>
                      cf.br ^bb1(%3 : i32)
                    ^bb1(%6: i32):
                      scf.yield %6, %arg0 : i32, i64
                    }
                  }
                  scf.yield %0, %3 : i8, i32
                }
                return %arg0 : i64
              }
            }
        "#]],
    );
}

/// Calls in unreachable blocks are ignored, because the blocks are removed.
#[test]
fn unreachable_calls_do_not_keep_values_alive() {
    assert_canonicalized(
        "func.func private @h(%a: i32) -> i8 {
  %0 = arith.constant -1 : i8
  return %0 : i8
}
func.func @f(%a: i32) {
  return
^bb1:
  %0 = func.call @h(%a) : (i32) -> i8
  return
}
",
        &expect![[r#"
            module {
              func.func private @h() {
                return
              }
              func.func @f(%arg0: i32) {
                return
              }
            }
        "#]],
    );
}
