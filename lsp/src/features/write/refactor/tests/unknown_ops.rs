//! Refactorings of programs with unknown ops. In the custom form of an unknown op, only the
//! operands are parsed. In the generic form, the meaning of the attributes is unknown.

use super::*;

/// Applies a refactoring at the first occurrence of a word.
fn done_at(text: &str, kind: RefactorKind, word: &str) -> Result<String, String> {
    let start = text.find(word).expect("the word");
    done(text, kind, &(start..start))
}

fn not_offered() -> Result<String, String> {
    Err("not offered".to_owned())
}

#[test]
fn does_not_change_ops_of_unknown_form() {
    let text = |op: &str| {
        format!(
            "func.func @f(%p: !llvm.ptr, %c: i1) {{\n  scf.if %c {{\n    %0 = {op} -> i32\n  }}\n  return\n}}\n"
        )
    };
    let unread = text("llvm.load volatile %p : !llvm.ptr");
    for word in ["func.func", "scf.if", "llvm.load"] {
        assert_eq!(done_at(&unread, RefactorKind::Form, word), not_offered(), "{word}");
    }
    let found = done_at(&unread, RefactorKind::Form, "return").expect("it is known");
    assert!(found.contains("llvm.load volatile %p : !llvm.ptr -> i32\n"), "{found}");
    let generic = "\"llvm.load\"(%p) <{volatile_, ordering = 0 : i64}> : (!llvm.ptr)";
    for word in ["func.func", "scf.if"] {
        let found = done_at(&text(generic), RefactorKind::Form, word).expect("all of it is known");
        assert!(found.contains(&format!("%0 = {generic} -> i32\n")), "{found}");
        assert!(found.contains("\"scf.if\"(%c) ({"), "{found}");
    }
}

#[test]
fn unknown_ops_keep_their_bytes() {
    let text = "\"func.func\"() <{function_type = (i1) -> (), sym_name = \"f\"}> ({
^bb0(%c: i1):
  \"scf.if\"(%c) ({
    \"t.x\"()   <{value = 29 : i5}> ({
      %0 = \"arith.constant\"() <{value = 29 : i5}> : () -> i5
    }) {b = 1, a = 0x2 : i8} : () -> ()
    \"scf.yield\"() : () -> ()
  }, {
  }) : (i1) -> ()
  \"func.return\"() : () -> ()
}) : () -> ()
";
    let custom = done_at(text, RefactorKind::Form, "\"func.func\"").expect("the custom form");
    assert!(custom.starts_with("func.func @f(%c: i1) {\n  scf.if %c {\n"), "{custom}");
    for kept in ["\"t.x\"()   <{value = 29 : i5}> ({\n", "}) {b = 1, a = 0x2 : i8} : () -> ()\n"] {
        assert!(custom.contains(kept), "{custom}");
    }
    assert!(custom.contains("%0 = arith.constant -3 : i5\n"), "{custom}");
    // An op that is already generic keeps its bytes in the other direction, too.
    let known = "%0 = \"arith.constant\"()   <{value = 29 : i5}> : () -> i5\n";
    let mixed = custom.replace("%0 = arith.constant -3 : i5\n", known);
    let generic = done_at(&mixed, RefactorKind::Form, "func.func").expect("the generic form");
    for kept in ["\"t.x\"()   <{value = 29 : i5}> ({\n", "a = 0x2 : i8} : () -> ()\n", known] {
        assert!(generic.contains(kept), "{generic}");
    }
    assert!(generic.contains("\"scf.if\"(%c) ({"), "{generic}");
}

#[test]
fn the_cases_of_a_switch_keep_their_regions() {
    let text = "func.func @f(%i: index) {
  scf.index_switch %i
  case 2 {
    \"t.a\"() <{n = 1}> : () -> ()
    scf.yield
  }
  default {
    \"t.b\"() <{n = 2}> : () -> ()
    scf.yield
  }
  return
}
";
    let (a, b) = ("\"t.a\"() <{n = 1}> : () -> ()\n", "\"t.b\"() <{n = 2}> : () -> ()\n");
    let generic = done_at(text, RefactorKind::Form, "scf.index_switch").expect("the generic form");
    assert!(generic.find(b).is_some_and(|it| generic.find(a) > Some(it)), "{generic}");
    let back =
        done_at(&generic, RefactorKind::Form, "\"scf.index_switch\"").expect("the custom form");
    assert!(back.find(a).is_some_and(|it| back.find(b) > Some(it)), "{back}");
}

