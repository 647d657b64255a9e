//! Tests of programs with wrong types, counts or affine maps.

use expect_test::expect;

use super::check;

/// Loop variables, values of inner regions, ranks, yields.
#[test]
fn affine_maps_take_dimensions_and_symbols() {
    check(
        r#"func.func @f(%n: index, %m: memref<4xf32>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %m[%i] : memref<4xf32>
    affine.store %0, %m[%i + 1] : memref<4xf32>
  }
  return
}
// -----
func.func @f(%n: index, %m: memref<4xf32>) {
  scf.for %i = %n to %n step %n {
    %0 = affine.load %m[%i] : memref<4xf32>
  }
  return
}
// -----
func.func @f(%n: index, %m: memref<4xf32>) {
  scf.for %i = %n to %n step %n {
    affine.for %j = 0 to %i {
    }
  }
  return
}
// -----
func.func @f(%n: index, %m: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
    }
    affine.for %j = 0 to affine_map<()[s0] -> (s0)>()[%i] {
    }
  }
  return
}
// -----
func.func @f(%n: index, %m: memref<4xf32>) {
  %r = affine.for %i = 0 to 4 iter_args(%a = %n) -> (index) {
    affine.yield %a, %a : index, index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = affine.for %i = 0 to 4 iter_args(%a = %n) -> (index) {
    affine.yield %m : i32
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> i32 {
    affine.yield %m : i32
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = affine.parallel (%i) = (0) to (4) reduce ("addi") -> i32 {
    affine.yield %n : index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = affine.parallel (%i) = (0) to (4) -> i32 {
    affine.yield %m : i32
  }
  return
}
// -----
func.func @f(%n: i32, %c: i1) {
  %0 = affine.apply affine_map<(d0) -> (d0)>(%n)
  return
}
// -----
func.func @f(%n: index, %c: i1) {
  %0 = affine.apply affine_map<(d0) -> (d0, d0)>(%n)
  return
}
// -----
func.func @f(%m: memref<4x4xf32>, %i: index) {
  %0 = affine.load %m[%i] : memref<4x4xf32>
  return
}
// -----
func.func @f(%m: memref<4x4xf32>, %i: index) {
  affine.prefetch %m[%i, %i], read, locality<5>, data : memref<4x4xf32>
  return
}
// -----
func.func @f(%m: memref<4x4xf32>, %i: index) {
  %0 = affine.vector_load %m[%i, %i] : memref<4x4xf32>, vector<4xi32>
  return
}"#,
        &expect![[r#"
            11 affine.load: index must be a valid dimension or symbol identifier (affine-operand)
            18 affine.for: operand cannot be used as a symbol (affine-operand)
            28 affine.for: operand cannot be used as a symbol (affine-operand)
            36 affine.yield: has 2 operands, but the enclosing op returns 1 (wrong-count)
            43 %m: operand #0 has type 'i32', but the enclosing op returns 'index' (operand-type)
            49 affine.if: must have an else block if defining values (missing-else)
            57 %n: operand #0 has type 'index', but the enclosing op returns 'i32' (operand-type)
            63 affine.parallel: gives 1 results, but names 0 reductions (region-values)
            70 %n: this value has type i32, but index is expected here (type-clash)
            75 affine.apply: the map of `affine.apply` has one result, not 2 (wrong-count)
            80 affine.load: gives 1 indices for a memref of rank 2 (index-count)
            85 affine.prefetch: 'localityHint' must be between 0 and 3, but is 5 (attribute-value)
            90 affine.vector_load: accesses 'i32', but the memref contains 'f32' (element-type)
        "#]],
    );
}

/// Operands, results, regions, attributes, entry arguments.
#[test]
fn reports_wrong_counts_in_generic_form() {
    check(
        r#"func.func @f(%a: i32, %b: i64) {
  %0 = "arith.addi"(%a) : (i32) -> i32
  return
}
// -----
func.func @f(%a: i32, %b: i64) {
  "arith.addi"(%a, %a) : (i32, i32) -> ()
  return
}
// -----
func.func @f(%a: i32) {
  %1 = "arith.cmpi"(%a, %a) : (i32, i32) -> i1
  return
}
// -----
func.func @f(%a: i32) {
  %1 = "arith.cmpi"(%a, %a) {predicate = 20 : i64} : (i32, i32) -> i1
  return
}
// -----
"func.func"() ({
  "func.return"() : () -> ()
}) {sym_name = "f", function_type = (i32) -> ()} : () -> ()
// -----
"func.func"() ({
^bb0(%a: i64):
  "func.return"() : () -> ()
}) {sym_name = "f", function_type = (i32) -> ()} : () -> ()
// -----
"func.func"() ({
}) {sym_name = "f", function_type = (i32) -> ()} : () -> ()
// -----
"func.func"() ({
}) {sym_name = "f", sym_visibility = "private", function_type = (i32) -> ()} : () -> ()
// -----
"func.func"() ({
^bb0:
  "func.return"() : () -> ()
}) {sym_name = "f"} : () -> ()
// -----
func.func @f(%c: i1, %n: index) {
  "scf.if"(%c) ({
    "scf.yield"() : () -> ()
  }) : (i1) -> ()
  return
}
// -----
func.func @f(%c: i1, %n: index) {
  "scf.for"(%n, %n, %n) ({
  ^bb0:
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  return
}"#,
        &expect![[r#"
            2 "arith.addi": expected 2 operands, but found 1 (wrong-count)
            7 "arith.addi": expected 1 results, but found 0 (wrong-count)
            12 "arith.cmpi": requires attribute 'predicate' (missing-attribute)
            17 "arith.cmpi": 'predicate' must be between 0 and 9, but is 20 (attribute-value)
            21 "func.func": entry block must have 1 arguments to match function signature (entry-arguments)
            25 "func.func": entry block argument #0 has type 'i64', but the function takes 'i32' (entry-arguments)
            30 "func.func": symbol declaration cannot have public visibility (public-declaration)
            36 "func.func": requires attribute 'function_type' (missing-attribute)
            42 "scf.if": expected 2 regions, but found 1 (wrong-count)
            49 "scf.for": the loop gives 1 values, but its body takes 0 (region-values)
        "#]],
    );
}

/// Classes, shapes, widths.
#[test]
fn reports_wrong_types_of_arithmetic() {
    check(
        r#"func.func @f(%a: i32, %b: i64) {
  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
  return
}
// -----
func.func @f(%a: i32, %b: i64) {
  %0 = "arith.addi"(%a, %a) : (i32, i32) -> i64
  return
}
// -----
func.func @f(%a: tensor<?xi32>, %b: tensor<4xi32>) {
  %0 = "arith.addi"(%a, %b) : (tensor<?xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = "arith.addi"(%a, %b) : (tensor<?xi32>, tensor<4xi32>) -> tensor<*xi32>
  return
}
// -----
func.func @f(%a: tensor<5xi32>, %b: tensor<4xi32>) {
  %0 = "arith.addi"(%a, %b) : (tensor<5xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
func.func @f(%a: vector<4xi32>, %b: tensor<4xi32>) {
  %0 = "arith.addi"(%a, %b) : (vector<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
func.func @f(%a: si32) {
  %0 = arith.addi %a, %a : si32
  return
}
// -----
func.func @f(%a: f32) {
  %0 = arith.addi %a, %a : f32
  return
}
// -----
func.func @f(%a: i32) {
  %0 = arith.addf %a, %a : i32
  return
}
// -----
func.func @f(%a: memref<4xi32>) {
  %0 = arith.addi %a, %a : memref<4xi32>
  return
}
// -----
func.func @f(%a: complex<f32>) {
  %0 = arith.addf %a, %a : complex<f32>
  return
}
// -----
func.func @f(%a: i32) {
  %0 = arith.extsi %a : i32 to i16
  return
}
// -----
func.func @f(%a: i32) {
  %0 = arith.trunci %a : i32 to i32
  return
}
// -----
func.func @f(%a: f32) {
  %0 = arith.extf %a : f32 to bf16
  return
}
// -----
func.func @f(%a: f16) {
  %0 = arith.extf %a : f16 to bf16
  return
}
// -----
func.func @f(%a: f16) {
  %0 = arith.bitcast %a : f16 to i32
  return
}
// -----
func.func @f(%a: index) {
  %0 = arith.bitcast %a : index to i64
  return
}
// -----
func.func @f(%a: index, %b: i32) {
  %1 = arith.index_cast %b : i32 to i64
  return
}
// -----
func.func @f(%a: index, %b: f32) {
  %1 = arith.index_cast %b : f32 to index
  return
}
// -----
func.func @f(%a: index, %b: i32) {
  %1 = arith.sitofp %a : index to f32
  return
}
// -----
func.func @f(%a: tensor<?xi32>, %b: tensor<4xi32>) {
  %1 = arith.extsi %b : tensor<4xi32> to tensor<?xi64>
  return
}
// -----
func.func @f(%a: vector<4xi32>, %b: tensor<4xi32>) {
  %1 = arith.extsi %a : vector<4xi32> to tensor<4xi64>
  return
}
// -----
func.func @f(%a: i32) {
  %1 = "arith.cmpi"(%a, %a) {predicate = 0 : i64} : (i32, i32) -> i32
  return
}
// -----
func.func @f(%a: i32) {
  %1 = "arith.constant"() {value = 1 : i64} : () -> i32
  return
}
// -----
func.func @f(%a: i32, %c: i1, %v: vector<4xi1>, %w: vector<4xi32>) {
  %0 = arith.select %c, %w, %w : vector<4xi32>
  %1 = arith.select %v, %w, %w : vector<4xi1>, vector<4xi32>
  %2 = arith.select %v, %a, %a : vector<4xi1>, i32
  return
}
// -----
func.func @f(%a: i32) {
  %1 = arith.select %a, %a, %a : i32, i32
  return
}
// -----
func.func @f(%a: i32) {
  %0, %1 = arith.addui_extended %a, %a : i32, i1
  %2, %3 = arith.addui_extended %a, %a : i32, i8
  return
}"#,
        &expect![[r#"
            2 "arith.addi": requires the same type for all operands and results, found 'i32' and 'i64' (types-differ)
            7 "arith.addi": requires the same type for all operands and results, found 'i32' and 'i64' (types-differ)
            12 "arith.addi": requires the same type for all operands and results, found 'tensor<?xi32>' and 'tensor<4xi32>' (types-differ)
            13 "arith.addi": requires the same type for all operands and results, found 'tensor<?xi32>' and 'tensor<*xi32>' (types-differ)
            18 "arith.addi": requires the same type for all operands and results, found 'tensor<5xi32>' and 'tensor<4xi32>' (types-differ)
            23 "arith.addi": requires the same type for all operands and results, found 'vector<4xi32>' and 'tensor<4xi32>' (types-differ)
            28 %a: operand #0 must be signless-integer-like, but got 'si32' (operand-type)
            33 %a: operand #0 must be signless-integer-like, but got 'f32' (operand-type)
            38 %a: operand #0 must be floating-point-like, but got 'i32' (operand-type)
            43 %a: operand #0 must be signless-integer-like, but got 'memref<4xi32>' (operand-type)
            48 %a: operand #0 must be floating-point-like, but got 'complex<f32>' (operand-type)
            53 arith.extsi: the result must be wider than the operand, but 'i32' becomes 'i16' (cast-width)
            58 arith.trunci: the result must be narrower than the operand, but 'i32' becomes 'i32' (cast-width)
            63 arith.extf: the result must be wider than the operand, but 'f32' becomes 'bf16' (cast-width)
            68 arith.extf: the result must be wider than the operand, but 'f16' becomes 'bf16' (cast-width)
            73 arith.bitcast: the result must be as wide as the operand, but 'f16' becomes 'i32' (cast-width)
            78 %a: operand #0 must be signless-integer-like, floating-point-like or memref of those, but got 'index' (operand-type)
            83 arith.index_cast: one of 'i32' and 'i64' must be of type index (cast-types)
            88 %b: operand #0 must be signless-integer-like or memref of signless integers, but got 'f32' (operand-type)
            93 %a: operand #0 must be signless-fixed-width-integer-like, but got 'index' (operand-type)
            98 arith.extsi: requires the same shape for all operands and results, found 'tensor<4xi32>' and 'tensor<?xi64>' (shapes-differ)
            103 arith.extsi: requires the same shape for all operands and results, found 'vector<4xi32>' and 'tensor<4xi64>' (shapes-differ)
            108 "arith.cmpi": result #0 must be bool-like, but got 'i32' (result-type)
            113 "arith.constant": the value has type 'i64', but the result has type 'i32' (types-differ)
            120 %v: the condition must be `i1`, or `i1` shaped as 'i32', but got 'vector<4xi1>' (operand-type)
            125 %a: the condition must be `i1`, or `i1` shaped as 'i32', but got 'i32' (operand-type)
            131 arith.addui_extended: result #1 must be bool-like, but got 'i8' (result-type)
        "#]],
    );
}

/// The maps of `affine.dma_start` and `affine.dma_wait` determine the meaning of each operand.
#[test]
fn reports_wrong_dma_operands() {
    check(
        r#"func.func @f(%m: memref<8x8xf32>, %t: memref<1xi32>, %n: index) {
  affine.for %i = 0 to 8 {
    affine.dma_start %m[%i + 3, %i], %m[%i, symbol(%n) + 7], %t[0], %n : memref<8x8xf32>, memref<8x8xf32>, memref<1xi32>
    affine.dma_start %m[%i, %i], %m[%i, %i], %t[%i], %n, %n, %n : memref<8x8xf32>, memref<8x8xf32>, memref<1xi32>
    affine.dma_wait %t[%i mod 2], %n : memref<1xi32>
  }
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %m[], %m[], %t[0], %n, %n : memref<8x8xf32>, memref<8x8xf32>, memref<1xi32>
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %m[], %m[], %t[0], %n : memref<8x8xf32>, memref<8x8xf32>
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %t: memref<1xi32>, %n: index, %x: f32) {
  affine.dma_start %m[], %x[], %t[0], %n : memref<8x8xf32>, f32, memref<1xi32>
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %t: memref<1xindex>, %n: index) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %t[0] : memref<1xindex>
    affine.dma_wait %t[%0], %n : memref<1xindex>
  }
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %n: index, %x: i32) {
  "affine.dma_wait"(%m, %x, %n) {tag_map = affine_map<(d0) -> (d0)>} : (memref<8x8xf32>, i32, index) -> ()
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %n: index) {
  "affine.dma_wait"(%m, %n, %n, %n) {tag_map = affine_map<(d0) -> (d0)>} : (memref<8x8xf32>, index, index, index) -> ()
  return
}
// -----
func.func @f(%m: memref<8x8xf32>, %n: index) {
  "affine.dma_wait"(%m, %n, %n) : (memref<8x8xf32>, index, index) -> ()
  return
}
"#,
        &expect![[r#"
            11 : expected ',' (expected-token)
            16 : expected ',' (expected-token)
            21 affine.dma_start: copies between memrefs, not 'f32' (operand-type)
            28 affine.dma_wait: index must be a valid dimension or symbol identifier (affine-operand)
            34 "affine.dma_wait": an index must be of type 'index', not 'i32' (operand-type)
            39 "affine.dma_wait": expected 3 operands for these maps, but found 4 (wrong-count)
            44 "affine.dma_wait": requires attribute 'tag_map' (missing-attribute)
        "#]],
    );
}

/// A value that is loaded in a loop is not a valid index of an affine access. The size of a
/// dimension is one if it was passed to the allocation as one.
#[test]
fn indices_are_computed_from_symbols() {
    check(
        r#"func.func @f(%m: memref<8xf32>, %s: memref<?xindex>, %c0: index) {
  affine.for %i = 0 to 8 {
    %0 = memref.dim %s, %c0 : memref<?xindex>
    %1 = affine.load %m[%0] : memref<8xf32>
    %2 = memref.load %s[%i] : memref<?xindex>
    %3 = affine.load %m[%2] : memref<8xf32>
    %4 = memref.rank %s : memref<?xindex>
    %5 = affine.load %m[%4] : memref<8xf32>
    %c1 = arith.constant 0 : index
    %6 = memref.alloc(%i) : memref<?xf32>
    %7 = memref.dim %6, %c1 : memref<?xf32>
    %8 = affine.load %m[%7] : memref<8xf32>
    %9 = memref.alloc(%c0) : memref<?x4xf32>
    %10 = memref.dim %9, %c1 : memref<?x4xf32>
    %11 = affine.load %m[%10] : memref<8xf32>
  }
  return
}
"#,
        &expect![[r#"
            6 affine.load: index must be a valid dimension or symbol identifier (affine-operand)
            8 affine.load: index must be a valid dimension or symbol identifier (affine-operand)
            12 affine.load: index must be a valid dimension or symbol identifier (affine-operand)
        "#]],
    );
}

/// Reductions require suitable types, `scf.forall` shares only tensors, and either all or none of
/// its loops are mapped.
#[test]
fn reports_wrong_reductions_and_mappings() {
    check(
        r#"func.func @f(%n: index, %x: f32, %i: i32, %u: ui32) {
  %0:2 = affine.parallel (%k) = (0) to (%n) reduce ("addf", "maxu") -> (f32, ui32) {
    affine.yield %x, %u : f32, ui32
  }
  %1 = affine.parallel (%k) = (0) to (%n) reduce ("addi") -> f32 {
    affine.yield %x : f32
  }
  %2 = affine.parallel (%k) = (0) to (%n) reduce ("maxs") -> i32 {
    affine.yield %i : i32
  }
  scf.forall (%k) in (%n) shared_outs(%o = %x) -> f32 {
  }
  scf.forall (%k, %l) in (%n, %n) {
  } {mapping = [#gpu.block<x>]}
  return
}
"#,
        &expect![[r#"
            5 affine.parallel: a value of type 'f32' cannot be reduced by this reduction (operand-type)
            8 affine.parallel: a value of type 'i32' cannot be reduced by this reduction (operand-type)
            11 scf.forall: shares ranked tensors, not 'f32' (operand-type)
            13 scf.forall: maps 1 of 2 loops (wrong-count)
        "#]],
    );
}
