"builtin.module"() ({
  "func.func"() <{arg_attrs = [{}, {ex.note = "second"}], function_type = (i32, f32) -> (i32, f32), res_attrs = [{ex.range = [0, 7]}, {}], sym_name = "declared", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{arg_attrs = [{ex.x}], function_type = (i32) -> (), sym_name = "attributes"}> ({
  ^bb0(%arg0: i32):
    "func.return"() : () -> ()
  }) {ex.list = [1, "two", @declared]} : () -> ()
  "func.func"() <{function_type = () -> i32, sym_name = "visible", sym_visibility = "public"}> ({
    %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "nested", sym_visibility = "nested"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "caller"}> ({
  ^bb0(%arg2: i32):
    %0:2 = "func.call"(%arg2, %arg2) <{callee = @callee}> : (i32, i32) -> (i32, i32)
    %1 = "func.constant"() <{value = @callee}> : () -> ((i32, i32) -> (i32, i32))
    %2:2 = "func.call_indirect"(%1, %0#0, %0#1) : ((i32, i32) -> (i32, i32), i32, i32) -> (i32, i32)
    "func.return"(%2#1) : (i32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i32, i32) -> (i32, i32), sym_name = "callee"}> ({
  ^bb0(%arg0: i32, %arg1: i32):
    "func.return"(%arg1, %arg0) : (i32, i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() <{sym_name = "outer"}> ({
  "builtin.module"() <{sym_name = "inner"}> ({
    "func.func"() <{function_type = (i32) -> i32, sym_name = "f", sym_visibility = "private"}> ({
    }) : () -> ()
  }) {ex.unit} : () -> ()
  "func.func"() <{function_type = (i32) -> (), sym_name = "g"}> ({
  ^bb0(%arg0: i32):
    "ex.use"() {callee = @inner::@f} : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "recursive"}> ({
  ^bb0(%arg0: i32):
    %0 = "func.call"(%arg0) <{callee = @recursive}> : (i32) -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "generic"}> ({
  ^bb0(%arg0: i32):
    "func.return"(%arg0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

