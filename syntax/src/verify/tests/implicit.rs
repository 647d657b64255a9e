//! Tests of facts that are implicit or stated twice, in forms that are rarely written by hand.

use expect_test::expect;

use super::check;

#[test]
fn missing_segment_sizes_are_zero() {
    check(
        r#"func.func @f(%i: index, %c: i1) {
  %0 = "memref.alloc"() : () -> memref<4xf32>
  %1 = "memref.alloca"() <{OperandSegmentSizes = 1}> : () -> memref<4xf32>
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, upperBoundMap = affine_map<() -> (4)>, step = 1 : index}> ({
  ^bb0(%k: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  %2 = "memref.alloc"() : () -> memref<?xf32>
  %3 = "memref.alloc"(%i) : (index) -> memref<?xf32>
  "cf.cond_br"(%c)[^bb1, ^bb1] : (i1) -> ()
^bb1:
  return
}"#,
        &expect![[r#"
            8 "memref.alloc": has 0 sizes for 1 dynamic dimensions (wrong-count)
            9 "memref.alloc": requires attribute 'operandSegmentSizes' (missing-attribute)
            10 "cf.cond_br": requires attribute 'operandSegmentSizes' (missing-attribute)
        "#]],
    );
}

#[test]
fn rejects_properties_other_than_dictionaries() {
    check(
        r#"func.func @f(%i: i32) {
  %0 = "arith.addi"(%i, %i) <{}> : (i32, i32) -> i32
  %1 = "foo.addi"(%i, %i) <1> : (i32, i32) -> i32
  %2 = "arith.addi"(%i, %i) <#later> : (i32, i32) -> i32
  %3 = "arith.addi"(%i, %i) <> : (i32, i32) -> i32
  %4 = "foo.addi"(%i, %i) <> : (i32, i32) -> i32
  %5 = "arith.addi"(%i, %i) <1> : (i32, i32) -> i32
  %6 = "arith.constant"() <{value = strided<[1]>}> : () -> index
  return
}
"func.func"() <{function_type = f32, sym_name = "g", sym_visibility = "private"}> ({
}) : () -> ()"#,
        &expect![[r#"
            4 #later: use of undefined alias #later (undefined-alias)
            5 : expected an attribute value (expected-token)
            6 : expected an attribute value (expected-token)
            7 1: the properties of an op are a dictionary, such as <{a = 1}> (invalid-attribute)
            8 "arith.constant": attribute 'value' must be a number, a string or elements, but is 'strided<[1]>' (attribute-value)
            11 "func.func": attribute 'function_type' must be a function type, but is 'f32' (attribute-value)
        "#]],
    );
}

#[test]
fn reports_wrong_numbers_of_map_operands() {
    check(
        r#"#map = affine_map<(d0)[s0] -> (d0)>
func.func @f(%i: index, %m: memref<4xf32>, %x: f32) {
  %0 = "affine.apply"(%i, %i) <{map = #map}> : (index, index) -> index
  %1 = "affine.apply"(%i) <{map = #map}> : (index) -> index
  %2 = "affine.min"(%i, %i, %i) <{map = #map}> : (index, index, index) -> index
  %3 = "affine.load"(%m, %i) <{map = #map}> : (memref<4xf32>, index) -> f32
  "affine.store"(%x, %m) <{map = #map}> : (f32, memref<4xf32>) -> ()
  return
}"#,
        &expect![[r#"
            4 "affine.apply": 1 operands for a map of 1 dimensions and 1 symbols (wrong-count)
            5 "affine.min": 3 operands for a map of 1 dimensions and 1 symbols (wrong-count)
            6 "affine.load": 1 operands for a map of 1 dimensions and 1 symbols (wrong-count)
            7 "affine.store": 0 operands for a map of 1 dimensions and 1 symbols (wrong-count)
        "#]],
    );
}

#[test]
fn accepts_bounds_without_results() {
    check(
        "func.func @f(%n: index) {
  affine.for %i = max affine_map<()[s0] -> ()>()[%n] to min affine_map<() -> ()>() {
  }
  affine.for %i = affine_map<() -> ()>() to 4 {
  }
  affine.for %i = -0 to 4 {
  }
  affine.for %i = 0 to 4 step -0 {
  }
  affine.for %i = 0 to affine_map<() -> (4, 8)>() {
  }
  return
}",
        &expect![[r#"
            6 -: integer constant out of range for its type (literal-type)
            8 -: integer constant out of range for its type (literal-type)
            10 affine_map: a bound with several results needs 'min' (invalid-bound)
        "#]],
    );
}

#[test]
fn accepts_boolean_bounds_and_rejects_string_constants() {
    check(
        "func.func @f() {
  affine.for %i = true to 4 {
  }
  affine.for %i = false to true {
  }
  affine.for %i = 0 to 4 step true {
  }
  %0 = arith.constant \"x\" : i32
  %1 = \"arith.constant\"() {value = \"x\" : i32} : () -> i32
  return
}",
        &expect![[r#"
            6 true: expected step to be representable as a positive signed integer (invalid-step)
            8 arith.constant: the value of a constant is an integer, a float or elements (invalid-attribute)
            9 "arith.constant": the value of a constant is an integer, a float or elements (invalid-attribute)
        "#]],
    );
}

#[test]
fn accepts_the_number_0_of_label_arguments() {
    check(
        r#"func.func @f(%x: i32) -> i32 {
  cf.br ^bb1(%x : i32)
^bb1(%y#0: i32):
  cf.br ^bb2(%y#0, %y : i32, i32)
^bb2(%z#0: i32, %z#0: i32):
  return %z : i32
}
func.func @h(%x: i32) -> i32 {
  cf.br ^bb1(%x : i32)
^bb1(%y#1: i32):
  return %y : i32
}
func.func @i() {
  "foo.a"() () : () -> ()
  return
}
func.func private @g(%x#0: i32)"#,
        &expect![[r#"
            5 %z: redefinition of value %z (redefined-value)
            14 : expected a region (expected-token)
            17 #0: result number not allowed in argument list (invalid-result-number)
        "#]],
    );
}

#[test]
fn rejects_shapes_that_end_with_a_comma() {
    check(
        "func.func private @a(tensor<4xf32,>)
func.func private @b(memref<4xf32,>)
func.func private @c(memref<*xf32,>)
func.func private @d(vector<4xf32,>)
func.func @e() {
  affine.
  return
}",
        &expect![[r#"
            2 : expected an attribute (expected-token)
            3 : expected an attribute (expected-token)
            4 : expected an attribute (expected-token)
            6 affine.: unknown op `affine.`; did you mean `affine.if`? (unknown-op)
        "#]],
    );
}

#[test]
fn vectors_and_buffers_are_accessed_by_an_index_for_each_dimension() {
    check(
        "func.func @f(%m: memref<8x8xi32>, %v: vector<4xi32>, %x: i32, %i: index) {
  %0 = vector.load %m[%i, %i] : memref<8x8xi32>, vector<4xi32>
  %1 = vector.load %m[%i] : memref<8x8xi32>, vector<4xi32>
  vector.store %v, %m[%i, %i, %i] : memref<8x8xi32>, vector<4xi32>
  %2 = memref.atomic_rmw addi %x, %m[%i, %i] : (i32, memref<8x8xi32>) -> i32
  %3 = memref.atomic_rmw addi %x, %m[%i, %i] : (i32) -> i32
  %4 = memref.subview %m[1, 2] [1, 4] [1, 1] : memref<8x8xi32> to memref<4xi32, strided<[1], offset: 10>>
  %5 = memref.subview %m[1, 2] [1, 4] [1, 1] : memref<8x8xi32> to memref<4xi32, strided<[1], offset: 11>>
  return
}",
        &expect![[r#"
            3 vector.load: has 1 indices for 2 dimensions (wrong-count)
            4 vector.store: has 3 indices for 2 dimensions (wrong-count)
            6 (: expected the types of the value and of the memref, and one result (expected-token)
            8 memref.subview: the result starts at offset 10, but its type says 11 (result-type)
        "#]],
    );
}
