//! Patterns of blocks and branches.

use expect_test::expect;

use crate::{assert_canonicalized, assert_transformed};

#[test]
fn merged_blocks_receive_differing_values_as_arguments() {
    assert_transformed(
        "builtin.module(canonicalize{region-simplify=aggressive})",
        r#"func.func @mism3(%c : i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = "foo.op"(%a, %b) : (i32, i32) -> i32
  return %x : i32
^bb2:
  %y = "foo.op"(%b, %b) : (i32, i32) -> i32
  return %y : i32
}
func.func @mism_attr(%c : i1, %a: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %x = "foo.op"(%a) {k = 1} : (i32) -> i32
  return %x : i32
^bb2:
  %y = "foo.op"(%a) {k = 2} : (i32) -> i32
  return %y : i32
}
func.func @args2(%c : i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^bb1(%a: i32), ^bb2(%b : i32)
^bb1(%p: i32):
  %x = "foo.op"(%p, %a) : (i32, i32) -> i32
  return %x : i32
^bb2(%q: i32):
  %y = "foo.op"(%q, %b) : (i32, i32) -> i32
  return %y : i32
}
func.func @unreg(%c : i1, %a: i32, %b: i32) -> i32 {
  "foo.br"()[^bb1, ^bb2] : () -> ()
^bb1:
  return %a : i32
^bb2:
  return %b : i32
}
func.func @loop(%c : i1, %d : i1) {
  %e = "foo.op"() : () -> (i1)
  cf.cond_br %c, ^bb2, ^bb3
^bb1:
  cf.cond_br %e, ^bb1, ^bb3
^bb2:
  cf.cond_br %d, ^bb1, ^bb3
^bb3:
  return
}
func.func @types(%c : i1, %a: i32, %b: i64) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  "foo.ret"(%a) : (i32) -> ()
  return
^bb2:
  "foo.ret"(%b) : (i64) -> ()
  return
}
func.func @three(%i : i32, %a: i32, %b: i32, %c: i32) -> i32 {
  cf.switch %i : i32, [ default: ^bb1, 1: ^bb2, 2: ^bb3 ]
^bb1:
  return %a : i32
^bb2:
  return %b : i32
^bb3:
  return %c : i32
}
"#,
        &expect![[r#"
            module {
              func.func @mism3(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.select %arg0, %arg1, %arg2 : i32
                %1 = "foo.op"(%0, %arg2) : (i32, i32) -> i32
                return %1 : i32
              }
              func.func @mism_attr(%arg0: i1, %arg1: i32) -> i32 {
                cf.cond_br %arg0, ^bb1, ^bb2
              ^bb1:
                %0 = "foo.op"(%arg1) {k = 1 : i64} : (i32) -> i32
                return %0 : i32
              ^bb2:
                %1 = "foo.op"(%arg1) {k = 2 : i64} : (i32) -> i32
                return %1 : i32
              }
              func.func @args2(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                %0 = arith.select %arg0, %arg1, %arg2 : i32
                %1 = arith.select %arg0, %arg1, %arg2 : i32
                %2 = "foo.op"(%0, %1) : (i32, i32) -> i32
                return %2 : i32
              }
              func.func @unreg(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
                "foo.br"()[^bb1, ^bb2] : () -> ()
              ^bb1:
                return %arg1 : i32
              ^bb2:
                return %arg2 : i32
              }
              func.func @loop(%arg0: i1, %arg1: i1) {
                %0 = "foo.op"() : () -> i1
                cf.cond_br %arg0, ^bb1(%arg1 : i1), ^bb2
              ^bb1(%1: i1):
                cf.cond_br %1, ^bb1(%0 : i1), ^bb2
              ^bb2:
                return
              }
              func.func @types(%arg0: i1, %arg1: i32, %arg2: i64) {
                cf.cond_br %arg0, ^bb1, ^bb2
              ^bb1:
                "foo.ret"(%arg1) : (i32) -> ()
                return
              ^bb2:
                "foo.ret"(%arg2) : (i64) -> ()
                return
              }
              func.func @three(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32) -> i32 {
                cf.switch %arg0 : i32, [
                  default: ^bb1(%arg1 : i32),
                  1: ^bb1(%arg2 : i32),
                  2: ^bb1(%arg3 : i32)
                ]
              ^bb1(%0: i32):
                return %0 : i32
              }
            }
        "#]],
    );
}

