func.func @known(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = affine.for %i = 0 to 14 iter_args(%acc = %a) -> (!noisy.i32) {  // noise: 26, 25
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: 26
    affine.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func @unknown(%a: !noisy.i32, %n: index) -> !noisy.i32 {  // noise: 12
  %0 = affine.for %i = 0 to %n step 2 iter_args(%acc = %a) -> (!noisy.i32) {  // noise: over, over
    %1 = noisy.add %acc, %a : !noisy.i32  // noise: over
    affine.yield %1 : !noisy.i32
    //           ^^ error[noise-grows]: %1: noise grows 1 bit per iteration, over the 26-bit budget at iteration 15
  }
  return %0 : !noisy.i32
}

// Tiles: how often the inner loop runs does not depend on where it begins.
func.func @tiles(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = affine.for %i = 0 to 8 step 4 iter_args(%b = %a) -> (!noisy.i32) {  // noise: 20, 16
    %1 = affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 4)>(%i) iter_args(%c = %b) -> (!noisy.i32) {  // noise: 20, 19
      %2 = noisy.add %c, %c : !noisy.i32  // noise: 20
      affine.yield %2 : !noisy.i32
    }
    affine.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}

// The last tile is a part of one: the inner loop runs 2 to 4 times.
func.func @last_tile(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = affine.for %i = 0 to 10 step 4 iter_args(%b = %a) -> (!noisy.i32) {  // noise: 24, 20
    %1 = affine.for %j = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0) -> (d0 + 4, 10)>(%i) iter_args(%c = %b) -> (!noisy.i32) {  // noise: 24, 23
      %2 = noisy.add %c, %c : !noisy.i32  // noise: 24
      affine.yield %2 : !noisy.i32
    }
    affine.yield %1 : !noisy.i32
  }
  return %0 : !noisy.i32
}
