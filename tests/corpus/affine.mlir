// Affine maps and sets, loops, accesses.
#id = affine_map<(d0) -> (d0)>
#tile = affine_map<(d0, d1)[s0] -> (d0 floordiv s0, d1 ceildiv 4, (d0 + d1 * 2 - 3) mod 8)>
#none = affine_map<() -> ()>
#set = affine_set<(d0, d1)[s0] : (d0 - 1 >= 0, d1 == 0, s0 - d0 >= 0)>
func.func @loops(%m: memref<16x?xf32>, %n: index) {
  affine.for %i = 0 to 16 {
    affine.for %j = #id(%i) to min affine_map<(d0)[s0] -> (s0, d0 + 4)>(%i)[%n] step 2 {
      %0 = affine.load %m[%i, %j] : memref<16x?xf32>
      affine.store %0, %m[%i, %j + 1] : memref<16x?xf32>
    }
  }
  return
}
// -----
func.func @carried(%a: f32) -> f32 {
  %0 = affine.for %i = 0 to 10 iter_args(%x = %a) -> (f32) {
    %1 = arith.addf %x, %x : f32
    affine.yield %1 : f32
  }
  return %0 : f32
}
// -----
func.func @branch(%i: index, %n: index) -> i32 {
  affine.if affine_set<(d0)[s0] : (d0 >= 0, s0 - d0 - 1 >= 0)>(%i)[%n] {
    "ex.then"() : () -> ()
  } else {
    "ex.else"() : () -> ()
  }
  %0 = affine.if affine_set<(d0) : (d0 == 0)>(%i) -> i32 {
    %1 = arith.constant 1 : i32
    affine.yield %1 : i32
  } else {
    %2 = arith.constant 2 : i32
    affine.yield %2 : i32
  }
  return %0 : i32
}
// -----
func.func @apply(%i: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0 mod 5)>(%i)[%n]
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 - 1)>(%0)[%n]
  %2 = affine.max affine_map<(d0) -> (d0, 0)>(%1)
  return %2 : index
}
// -----
func.func @parallel(%m: memref<8x8xf32>) -> f32 {
  affine.parallel (%i, %j) = (0, 0) to (8, 8) step (2, 1) {
    %v = affine.load %m[%i, %j] : memref<8x8xf32>
    affine.store %v, %m[%j, %i] : memref<8x8xf32>
  }
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf") -> f32 {
    %v = affine.load %m[%i, 0] : memref<8x8xf32>
    affine.yield %v : f32
  }
  return %0 : f32
}
// -----
func.func @vectors(%m: memref<64xf32>, %i: index) {
  %0 = affine.vector_load %m[%i * 4] : memref<64xf32>, vector<4xf32>
  affine.vector_store %0, %m[%i + 8] : memref<64xf32>, vector<4xf32>
  affine.prefetch %m[%i], read, locality<3>, data : memref<64xf32>
  return
}
