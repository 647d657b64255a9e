func.func @diamond(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  cf.cond_br %c, ^left, ^right(%a : !noisy.i32)
^left:
  %1 = noisy.add %0, %a : !noisy.i32  // noise: 25
  cf.br ^join(%1 : !noisy.i32)
^right(%2: !noisy.i32):  // noise: 12
  %3 = noisy.sub %2, %a : !noisy.i32  // noise: 13
  cf.br ^join(%3 : !noisy.i32)
^join(%4: !noisy.i32):  // noise: 25
  %5 = noisy.add %4, %a : !noisy.i32  // noise: 26
  return %5 : !noisy.i32
}

func.func @switch(%a: !noisy.i32, %i: i32) -> !noisy.i32 {  // noise: 12
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  cf.switch %i : i32, [
    default: ^bb1(%a : !noisy.i32),
    1: ^bb1(%0 : !noisy.i32),
    2: ^bb2
  ]
^bb1(%1: !noisy.i32):  // noise: 24
  return %1 : !noisy.i32
^bb2:
  return %a : !noisy.i32
}

// Not reached, by a constant.
func.func @decided(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %false = arith.constant false
  cf.cond_br %false, ^bb1, ^bb2
^bb1:
//@1-6 hint[unreachable-code]: block ^bb1 is never reached
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unreached
  return %1 : !noisy.i32
^bb2:
  return %a : !noisy.i32
}

// A block that nothing branches to, and a cycle of such blocks.
func.func @unreachable(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  return %a : !noisy.i32
^bb1(%0: !noisy.i32):  // noise: unreached
//@1-22 hint[unreachable-code]: block ^bb1 is never reached
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unreached
  cf.br ^bb2
^bb2:
//@1-6 hint[unreachable-code]: block ^bb2 is never reached
  cf.br ^bb1(%1 : !noisy.i32)
}

// The definition stands below the use, in a block that dominates it.
func.func @order(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  cf.br ^bb2
^bb1:
  %1 = noisy.add %0, %0 : !noisy.i32  // noise: 25
  return %1 : !noisy.i32
^bb2:
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  cf.br ^bb1
}

func.func @cycle(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  %2 = noisy.reduce_noise %1 : !noisy.i32  // noise: 12
  %3 = noisy.add %2, %a : !noisy.i32  // noise: 13
  %4 = noisy.reduce_noise %3 : !noisy.i32  // noise: 12
  cf.cond_br %c, ^bb1(%4 : !noisy.i32), ^bb2
^bb2:
  return %4 : !noisy.i32
}

func.func @growing_cycle(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: over
  %1 = noisy.add %0, %a : !noisy.i32  // noise: over
  cf.cond_br %c, ^bb1(%1 : !noisy.i32), ^bb2
  //                  ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
^bb2:
  return %1 : !noisy.i32
}

// Two entries into a cycle.
func.func @irreducible(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %m = noisy.mul %a, %a : !noisy.i32  // noise: 24
  cf.cond_br %c, ^bb1(%a : !noisy.i32), ^bb2(%m : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: 25
  %1 = noisy.reduce_noise %0 : !noisy.i32  // noise: 12
  cf.br ^bb2(%1 : !noisy.i32)
^bb2(%2: !noisy.i32):  // noise: 24
  %3 = noisy.add %2, %a : !noisy.i32  // noise: 25
  cf.cond_br %c, ^bb1(%3 : !noisy.i32), ^bb3
^bb3:
  return %3 : !noisy.i32
}

// By more than one, and first over in the middle of a round.
func.func @growing_by_three(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: over
  %1 = noisy.add %0, %a : !noisy.i32  // noise: over
  cf.cond_br %c, ^bb2, ^bb3(%1 : !noisy.i32)
^bb2:
  %2 = noisy.add %1, %a : !noisy.i32  // noise: over
  cf.br ^bb3(%2 : !noisy.i32)
^bb3(%3: !noisy.i32):  // noise: over
  %4 = noisy.add %3, %a : !noisy.i32  // noise: over
  cf.cond_br %c, ^bb1(%4 : !noisy.i32), ^bb4
  //                  ^^ error[noise-grows]: %4: noise grows 3 bits per iteration, over the 26-bit budget at iteration 5
^bb4:
  return %4 : !noisy.i32
}

// Values change places: over in the third round, but there is an end to it.
func.func @places(%a: !noisy.i32, %b: !noisy.i32 {noisy.bound = 20 : i64}, %d: !noisy.i32 {noisy.bound = 25 : i64}, %c: i1) -> !noisy.i32 {  // noise: 12, 20, 25
  cf.br ^bb1(%a, %b, %d : !noisy.i32, !noisy.i32, !noisy.i32)
^bb1(%0: !noisy.i32, %1: !noisy.i32, %2: !noisy.i32):  // noise: 25, 25, 25
  %3 = noisy.add %0, %a : !noisy.i32  // noise: 26
  %4 = noisy.add %3, %a : !noisy.i32  // noise: over 27
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %4: noise may reach 27 bits at iteration 3 of the cycle of blocks, 1 over the 26-bit budget
  cf.cond_br %c, ^bb1(%1, %2, %2 : !noisy.i32, !noisy.i32, !noisy.i32), ^bb2
^bb2:
  return %4 : !noisy.i32
}

// A cycle in a cycle: each is told at its own branch.
func.func @nested_cycles(%a: !noisy.i32, %c: i1) -> (!noisy.i32, !noisy.i32) {  // noise: 12
  cf.br ^outer(%a : !noisy.i32)
^outer(%0: !noisy.i32):  // noise: over
  %1 = noisy.add %0, %a : !noisy.i32  // noise: over
  cf.br ^inner(%a : !noisy.i32)
^inner(%2: !noisy.i32):  // noise: over
  %3 = noisy.add %2, %a : !noisy.i32  // noise: over
  %4 = noisy.add %3, %a : !noisy.i32  // noise: over
  cf.cond_br %c, ^inner(%4 : !noisy.i32), ^next
  //                    ^^ error[noise-grows]: %4: noise grows 2 bits per iteration, over the 26-bit budget at iteration 8
^next:
  cf.cond_br %c, ^outer(%1 : !noisy.i32), ^end
  //                    ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
^end:
  return %1, %4 : !noisy.i32, !noisy.i32
}

// A loop with a known number of rounds in a cycle of blocks.
func.func @loop_in_cycle(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: over
  %1 = affine.for %i = 0 to 3 iter_args(%x = %0) -> (!noisy.i32) {  // noise: over, over
    %2 = noisy.add %x, %a : !noisy.i32  // noise: over
    affine.yield %2 : !noisy.i32
  }
  cf.cond_br %c, ^bb1(%1 : !noisy.i32), ^bb2
  //                  ^^ error[noise-grows]: %1: noise grows 3 bits per iteration, over the 26-bit budget at iteration 5
^bb2:
  return %1 : !noisy.i32
}

func.func private @one_more(%a: !noisy.i32) -> !noisy.i32 {  // noise: over
  %0 = noisy.add %a, %a : !noisy.i32  // noise: over
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %0: noise may reach 27 bits, 1 over the 26-bit budget
  return %0 : !noisy.i32
}

// What is added is added in a callee.
func.func @cycle_of_calls(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: over
  %1 = func.call @one_more(%0) : (!noisy.i32) -> !noisy.i32  // noise: over
  cf.cond_br %c, ^bb1(%1 : !noisy.i32), ^bb2
  //                  ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
^bb2:
  return %1 : !noisy.i32
}
