//! Tests of the rules about the types of `memref` ops.

use expect_test::expect;

use super::check;

#[test]
fn casts_and_copies_keep_elements_and_shapes() {
    check(
        "func.func @f(%a: memref<4xf32>, %b: memref<?xf32, strided<[?], offset: ?>>, %u: memref<*xf32>, %c: memref<4xf64>) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %1 = memref.cast %b : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[2]>>
  %2 = memref.cast %u : memref<*xf32> to memref<4x4xf32>
  %3 = memref.memory_space_cast %a : memref<4xf32> to memref<4xf32, 1>
  memref.copy %a, %b : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %10 = memref.cast %a : memref<4xf32> to memref<5xf32>
  %11 = memref.cast %a : memref<4xf32> to memref<4xf64>
  %12 = memref.cast %a : memref<4xf32> to memref<4xf32, 1>
  %13 = memref.cast %a : memref<4xf32> to memref<?xf32, strided<[2]>>
  %14 = memref.cast %u : memref<*xf32> to memref<*xf32>
  %15 = memref.memory_space_cast %a : memref<4xf32> to memref<?xf32, 1>
  memref.copy %a, %c : memref<4xf32> to memref<4xf64>
  return
}",
        &expect![[r#"
            7 memref.cast: 'memref<4xf32>' and 'memref<5xf32>' have different shapes (shapes-differ)
            8 memref.cast: the element types 'f32' and 'f64' differ (element-type)
            9 memref.cast: 'memref<4xf32>' and 'memref<4xf32, 1>' are in different memory spaces (types-differ)
            10 memref.cast: 'memref<4xf32>' and 'memref<?xf32, strided<[2]>>' have different layouts (cast-types)
            11 memref.cast: both memrefs are unranked (cast-types)
            12 memref.memory_space_cast: 'memref<4xf32>' and 'memref<?xf32, 1>' have different shapes (shapes-differ)
            13 memref.copy: the element types 'f32' and 'f64' differ (element-type)
        "#]],
    );
}

#[test]
fn reports_wrong_types_of_views() {
    check(
        r#"func.func @f(%a: memref<4x5xf32>, %b: memref<40xi8>, %i: index, %s: memref<2xindex>, %d: memref<?xindex>, %r: memref<2xf32>) {
  %0 = memref.transpose %a (i, j) -> (j, i) : memref<4x5xf32> to memref<5x4xf32, strided<[1, 5]>>
  %1 = memref.view %b[%i][%i] : memref<40xi8> to memref<?xf32>
  %2 = memref.reshape %b(%s) : (memref<40xi8>, memref<2xindex>) -> memref<?x?xi8>
  %3 = memref.reshape %b(%d) : (memref<40xi8>, memref<?xindex>) -> memref<*xi8>
  %4 = memref.subview %a[0, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<5xf32>
  %5 = memref.reinterpret_cast %a to offset: [3], sizes: [4], strides: [1] : memref<4x5xf32> to memref<4xf32, strided<[1], offset: 3>>
  %10 = memref.transpose %a (i, j) -> (j, i) : memref<4x5xf32> to memref<4x5xf32>
  %11 = memref.transpose %a (i, j) -> (j, j) : memref<4x5xf32> to memref<5x4xf32, strided<[1, 5]>>
  %12 = memref.view %a[%i][] : memref<4x5xf32> to memref<4xf32>
  %13 = memref.view %b[%i][] : memref<40xi8> to memref<?xf32>
  %14 = memref.reshape %b(%r) : (memref<40xi8>, memref<2xf32>) -> memref<?x?xi8>
  %15 = memref.reshape %b(%s) : (memref<40xi8>, memref<2xindex>) -> memref<?xi8>
  %16 = memref.reshape %b(%d) : (memref<40xi8>, memref<?xindex>) -> memref<?xi8>
  %17 = memref.subview %a[0, 0] [1, 5] [1, 1] : memref<4x5xf32> to memref<4xf32>
  %18 = memref.subview %a[0, 0] [2, 5] [1, 1] : memref<4x5xf32> to memref<2x5xf32, strided<[5, 1]>, 1>
  %19 = memref.reinterpret_cast %a to offset: [3], sizes: [4], strides: [1] : memref<4x5xf32> to memref<4xf32>
  %20 = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [2] : memref<4x5xf32> to memref<4xf32>
  %21 = memref.collapse_shape %a [[0, 1]] : memref<4x5xf32> into memref<20xf64>
  %22:6 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, index, index, index)
  %23:6 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, memref<4xi32>, index, index)
  %24:4 = "memref.extract_strided_metadata"(%a) : (memref<4x5xf32>) -> (memref<f32>, index, index, index)
  return
}"#,
        &expect![[r#"
            8 memref.transpose: 'memref<4x5xf32>' is not 'memref<4x5xf32>' transposed (result-type)
            9 memref.transpose: the map is not a permutation of the dimensions (attribute-value)
            10 memref.view: views a memref of rank 1 of 'i8', not 'memref<4x5xf32>' (operand-type)
            11 memref.view: has 0 sizes for 1 dynamic dimensions (wrong-count)
            12 memref.reshape: the shape must be of integers, but is 'memref<2xf32>' (operand-type)
            13 memref.reshape: the shape has 2 sizes for 1 dimensions (wrong-count)
            14 memref.reshape: a shape of unknown length gives an unranked memref (result-type)
            15 memref.subview: the result must have the sizes that are not 1 (result-type)
            16 memref.subview: 'memref<4x5xf32>' and 'memref<2x5xf32, strided<[5, 1]>, 1>' are in different memory spaces (types-differ)
            17 memref.reinterpret_cast: the result starts at offset 3, but its type says otherwise (result-type)
            18 memref.reinterpret_cast: stride 0 of the result is 2, but its type says otherwise (result-type)
            19 memref.collapse_shape: the element types 'f32' and 'f64' differ (element-type)
            21 "memref.extract_strided_metadata": offset, sizes and strides are 'index', not 'memref<4xi32>' (result-type)
            22 "memref.extract_strided_metadata": returns 3 numbers, but needs 5 for 'memref<4x5xf32>' (result-count)
        "#]],
    );
}

#[test]
fn reports_wrong_elements_and_atomic_updates() {
    check(
        r#"memref.global "private" @g : memref<4xf32>
memref.global "private" @h : memref<?xf32>
func.func @f(%m: memref<4xi8>, %i: index, %x: i8, %b: index) {
  %0 = memref.atomic_rmw addi %x, %m[%i] : (i8, memref<4xi8>) -> i8
  %1 = memref.get_global @g : memref<4xf32>
  %2 = memref.alloca_scope -> i8 {
    memref.alloca_scope.return %x : i8
  }
  %3 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i8):
    memref.atomic_yield %e : i8
  }
  %10 = memref.atomic_rmw addf %x, %m[%i] : (i8, memref<4xi8>) -> i8
  %11 = memref.atomic_rmw assign %i, %m[%i] : (index, memref<4xi8>) -> i8
  %12 = memref.atomic_rmw addi %x, %m[%i, %i] : (i8, memref<4xi8>) -> i8
  %13 = memref.get_global @g : memref<5xf32>
  %14 = memref.alloca_scope -> i8 {
    memref.alloca_scope.return
  }
  %15 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i16):
    memref.atomic_yield %x : i8
  }
  %16 = memref.generic_atomic_rmw %m[%i] : memref<4xi8> {
  ^bb0(%e: i8):
    memref.atomic_yield %i : index
  }
  %17 = memref.alloc()[%b] : memref<4xi8>
  %18 = memref.alloc() {alignment = -8 : i64} : memref<4xi8>
  memref.prefetch %m[%i], read, locality<4>, data : memref<4xi8>
  memref.prefetch %m[], read, locality<3>, data : memref<4xi8>
  return
}"#,
        &expect![[r#"
            2 memref.global: a global is a memref of known sizes, not 'memref<?xf32>' (attribute-value)
            13 memref.atomic_rmw: cannot combine 'i8' in this way (operand-type)
            14 memref.atomic_rmw: combines 'index', but the memref contains 'i8' (element-type)
            15 memref.atomic_rmw: has 2 indices for 1 dimensions (wrong-count)
            16 memref.get_global: the result has type 'memref<5xf32>', but the global has type 'memref<4xf32>' (types-differ)
            18 memref.alloca_scope.return: the end of region #0 gives 0 values, but the op takes 1 (region-values)
            20 memref.generic_atomic_rmw: the memref gives 'i8' as value #0, but its body takes 'i16' (region-values)
            26 memref.atomic_yield: the end of region #0 gives 'index' as value #0, but the op takes 'i8' (region-values)
            28 memref.alloc: has 1 symbols for a layout without any (wrong-count)
            29 memref.alloc: 'alignment' must not be negative, but is -8 (attribute-value)
            30 memref.prefetch: 'localityHint' must be between 0 and 3, but is 4 (attribute-value)
            31 memref.prefetch: has 0 indices for 1 dimensions (wrong-count)
        "#]],
    );
}

