// What is not known raises no error.
func.func @unknown(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = "other.op"(%a) : (!noisy.i32) -> !noisy.i32  // noise: unknown
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unknown
  %2 = noisy.mul %1, %1 : !noisy.i32  // noise: unknown
  %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
  %4 = noisy.mul %3, %a : !noisy.i32  // noise: 24
  return %4 : !noisy.i32
}

func.func private @elsewhere(!noisy.i32) -> !noisy.i32
//                ^^^^^^^^^^ warning[missing-contract]: noise of result 0 of @elsewhere is unknown: the function has no body and declares no bound

func.func @calls(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = call @elsewhere(%a) : (!noisy.i32) -> !noisy.i32  // noise: unknown
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unknown
  return %1 : !noisy.i32
}

// A region of an op that nobody knows.
func.func @region(%a: !noisy.i32) {  // noise: 12
  "other.loop"() ({
  ^bb0(%x: !noisy.i32):  // noise: unknown
    %0 = noisy.mul %x, %a : !noisy.i32  // noise: unknown
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %0 is never used
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    %2 = noisy.mul %1, %a : !noisy.i32  // noise: over 36
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %2 is never used
    "other.end"() : () -> ()
  }) : () -> ()
  return
}
