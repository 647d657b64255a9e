// Only pure ops, and only those whose results nothing uses.
func.func @unused(%x: i5, %m: memref<4xi32>, %i: index) -> !noisy.i32 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %1 is never used
  %2 = noisy.add %0, %0 : !noisy.i32  // noise: 13
  %3 = noisy.add %2, %0 : !noisy.i32  // noise: 14
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %3 is never used
  %c0 = arith.constant 0 : i32
  //    ^^^^^^^^^^^^^^ hint[unused-op]: %c0 is never used
  %loaded = memref.load %m[%i] : memref<4xi32>
  %called = call @effect(%0) : (!noisy.i32) -> i32
  %other = "other.op"() : () -> i32
  return %0 : !noisy.i32
}

func.func private @effect(!noisy.i32) -> i32
