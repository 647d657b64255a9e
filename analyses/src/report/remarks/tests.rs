//! Remarks on single programs, their fixes, and edits with their cost.

use crate::laws::check_edits;
use crate::{Document, TextEdit};

const CODES: [&str; 4] = ["same-value", "folds-to-constant", "loop-invariant", "dead-store"];

/// Returns the lints of a program, each with its line.
fn lints_of(text: &str) -> Vec<String> {
    let document = Document::new(text);
    assert!(document.source().problems().is_empty(), "{:?}\n{text}", document.source().problems());
    let found = document.diagnostics_with(&CODES).into_iter();
    let found = found.filter(|it| CODES.contains(&it.code));
    found
        .map(|it| {
            let line = document.source().text().byte_to_line(it.range.start) + 1;
            format!("{line}: {}: {}", it.code, it.message)
        })
        .collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(lints_of(text), expected, "{text}");
}

/// Applies all safe fixes of the lints until none is left.
fn fixed(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..100 {
        let document = Document::new(&text);
        let mut found = document.diagnostics_with(&CODES);
        found.retain(|it| CODES.contains(&it.code));
        let (edits, _) = document.fix_all(&found, false);
        if edits.is_empty() {
            return text;
        }
        text = TextEdit::apply_all(&edits, &text);
    }
    panic!("fixes go on and on: {text}");
}

#[test]
fn equal_values_are_found_through_their_operands() {
    let text = "func.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>) -> i32 {
  %i = arith.constant 0 : index
  %j = arith.constant 0 : index
  %0 = arith.addi %a, %b : i32 // zero
  %1 = arith.addi %b, %a : i32 // one
  // Above two.
  %2 = arith.muli %0, %0 : i32
  %3 = arith.muli %1, %0 : i32 // three
  %l0 = memref.load %m[%i] : memref<4xi32>
  %l1 = memref.load %m[%j] : memref<4xi32>
  memref.store %l1, %m[%i] : memref<4xi32>
  %l2 = memref.load %m[%i] : memref<4xi32>
  %r = scf.if %c -> (i32) {
    %4 = arith.addi %a, %b : i32
    scf.yield %4 : i32
  } else {
    %5 = arith.subi %a, %b : i32
    scf.yield %5 : i32
  }
  %6 = arith.subi %a, %b : i32
  %s = arith.addi %2, %3 : i32
  %t = arith.addi %l0, %l2 : i32
  %u = arith.addi %r, %6 : i32
  %v = arith.addi %t, %u : i32
  %w = arith.addi %v, %s : i32
  return %w : i32
}
";
    check(
        text,
        &[
            "5: same-value: %1 is the same value as %0 in line 4",
            "8: same-value: %3 is the same value as %2 in line 7",
            "10: same-value: %l1 is the same value as %l0 in line 9",
            "14: same-value: %4 is the same value as %0 in line 4",
        ],
    );
    expect_test::expect![[r#"
        func.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>) -> i32 {
          %i = arith.constant 0 : index
          %j = arith.constant 0 : index
          %0 = arith.addi %a, %b : i32 // zero
          // one
          // Above two.
          %2 = arith.muli %0, %0 : i32
          // three
          %l0 = memref.load %m[%i] : memref<4xi32>
          memref.store %l0, %m[%i] : memref<4xi32>
          %l2 = memref.load %m[%i] : memref<4xi32>
          %r = scf.if %c -> (i32) {
            scf.yield %0 : i32
          } else {
            %5 = arith.subi %a, %b : i32
            scf.yield %5 : i32
          }
          %6 = arith.subi %a, %b : i32
          %s = arith.addi %2, %2 : i32
          %t = arith.addi %l0, %l2 : i32
          %u = arith.addi %r, %6 : i32
          %v = arith.addi %t, %u : i32
          %w = arith.addi %v, %s : i32
          return %w : i32
        }
    "#]]
    .assert_eq(&fixed(text));
}

