func.func @if(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.if %c -> (!noisy.i32) {  // noise: 24
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    scf.yield %1 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  %2 = noisy.add %0, %a : !noisy.i32  // noise: 25
  %3:2 = scf.if %c -> (!noisy.i32, !noisy.i32) {  // noise: 25, 25
    scf.yield %a, %2 : !noisy.i32, !noisy.i32
  } else {
    scf.yield %2, %a : !noisy.i32, !noisy.i32
  }
  %4 = noisy.mul %3#0, %3#1 : !noisy.i32  // noise: over 50
  //   ^^^^^^^^^^^^^^^^^^^^ error[noise-overflow]: %4: noise may reach 50 bits, 24 over the 26-bit budget
  return %4 : !noisy.i32
}

// A branch that is never taken is dead.
func.func @decided(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %true = arith.constant true
  %0 = scf.if %true -> (!noisy.i32) {  // noise: 12
    scf.yield %a : !noisy.i32
  } else {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.if never runs: the condition is constant
    %2 = noisy.mul %1, %1 : !noisy.i32  // noise: unreached
    scf.yield %2 : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func @select(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %1 = arith.select %c, %0, %a : !noisy.i32  // noise: 24
  %2 = noisy.mul %1, %a : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
  return %2 : !noisy.i32
}
