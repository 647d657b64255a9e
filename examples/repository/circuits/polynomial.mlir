// x^4 + x, with one reduction: legal.
func.func @polynomial(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.reduce_noise %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32
  %4 = noisy.add %3, %0 : !noisy.i32
  %5 = noisy.decode %4 : !noisy.i32 -> i5
  return %5 : i5
}
