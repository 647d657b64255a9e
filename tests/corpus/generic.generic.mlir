"builtin.module"() ({
  %0 = "ex.one"() : () -> i32
  %1:3 = "ex.three"(%0) {x} : (i32) -> (i32, f32, index)
  "ex.uses"(%1#0, %1#2, %0) : (i32, index, i32) -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "ex.regions"() ({
    %0 = "ex.inner"() : () -> i32
    "ex.end"(%0) : (i32) -> ()
  }, {
  }, {
  ^bb0(%arg0: i32, %arg1: !ex.pair<i32, i32>):
    "ex.branch"(%arg0)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:  // pred: ^bb0
    "ex.jump"()[^bb2] : () -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    "ex.end"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() <{sym_name = "explicit"}> ({
  %0 = "arith.constant"() <{value = 3 : i32}> : () -> i32
  %1 = "arith.addi"(%0, %0) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
}) {ex.flag} : () -> ()

// -----
"builtin.module"() ({
  %0 = "builtin.unrealized_conversion_cast"() : () -> i32
  %1:2 = "builtin.unrealized_conversion_cast"(%0) : (i32) -> (i16, i16)
}) : () -> ()

// -----
"builtin.module"() ({
  "ex.graph"() ({
    %0 = "ex.later"(%1) : (i32) -> i32
    %1 = "ex.earlier"(%0) : (i32) -> i32
  }) : () -> ()
}) : () -> ()

