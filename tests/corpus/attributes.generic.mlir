#loc = loc("file.mlir":10:8)
#loc1 = loc(unknown)
#loc2 = loc("f")
#loc3 = loc("g.py":1:2)
#loc4 = loc("x")
#loc5 = loc("y")
#map = affine_map<(d0)[s0] -> (d0 + s0 * 2, 7)>
#set = affine_set<(d0) : (d0 mod 2 == 0)>
#loc6 = loc(callsite(#loc2 at #loc3))
#loc7 = loc(fused[#loc4, #loc5])
#loc8 = loc(fused<"meta">[#loc4])
"builtin.module"() ({
  "ex.integers"() {a = 1 : i8, b = -1 : i32, c = 31 : i64, d = true, e = 12 : index, f = 255 : ui8, g = -4 : si16} : () -> ()
  "ex.floats"() {a = 1.000000e+00 : f32, b = -0.000000e+00 : f64, c = 1.000000e+10 : f32, d = 0x7F800000 : f32, e = 2.500000e+00 : bf16} : () -> ()
  "ex.strings"() {a = "", b = "plain", c = "tab\09quote\22backslash\\", d = "typed" : i32, "quoted name"} : () -> ()
  "ex.types"() {a = i32, b = (i32, f32) -> (), c = tuple<i1, none>, d = complex<f64>, e = vector<[4]x2xf16>, f = tensor<*xf32>, g = memref<*xi8>} : () -> ()
  "ex.arrays"() {a = [], b = [1, [2.000000e+00, "three"], {four = 4 : i64}], c = array<i32: 1, -2>, d = array<f64>, e = array<i1: true, false>} : () -> ()
  "ex.nested"() {a = {}, b = {x = {y = {z}}}} : () -> ()
  "ex.symbols"() {a = @plain, b = @"with blank", c = @outer::@inner::@leaf} : () -> ()
  "ex.elements"() {a = dense<0> : tensor<4xi32>, b = dense<[[true, false]]> : tensor<1x2xi1>, c = dense<[1, 2, 3, 4]> : tensor<4xi8>, d = dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>, e = dense<["a", "b"]> : tensor<2x!ex.string>} : () -> ()
  "ex.sparse"() {a = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, b = sparse<0, 1> : tensor<1xi32>} : () -> ()
  "ex.maps"() {a = #map, b = #set, c = strided<[1, ?], offset: 3>} : () -> ()
  "ex.opaque"() {a = #ex.simple, b = #ex.body<[1, {x = "}"}], i32 -> f32>, c = #ex<body "text">, d = !ex.type<4 x i8>} : () -> ()
  "ex.locations"() {a = #loc, b = #loc1, c = #loc6, d = #loc7, e = #loc8} : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "ex.aliases"() {a = dense<[1, 2]> : tensor<2xi32>, b = [dense<[1, 2]> : tensor<2xi32>, 3], t = tensor<2xi32>} : () -> ()
  %0 = "ex.typed"() {v = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
}) : () -> ()

