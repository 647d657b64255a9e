//! Edits of programs with different layouts.

use super::*;

#[test]
fn layouts_are_kept() {
    // Several ops on a line.
    check(
        "func.func @f(%a: !noisy.i32) { %0 = noisy.mul %a, %a : !noisy.i32  %1 = noisy.mul %0, %0 : !noisy.i32 return }\n",
        "func.func @f(%a: !noisy.i32) { %0 = noisy.mul %a, %a : !noisy.i32 %r0 = noisy.reduce_noise %0 : !noisy.i32  %1 = noisy.mul %r0, %r0 : !noisy.i32 return }\n",
    );
    // Windows line ends, tabs, an op on several lines, a used name.
    check(
        "func.func @f(%a: !noisy.i32) {\r\n\t%0 = noisy.mul %a,\r\n\t\t%a : !noisy.i32\r\n\t%1 = noisy.mul %0, %0 : !noisy.i32\r\n\t%r0 = arith.constant 1 : i32\r\n\treturn\r\n}\r\n",
        "func.func @f(%a: !noisy.i32) {\r\n\t%0 = noisy.mul %a,\r\n\t\t%a : !noisy.i32\r\n\t%r0_1 = noisy.reduce_noise %0 : !noisy.i32\r\n\t%1 = noisy.mul %r0_1, %r0_1 : !noisy.i32\r\n\t%r0 = arith.constant 1 : i32\r\n\treturn\r\n}\r\n",
    );
    // Generic form.
    check(
        "\"func.func\"() <{function_type = (!noisy.i32) -> (), sym_name = \"f\"}> ({
^bb0(%a: !noisy.i32):
  %0 = \"noisy.mul\"(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  %1 = \"noisy.mul\"(%0, %0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  \"func.return\"() : () -> ()
}) : () -> ()
",
        "\"func.func\"() <{function_type = (!noisy.i32) -> (), sym_name = \"f\"}> ({
^bb0(%a: !noisy.i32):
  %0 = \"noisy.mul\"(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  %r0 = \"noisy.reduce_noise\"(%0) : (!noisy.i32) -> !noisy.i32
  %1 = \"noisy.mul\"(%r0, %r0) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  \"func.return\"() : () -> ()
}) : () -> ()
",
    );
}

#[test]
fn arguments_and_results_of_regions_are_sites() {
    // A pack.
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %p:2 = scf.if %c -> (!noisy.i32, !noisy.i32) {
    scf.yield %m, %a : !noisy.i32, !noisy.i32
  } else {
    scf.yield %m, %a : !noisy.i32, !noisy.i32
  }
  %q = noisy.mul %p#0, %p#1 : !noisy.i32
  %s = noisy.mul %m, %a : !noisy.i32
  return %q : !noisy.i32
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %m_r = noisy.reduce_noise %m : !noisy.i32
  %p:2 = scf.if %c -> (!noisy.i32, !noisy.i32) {
    scf.yield %m_r, %a : !noisy.i32, !noisy.i32
  } else {
    scf.yield %m_r, %a : !noisy.i32, !noisy.i32
  }
  %q = noisy.mul %p#0, %p#1 : !noisy.i32
  %s = noisy.mul %m_r, %a : !noisy.i32
  return %q : !noisy.i32
}
",
    );
    // A loop argument.
    let (outcome, after) = fixed(
        "func.func @f(%a: !noisy.i32, %lo: index, %hi: index) -> !noisy.i32 {
  %r = scf.for %i = %lo to %hi step %hi iter_args(%acc = %a) -> (!noisy.i32) { // go
    %s = noisy.add %acc, %a : !noisy.i32
    scf.yield %s : !noisy.i32
  }
  return %r : !noisy.i32
}
",
    );
    assert_eq!(outcome.n_inserted(), 1);
    assert!(Document::new(&after).diagnostics().is_empty(), "{after}");
    // An argument with too much noise for a product.
    check(
        "func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) {
  %0 = noisy.mul %a, %a : !noisy.i32
  return
}
",
        "func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) {
  %a_r = noisy.reduce_noise %a : !noisy.i32
  %0 = noisy.mul %a_r, %a_r : !noisy.i32
  return
}
",
    );
    // A block argument.
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %b = noisy.add %a, %a : !noisy.i32
  %d = noisy.add %b, %a : !noisy.i32
  %e = noisy.add %b, %a : !noisy.i32
  cf.cond_br %c, ^bb1(%d : !noisy.i32), ^bb1(%e : !noisy.i32)
^bb1(%x: !noisy.i32):
  %0 = noisy.mul %x, %x : !noisy.i32
  %1 = noisy.mul %d, %a : !noisy.i32
  %2 = noisy.mul %e, %a : !noisy.i32
  return
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %b = noisy.add %a, %a : !noisy.i32
  %d = noisy.add %b, %a : !noisy.i32
  %e = noisy.add %b, %a : !noisy.i32
  cf.cond_br %c, ^bb1(%d : !noisy.i32), ^bb1(%e : !noisy.i32)
^bb1(%x: !noisy.i32):
  %x_r = noisy.reduce_noise %x : !noisy.i32
  %0 = noisy.mul %x_r, %x_r : !noisy.i32
  %1 = noisy.mul %d, %a : !noisy.i32
  %2 = noisy.mul %e, %a : !noisy.i32
  return
}
",
    );
}

