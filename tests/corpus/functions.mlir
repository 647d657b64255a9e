// Declarations, attributes of arguments and results, calls, function values.
func.func private @declared(i32, f32 {ex.note = "second"}) -> (i32 {ex.range = [0, 7]}, f32)
func.func @attributes(%a: i32 {ex.x}) attributes {ex.list = [1, "two", @declared]} {
  return
}
func.func public @visible() -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
func.func nested @nested() {
  return
}
// -----
func.func @caller(%a: i32) -> i32 {
  %0:2 = call @callee(%a, %a) : (i32, i32) -> (i32, i32)
  %f = constant @callee : (i32, i32) -> (i32, i32)
  %1:2 = call_indirect %f(%0#0, %0#1) : (i32, i32) -> (i32, i32)
  return %1#1 : i32
}
func.func @callee(%x: i32, %y: i32) -> (i32, i32) {
  return %y, %x : i32, i32
}
// -----
module @outer {
  module @inner attributes {ex.unit} {
    func.func private @f(i32) -> i32
  }
  func.func @g(%x: i32) {
    "ex.use"() {callee = @inner::@f} : () -> ()
    return
  }
}
// -----
func.func @recursive(%n: i32) -> i32 {
  %0 = func.call @recursive(%n) : (i32) -> i32
  func.return %0 : i32
}
// -----
"func.func"() <{function_type = (i32) -> i32, sym_name = "generic"}> ({
^bb0(%x: i32):
  "func.return"(%x) : (i32) -> ()
}) : () -> ()
