// Each run gives a fresh value; four are added to the first: 12 + 4.
func.func @sum(%a: !noisy.i32, %x: i5) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%a) -> !noisy.i32 {  // noise: 16
    %1 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
    scf.reduce(%1 : !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: 15, 15
      %2 = noisy.add %l, %r : !noisy.i32  // noise: 16
      scf.reduce.return %2 : !noisy.i32
    }
  }
  return %0 : !noisy.i32
}

// 3 times 5 runs are one too many, and two reductions are apart.
func.func @product_space(%a: !noisy.i32, %b: !noisy.i32) -> (!noisy.i32, !noisy.i32) {  // noise: 12, 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%c3, %c5) step (%c1, %c1) init (%a, %b) -> (!noisy.i32, !noisy.i32) {  // noise: over 27, 12
    scf.reduce(%a, %b : !noisy.i32, !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: 26, 26
      %1 = noisy.add %l, %r : !noisy.i32  // noise: over 27
      //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 27 bits at iteration 15 of the reduction, 1 over the 26-bit budget
      scf.reduce.return %1 : !noisy.i32
    }, {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: 12, 12
      %1 = noisy.mul %l, %r : !noisy.i32  // noise: 24
      %2 = noisy.reduce_noise %1 : !noisy.i32  // noise: 12
      scf.reduce.return %2 : !noisy.i32
    }
  }
  return %0#0, %0#1 : !noisy.i32, !noisy.i32
}

// How many runs there are is not known.
func.func @grows(%a: !noisy.i32, %n: index) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%a) -> !noisy.i32 {  // noise: over
    scf.reduce(%a : !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: over, over
      %1 = noisy.add %l, %r : !noisy.i32  // noise: over
      scf.reduce.return %1 : !noisy.i32
      //                ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
    }
  }
  return %0 : !noisy.i32
}

// No run at all.
func.func @never(%a: !noisy.i32, %n: index) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c0) step (%c1, %c1) init (%a) -> !noisy.i32 {  // noise: 12
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  //^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ hint[unreachable-code]: this region of scf.parallel never runs: the loop has 0 iterations
    scf.reduce(%1 : !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: unreached, unreached
      %2 = noisy.mul %l, %r : !noisy.i32  // noise: unreached
      scf.reduce.return %2 : !noisy.i32
    }
  }
  return %0 : !noisy.i32
}

// Either of two values may come first.
func.func @order(%a: !noisy.i32, %n: index) -> !noisy.i32 {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = noisy.mul %a, %a : !noisy.i32  // noise: 24
  %0 = scf.parallel (%i) = (%c0) to (%c2) step (%c1) init (%a) -> !noisy.i32 {  // noise: 26
    scf.reduce(%m : !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: 25, 25
      %1 = noisy.reduce_noise %r : !noisy.i32  // noise: 12
      %2 = noisy.add %l, %1 : !noisy.i32  // noise: 26
      scf.reduce.return %2 : !noisy.i32
    }
  }
  return %0 : !noisy.i32
}

// Nothing is combined: what stands inside is looked at.
func.func @plain(%a: !noisy.i32, %n: index) {  // noise: 12
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    %2 = noisy.mul %1, %a : !noisy.i32  // noise: over 36
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %2 is never used
  }
  scf.forall (%i) in (4) {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    %2 = noisy.mul %1, %a : !noisy.i32  // noise: over 36
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %2 is never used
  }
  affine.parallel (%i) = (0) to (4) {
    %1 = noisy.mul %a, %a : !noisy.i32  // noise: 24
    %2 = noisy.mul %1, %a : !noisy.i32  // noise: over 36
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
    //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %2 is never used
  }
  return
}

// The results of affine.parallel are integers and floats; there is no way to say how noisy values are combined.
func.func @integers(%m: memref<4xi5>) -> !noisy.i32 {
  %0 = affine.parallel (%i) = (0) to (4) reduce ("addi") -> (i5) {
    %1 = affine.load %m[%i] : memref<4xi5>
    affine.yield %1 : i5
  }
  %2 = noisy.encode %0 : i5 -> !noisy.i32  // noise: 12
  return %2 : !noisy.i32
}

"func.func"() <{function_type = (!noisy.i32, index) -> !noisy.i32, sym_name = "generic"}> ({
^bb0(%a: !noisy.i32, %n: index):  // noise: 12
  %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
  %c4 = "arith.constant"() <{value = 4 : index}> : () -> index
  %0 = "scf.parallel"(%c0, %c4, %c1, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({  // noise: 17
  ^bb0(%i: index):
    %1 = "noisy.add"(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 13
    "scf.reduce"(%1) ({
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):  // noise: 16, 16
      %2 = "noisy.add"(%l, %r) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 17
      "scf.reduce.return"(%2) : (!noisy.i32) -> ()
    }) : (!noisy.i32) -> ()
  }) : (index, index, index, !noisy.i32) -> !noisy.i32
  "func.return"(%0) : (!noisy.i32) -> ()
}) : () -> ()
