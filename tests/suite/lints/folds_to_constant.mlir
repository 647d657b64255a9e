// checks: folds-to-constant
// Of known operands, of known ranges, and of what all calls of a private function pass.
func.func @f(%a: i32, %c: i1) -> i32 {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = arith.addi %c3, %c4 : i32
  //   ^^^^^^^^^^^^^^^^^^^ hint[folds-to-constant]: %0 folds to 7
  %1 = arith.muli %a, %0 : i32
  %2 = arith.andi %a, %c3 : i32
  %3 = arith.cmpi ult, %2, %c4 : i32
  //   ^^^^^^^^^^^^^^^^^^^^^^^ hint[folds-to-constant]: %3 folds to true
  %4 = arith.select %c, %c3, %c4 : i32
  %5 = arith.select %c, %c3, %c3 : i32
  //   ^^^^^^^^^^^^^^^^^^^^^^^^^ hint[folds-to-constant]: %5 folds to 3
  %6 = func.call @g(%c3) : (i32) -> i32
  // What cannot run has no value.
  %no = arith.constant false
  scf.if %no {
    %7 = arith.addi %c3, %c3 : i32
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.if never runs: the condition is constant
    "use"(%7) : (i32) -> ()
  }
  // Dividing by zero is no number.
  %c0 = arith.constant 0 : i32
  %8 = arith.divui %c3, %c0 : i32
  "use"(%1, %3, %4, %5, %6, %8) : (i32, i1, i32, i32, i32, i32) -> ()
  return %a : i32
}

func.func private @g(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.addi %x, %c1 : i32
  //   ^^^^^^^^^^^^^^^^^^ hint[folds-to-constant]: %0 folds to 4
  return %0 : i32
}
