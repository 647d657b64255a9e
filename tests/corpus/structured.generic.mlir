"builtin.module"() ({
  "func.func"() <{function_type = (index, i32) -> i32, sym_name = "for"}> ({
  ^bb0(%arg0: index, %arg1: i32):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    "scf.for"(%0, %arg0, %1) ({
    ^bb0(%arg7: index):
      "ex.use"(%arg7) : (index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    %2 = "scf.for"(%0, %arg0, %1, %arg1) ({
    ^bb0(%arg5: index, %arg6: i32):
      %4 = "arith.addi"(%arg6, %arg6) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "scf.yield"(%4) : (i32) -> ()
    }) : (index, index, index, i32) -> i32
    %3:2 = "scf.for"(%0, %arg0, %1, %2, %arg1) ({
    ^bb0(%arg2: index, %arg3: i32, %arg4: i32):
      "scf.yield"(%arg4, %arg3) : (i32, i32) -> ()
    }) : (index, index, index, i32, i32) -> (i32, i32)
    "func.return"(%3#0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, i32) -> (), sym_name = "typed_for"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: i32):
    "scf.for"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: i32):
      "ex.use"(%arg3) : (i32) -> ()
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1, i32) -> i32, sym_name = "if"}> ({
  ^bb0(%arg0: i1, %arg1: i32):
    "scf.if"(%arg0) ({
      "ex.then"() : () -> ()
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    "scf.if"(%arg0) ({
      "ex.then"() : () -> ()
      "scf.yield"() : () -> ()
    }, {
      "ex.else"() : () -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    %0:2 = "scf.if"(%arg0) ({
      "scf.yield"(%arg1, %arg1) : (i32, i32) -> ()
    }, {
      %1 = "arith.addi"(%arg1, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "scf.yield"(%1, %arg1) : (i32, i32) -> ()
    }) : (i1) -> (i32, i32)
    "func.return"(%0#1) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32) -> i32, sym_name = "while"}> ({
  ^bb0(%arg0: i32, %arg1: i32):
    %0 = "scf.while"(%arg0) ({
    ^bb0(%arg3: i32):
      %3 = "arith.cmpi"(%arg3, %arg1) <{predicate = 2 : i64}> : (i32, i32) -> i1
      "scf.condition"(%3, %arg3) : (i1, i32) -> ()
    }, {
    ^bb0(%arg2: i32):
      %2 = "arith.addi"(%arg2, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "scf.yield"(%2) : (i32) -> ()
    }) : (i32) -> i32
    "scf.while"() ({
      %1 = "arith.constant"() <{value = true}> : () -> i1
      "scf.condition"(%1) : (i1) -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : () -> ()
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index) -> i32, sym_name = "switch"}> ({
  ^bb0(%arg0: index):
    %0 = "scf.index_switch"(%arg0) <{cases = array<i64: 2, 5>}> ({
      %3 = "arith.constant"() <{value = 30 : i32}> : () -> i32
      "scf.yield"(%3) : (i32) -> ()
    }, {
      %2 = "arith.constant"() <{value = 10 : i32}> : () -> i32
      "scf.yield"(%2) : (i32) -> ()
    }, {
      %1 = "arith.constant"() <{value = 20 : i32}> : () -> i32
      "scf.yield"(%1) : (i32) -> ()
    }) : (index) -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32) -> f32, sym_name = "parallel"}> ({
  ^bb0(%arg0: index, %arg1: f32):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    "scf.parallel"(%0, %0, %arg0, %arg0, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
    ^bb0(%arg5: index, %arg6: index):
      "ex.use"(%arg5, %arg6) : (index, index) -> ()
      "scf.reduce"() : () -> ()
    }) : (index, index, index, index, index, index) -> ()
    %2 = "scf.parallel"(%0, %arg0, %1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
    ^bb0(%arg2: index):
      "scf.reduce"(%arg1) ({
      ^bb0(%arg3: f32, %arg4: f32):
        %3 = "arith.addf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.reduce.return"(%3) : (f32) -> ()
      }) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    "func.return"(%2) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "execute"}> ({
  ^bb0(%arg0: i32):
    %0 = "scf.execute_region"() ({
      "cf.br"(%arg0)[^bb1] : (i32) -> ()
    ^bb1(%1: i32):  // pred: ^bb0
      "scf.yield"(%1) : (i32) -> ()
    }) : () -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

