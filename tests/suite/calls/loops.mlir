func.func private @inc(%a: !noisy.i32) -> !noisy.i32 {  // noise: 25
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 26
  return %0 : !noisy.i32
}

// 14 rounds are legal.
func.func @exact(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c14 = arith.constant 14 : index
  %0 = scf.for %i = %c0 to %c14 step %c1 iter_args(%x = %a) -> (!noisy.i32) {  // noise: 26, 25
    %1 = func.call @inc(%x) : (!noisy.i32) -> !noisy.i32  // noise: 26
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func private @inc_too(%a: !noisy.i32) -> !noisy.i32 {  // noise: over
  %0 = noisy.add %a, %a : !noisy.i32  // noise: over
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %0: noise may reach 27 bits, 1 over the 26-bit budget
  return %0 : !noisy.i32
}

// Any number of rounds is not.
func.func @grows(%a: !noisy.i32, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.for %i = %lo to %hi step %st iter_args(%x = %a) -> (!noisy.i32) {  // noise: over, over
    %1 = func.call @inc_too(%x) : (!noisy.i32) -> !noisy.i32  // noise: over
    scf.yield %1 : !noisy.i32
    //        ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
  }
  return %0 : !noisy.i32
}

// Contracts cut the flow: what is assumed does not grow.
func.func private @kept(%a: !noisy.i32 {noisy.bound = 20 : i64}) -> (!noisy.i32 {noisy.bound = 20 : i64}) {  // noise: 20
  %0 = noisy.reduce_noise %a : !noisy.i32  // noise: 12
  %1 = noisy.add %0, %0 : !noisy.i32  // noise: 13
  return %1 : !noisy.i32
}

func.func @bounded(%a: !noisy.i32, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.for %i = %lo to %hi step %st iter_args(%x = %a) -> (!noisy.i32) {  // noise: 13, 13
    %1 = func.call @kept(%x) : (!noisy.i32) -> !noisy.i32  // noise: 13
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// What is called returns noise without a bound at once: no number is made up for what an iteration adds.
func.func @unbounded(%a: !noisy.i32, %c: i1, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.for %i = %lo to %hi step %st iter_args(%x = %a) -> (!noisy.i32) {  // noise: over, over
    %1 = func.call @recurs(%x, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
    scf.yield %1 : !noisy.i32
    //        ^^ error[noise-grows]: %1: noise grows with each iteration, over the 26-bit budget at iteration 1
  }
  return %0 : !noisy.i32
}

func.func private @recurs(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: over
  %0 = scf.if %c -> (!noisy.i32) {  // noise: over
    %1 = noisy.add %a, %a : !noisy.i32  // noise: over
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 27 bits, 1 over the 26-bit budget
    %2 = func.call @recurs(%1, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
    scf.yield %2 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}
