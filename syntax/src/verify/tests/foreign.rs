//! Tests of valid text from files of other projects.

use expect_test::expect;

use crate::Source;

use super::check;

/// In `stream.splat %a : i32 -> !stream.resource<*>{%size}`, the braces contain sizes, not a body.
#[test]
fn accepts_values_in_braces() {
    check(
        r#"func.func @f(%a: i32, %n: index, %m: index) -> !s.r<*> {
  %0 = s.splat %a : i32 -> !s.r<*>{%n}
  %1 = s.update %0[%n], %0 : !s.r<*>{%n, %m} -> !s.r<*>{%m}
  %2:2 = s.pair %0 : tensor<?x?xf32>{%n,
    %m} -> !s.r<*>
  %3 = s.gather %0 {
    %n::%m[%n] -> %0 : !s.r<*>{%n},
    %m::%n[%m] -> %0 : !s.r<*>{%m}
  } : !s.r<*>
  %4 = s.body %0 {
    %5 = arith.addi %a, %a : i32
    s.yield %5 : i32
  }
  return %3 : !s.r<*>
}"#,
        &expect![[""]],
    );
}

/// `handshake.func` sets the default dialect of its body to `handshake`.
#[test]
fn accepts_short_names_in_bodies_of_other_dialects() {
    check(
        r#"handshake.func @f(%a: i32, %b: none, ...) -> (i32, none) {
  %0 = arith.addi %a, %a : i32
  sink %0 : i32
  %1 = arith.addi %a, %a : i32
  return %1, %b : i32, none
}"#,
        &expect![[""]],
    );
}

/// Dialects print their types with or without blanks.
#[test]
fn ignores_blanks_in_types_of_other_dialects() {
    check(
        r#"func.func @f(%a: !torch.vtensor<[2,3], f32>, %b: !torch.vtensor<[2,3],f64>) -> !torch.vtensor<[2, 3],f32> {
  %0 = t.use %a : !torch.vtensor<[2, 3],f32>
  return %a : !torch.vtensor<[2,3],f32>
}
// -----
func.func @g(%b: !torch.vtensor<[2,3],f64>) -> !torch.vtensor<[2,3],f32> {
  return %b : !torch.vtensor<[2,3],f64>
}"#,
        &expect![[r#"
            7 %b: operand #0 has type '!torch.vtensor<[2,3],f64>', but the function returns '!torch.vtensor<[2,3],f32>' (operand-type)
        "#]],
    );
}

/// The types of several results follow the arrow without parentheses.
#[test]
fn accepts_several_result_types_of_a_switch() {
    check(
        "func.func @f(%i: index, %a: i32, %b: f32) -> i32 {
  %0:2 = scf.index_switch %i -> i32, f32
  case 1 {
    scf.yield %a, %b : i32, f32
  }
  default {
    scf.yield %a, %b : i32, f32
  }
  return %0#0 : i32
}",
        &expect![[""]],
    );
}

#[test]
fn long_broken_ops_are_cut_between_characters() {
    // The number of bytes that are searched for names is limited. The limit must not be in the
    // middle of a character.
    for before in 0..4 {
        let text =
            format!("{}%0 = \"{}", " ".repeat(before), "\u{e4}\u{20ac}\u{1F600}".repeat(10_000));
        assert!(!Source::new(&text).problems().is_empty(), "{before}");
        let text = format!("{}{}", "x".repeat(before), "\u{feff}".repeat(30_000));
        assert!(!Source::new(&text).problems().is_empty(), "{before}");
    }
}

