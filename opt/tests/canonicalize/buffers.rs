//! Patterns of buffers: reshapes, subviews and casts.

use expect_test::expect;

use crate::assert_canonicalized;

#[test]
fn reshapes_are_merged() {
    assert_canonicalized(
        r#"func.func @id(%a: memref<5x4xi8>, %b: memref<?x?xi8>) -> (memref<5x4xi8>, memref<?x?xi8>) {
 %0 = memref.collapse_shape %a [[0], [1]] : memref<5x4xi8> into memref<5x4xi8>
 %1 = memref.collapse_shape %b [[0], [1]] : memref<?x?xi8> into memref<?x?xi8>
 return %0, %1 : memref<5x4xi8>, memref<?x?xi8> }
func.func @ce(%a: memref<?x8xf32>) -> memref<?x4xf32> {
 %c0 = arith.constant 0 : index
 %d = memref.dim %a, %c0 : memref<?x8xf32>
 %0 = memref.expand_shape %a [[0], [1, 2]] output_shape [%d, 2, 4] : memref<?x8xf32> into memref<?x2x4xf32>
 %1 = memref.collapse_shape %0 [[0, 1], [2]] : memref<?x2x4xf32> into memref<?x4xf32>
 return %1 : memref<?x4xf32> }
func.func @ec(%a: memref<3x4x4xf32>) -> memref<3x4x4xf32> {
 %0 = memref.collapse_shape %a [[0, 1], [2]] : memref<3x4x4xf32> into memref<12x4xf32>
 %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [3, 4, 4] : memref<12x4xf32> into memref<3x4x4xf32>
 return %1 : memref<3x4x4xf32> }
func.func @cee(%a: memref<?x?xf32>, %d: index, %e: index, %f: index) -> memref<?x6x4x5x?xf32> {
 %0 = memref.expand_shape %a [[0, 1], [2]] output_shape [%d, 6, %e] : memref<?x?xf32> into memref<?x6x?xf32>
 %1 = memref.expand_shape %0 [[0], [1], [2, 3, 4]] output_shape [%d, 6, 4, 5, %f] : memref<?x6x?xf32> into memref<?x6x4x5x?xf32>
 return %1 : memref<?x6x4x5x?xf32> }
func.func @cce(%a: memref<2048xf32>) -> memref<4x512xf32> {
 %0 = memref.expand_shape %a [[0, 1, 2, 3]] output_shape [1, 4, 1, 512] : memref<2048xf32> into memref<1x4x1x512xf32>
 %1 = memref.collapse_shape %0 [[0, 1, 2], [3]] : memref<1x4x1x512xf32> into memref<4x512xf32>
 return %1 : memref<4x512xf32> }
func.func @cce2(%a: memref<1x4x1x512xf32>) -> memref<4x512xf32> {
 %0 = memref.collapse_shape %a [[0, 1, 2, 3]] : memref<1x4x1x512xf32> into memref<2048xf32>
 %1 = memref.expand_shape %0 [[0, 1]] output_shape [4, 512] : memref<2048xf32> into memref<4x512xf32>
 return %1 : memref<4x512xf32> }
func.func @cce3(%a: memref<4x512xf32>) -> memref<1x4x1x512xf32> {
 %0 = memref.collapse_shape %a [[0, 1]] : memref<4x512xf32> into memref<2048xf32>
 %1 = memref.expand_shape %0 [[0, 1, 2, 3]] output_shape [1, 4, 1, 512] : memref<2048xf32> into memref<1x4x1x512xf32>
 return %1 : memref<1x4x1x512xf32> }
func.func @cce4(%a: memref<1x1xf32>) -> memref<1x1x1xf32> {
 %0 = memref.collapse_shape %a [] : memref<1x1xf32> into memref<f32>
 %1 = memref.expand_shape %0 [] output_shape [1,1,1] : memref<f32> into memref<1x1x1xf32>
 return %1 : memref<1x1x1xf32> }
func.func @cec(%a: memref<?x4xf32>, %d : index) -> memref<?x4xf32> {
 %0 = memref.collapse_shape %a [[0, 1]] : memref<?x4xf32> into memref<?xf32>
 %1 = memref.expand_shape %0 [[0, 1]] output_shape [%d, 4] : memref<?xf32> into memref<?x4xf32>
 return %1 : memref<?x4xf32> }
func.func @cast_c(%a: memref<1x512x1x1xi64>) -> memref<?xi64> {
 %0 = memref.cast %a : memref<1x512x1x1xi64> to memref<1x?x1x1xi64>
 %1 = memref.collapse_shape %0 [[0, 1, 2, 3]] : memref<1x?x1x1xi64> into memref<?xi64>
 return %1 : memref<?xi64> }
func.func @space(%a: memref<?xf32>) -> memref<?xf32> {
 %0 = memref.memory_space_cast %a : memref<?xf32> to memref<?xf32, 1>
 %1 = memref.memory_space_cast %0 : memref<?xf32, 1> to memref<?xf32>
 return %1 : memref<?xf32> }
"#,
        &expect![[r#"
            module {
              func.func @id(%arg0: memref<5x4xi8>, %arg1: memref<?x?xi8>) -> (memref<5x4xi8>, memref<?x?xi8>) {
                return %arg0, %arg1 : memref<5x4xi8>, memref<?x?xi8>
              }
              func.func @ce(%arg0: memref<?x8xf32>) -> memref<?x4xf32> {
                %0 = arith.constant 0 : index
                %1 = memref.dim %arg0, %0 : memref<?x8xf32>
                %2 = memref.expand_shape %arg0 [[0], [1, 2]] output_shape [%1, 2, 4] : memref<?x8xf32> into memref<?x2x4xf32>
                %3 = memref.collapse_shape %2 [[0, 1], [2]] : memref<?x2x4xf32> into memref<?x4xf32>
                return %3 : memref<?x4xf32>
              }
              func.func @ec(%arg0: memref<3x4x4xf32>) -> memref<3x4x4xf32> {
                return %arg0 : memref<3x4x4xf32>
              }
              func.func @cee(%arg0: memref<?x?xf32>, %arg1: index, %arg2: index, %arg3: index) -> memref<?x6x4x5x?xf32> {
                %0 = memref.expand_shape %arg0 [[0, 1], [2, 3, 4]] output_shape [%arg1, 6, 4, 5, %arg3] : memref<?x?xf32> into memref<?x6x4x5x?xf32>
                return %0 : memref<?x6x4x5x?xf32>
              }
              func.func @cce(%arg0: memref<2048xf32>) -> memref<4x512xf32> {
                %0 = memref.expand_shape %arg0 [[0, 1]] output_shape [4, 512] : memref<2048xf32> into memref<4x512xf32>
                return %0 : memref<4x512xf32>
              }
              func.func @cce2(%arg0: memref<1x4x1x512xf32>) -> memref<4x512xf32> {
                %0 = memref.collapse_shape %arg0 [[0, 1], [2, 3]] : memref<1x4x1x512xf32> into memref<4x512xf32>
                return %0 : memref<4x512xf32>
              }
              func.func @cce3(%arg0: memref<4x512xf32>) -> memref<1x4x1x512xf32> {
                %0 = memref.expand_shape %arg0 [[0, 1], [2, 3]] output_shape [1, 4, 1, 512] : memref<4x512xf32> into memref<1x4x1x512xf32>
                return %0 : memref<1x4x1x512xf32>
              }
              func.func @cce4(%arg0: memref<1x1xf32>) -> memref<1x1x1xf32> {
                %0 = memref.expand_shape %arg0 [[0], [1, 2]] output_shape [1, 1, 1] : memref<1x1xf32> into memref<1x1x1xf32>
                return %0 : memref<1x1x1xf32>
              }
              func.func @cec(%arg0: memref<?x4xf32>, %arg1: index) -> memref<?x4xf32> {
                return %arg0 : memref<?x4xf32>
              }
              func.func @cast_c(%arg0: memref<1x512x1x1xi64>) -> memref<?xi64> {
                %0 = memref.collapse_shape %arg0 [[0, 1, 2, 3]] : memref<1x512x1x1xi64> into memref<512xi64>
                %1 = memref.cast %0 : memref<512xi64> to memref<?xi64>
                return %1 : memref<?xi64>
              }
              func.func @space(%arg0: memref<?xf32>) -> memref<?xf32> {
                return %arg0 : memref<?xf32>
              }
            }
        "#]],
    );
}

#[test]
fn reinterpret_casts_of_extracted_metadata_are_simplified() {
    assert_canonicalized(
        r#"func.func @meta(%a: memref<8x2xf32, strided<[?, 1], offset: 3>>) -> (memref<f32>, index, index, index, index, index) {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<8x2xf32, strided<[?, 1], offset: 3>> -> memref<f32>, index, index, index, index, index
 return %base, %offset, %sizes#0, %sizes#1, %strides#0, %strides#1 : memref<f32>, index, index, index, index, index }
func.func @metac(%a: memref<8xf32>) -> (memref<f32>, index) {
  %c = memref.cast %a : memref<8xf32> to memref<?xf32>
  %base, %offset, %sizes, %strides = memref.extract_strided_metadata %c : memref<?xf32> -> memref<f32>, index, index, index
 return %base, %sizes : memref<f32>, index }
func.func @rc1(%a: memref<8x2xf32>) -> memref<8x2xf32, strided<[2, 1], offset: 0>> {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<8x2xf32> -> memref<f32>, index, index, index, index, index
  %m = memref.reinterpret_cast %base to offset: [0], sizes: [8, 2], strides: [2, 1] : memref<f32> to memref<8x2xf32, strided<[2, 1], offset: 0>>
 return %m : memref<8x2xf32, strided<[2, 1], offset: 0>> }
func.func @rc2(%a: memref<8x2xf32>) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<8x2xf32> -> memref<f32>, index, index, index, index, index
  %m = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#0, %sizes#1], strides: [%strides#0, %strides#1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
 return %m : memref<?x?xf32, strided<[?, ?], offset: ?>> }
func.func @rc3(%a: memref<?x?xf32>, %s: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
  %m = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#1, %s], strides: [%strides#0, %strides#1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
 return %m : memref<?x?xf32, strided<[?, ?], offset: ?>> }
func.func @rcrc(%a: memref<?xi8>, %o: index, %s: index, %t: index) -> memref<?xi8, strided<[?], offset: ?>> {
  %0 = memref.reinterpret_cast %a to offset: [%s], sizes: [%t], strides: [%o] : memref<?xi8> to memref<?xi8, strided<[?], offset: ?>>
  %1 = memref.reinterpret_cast %0 to offset: [%o], sizes: [%s], strides: [%t] : memref<?xi8, strided<[?], offset: ?>> to memref<?xi8, strided<[?], offset: ?>>
 return %1 : memref<?xi8, strided<[?], offset: ?>> }
func.func @rcsub(%a: memref<?xi8>, %o: index, %s: index, %t: index) -> memref<?xi8, strided<[?], offset: ?>> {
  %0 = memref.subview %a[0][%s][1] : memref<?xi8> to memref<?xi8, strided<[1]>>
  %1 = memref.reinterpret_cast %0 to offset: [%o], sizes: [%s], strides: [%t] : memref<?xi8, strided<[1]>> to memref<?xi8, strided<[?], offset: ?>>
  %2 = memref.cast %a : memref<?xi8> to memref<5xi8>
  %3 = memref.reinterpret_cast %2 to offset: [%o], sizes: [%s], strides: [%t] : memref<5xi8> to memref<?xi8, strided<[?], offset: ?>>
  "test.use"(%3) : (memref<?xi8, strided<[?], offset: ?>>) -> ()
 return %1 : memref<?xi8, strided<[?], offset: ?>> }
func.func @rcid(%a: memref<2x3xf32>) -> memref<2x3xf32> {
  %0 = memref.reinterpret_cast %a to offset: [0], sizes: [2, 3], strides: [3, 1] : memref<2x3xf32> to memref<2x3xf32>
 return %0 : memref<2x3xf32> }
"#,
        &expect![[r#"
            module {
              func.func @meta(%arg0: memref<8x2xf32, strided<[?, 1], offset: 3>>) -> (memref<f32>, index, index, index, index, index) {
                %0 = arith.constant 3 : index
                %1 = arith.constant 8 : index
                %2 = arith.constant 2 : index
                %3 = arith.constant 1 : index
                %4:6 = memref.extract_strided_metadata %arg0 : memref<8x2xf32, strided<[?, 1], offset: 3>> -> memref<f32>, index, index, index, index, index
                return %4#0, %0, %1, %2, %4#4, %3 : memref<f32>, index, index, index, index, index
              }
              func.func @metac(%arg0: memref<8xf32>) -> (memref<f32>, index) {
                %0 = arith.constant 8 : index
                %1:4 = memref.extract_strided_metadata %arg0 : memref<8xf32> -> memref<f32>, index, index, index
                return %1#0, %0 : memref<f32>, index
              }
              func.func @rc1(%arg0: memref<8x2xf32>) -> memref<8x2xf32, strided<[2, 1]>> {
                %0 = memref.cast %arg0 : memref<8x2xf32> to memref<8x2xf32, strided<[2, 1]>>
                return %0 : memref<8x2xf32, strided<[2, 1]>>
              }
              func.func @rc2(%arg0: memref<8x2xf32>) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
                %0 = memref.cast %arg0 : memref<8x2xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
                return %0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
              }
              func.func @rc3(%arg0: memref<?x?xf32>, %arg1: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
                %0 = arith.constant 0 : index
                %1 = arith.constant 1 : index
                %2:6 = memref.extract_strided_metadata %arg0 : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
                %3 = memref.reinterpret_cast %2#0 to offset: [%0], sizes: [%2#3, %arg1], strides: [%2#4, %1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
                return %3 : memref<?x?xf32, strided<[?, ?], offset: ?>>
              }
              func.func @rcrc(%arg0: memref<?xi8>, %arg1: index, %arg2: index, %arg3: index) -> memref<?xi8, strided<[?], offset: ?>> {
                %0 = memref.reinterpret_cast %arg0 to offset: [%arg1], sizes: [%arg2], strides: [%arg3] : memref<?xi8> to memref<?xi8, strided<[?], offset: ?>>
                return %0 : memref<?xi8, strided<[?], offset: ?>>
              }
              func.func @rcsub(%arg0: memref<?xi8>, %arg1: index, %arg2: index, %arg3: index) -> memref<?xi8, strided<[?], offset: ?>> {
                %0 = memref.reinterpret_cast %arg0 to offset: [%arg1], sizes: [%arg2], strides: [%arg3] : memref<?xi8> to memref<?xi8, strided<[?], offset: ?>>
                %1 = memref.reinterpret_cast %arg0 to offset: [%arg1], sizes: [%arg2], strides: [%arg3] : memref<?xi8> to memref<?xi8, strided<[?], offset: ?>>
                "test.use"(%1) : (memref<?xi8, strided<[?], offset: ?>>) -> ()
                return %0 : memref<?xi8, strided<[?], offset: ?>>
              }
              func.func @rcid(%arg0: memref<2x3xf32>) -> memref<2x3xf32> {
                return %arg0 : memref<2x3xf32>
              }
            }
        "#]],
    );
}

#[test]
fn constant_subview_operands_become_static() {
    assert_canonicalized(
        r#"func.func @sv1(%a: memref<20x42xf32>, %i: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
 %c1 = arith.constant 1 : index
 %c0 = arith.constant 0 : index
 %c4 = arith.constant 4 : index
 %0 = memref.subview %a[%c0, %i] [%c4, %c4] [%c1, %c1] : memref<20x42xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
 return %0 : memref<?x?xf32, strided<[?, ?], offset: ?>> }
func.func @sv2(%a: memref<1x4x8xf32>, %i: index) -> memref<?xf32, strided<[?], offset: ?>> {
 %c1 = arith.constant 1 : index
 %c4 = arith.constant 4 : index
 %0 = memref.subview %a[0, %i, 0] [1, 1, %c4] [1, 1, %c1] : memref<1x4x8xf32> to memref<?xf32, strided<[?], offset: ?>>
 return %0 : memref<?xf32, strided<[?], offset: ?>> }
func.func @sv3(%a: memref<4x6xf32>) -> memref<4x6xf32> {
 %0 = memref.subview %a[0, 0] [4, 6] [1, 1] : memref<4x6xf32> to memref<4x6xf32>
 return %0 : memref<4x6xf32> }
func.func @sv4(%a: memref<4x6x16x32xi8>) -> memref<16x32xi8, strided<[32, 1]>> {
 %0 = memref.subview %a[0, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : memref<4x6x16x32xi8> to memref<16x32xi8, strided<[32, 1]>>
 return %0 : memref<16x32xi8, strided<[32, 1]>> }
func.func @sv5(%a: memref<4x6x16x32xi8>, %i: index) -> memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>> {
 %0 = memref.cast %a : memref<4x6x16x32xi8> to memref<?x?x16x32xi8>
 %1 = memref.subview %0[0, 0, 0, 0] [4, 6, 16, 32] [1, 1, 1, 1] : memref<?x?x16x32xi8> to memref<4x6x16x32xi8, strided<[?, 512, 32, 1]>>
 %2 = memref.cast %1 : memref<4x6x16x32xi8, strided<[?, 512, 32, 1]>> to memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>>
 return %2 : memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>> }
func.func @svd(%a: memref<?x?x?xf32>, %i: index, %j: index) -> (index, index) {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %0 = memref.subview %a[0, 0, 0] [%i, 1, %j] [1, 1, 1] : memref<?x?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
 %d0 = memref.dim %0, %c0 : memref<?x?xf32, strided<[?, 1]>>
 %d1 = memref.dim %0, %c1 : memref<?x?xf32, strided<[?, 1]>>
 return %d0, %d1 : index, index }
func.func @svsv(%a: memref<?x?xf32>, %i: index, %s: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
 %0 = memref.subview %a[%i, 0] [%s, %s] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
 %1 = memref.subview %0[0, 0] [%s, %s] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
 return %1 : memref<?x?xf32, strided<[?, 1], offset: ?>> }
func.func @castc(%a: memref<4xf32>) -> memref<*xf32> {
 %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
 %1 = memref.cast %0 : memref<?xf32> to memref<*xf32>
 return %1 : memref<*xf32> }
func.func @reshd(%a: memref<*xf32>, %s: memref<?xindex>) -> index {
 %r = memref.reshape %a(%s) : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>
 %c3 = arith.constant 3 : index
 %c4 = arith.constant 0 : index
 memref.store %c4, %s[%c3] : memref<?xindex>
 %d = memref.dim %r, %c3 : memref<*xf32>
 return %d : index }
"#,
        &expect![[r#"
            module {
              func.func @sv1(%arg0: memref<20x42xf32>, %arg1: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
                %0 = memref.subview %arg0[0, %arg1] [4, 4] [1, 1] : memref<20x42xf32> to memref<4x4xf32, strided<[42, 1], offset: ?>>
                %1 = memref.cast %0 : memref<4x4xf32, strided<[42, 1], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
                return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
              }
              func.func @sv2(%arg0: memref<1x4x8xf32>, %arg1: index) -> memref<?xf32, strided<[?], offset: ?>> {
                %0 = memref.subview %arg0[0, %arg1, 0] [1, 1, 4] [1, 1, 1] : memref<1x4x8xf32> to memref<4xf32, strided<[1], offset: ?>>
                %1 = memref.cast %0 : memref<4xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
                return %1 : memref<?xf32, strided<[?], offset: ?>>
              }
              func.func @sv3(%arg0: memref<4x6xf32>) -> memref<4x6xf32> {
                return %arg0 : memref<4x6xf32>
              }
              func.func @sv4(%arg0: memref<4x6x16x32xi8>) -> memref<16x32xi8, strided<[32, 1]>> {
                %0 = memref.subview %arg0[0, 0, 0, 0] [1, 1, 16, 32] [1, 1, 1, 1] : memref<4x6x16x32xi8> to memref<16x32xi8, strided<[32, 1]>>
                return %0 : memref<16x32xi8, strided<[32, 1]>>
              }
              func.func @sv5(%arg0: memref<4x6x16x32xi8>, %arg1: index) -> memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>> {
                %0 = memref.cast %arg0 : memref<4x6x16x32xi8> to memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>>
                return %0 : memref<4x6x16x32xi8, strided<[3072, 512, 32, 1]>>
              }
              func.func @svd(%arg0: memref<?x?x?xf32>, %arg1: index, %arg2: index) -> (index, index) {
                return %arg1, %arg2 : index, index
              }
              func.func @svsv(%arg0: memref<?x?xf32>, %arg1: index, %arg2: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
                %0 = memref.subview %arg0[%arg1, 0] [%arg2, %arg2] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
                return %0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
              }
              func.func @castc(%arg0: memref<4xf32>) -> memref<*xf32> {
                %0 = memref.cast %arg0 : memref<4xf32> to memref<*xf32>
                return %0 : memref<*xf32>
              }
              func.func @reshd(%arg0: memref<*xf32>, %arg1: memref<?xindex>) -> index {
                %0 = arith.constant 0 : index
                %1 = arith.constant 3 : index
                %2 = memref.load %arg1[%1] : memref<?xindex>
                memref.store %0, %arg1[%1] : memref<?xindex>
                return %2 : index
              }
            }
        "#]],
    );
}

#[test]
fn sizes_that_decide_the_dropped_dimensions_stay_dynamic() {
    assert_canonicalized(
        r"func.func @stride(%a: memref<4x4xi32>, %o: index, %s: index) -> index {
 %c1 = arith.constant 1 : index
 %0 = memref.subview %a[%o, 0] [%c1, 1] [%s, 1] : memref<4x4xi32> to memref<?xi32, strided<[?], offset: ?>>
 %b, %off, %sz, %st = memref.extract_strided_metadata %0 : memref<?xi32, strided<[?], offset: ?>> -> memref<i32>, index, index, index
 return %st : index }
func.func @load(%a: memref<4x4x4xi32>, %o: index, %s: index, %n: index, %j: index) -> i32 {
 %c1 = arith.constant 1 : index
 %c0 = arith.constant 0 : index
 %0 = memref.subview %a[%o, 0, 0] [%c1, %n, 1] [%s, %s, %s] : memref<4x4x4xi32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
 %v = memref.load %0[%c0, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
 return %v : i32 }
func.func @several(%a: memref<?x?x?xi32, strided<[?, 1, ?]>>, %o: index, %s: index) -> memref<?x?xi32, strided<[?, ?], offset: ?>> {
 %c1 = arith.constant 1 : index
 %0 = memref.subview %a[3, 3, %o] [%c1, %s, 1] [1, %c1, %c1] : memref<?x?x?xi32, strided<[?, 1, ?]>> to memref<?x?xi32, strided<[?, ?], offset: ?>>
 return %0 : memref<?x?xi32, strided<[?, ?], offset: ?>> }
func.func @dim(%a: memref<?x6x1xi32>, %o: index, %s: index) -> index {
 %c1 = arith.constant 1 : index
 %c6 = arith.constant 6 : index
 %0 = memref.subview %a[%o, 0, 0] [1, %c6, 1] [%s, %s, %s] : memref<?x6x1xi32> to memref<1x?xi32, strided<[?, ?], offset: ?>>
 %d = memref.dim %0, %c1 : memref<1x?xi32, strided<[?, ?], offset: ?>>
 return %d : index }
func.func @ambiguous(%a: memref<?x6x1xi32>, %o: index, %s: index) -> memref<1x6xi32, strided<[?, ?], offset: ?>> {
 %c1 = arith.constant 1 : index
 %0 = memref.subview %a[%o, 0, 0] [1, 6, 1] [%c1, %s, %c1] : memref<?x6x1xi32> to memref<1x6xi32, strided<[?, ?], offset: ?>>
 return %0 : memref<1x6xi32, strided<[?, ?], offset: ?>> }
",
        &expect![[r#"
            module {
              func.func @stride(%arg0: memref<4x4xi32>, %arg1: index, %arg2: index) -> index {
                %0 = arith.constant 1 : index
                %1 = memref.subview %arg0[%arg1, 0] [%0, 1] [%arg2, 1] : memref<4x4xi32> to memref<?xi32, strided<[?], offset: ?>>
                %2:4 = memref.extract_strided_metadata %1 : memref<?xi32, strided<[?], offset: ?>> -> memref<i32>, index, index, index
                return %2#3 : index
              }
              func.func @load(%arg0: memref<4x4x4xi32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index) -> i32 {
                %0 = arith.constant 1 : index
                %1 = arith.constant 0 : index
                %2 = memref.subview %arg0[%arg1, 0, 0] [%0, %arg3, 1] [%arg2, %arg2, %arg2] : memref<4x4x4xi32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
                %3 = memref.load %2[%1, %arg4] : memref<?x?xi32, strided<[?, ?], offset: ?>>
                return %3 : i32
              }
              func.func @several(%arg0: memref<?x?x?xi32, strided<[?, 1, ?]>>, %arg1: index, %arg2: index) -> memref<?x?xi32, strided<[?, ?], offset: ?>> {
                %0 = arith.constant 1 : index
                %1 = memref.subview %arg0[3, 3, %arg1] [%0, %arg2, 1] [1, %0, %0] : memref<?x?x?xi32, strided<[?, 1, ?]>> to memref<?x?xi32, strided<[?, ?], offset: ?>>
                return %1 : memref<?x?xi32, strided<[?, ?], offset: ?>>
              }
              func.func @dim(%arg0: memref<?x6x1xi32>, %arg1: index, %arg2: index) -> index {
                %0 = arith.constant 1 : index
                %1 = arith.constant 6 : index
                %2 = memref.subview %arg0[%arg1, 0, 0] [1, %1, 1] [%arg2, %arg2, %arg2] : memref<?x6x1xi32> to memref<1x?xi32, strided<[?, ?], offset: ?>>
                %3 = memref.dim %2, %0 : memref<1x?xi32, strided<[?, ?], offset: ?>>
                return %3 : index
              }
              func.func @ambiguous(%arg0: memref<?x6x1xi32>, %arg1: index, %arg2: index) -> memref<1x6xi32, strided<[?, ?], offset: ?>> {
                %0 = arith.constant 1 : index
                %1 = memref.subview %arg0[%arg1, 0, 0] [1, 6, 1] [%0, %arg2, %0] : memref<?x6x1xi32> to memref<1x6xi32, strided<[?, ?], offset: ?>>
                return %1 : memref<1x6xi32, strided<[?, ?], offset: ?>>
              }
            }
        "#]],
    );
}

#[test]
fn casts_of_casts_are_merged() {
    assert_canonicalized(
        r"func.func @unranked(%m: memref<2x3xf32>, %o: memref<2x3xf32>) -> (memref<?x3xf32>, memref<4x3xf32>) {
 %0 = memref.cast %m : memref<2x3xf32> to memref<*xf32>
 %1 = memref.cast %0 : memref<*xf32> to memref<?x3xf32>
 %2 = memref.cast %0 : memref<*xf32> to memref<4x3xf32>
 %3 = memref.cast %o : memref<2x3xf32> to memref<*xf32>
 memref.copy %0, %3 : memref<*xf32> to memref<*xf32>
 return %1, %2 : memref<?x3xf32>, memref<4x3xf32> }
func.func @layout(%m: memref<4xf32, strided<[1], offset: ?>>) -> (memref<4xf32, strided<[?], offset: ?>>, memref<4xf32, strided<[2], offset: ?>>) {
 %0 = memref.cast %m : memref<4xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
 %1 = memref.cast %0 : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[?], offset: ?>>
 %2 = memref.cast %0 : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[2], offset: ?>>
 return %1, %2 : memref<4xf32, strided<[?], offset: ?>>, memref<4xf32, strided<[2], offset: ?>> }",
        &expect![[r#"
            module {
              func.func @unranked(%arg0: memref<2x3xf32>, %arg1: memref<2x3xf32>) -> (memref<?x3xf32>, memref<4x3xf32>) {
                %0 = memref.cast %arg0 : memref<2x3xf32> to memref<*xf32>
                %1 = memref.cast %arg0 : memref<2x3xf32> to memref<?x3xf32>
                %2 = memref.cast %0 : memref<*xf32> to memref<4x3xf32>
                memref.copy %arg0, %arg1 : memref<2x3xf32> to memref<2x3xf32>
                return %1, %2 : memref<?x3xf32>, memref<4x3xf32>
              }
              func.func @layout(%arg0: memref<4xf32, strided<[1], offset: ?>>) -> (memref<4xf32, strided<[?], offset: ?>>, memref<4xf32, strided<[2], offset: ?>>) {
                %0 = memref.cast %arg0 : memref<4xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
                %1 = memref.cast %arg0 : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32, strided<[?], offset: ?>>
                %2 = memref.cast %0 : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[2], offset: ?>>
                return %1, %2 : memref<4xf32, strided<[?], offset: ?>>, memref<4xf32, strided<[2], offset: ?>>
              }
            }
        "#]],
    );
}

#[test]
fn views_keep_casts_from_buffers_with_a_layout() {
    assert_canonicalized(
        r"func.func @strided(%a: memref<2048xi8, strided<[1], offset: ?>>, %i: index) -> memref<4x4xf32> {
 %0 = memref.cast %a : memref<2048xi8, strided<[1], offset: ?>> to memref<2048xi8>
 %1 = memref.view %0[%i][] : memref<2048xi8> to memref<4x4xf32>
 return %1 : memref<4x4xf32> }
func.func @plain(%a: memref<2048xi8>, %i: index) -> memref<4x4xf32> {
 %0 = memref.cast %a : memref<2048xi8> to memref<?xi8>
 %1 = memref.view %0[%i][] : memref<?xi8> to memref<4x4xf32>
 return %1 : memref<4x4xf32> }
",
        &expect![[r#"
            module {
              func.func @strided(%arg0: memref<2048xi8, strided<[1], offset: ?>>, %arg1: index) -> memref<4x4xf32> {
                %0 = memref.cast %arg0 : memref<2048xi8, strided<[1], offset: ?>> to memref<2048xi8>
                %1 = memref.view %0[%arg1][] : memref<2048xi8> to memref<4x4xf32>
                return %1 : memref<4x4xf32>
              }
              func.func @plain(%arg0: memref<2048xi8>, %arg1: index) -> memref<4x4xf32> {
                %0 = memref.view %arg0[%arg1][] : memref<2048xi8> to memref<4x4xf32>
                return %0 : memref<4x4xf32>
              }
            }
        "#]],
    );
}

#[test]
fn copies_keep_a_cast_between_buffers_of_different_shapes() {
    assert_canonicalized(
        r"func.func @different(%a: memref<4xf32>, %b: memref<8xf32>, %p: i1) {
 %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
 %1 = memref.cast %b : memref<8xf32> to memref<?xf32>
 scf.if %p {
  memref.copy %0, %1 : memref<?xf32> to memref<?xf32> }
 return }
func.func @equal(%a: memref<4xf32>, %b: memref<4xf32>) {
 %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
 %1 = memref.cast %b : memref<4xf32> to memref<?xf32>
 memref.copy %0, %1 : memref<?xf32> to memref<?xf32>
 return }
",
        &expect![[r#"
            module {
              func.func @different(%arg0: memref<4xf32>, %arg1: memref<8xf32>, %arg2: i1) {
                %0 = memref.cast %arg1 : memref<8xf32> to memref<?xf32>
                scf.if %arg2 {
                  memref.copy %arg0, %0 : memref<4xf32> to memref<?xf32>
                }
                return
              }
              func.func @equal(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
                memref.copy %arg0, %arg1 : memref<4xf32> to memref<4xf32>
                return
              }
            }
        "#]],
    );
}
