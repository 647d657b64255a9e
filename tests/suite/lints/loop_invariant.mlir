// checks: loop-invariant
// What uses nothing of the loop and may run where the loop does not.
func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.muli %a, %b : i32
    //   ^^^^^^^^^^^^^^^^^ hint[loop-invariant]: %0 does not change in the loop
    %1 = arith.addi %0, %a : i32
    //   ^^^^^^^^^^^^^^^^^ hint[loop-invariant]: %1 does not change in the loop
    %cast = arith.index_cast %i : index to i32
    %2 = arith.addi %1, %cast : i32
    // Dividing by zero would be undefined if the loop does not run.
    %3 = arith.divui %a, %b : i32
    // Constants are not reported, and a load may see what an iteration has stored.
    %c7 = arith.constant 7 : i32
    %4 = memref.load %m[%c0] : memref<?xi32>
    %5 = arith.addi %3, %4 : i32
    %6 = arith.addi %5, %c7 : i32
    %7 = arith.addi %2, %6 : i32
    memref.store %7, %m[%i] : memref<?xi32>
    // Only of the loop that it stands in.
    scf.for %j = %c0 to %n step %c1 {
      %8 = arith.muli %cast, %b : i32
      //   ^^^^^^^^^^^^^^^^^^^^ hint[loop-invariant]: %8 does not change in the loop
      memref.store %8, %m[%j] : memref<?xi32>
    }
    // Under a condition.
    scf.if %c {
      %9 = arith.subi %a, %b : i32
      memref.store %9, %m[%i] : memref<?xi32>
    }
  }
  return
}
