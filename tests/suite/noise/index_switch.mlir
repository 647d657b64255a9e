func.func @switch(%a: !noisy.i32, %i: index) -> !noisy.i32 {  // noise: 12
  %0 = scf.index_switch %i -> !noisy.i32  // noise: 24
  case 0 {
    %1 = noisy.add %a, %a : !noisy.i32  // noise: 13
    scf.yield %1 : !noisy.i32
  }
  case 5 {
    %2 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    scf.yield %2 : !noisy.i32
  }
  default {
    scf.yield %a : !noisy.i32
  }
  %3 = noisy.add %0, %a : !noisy.i32  // noise: 25
  return %3 : !noisy.i32
}

func.func @execute(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.execute_region -> !noisy.i32 {  // noise: 24
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    scf.yield %1 : !noisy.i32
  ^bb2:
    scf.yield %a : !noisy.i32
  }
  %2 = noisy.mul %0, %a : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
  return %2 : !noisy.i32
}

// Decided: the default stands last, and is meant where no case is.
func.func @decided_switch(%a: !noisy.i32) -> (!noisy.i32, !noisy.i32) {  // noise: 12
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.index_switch %c3 -> !noisy.i32  // noise: 13
  case 2 {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.index_switch never runs: the condition is constant
    scf.yield %1 : !noisy.i32
  }
  default {
    %2 = noisy.add %a, %a : !noisy.i32  // noise: 13
    scf.yield %2 : !noisy.i32
  }
  %3 = scf.index_switch %c2 -> !noisy.i32  // noise: 24
  case 2 {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    scf.yield %1 : !noisy.i32
  }
  default {
    %2 = noisy.add %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.index_switch never runs: the condition is constant
    scf.yield %2 : !noisy.i32
  }
  %4 = "scf.index_switch"(%c3) <{cases = array<i64: 2>}> ({  // noise: 13
    %2 = noisy.add %a, %a : !noisy.i32  // noise: 13
    scf.yield %2 : !noisy.i32
  }, {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.index_switch never runs: the condition is constant
    scf.yield %1 : !noisy.i32
  }) : (index) -> !noisy.i32
  %5 = noisy.add %3, %4 : !noisy.i32  // noise: 25
  return %0, %5 : !noisy.i32, !noisy.i32
}
