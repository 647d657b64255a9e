"builtin.module"() ({
  "func.func"() <{function_type = (i5) -> i5, sym_name = "noisy"}> ({
  ^bb0(%arg0: i5):
    %0 = "noisy.encode"(%arg0) : (i5) -> !noisy.i32
    %1 = "noisy.add"(%0, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %2 = "noisy.sub"(%1, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %3 = "noisy.mul"(%2, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %4 = "noisy.reduce_noise"(%3) : (!noisy.i32) -> !noisy.i32
    %5 = "noisy.decode"(%4) : (!noisy.i32) -> i5
    "func.return"(%5) : (i5) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (!noisy.i32, index) -> !noisy.i32, sym_name = "loop"}> ({
  ^bb0(%arg0: !noisy.i32, %arg1: index):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "scf.for"(%0, %arg1, %1, %arg0) ({
    ^bb0(%arg2: index, %arg3: !noisy.i32):
      %3 = "noisy.add"(%arg3, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
      %4 = "noisy.reduce_noise"(%3) : (!noisy.i32) -> !noisy.i32
      "scf.yield"(%4) : (!noisy.i32) -> ()
    }) : (index, index, index, !noisy.i32) -> !noisy.i32
    "func.return"(%2) : (!noisy.i32) -> ()
  }) : () -> ()
}) : () -> ()