#[test]
fn blocks_keep_their_names() {
    let text = "func.func @f(%c: i1) {
  \"cf.cond_br\"(%c)[^then, ^end] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^then:
  cf.br ^end
^end:
  return
}
";
    let custom = done_at(text, RefactorKind::Form, "\"cf.cond_br\"").expect("the custom form");
    assert!(custom.contains("  cf.cond_br %c, ^then, ^end\n"), "{custom}");
    let generic = done_at(text, RefactorKind::Form, "func.func").expect("the generic form");
    assert!(generic.contains("[^then, ^end]") && generic.contains("^end:\n"), "{generic}");
}

#[test]
fn does_not_print_guessed_types() {
    let text = "func.func @f(%t: tensor<?xf32>) -> i32 {
  %0 = foo.bar %t : tensor<?xf32>, i64
|  %1 = arith.addi %0, %0 : i32
|  return %1 : i32
}
";
    let plain = text.replace('|', "");
    assert_eq!(done_at(&plain, RefactorKind::Form, "arith.addi"), not_offered());
    assert!(done_at(&plain, RefactorKind::Form, "return").is_ok());
    let extracted = refactored(text, RefactorKind::Extract).expect("the addition says the type");
    assert!(extracted.contains("@f_part(%0: i32) -> i32 {\n"), "{extracted}");
    let unsaid = text.replace("arith.addi %0, %0 : i32", "foo.bar %0 : f16");
    let why = refactored(&unsaid, RefactorKind::Extract);
    assert_eq!(why, Err("the type of %0 is unknown".to_owned()));
}

#[test]
fn unknown_headers_use_names_defined_before_them() {
    let text = "func.func @f(%a: tensor<64xf32>, %1: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  %m = linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a, %1 : tensor<64xf32>, tensor<64xf32>) outs(%0 : tensor<64xf32>)
  return %m : tensor<64xf32>
}
";
    let numbered = done_at(text, RefactorKind::Number, "func.func").expect("numbers");
    for wanted in
        ["@f(%arg0: ", ", %arg1: ", "  %1 = linalg.map {", "ins(%arg0, %arg1 : ", "outs(%0 :"]
    {
        assert!(numbered.contains(wanted), "{wanted}: {numbered}");
    }
    let named = done_at(text, RefactorKind::Name, "func.func").expect("names");
    let wanted = ["%empty = tensor.empty()", "ins(%a, %1 : ", "outs(%empty :"];
    assert!(wanted.iter().all(|it| named.contains(it)), "{named}");
    // A single undefined name in a header is an argument. Several are ambiguous.
    let text = "func.func @f(%n: index) {
  %0 = \"t.a\"() : () -> index
  foo.for %i = %n to %n {
    \"t.use\"(%i, %0) : (index, index) -> ()
  } over (%5 : index)
  return
}
";
    let numbered = done_at(text, RefactorKind::Number, "func.func").expect("numbers");
    for wanted in ["foo.for %arg1 = %arg0 to %arg0 {", "\"t.use\"(%arg1, %0)", "over (%arg2 :"] {
        assert!(numbered.contains(wanted), "{wanted}: {numbered}");
    }
    let named = done_at(text, RefactorKind::Name, "func.func").expect("names");
    assert!(named.contains("%a = \"t.a\"()") && named.contains("over (%5 : index)"), "{named}");
    let unclear = text.replace("%n to %n", "%n to %i");
    for kind in [RefactorKind::Number, RefactorKind::Name] {
        assert_eq!(done_at(&unclear, kind, "func.func"), not_offered());
    }
}

#[test]
fn arguments_get_names_from_locations_only() {
    let text = |head: &str| format!("func.func @f({head}) {{\n  return\n}}\n");
    assert_eq!(done_at(&text("%arg0: i32"), RefactorKind::Name, "func.func"), not_offered());
    let named = done_at(&text("%0: i32, %arg1: i32 loc(\"x\")"), RefactorKind::Name, "func.func");
    assert_eq!(named, Ok(text("%0: i32, %x: i32 loc(\"x\")")));
}

#[test]
fn does_not_extract_possible_terminators() {
    let text = |selected: &str| {
        format!(
            "#map = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = linalg.generic {{indexing_maps = [#map], iterator_types = [\"parallel\"]}} outs(%a : tensor<4xf32>) {{
  ^bb0(%x: f32):
{selected}  }} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"
        )
    };
    let (sum, end) = ("    %2 = arith.addf %x, %x : f32\n", "    linalg.yield %2 : f32\n");
    for selected in [format!("|{sum}{end}|"), format!("{sum}|{end}|")] {
        assert_eq!(
            refactored(&text(&selected), RefactorKind::Extract),
            not_offered(),
            "{selected}"
        );
    }
    let found =
        refactored(&text(&format!("|{sum}|{end}")), RefactorKind::Extract).expect("a function");
    assert!(found.contains("    %2 = func.call @f_part(%x) : (f32) -> f32\n"), "{found}");
    // A loop ends with its own terminator, which the custom form leaves out.
    let text = "func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
