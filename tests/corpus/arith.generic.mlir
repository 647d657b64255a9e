"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, i1) -> i32, sym_name = "integers"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: i1):
    %0 = "arith.addi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.subi"(%0, %arg1) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
    %2 = "arith.muli"(%1, %1) <{overflowFlags = #arith.overflow<nsw, nuw>}> : (i32, i32) -> i32
    %3 = "arith.divsi"(%2, %arg0) : (i32, i32) -> i32
    %4 = "arith.divui"(%3, %arg1) : (i32, i32) -> i32
    %5 = "arith.remsi"(%4, %arg0) : (i32, i32) -> i32
    %6 = "arith.remui"(%5, %arg1) : (i32, i32) -> i32
    %7 = "arith.ceildivsi"(%6, %arg0) : (i32, i32) -> i32
    %8 = "arith.ceildivui"(%7, %arg0) : (i32, i32) -> i32
    %9 = "arith.floordivsi"(%8, %arg0) : (i32, i32) -> i32
    %10 = "arith.andi"(%9, %arg0) : (i32, i32) -> i32
    %11 = "arith.ori"(%10, %arg0) : (i32, i32) -> i32
    %12 = "arith.xori"(%11, %arg0) : (i32, i32) -> i32
    %13 = "arith.shli"(%12, %arg0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %14 = "arith.shrsi"(%13, %arg0) : (i32, i32) -> i32
    %15 = "arith.shrui"(%14, %arg0) : (i32, i32) -> i32
    %16 = "arith.maxsi"(%15, %arg0) : (i32, i32) -> i32
    %17 = "arith.maxui"(%16, %arg0) : (i32, i32) -> i32
    %18 = "arith.minsi"(%17, %arg0) : (i32, i32) -> i32
    %19 = "arith.minui"(%18, %arg0) : (i32, i32) -> i32
    %20 = "arith.select"(%arg2, %19, %arg0) : (i1, i32, i32) -> i32
    "func.return"(%20) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32) -> (i32, i1), sym_name = "wide"}> ({
  ^bb0(%arg0: i32, %arg1: i32):
    %0:2 = "arith.addui_extended"(%arg0, %arg1) : (i32, i32) -> (i32, i1)
    %1:2 = "arith.mulsi_extended"(%0#0, %arg1) : (i32, i32) -> (i32, i32)
    %2:2 = "arith.mului_extended"(%1#0, %1#1) : (i32, i32) -> (i32, i32)
    "func.return"(%2#0, %0#1) : (i32, i1) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f64) -> f64, sym_name = "floats"}> ({
  ^bb0(%arg0: f32, %arg1: f64):
    %0 = "arith.addf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "arith.subf"(%0, %arg0) <{fastmath = #arith.fastmath<fast>}> : (f32, f32) -> f32
    %2 = "arith.mulf"(%1, %arg0) <{fastmath = #arith.fastmath<nnan,ninf>}> : (f32, f32) -> f32
    %3 = "arith.divf"(%2, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %4 = "arith.remf"(%3, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %5 = "arith.negf"(%4) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %6 = "arith.maximumf"(%5, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %7 = "arith.minimumf"(%6, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %8 = "arith.maxnumf"(%7, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %9 = "arith.minnumf"(%8, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %10 = "arith.extf"(%9) : (f32) -> f64
    %11 = "arith.addf"(%10, %arg1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    %12 = "arith.truncf"(%11) : (f64) -> f16
    %13 = "arith.extf"(%12) : (f16) -> f64
    "func.return"(%13) : (f64) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i8, index, f32) -> i64, sym_name = "casts"}> ({
  ^bb0(%arg0: i8, %arg1: index, %arg2: f32):
    %0 = "arith.extsi"(%arg0) : (i8) -> i16
    %1 = "arith.extui"(%0) : (i16) -> i32
    %2 = "arith.trunci"(%1) : (i32) -> i8
    %3 = "arith.sitofp"(%2) : (i8) -> f32
    %4 = "arith.uitofp"(%2) : (i8) -> f32
    %5 = "arith.fptosi"(%3) : (f32) -> i32
    %6 = "arith.fptoui"(%4) : (f32) -> i32
    %7 = "arith.index_cast"(%arg1) : (index) -> i64
    %8 = "arith.index_castui"(%7) : (i64) -> index
    %9 = "arith.bitcast"(%arg2) : (f32) -> i32
    %10 = "arith.extsi"(%9) : (i32) -> i64
    "func.return"(%10) : (i64) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, f64, f64) -> i1, sym_name = "compare"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: f64, %arg3: f64):
    %0 = "arith.cmpi"(%arg0, %arg1) <{predicate = 0 : i64}> : (i32, i32) -> i1
    %1 = "arith.cmpi"(%arg0, %arg1) <{predicate = 2 : i64}> : (i32, i32) -> i1
    %2 = "arith.cmpi"(%arg0, %arg1) <{predicate = 9 : i64}> : (i32, i32) -> i1
    %3 = "arith.cmpf"(%arg2, %arg3) <{fastmath = #arith.fastmath<none>, predicate = 1 : i64}> : (f64, f64) -> i1
    %4 = "arith.cmpf"(%arg2, %arg3) <{fastmath = #arith.fastmath<nnan>, predicate = 13 : i64}> : (f64, f64) -> i1
    %5 = "arith.cmpf"(%arg2, %arg3) <{fastmath = #arith.fastmath<none>, predicate = 15 : i64}> : (f64, f64) -> i1
    %6 = "arith.andi"(%0, %1) : (i1, i1) -> i1
    %7 = "arith.ori"(%6, %2) : (i1, i1) -> i1
    %8 = "arith.xori"(%7, %3) : (i1, i1) -> i1
    %9 = "arith.andi"(%8, %4) : (i1, i1) -> i1
    %10 = "arith.andi"(%9, %5) : (i1, i1) -> i1
    "func.return"(%10) : (i1) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (i1, i1, index, i64, i32, f32, f64, f16), sym_name = "constants"}> ({
    %0 = "arith.constant"() <{value = true}> : () -> i1
    %1 = "arith.constant"() <{value = false}> : () -> i1
    %2 = "arith.constant"() <{value = 7 : index}> : () -> index
    %3 = "arith.constant"() <{value = -9223372036854775808 : i64}> : () -> i64
    %4 = "arith.constant"() <{value = 255 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 1.500000e+00 : f32}> : () -> f32
    %6 = "arith.constant"() <{value = -2.500000e-03 : f64}> : () -> f64
    %7 = "arith.constant"() <{value = 0x7E00 : f16}> : () -> f16
    "func.return"(%0, %1, %2, %3, %4, %5, %6, %7) : (i1, i1, index, i64, i32, f32, f64, f16) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4xi32>, tensor<2x?xf32>, vector<4xi1>) -> vector<4xi32>, sym_name = "shaped"}> ({
  ^bb0(%arg0: vector<4xi32>, %arg1: tensor<2x?xf32>, %arg2: vector<4xi1>):
    %0 = "arith.constant"() <{value = dense<3> : vector<4xi32>}> : () -> vector<4xi32>
    %1 = "arith.constant"() <{value = dense<[1, -2, 3, 4]> : vector<4xi32>}> : () -> vector<4xi32>
    %2 = "arith.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf64>}> : () -> tensor<2x2xf64>
    %3 = "arith.constant"() <{value = dense<> : tensor<0xi8>}> : () -> tensor<0xi8>
    %4 = "arith.addi"(%arg0, %0) <{overflowFlags = #arith.overflow<none>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %5 = "arith.cmpi"(%4, %1) <{predicate = 6 : i64}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
    %6 = "arith.select"(%5, %4, %1) : (vector<4xi1>, vector<4xi32>, vector<4xi32>) -> vector<4xi32>
    %7 = "arith.addf"(%arg1, %arg1) <{fastmath = #arith.fastmath<none>}> : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
    "func.return"(%6) : (vector<4xi32>) -> ()
  }) : () -> ()
}) : () -> ()

