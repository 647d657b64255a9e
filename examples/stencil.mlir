// Each element is the mean of its neighbours above, to the left and above to the right. The loops cannot be exchanged:
//   noisy-check nest stencil.mlir -o stencil.html
func.func @stencil(%A: memref<?x?xf32>, %third: f32, %n: index) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to 7 {
      %above = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      %left = affine.load %A[%i, %j - 1] : memref<?x?xf32>
      %right = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
      %0 = arith.addf %above, %left : f32
      %1 = arith.addf %0, %right : f32
      %2 = arith.mulf %1, %third : f32
      affine.store %2, %A[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
