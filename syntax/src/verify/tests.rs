//! Programs with one structural fault each, and programs that only look faulty.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::Source;

mod foreign;
mod rows;
mod typed;

fn check(text: &str, expected: &Expect) {
    let source = Source::new(text);
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

/// Cycles, joins, nested regions, arguments of other blocks, unreachable code.
#[test]
fn dominance_follows_the_flow() {
    check(
        r#"func.func @f(%c: i1) -> i32 {
  cf.br ^bb1
^bb1:
  %0 = arith.constant 1 : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  return %0 : i32
}
// -----
func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  return %0 : i32
}
// -----
func.func @f(%c: i1) -> i32 {
  cf.br ^bb2
^bb1:
  return %0 : i32
^bb2:
  %0 = arith.constant 1 : i32
  cf.br ^bb1
}
// -----
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    %x = arith.addi %i, %i : index
  }
  %0 = arith.addi %x, %n : index
  return
}
// -----
func.func @f(%x: i1) {
  return
^bb1:
}
// -----
func.func @f(%x: i1) {
  return
^bb1:
  %0 = arith.addi %0, %0 : i1
  cf.br ^bb1
}
// -----
func.func @f(%x: i1) {
  %0 = arith.addi %0, %0 : i1
  return
}
// -----
func.func @f(%c: i1, %a: i32) -> i32 {
  cf.br ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  %w = arith.addi %a, %a : i32
  cf.cond_br %c, ^bb1, ^bb3
^bb3:
  scf.if %c {
    %q = arith.addi %w, %w : i32
    %z = arith.addi %v, %w : i32
  }
  %v = arith.addi %a, %a : i32
  return %w : i32
}
// -----
func.func @f(%c: i1, %a: i32) {
  %f = func.constant @f : (i1, i32) -> ()
  func.call_indirect %f(%c, %a) : (i1, i32) -> ()
  return
}
// -----
func.func @f(%c: i1, %a: i32) {
  %f = func.constant @f : i32
  return
}"#,
        &expect![[r#"
            16 %0: operand %0 does not dominate this use (dominance)
            32 %x: use of undefined value %x (undefined-value)
            36 func.func: block ^bb1 is empty: expected at least a terminator (empty-block)
            49 %0: operand %0 does not dominate this use (dominance)
            63 %v: operand %v does not dominate this use (dominance)
            76 func.constant: refers to 'f' as 'i32', but it is '(i1, i32) -> ()' (function-type)
        "#]],
    );
}

