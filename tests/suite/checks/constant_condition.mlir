func.func @ranges(%a: i8, %n: index) -> i8 {
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i8
  %c8 = arith.constant 8 : i8
  %0 = arith.andi %a, %c15 : i8
  %1 = arith.cmpi ult, %0, %c16 : i8
  %2 = scf.if %1 -> (i8) {
  //          ^^ hint[constant-condition]: condition %1 is always true
    scf.yield %0 : i8
  } else {
    scf.yield %a : i8
  //^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.if never runs: the condition is constant
  }
  %3 = arith.cmpi ult, %0, %c8 : i8
  %4 = scf.if %3 -> (i8) {
    scf.yield %2 : i8
  } else {
    scf.yield %a : i8
  }
  return %4 : i8
}

// A constant as it is written says so itself.
func.func @written(%a: i8) -> i8 {
  %true = arith.constant true
  %0 = scf.if %true -> (i8) {
    scf.yield %a : i8
  } else {
    scf.yield %a : i8
  //^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.if never runs: the condition is constant
  }
  return %0 : i8
}

func.func @switches(%a: i8) -> i8 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = arith.addi %c1, %c2 : index
  %1 = scf.index_switch %0 -> i8
  //                    ^^ hint[constant-condition]: %0 is always 3
  case 2 {
    scf.yield %a : i8
  //^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.index_switch never runs: the condition is constant
  }
  default {
    scf.yield %a : i8
  }
  %2 = arith.cmpi sgt, %0, %c2 : index
  cf.cond_br %2, ^bb1, ^bb2
  //         ^^ hint[constant-condition]: condition %2 is always true
^bb1:
  return %1 : i8
^bb2:
//@1-6 hint[unreachable-code]: block ^bb2 is never reached
  return %a : i8
}

// Within code that is never reached nothing is said.
func.func @dead(%a: i8) {
  return
^bb1:
//@1-6 hint[unreachable-code]: block ^bb1 is never reached
  %c1 = arith.constant 1 : i8
  %0 = arith.cmpi eq, %c1, %c1 : i8
  cf.cond_br %0, ^bb2, ^bb2
^bb2:
//@1-6 hint[unreachable-code]: block ^bb2 is never reached
  return
}
