// Trailing locations and aliases of locations, which a plain print leaves out.
#here = loc("here.mlir":1:1)
func.func @f(%a: i32 loc("argument")) -> i32 {
  %0 = arith.addi %a, %a : i32 loc(#here)
  %1 = arith.addi %0, %a : i32 loc(fused["x", "y"])
  return %1 : i32 loc(callsite("inner" at #here))
} loc("outer.mlir":3:4)

