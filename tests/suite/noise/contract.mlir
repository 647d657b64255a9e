func.func private @given(!noisy.i32) -> (!noisy.i32 {noisy.bound = 20 : i64})

func.func @contract(%a: !noisy.i32 {noisy.bound = 5 : i64}, %b: !noisy.i32 {noisy.bound = 26 : i64}) -> !noisy.i32 {  // noise: 5, 26
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 10
  %1 = call @given(%0) : (!noisy.i32) -> !noisy.i32  // noise: 20
  %2 = noisy.add %1, %0 : !noisy.i32  // noise: 21
  %3 = noisy.add %b, %a : !noisy.i32  // noise: over 27
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %3: noise may reach 27 bits, 1 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %3 is never used
  return %2 : !noisy.i32
}