#[test]
fn execute_regions_in_functions_are_inlined() {
    assert_canonicalized(
        r#"func.func @f(%c: i1, %a: i32) -> (i32, i32) {
 %k = "t.k"() : () -> i32
 %r, %s = scf.execute_region -> (i32, i32) {
  cf.cond_br %c, ^a(%a : i32), ^b
 ^a(%p: i32):
  %x = "t.a"(%p) : (i32) -> i32
  scf.yield %x, %k : i32, i32
 ^b:
  %y = "t.b"() : () -> i32
  cf.cond_br %c, ^a(%y : i32), ^e
 ^e:
  scf.yield %y, %y : i32, i32
 }
 return %r, %s : i32, i32 }
func.func @in_a_loop(%n: index, %c: i1) {
 affine.for %i = 0 to %n {
  scf.execute_region {
   cf.cond_br %c, ^a, ^b
  ^a:
   "t.a"() : () -> ()
   scf.yield
  ^b:
   scf.yield
  }
 }
 return }"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i1, %arg1: i32) -> (i32, i32) {
                %0 = "t.k"() : () -> i32
                cf.cond_br %arg0, ^bb1(%arg1 : i32), ^bb2
              ^bb1(%1: i32):
                %2 = "t.a"(%1) : (i32) -> i32
                cf.br ^bb3(%2, %0 : i32, i32)
              ^bb2:
                %3 = "t.b"() : () -> i32
                cf.br ^bb3(%3, %3 : i32, i32)
              ^bb3(%4: i32, %5: i32):
                return %4, %5 : i32, i32
              }
              func.func @in_a_loop(%arg0: index, %arg1: i1) {
                affine.for %arg2 = 0 to %arg0 {
                  scf.execute_region {
                    cf.cond_br %arg1, ^bb1, ^bb2
                  ^bb1:
                    "t.a"() : () -> ()
                    scf.yield
                  ^bb2:
                    scf.yield
                  }
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn execute_regions_marked_no_inline_stay() {
    assert_canonicalized(
        r#"func.func @f(%c: i1) -> (i64, i64) {
 %one = scf.execute_region -> i64 no_inline {
  %x = "t.x"() : () -> i64
  scf.yield %x : i64
 }
 %two = scf.execute_region -> i64 no_inline {
  %x = "t.x"() : () -> i64
  cf.cond_br %c, ^a, ^b
 ^a:
  scf.yield %x : i64
 ^b:
  scf.yield %one : i64
 }
 return %one, %two : i64, i64 }"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i1) -> (i64, i64) {
                %0 = scf.execute_region -> i64 no_inline {
                  %2 = "t.x"() : () -> i64
                  scf.yield %2 : i64
                }
                %1 = scf.execute_region -> i64 no_inline {
                  %2 = "t.x"() : () -> i64
                  cf.cond_br %arg0, ^bb1, ^bb2
                ^bb1:
                  scf.yield %2 : i64
                ^bb2:
                  scf.yield %0 : i64
                }
                return %0, %1 : i64, i64
              }
            }
        "#]],
    );
}