#[test]
fn folding_ops_become_constants() {
    let text = "func.func @f(%a: i8, %x: f32) -> (i8, i1, f32, index) {
  %c3 = arith.constant 3 : i8
  %c4 = arith.constant 4 : i8
  %0 = arith.addi %c3, %c4 : i8 loc(\"a\":1:2) // seven
  %1 = \"arith.muli\"(%0, %c3) : (i8, i8) -> i8
  %low = arith.andi %a, %c3 : i8
  %2 = arith.cmpi ult, %low, %c4 : i8
  %f = arith.constant 1.5 : f32
  %3 = arith.mulf %f, %f : f32
  %i = arith.index_cast %c3 : i8 to index
  return %1, %2, %3, %i : i8, i1, f32, index
}
";
    check(
        text,
        &[
            "4: folds-to-constant: %0 folds to 7",
            "5: folds-to-constant: %1 folds to 21",
            "7: folds-to-constant: %2 folds to true",
            "9: folds-to-constant: %3 folds to 2.250000e+00",
            "10: folds-to-constant: %i folds to 3",
        ],
    );
    expect_test::expect![[r#"
        func.func @f(%a: i8, %x: f32) -> (i8, i1, f32, index) {
          %c3 = arith.constant 3 : i8
          %c4 = arith.constant 4 : i8
          %0 = arith.constant 7 : i8 loc("a":1:2) // seven
          %1 = arith.constant 21 : i8
          %low = arith.andi %a, %c3 : i8
          %2 = arith.constant true
          %f = arith.constant 1.5 : f32
          %3 = arith.constant 2.250000e+00 : f32
          %i = arith.constant 3 : index
          return %1, %2, %3, %i : i8, i1, f32, index
        }
    "#]]
    .assert_eq(&fixed(text));
}

#[test]
fn the_last_op_of_an_invariant_chain_moves_with_its_operands() {
    let n = 300;
    let mut text = "func.func @f(%a: i32, %n: index, %m: memref<?xi32>) {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  \
         scf.for %i = %c0 to %n step %c1 {\n    %x0 = arith.muli %a, %a : i32\n"
        .to_owned();
    for at in 1..n {
        text += &format!("    %x{at} = arith.muli %x{}, %a : i32\n", at - 1);
    }
    text += &format!("    memref.store %x{}, %m[%i] : memref<?xi32>\n  }}\n  return\n}}\n", n - 1);
    let document = Document::new(&text);
    let mut found = document.diagnostics_with(&CODES);
    found.retain(|it| it.code == "loop-invariant");
    assert_eq!(found.len(), n);
    let fixes = document.fixes(&found);
    assert_eq!(fixes.iter().flatten().count(), 1);
    assert!(fixes[n - 1].is_some());
    // Requested alone, each diagnostic has a fix.
    assert!(document.fixes(&found[5..6])[0].is_some());
    assert_eq!(lints_of(&fixed(&text)), Vec::<String>::new());
}

#[test]
fn ops_with_inner_comments_are_not_edited() {
    for text in [
        "func.func @f(%a: i32, %m: memref<i32>) {\n  memref.store %a, // keep\n    %m[] : memref<i32>\n  memref.store %a, %m[] : memref<i32>\n  return\n}\n",
        "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  %1 = arith.addi %a, // keep\n    %a : i32\n  %2 = arith.muli %0, %1 : i32\n  return %2 : i32\n}\n",
    ] {
        assert_eq!(lints_of(text).len(), 1, "{text}");
        assert_eq!(fixed(text), text);
    }
}

#[test]
fn invariant_ops_move_before_the_loop_with_comments_and_operands() {
    let text = "func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // The first loop.
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %k = arith.constant 7 : i32
      // Why it is so.
      %x = arith.muli %a, %k : i32 // x
      %y = arith.addi %x,
                      %b : i32
      %d = arith.divsi %a, %b : i32
      %z = arith.addi %y, %d : i32
      memref.store %z, %m[%i] : memref<?xi32>
    }
  }
  // The second loop.
  scf.for %i = %c0 to %n step %c1 {
    %x = arith.subi %a, %b : i32
    memref.store %x, %m[%i] : memref<?xi32>
  }
  return
}
";
    check(
        text,
        &[
            "9: loop-invariant: %x does not change in the loop",
            "10: loop-invariant: %y does not change in the loop",
            "19: loop-invariant: %x does not change in the loop",
        ],
    );
    expect_test::expect![[r#"
        func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %k = arith.constant 7 : i32
          // Why it is so.
          %x_9 = arith.muli %a, %k : i32 // x
          %y = arith.addi %x_9,
                          %b : i32
          // The first loop.
          scf.for %i = %c0 to %n step %c1 {
            scf.for %j = %c0 to %n step %c1 {
              %d = arith.divsi %a, %b : i32
              %z = arith.addi %y, %d : i32
              memref.store %z, %m[%i] : memref<?xi32>
            }
          }
          %x_19 = arith.subi %a, %b : i32
          // The second loop.
          scf.for %i = %c0 to %n step %c1 {
            memref.store %x_19, %m[%i] : memref<?xi32>
          }
          return
        }
    "#]]
    .assert_eq(&fixed(text));
    let one_line = "func.func @f(%a: i32, %m: memref<?xi32>) { affine.for %i = 0 to 9 { %x = arith.muli %a, %a : i32 affine.store %x, %m[%i] : memref<?xi32> } return }\n";
    expect_test::expect![[r#"
        func.func @f(%a: i32, %m: memref<?xi32>) { %x = arith.muli %a, %a : i32
        affine.for %i = 0 to 9 {  affine.store %x, %m[%i] : memref<?xi32> } return }
    "#]]
    .assert_eq(&fixed(one_line));
}

#[test]
fn only_dead_stores_are_reported() {
    let store = |body: &str| {
        format!(
            "func.func private @g()\nfunc.func private @h(memref<4xi32>)\nfunc.func @f(%a: i32, %b: i32, %c: i1, %m: memref<4xi32>, %o: memref<4xi32>) -> i32 {{
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
{body}  return %a : i32\n}}\n"
        )
    };
    let over = "  memref.store %a, %m[%i] : memref<4xi32>\n";
    let again = "  memref.store %b, %m[%i] : memref<4xi32>\n";
    let told_of = |between: &str| lints_of(&store(&format!("{over}{between}{again}"))).len();
    assert_eq!(
        lints_of(&store(&format!("{over}{again}"))),
        ["6: dead-store: line 7 overwrites this before anything reads it"]
    );
    // An op between the stores reads, may read, or ends the block.
    for between in [
        "  %x = memref.load %o[%i] : memref<4xi32>\n  memref.store %x, %o[%i] : memref<4xi32>\n",
        "  call @g() : () -> ()\n",
        "  \"what.ever\"() : () -> ()\n",
        "  scf.if %c {\n    %x = memref.load %m[%i] : memref<4xi32>\n    memref.store %x, %m[%j] : memref<4xi32>\n  }\n",
        "  cf.br ^next\n^next:\n",
        "  memref.copy %m, %o : memref<4xi32> to memref<4xi32>\n",
    ] {
        assert_eq!(told_of(between), 0, "{between}");
    }
    for between in [
        "  memref.store %a, %m[%j] : memref<4xi32>\n",
        "  scf.if %c {\n    memref.store %a, %m[%j] : memref<4xi32>\n  }\n",
        "  %k = arith.constant 0 : index\n",
    ] {
        assert_eq!(told_of(between), 1, "{between}");
    }
    // Private buffers.
    let local = |rest: &str| {
        lints_of(&store(&format!(
            "  %l = memref.alloc() : memref<4xi32>\n{rest}  memref.dealloc %l : memref<4xi32>\n"
        )))
    };
    let to_l = "  memref.store %a, %l[%i] : memref<4xi32>\n";
    let from_l =
        "  %x = memref.load %l[%i] : memref<4xi32>\n  memref.store %x, %m[%i] : memref<4xi32>\n";
    assert_eq!(local(to_l), ["7: dead-store: nothing reads the stored value"]);
    assert_eq!(local(&format!("{to_l}{from_l}")), [""; 0]);
    assert_eq!(
        local(&format!("{to_l}{from_l}{to_l}")),
        ["10: dead-store: nothing reads the stored value"]
    );
    assert_eq!(
        local(&format!("{to_l}  call @g() : () -> ()\n{to_l}{from_l}")),
        ["7: dead-store: line 9 overwrites this before anything reads it"]
    );
    for seen in [
        "  call @h(%l) : (memref<4xi32>) -> ()\n",
        "  %v = memref.cast %l : memref<4xi32> to memref<?xi32>\n  %y = memref.load %v[%i] : memref<?xi32>\n  memref.store %y, %m[%i] : memref<4xi32>\n",
        "  \"what.ever\"(%l) : (memref<4xi32>) -> ()\n",
        "  \"what.ever\"() ({\n    %y = memref.load %l[%i] : memref<4xi32>\n    memref.store %y, %m[%i] : memref<4xi32>\n  }) : () -> ()\n",
    ] {
        assert_eq!(local(&format!("{to_l}{seen}")), [""; 0], "{seen}");
        assert_eq!(local(&format!("{seen}{to_l}")), [""; 0], "{seen}");
    }
    // In a loop the next iteration reads the value; a buffer that an iteration allocates ends with
    // it.
    let in_loop = |body: &str| local(&format!("  scf.for %n = %i to %j step %j {{\n{body}  }}\n"));
    assert_eq!(in_loop(&format!("{from_l}{to_l}")), [""; 0]);
    let own = "  %o1 = memref.alloca() : memref<4xi32>\n";
    let (to_o, from_o) = (to_l.replace("%l", "%o1"), from_l.replace("%l", "%o1"));
    assert_eq!(
        in_loop(&format!("{own}{to_o}{from_o}{to_o}")),
        ["12: dead-store: nothing reads the stored value"]
    );
}

