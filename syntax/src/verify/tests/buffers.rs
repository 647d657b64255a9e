//! What types of `memref` ops say of one another.

use expect_test::expect;

use super::check;

#[test]
fn casts_and_copies_keep_elements_and_shapes() {
    check(
        "func.func @f(%a: memref<4xf32>, %b: memref<?xf32, strided<[?], offset: ?>>, %u: memref<*xf32>, %c: memref<4xf64>) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %1 = memref.cast %b : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[2]>>
  %2 = memref.cast %u : memref<*xf32> to memref<4x4xf32>
  %3 = memref.memory_space_cast %a : memref<4xf32> to memref<4xf32, 1>
  memref.copy %a, %b : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %10 = memref.cast %a : memref<4xf32> to memref<5xf32>
  %11 = memref.cast %a : memref<4xf32> to memref<4xf64>
  %12 = memref.cast %a : memref<4xf32> to memref<4xf32, 1>
  %13 = memref.cast %a : memref<4xf32> to memref<?xf32, strided<[2]>>
  %14 = memref.cast %u : memref<*xf32> to memref<*xf32>
  %15 = memref.memory_space_cast %a : memref<4xf32> to memref<?xf32, 1>
  memref.copy %a, %c : memref<4xf32> to memref<4xf64>
  return
}",
        &expect![[r#"
            7 memref.cast: 'memref<4xf32>' and 'memref<5xf32>' have different shapes (shapes-differ)
            8 memref.cast: the elements are 'f32' here and 'f64' there (element-type)
            9 memref.cast: 'memref<4xf32>' and 'memref<4xf32, 1>' are in different memory spaces (types-differ)
            10 memref.cast: 'memref<4xf32>' and 'memref<?xf32, strided<[2]>>' have different layouts (cast-types)
            11 memref.cast: both memrefs are without a rank (cast-types)
            12 memref.memory_space_cast: 'memref<4xf32>' and 'memref<?xf32, 1>' have different shapes (shapes-differ)
            13 memref.copy: the elements are 'f32' here and 'f64' there (element-type)
        "#]],
    );
}

#[test]
fn parts_of_buffers_are_what_their_types_say() {
    check(
        r#"func.func @f(%a: memref<4x5xf32>, %b: memref<40xi8>, %i: index, %s: memref<2xindex>, %d: memref<?xindex>, %r: memref<2xf32>) {
  %0 = memref.transpose %a (i, j) -> (j, i) : memref<4x5xf32> to memref<5x4xf32, strided<[1, 5]>>
  %1 = memref.view %b[%i][%i] : memref<40xi8> to memref<?xf32>
  %2 = memref.reshape %b(%s) : (memref<40xi8>, memref<2xindex>) -> memref<?x?xi8>
  %3 = memref.reshape %b(%d) : (memref<40xi8>, memref<?xindex>) -> memref<*xi8>
  %4 = memref.subview %a[0, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<5xf32>
  %5 = memref.reinterpret_cast %a to offset: [3], sizes: [4], strides: [1] : memref<4x5xf32> to memref<4xf32, strided<[1], offset: 3>>
  %10 = memref.transpose %a (i, j) -> (j, i) : memref<4x5xf32> to memref<4x5xf32>
  %11 = memref.transpose %a (i, j) -> (j, j) : memref<4x5xf32> to memref<5x4xf32, strided<[1, 5]>>
  %12 = memref.view %a[%i][] : memref<4x5xf32> to memref<4xf32>
  %13 = memref.view %b[%i][] : memref<40xi8> to memref<?xf32>
  %14 = memref.reshape %b(%r) : (memref<40xi8>, memref<2xf32>) -> memref<?x?xi8>
  %15 = memref.reshape %b(%s) : (memref<40xi8>, memref<2xindex>) -> memref<?xi8>
  %16 = memref.reshape %b(%d) : (memref<40xi8>, memref<?xindex>) -> memref<?xi8>
  %17 = memref.subview %a[0, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<4xf32>
  %18 = memref.subview %a[0, 0] [2, 5] [1, 1] : memref<4x5xf32> to memref<2x5xf32, strided<[5, 1]>, 1>
  %19 = memref.reinterpret_cast %a to offset: [3], sizes: [4], strides: [1] : memref<4x5xf32> to memref<4xf32>
  %20 = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [2] : memref<4x5xf32> to memref<4xf32>
  %21 = memref.collapse_shape %a [[0, 1]] : memref<4x5xf32> into memref<20xf64>
  %22:6 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, index, index, index)
  %23:6 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, memref<4xi32>, index, index)
  %24:4 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, index)
  return
}"#,
        &expect![[r#"
            8 memref.transpose: 'memref<4x5xf32>' is not 'memref<4x5xf32>' transposed (result-type)
            9 memref.transpose: the map is no permutation of the dimensions (attribute-value)
            10 memref.view: views a memref of rank 1 of 'i8', not 'memref<4x5xf32>' (operand-type)
            11 memref.view: has 0 sizes for 1 dynamic dimensions (wrong-count)
            12 memref.reshape: the shape must be of integers, but is 'memref<2xf32>' (operand-type)
            13 memref.reshape: the shape has 2 sizes for 1 dimensions (wrong-count)
            14 memref.reshape: a shape of unknown length gives a memref without a rank (result-type)
            15 memref.subview: the result has other sizes than those that are not 1 (result-type)
            16 memref.subview: 'memref<4x5xf32>' and 'memref<2x5xf32, strided<[5, 1]>, 1>' are in different memory spaces (types-differ)
            17 memref.reinterpret_cast: the result starts at offset 3, but its type says otherwise (result-type)
            18 memref.reinterpret_cast: stride 0 of the result is 2, but its type says otherwise (result-type)
            19 memref.collapse_shape: the elements are 'f32' here and 'f64' there (element-type)
            21 "memref.extract_strided_metadata": offset, sizes and strides are 'index', not 'memref<4xi32>' (result-type)
            22 "memref.extract_strided_metadata": gives 3 numbers, but there are 5 of 'memref<4x5xf32>' (result-count)
        "#]],
    );
}

#[test]
fn elements_are_combined_as_they_are() {
    check(
        r#"memref.global "private" @g : memref<4xf32>
memref.global "private" @h : memref<?xf32>
func.func @f(%m: memref<4xi8>, %i: index, %x: i8, %b: index) {
  %0 = memref.atomic_rmw addi %x, %m[%i] : (i8, memref<4xi8>) -> i8
  %1 = memref.get_global @g : memref<4xf32>
  %2 = memref.alloca_scope -> i8 {
    memref.alloca_scope.return %x : i8
  }
  %3 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i8):
    memref.atomic_yield %e : i8
  }
  %10 = memref.atomic_rmw addf %x, %m[%i] : (i8, memref<4xi8>) -> i8
  %11 = memref.atomic_rmw assign %i, %m[%i] : (index, memref<4xi8>) -> i8
  %12 = memref.atomic_rmw addi %x, %m[%i, %i] : (i8, memref<4xi8>) -> i8
  %13 = memref.get_global @g : memref<5xf32>
  %14 = memref.alloca_scope -> i8 {
    memref.alloca_scope.return
  }
  %15 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i16):
    memref.atomic_yield %x : i8
  }
  %16 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i8):
    memref.atomic_yield %i : index
  }
  %17 = memref.alloc()[%b] : memref<4xi8>
  %18 = memref.alloc() {alignment = -8 : i64} : memref<4xi8>
  memref.prefetch %m[%i], read, locality<4>, data : memref<4xi8>
  memref.prefetch %m[], read, locality<3>, data : memref<4xi8>
  return
}"#,
        &expect![[r#"
            2 memref.global: a global is a memref of known sizes, not 'memref<?xf32>' (attribute-value)
            13 memref.atomic_rmw: cannot combine 'i8' in this way (operand-type)
            14 memref.atomic_rmw: combines 'index', but the memref holds 'i8' (element-type)
            15 memref.atomic_rmw: has 2 indices for 1 dimensions (wrong-count)
            16 memref.get_global: the result is 'memref<5xf32>', but the global 'memref<4xf32>' (types-differ)
            17 memref.alloca_scope: the end of region #0 gives 0 values, but the op takes 1 (region-values)
            20 memref.generic_atomic_rmw: the memref gives 'i8' as value #0, but its body takes 'i16' (region-values)
            24 memref.generic_atomic_rmw: the end of region #0 gives 'index' as value #0, but the op takes 'i8' (region-values)
            28 memref.alloc: has 1 symbols for a layout without any (wrong-count)
            29 memref.alloc: 'alignment' must not be negative, but is -8 (attribute-value)
            30 memref.prefetch: 'localityHint' must be below 4, but is 4 (attribute-value)
            31 memref.prefetch: has 0 indices for 1 dimensions (wrong-count)
        "#]],
    );
}