#[test]
fn results_of_regions_and_loop_arguments_are_sites() {
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %p = scf.if %c -> (!noisy.i32) {
    %x = noisy.mul %a, %a : !noisy.i32
    scf.yield %x : !noisy.i32
  } else {
    %y = noisy.mul %a, %a : !noisy.i32
    scf.yield %y : !noisy.i32
  } // both
  %q = noisy.mul %p, %p : !noisy.i32
  return %q : !noisy.i32
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %p = scf.if %c -> (!noisy.i32) {
    %x = noisy.mul %a, %a : !noisy.i32
    scf.yield %x : !noisy.i32
  } else {
    %y = noisy.mul %a, %a : !noisy.i32
    scf.yield %y : !noisy.i32
  } // both
  %p_r = noisy.reduce_noise %p : !noisy.i32
  %q = noisy.mul %p_r, %p_r : !noisy.i32
  return %q : !noisy.i32
}
",
    );
    // Both the initial and the yielded value have too much noise: one reset per iteration reduces
    // both.
    check(
        "func.func @f(%a: !noisy.i32, %b: !noisy.i32 {noisy.bound = 20}, %n: index) -> !noisy.i32 {
  %r = scf.for %i = %n to %n step %n iter_args(%acc = %b) -> (!noisy.i32) { // round

    %x = noisy.mul %acc, %acc : !noisy.i32
    %y = noisy.add %a, %a : !noisy.i32
    %z = noisy.add %y, %a : !noisy.i32
    scf.yield %z : !noisy.i32
  }
  return %r : !noisy.i32
}
",
        "func.func @f(%a: !noisy.i32, %b: !noisy.i32 {noisy.bound = 20}, %n: index) -> !noisy.i32 {
  %r = scf.for %i = %n to %n step %n iter_args(%acc = %b) -> (!noisy.i32) { // round
    %acc_r = noisy.reduce_noise %acc : !noisy.i32

    %x = noisy.mul %acc_r, %acc_r : !noisy.i32
    %y = noisy.add %a, %a : !noisy.i32
    %z = noisy.add %y, %a : !noisy.i32
    scf.yield %z : !noisy.i32
  }
  return %r : !noisy.i32
}
",
    );
}

#[test]
fn insertions_within_a_line_stay_in_it() {
    // After the opening brace, after a label, before a use.
    check(
        "func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) { %0 = noisy.mul %a, %a : !noisy.i32 return }\n",
        "func.func @f(%a: !noisy.i32 {noisy.bound = 20 : i64}) { %a_r = noisy.reduce_noise %a : !noisy.i32 %0 = noisy.mul %a_r, %a_r : !noisy.i32 return }\n",
    );
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  scf.if %c { %x = noisy.mul %m, %m : !noisy.i32 }
  return
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  scf.if %c { %m_r = noisy.reduce_noise %m : !noisy.i32 %x = noisy.mul %m_r, %m_r : !noisy.i32 }
  return
}
",
    );
}

#[test]
fn comments_and_locations_stay_where_they_are() {
    check(
        "func.func @f(%a: !noisy.i32) {
  // squares
  %0 = noisy.mul %a, %a
    : !noisy.i32 loc(\"x\":1:2)   // once
  // again
  %1 = noisy.mul %0, %0 : !noisy.i32
  return
}
",
        "func.func @f(%a: !noisy.i32) {
  // squares
  %0 = noisy.mul %a, %a
    : !noisy.i32 loc(\"x\":1:2)   // once
  %r0 = noisy.reduce_noise %0 : !noisy.i32
  // again
  %1 = noisy.mul %r0, %r0 : !noisy.i32
  return
}
",
    );
}

#[test]
fn the_last_line_may_lack_its_end() {
    check(
        "func.func @f(%a: !noisy.i32) {\r\n  %0 = noisy.mul %a, %a : !noisy.i32\r\n  %1 = noisy.mul %0, %0 : !noisy.i32\r\n  return }",
        "func.func @f(%a: !noisy.i32) {\r\n  %0 = noisy.mul %a, %a : !noisy.i32\r\n  %r0 = noisy.reduce_noise %0 : !noisy.i32\r\n  %1 = noisy.mul %r0, %r0 : !noisy.i32\r\n  return }",
    );
}

#[test]
fn a_use_in_generic_form_gets_its_reduce_in_generic_form() {
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) {\r
\t%m = noisy.mul %a, %a : !noisy.i32\r
\tscf.if %c {\r
\t\t%x = \"noisy.mul\"(%m, %m) : (!noisy.i32, !noisy.i32) -> !noisy.i32\r
\t}\r
\treturn\r
}\r
",
        "func.func @f(%a: !noisy.i32, %c: i1) {\r
\t%m = noisy.mul %a, %a : !noisy.i32\r
\tscf.if %c {\r
\t\t%m_r = \"noisy.reduce_noise\"(%m) : (!noisy.i32) -> !noisy.i32\r
\t\t%x = \"noisy.mul\"(%m_r, %m_r) : (!noisy.i32, !noisy.i32) -> !noisy.i32\r
\t}\r
\treturn\r
}\r
",
    );
}
