// Each call sees the callee with what it passes; the facts inside are the join.
func.func private @inc(%a: !noisy.i32) -> !noisy.i32 {  // noise: 24
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 25
  return %0 : !noisy.i32
}

func.func @main(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = call @inc(%a) : (!noisy.i32) -> !noisy.i32  // noise: 13
  %1 = call @inc(%0) : (!noisy.i32) -> !noisy.i32  // noise: 14
  %2 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %3 = call @inc(%2) : (!noisy.i32) -> !noisy.i32  // noise: 25
  %4 = call @inc(%1) : (!noisy.i32) -> !noisy.i32  // noise: 15
  %5 = noisy.reduce_noise %3 : !noisy.i32  // noise: 12
  %6 = noisy.add %5, %4 : !noisy.i32  // noise: 16
  return %6 : !noisy.i32
}

// (12, 26) and (26, 12) are legal, (26, 26) would not be: contexts are not joined first.
func.func private @first_or_second(%a: !noisy.i32, %b: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 26, 12
  %0 = scf.if %c -> (!noisy.i32) {  // noise: 13
    %1 = noisy.reduce_noise %a : !noisy.i32  // noise: 12
    %2 = noisy.add %1, %1 : !noisy.i32  // noise: 13
    scf.yield %2 : !noisy.i32
  } else {
    scf.yield %b : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func private @product(%a: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {  // noise: 15, 14
  %0 = noisy.mul %a, %b : !noisy.i32  // noise: over 27
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %0: noise may reach 27 bits, 1 over the 26-bit budget
  return %0 : !noisy.i32
}

func.func @apart(%a: !noisy.i32, %n: !noisy.i32 {noisy.bound = 14 : i64}, %z: !noisy.i32 {noisy.bound = 10 : i64}, %c: i1) -> (!noisy.i32, !noisy.i32, !noisy.i32) {  // noise: 12, 14, 10
  %0 = call @product(%n, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 26
  %1 = call @product(%a, %n) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 26
  %2 = call @first_or_second(%0, %a, %c) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32  // noise: 13
  return %0, %1, %2 : !noisy.i32, !noisy.i32, !noisy.i32
}

// Wrong for one of the calls only; which one is said.
func.func @culprit(%a: !noisy.i32, %n: !noisy.i32 {noisy.bound = 15 : i64}) -> (!noisy.i32, !noisy.i32) {  // noise: 12, 15
  %0 = call @product(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
  %1 = call @product(%n, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: over 27
  return %0, %1 : !noisy.i32, !noisy.i32
}
