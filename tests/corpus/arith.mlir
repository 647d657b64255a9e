// Integer, index and float arithmetic, casts, comparisons, flags, shaped operands.
func.func @integers(%a: i32, %b: i32, %c: i1) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %0, %b overflow<nsw> : i32
  %2 = arith.muli %1, %1 overflow<nsw, nuw> : i32
  %3 = arith.divsi %2, %a : i32
  %4 = arith.divui %3, %b : i32
  %5 = arith.remsi %4, %a : i32
  %6 = arith.remui %5, %b : i32
  %7 = arith.ceildivsi %6, %a : i32
  %8 = arith.ceildivui %7, %a : i32
  %9 = arith.floordivsi %8, %a : i32
  %10 = arith.andi %9, %a : i32
  %11 = arith.ori %10, %a : i32
  %12 = arith.xori %11, %a : i32
  %13 = arith.shli %12, %a : i32
  %14 = arith.shrsi %13, %a : i32
  %15 = arith.shrui %14, %a : i32
  %16 = arith.maxsi %15, %a : i32
  %17 = arith.maxui %16, %a : i32
  %18 = arith.minsi %17, %a : i32
  %19 = arith.minui %18, %a : i32
  %20 = arith.select %c, %19, %a : i32
  return %20 : i32
}
// -----
func.func @wide(%a: i32, %b: i32) -> (i32, i1) {
  %sum, %carry = arith.addui_extended %a, %b : i32, i1
  %low, %high = arith.mulsi_extended %sum, %b : i32
  %l, %h = arith.mului_extended %low, %high : i32
  return %l, %carry : i32, i1
}
// -----
func.func @floats(%a: f32, %b: f64) -> f64 {
  %0 = arith.addf %a, %a : f32
  %1 = arith.subf %0, %a fastmath<fast> : f32
  %2 = arith.mulf %1, %a fastmath<nnan,ninf> : f32
  %3 = arith.divf %2, %a : f32
  %4 = arith.remf %3, %a : f32
  %5 = arith.negf %4 : f32
  %6 = arith.maximumf %5, %a : f32
  %7 = arith.minimumf %6, %a : f32
  %8 = arith.maxnumf %7, %a : f32
  %9 = arith.minnumf %8, %a : f32
  %10 = arith.extf %9 : f32 to f64
  %11 = arith.addf %10, %b : f64
  %12 = arith.truncf %11 : f64 to f16
  %13 = arith.extf %12 : f16 to f64
  return %13 : f64
}
// -----
func.func @casts(%a: i8, %i: index, %f: f32) -> i64 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extui %0 : i16 to i32
  %2 = arith.trunci %1 : i32 to i8
  %3 = arith.sitofp %2 : i8 to f32
  %4 = arith.uitofp %2 : i8 to f32
  %5 = arith.fptosi %3 : f32 to i32
  %6 = arith.fptoui %4 : f32 to i32
  %7 = arith.index_cast %i : index to i64
  %8 = arith.index_castui %7 : i64 to index
  %9 = arith.bitcast %f : f32 to i32
  %10 = arith.extsi %9 : i32 to i64
  return %10 : i64
}
// -----
func.func @compare(%a: i32, %b: i32, %x: f64, %y: f64) -> i1 {
  %0 = arith.cmpi eq, %a, %b : i32
  %1 = arith.cmpi slt, %a, %b : i32
  %2 = arith.cmpi uge, %a, %b : i32
  %3 = arith.cmpf oeq, %x, %y : f64
  %4 = arith.cmpf une, %x, %y fastmath<nnan> : f64
  %5 = arith.cmpf true, %x, %y : f64
  %6 = arith.andi %0, %1 : i1
  %7 = arith.ori %6, %2 : i1
  %8 = arith.xori %7, %3 : i1
  %9 = arith.andi %8, %4 : i1
  %10 = arith.andi %9, %5 : i1
  return %10 : i1
}
// -----
func.func @constants() -> (i1, i1, index, i64, i32, f32, f64, f16) {
  %true = arith.constant true
  %false = arith.constant false
  %i = arith.constant 7 : index
  %large = arith.constant -9223372036854775808 : i64
  %hex = arith.constant 0xFF : i32
  %f = arith.constant 1.5 : f32
  %g = arith.constant -2.5e-3 : f64
  %nan = arith.constant 0x7E00 : f16
  return %true, %false, %i, %large, %hex, %f, %g, %nan : i1, i1, index, i64, i32, f32, f64, f16
}
// -----
func.func @shaped(%v: vector<4xi32>, %t: tensor<2x?xf32>, %m: vector<4xi1>) -> vector<4xi32> {
  %splat = arith.constant dense<3> : vector<4xi32>
  %list = arith.constant dense<[1, -2, 3, 4]> : vector<4xi32>
  %matrix = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %empty = arith.constant dense<> : tensor<0xi8>
  %0 = arith.addi %v, %splat : vector<4xi32>
  %1 = arith.cmpi ult, %0, %list : vector<4xi32>
  %2 = arith.select %1, %0, %list : vector<4xi1>, vector<4xi32>
  %3 = arith.addf %t, %t : tensor<2x?xf32>
  return %2 : vector<4xi32>
}
