#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1 + 1)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0)[s0] -> (s0, d0 + 4)>
#map4 = affine_map<() -> (0)>
#map5 = affine_map<() -> (16)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16x?xf32>, index) -> (), sym_name = "loops"}> ({
  ^bb0(%arg0: memref<16x?xf32>, %arg1: index):
    "affine.for"() <{lowerBoundMap = #map4, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map5}> ({
    ^bb0(%arg2: index):
      "affine.for"(%arg2, %arg2, %arg1) <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 1, 2, 0>, step = 2 : index, upperBoundMap = #map3}> ({
      ^bb0(%arg3: index):
        %0 = "affine.load"(%arg0, %arg2, %arg3) <{map = #map}> : (memref<16x?xf32>, index, index) -> f32
        "affine.store"(%0, %arg0, %arg2, %arg3) <{map = #map1}> : (f32, memref<16x?xf32>, index, index) -> ()
        "affine.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<() -> (0)>
#map1 = affine_map<() -> (10)>
"builtin.module"() ({
  "func.func"() <{function_type = (f32) -> f32, sym_name = "carried"}> ({
  ^bb0(%arg0: f32):
    %0 = "affine.for"(%arg0) <{lowerBoundMap = #map, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = #map1}> ({
    ^bb0(%arg1: index, %arg2: f32):
      %1 = "arith.addf"(%arg2, %arg2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "affine.yield"(%1) : (f32) -> ()
    }) : (f32) -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#set = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
#set1 = affine_set<(d0) : (d0 == 0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> i32, sym_name = "branch"}> ({
  ^bb0(%arg0: index, %arg1: index):
    "affine.if"(%arg0, %arg1) ({
      "ex.then"() : () -> ()
      "affine.yield"() : () -> ()
    }, {
      "ex.else"() : () -> ()
      "affine.yield"() : () -> ()
    }) {condition = #set} : (index, index) -> ()
    %0 = "affine.if"(%arg0) ({
      %2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      "affine.yield"(%2) : (i32) -> ()
    }, {
      %1 = "arith.constant"() <{value = 2 : i32}> : () -> i32
      "affine.yield"(%1) : (i32) -> ()
    }) {condition = #set1} : (index) -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0)[s0] -> (d0 * 3 + s0 mod 5)>
#map1 = affine_map<(d0)[s0] -> (d0, s0 - 1)>
#map2 = affine_map<(d0) -> (d0, 0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> index, sym_name = "apply"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "affine.apply"(%arg0, %arg1) <{map = #map}> : (index, index) -> index
    %1 = "affine.min"(%0, %arg1) <{map = #map1}> : (index, index) -> index
    %2 = "affine.max"(%1) <{map = #map2}> : (index) -> index
    "func.return"(%2) : (index) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<() -> (0, 0)>
#map2 = affine_map<() -> (8, 8)>
#map3 = affine_map<(d0) -> (d0, 0)>
#map4 = affine_map<() -> (0)>
#map5 = affine_map<() -> (8)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8x8xf32>) -> f32, sym_name = "parallel"}> ({
  ^bb0(%arg0: memref<8x8xf32>):
    "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<2xi32>, lowerBoundsMap = #map1, reductions = [], steps = [2, 1], upperBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = #map2}> ({
    ^bb0(%arg2: index, %arg3: index):
      %2 = "affine.load"(%arg0, %arg2, %arg3) <{map = #map}> : (memref<8x8xf32>, index, index) -> f32
      "affine.store"(%2, %arg0, %arg3, %arg2) <{map = #map}> : (f32, memref<8x8xf32>, index, index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    %0 = "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = #map4, reductions = [0], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = #map5}> ({
    ^bb0(%arg1: index):
      %1 = "affine.load"(%arg0, %arg1) <{map = #map3}> : (memref<8x8xf32>, index) -> f32
      "affine.yield"(%1) : (f32) -> ()
    }) : () -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0) -> (d0 * 4)>
#map1 = affine_map<(d0) -> (d0 + 8)>
#map2 = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64xf32>, index) -> (), sym_name = "vectors"}> ({
  ^bb0(%arg0: memref<64xf32>, %arg1: index):
    %0 = "affine.vector_load"(%arg0, %arg1) <{map = #map}> : (memref<64xf32>, index) -> vector<4xf32>
    "affine.vector_store"(%0, %arg0, %arg1) <{map = #map1}> : (vector<4xf32>, memref<64xf32>, index) -> ()
    "affine.prefetch"(%arg0, %arg1) <{isDataCache = true, isWrite = false, localityHint = 3 : i32, map = #map2}> : (memref<64xf32>, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

