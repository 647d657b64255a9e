// The ops of noisy, in the generic form that mlir-opt reads.
func.func @noisy(%x: i5) -> i5 {
  %0 = "noisy.encode"(%x) : (i5) -> !noisy.i32
  %1 = "noisy.add"(%0, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  %2 = "noisy.sub"(%1, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  %3 = "noisy.mul"(%2, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  %4 = "noisy.reduce_noise"(%3) : (!noisy.i32) -> !noisy.i32
  %5 = "noisy.decode"(%4) : (!noisy.i32) -> i5
  return %5 : i5
}
// -----
func.func @loop(%x: !noisy.i32, %n: index) -> !noisy.i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> (!noisy.i32) {
    %1 = "noisy.add"(%y, %x) : (!noisy.i32, !noisy.i32) -> !noisy.i32
    %2 = "noisy.reduce_noise"(%1) : (!noisy.i32) -> !noisy.i32
    scf.yield %2 : !noisy.i32
  }
  return %0 : !noisy.i32
}
