//! Checks that the edits of transformations give valid programs with fresh names.

use noisy_loops::edit::names::fresh_name;
use noisy_loops::edit::{LoopOptions, offers};
use noisy_syntax::{OpKind, Source, TextEdit};

/// Applies edits, which do not overlap, to a text.
fn edited(text: &str, edits: &[TextEdit]) -> String {
    let edits = TextEdit::in_order(edits.to_vec()).expect("they do not overlap");
    TextEdit::apply_all(&edits, text)
}

/// Returns the title of each possible transformation in a text, and the text after it.
fn all(text: &str) -> Vec<(String, String)> {
    let source = Source::new(text);
    assert!(source.problems().is_empty(), "{:?}\n{text}", source.problems());
    let ir = source.ir();
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        if ir.op(op).kind == OpKind::AffineFor {
            let offers = offers(&source, op, &LoopOptions::default());
            out.extend(offers.into_iter().filter_map(|it| Some((it.title, it.edits.ok()?))));
        }
    });
    out.into_iter().map(|(title, edits)| (title, edited(text, &edits))).collect()
}

#[test]
fn copies_of_numbered_values_have_names() {
    let text = "func.func @f(%A: memref<?xf32>, %v1: f32) {
  affine.for %0 = 0 to 9 {
    %1 = affine.load %A[%0] : memref<?xf32>
    affine.store %1, %A[%0] : memref<?xf32>
  }
  affine.for %2 = 0 to 9 {
    %1 = affine.load %A[%2] : memref<?xf32>
    %3 = arith.addf %1, %v1 : f32
    affine.store %3, %A[%2] : memref<?xf32>
  }
  %4:2 = affine.for %5 = 0 to 9 iter_args(%6 = %v1, %7 = %v1) -> (f32, f32) {
    %8 = arith.addf %6, %v1 : f32
    affine.yield %8, %6 : f32, f32
  }
  affine.store %4#0, %A[0] : memref<?xf32>
  affine.for %9 = 0 to 8 {
    affine.for %10 = 0 to 8 {
      %11 = affine.load %A[%9 + %10] : memref<?xf32>
      %12 = arith.addf %11, %v1 : f32
    }
  }
  return
}
";
    let found = all(text);
    for kind in ["Unroll by 4", "Unroll by 4 and jam", "Peel", "Tile", "Fuse", "Skew", "Run"] {
        assert!(found.iter().any(|it| it.0.starts_with(kind)), "{kind}: {found:?}");
    }
    assert_valid(&found);
}

/// Asserts that each text is a valid program.
fn assert_valid(changed: &[(String, String)]) {
    for (title, changed) in changed {
        let source = Source::new(changed);
        assert!(source.problems().is_empty(), "{title}: {:?}\n{changed}", source.problems());
        let wrong = source.ir().verify();
        assert!(wrong.is_empty(), "{title}: {wrong:?}\n{changed}");
    }
}

#[test]
fn names_of_copies_differ_from_each_other() {
    let found = all("func.func @f(%m: memref<16xf32>) {
  affine.for %i = 0 to 16 {
    %a = affine.load %m[%i] : memref<16xf32>
    %a_1 = arith.addf %a, %a : f32
    %a_1_0 = arith.addf %a_1, %a : f32
    affine.store %a_1_0, %m[%i] : memref<16xf32>
  }
  return
}
");
    assert!(found.iter().any(|it| it.0 == "Unroll by 4"));
    assert_valid(&found);
}

#[test]
fn fusion_keeps_code_after_comments() {
    let head =
        "func.func @f(%a: i32, %m: memref<8xi32>, %n: memref<8xi32>) {\n  affine.for %i = 0 to 8 {";
    let (first, second) =
        ("affine.store %a, %m[%i] : memref<8xi32>", "affine.store %a, %n[%i] : memref<8xi32>");
    let (last, next) = ("affine.store %a, %n[0] : memref<8xi32>", "  affine.for %i = 0 to 8 {");
    for text in [
        format!("{head}\n    {first} // note\n  }}\n{next} {second} }}\n  return\n}}\n"),
        format!(
            "{head}\n    {first}\n  }} // first\n{next}\n    {second}\n  }} {last}\n  return\n}}\n"
        ),
        format!("{head} {first} }}\n{next}\n    {second} // note\n  }}\n  return\n}}\n"),
    ] {
        let found = all(&text);
        let fused = found.iter().find(|it| it.0.starts_with("Fuse")).expect("it is fused");
        assert_valid(std::slice::from_ref(fused));
        let n_stores = |text: &str| {
            let source = Source::new(text);
            let mut n = 0;
            let ir = source.ir();
            ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op) == "affine.store"));
            n
        };
        assert_eq!(n_stores(&fused.1), n_stores(&text), "{}", fused.1);
    }
}

#[test]
fn new_names_outside_of_functions_differ_from_all_others() {
    let found = all("%m = memref.alloc() : memref<8xindex>
%i_1, %x_1, %i_tile = \"t.names\"() : () -> (index, index, index)
affine.for %i = 0 to 8 {
  %x = arith.addi %i, %i_1 : index
  affine.store %x, %m[%i] : memref<8xindex>
}
");
    assert!(found.iter().any(|it| it.0 == "Unroll by 4"));
    assert_valid(&found);
}

#[test]
fn reads_headers_with_line_breaks_and_comments() {
    let found = all("func.func @f(%m: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n // the size
\tstep 2 {
    %a = affine.load %m[%i] : memref<?xf32>
    affine.store %a, %m[%i] : memref<?xf32>
  }
  affine.for %i = 0
      to 17
      step 2 {
    %a = affine.load %m[%i] : memref<?xf32>
    affine.store %a, %m[%i] : memref<?xf32>
  }
  return
}
");
    assert_eq!(found.iter().filter(|it| it.0 == "Unroll by 4").count(), 2);
    assert_valid(&found);
}

#[test]
fn keeps_names_that_an_unknown_header_only_uses() {
    let text = "func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    foo.each %x in %A {
      \"t.use\"(%x, %i) : (f32, index) -> ()
    }
  }
  return
}
";
    let found = all(text);
    let (_, unrolled) = found.iter().find(|it| it.0 == "Unroll by 4").expect("it is unrolled");
    for wanted in ["foo.each %x in %A {", "foo.each %x_3 in %A {", "\"t.use\"(%x_3, %i_3)"] {
        assert!(unrolled.contains(wanted), "{wanted}: {unrolled}");
    }
}

#[test]
fn fresh_names_begin_with_no_digit_and_are_unused() {
    assert_eq!(fresh_name("%a = %0", "%a", "_1"), "%a_1");
    assert_eq!(fresh_name("%a = %a_1", "%a", "_1"), "%a_1_v0");
    assert_eq!(fresh_name("%a = %0", "%0", "_1"), "%v0_1");
    // `%v0_1` could also be a copy of `%v0`.
    assert_eq!(fresh_name("%0 = %v0", "%0", "_1"), "%vv0_1");
    assert_eq!(fresh_name("%0 = %v0", "%v0", "_1"), "%v0_1");
}
