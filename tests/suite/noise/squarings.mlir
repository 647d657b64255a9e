// One chain, one error.
func.func @squarings() -> i5 {
  %c3 = arith.constant 3 : i5
  %c4 = arith.constant 4 : i5
  %0 = noisy.encode %c3 : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.encode %c4 : i5 -> !noisy.i32  // noise: 12
  %2 = noisy.mul %0, %1 : !noisy.i32  // noise: 24
  %3 = noisy.mul %2, %2 : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %3: noise may reach 48 bits, 22 over the 26-bit budget
  %4 = noisy.mul %3, %3 : !noisy.i32  // noise: over 96
  %5 = noisy.mul %4, %4 : !noisy.i32  // noise: over 192
  %6 = noisy.decode %5 : !noisy.i32 -> i5
  return %6 : i5
}

// Two chains, two errors; the second starts anew behind a reduce.
func.func @two(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %1 = noisy.mul %0, %a : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 36 bits, 10 over the 26-bit budget
  %2 = noisy.sub %1, %0 : !noisy.i32  // noise: over 37
  %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
  %4 = noisy.mul %3, %0 : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %4: noise may reach 36 bits, 10 over the 26-bit budget
  return %4 : !noisy.i32
}
