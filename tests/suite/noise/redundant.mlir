func.func @redundant(%x: i5, %c: i1) -> !noisy.i32 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.reduce_noise %0 : !noisy.i32  // noise: 12
  //   ^^^^^^^^^^^^^^^^^^^^^ hint[redundant-reduce]: redundant reduce_noise: noise of %0 is at most 12 bits before and 12 after
  %2 = noisy.add %1, %0 : !noisy.i32  // noise: 13
  %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
  return %3 : !noisy.i32
}
