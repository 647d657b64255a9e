//! What `canonicalize` makes of programs, as `mlir-opt` does; that it means the same is for `twin.rs`.

mod common;

use expect_test::{Expect, expect};
use noisy_syntax::print;

fn becomes(text: &str, expected: &Expect) {
    becomes_by("builtin.module(canonicalize)", text, expected);
}

fn becomes_by(pipeline: &str, text: &str, expected: &Expect) {
    let ir = common::run(pipeline, text).expect("the pass runs");
    expected.assert_eq(&print::custom(&ir));
}

#[test]
fn reshapes_are_joined() {
    becomes(
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
fn buffers_are_taken_apart_and_put_together() {
    becomes(
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
fn subviews_have_what_is_known_in_their_types() {
    becomes(
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
fn loops_of_one_iteration_and_nested_ones_are_simpler() {
    becomes(
        r#"func.func @par2(%n: index, %A: memref<?x?x?xi32>, %v: i32) {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  scf.parallel (%j) = (%c0) to (%n) step (%c1) {
   memref.store %v, %A[%i, %j, %j] : memref<?x?x?xi32>
   scf.reduce
  }
  scf.reduce
 }
 return }
func.func @par3(%n: index, %f: f32) -> f32 {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %r = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%f) -> f32 {
  %v = "test.make"(%i) : (index) -> f32
  scf.reduce(%v : f32) {
   ^bb0(%a: f32, %b: f32):
   %s = arith.addf %a, %b : f32
   scf.reduce.return %s : f32
  }
 }
 return %r : f32 }
func.func @forall1(%A: memref<?xf32>, %n: index, %f: f32) {
 %c4 = arith.constant 4 : index
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 scf.forall (%i, %j) in (%c4, %n) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i, %j) = (%c0, %c1) to (%c4, %c4) step (%c1, %c1) {
  memref.store %f, %A[%j] : memref<?xf32>
 }
 scf.forall (%i) in (1) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i, %j) in (1, %n) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i) in (0) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 return }
"#,
        &expect![[r#"
            module {
              func.func @par2(%arg0: index, %arg1: memref<?x?x?xi32>, %arg2: i32) {
                %0 = arith.constant 0 : index
                %1 = arith.constant 1 : index
                scf.parallel (%arg3, %arg4) = (%0, %0) to (%arg0, %arg0) step (%1, %1) {
                  memref.store %arg2, %arg1[%arg3, %arg4, %arg4] : memref<?x?x?xi32>
                  scf.reduce
                }
                return
              }
              func.func @par3(%arg0: index, %arg1: f32) -> f32 {
                %0 = arith.constant 0 : index
                %1 = "test.make"(%0) : (index) -> f32
                %2 = arith.addf %arg1, %1 : f32
                return %2 : f32
              }
              func.func @forall1(%arg0: memref<?xf32>, %arg1: index, %arg2: f32) {
                %0 = arith.constant 0 : index
                scf.forall (%arg3, %arg4) in (4, %arg1) {
                  memref.store %arg2, %arg0[%arg3] : memref<?xf32>
                }
                scf.forall (%arg3, %arg4) = (0, 1) to (4, 4) step (1, 1) {
                  memref.store %arg2, %arg0[%arg4] : memref<?xf32>
                }
                memref.store %arg2, %arg0[%0] : memref<?xf32>
                scf.forall (%arg3) in (%arg1) {
                  memref.store %arg2, %arg0[%0] : memref<?xf32>
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn a_while_carries_what_changes() {
    becomes(
        r#"func.func @while1(%a: i32, %b: i32) -> (i32, i32) {
 %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
  %c = "test.cond"(%x) : (i32) -> i1
  scf.condition(%c) %x, %y : i32, i32
 } do {
 ^bb0(%p: i32, %q: i32):
  %n = "test.next"(%p, %q) : (i32, i32) -> i32
  scf.yield %n, %q : i32, i32
 }
 return %r#0, %r#1 : i32, i32 }
func.func @while3(%a: i32, %b: i32) -> (i32) {
 %r:3 = scf.while (%x = %a) : (i32) -> (i32, i32, i32) {
  %c = arith.cmpi slt, %x, %b : i32
  scf.condition(%c) %x, %x, %b : i32, i32, i32
 } do {
 ^bb0(%p: i32, %q: i32, %z: i32):
  %c = arith.cmpi slt, %p, %b : i32
  %d = arith.cmpi sge, %q, %b : i32
  %n = "test.next"(%p, %q, %z, %c, %d) : (i32, i32, i32, i1, i1) -> i32
  scf.yield %n : i32
 }
 %s = arith.addi %r#0, %r#1 : i32
 return %s : i32 }
func.func @while5(%a: memref<3xf32>) -> (memref<3xf32>) {
 %r = scf.while (%x = %a) : (memref<3xf32>) -> (memref<3xf32>) {
  %c = "test.cond"() : () -> i1
  scf.condition(%c) %x : memref<3xf32>
 } do {
 ^bb0(%p: memref<3xf32>):
  "test.u"(%p) : (memref<3xf32>) -> ()
  scf.yield %p : memref<3xf32>
 }
 return %r : memref<3xf32> }
func.func @while7(%v: index) -> (index) {
 %0 = scf.while (%arg0 = %v) : (index) -> index {
  %c = "test.condition"(%arg0) : (index) -> i1
  scf.condition(%c) %v : index
 } do {
 ^bb0(%arg1: index):
  scf.yield %arg1 : index
 }
 return %0 : index }
func.func @while8(%v: index, %w: index) -> (index, index) {
 %0:2 = scf.while (%a = %v, %b = %w) : (index, index) -> (index, index) {
  %c = "test.condition"() : () -> i1
  scf.condition(%c) %b, %a : index, index
 } do {
 ^bb0(%p: index, %q: index):
  scf.yield %p, %q : index, index
 }
 return %0#0, %0#1 : index, index }
"#,
        &expect![[r#"
            module {
              func.func @while1(%arg0: i32, %arg1: i32) -> (i32, i32) {
                %0 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
                  %1 = "test.cond"(%arg2) : (i32) -> i1
                  scf.condition(%1) %arg2 : i32
                } do {
                ^bb0(%arg2: i32):
                  %1 = "test.next"(%arg2, %arg1) : (i32, i32) -> i32
                  scf.yield %1 : i32
                }
                return %0, %arg1 : i32, i32
              }
              func.func @while3(%arg0: i32, %arg1: i32) -> i32 {
                %0 = arith.constant false
                %1 = arith.constant true
                %2 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
                  %4 = arith.cmpi slt, %arg2, %arg1 : i32
                  scf.condition(%4) %arg2 : i32
                } do {
                ^bb0(%arg2: i32):
                  %4 = "test.next"(%arg2, %arg2, %arg1, %1, %0) : (i32, i32, i32, i1, i1) -> i32
                  scf.yield %4 : i32
                }
                %3 = arith.addi %2, %2 : i32
                return %3 : i32
              }
              func.func @while5(%arg0: memref<3xf32>) -> memref<3xf32> {
                scf.while : () -> () {
                  %0 = "test.cond"() : () -> i1
                  scf.condition(%0)
                } do {
                  "test.u"(%arg0) : (memref<3xf32>) -> ()
                  scf.yield
                }
                return %arg0 : memref<3xf32>
              }
              func.func @while7(%arg0: index) -> index {
                scf.while : () -> () {
                  %0 = "test.condition"(%arg0) : (index) -> i1
                  scf.condition(%0)
                } do {
                  scf.yield
                }
                return %arg0 : index
              }
              func.func @while8(%arg0: index, %arg1: index) -> (index, index) {
                %0:2 = scf.while (%arg2 = %arg0, %arg3 = %arg1) : (index, index) -> (index, index) {
                  %1 = "test.condition"() : () -> i1
                  scf.condition(%1) %arg2, %arg3 : index, index
                } do {
                ^bb0(%arg2: index, %arg3: index):
                  scf.yield %arg3, %arg2 : index, index
                }
                return %0#1, %0#0 : index, index
              }
            }
        "#]],
    );
}

#[test]
fn bounds_of_loops_simplify_quotients() {
    becomes(
        r#"func.func @a1(%N: index, %A: memref<?x32xf32>) {
  affine.for %i = 0 to %N step 32 {
    affine.for %ii = 0 to 32 {
      %x = affine.load %A[%ii floordiv 32, %i mod 32] : memref<?x32xf32>
      "test.foo"(%x) : (f32) -> ()
      %a = affine.load %A[(%i + %ii) floordiv 32, (%i + %ii) mod 16] : memref<?x32xf32>
      "test.foo"(%a) : (f32) -> ()
      %b = affine.load %A[(%i + %ii) floordiv 64, (%i + %ii) mod 64] : memref<?x32xf32>
      "test.foo"(%b) : (f32) -> ()
      %e = affine.apply affine_map<(d0, d1) -> ((d0 + d1) mod 8 + d0 floordiv 16)>(%i, %ii)
      "test.u"(%e) : (index) -> ()
      %f = affine.min affine_map<(d0, d1) -> (d1 mod 32, d0 mod 32)>(%i, %ii)
      "test.u"(%f) : (index) -> ()
    }
  }
  return }
func.func @a2(%N: index, %A: memref<?xf32>, %f: f32) {
 affine.for %i = 3 to 30 step 3 {
  affine.store %f, %A[%i floordiv 28] : memref<?xf32>
  affine.store %f, %A[%i mod 28] : memref<?xf32>
  affine.store %f, %A[%i mod 3] : memref<?xf32>
  affine.for %j = affine_map<(d0)->(d0)>(%i) to 64 step 6 {
   affine.store %f, %A[%j mod 3 + %j ceildiv 64] : memref<?xf32>
   affine.store %f, %A[(-%j) floordiv 64] : memref<?xf32>
  }
 }
 affine.for %i = 0 to 10 {
  affine.for %j = max affine_map<(d0) -> (d0, 0, -5)>(%i) to min affine_map<(d0)[s] -> (d0 + 1, s, 20, 30)>(%i)[%N] {
   affine.store %f, %A[%j] : memref<?xf32>
  }
 }
 return }
func.func @a3(%N: index, %A: memref<?xf32>, %f: f32) {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 affine.parallel (%i, %j) = (%c0, %c1) to (%N, %c1 + 7) {
  affine.store %f, %A[%i + %j] : memref<?xf32>
 }
 affine.parallel (%i) = (0) to (0) {
  affine.store %f, %A[%i] : memref<?xf32>
 }
 affine.parallel (%i) = (0) to (10) {
 }
 return }
"#,
        &expect![[r#"
            module {
              func.func @a1(%arg0: index, %arg1: memref<?x32xf32>) {
                affine.for %arg2 = 0 to %arg0 step 32 {
                  affine.for %arg3 = 0 to 32 {
                    %0 = affine.load %arg1[0, 0] : memref<?x32xf32>
                    "test.foo"(%0) : (f32) -> ()
                    %1 = affine.load %arg1[%arg2 floordiv 32, %arg3 mod 16] : memref<?x32xf32>
                    "test.foo"(%1) : (f32) -> ()
                    %2 = affine.load %arg1[%arg2 floordiv 64, (%arg2 + %arg3) mod 64] : memref<?x32xf32>
                    "test.foo"(%2) : (f32) -> ()
                    %3 = affine.apply affine_map<(d0, d1) -> (d1 mod 8 + d0 floordiv 16)>(%arg2, %arg3)
                    "test.u"(%3) : (index) -> ()
                    %4 = affine.min affine_map<(d0) -> (0, d0)>(%arg3)
                    "test.u"(%4) : (index) -> ()
                  }
                }
                return
              }
              func.func @a2(%arg0: index, %arg1: memref<?xf32>, %arg2: f32) {
                affine.for %arg3 = 3 to 30 step 3 {
                  affine.store %arg2, %arg1[0] : memref<?xf32>
                  affine.store %arg2, %arg1[%arg3] : memref<?xf32>
                  affine.store %arg2, %arg1[0] : memref<?xf32>
                  affine.for %arg4 = affine_map<(d0) -> (d0)>(%arg3) to 64 step 6 {
                    affine.store %arg2, %arg1[%arg4 ceildiv 64] : memref<?xf32>
                    affine.store %arg2, %arg1[(-%arg4) floordiv 64] : memref<?xf32>
                  }
                }
                affine.for %arg3 = 0 to 10 {
                  affine.for %arg4 = affine_map<(d0) -> (d0)>(%arg3) to min affine_map<(d0)[s0] -> (d0 + 1, s0)>(%arg3)[%arg0] {
                    affine.store %arg2, %arg1[%arg4] : memref<?xf32>
                  }
                }
                return
              }
              func.func @a3(%arg0: index, %arg1: memref<?xf32>, %arg2: f32) {
                affine.parallel (%arg3, %arg4) = (0, 1) to (symbol(%arg0), 8) {
                  affine.store %arg2, %arg1[%arg3 + %arg4] : memref<?xf32>
                }
                affine.parallel (%arg3) = (0) to (0) {
                  affine.store %arg2, %arg1[%arg3] : memref<?xf32>
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn integers_without_bits_are_zero() {
    becomes(
        r#"func.func @i0a() -> i16 { %c = arith.constant 0 : i0
 %e = arith.extui %c : i0 to i16
 return %e : i16 }
func.func @i0d() -> i1 { %c = arith.constant 0 : i0
 %e = arith.cmpi slt, %c, %c : i0
 return %e : i1 }
func.func @i0e() -> i0 { %c = arith.constant 0 : i0
 %e = arith.maxsi %c, %c : i0
 %f = arith.minui %e, %c : i0
 %g = arith.andi %f, %c : i0
 %h = arith.ori %g, %c : i0
 %i = arith.xori %h, %c : i0
 return %i : i0 }
func.func @bcp(%x: i16) -> i16 { %0 = arith.bitcast %x : i16 to f16
 %1 = arith.bitcast %0 : f16 to bf16
 %2 = arith.bitcast %1 : bf16 to i16
 return %2 : i16 }
func.func @sel2(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i64, i32, i32, i1) {
 %c1 = arith.constant 1 : i32
 %c0 = arith.constant 0 : i32
 %0 = arith.select %c, %c1, %c0 : i32
 %l1 = arith.constant 1 : i64
 %l0 = arith.constant 0 : i64
 %1 = arith.select %c, %l0, %l1 : i64
 %t = arith.constant true
 %nc = arith.xori %c, %t : i1
 %2 = arith.select %nc, %a, %b : i32
 %m1 = arith.constant -1 : i32
 %3 = arith.select %c, %m1, %c0 : i32
 %4 = arith.select %c, %d, %d : i1
 return %0, %1, %2, %3, %4 : i32,i64,i32,i32,i1 }
"#,
        &expect![[r#"
            module {
              func.func @i0a() -> i16 {
                %0 = arith.constant 0 : i16
                return %0 : i16
              }
              func.func @i0d() -> i1 {
                %0 = arith.constant false
                return %0 : i1
              }
              func.func @i0e() -> i0 {
                %0 = arith.constant 0 : i0
                return %0 : i0
              }
              func.func @bcp(%arg0: i16) -> i16 {
                return %arg0 : i16
              }
              func.func @sel2(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> (i32, i64, i32, i32, i1) {
                %0 = arith.constant true
                %1 = arith.constant -1 : i32
                %2 = arith.constant 0 : i32
                %3 = arith.extui %arg0 : i1 to i32
                %4 = arith.xori %arg0, %0 : i1
                %5 = arith.extui %4 : i1 to i64
                %6 = arith.select %arg0, %arg3, %arg2 : i32
                %7 = arith.select %arg0, %1, %2 : i32
                return %3, %5, %6, %7, %arg1 : i32, i64, i32, i32, i1
              }
            }
        "#]],
    );
}

#[test]
fn equal_blocks_are_passed_what_they_differ_in() {
    becomes_by(
        "builtin.module(canonicalize{region-simplify=aggressive})",
        r#"func.func @mism3(%c : i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = "foo.op"(%a, %b) : (i32, i32) -> i32
  return %x : i32
^bb2:
  %y = "foo.op"(%b, %b) : (i32, i32) -> i32
  return %y : i32
}
func.func @mism_attr(%c : i1, %a: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = "foo.op"(%a) {k = 1} : (i32) -> i32
  return %x : i32
^bb2:
  %y = "foo.op"(%a) {k = 2} : (i32) -> i32
  return %y : i32
}
func.func @args2(%c : i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^bb1(%a: i32), ^bb2(%b : i32)
^bb1(%p: i32):
  %x = "foo.op"(%p, %a) : (i32, i32) -> i32
  return %x : i32
^bb2(%q: i32):
  %y = "foo.op"(%q, %b) : (i32, i32) -> i32
  return %y : i32
}
func.func @unreg(%c : i1, %a: i32, %b: i32) -> i32 {
  "foo.br"()[^bb1, ^bb2] : () -> ()
^bb1:
  return %a : i32
^bb2:
  return %b : i32
}
func.func @loop(%c : i1, %d : i1) {
  %e = "foo.op"() : () -> (i1)
  cf.cond_br %c, ^bb2, ^bb3
^bb1:
  cf.cond_br %e, ^bb1, ^bb3
^bb2:
  cf.cond_br %d, ^bb1, ^bb3
^bb3:
  return
}
func.func @types(%c : i1, %a: i32, %b: i64) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  "foo.ret"(%a) : (i32) -> ()
  return
^bb2:
  "foo.ret"(%b) : (i64) -> ()
  return
}
func.func @three(%i : i32, %a: i32, %b: i32, %c: i32) -> i32 {
  cf.switch %i : i32, [ default: ^bb1, 1: ^bb2, 2: ^bb3 ]
^bb1:
  return %a : i32
^bb2:
  return %b : i32
^bb3:
  return %c : i32
}
"#,
        &expect![[r#"
            module {
              func.func @mism3(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.select %arg0, %arg1, %arg2 : i32
                %1 = "foo.op"(%0, %arg2) : (i32, i32) -> i32
                return %1 : i32
              }
              func.func @mism_attr(%arg0: i1, %arg1: i32) -> i32 {
                cf.cond_br %arg0, ^bb1, ^bb2
              ^bb1:
                %0 = "foo.op"(%arg1) {k = 1 : i64} : (i32) -> i32
                return %0 : i32
              ^bb2:
                %1 = "foo.op"(%arg1) {k = 2 : i64} : (i32) -> i32
                return %1 : i32
              }
              func.func @args2(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.select %arg0, %arg1, %arg2 : i32
                %1 = arith.select %arg0, %arg1, %arg2 : i32
                %2 = "foo.op"(%0, %1) : (i32, i32) -> i32
                return %2 : i32
              }
              func.func @unreg(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                "foo.br"()[^bb1, ^bb2] : () -> ()
              ^bb1:
                return %arg1 : i32
              ^bb2:
                return %arg2 : i32
              }
              func.func @loop(%arg0: i1, %arg1: i1) {
                %0 = "foo.op"() : () -> i1
                cf.cond_br %arg0, ^bb1(%arg1 : i1), ^bb2
              ^bb1(%1: i1):
                cf.cond_br %1, ^bb1(%0 : i1), ^bb2
              ^bb2:
                return
              }
              func.func @types(%arg0: i1, %arg1: i32, %arg2: i64) {
                cf.cond_br %arg0, ^bb1, ^bb2
              ^bb1:
                "foo.ret"(%arg1) : (i32) -> ()
                return
              ^bb2:
                "foo.ret"(%arg2) : (i64) -> ()
                return
              }
              func.func @three(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32) -> i32 {
                cf.switch %arg0 : i32, [
                  default: ^bb1(%arg1 : i32),
                  1: ^bb1(%arg2 : i32),
                  2: ^bb1(%arg3 : i32)
                ]
              ^bb1(%0: i32):
                return %0 : i32
              }
            }
        "#]],
    );
}
