//! Tests of the rules about shapes of memrefs and the attributes that describe them.

use super::check;
use expect_test::expect;

#[test]
fn reports_wrong_groups_of_dimensions() {
    check(
        "func.func @f(%m: memref<4x4xf32>, %n: memref<16xf32>, %d: memref<?x4xf32>, %o: memref<f32>, %s: index, %v: memref<?xf32>) {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %1 = memref.collapse_shape %d [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  %2 = memref.expand_shape %n [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  %3 = memref.expand_shape %o [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  %10 = memref.collapse_shape %m [[0, 0]] : memref<4x4xf32> into memref<16xf32>
  %11 = memref.collapse_shape %m [[0], [2]] : memref<4x4xf32> into memref<4x4xf32>
  %12 = memref.collapse_shape %m [[0]] : memref<4x4xf32> into memref<16xf32>
  %13 = memref.collapse_shape %m [[0, 1], [2]] : memref<4x4xf32> into memref<16xf32>
  %14 = memref.collapse_shape %d [[0, 1]] : memref<?x4xf32> into memref<16xf32>
  %15 = memref.expand_shape %n [[0, 1]] output_shape [4, 5] : memref<16xf32> into memref<4x4xf32>
  %16 = memref.expand_shape %n [[0, 1]] output_shape [4] : memref<16xf32> into memref<4x4xf32>
  %17 = memref.expand_shape %n [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x5xf32>
  %18 = memref.expand_shape %o [] output_shape [2] : memref<f32> into memref<2xf32>
  %19 = memref.expand_shape %m [[0, 1]] output_shape [16] : memref<4x4xf32> into memref<16xf32>
  %20 = memref.expand_shape %v [[0, 1]] output_shape [%s, 4] : memref<?xf32> into memref<?x?xf32>
  %21 = memref.expand_shape %v [[0, 1]] output_shape [%s, %s] : memref<?xf32> into memref<?x4xf32>
  return
}
",
        &expect![[r#"
            6 memref.collapse_shape: the next dimension of a group must be 1, not 0 (attribute-value)
            7 memref.collapse_shape: the next dimension of a group must be 1, not 2 (attribute-value)
            8 memref.collapse_shape: a group of dimensions has 4 elements, but its dimension has 16 (result-type)
            9 memref.collapse_shape: has 2 groups of dimensions for 1 (attribute-value)
            10 memref.collapse_shape: a dimension must be dynamic if and only if one of its group is (result-type)
            11 memref.expand_shape: size 1 of the output shape is 5, but the type has another size (attribute-value)
            12 memref.expand_shape: the output shape has 1 of 2 sizes (attribute-value)
            13 memref.expand_shape: a group of dimensions has 20 elements, but its dimension has 16 (result-type)
            14 memref.expand_shape: a memref without dimensions has one element (result-type)
            15 memref.expand_shape: the rank goes from 2 to 1, which is not an expansion (result-type)
            17 memref.expand_shape: size 1 of the output shape is dynamic, but the type has another size (attribute-value)
        "#]],
    );
}

#[test]
fn reports_negative_offsets_and_wrong_alignments() {
    check(
        "func.func @f(%m: memref<4x4xf32>, %i: index) {
  %0 = memref.subview %m[%i, 0] [1, 1] [-1, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[-4, 1], offset: ?>>
  %1 = memref.subview %m[-1, 0] [1, 1] [1, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[4, 1], offset: -4>>
  %2 = memref.subview %m[1, 0] [-1, 1] [1, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[4, 1], offset: 4>>
  memref.assume_alignment %m, 8 : memref<4x4xf32>
  memref.assume_alignment %m, 0 : memref<4x4xf32>
  memref.assume_alignment %m, -1 : memref<4x4xf32>
  memref.assume_alignment %m, 3 : memref<4x4xf32>
  return
}
",
        &expect![[r#"
            3 memref.subview: an offset must not be negative, but is -1 (attribute-value)
            4 memref.subview: a size must not be negative, but is -1 (attribute-value)
            6 memref.assume_alignment: 'alignment' must be a power of two, but is 0 (attribute-value)
            7 memref.assume_alignment: 'alignment' must be a power of two, but is -1 (attribute-value)
            8 memref.assume_alignment: 'alignment' must be a power of two, but is 3 (attribute-value)
        "#]],
    );
}

#[test]
fn reports_wrong_numbers_of_indices_and_sizes() {
    check(
        "func.func @f(%m: memref<4x?xf32>, %o: memref<f32>, %i: index, %x: f32) {
  %0 = memref.load %m[%i, %i] : memref<4x?xf32>
  %1 = memref.load %o[] : memref<f32>
  %2 = memref.alloc(%i) : memref<4x?xf32>
  %3 = memref.load %m[%i] : memref<4x?xf32>
  memref.store %x, %m[] : memref<4x?xf32>
  %4 = memref.alloc() : memref<4x?xf32>
  %5 = memref.alloca(%i, %i) : memref<4x?xf32>
  return
}
",
        &expect![[r#"
            5 memref.load: has 1 indices for 2 dimensions (wrong-count)
            6 memref.store: has 0 indices for 2 dimensions (wrong-count)
            7 memref.alloc: has 0 sizes for 1 dynamic dimensions (wrong-count)
            8 memref.alloca: has 2 sizes for 1 dynamic dimensions (wrong-count)
        "#]],
    );
}

#[test]
fn rejects_minus_zero_and_large_indices() {
    check(
        "%0 = arith.constant 9223372036854775807 : index
%1 = arith.constant -9223372036854775808 : index
%2 = arith.constant 9223372036854775808 : index
%3 = arith.constant dense<0xFFFFFFFFFFFFFFFF> : tensor<1xindex>
%4 = arith.constant -0 : i32
%5 = arith.constant dense<-0> : tensor<1xi32>
%6 = arith.constant -0.0 : f32
module attributes {x.y = array<i64: -0>} {}
",
        &expect![[r#"
            3 9223372036854775808: integer constant out of range for its type (literal-type)
            4 0xFFFFFFFFFFFFFFFF: integer constant out of range for its type (literal-type)
            5 0: integer constant out of range for its type (literal-type)
            6 0: integer constant out of range for its type (literal-type)
            8 0: integer constant out of range for its type (literal-type)
        "#]],
    );
}

#[test]
fn reports_wrong_slices() {
    check(
        "func.func @f(%m: memref<4x4xf32>, %i: index) {
  %0 = memref.subview %m[0, 0] [2, 1] [1, 1] : memref<4x4xf32> to memref<2xf32, strided<[4]>>
  %1 = memref.subview %m[0, 0] [%i, 2] [1, 1] : memref<4x4xf32> to memref<?x2xf32, strided<[4, 1]>>
  %2 = memref.reinterpret_cast %m to offset: [0], sizes: [%i, 2], strides: [2, 1] : memref<4x4xf32> to memref<?x2xf32>
  %10 = memref.subview %m[0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1]>>
  %11 = memref.subview %m[0, 0] [2, 2] [1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1]>>
  %12 = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x3xf32, strided<[4, 1]>>
  %13 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [2, 1] : memref<4x4xf32> to memref<2x2xf32>
  %14 = memref.reinterpret_cast %m to offset: [0, 0], sizes: [2], strides: [1] : memref<4x4xf32> to memref<2xf32>
  %15 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4x4xf32> to memref<3xf32>
  %3 = memref.subview %m[%i, 1] [2, 2] [1, %i] : memref<4x4xf32> to memref<2x2xf32, strided<[4, ?], offset: ?>>
  %4 = memref.subview %0[1] [1] [3] : memref<2xf32, strided<[4]>> to memref<1xf32, strided<[12], offset: 4>>
  %17 = memref.subview %m[1, 2] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: 5>>
  %18 = memref.subview %m[1, 2] [2, 2] [2, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: 6>>
  %19 = memref.subview %m[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32>
  %16 = memref.subview %m[0, 0] [%i, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1]>>
  return
}
",
        &expect![[r#"
            5 memref.subview: has 1 offsets, but needs 2 (wrong-count)
            6 memref.subview: has 1 strides, but needs 2 (wrong-count)
            7 memref.subview: size 1 is 2, but the result has another size (result-type)
            8 memref.reinterpret_cast: has 1 sizes, but needs 2 (wrong-count)
            9 memref.reinterpret_cast: has 2 offsets, but needs 1 (wrong-count)
            10 memref.reinterpret_cast: size 0 is 2, but the result has another size (result-type)
            13 memref.subview: the result starts at offset 6, but its type says 5 (result-type)
            14 memref.subview: stride 0 of the result is 8, but its type says 4 (result-type)
            15 memref.subview: the result starts at offset 4, but its type says 0 (result-type)
            16 memref.subview: size 0 is dynamic, but the result has another size (result-type)
        "#]],
    );
}

/// `mlir-opt` rejects each function except the first.
#[test]
fn reports_wrong_layouts_of_views() {
    check(
        "func.func @f(%a: memref<4x8xf32>, %d: memref<?x?xf32>, %p: memref<?x4xf32, strided<[8, 1]>>, %g: memref<2x3x4xf32, strided<[12, 4, 1], offset: 5>>, %n: index) {
  %0 = memref.transpose %d (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  %1 = memref.collapse_shape %g [[0], [1, 2]] : memref<2x3x4xf32, strided<[12, 4, 1], offset: 5>> into memref<2x12xf32, strided<[12, 1], offset: 5>>
  %2 = memref.expand_shape %1 [[0, 1], [2]] output_shape [2, 1, 12] : memref<2x12xf32, strided<[12, 1], offset: 5>> into memref<2x1x12xf32, strided<[12, 12, 1], offset: 5>>
  %3 = memref.subview %d[0, 0] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32>
  %4 = memref.subview %d[%n, 0] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32, strided<[1], offset: ?>>
  %5 = memref.subview %d[0, %n] [4, 1] [1, 2] : memref<?x?xf32> to memref<4xf32, strided<[?], offset: ?>>
  return
}
func.func @x1(%a: memref<4x8xf32>) {
  %10 = memref.transpose %a (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32>
  return
}
func.func @x2(%d: memref<?x?xf32>) {
  %11 = memref.transpose %d (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[3, ?]>>
  return
}
func.func @x3(%p: memref<?x4xf32, strided<[8, 1]>>) {
  %12 = memref.collapse_shape %p [[0, 1]] : memref<?x4xf32, strided<[8, 1]>> into memref<?xf32>
  return
}
func.func @x4(%g: memref<2x3x4xf32, strided<[12, 4, 1], offset: 5>>) {
  %13 = memref.collapse_shape %g [[0], [1, 2]] : memref<2x3x4xf32, strided<[12, 4, 1], offset: 5>> into memref<2x12xf32>
  return
}
func.func @x5(%a: memref<4x8xf32>) {
  %14 = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 8] : memref<4x8xf32> into memref<2x2x8xf32, strided<[8, 8, 1]>>
  return
}
func.func @x6(%d: memref<?x?xf32>, %n: index) {
  %15 = memref.subview %d[%n, 0] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32>
  return
}
func.func @x7(%d: memref<?x?xf32>, %n: index) {
  %16 = memref.subview %d[0, 0] [4, 1] [1, 1] : memref<?x?xf32> to memref<4xf32>
  return
}
func.func @x8(%d: memref<?x?xf32>, %n: index) {
  %17 = memref.subview %d[0, 0] [4, 4] [1, 1] : memref<?x?xf32> to memref<4x4xf32>
  return
}
func.func @x9(%b: memref<40xi8, strided<[2]>>, %n: index) {
  %18 = memref.view %b[%n][] : memref<40xi8, strided<[2]>> to memref<4xf32>
  return
}
func.func @x10(%m: memref<4xf32>, %s: memref<1xindex>) {
  %c = memref.reshape %m(%s) : (memref<4xf32>, memref<1xindex>) -> memref<?xf32, strided<[?], offset: ?>>
  return
}",
        &expect![[r#"
            11 memref.transpose: stride 0 of the result is 1, but its type says 4 (result-type)
            15 memref.transpose: stride 0 of the result is 1, but its type says 3 (result-type)
            19 memref.collapse_shape: dimensions 0 and 1 are not contiguous (result-type)
            23 memref.collapse_shape: the result starts at offset 5, but its type says 0 (result-type)
            27 memref.expand_shape: stride 0 of the result is 16, but its type says 8 (result-type)
            31 memref.subview: the result starts at offset ?, but its type says 0 (result-type)
            35 memref.subview: stride 0 of the result is ?, but its type says 1 (result-type)
            39 memref.subview: stride 0 of the result is ?, but its type says 4 (result-type)
            43 memref.view: 'memref<40xi8, strided<[2]>>' must not have a layout here (types-differ)
            47 memref.reshape: 'memref<?xf32, strided<[?], offset: ?>>' must not have a layout here (types-differ)
        "#]],
    );
}
