//! Tests of the checks of ops in both forms against their rows.

use expect_test::expect;

use super::check;

#[test]
fn reports_wrong_attributes_and_segment_sizes() {
    check(
        r#"func.func private @g()
func.func @f(%m: memref<4xf32>, %i: index, %c: i1) {
  "func.call"() <{callee = 1 : i32}> : () -> ()
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : i32, upperBoundMap = affine_map<() -> (4)>}> ({
  ^bb0(%k: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  %0 = "affine.apply"(%i) <{map = affine_set<(d0) : (d0 >= 0)>}> : (index) -> index
  %1 = "memref.alloc"(%i) <{operandSegmentSizes = array<i32: 0, 0>}> : (index) -> memref<?xf32>
  %2 = "memref.alloc"(%i) <{operandSegmentSizes = array<i32: 1>}> : (index) -> memref<?xf32>
  %3 = "memref.alloc"(%i) <{operandSegmentSizes = array<i64: 1, 0>}> : (index) -> memref<?xf32>
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (i1) -> ()
^bb1:
  return
}"#,
        &expect![[r#"
            3 "func.call": attribute 'callee' must be the name of a symbol, such as `@name`, but is '1 : i32' (attribute-value)
            4 "affine.for": attribute 'step' must be an integer of type `index`, but is '1 : i32' (attribute-value)
            8 "affine.apply": attribute 'map' must be an affine map, but is 'affine_set<(d0) : (d0 >= 0)>' (attribute-value)
            9 "memref.alloc": 'operandSegmentSizes' must add up to the number of operands, which is 1 (attribute-value)
            10 "memref.alloc": 'operandSegmentSizes' must have 2 elements, but has 1 (attribute-value)
            11 "memref.alloc": attribute 'operandSegmentSizes' must be a list such as `array<i32: 1>`, but is 'array<i64: 1, 0>' (attribute-value)
            12 "cf.cond_br": has 0 operands in group #0 (wrong-count)
        "#]],
    );
}

#[test]
fn reports_wrong_terminators() {
    check(
        r#"func.func @f(%c: i1, %i: index) {
  scf.for %k = %i to %i step %i {
    cf.br ^bb1
  ^bb1:
    scf.yield
  }
  scf.if %c {
    affine.yield
  }
  return
}
func.func @g(%c: i1) {
  "scf.if"(%c) ({
    "test.end"() : () -> ()
  }, {
  }) : (i1) -> ()
  return
}"#,
        &expect![[r#"
            2 scf.for: expects region #0 to have 0 or 1 blocks (several-blocks)
            8 affine.yield: expects parent op 'affine.for', 'affine.if', 'affine.parallel' (misplaced-op)
            13 "scf.if": expects regions to end with 'scf.yield', found 'test.end' (wrong-terminator)
        "#]],
    );
}

#[test]
fn reports_syntax_errors_of_memref_ops() {
    check(
        "func.func @f(%m: memref<4xf32>, %i: index, %x: f32, %t: tensor<4xf32>) {
  %0 = memref.load %m[%i : memref<4xf32>
  memref.store %x, %m %i] : memref<4xf32>
  memref.dealloc %t : tensor<4xf32>
  %1 = memref.load %m[%x] : memref<4xf32>
  return
}",
        &expect![[r#"
            2 : expected ']' or ',' (expected-token)
            3 : expected '[' (expected-token)
            4 %t: operand #0 must be a memref, but got 'tensor<4xf32>' (operand-type)
            5 %x: this value has type f32, but index is expected here (type-clash)
        "#]],
    );
}
