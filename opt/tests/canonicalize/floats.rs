//! Constants of narrow float types that are too large for the type.

use expect_test::expect;

use crate::assert_canonicalized;

/// The expected values are those of `mlir-opt` 19.1.7.
#[test]
fn constants_that_are_too_large_become_infinity_or_nan() {
    assert_canonicalized(
        r"func.func @compared() -> (i1, i1) {
  %a = arith.constant 1.0e30 : f8E5M2
  %b = arith.constant 1.0e35 : f8E5M2
  %0 = arith.cmpf olt, %a, %b : f8E5M2
  %c = arith.constant 1.0e40 : tf32
  %d = arith.constant 1.0e45 : tf32
  %1 = arith.cmpf olt, %c, %d : tf32
  return %0, %1 : i1, i1
}
func.func @infinite() -> f32 {
  %a = arith.constant 1.0e9 : f8E5M2
  %0 = arith.extf %a : f8E5M2 to f32
  return %0 : f32
}
func.func @fn() -> f32 {
  %a = arith.constant 500.0 : f8E4M3FN
  %0 = arith.extf %a : f8E4M3FN to f32
  return %0 : f32
}
func.func @fnuz() -> f32 {
  %a = arith.constant 256.0 : f8E4M3FNUZ
  %0 = arith.extf %a : f8E4M3FNUZ to f32
  return %0 : f32
}
func.func @kept() -> (tf32, f8E5M2FNUZ) {
  %a = arith.constant 1.0e300 : tf32
  %b = arith.constant 0x80 : f8E5M2FNUZ
  return %a, %b : tf32, f8E5M2FNUZ
}
",
        &expect![[r#"
            module {
              func.func @compared() -> (i1, i1) {
                %0 = arith.constant false
                return %0, %0 : i1, i1
              }
              func.func @infinite() -> f32 {
                %0 = arith.constant 0x7F800000 : f32
                return %0 : f32
              }
              func.func @fn() -> f32 {
                %0 = arith.constant 0x7FF00000 : f32
                return %0 : f32
              }
              func.func @fnuz() -> f32 {
                %0 = arith.constant 0x7FC00000 : f32
                return %0 : f32
              }
              func.func @kept() -> (tf32, f8E5M2FNUZ) {
                %0 = arith.constant 0x3FC00 : tf32
                %1 = arith.constant 0x80 : f8E5M2FNUZ
                return %0, %1 : tf32, f8E5M2FNUZ
              }
            }
        "#]],
    );
}