/// Checks where an op of unknown syntax ends if another op follows on the same line.
#[test]
fn separates_ops_of_unknown_syntax_on_one_line() {
    check(
        r#"#map = affine_map<(d0) -> (d0)>
func.func @f(%a: memref<4xf32>, %x: f32, %i: index, %t: tensor<4xf32>) -> f32 {
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%a : memref<4xf32>) {
    ^bb0(%in: f32): %0 = arith.addf %in, %in : f32  linalg.yield %0 : f32 }
  %r = scf.for %k = %i to %i step %i iter_args(%s = %x) -> (f32) { %y = tensor.extract %t[%k] : tensor<4xf32>  scf.yield %y : f32 }
  %n = vector.vscale %c8 = arith.constant 8 : index %m = arith.muli %n, %c8 : index
  gpu.barrier memref.store %x, %a[%m] : memref<4xf32> "a.b"() : () -> () t.u %m "a.b" c.d %m : index "a.b"() : () -> ()
  %true = arith.constant true t.v %true : i1 call @g(%true) : (i1) -> () t.w %true : i1 call @g(%true) : (i1) -> ()
  t.w %true : i1 return %r : f32
}
func.func @g(%a: i1) {
  llvm.br ^bb1(%a : i1) ^bb1(%b: i1): llvm.cond_br %b, ^bb2, ^bb3 ^bb2: return ^bb3: t.end
}
t.global @x : i32 #later = affine_map<() -> ()> func.func private @h()"#,
        &expect![[""]],
    );
}

/// Text that could start an op, a label or a region but is a part of the preceding op.
#[test]
fn words_inside_unknown_syntax_start_no_op() {
    let text = r#"func.func @f(%a: tensor<4xf32>, %b: tensor<f32>, %c: i32) {
  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = pdl.operation "a.b"(%c : i32) -> (%c : i32)
  %2 = t.with %c { a.b = 3 } c.d = 4 : i32
  llvm.invoke @f() to ^bb1 unwind ^bb2 : () -> ()
^bb1:
  t.br ^bb2
^bb2:
  t.br ^bb2(%c : i32) : i32
}"#;
    let source = Source::new(text);
    let mut names = Vec::new();
    source.ir().walk(source.ir().root(), &mut |op| names.push(source.ir().op_name(op).to_owned()));
    let ops: Vec<&str> = names.iter().map(String::as_str).filter(|it| it.contains('.')).collect();
    assert_eq!(
        ops,
        ["func.func", "stablehlo.reduce", "pdl.operation", "t.with", "llvm.invoke", "t.br", "t.br"]
    );
}

/// A type at the start of a line where op names without a dialect are allowed.
#[test]
fn accepts_types_on_separate_lines() {
    check(
        "gpu.module @m {
  gpu.func @k(%a: index) kernel {
    %0 = arith.addi %a, %a :
      index
    %1 = arith.index_cast %0 : index to
      i32
    %2 = arith.sitofp %1 : i32 to
      f32
    %3 = t.u %2 : (f32) ->
      f32
    %4 = arith.addf %2, %3 :
      f32
    %5 = arith.constant 2 :
      index
    %6 = arith.addi %5, %0 : index
    gpu.return
  }
}",
        &expect![[""]],
    );
}

/// The name of the op that `linalg.reduce` or `linalg.map` applies is in braces, which then are not
/// a region.
#[test]
fn accepts_applied_ops_on_separate_lines() {
    check(
        "func.func @f(%m: tensor<4xf32>, %o: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce {
      arith.addf
    }
    ins(%m : tensor<4xf32>)
    outs(%o : tensor<f32>)
    dimensions = [0]
  %q = linalg.map {
      arith.addf { fastmath = #arith.fastmath<fast> }
    } ins(%o, %o : tensor<f32>, tensor<f32>) outs(%o : tensor<f32>)
  %p = linalg.map ins(%o : tensor<f32>) outs(%o : tensor<f32>) (%x: f32) {
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
  return %r : tensor<f32>
}",
        &expect![[""]],
    );
}

#[test]
fn labels_follow_ops_without_successors_on_their_line() {
    check(
        "func.func @f(%a: i32) { return ^bb1(%b: i32): cf.br ^bb2 ^bb2: return }
func.func @g() {
  %c = arith.constant 0 : index
  scf.for %i = %c to %c step %c {
    arith.constant 1 : i8
  } {
    mark
  }
  return
}",
        &expect![[""]],
    );
}
