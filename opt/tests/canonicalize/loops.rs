//! Patterns of loops and conditionals.

use expect_test::expect;

use crate::assert_canonicalized;

#[test]
fn short_and_nested_parallel_loops_are_simplified() {
    assert_canonicalized(
        r#"func.func @par2(%n: index, %A: memref<?x?x?xi32>, %v: i32) {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  scf.parallel (%j) = (%c0) to (%n) step (%c1) {
   memref.store %v, %A[%i, %j, %j] : memref<?x?x?xi32>
   scf.reduce
  }
  scf.reduce
 }
 return }
func.func @par3(%n: index, %f: f32) -> f32 {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 %r = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%f) -> f32 {
  %v = "test.make"(%i) : (index) -> f32
  scf.reduce(%v : f32) {
   ^bb0(%a: f32, %b: f32):
   %s = arith.addf %a, %b : f32
   scf.reduce.return %s : f32
  }
 }
 return %r : f32 }
func.func @forall1(%A: memref<?xf32>, %n: index, %f: f32) {
 %c4 = arith.constant 4 : index
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 scf.forall (%i, %j) in (%c4, %n) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i, %j) = (%c0, %c1) to (%c4, %c4) step (%c1, %c1) {
  memref.store %f, %A[%j] : memref<?xf32>
 }
 scf.forall (%i) in (1) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i, %j) in (1, %n) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 scf.forall (%i) in (0) {
  memref.store %f, %A[%i] : memref<?xf32>
 }
 return }
