// One line is broken; the others still work.
func.func @broken(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %1 = noisy.add %0, : !noisy.i32
  //                ^ error[expected-token]: expected an SSA value in `noisy.add`, found `:`
  %2 = noisy.add %0, %a : !noisy.i32  // noise: 25
  %3 = noisy.mul %2, %a : !noisy.i32  // noise: over 37
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %3: noise may reach 37 bits, 11 over the 26-bit budget
  %4 = noisy.add %1, %a : !noisy.i32  // noise: unknown
  %5 = noisy.add %undefined, %a : !noisy.i32  // noise: unknown
  //             ^^^^^^^^^^ error[undefined-value]: use of undefined value %undefined
  %6 = noisy.reduce_noise %5 : !noisy.i32  // noise: 12
  %7 = noisy.mul %6, %6 : !noisy.i32  // noise: 24
  return %7 : !noisy.i32
}