#[test]
fn functions_with_opaque_ops_have_no_remarks() {
    let text = |last: &str| {
        format!(
            "func.func @f(%a: i32) {{\n  %0 = arith.muli %a, %a : i32\n  %1 = arith.muli %a, %a : i32\n  \"a.b\"(%0, %1) : (i32, i32) -> ()\n{last}  return\n}}\n"
        )
    };
    assert_eq!(lints_of(&text("")).len(), 1);
    assert_eq!(lints_of(&text("  other.op of %1 at [%0]\n")), [""; 0]);
}

/// Returns functions with a diagnostic of each lint.
fn program(n: usize) -> String {
    let function = |n: usize| {
        format!(
            "func.func private @g{n}(%a: i32, %b: i32, %m: memref<?xi32>, %n: index) -> i32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant {n} : i32
  %l = memref.alloc() : memref<4xi32>
  memref.store %t, %l[%c0] : memref<4xi32>
  scf.for %i = %c0 to %n step %c1 {{
    %v1 = arith.addi %a, %b : i32
    %v2 = arith.muli %v1, %t : i32
    memref.store %a, %m[%i] : memref<?xi32>
    memref.store %v2, %m[%i] : memref<?xi32>
  }}
  %v3 = arith.addi %a, %b : i32
  %v4 = arith.addi %t, %t : i32
  memref.store %v4, %l[%c1] : memref<4xi32>
  %v5 = memref.load %l[%c0] : memref<4xi32>
  %v6 = func.call @g{}(%v5, %v3, %m, %n) : (i32, i32, memref<?xi32>, index) -> i32
  memref.store %v6, %l[%c0] : memref<4xi32>
  return %v6 : i32
}}
",
            n + 1
        )
    };
    let last = "func.func private @gN(%a: i32, %b: i32, %m: memref<?xi32>, %n: index) -> i32 {\n  return %a : i32\n}\n";
    let all: String = (0..n).map(function).collect();
    all.replace(&format!("@g{n}("), "@gN(") + last
}