#[test]
fn arguments_that_always_receive_one_value_are_replaced() {
    let text = r#"func.func @f(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
  "t.x"() : () -> ()
  cf.cond_br %c, ^a(%a, %b : i32, i32), ^b(%b, %a : i32, i32)
^a(%x: i32, %w: i32):
  "t.a"(%x) : (i32) -> ()
  cf.br ^b(%b, %w : i32, i32)
^b(%y: i32, %z: i32):
  "t.b"(%y) : (i32) -> ()
  cf.cond_br %c, ^b(%b, %z : i32, i32), ^d(%z, %y : i32, i32)
^d(%u: i32, %v: i32):
  "t.d"(%u) : (i32) -> ()
  return %u, %v : i32, i32
}"#;
    assert_transformed(
        "builtin.module(canonicalize{region-simplify=aggressive})",
        text,
        &expect![[r#"
        module {
          func.func @f(%arg0: i1, %arg1: i32, %arg2: i32) -> (i32, i32) {
            "t.x"() : () -> ()
            cf.cond_br %arg0, ^bb1, ^bb2(%arg1 : i32)
          ^bb1:
            "t.a"(%arg1) : (i32) -> ()
            cf.br ^bb2(%arg2 : i32)
          ^bb2(%0: i32):
            "t.b"(%arg2) : (i32) -> ()
            cf.cond_br %arg0, ^bb2(%0 : i32), ^bb3
          ^bb3:
            "t.d"(%0) : (i32) -> ()
            return %0, %arg2 : i32, i32
          }
        }
    "#]],
    );
}

#[test]
fn dead_values_passed_by_nested_branches_are_removed() {
    assert_canonicalized(
        r#"func.func @f(%c: i1, %d: i1, %x: i32) {
  cf.cond_br %c, ^a, ^b
^a:
  "t.u"() : () -> ()
  cf.br ^b
^b:
  %s = arith.addi %x, %x : i32
  scf.if %c {
    scf.execute_region {
      cf.cond_br %d, ^p, ^q(%s : i32)
    ^p:
      "t.u"() : () -> ()
      cf.br ^q(%x : i32)
    ^q(%w: i32):
      "t.v"() : () -> ()
      scf.yield
    }
  }
  return
}"#,
        &expect![[r#"
            module {
              func.func @f(%arg0: i1, %arg1: i1, %arg2: i32) {
                cf.cond_br %arg0, ^bb1, ^bb2
              ^bb1:
                "t.u"() : () -> ()
                cf.br ^bb2
              ^bb2:
                scf.if %arg0 {
                  scf.execute_region {
                    cf.cond_br %arg1, ^bb1, ^bb2
                  ^bb1:
                    "t.u"() : () -> ()
                    cf.br ^bb2
                  ^bb2:
                    "t.v"() : () -> ()
                    scf.yield
                  }
                }
                return
              }
            }
        "#]],
    );
}

#[test]
fn dead_arguments_are_removed_at_all_depths() {
    assert_canonicalized(
        r#"func.func @deep(%c: i1, %d: i1, %e: i1, %g: i1, %x: i32) {
  %s = arith.addi %x, %x : i32
  cf.br ^h(%s : i32)
^h(%a: i32):
  scf.if %c {
    scf.execute_region {
      %t = arith.muli %a, %a : i32
      cf.cond_br %d, ^p, ^q(%t : i32)
    ^p:
      scf.if %e {
        scf.execute_region {
          cf.cond_br %g, ^r, ^s(%t : i32)
        ^r:
          "t.r"() : () -> ()
          cf.br ^s(%a : i32)
        ^s(%b: i32):
          "t.s"() : () -> ()
          scf.yield
        }
      }
      cf.br ^q(%a : i32)
    ^q(%w: i32):
      "t.q"() : () -> ()
      scf.yield
    }
  }
  cf.cond_br %d, ^h(%a : i32), ^e
^e:
  return
}"#,
        &expect![[r#"
            module {
              func.func @deep(%arg0: i1, %arg1: i1, %arg2: i1, %arg3: i1, %arg4: i32) {
                cf.br ^bb1
              ^bb1:
                scf.if %arg0 {
                  scf.execute_region {
                    cf.cond_br %arg1, ^bb1, ^bb2
                  ^bb1:
                    scf.if %arg2 {
                      scf.execute_region {
                        cf.cond_br %arg3, ^bb1, ^bb2
                      ^bb1:
                        "t.r"() : () -> ()
                        cf.br ^bb2
                      ^bb2:
                        "t.s"() : () -> ()
                        scf.yield
                      }
                    }
                    cf.br ^bb2
                  ^bb2:
                    "t.q"() : () -> ()
                    scf.yield
                  }
                }
                cf.cond_br %arg1, ^bb1, ^bb2
              ^bb2:
                return
              }
            }
        "#]],
    );
}
