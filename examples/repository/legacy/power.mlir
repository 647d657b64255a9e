// x^8 without any reduction: over the budget, and only a warning here.
func.func @power(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32
  %4 = noisy.decode %3 : !noisy.i32 -> i5
  return %4 : i5
}
