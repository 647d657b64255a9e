//! Tests of the rules about arguments and terminators of regions.

use expect_test::expect;

use super::check;

/// Results, loop-carried values and the values between the regions of `scf.while`.
#[test]
fn reports_wrong_values_of_regions() {
    check(
        r#"func.func @f(%n: index, %m: index) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (index) {
    scf.yield %a, %i : index, index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %m) -> (i32) {
    scf.yield %i : index
  }
  return
}
// -----
func.func @f(%n: index, %m: i32) {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %m) -> (i32) {
    %x = arith.addi %a, %a : i32
  }
  return
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %m : i32
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %m : i32
  } else {
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %c : i1
  } else {
    scf.yield %m : i32
  }
  return %r : i32
}
// -----
func.func @f(%c: i1, %m: i32) {
  scf.if %c -> (i32) {
    scf.yield %m : i32
  } else {
    scf.yield %m, %m : i32, i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i64 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.constant true
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield
  }
  return
}
// -----
func.func @f(%a: i32) {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    scf.yield %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %y : i32
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) -> i32 {
  %r = scf.index_switch %a -> i32
  case 1 {
    scf.yield %v : i32
  }
  default {
    scf.yield %a : index
  }
  return %r : i32
}
// -----
func.func @f(%a: index, %v: i32) -> i32 {
  %r = scf.execute_region -> i32 {
    scf.yield %a : index
  }
  return %r : i32
}"#,
        &expect![[r#"
            3 scf.yield: the end of region #0 gives 2 values, but the op takes 1 (region-values)
            10 scf.yield: the end of region #0 gives 'index' as value #0, but the op takes 'i32' (region-values)
            18 }: the end of region #0 gives 0 values, but the op takes 1 (region-values)
            23 scf.if: must have an else block if defining values (missing-else)
            33 }: the end of region #1 gives 0 values, but the op takes 1 (region-values)
            39 scf.yield: the end of region #0 gives 'i1' as value #0, but the op takes 'i32' (region-values)
            50 scf.yield: the end of region #1 gives 2 values, but the op takes 1 (region-values)
            58 scf.condition: the end of region #0 gives 'i32' as value #0, but region #1 takes 'i64' (region-values)
            69 scf.condition: the end of region #0 gives 'i32' as value #0, but region #1 takes 'i64' (region-values)
            83 scf.yield: the end of region #1 gives 0 values, but region #0 takes 1 (region-values)
            89 scf.while: expects the 'before' region to terminate with 'scf.condition' (wrong-terminator)
            104 scf.yield: the end of region #1 gives 'index' as value #0, but the op takes 'i32' (region-values)
            111 scf.yield: the end of region #0 gives 'index' as value #0, but the op takes 'i32' (region-values)
        "#]],
    );
}

/// One block, at least one block, no duplicate cases.
#[test]
fn reports_wrong_numbers_of_blocks() {
    check(
        r#"func.func @f(%c: i1) {
  scf.if %c {
  ^bb0:
    scf.yield
  ^bb1:
    scf.yield
  }
  return
}
// -----
func.func @f(%c: i1) {
  scf.if %c {
    cf.br ^bb1
  ^bb1:
    scf.yield
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.index_switch %a
  case 1 {
    scf.yield
  }
  case 1 {
    scf.yield
  }
  default {
    scf.yield
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.index_switch %a
  case 1 {
  }
  default {
  }
  return
}
// -----
func.func @f(%a: index) {
  scf.execute_region {
  }
  return
}
// -----
func.func @f(%a: index) {
  scf.execute_region {
    %0 = arith.addi %a, %a : index
  }
  return
}
// -----
func.func @f(%c: i1, %n: index) {
  "scf.if"(%c) ({
  }, {
  }) : (i1) -> ()
  return
}
// -----
func.func @f(%c: i1, %n: index) {
  "scf.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    "foo.end"() : () -> ()
  }) : (index, index, index) -> ()
  return
}"#,
        &expect![[r#"
            2 scf.if: expects region #0 to have 0 or 1 blocks (several-blocks)
            12 scf.if: expects region #0 to have 0 or 1 blocks (several-blocks)
            21 scf.index_switch: has duplicate case value: 1 (duplicate-case)
            35 scf.index_switch: region #0 needs a block (no-block)
            44 scf.execute_region: region needs to have at least one block (no-block)
            51 arith.addi: block with no terminator, has `arith.addi` (missing-terminator)
            57 "scf.if": region #0 needs a block (no-block)
            64 "scf.for": expects regions to end with 'scf.yield', found 'foo.end' (wrong-terminator)
        "#]],
    );
}

/// `scf.parallel` and `scf.reduce`.
#[test]
fn reports_wrong_reductions() {
    check(
        r#"func.func @f(%a: index, %v: i32) {
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    scf.reduce
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      %s = arith.addi %x, %y : i32
      scf.reduce.return %s : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i64):
      scf.reduce.return %x : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %a : index
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i32 {
  }
  return
}
// -----
func.func @f(%a: index, %v: i32) {
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    scf.reduce(%v : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %x : i32
    }
  }
  return
}
// -----
func.func @f(%a: index, %v: i64) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%v) -> i64 {
    %w = arith.constant 1 : i32
    scf.reduce(%w : i32) {
    ^bb0(%x: i32, %y: i32):
      scf.reduce.return %x : i32
    }
  }
  return
}
// -----
func.func @f(%a: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.parallel (%i, %j) = (%zero, %a) to (%a, %a) step (%one, %zero) {
  }
  scf.parallel (%i, %j) = (%zero, %a) to (%a, %a) step (%one, %a) {
  }
  return
}"#,
        &expect![[r#"
            21 scf.reduce: expected two block arguments with type 'i32' in reduction region #0 (entry-arguments)
            33 scf.reduce.return: must have type 'i32' (the type of the reduction inputs), not 'index' (operand-type)
            40 scf.parallel: expects number of results: 1 to be the same as number of reductions: 0 (region-values)
            46 scf.parallel: expects number of results: 0 to be the same as number of reductions: 1 (region-values)
            58 scf.reduce: operand #0 has type 'i32', but the result of the loop is 'i64' (operand-type)
            69 scf.parallel: a constant step must be positive (step-not-positive)
        "#]],
    );
}
