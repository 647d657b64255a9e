// Fourteen rounds fit: 12 + 14 = 26.
func.func @fits(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %lo = arith.constant 0 : index
  %hi = arith.constant 14 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %lo to %hi step %one iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 26, 25
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: 26
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func @one_too_many(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %lo = arith.constant 0 : index
  %hi = arith.constant 30 : index
  %two = arith.constant 2 : index
  %0 = scf.for %i = %lo to %hi step %two iter_args(%acc = %a) -> (!noisy.i32) {  // noise: over 27, 26
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: over 27
    //   ^^^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 27 bits at iteration 15 of the loop, 1 over the 26-bit budget
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// Never runs.
func.func @never(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %lo = arith.constant 3 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %lo to %lo step %one iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 12, unreached
    %1 = noisy.mul %acc, %acc : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.for never runs: the loop has 0 iterations
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// How often it runs is not known: every round adds, so some round is too many.
func.func @grows(%a: !noisy.i32, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.for %i = %lo to %hi step %st iter_args(%acc = %a) -> (!noisy.i32) {  // noise: over, over
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: over
    scf.yield %1 : !noisy.i32
    //        ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
  }
  return %0 : !noisy.i32
}

// It adds, and takes away again.
func.func @steady(%a: !noisy.i32, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.for %i = %lo to %hi step %st iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 12, 12
    %1 = noisy.mul %acc, %a : !noisy.i32  // noise: 24
    %2 = noisy.reduce_noise %1 : !noisy.i32  // noise: 12
    scf.yield %2 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// Over in the very first round: an error of the op, not of the loop.
func.func @at_once(%a: !noisy.i32, %lo: index, %hi: index, %st: index) -> !noisy.i32 {  // noise: 12
  %m = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %0 = scf.for %i = %lo to %hi step %st iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 12, 12
    %1 = noisy.mul %m, %m : !noisy.i32  // noise: over 48
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 48 bits, 22 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %1 is never used
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}

// Values that change places: 20 reaches the multiplication in the second round.
func.func @rotates(%a: !noisy.i32, %b: !noisy.i32 {noisy.bound = 20 : i64}, %lo: index, %hi: index, %st: index) {  // noise: 12, 20
  %0:2 = scf.for %i = %lo to %hi step %st iter_args(%x = %a, %y = %b) -> (!noisy.i32, !noisy.i32) {  // noise: 20, 20, 20, 20
    %1 = noisy.mul %x, %x : !noisy.i32  // noise: over 40
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 40 bits at iteration 2 of the loop, 14 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %1 is never used
    scf.yield %y, %x : !noisy.i32, !noisy.i32
  }
  return
}

// Loops in loops: 3 times 4 additions.
func.func @nested(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (!noisy.i32) {  // noise: 24, 20
    %1 = scf.for %j = %c0 to %c4 step %c1 iter_args(%y = %x) -> (!noisy.i32) {  // noise: 24, 23
      %2 = noisy.add %y, %a : !noisy.i32  // noise: 24
      scf.yield %2 : !noisy.i32
    }
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// At most 4 rounds, and at most 13.
func.func @at_most(%a: !noisy.i32, %n: index) -> (!noisy.i32, !noisy.i32) {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %hi = arith.minui %n, %c4 : index
  %0 = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 16, 15
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: 16
    scf.yield %1 : !noisy.i32
  }
  %c14 = arith.constant 14 : index
  %more = arith.minui %n, %c14 : index
  %2 = scf.for %i = %c1 to %more step %c1 iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 25, 24
    %3 = noisy.add %acc, %a : !noisy.i32  // noise: 25
    scf.yield %3 : !noisy.i32
  }
  return %0, %2 : !noisy.i32, !noisy.i32
}

// Too many rounds are possible: the op that goes over in the fifteenth is told of.
func.func @too_many_are_possible(%a: !noisy.i32, %n: index) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %hi = arith.minui %n, %c15 : index
  %0 = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %a) -> (!noisy.i32) {  // noise: over 27, 26
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: over 27
    //   ^^^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 27 bits at iteration 15 of the loop, 1 over the 26-bit budget
    scf.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}
