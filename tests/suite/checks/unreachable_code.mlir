func.func @blocks(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %false = arith.constant false
  cf.cond_br %false, ^bb1, ^bb2
^bb1:
//@1-6 hint[unreachable-code]: block ^bb1 is never reached
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unreached
  cf.br ^bb3(%1 : !noisy.i32)
^bb2:
  return %a : !noisy.i32
^bb3(%2: !noisy.i32):  // noise: unreached
//@1-22 hint[unreachable-code]: block ^bb3 is never reached
  return %2 : !noisy.i32
}

func.func @regions(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %true -> (!noisy.i32) {  // noise: 12
    scf.yield %a : !noisy.i32
  } else {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.if never runs: the condition is constant
    %2 = noisy.mul %1, %1 : !noisy.i32  // noise: unreached
    scf.yield %2 : !noisy.i32
  }
  %3 = scf.for %i = %c1 to %c0 step %c1 iter_args(%acc = %0) -> (!noisy.i32) {  // noise: 12, unreached
    %4 = noisy.mul %acc, %acc : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.for never runs: the loop has 0 iterations
    // What is dead inside of what is dead is not told again.
    %5 = scf.if %true -> (!noisy.i32) {  // noise: unreached
      scf.yield %acc : !noisy.i32
    } else {
      scf.yield %4 : !noisy.i32
    }
    scf.yield %5 : !noisy.i32
  }
  return %3 : !noisy.i32
}
