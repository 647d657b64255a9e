// Legal, with as much noise as the budget allows: 24, 25, 26 bits. Nothing is reported or inserted.
func.func @dot(%a: !noisy.i32, %b: !noisy.i32, %c: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %a, %b : !noisy.i32
  %1 = noisy.add %0, %c : !noisy.i32
  %2 = noisy.add %1, %c : !noisy.i32
  return %2 : !noisy.i32
}
