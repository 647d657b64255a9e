// math and vector ops with forms of their own.
func.func @math(%x: f32, %y: f32, %i: i32, %v: vector<4xf64>) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.exp %0 fastmath<fast> : f32
  %2 = math.powf %1, %y : f32
  %3 = math.fma %2, %x, %y : f32
  %4 = math.absi %i : i32
  %5 = math.ctpop %4 : i32
  %6 = math.tanh %v : vector<4xf64>
  %7 = math.fpowi %3, %5 : f32, i32
  return %7 : f32
}
// -----
func.func @vector(%m: memref<8xf32>, %i: index, %x: f32) -> vector<4xf32> {
  %0 = vector.broadcast %x : f32 to vector<4xf32>
  %1 = vector.load %m[%i] : memref<8xf32>, vector<4xf32>
  %2 = arith.addf %0, %1 : vector<4xf32>
  vector.store %2, %m[%i] : memref<8xf32>, vector<4xf32>
  return %2 : vector<4xf32>
}
