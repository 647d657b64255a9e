"func.func"() <{function_type = (!noisy.i32, i1) -> !noisy.i32, sym_name = "generic"}> ({
^bb0(%a: !noisy.i32, %c: i1):  // noise: 12
  %0 = "noisy.mul"(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
  "cf.cond_br"(%c, %0, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, !noisy.i32, !noisy.i32) -> ()
^bb1(%1: !noisy.i32):  // noise: 24
  %2 = "noisy.mul"(%1, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^^^^ hint[unused-op]: %2 is never used
  "cf.br"(%1)[^bb2] : (!noisy.i32) -> ()
^bb2(%3: !noisy.i32):  // noise: 24
  "func.return"(%3) : (!noisy.i32) -> ()
}) : () -> ()