|    \"t.use\"(%i) : (index) -> ()
|  }
  return
}
";
    let found = refactored(text, RefactorKind::Extract).expect("a function");
    assert!(found.contains("    func.call @f_part(%i) : (index) -> ()\n"), "{found}");
}

#[test]
fn does_not_extract_where_a_call_is_invalid() {
    let insert =
        "tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>\n";
    let text = format!(
        "func.func @f(%s: tensor<1xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {{
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {{
    scf.forall.in_parallel {{
|      {insert}|      {insert}    }}
  }}
  return %r : tensor<4xf32>
}}
"
    );
    assert_eq!(refactored(&text, RefactorKind::Extract), not_offered());
}

#[test]
fn does_not_extract_from_the_body_of_an_atomic_access() {
    let text = "func.func @f(%m: memref<4xi32>, %i: index, %c: i1) -> i32 {
  %r = memref.generic_atomic_rmw %m[%i] : memref<4xi32> {
  ^bb0(%x: i32):
    %s = arith.addi %x, %x : i32
    %t = scf.if %c -> (i32) {
      %u = arith.muli %s, %x : i32
      scf.yield %u : i32
    } else {
      scf.yield %x : i32
    }
    memref.atomic_yield %t : i32
  }
  return %r : i32
}
";
    for op in ["    %s = arith.addi %x, %x : i32\n", "      %u = arith.muli %s, %x : i32\n"] {
        let selected = text.replace(op, &format!("|{op}|"));
        assert_eq!(refactored(&selected, RefactorKind::Extract), not_offered(), "{op}");
    }
}

#[test]
fn extracts_an_index_only_with_its_op() {
    let text = "#map = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xindex>) -> tensor<4xindex> {
  %0 = linalg.generic {indexing_maps = [#map], iterator_types = [\"parallel\"]} outs(%a : tensor<4xindex>) {
  ^bb0(%x: index):
    %1 = linalg.index 0 : index
    %2 = arith.addi %1, %x : index
    linalg.yield %2 : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}
";
    let (index, sum) =
        ("    %1 = linalg.index 0 : index\n", "    %2 = arith.addi %1, %x : index\n");
    for ops in [index.to_owned(), format!("{index}{sum}")] {
        let selected = text.replace(&ops, &format!("|{ops}|"));
        assert_eq!(refactored(&selected, RefactorKind::Extract), not_offered(), "{ops}");
    }
    let whole = text.replace("  %0 =", "|  %0 =").replace("  return", "|  return");
    let found = refactored(&whole, RefactorKind::Extract).expect("a function");
    assert!(found.contains("  %0 = func.call @f_part(%a)"), "{found}");
}

#[test]
fn inlines_callees_with_unknown_ops() {
    let text = "func.func private @g(%a: index) {
  foo.for %i = %a to %a {
    \"t.use\"(%i, %a) : (index, index) -> ()
  }
  return
}
func.func @f(%n: index, %i: index) {
  func.call @g(%n) : (index) -> ()
  return
}
";
    let found = done_at(text, RefactorKind::Inline, "func.call").expect("its text");
    for wanted in ["  foo.for %i_0 = %n to %n {\n", "    \"t.use\"(%i_0, %n) :"] {
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn renames_both_mentions_in_an_access() {
    let text = "func.func private @g(%i: index, %m: memref<8x8xi32>) -> i32 {
  %x = affine.load %m[%i, %i + 1] : memref<8x8xi32>
  return %x : i32
}
func.func @f(%n: index, %i: index, %m: memref<8x8xi32>) -> i32 {
  %0 = func.call @g(%n, %m) : (index, memref<8x8xi32>) -> i32
  return %0 : i32
}
";
    let numbered = done_at(text, RefactorKind::Number, "func.func").expect("numbers");
    assert!(numbered.contains("affine.load %arg1[%arg0, %arg0 + 1]"), "{numbered}");
    let inlined = done_at(text, RefactorKind::Inline, "func.call").expect("its text");
    assert!(inlined.contains("%0 = affine.load %m[%n, %n + 1]"), "{inlined}");
}