#[test]
fn remarks_after_edits_equal_those_from_scratch() {
    assert!(lints_of(&program(3)).len() > 12, "{:?}", lints_of(&program(3)));
    for seed in 1..=150 {
        check_edits(seed, program(1 + seed as usize % 4));
    }
}

#[test]
fn an_edit_recomputes_only_its_function() {
    let visits = |document: &Document| {
        let n_told = document.diagnostics_with(&CODES).len();
        assert!(n_told > 0);
        super::VISITS.take()
    };
    let text = program(100);
    let mut document = Document::new(&text);
    document.diagnostics();
    assert_eq!(super::VISITS.take(), 0, "nobody asked");
    let all = visits(&document);
    let at = text.find("%v3 = arith.addi").expect("it is there") + 6;
    document.edit(at..at + "arith.addi".len(), "arith.subi");
    let one = visits(&document);
    assert!(one > 0 && one * 50 < all, "{one} of {all}");
    // Straight-line code of stores, loads and equal values.
    let line = |n: usize| {
        format!(
            "  %a{n} = arith.addi %x, %x : i32\n  memref.store %a{n}, %m[%i] : memref<4xi32>\n  %b{n} = memref.load %m[%i] : memref<4xi32>\n  memref.store %b{n}, %m[%i] : memref<4xi32>\n"
        )
    };
    let straight = |n: usize| {
        let ops: String = (0..n).map(line).collect();
        visits(&Document::new(&format!(
            "func.func @f(%x: i32, %m: memref<4xi32>, %i: index) {{\n{ops}  return\n}}\n"
        )))
    };
    let (few, many) = (straight(100), straight(2000));
    assert!(many <= 20 * few, "{few} and {many}");
}
