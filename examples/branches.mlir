// One product is used by two chains of four. One reduce_noise after the product fixes both.
func.func @branches(%x: i5, %y: i5) -> (i5, i5) {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %product = noisy.mul %0, %1 : !noisy.i32
  %l0 = noisy.add %product, %0 : !noisy.i32
  %l1 = noisy.sub %l0, %1 : !noisy.i32
  %l2 = noisy.add %l1, %0 : !noisy.i32
  %l3 = noisy.sub %l2, %1 : !noisy.i32
  %r0 = noisy.sub %product, %0 : !noisy.i32
  %r1 = noisy.add %r0, %1 : !noisy.i32
  %r2 = noisy.sub %r1, %0 : !noisy.i32
  %r3 = noisy.add %r2, %1 : !noisy.i32
  %left = noisy.decode %l3 : !noisy.i32 -> i5
  %right = noisy.decode %r3 : !noisy.i32 -> i5
  return %left, %right : i5, i5
}
