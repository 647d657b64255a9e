//! Tests of programs with one structural error each, and of programs that only look wrong.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::Source;

mod buffers;
mod foreign;
mod implicit;
mod memref;
mod regions;
mod rows;
mod secret;
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
fn reports_missing_terminators_and_wrong_operands() {
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
fn reports_values_from_outside_and_duplicate_symbols() {
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
fn reports_branches_to_entries_and_inside_blocks() {
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

/// An incomplete comment.
#[test]
fn reports_text_where_no_op_starts() {
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

/// An incomplete body after another function.
#[test]
fn reports_empty_bodies_at_their_functions() {
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

/// Calls, constants, symbol tables, misplaced symbols.
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
            51 @g: expected a symbol name, not a nested reference (invalid-attribute)
            57 @f: redefinition of symbol named 'f' (redefined-symbol)
            64 @f: redefinition of symbol named 'f' (redefined-symbol)
            69 func.func: symbol's parent must have the SymbolTable trait (misplaced-symbol)
            76 module: custom op 'module' is unknown (unknown-op)
        "#]],
    );
}

/// Operands of the cases, types of the condition.
#[test]
fn reports_wrong_operands_of_switches() {
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
fn reports_misplaced_ops() {
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

#[test]
fn accepts_symbols_with_quoted_keys() {
    check(
        "\"builtin.module\"() ({
  \"memref.global\"() {\"sym_name\" = \"table\", \"type\" = memref<2xf64>, \"initial_value\" = dense<[0.5, 1.0]> : tensor<2xf64>} : () -> ()
  \"func.func\"() <{\"sym_name\" = \"c\", function_type = () -> (), \"sym_visibility\" = \"private\"}> ({}) : () -> ()
  func.func @main() -> memref<2xf64> {
    func.call @c() : () -> ()
    %0 = memref.get_global @table : memref<2xf64>
    func.return %0 : memref<2xf64>
  }
}) : () -> ()
",
        &expect![[r""]],
    );
}

#[test]
fn symbols_are_looked_up_in_tables() {
    check(
        "func.func private @c()
func.func @f() {
  \"t.x\"() {sym_name = \"c\"} : () -> ()
  call @c() : () -> ()
  return
}
",
        &expect![[r""]],
    );
}
