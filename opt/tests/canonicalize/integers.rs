//! Patterns of sums, products and comparisons.

use expect_test::expect;

use crate::{assert_canonicalized, assert_transformed};

#[test]
fn operations_on_zero_width_integers_fold_to_zero() {
    assert_canonicalized(
        r#"func.func @i0a() -> i16 { %c = arith.constant 0 : i0
 %e = arith.extui %c : i0 to i16
 return %e : i16 }
func.func @i0d() -> i1 { %c = arith.constant 0 : i0
 %e = arith.cmpi slt, %c, %c : i0
 return %e : i1 }
func.func @i0e() -> i0 { %c = arith.constant 0 : i0
 %e = arith.maxsi %c, %c : i0
 %f = arith.minui %e, %c : i0
 %g = arith.andi %f, %c : i0
 %h = arith.ori %g, %c : i0
 %i = arith.xori %h, %c : i0
 return %i : i0 }
func.func @bcp(%x: i16) -> i16 { %0 = arith.bitcast %x : i16 to f16
 %1 = arith.bitcast %0 : f16 to bf16
 %2 = arith.bitcast %1 : bf16 to i16
 return %2 : i16 }
func.func @sel2(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i64, i32, i32, i1) {
 %c1 = arith.constant 1 : i32
 %c0 = arith.constant 0 : i32
 %0 = arith.select %c, %c1, %c0 : i32
 %l1 = arith.constant 1 : i64
 %l0 = arith.constant 0 : i64
 %1 = arith.select %c, %l0, %l1 : i64
 %t = arith.constant true
 %nc = arith.xori %c, %t : i1
 %2 = arith.select %nc, %a, %b : i32
 %m1 = arith.constant -1 : i32
 %3 = arith.select %c, %m1, %c0 : i32
 %4 = arith.select %c, %d, %d : i1
 return %0, %1, %2, %3, %4 : i32,i64,i32,i32,i1 }
"#,
        &expect![[r#"
            module {
              func.func @i0a() -> i16 {
                %0 = arith.constant 0 : i16
                return %0 : i16
              }
              func.func @i0d() -> i1 {
                %0 = arith.constant false
                return %0 : i1
              }
              func.func @i0e() -> i0 {
                %0 = arith.constant 0 : i0
                return %0 : i0
              }
              func.func @bcp(%arg0: i16) -> i16 {
                return %arg0 : i16
              }
              func.func @sel2(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> (i32, i64, i32, i32, i1) {
                %0 = arith.constant true
                %1 = arith.constant -1 : i32
                %2 = arith.constant 0 : i32
                %3 = arith.extui %arg0 : i1 to i32
                %4 = arith.xori %arg0, %0 : i1
                %5 = arith.extui %4 : i1 to i64
                %6 = arith.select %arg0, %arg3, %arg2 : i32
                %7 = arith.select %arg0, %1, %2 : i32
                return %3, %5, %6, %7, %arg1 : i32, i64, i32, i32, i1
              }
            }
        "#]],
    );
}

#[test]
fn nested_differences_are_merged() {
    assert_canonicalized(
        r"func.func @f(%a: i8) -> (i8, i8, i8, i8) {
 %k = arith.constant 4 : i8
 %l = arith.constant 9 : i8
 %m = arith.constant 120 : i8
 %0 = arith.subi %a, %k overflow<nsw, nuw> : i8
 %1 = arith.subi %0, %l overflow<nsw, nuw> : i8
 %2 = arith.subi %0, %m overflow<nsw, nuw> : i8
 %3 = arith.subi %l, %0 : i8
 %4 = arith.subi %k, %a : i8
 %5 = arith.subi %4, %l : i8
 %6 = arith.subi %m, %5 : i8
 return %1, %2, %3, %6 : i8, i8, i8, i8 }",
        &expect![[r#"
            module {
              func.func @f(%arg0: i8) -> (i8, i8, i8, i8) {
                %0 = arith.constant 125 : i8
                %1 = arith.constant 124 : i8
                %2 = arith.constant 13 : i8
                %3 = arith.subi %arg0, %2 overflow<nsw, nuw> : i8
                %4 = arith.subi %arg0, %1 overflow<nsw, nuw> : i8
                %5 = arith.subi %2, %arg0 : i8
                %6 = arith.addi %arg0, %0 : i8
                return %3, %4, %5, %6 : i8, i8, i8, i8
              }
            }
        "#]],
    );
}

#[test]
fn test_patterns_folds_without_patterns() {
    let text = r#"func.func @f(%a: i32) -> i32 {
 %c = arith.constant 3 : i32
 %d = arith.constant 3 : i32
 %e = arith.addi %c, %d : i32
 %x = arith.addi %a, %c : i32
 %y = arith.addi %x, %d : i32
 %z = arith.muli %e, %y : i32
 return %z : i32 }
"#;
    assert_transformed(
        "builtin.module(test-patterns)",
        text,
        &expect![[r#"
        module {
          func.func @f(%arg0: i32) -> i32 {
            %0 = arith.constant 3 : i32
            %1 = arith.constant 6 : i32
            %2 = arith.addi %arg0, %0 : i32
            %3 = arith.addi %2, %0 : i32
            %4 = arith.muli %3, %1 : i32
            return %4 : i32
          }
        }
    "#]],
    );
    assert_transformed(
        "builtin.module(test-patterns{max-iterations=0})",
        text,
        &expect![[r#"
        module {
          func.func @f(%arg0: i32) -> i32 {
            %0 = arith.constant 3 : i32
            %1 = arith.constant 3 : i32
            %2 = arith.addi %0, %1 : i32
            %3 = arith.addi %arg0, %0 : i32
            %4 = arith.addi %3, %1 : i32
            %5 = arith.muli %2, %4 : i32
            return %5 : i32
          }
        }
    "#]],
    );
}

#[test]
fn sums_of_extended_numbers_are_narrowed() {
    let text = r#"func.func @f(%a: i8, %b: i8, %v: vector<2xi8>) -> (i32, i32, i32, f32, i32, vector<2xi32>) {
 %x = arith.extsi %a : i8 to i32
 %y = arith.extsi %b : i8 to i32
 %u = arith.extui %b : i8 to i32
 %sum = arith.addi %x, %y : i32
 %product = arith.muli %sum, %y : i32
 %natural = arith.subi %u, %u : i32
 %float = arith.sitofp %x : i32 to f32
 %c = arith.constant -129 : i32
 %quotient = arith.divsi %x, %c : i32
 %w = arith.extui %v : vector<2xi8> to vector<2xi32>
 %d = arith.constant dense<[255, 256]> : vector<2xi32>
 %most = arith.maxui %w, %d : vector<2xi32>
 return %sum, %product, %natural, %float, %quotient, %most : i32, i32, i32, f32, i32, vector<2xi32> }
"#;
    assert_transformed(
        "builtin.module(arith-int-narrowing{int-bitwidths-supported=8,24,9})",
        text,
        &expect![[r#"
            module {
              func.func @f(%arg0: i8, %arg1: i8, %arg2: vector<2xi8>) -> (i32, i32, i32, f32, i32, vector<2xi32>) {
                %0 = arith.constant dense<[255, -256]> : vector<2xi9>
                %1 = arith.constant -129 : i24
                %2 = arith.constant 0 : i32
                %3 = arith.extsi %arg0 : i8 to i32
                %4 = arith.extsi %arg1 : i8 to i32
                %5 = arith.trunci %3 : i32 to i9
                %6 = arith.trunci %4 : i32 to i9
                %7 = arith.addi %5, %6 : i9
                %8 = arith.extsi %7 : i9 to i32
                %9 = arith.trunci %8 : i32 to i24
                %10 = arith.trunci %4 : i32 to i24
                %11 = arith.muli %9, %10 : i24
                %12 = arith.extsi %11 : i24 to i32
                %13 = arith.sitofp %arg0 : i8 to f32
                %14 = arith.trunci %3 : i32 to i24
                %15 = arith.divsi %14, %1 : i24
                %16 = arith.extsi %15 : i24 to i32
                %17 = arith.extui %arg2 : vector<2xi8> to vector<2xi32>
                %18 = arith.trunci %17 : vector<2xi32> to vector<2xi9>
                %19 = arith.maxui %18, %0 : vector<2xi9>
                %20 = arith.extui %19 : vector<2xi9> to vector<2xi32>
                return %8, %12, %2, %13, %16, %20 : i32, i32, i32, f32, i32, vector<2xi32>
              }
            }
        "#]],
    );
    // Widths that are not smaller than the width of the op are ignored.
    assert_transformed(
        "builtin.module(arith-int-narrowing{int-bitwidths-supported=64})",
        "func.func @f(%a: i32) -> f32 {\n %0 = arith.sitofp %a : i32 to f32\n return %0 : f32 }",
        &expect![[r#"
            module {
              func.func @f(%arg0: i32) -> f32 {
                %0 = arith.sitofp %arg0 : i32 to f32
                return %0 : f32
              }
            }
        "#]],
    );
}

#[test]
fn nested_products_with_constants_are_merged() {
    assert_canonicalized(
        r#"func.func @f(%x: i64, %y: i8) -> (i64, i64, i8) {
 %c = arith.constant 1000003 : i64
 %d = arith.constant -1 : i64
 %e = arith.constant 16 : i8
 %0 = arith.muli %x, %c : i64
 %1 = arith.muli %0, %c : i64
 %2 = arith.muli %1, %c : i64
 %3 = arith.muli %2, %c : i64
 %4 = arith.muli %x, %d overflow<nsw, nuw> : i64
 %5 = arith.muli %4, %c overflow<nsw, nuw> : i64
 %6 = arith.muli %y, %e overflow<nuw> : i8
 %7 = arith.muli %6, %e overflow<nuw> : i8
 return %3, %5, %7 : i64, i64, i8 }
"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i64, %arg1: i8) -> (i64, i64, i8) {
                %0 = arith.constant 0 : i8
                %1 = arith.constant -1000003 : i64
                %2 = arith.constant -4442925868394654895 : i64
                %3 = arith.muli %arg0, %2 : i64
                %4 = arith.muli %arg0, %1 overflow<nsw> : i64
                return %3, %4, %0 : i64, i64, i8
              }
            }
        "#]],
    );
}
