// checks: same-value
// Equal ops on equal operands, where the first runs whenever the second does.
func.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>, %i: index) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %b, %a : i32
  //   ^^^^^^^^^^^^^^^^^ hint[same-value]: %1 is the same value as %0 in line 4
  %2 = arith.muli %a, %b overflow<nsw> : i32
  %3 = arith.subi %a, %b : i32
  %4 = arith.subi %b, %a : i32
  // In a region, of what is around it; not the other way round, nor of the other branch.
  %5 = scf.if %c -> (i32) {
    %6 = arith.addi %0, %3 : i32
    %7 = arith.muli %a, %b : i32
    //   ^^^^^^^^^^^^^^^^^ hint[same-value]: %7 is the same value as %0 in line 4
    %8 = arith.addi %6, %7 : i32
    scf.yield %8 : i32
  } else {
    %9 = arith.addi %0, %3 : i32
    scf.yield %9 : i32
  }
  %10 = arith.addi %0, %3 : i32
  // A load sees the same until something writes.
  %11 = memref.load %m[%i] : memref<4xi32>
  %12 = memref.load %m[%i] : memref<4xi32>
  //    ^^^^^^^^^^^^^^^^^ hint[same-value]: %12 is the same value as %11 in line 21
  memref.store %4, %m[%i] : memref<4xi32>
  %13 = memref.load %m[%i] : memref<4xi32>
  // Equal constants are not reported, and what has effects is not the same.
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 1 : i32
  %14 = func.call @g(%c1) : (i32) -> i32
  %15 = func.call @g(%c1) : (i32) -> i32
  "use"(%1, %2, %5, %10, %11, %12, %13, %c2, %14, %15) : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> ()
  return %0 : i32
}

func.func private @g(i32) -> i32