"#,
        &expect![[r#"
            module {
              func.func @par2(%arg0: index, %arg1: memref<?x?x?xi32>, %arg2: i32) {
                %0 = arith.constant 0 : index
                %1 = arith.constant 1 : index
                scf.parallel (%arg3, %arg4) = (%0, %0) to (%arg0, %arg0) step (%1, %1) {
                  memref.store %arg2, %arg1[%arg3, %arg4, %arg4] : memref<?x?x?xi32>
                  scf.reduce
                }
                return
              }
              func.func @par3(%arg0: index, %arg1: f32) -> f32 {
                %0 = arith.constant 0 : index
                %1 = "test.make"(%0) : (index) -> f32
                %2 = arith.addf %arg1, %1 : f32
                return %2 : f32
              }
              func.func @forall1(%arg0: memref<?xf32>, %arg1: index, %arg2: f32) {
                %0 = arith.constant 0 : index
                scf.forall (%arg3, %arg4) in (4, %arg1) {
                  memref.store %arg2, %arg0[%arg3] : memref<?xf32>
                }
                scf.forall (%arg3, %arg4) = (0, 1) to (4, 4) step (1, 1) {
                  memref.store %arg2, %arg0[%arg4] : memref<?xf32>
                }
                memref.store %arg2, %arg0[%0] : memref<?xf32>
                scf.forall (%arg3) in (%arg1) {
                  memref.store %arg2, %arg0[%0] : memref<?xf32>
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn while_loops_carry_only_values_that_change() {
    assert_canonicalized(
        r#"func.func @while1(%a: i32, %b: i32) -> (i32, i32) {
 %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
  %c = "test.cond"(%x) : (i32) -> i1
  scf.condition(%c) %x, %y : i32, i32
 } do {
 ^bb0(%p: i32, %q: i32):
  %n = "test.next"(%p, %q) : (i32, i32) -> i32
  scf.yield %n, %q : i32, i32
 }
 return %r#0, %r#1 : i32, i32 }
func.func @while3(%a: i32, %b: i32) -> (i32) {
 %r:3 = scf.while (%x = %a) : (i32) -> (i32, i32, i32) {
  %c = arith.cmpi slt, %x, %b : i32
  scf.condition(%c) %x, %x, %b : i32, i32, i32
 } do {
 ^bb0(%p: i32, %q: i32, %z: i32):
  %c = arith.cmpi slt, %p, %b : i32
  %d = arith.cmpi sge, %q, %b : i32
  %n = "test.next"(%p, %q, %z, %c, %d) : (i32, i32, i32, i1, i1) -> i32
  scf.yield %n : i32
 }
 %s = arith.addi %r#0, %r#1 : i32
 return %s : i32 }
func.func @while5(%a: memref<3xf32>) -> (memref<3xf32>) {
 %r = scf.while (%x = %a) : (memref<3xf32>) -> (memref<3xf32>) {
  %c = "test.cond"() : () -> i1
  scf.condition(%c) %x : memref<3xf32>
 } do {
 ^bb0(%p: memref<3xf32>):
  "test.u"(%p) : (memref<3xf32>) -> ()
  scf.yield %p : memref<3xf32>
 }
 return %r : memref<3xf32> }
func.func @while7(%v: index) -> (index) {
 %0 = scf.while (%arg0 = %v) : (index) -> index {
  %c = "test.condition"(%arg0) : (index) -> i1
  scf.condition(%c) %v : index
 } do {
 ^bb0(%arg1: index):
  scf.yield %arg1 : index
 }
 return %0 : index }
func.func @while8(%v: index, %w: index) -> (index, index) {
 %0:2 = scf.while (%a = %v, %b = %w) : (index, index) -> (index, index) {
  %c = "test.condition"() : () -> i1
  scf.condition(%c) %b, %a : index, index
 } do {
 ^bb0(%p: index, %q: index):
  scf.yield %p, %q : index, index
 }
 return %0#0, %0#1 : index, index }
"#,
        &expect![[r#"
            module {
              func.func @while1(%arg0: i32, %arg1: i32) -> (i32, i32) {
                %0 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
                  %1 = "test.cond"(%arg2) : (i32) -> i1
                  scf.condition(%1) %arg2 : i32
                } do {
                ^bb0(%arg2: i32):
                  %1 = "test.next"(%arg2, %arg1) : (i32, i32) -> i32
                  scf.yield %1 : i32
                }
                return %0, %arg1 : i32, i32
              }
              func.func @while3(%arg0: i32, %arg1: i32) -> i32 {
                %0 = arith.constant false
                %1 = arith.constant true
                %2 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
                  %4 = arith.cmpi slt, %arg2, %arg1 : i32
                  scf.condition(%4) %arg2 : i32
                } do {
                ^bb0(%arg2: i32):
                  %4 = "test.next"(%arg2, %arg2, %arg1, %1, %0) : (i32, i32, i32, i1, i1) -> i32
                  scf.yield %4 : i32
                }
                %3 = arith.addi %2, %2 : i32
                return %3 : i32
              }
              func.func @while5(%arg0: memref<3xf32>) -> memref<3xf32> {
                scf.while : () -> () {
                  %0 = "test.cond"() : () -> i1
                  scf.condition(%0)
                } do {
                  "test.u"(%arg0) : (memref<3xf32>) -> ()
                  scf.yield
                }
                return %arg0 : memref<3xf32>
              }
              func.func @while7(%arg0: index) -> index {
                scf.while : () -> () {
                  %0 = "test.condition"(%arg0) : (index) -> i1
                  scf.condition(%0)
                } do {
                  scf.yield
                }
                return %arg0 : index
              }
              func.func @while8(%arg0: index, %arg1: index) -> (index, index) {
                %0:2 = scf.while (%arg2 = %arg0, %arg3 = %arg1) : (index, index) -> (index, index) {
                  %1 = "test.condition"() : () -> i1
                  scf.condition(%1) %arg2, %arg3 : index, index
                } do {
                ^bb0(%arg2: index, %arg3: index):
                  scf.yield %arg3, %arg2 : index, index
                }
                return %0#1, %0#0 : index, index
              }
            }
        "#]],
    );
}

#[test]
fn loop_bounds_simplify_quotients() {
    assert_canonicalized(
        r#"func.func @a1(%N: index, %A: memref<?x32xf32>) {
  affine.for %i = 0 to %N step 32 {
    affine.for %ii = 0 to 32 {
      %x = affine.load %A[%ii floordiv 32, %i mod 32] : memref<?x32xf32>
      "test.foo"(%x) : (f32) -> ()
      %a = affine.load %A[(%i + %ii) floordiv 32, (%i + %ii) mod 16] : memref<?x32xf32>
      "test.foo"(%a) : (f32) -> ()
      %b = affine.load %A[(%i + %ii) floordiv 64, (%i + %ii) mod 64] : memref<?x32xf32>
      "test.foo"(%b) : (f32) -> ()
      %e = affine.apply affine_map<(d0, d1) -> ((d0 + d1) mod 8 + d0 floordiv 16)>(%i, %ii)
      "test.u"(%e) : (index) -> ()
      %f = affine.min affine_map<(d0, d1) -> (d1 mod 32, d0 mod 32)>(%i, %ii)
      "test.u"(%f) : (index) -> ()
    }
  }
  return }
func.func @a2(%N: index, %A: memref<?xf32>, %f: f32) {
 affine.for %i = 3 to 30 step 3 {
  affine.store %f, %A[%i floordiv 28] : memref<?xf32>
  affine.store %f, %A[%i mod 28] : memref<?xf32>
  affine.store %f, %A[%i mod 3] : memref<?xf32>
  affine.for %j = affine_map<(d0)->(d0)>(%i) to 64 step 6 {
   affine.store %f, %A[%j mod 3 + %j ceildiv 64] : memref<?xf32>
   affine.store %f, %A[(-%j) floordiv 64] : memref<?xf32>
  }
 }
 affine.for %i = 0 to 10 {
  affine.for %j = max affine_map<(d0) -> (d0, 0, -5)>(%i) to min affine_map<(d0)[s] -> (d0 + 1, s, 20, 30)>(%i)[%N] {
   affine.store %f, %A[%j] : memref<?xf32>
  }
 }
 return }
func.func @a3(%N: index, %A: memref<?xf32>, %f: f32) {
 %c0 = arith.constant 0 : index
 %c1 = arith.constant 1 : index
 affine.parallel (%i, %j) = (%c0, %c1) to (%N, %c1 + 7) {
  affine.store %f, %A[%i + %j] : memref<?xf32>
 }
 affine.parallel (%i) = (0) to (0) {
  affine.store %f, %A[%i] : memref<?xf32>
 }
 affine.parallel (%i) = (0) to (10) {
 }
 return }
"#,
        &expect![[r#"
            module {
              func.func @a1(%arg0: index, %arg1: memref<?x32xf32>) {
                affine.for %arg2 = 0 to %arg0 step 32 {
                  affine.for %arg3 = 0 to 32 {
                    %0 = affine.load %arg1[0, 0] : memref<?x32xf32>
                    "test.foo"(%0) : (f32) -> ()
                    %1 = affine.load %arg1[%arg2 floordiv 32, %arg3 mod 16] : memref<?x32xf32>
                    "test.foo"(%1) : (f32) -> ()
                    %2 = affine.load %arg1[%arg2 floordiv 64, (%arg2 + %arg3) mod 64] : memref<?x32xf32>
                    "test.foo"(%2) : (f32) -> ()
                    %3 = affine.apply affine_map<(d0, d1) -> (d1 mod 8 + d0 floordiv 16)>(%arg2, %arg3)
                    "test.u"(%3) : (index) -> ()
                    %4 = affine.min affine_map<(d0) -> (0, d0)>(%arg3)
                    "test.u"(%4) : (index) -> ()
                  }
                }
                return
              }
              func.func @a2(%arg0: index, %arg1: memref<?xf32>, %arg2: f32) {
                affine.for %arg3 = 3 to 30 step 3 {
                  affine.store %arg2, %arg1[0] : memref<?xf32>
                  affine.store %arg2, %arg1[%arg3] : memref<?xf32>
                  affine.store %arg2, %arg1[0] : memref<?xf32>
                  affine.for %arg4 = affine_map<(d0) -> (d0)>(%arg3) to 64 step 6 {
                    affine.store %arg2, %arg1[%arg4 ceildiv 64] : memref<?xf32>
                    affine.store %arg2, %arg1[(-%arg4) floordiv 64] : memref<?xf32>
                  }
                }
                affine.for %arg3 = 0 to 10 {
                  affine.for %arg4 = affine_map<(d0) -> (d0)>(%arg3) to min affine_map<(d0)[s0] -> (d0 + 1, s0)>(%arg3)[%arg0] {
                    affine.store %arg2, %arg1[%arg4] : memref<?xf32>
                  }
                }
                return
              }
              func.func @a3(%arg0: index, %arg1: memref<?xf32>, %arg2: f32) {
                affine.parallel (%arg3, %arg4) = (0, 1) to (symbol(%arg0), 8) {
                  affine.store %arg2, %arg1[%arg3 + %arg4] : memref<?xf32>
                }
                affine.parallel (%arg3) = (0) to (0) {
                  affine.store %arg2, %arg1[%arg3] : memref<?xf32>
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn selects_precede_the_remaining_if() {
    assert_canonicalized(
        r#"func.func @half(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
 %r, %s = scf.if %c -> (i32, i32) {
  %x = "t.a"(%c) : (i1) -> i32
  scf.yield %x, %a : i32, i32 } else {
  %y = "t.b"(%c) : (i1) -> i32
  scf.yield %y, %b : i32, i32 }
 return %r, %s : i32, i32 }
func.func @nested(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
 %r = scf.if %c -> i32 {
  %s = scf.if %d -> i32 {
   "t.a"() : () -> ()
   scf.yield %a : i32
  } else {
   scf.yield %b : i32 }
  scf.yield %s : i32 } else {
  scf.yield %b : i32 }
 return %r : i32 }"#,
        &expect![[r#"
            module {
              func.func @half(%arg0: i1, %arg1: i32, %arg2: i32) -> (i32, i32) {
                %0 = arith.constant false
                %1 = arith.constant true
                %2 = arith.select %arg0, %arg1, %arg2 : i32
                %3 = scf.if %arg0 -> (i32) {
                  %4 = "t.a"(%1) : (i1) -> i32
                  scf.yield %4 : i32
                } else {
                  %4 = "t.b"(%0) : (i1) -> i32
                  scf.yield %4 : i32
                }
                return %3, %2 : i32, i32
              }
              func.func @nested(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> i32 {
                %0 = arith.andi %arg0, %arg1 : i1
                %1 = arith.select %0, %arg2, %arg3 : i32
                scf.if %0 {
                  "t.a"() : () -> ()
                }
                return %1 : i32
              }
            }
        "#]],
    );
}

#[test]
fn conditions_that_may_be_poison_are_not_joined_by_andi() {
    assert_canonicalized(
        r#"func.func @if(%c: i1, %m: memref<i1>) {
 %d = memref.load %m[] : memref<i1>
 scf.if %c {
  scf.if %d {
   "t.a"() : () -> () } }
 return }
func.func @selects(%c: i1, %m: memref<i1>, %a: i32, %b: i32) -> (i32, i32) {
 %d = memref.load %m[] : memref<i1>
 %0 = arith.select %d, %a, %b : i32
 %1 = arith.select %c, %0, %b : i32
 %2 = arith.select %c, %a, %0 : i32
 return %1, %2 : i32, i32 }
func.func @compared(%c: i1, %x: i32, %y: i32, %a: i32, %b: i32) -> (i32, i32) {
 %d = arith.cmpi slt, %x, %y : i32
 %0 = arith.select %d, %a, %b : i32
 %1 = arith.select %c, %0, %b : i32
 %2 = arith.select %c, %a, %0 : i32
 scf.if %c {
  scf.if %d {
   "t.a"() : () -> () } }
 return %1, %2 : i32, i32 }
"#,
        &expect![[r#"
            module {
              func.func @if(%arg0: i1, %arg1: memref<i1>) {
                %0 = arith.constant false
                %1 = memref.load %arg1[] : memref<i1>
                %2 = arith.select %arg0, %1, %0 : i1
                scf.if %2 {
                  "t.a"() : () -> ()
                }
                return
              }
              func.func @selects(%arg0: i1, %arg1: memref<i1>, %arg2: i32, %arg3: i32) -> (i32, i32) {
                %0 = memref.load %arg1[] : memref<i1>
                %1 = arith.select %0, %arg2, %arg3 : i32
                %2 = arith.select %arg0, %1, %arg3 : i32
                %3 = arith.select %arg0, %arg2, %1 : i32
                return %2, %3 : i32, i32
              }
              func.func @compared(%arg0: i1, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32) -> (i32, i32) {
                %0 = arith.cmpi slt, %arg1, %arg2 : i32
                %1 = arith.andi %arg0, %0 : i1
                %2 = arith.select %1, %arg3, %arg4 : i32
                %3 = arith.ori %arg0, %0 : i1
                %4 = arith.select %3, %arg3, %arg4 : i32
                %5 = arith.andi %arg0, %0 : i1
                scf.if %5 {
                  "t.a"() : () -> ()
                }
                return %2, %4 : i32, i32
              }
            }
        "#]],
    );
}
