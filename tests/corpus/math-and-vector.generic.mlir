"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, i32, vector<4xf64>) -> f32, sym_name = "math"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: i32, %arg3: vector<4xf64>):
    %0 = "math.sqrt"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.exp"(%0) <{fastmath = #arith.fastmath<fast>}> : (f32) -> f32
    %2 = "math.powf"(%1, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %3 = "math.fma"(%2, %arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32, f32) -> f32
    %4 = "math.absi"(%arg2) : (i32) -> i32
    %5 = "math.ctpop"(%4) : (i32) -> i32
    %6 = "math.tanh"(%arg3) <{fastmath = #arith.fastmath<none>}> : (vector<4xf64>) -> vector<4xf64>
    %7 = "math.fpowi"(%3, %5) <{fastmath = #arith.fastmath<none>}> : (f32, i32) -> f32
    "func.return"(%7) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, index, f32) -> vector<4xf32>, sym_name = "vector"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: index, %arg2: f32):
    %0 = "vector.broadcast"(%arg2) : (f32) -> vector<4xf32>
    %1 = "vector.load"(%arg0, %arg1) : (memref<8xf32>, index) -> vector<4xf32>
    %2 = "arith.addf"(%0, %1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    "vector.store"(%2, %arg0, %arg1) : (vector<4xf32>, memref<8xf32>, index) -> ()
    "func.return"(%2) : (vector<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