/// Branches to entries, branches amid a block, empty blocks.
#[test]
fn entry_blocks_have_no_predecessors_and_blocks_no_holes() {
    check(
        r#"func.func @f(%c: i1) {
  cf.br ^bb0
^bb0:
  cf.br ^bb0
}
// -----
func.func @f() {
^bb0:
  cf.br ^bb0
}
// -----
func.func @f(%x: i1) {
  cf.cond_br %x, ^bb1, ^bb2(%x : i1)
^bb1:
  return
^bb2:
  return
}
// -----
func.func @f(%x: i1) {
  cf.br ^bb1
  cf.br ^bb1
^bb1:
  return
}"#,
        &expect![[r#"
            7 func.func: the entry block of a region may not have predecessors (branch-to-entry)
            13 ^bb2: passes 1 operands, but ^bb2 has 0 arguments (successor-operands)
            21 cf.br: must be the last operation in the parent block (terminator-not-last)
        "#]],
    );
}

/// A comment that is being begun.
#[test]
fn what_starts_no_op_is_told_of_up_to_its_end() {
    check(
        "func.func @e() {
  return
}

/
",
        &expect![[r#"
            3 

            /: expected an operation (expected-token)
        "#]],
    );
}

/// A body that is being begun, behind another function.
#[test]
fn an_empty_body_is_told_of_at_its_function() {
    check(
        "func.func @e() {
  return
}
func.func @f(%a: i32) {}",
        &expect![[r#"
            4 func.func: empty block: expected at least a terminator (empty-block)
        "#]],
    );
}

/// Results, loop-carried values and the edges of `scf.while`.
#[test]
fn regions_hand_over_what_their_ops_take() {
    check(
        r#"func.func @f(%n: index, %m: index) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (index) {
    scf.yield %a, %i : index, index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %m) -> (i32) {
    scf.yield %i : index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %m) -> (i32) {
    %x = arith.addi %a, %a : i32
  }
  return
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %m : i32
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %m : i32
  } else {
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %c : i1
  } else {
    scf.yield %m : i32
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) {
  scf.if %c -> (i32) {
    scf.yield %m : i32
  } else {
    scf.yield %m, %m : i32, i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i64 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    scf.yield %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %y : i32
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) -> i32 {
  %r = scf.index_switch %a -> i32
  case 1 {
    scf.yield %v : i32
  }
  default {
    scf.yield %a : index
  }
  return %r : i32
}
// -----
func.func @f(%a: index, %v: i32) -> i32 {
  %r = scf.execute_region -> i32 {
    scf.yield %a : index
  }
  return %r : i32
}"#,
        &expect![[r#"
            2 scf.for: the end of region #0 gives 2 values, but the op takes 1 (region-values)
            9 scf.for: the end of region #0 gives 'index' as value #0, but the op takes 'i32' (region-values)
            16 scf.for: the end of region #0 gives 0 values, but the op takes 1 (region-values)
            23 scf.if: must have an else block if defining values (missing-else)
            30 scf.if: the end of region #1 gives 0 values, but the op takes 1 (region-values)
            38 scf.if: the end of region #0 gives 'i1' as value #0, but the op takes 'i32' (region-values)
            47 scf.if: the end of region #1 gives 2 values, but the op takes 1 (region-values)
            56 scf.while: the end of region #0 gives 'i32' as value #0, but region #1 takes 'i64' (region-values)
            67 scf.while: the end of region #0 gives 'i32' as value #0, but region #1 takes 'i64' (region-values)
            78 scf.while: the end of region #1 gives 0 values, but region #0 takes 1 (region-values)
            89 scf.while: expects the 'before' region to terminate with 'scf.condition' (wrong-terminator)
            99 scf.index_switch: the end of region #1 gives 'index' as value #0, but the op takes 'i32' (region-values)
            110 scf.execute_region: the end of region #0 gives 'index' as value #0, but the op takes 'i32' (region-values)
        "#]],
    );
}

/// One block, at least one block, no duplicate cases.
#[test]
fn regions_have_the_blocks_they_need() {
    check(
        r#"func.func @f(%c: i1) {
  scf.if %c {
  ^bb0:
    scf.yield
  ^bb1:
    scf.yield
  }
  return
}
// -----
func.func @f(%c: i1) {
  scf.if %c {
    cf.br ^bb1
  ^bb1:
    scf.yield
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.index_switch %a
  case 1 {
    scf.yield
  }
  case 1 {
    scf.yield
  }
  default {
    scf.yield
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.index_switch %a
  case 1 {
  }
  default {
  }
  return
}
// -----
func.func @f(%a: index) {
  scf.execute_region {
  }
  return
}
// -----
func.func @f(%a: index) {
  scf.execute_region {
    %0 = arith.addi %a, %a : index
  }
  return
}
// -----
func.func @f(%c: i1, %n: index) {
  "scf.if"(%c) ({
  }, {
  }) : (i1) -> ()
  return
}
// -----
func.func @f(%c: i1, %n: index) {
  "scf.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    "foo.end"() : () -> ()
  }) : (index, index, index) -> ()
  return
}"#,
        &expect![[r#"
            2 scf.if: expects region #0 to have 0 or 1 blocks (several-blocks)
            12 scf.if: expects region #0 to have 0 or 1 blocks (several-blocks)
            21 scf.index_switch: has duplicate case value: 1 (duplicate-case)
            35 scf.index_switch: region #0 needs a block (no-block)
            44 scf.execute_region: region needs to have at least one block (no-block)
            51 arith.addi: block with no terminator, has `arith.addi` (missing-terminator)
            57 "scf.if": region #0 needs a block (no-block)
            64 "scf.for": expects regions to end with 'scf.yield', found 'foo.end' (wrong-terminator)
        "#]],
    );
}

/// `scf.parallel` and `scf.reduce`.
#[test]
fn reductions_agree_with_their_loop() {
    check(
        r#"func.func @f(%a: index, %v: i32) {
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    scf.reduce
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      %s = arith.addi %x, %y : i32
      scf.reduce.return %s : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i64):
      scf.reduce.return %x : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %a : index
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %x : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i64) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i64 {
    %w = arith.constant 1 : i32
    scf.reduce(%w : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %x : i32
    }
  }
  return
}"#,
        &expect![[r#"
            21 scf.reduce: expected two block arguments with type 'i32' in reduction region #0 (entry-arguments)
            33 scf.reduce.return: must have type 'i32' (the type of the reduction inputs), not 'index' (operand-type)
            40 scf.parallel: expects number of results: 1 to be the same as number of reductions: 0 (region-values)
            46 scf.parallel: expects number of results: 0 to be the same as number of reductions: 1 (region-values)
            58 scf.reduce: operand #0 has type 'i32', but the result of the loop is 'i64' (operand-type)
        "#]],
    );
}

/// Calls, constants, tables, places of symbols.
#[test]
fn calls_and_references_agree_with_functions() {
    check(
        r#"func.func private @g(i32) -> i64
func.func @f(%a: i32) {
  call @g(%a) : (i32) -> ()
  return
}
// -----
func.func private @g(i32) -> i64
func.func @f(%a: i64) {
  call @g(%a) : (i64) -> i64
  return
}
// -----
func.func private @g(i32) -> i64
func.func @f(%a: i64) {
  %0 = constant @g : (i32) -> i64
  %1 = constant @g : (i64) -> i64
  return
}
// -----
func.func @f(%a: i64) {
  %0 = constant @g : (i32) -> i64
  return
}
// -----
module @m {
  func.func @g() {
    return
  }
}
func.func @f() {
  call @g() : () -> ()
  return
}
// -----
func.func @g() {
  return
}
module @m {
  func.func @f() {
    call @g() : () -> ()
    return
  }
}
// -----
module @m {
  func.func @g() {
    return
  }
}
func.func @f() {
  call @m::@g() : () -> ()
  return
}
// -----
module @f {
}
func.func @f() {
  return
}
// -----
func.func @f() {
  return
}
func.func @f(%a: i32) {
  return
}
// -----
func.func @f(%a: i32) {
  func.func @g() {
    return
  }
  return
}
// -----
func.func @f(%a: i32) {
  module {
  }
  return
}"#,
        &expect![[r#"
            3 call: has 0 results, but 'g' gives 1 (call-results)
            9 %a: expects 'i32', but got 'i64' (call-operands)
            16 constant: refers to 'g' as '(i64) -> i64', but it is '(i32) -> i64' (function-type)
            51 @g: expected the name of a symbol in reach, no path (invalid-attribute)
            57 @f: redefinition of symbol named 'f' (redefined-symbol)
            64 @f: redefinition of symbol named 'f' (redefined-symbol)
            69 func.func: symbol's parent must have the SymbolTable trait (misplaced-symbol)
            76 module: custom op 'module' is unknown (unknown-op)
        "#]],
    );
}

/// Operands of the cases, types of the flag.
#[test]
fn switches_pass_what_blocks_take() {
    check(
        r#"func.func @f(%x: i32) {
  cf.switch %x : i32, [
    default: ^bb1(%x : i32),
    1: ^bb2,
    2: ^bb1(%x : i32)
  ]
^bb1(%a: i32):
  return
^bb2:
  return
}
// -----
func.func @f(%x: i32) {
  cf.switch %x : i32, [
    default: ^bb1(%x : i32),
    1: ^bb1
  ]
^bb1(%a: i32):
  return
}
// -----
func.func @f(%x: i64) {
  cf.switch %x : i64, [
    default: ^bb1(%x : i64)
  ]
^bb1(%a: i32):
  return
}
// -----
func.func @f(%x: f32) {
  cf.switch %x : f32, [
    default: ^bb1
  ]
^bb1:
  return
}
// -----
func.func @f(%x: index) {
  cf.switch %x : index, [
    default: ^bb1,
    1: ^bb1
  ]
^bb1:
  return
}
// -----
func.func @f(%x: i32) {
  cf.cond_br %x, ^bb1, ^bb1
^bb1:
  return
}"#,
        &expect![[r#"
            14 cf.switch: passes 0 operands, but ^bb1 has 1 arguments (successor-operands)
            23 cf.switch: passes 'i64', but the argument of ^bb1 is 'i32' (successor-operands)
            31 %x: operand #0 must be integer, but got 'f32' (operand-type)
            39 %x: operand #0 must be integer, but got 'index' (operand-type)
            48 %x: this value has type i32, but i1 is expected here (type-clash)
        "#]],
    );
}

/// Terminators of other ops; functions inside unknown ops.
#[test]
fn ops_stand_where_they_belong() {
    check(
        r#"func.func @f(%c: i1) {
  scf.if %c {
    return
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  affine.yield
}
// -----
func.func @f(%n: index, %c: i1) {
  scf.if %c {
    affine.yield
  }
  return
}
// -----
func.func @f(%n: index, %a: i32) {
  scf.yield
}
// -----
func.func @f(%n: index, %c: i1) {
  scf.condition(%c)
}
// -----
func.func @f(%n: index, %c: i1) {
  scf.reduce.return %c : i1
}
// -----
func.func @f(%n: index, %c: i1) {
  scf.if %c {
    scf.for %i = %n to %n step %n {
      func.return
    }
  }
  return
}
// -----
func.func @f(%x: i1) {
  "foo.bar"() ({
    %0 = arith.constant true
  }) : () -> ()
  return
}
// -----
func.func @f(%x: i1) {
  "foo.bar"() ({
    func.func @g() -> i32 {
      return
    }
  }) : () -> ()
  return
}
// -----
"foo.bar"() ({
    func.func @g() -> i32 {
      return
    }
}) : () -> ()"#,
        &expect![[r#"
            3 return: custom op 'return' is unknown (unknown-op)
            9 affine.yield: expects parent op 'affine.for', 'affine.if', 'affine.parallel' (misplaced-op)
            14 affine.yield: expects parent op 'affine.for', 'affine.if', 'affine.parallel' (misplaced-op)
            20 scf.yield: expects parent op 'scf.execute_region', 'scf.for', 'scf.if', 'scf.index_switch', 'scf.while' (misplaced-op)
            24 scf.condition: expects parent op 'scf.while' (misplaced-op)
            28 scf.reduce.return: expects parent op 'scf.reduce' (misplaced-op)
            34 func.return: expects parent op 'func.func' (misplaced-op)
            50 return: has 0 operands, but the function returns 1 (wrong-count)
            58 return: has 0 operands, but the function returns 1 (wrong-count)
        "#]],
    );
}