/// `memref.get_global` must refer to a global of the nearest symbol table. A symbol of an unknown
/// op may be one.
#[test]
fn reports_references_to_missing_globals() {
    check(
        r#"memref.global @g : memref<i32>
func.func @f() {
  %0 = memref.get_global @g : memref<i32>
  %1 = memref.get_global @later : memref<i32>
  %2 = memref.get_global @theirs : memref<i32>
  %10 = memref.get_global @missing : memref<i32>
  %11 = memref.get_global @f : memref<i32>
  return
}
memref.global @later : memref<i32>
t.global @theirs : i32
module @m {
  func.func @h() {
    %12 = memref.get_global @g : memref<i32>
    return
  }
}
gpu.module @n {
  gpu.func @k() kernel {
    %13 = memref.get_global @anywhere : memref<i32>
    gpu.return
  }
}
// -----
memref.global @three : memref<4xf32> {alignment = 3 : i64}
memref.global @eight : memref<4xf32> {alignment = 8 : i64}"#,
        &expect![[r#"
            6 @missing: 'missing' does not reference a valid global memref (attribute-value)
            7 @f: 'f' does not reference a valid global memref (attribute-value)
            14 @g: 'g' does not reference a valid global memref (attribute-value)
            25 memref.global: 'alignment' must be a power of two, but is 3 (attribute-value)
        "#]],
    );
}

/// A name that a broken op may define is not reported as undefined.
#[test]
fn accepts_references_to_broken_globals() {
    check(
        "memref.global @broken : memref<i32 = dense<1>
func.func @f() {
  %0 = memref.get_global @broken : memref<i32>
  return
}",
        &expect![[r#"
            1 : expected ',' or '>' (expected-token)
        "#]],
    );
}

/// Rules that only the generic form can violate.
#[test]
fn reports_wrong_types_in_generic_form() {
    check(
        r#"func.func @f(%s: memref<?x?xf32>, %i: index, %x: f32, %n: i32, %c: (i32) -> i32) {
  %0 = "memref.load"(%s, %i, %i) : (memref<?x?xf32>, index, index) -> f32
  %1 = "func.call_indirect"(%c, %n) : ((i32) -> i32, i32) -> i32
  %2 = "math.fpowi"(%x, %n) : (f32, i32) -> f32
  %3:2 = affine.delinearize_index %i into (%i, %i) : index, index
  %10 = "memref.load"(%s, %i, %i) : (memref<?x?xf32>, index, index) -> f64
  "memref.store"(%n, %s, %i, %i) : (i32, memref<?x?xf32>, index, index) -> ()
  %11 = "func.call_indirect"(%c, %n) : ((i32) -> i32, i32) -> i64
  %12 = "func.call_indirect"(%c, %x) : ((i32) -> i32, f32) -> i32
  %13 = "func.call_indirect"(%c) : ((i32) -> i32) -> i32
  %14 = "math.fpowi"(%x, %n) : (f32, i32) -> f64
  %15:2 = affine.delinearize_index %i into (%i, %i) : index, i32
  %16 = "memref.generic_atomic_rmw"(%s, %i, %i) ({
  ^bb0(%cur: f32):
    "memref.atomic_yield"(%x) : (f32) -> ()
  }) : (memref<?x?xf32>, index, index) -> f64
  return
}"#,
        &expect![[r#"
            6 "memref.load": accesses 'f64', but the memref contains 'f32' (element-type)
            7 "memref.store": accesses 'i32', but the memref contains 'f32' (element-type)
            8 "func.call_indirect": gives 'i64', but the result of the callee is 'i32' (call-results)
            9 %x: expects 'i32', but got 'f32' (call-operands)
            10 "func.call_indirect": passes 0 operands, but the callee takes 1 (call-operands)
            11 "math.fpowi": the result has the type of the first operand, 'f32', not 'f64' (types-differ)
            12 affine.delinearize_index: gives indices of type 'index', not 'i32' (result-type)
            13 "memref.generic_atomic_rmw": accesses 'f64', but the memref contains 'f32' (element-type)
        "#]],
    );
}

/// Numbers of steps and of layout symbols, and accesses in the body of an atomic update.
#[test]
fn reports_wrong_counts_and_accesses() {
    check(
        "func.func @f(%s: memref<?xf32>, %i: index, %x: f32) {
  %0 = memref.alloc(%i)[%i] : memref<4x?xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
  %1 = memref.alloc()[%i, %i] : memref<4xf32, strided<[?], offset: ?>>
  affine.parallel (%j, %k) = (0, 0) to (%i, 10) step (1, 2) { }
  %10 = memref.alloc(%i) : memref<4x?xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
  %11 = memref.alloc() : memref<4xf32, strided<[?], offset: ?>>
  affine.parallel (%j, %k) = (0, 0) to (%i, 10) step (1) { }
  %12 = memref.generic_atomic_rmw %s[%i] : memref<?xf32> {
  ^bb0(%cur: f32):
    memref.store %x, %s[%i] : memref<?xf32>
    %13 = arith.addf %cur, %x : f32
    memref.atomic_yield %13 : f32
  }
  return
}",
        &expect![[r#"
            5 memref.alloc: has 0 symbols for a layout of 1 (wrong-count)
            6 memref.alloc: has 0 symbols for a layout of 2 (wrong-count)
            7 affine.parallel: has 1 steps for 2 indices (wrong-count)
            10 memref.store: the body of 'memref.generic_atomic_rmw' must not access memory (misplaced-op)
        "#]],
    );
}

/// The layout and memory space of a memref.
#[test]
fn reports_misplaced_layouts_and_spaces() {
    check(
        r#"func.func private @a(memref<3xf32, strided<[1]>, 1>, memref<3xf32, {a = 1}>, memref<3xf32, "x">, memref<*xf32, 1>)
func.func private @b(memref<3xf32, strided<[0]>>)
func.func private @c(memref<3xf32, 1, strided<[1]>>)
func.func private @d(memref<*xf32, strided<[1]>>)
func.func private @e(memref<3xf32, [1]>)
func.func private @f(memref<3xf32, @s>)
func.func private @g(memref<*xf32, affine_map<(d0) -> (d0)>>)
func.func private @h(memref<3xf32, 1, 2>)
func.func private @i(memref<3xf32, strided<[1, 2]>>)"#,
        &expect![[r#"
            2 0: strides must not be zero (invalid-attribute)
            3 memref: expected memory space to be last in memref type (invalid-type)
            4 memref: cannot have affine map for unranked memref type (invalid-type)
            5 memref: unsupported memory space Attribute (invalid-type)
            6 memref: unsupported memory space Attribute (invalid-type)
            7 memref: cannot have affine map for unranked memref type (invalid-type)
            8 memref: multiple memory spaces in memref type (invalid-type)
            9 memref: expected the number of strides to match the rank (invalid-type)
        "#]],
    );
}

#[test]
fn accepts_booleans_as_sizes_and_index_elements() {
    check(
        r#"func.func @f(%s: memref<?x?xf32>) {
  %0 = memref.subview %s[0, 0] [1, 4] [true, 1] : memref<?x?xf32> to memref<1x4xf32, strided<[?, 1]>>
  scf.forall (%i, %j) in (false, 3) {
  }
  "a.b"() {b = array<index: 1, -2>} : () -> ()
  return
}"#,
        &expect![[""]],
    );
}

/// The generic form may have missing or additional bounds, steps and indices.
#[test]
fn loops_have_bounds_for_each_index() {
    check(
        r#"func.func @f(%m: memref<4xf32>, %i: index) {
  "affine.prefetch"(%m, %i) {isWrite = false, localityHint = 3 : i32, isDataCache = true} : (memref<4xf32>, index) -> ()
  "scf.forall"(%i) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0, 0>, staticStep = array<i64: 1, 1>, staticUpperBound = array<i64: -9223372036854775808, 4>}> ({
  ^bb0(%a: index, %b: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  "scf.forall"(%i, %i) <{operandSegmentSizes = array<i32: 0, 2, 0, 0>, staticLowerBound = array<i64: 0, 0>, staticStep = array<i64: 1, 1>, staticUpperBound = array<i64: -9223372036854775808, 4>}> ({
  ^bb0(%a: index, %b: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index, index) -> ()
  "scf.forall"(%i) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1, 1>, staticUpperBound = array<i64: -9223372036854775808, 4>}> ({
  ^bb0(%a: index, %b: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<2xi32>, lowerBoundsMap = affine_map<() -> (0, 0)>, reductions = [], steps = [1, 1], upperBoundsGroups = dense<[2, 1]> : tensor<2xi32>, upperBoundsMap = affine_map<() -> (1, 1, 1)>}> ({
  ^bb0(%a: index, %b: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  "affine.parallel"() <{lowerBoundsGroups = dense<[1, 2]> : tensor<2xi32>, lowerBoundsMap = affine_map<() -> (0, 0)>, reductions = [], steps = [1, 1], upperBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = affine_map<() -> (1, 1)>}> ({
  ^bb0(%a: index, %b: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [], steps = [1, 1], upperBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = affine_map<() -> (1, 1)>}> ({
  ^bb0(%a: index, %b: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}"#,
        &expect![[r#"
            2 "affine.prefetch": requires attribute 'map' (missing-attribute)
            9 "scf.forall": has 2 operands for 1 dynamic upper bounds (wrong-count)
            15 "scf.forall": has 2 upper bounds for 1 loops (wrong-count)
            25 "affine.parallel": has 2 lower bounds, but groups of 3 (wrong-count)
            29 "affine.parallel": has 1 groups of lower bounds for 2 indices (wrong-count)
        "#]],
    );
}

#[test]
fn rejects_strings_as_numbers() {
    check(
        r#""a.b"() {a = dense<["x", 2]> : tensor<2x!foo.str>} : () -> ()
"a.b"() {a = dense<"0x01000000"> : vector<2xi32>} : () -> ()
"a.b"() {a = dense<["x", 2]> : vector<2xi32>} : () -> ()
"a.b"() {a = dense<"x"> : tensor<2xindex>} : () -> ()
"a.b"() {a = dense<["x", "y"]> : tensor<2xf32>} : () -> ()
"a.b"() {a = dense<["x", "y"]> : tensor<2xcomplex<f32>>} : () -> ()"#,
        &expect![[r#"
            3 "x": expected a number, not a string (literal-type)
            4 "x": expected a number, not a string (literal-type)
            5 "x": expected a number, not a string (literal-type)
            6 "x": expected a number, not a string (literal-type)
        "#]],
    );
}
