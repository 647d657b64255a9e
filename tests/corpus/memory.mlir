// memref: allocation, accesses, views, layouts, globals.
memref.global "private" constant @table : memref<4xi32> = dense<[1, 2, 3, 4]>
memref.global @state : memref<2xf32> = uninitialized
memref.global "private" @external : memref<3xi8>
// -----
func.func @allocate(%n: index) -> memref<?xf32> {
  %0 = memref.alloc(%n) : memref<?xf32>
  %1 = memref.alloca() {alignment = 16 : i64} : memref<4x4xi8, 1>
  %2 = memref.alloc(%n)[%n] : memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
  memref.dealloc %2 : memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
  return %0 : memref<?xf32>
}
// -----
func.func @access(%m: memref<?x8xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i, %i] : memref<?x8xf32>
  memref.store %0, %m[%i, %i] : memref<?x8xf32>
  %c = arith.constant 0 : index
  %d = memref.dim %m, %c : memref<?x8xf32>
  memref.copy %m, %m : memref<?x8xf32> to memref<?x8xf32>
  return %0 : f32
}
// -----
func.func @views(%m: memref<16x16xf32>, %i: index) {
  %0 = memref.subview %m[%i, 0] [4, 8] [1, 2]
      : memref<16x16xf32> to memref<4x8xf32, strided<[16, 2], offset: ?>>
  %1 = memref.cast %m : memref<16x16xf32> to memref<?x16xf32>
  %2 = memref.reinterpret_cast %m to offset: [0], sizes: [256], strides: [1]
      : memref<16x16xf32> to memref<256xf32, strided<[1]>>
  %3 = memref.collapse_shape %m [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  %4 = memref.expand_shape %3 [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  return
}
// -----
memref.global "private" constant @table : memref<4xi32> = dense<[1, 2, 3, 4]>
func.func @global(%i: index) -> i32 {
  %0 = memref.get_global @table : memref<4xi32>
  %1 = memref.load %0[%i] : memref<4xi32>
  return %1 : i32
}
// -----
func.func @atomic(%m: memref<4xi32>, %i: index, %v: i32) -> i32 {
  %0 = memref.atomic_rmw addi %v, %m[%i] : (i32, memref<4xi32>) -> i32
  %1 = memref.generic_atomic_rmw %m[%i] : memref<4xi32> {
  ^bb0(%old: i32):
    %2 = arith.addi %old, %v : i32
    memref.atomic_yield %2 : i32
  }
  return %1 : i32
}
