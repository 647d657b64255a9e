// Legal as it stands: 24, 25, 26. Nothing to report, nothing to insert.
func.func @mul_add_add(%a: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {  // noise: 12, 12
  %0 = noisy.mul %a, %b : !noisy.i32  // noise: 24
  %1 = noisy.add %0, %a : !noisy.i32  // noise: 25
  %2 = noisy.add %1, %b : !noisy.i32  // noise: 26
  return %2 : !noisy.i32
}
