// A CKKS program of HEIR after HEIR has placed its mgmt ops: the square of a sum of products.
// One relinearization is missing: %5 rotates 3 polynomials. HEIR's lowering fails with
// "'ckks.rotate' op x.dim == 2 does not hold".
module attributes {
  backend.lattigo,
  ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193, 35184373006337], P = [36028797019488257], logDefaultScale = 45>,
  scheme.ckks
} {
  func.func @squared_dot(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
    ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %3 = arith.mulf %a, %b : tensor<8xf32>
      %4 = mgmt.modreduce %3 : tensor<8xf32>
      %5 = tensor_ext.rotate %4, %c2 : tensor<8xf32>, index
      %6 = arith.addf %4, %5 : tensor<8xf32>
      %7 = tensor_ext.rotate %6, %c1 : tensor<8xf32>, index
      %8 = arith.addf %6, %7 : tensor<8xf32>
      %9 = arith.mulf %8, %8 : tensor<8xf32>
      %10 = mgmt.relinearize %9 : tensor<8xf32>
      %11 = mgmt.modreduce %10 : tensor<8xf32>
      secret.yield %11 : tensor<8xf32>
    } -> !secret.secret<tensor<8xf32>>
    return %0 : !secret.secret<tensor<8xf32>>
  }
}
