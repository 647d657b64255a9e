// Every form of control flow in the generic form.
"func.func"() <{function_type = (!noisy.i32, i1) -> !noisy.i32, sym_name = "if"}> ({
^bb0(%arg0: !noisy.i32, %arg1: i1):  // noise: 12
  %0 = "scf.if"(%arg1) ({  // noise: 24
    %2 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    "scf.yield"(%2) : (!noisy.i32) -> ()
  }, {
    "scf.yield"(%arg0) : (!noisy.i32) -> ()
  }) : (i1) -> !noisy.i32
  %1 = "noisy.add"(%0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 25
  "func.return"(%1) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32) -> !noisy.i32, sym_name = "for"}> ({
^bb0(%arg0: !noisy.i32):  // noise: 12
  %0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %1 = "arith.constant"() <{value = 1 : index}> : () -> index
  %2 = "arith.constant"() <{value = 3 : index}> : () -> index
  %3 = "scf.for"(%0, %2, %1, %arg0) ({  // noise: 15
  ^bb0(%arg1: index, %arg2: !noisy.i32):  // noise: 14
    %4 = "noisy.add"(%arg2, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 15
    "scf.yield"(%4) : (!noisy.i32) -> ()
  }) : (index, index, index, !noisy.i32) -> !noisy.i32
  "func.return"(%3) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32, i1) -> !noisy.i32, sym_name = "while"}> ({
^bb0(%arg0: !noisy.i32, %arg1: i1):  // noise: 12
  %0 = "scf.while"(%arg0) ({  // noise: 13
  ^bb0(%arg2: !noisy.i32):  // noise: 12
    %1 = "noisy.add"(%arg2, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 13
    "scf.condition"(%arg1, %1) : (i1, !noisy.i32) -> ()
  }, {
  ^bb0(%arg2: !noisy.i32):  // noise: 13
    %1 = "noisy.reduce_noise"(%arg2) : (!noisy.i32) -> !noisy.i32  // noise: 12
    "scf.yield"(%1) : (!noisy.i32) -> ()
  }) : (!noisy.i32) -> !noisy.i32
  "func.return"(%0) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32, index) -> !noisy.i32, sym_name = "index_switch"}> ({
^bb0(%arg0: !noisy.i32, %arg1: index):  // noise: 12
  %0 = "scf.index_switch"(%arg1) <{cases = array<i64: 2, 5>}> ({  // noise: 24
    "scf.yield"(%arg0) : (!noisy.i32) -> ()
  }, {
    %1 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    "scf.yield"(%1) : (!noisy.i32) -> ()
  }, {
    %1 = "noisy.add"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 13
    "scf.yield"(%1) : (!noisy.i32) -> ()
  }) : (index) -> !noisy.i32
  "func.return"(%0) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32, i1) -> !noisy.i32, sym_name = "execute_region"}> ({
^bb0(%arg0: !noisy.i32, %arg1: i1):  // noise: 12
  %0 = "scf.execute_region"() ({  // noise: 25
    "cf.cond_br"(%arg1, %arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, !noisy.i32) -> ()
  ^bb1:
    %1 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    "cf.br"(%1)[^bb2] : (!noisy.i32) -> ()
  ^bb2(%2: !noisy.i32):  // noise: 24
    %3 = "noisy.add"(%2, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 25
    "scf.yield"(%3) : (!noisy.i32) -> ()
  }) : () -> !noisy.i32
  "func.return"(%0) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32, index) -> (!noisy.i32, !noisy.i32), sym_name = "affine"}> ({
^bb0(%arg0: !noisy.i32, %arg1: index):  // noise: 12
  %0 = "affine.for"(%arg0) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 4 : index, upperBoundMap = affine_map<() -> (10)>}> ({  // noise: 15
  ^bb0(%arg2: index, %arg3: !noisy.i32):  // noise: 14
    %2 = "noisy.add"(%arg3, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 15
    "affine.yield"(%2) : (!noisy.i32) -> ()
  }) : (!noisy.i32) -> !noisy.i32
  %1 = "affine.if"(%arg1) ({  // noise: 24
    %2 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    "affine.yield"(%2) : (!noisy.i32) -> ()
  }, {
    "affine.yield"(%0) : (!noisy.i32) -> ()
  }) {condition = affine_set<(d0) : (d0 - 4 >= 0)>} : (index) -> !noisy.i32
  "func.return"(%0, %1) : (!noisy.i32, !noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32, i32) -> !noisy.i32, sym_name = "switch"}> ({
^bb0(%arg0: !noisy.i32, %arg1: i32):  // noise: 12
  %0 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
  "cf.switch"(%arg1, %arg0, %0)[^bb1, ^bb1, ^bb2] <{case_operand_segments = array<i32: 1, 0>, case_values = dense<[1, 2]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, !noisy.i32, !noisy.i32) -> ()
^bb1(%1: !noisy.i32):  // noise: 24
  %2 = "noisy.add"(%1, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 25
  "cf.br"(%2)[^bb3] : (!noisy.i32) -> ()
^bb2:
  "cf.br"(%arg0)[^bb3] : (!noisy.i32) -> ()
^bb3(%3: !noisy.i32):  // noise: 25
  "func.return"(%3) : (!noisy.i32) -> ()
}) : () -> ()
"func.func"() <{function_type = (!noisy.i32) -> (), sym_name = "forall"}> ({
^bb0(%arg0: !noisy.i32):  // noise: 12
  "scf.forall"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
  ^bb0(%arg1: index):
    %0 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    %1 = "noisy.decode"(%0) : (!noisy.i32) -> i5
    "test.use"(%1) : (i5) -> ()
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : () -> ()
  "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (4)>}> ({
  ^bb0(%arg1: index):
    %0 = "noisy.mul"(%arg0, %arg0) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: 24
    %1 = "noisy.decode"(%0) : (!noisy.i32) -> i5
    "test.use"(%1) : (i5) -> ()
    "affine.yield"() : () -> ()
  }) : () -> ()
  "func.return"() : () -> ()
}) : () -> ()
