"builtin.module"() ({
  "memref.global"() <{constant, initial_value = dense<[1, 2, 3, 4]> : tensor<4xi32>, sym_name = "table", sym_visibility = "private", type = memref<4xi32>}> : () -> ()
  "memref.global"() <{initial_value, sym_name = "state", type = memref<2xf32>}> : () -> ()
  "memref.global"() <{sym_name = "external", sym_visibility = "private", type = memref<3xi8>}> : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (index) -> memref<?xf32>, sym_name = "allocate"}> ({
  ^bb0(%arg0: index):
    %0 = "memref.alloc"(%arg0) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xf32>
    %1 = "memref.alloca"() <{alignment = 16 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x4xi8, 1>
    %2 = "memref.alloc"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> : (index, index) -> memref<?x4xf32, #map>
    "memref.dealloc"(%2) : (memref<?x4xf32, #map>) -> ()
    "func.return"(%0) : (memref<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x8xf32>, index) -> f32, sym_name = "access"}> ({
  ^bb0(%arg0: memref<?x8xf32>, %arg1: index):
    %0 = "memref.load"(%arg0, %arg1, %arg1) : (memref<?x8xf32>, index, index) -> f32
    "memref.store"(%0, %arg0, %arg1, %arg1) : (f32, memref<?x8xf32>, index, index) -> ()
    %1 = "arith.constant"() <{value = 0 : index}> : () -> index
    %2 = "memref.dim"(%arg0, %1) : (memref<?x8xf32>, index) -> index
    "memref.copy"(%arg0, %arg0) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16x16xf32>, index) -> (), sym_name = "views"}> ({
  ^bb0(%arg0: memref<16x16xf32>, %arg1: index):
    %0 = "memref.subview"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 4, 8>, static_strides = array<i64: 1, 2>}> : (memref<16x16xf32>, index) -> memref<4x8xf32, strided<[16, 2], offset: ?>>
    %1 = "memref.cast"(%arg0) : (memref<16x16xf32>) -> memref<?x16xf32>
    %2 = "memref.reinterpret_cast"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 256>, static_strides = array<i64: 1>}> : (memref<16x16xf32>) -> memref<256xf32, strided<[1]>>
    %3 = "memref.collapse_shape"(%arg0) <{reassociation = [[0, 1]]}> : (memref<16x16xf32>) -> memref<256xf32>
    %4 = "memref.expand_shape"(%3) <{reassociation = [[0, 1]], static_output_shape = array<i64: 16, 16>}> : (memref<256xf32>) -> memref<16x16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "memref.global"() <{constant, initial_value = dense<[1, 2, 3, 4]> : tensor<4xi32>, sym_name = "table", sym_visibility = "private", type = memref<4xi32>}> : () -> ()
  "func.func"() <{function_type = (index) -> i32, sym_name = "global"}> ({
  ^bb0(%arg0: index):
    %0 = "memref.get_global"() <{name = @table}> : () -> memref<4xi32>
    %1 = "memref.load"(%0, %arg0) : (memref<4xi32>, index) -> i32
    "func.return"(%1) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xi32>, index, i32) -> i32, sym_name = "atomic"}> ({
  ^bb0(%arg0: memref<4xi32>, %arg1: index, %arg2: i32):
    %0 = "memref.atomic_rmw"(%arg2, %arg0, %arg1) <{kind = 1 : i64}> : (i32, memref<4xi32>, index) -> i32
    %1 = "memref.generic_atomic_rmw"(%arg0, %arg1) ({
    ^bb0(%arg3: i32):
      %2 = "arith.addi"(%arg3, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "memref.atomic_yield"(%2) : (i32) -> ()
    }) : (memref<4xi32>, index) -> i32
    "func.return"(%1) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

