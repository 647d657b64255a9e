func.func @while(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.while (%x = %a) : (!noisy.i32) -> !noisy.i32 {  // noise: 13, 12
    %1 = noisy.add %x, %x : !noisy.i32  // noise: 13
    scf.condition(%c) %1 : !noisy.i32
  } do {
  ^bb0(%y: !noisy.i32):  // noise: 13
    %2 = noisy.reduce_noise %y : !noisy.i32  // noise: 12
    scf.yield %2 : !noisy.i32
  }
  %3 = noisy.mul %0, %0 : !noisy.i32  // noise: 26
  return %3 : !noisy.i32
}

func.func @grows(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.while (%x = %a) : (!noisy.i32) -> !noisy.i32 {  // noise: over, over
    scf.condition(%c) %x : !noisy.i32
  } do {
  ^bb0(%y: !noisy.i32):  // noise: over
    %1 = noisy.add %y, %a : !noisy.i32  // noise: over
    %2 = noisy.add %1, %a : !noisy.i32  // noise: over
    scf.yield %2 : !noisy.i32
    //        ^^ error[noise-grows]: %2: noise grows 2 bits per iteration, over the 26-bit budget at iteration 8
  }
  return %0 : !noisy.i32
}
