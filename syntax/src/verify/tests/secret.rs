//! Tests of the rules about HEIR's `secret.generic`.

use expect_test::expect;

use super::check;
use crate::Source;
use crate::laws::fingerprint;

#[test]
fn reports_wrong_names_and_types_in_a_generic() {
    check(
        "func.func @f(%x: !secret.secret<i16>, %p: i16, %b: i1) -> !secret.secret<i16> {
  %0 = secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    %1 = arith.addi %a, %p : i16
    %2 = arith.addi %1, %x : i16
    %3 = arith.addi %q, %1 : i32
    %4 = arith.addi %5, %a : i16
    %5 = mgmt.modreduce %4 : i16
    %1 = arith.constant 2 : i16
    %6 = scf.if %b -> (i16) {
      scf.yield %x : i16
    } else {
      scf.yield %5 : i16
    }
    secret.yield %7 : i16
  } -> (!secret.secret<i16>)
  return %0 : !secret.secret<i16>
}",
        &expect![[r#"
            5 %x: this value has type !secret.secret<i16>, but i16 is expected here (type-clash)
            6 %q: use of undefined value %q (undefined-value)
            6 %1: this value has type i16, but i32 is expected here (type-clash)
            9 %1: redefinition of value %1 (redefined-value)
            11 %x: this value has type !secret.secret<i16>, but i16 is expected here (type-clash)
            15 %7: use of undefined value %7 (undefined-value)
        "#]],
    );
}

#[test]
fn reports_wrong_numbers_of_arguments_and_results() {
    let generic = |operands: &str, label: &str, end: &str| {
        let text = format!(
            "func.func @f(%x: !secret.secret<i16>, %y: i16) {{
  %0 = secret.generic({operands}) {{
  {label}
    %1 = arith.constant 2 : i16
    {end}
  }} -> (!secret.secret<i16>)
  return
}}"
        );
        let found = Source::new(&text).problems();
        let told = found.into_iter().map(|it| {
            let row = text[..it.1.start].matches('\n').count() + 1;
            format!("{row} {}: {}", it.2.code, it.2.message)
        });
        told.collect::<Vec<_>>().join("; ")
    };
    let (one, both) = ("%x: !secret.secret<i16>", "%x: !secret.secret<i16>, %y: i16");
    let end = "secret.yield %1 : i16";
    assert_eq!(generic(one, "^b(%a: i16):", end), "");
    assert_eq!(generic(both, "^b(%a: i16, %c: i16):", end), "");
    assert_eq!(generic("", "", end), "");
    // Reported at the op, as in HEIR.
    let arguments = |row: usize, wanted: usize, n: usize| {
        format!(
            "{row} entry-arguments: the block needs an argument for each of {wanted} operands, but has {n}"
        )
    };
    assert_eq!(generic(one, "^b(%a: i16, %c: i16):", end), arguments(2, 1, 2));
    assert_eq!(generic(both, "^b(%a: i16):", end), arguments(2, 2, 1));
    assert_eq!(generic(one, "^b:", end), arguments(2, 1, 0));
    assert_eq!(generic(one, "", end), arguments(2, 1, 0));
    assert_eq!(generic("", "^b(%a: i16):", end), arguments(2, 0, 1));
    let results = |n: usize| {
        format!(
            "5 region-values: gives {n} values, but the 'secret.generic' around it has 1 results"
        )
    };
    assert_eq!(generic(one, "^b(%a: i16):", "secret.yield %1, %a : i16, i16"), results(2));
    assert_eq!(generic(one, "^b(%a: i16):", "secret.yield"), results(0));
}

#[test]
fn verifies_generics_in_generic_form() {
    check(
        "func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %0 = \"secret.generic\"(%x) ({
  ^bb0(%a: i16, %b: i16):
    \"secret.yield\"() : () -> ()
  }) : (!secret.secret<i16>) -> !secret.secret<i16>
  \"secret.generic\"(%x) ({
  ^bb0(%a: i16):
    \"secret.yield\"(%a) : (i16) -> ()
  }) : (!secret.secret<i16>) -> ()
  // The names of all results may be left out in the custom form.
  secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    secret.yield %a : i16
  } -> (!secret.secret<i16>)
  return %0 : !secret.secret<i16>
}",
        &expect![[r#"
            2 "secret.generic": the block needs an argument for each of 1 operands, but has 2 (entry-arguments)
            4 "secret.yield": gives 0 values, but the 'secret.generic' around it has 1 results (region-values)
            8 "secret.yield": gives 1 values, but the 'secret.generic' around it has 0 results (region-values)
        "#]],
    );
}

/// Names in an op with a region may be its arguments, so they are not reported; neither are those
/// in ops of other dialects.
#[test]
fn names_in_ops_of_heir_without_regions_are_operands() {
    check(
        r#"func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %0 = secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    %2 = mgmt.modreduce %a, %never : i16
    %3 = tensor_ext.rotate %a, %shift : i16, index
    %4 = mgmt.unheard_of (%b: i16) {
      arith.addi %b, %b : i16
    }
    %5 = other.op %c : i16
    secret.yield %2 : i16
  } -> (!secret.secret<i16>)
  %6 = secret.reveal %7 : !secret.secret<i16> -> i16
  return %0 : !secret.secret<i16>
}"#,
        &expect![[r#"
            4 %never: use of undefined value %never (undefined-value)
            5 %shift: use of undefined value %shift (undefined-value)
            12 %7: use of undefined value %7 (undefined-value)
        "#]],
    );
    check(
        r#"func.func @f(%x: !secret.secret<i16>) {
  secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    %1 = mgmt.relinearize %late {mgmt.mgmt = #mgmt.mgmt<level = 1>} : i16
    %late = mgmt.init %a : i16
    secret.yield
  }
  return
}"#,
        &expect![[r#"
            4 %late: operand %late does not dominate this use (dominance)
        "#]],
    );
}

/// The operands of a generic must be defined before it in its block, or in a dominating block. This
/// holds for both forms.
#[test]
fn operands_of_generics_dominate_them() {
    check(
        r#"func.func @f(%x: !secret.secret<i16>, %c: i1) -> !secret.secret<i16> {
  %0 = secret.generic(%late : !secret.secret<i16>, %1: !secret.secret<i16>) {
  ^body(%a: i16, %b: i16):
    %2 = arith.addi %a, %b : i16
    secret.yield %2 : i16
  } -> (!secret.secret<i16>)
  %1 = secret.generic(%1 : !secret.secret<i16>, %x: !secret.secret<i16>) {
  ^body(%a: i16, %b: i16):
    %2 = arith.addi %a, %b : i16
    secret.yield %2 : i16
  } -> (!secret.secret<i16>)
  %late = secret.conceal %k : i16 -> !secret.secret<i16>
  %3 = "secret.generic"(%4) ({
  ^body(%a: i16):
    "secret.yield"(%a) : (i16) -> ()
  }) : (!secret.secret<i16>) -> !secret.secret<i16>
  %4 = secret.generic(%k : i16) {
  ^body(%b: i16):
    secret.yield %b : i16
  } -> (!secret.secret<i16>)
  %k = arith.constant 3 : i16
  return %0 : !secret.secret<i16>
}
func.func @h(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %4 = secret.generic(%inner : i16, %own: i16, %arg: i16, %never: i16) {
  ^body(%arg: i16, %b: i16, %d: i16, %e: i16):
    %own = arith.addi %b, %d : i16
    secret.yield %own : i16
  } -> (!secret.secret<i16>)
  %5 = secret.generic() {
    %inner = arith.constant 3 : i16
    secret.yield %inner : i16
  } -> (!secret.secret<i16>)
  return %4 : !secret.secret<i16>
}
func.func @g(%x: !secret.secret<i16>, %c: i1) -> !secret.secret<i16> {
  cf.cond_br %c, ^one, ^two
^one:
  %0 = mgmt.modreduce %x : !secret.secret<i16>
  return %0 : !secret.secret<i16>
^two:
  %1 = secret.generic(%x : !secret.secret<i16>, %0: !secret.secret<i16>) {
  ^body(%a: i16, %b: i16):
    secret.yield %a : i16
  } -> (!secret.secret<i16>)
  return %1 : !secret.secret<i16>
}"#,
        &expect![[r#"
            2 %late: operand %late does not dominate this use (dominance)
            2 %1: operand %1 does not dominate this use (dominance)
            7 %1: operand %1 does not dominate this use (dominance)
            12 %k: operand %k does not dominate this use (dominance)
            13 %4: operand %4 does not dominate this use (dominance)
            17 %k: operand %k does not dominate this use (dominance)
            25 %inner: use of undefined value %inner (undefined-value)
            25 %own: use of undefined value %own (undefined-value)
            25 %arg: use of undefined value %arg (undefined-value)
            25 %never: use of undefined value %never (undefined-value)
            42 %0: operand %0 does not dominate this use (dominance)
        "#]],
    );
}

/// After each edit, the problems equal those of a new parse of the text.
#[test]
fn edited_generics_have_the_problems_of_their_text() {
    let text = r#"func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %y = secret.conceal %k : i16 -> !secret.secret<i16>
  %0 = secret.generic(%x : !secret.secret<i16>) {
  ^body(%a: i16):
    secret.yield %a : i16
  } -> (!secret.secret<i16>)
  %k = arith.constant 3 : i16
  %1 = "secret.generic"(%0) ({
  ^body(%a: i16):
    "secret.yield"(%a) : (i16) -> ()
  }) : (!secret.secret<i16>) -> !secret.secret<i16>
  return %1 : !secret.secret<i16>
}"#;
    let edits = [
        ("conceal %k", "conceal %0"),
        ("generic(%x", "generic(%1"),
        ("\"(%0)", "\"(%1)"),
        ("%1 = \"", "%y = \""),
        ("  %k = arith.constant 3 : i16\n", ""),
        ("\"(%1)", "\"(%1, %k)"),
        ("(%a) : (i16)", "() : ()"),
        ("(%a: i16):\n    \"", "():\n    \""),
        ("generic(%1", "generic(%x"),
        ("  return", "  %k = arith.constant 3 : i16\n  return"),
    ];
    let mut source = Source::new(text);
    let mut told = Vec::new();
    for (from, to) in edits {
        let text = source.text().to_string();
        let at = text.find(from).unwrap();
        source.edit(at..at + from.len(), to);
        let fresh = Source::new(&source.text().to_string());
        assert_eq!(fingerprint(&source), fingerprint(&fresh), "{from} -> {to}");
        told.push(source.problems().len());
    }
    assert_eq!(told, [1, 2, 3, 2, 2, 5, 5, 5, 5, 4]);
}

#[test]
fn reports_wrong_types_of_a_generic() {
    let text = |operands: &str, label: &str, end: &str, results: &str| {
        format!(
            "!s = !secret.secret<i16>
func.func @f(%x: !secret.secret<i16>, %y: i16, %t: !secret.secret<tensor<2x8xf32>>, %u: !s) {{
  %0 = secret.generic({operands}) {{
  ^b{label}:
    %1 = arith.constant 2 : i16
    secret.yield {end}
  }} -> {results}
  return
}}"
        )
    };
    let custom = |operands: &str, label: &str, end: &str, results: &str| {
        let text = text(operands, label, end, results);
        let found = Source::new(&text).problems();
        let told = found.into_iter().map(|it| {
            let row = text[..it.1.start].matches('\n').count() + 1;
            format!("{row} {}: {}", it.2.code, it.2.message)
        });
        told.collect::<Vec<_>>().join("; ")
    };
    let (secret, one, result) = ("%x: !secret.secret<i16>", "(%a: i16)", "(!secret.secret<i16>)");
    assert_eq!(custom(secret, one, "%a : i16", result), "");
    assert_eq!(custom(secret, one, "%a : i16", "!s"), "");
    assert_eq!(custom("%u: !s", one, "%a : i16", "(!secret.secret< i16 > {a.b = 1})"), "");
    assert_eq!(
        custom(
            "%x: !secret.secret<i16> {a.b = []}, %y: i16",
            "(%a: i16, %c: i16)",
            "%c : i16",
            result
        ),
        ""
    );
    let tensor = "%t: !secret.secret<tensor<2x8xf32>>";
    assert_eq!(custom(tensor, "(%a: tensor<2x8xf32>)", "%1 : i16", result), "");
    assert_eq!(
        custom(tensor, "(%a: tensor<2x9xf32>)", "%1 : i16", result),
        "3 entry-arguments: argument 0 of the block has type tensor<2x9xf32>, but the operand of type !secret.secret<tensor<2x8xf32>> gives tensor<2x8xf32>"
    );
    assert_eq!(
        custom("%y: i16", "(%a: i32)", "%1 : i16", result),
        "3 entry-arguments: argument 0 of the block has type i32, but the operand of type i16 gives i16"
    );
    assert_eq!(
        custom("%u: !s", "(%a: !s)", "%1 : i16", result),
        "3 entry-arguments: argument 0 of the block has type !secret.secret<i16>, but the operand of type !secret.secret<i16> gives i16"
    );
    assert_eq!(
        custom("%x: !secret.secret<i32>", "(%a: i32)", "%1 : i16", result),
        "3 entry-arguments: argument 0 of the block has type i32, but the operand of type !secret.secret<i16> gives i16; 3 type-clash: this value has type !secret.secret<i16>, but !secret.secret<i32> is expected here"
    );
    assert_eq!(
        custom(secret, one, "%a : i32", "(!secret.secret<i32>)"),
        "6 type-clash: this value has type i16, but i32 is expected here; 6 region-values: gives i16, but result 0 of the 'secret.generic' around it has type !secret.secret<i32>"
    );
    assert_eq!(
        custom(secret, one, "%a : i16", "(!secret.secret<i8>)"),
        "6 region-values: gives i16, but result 0 of the 'secret.generic' around it has type !secret.secret<i8>"
    );
    assert_eq!(
        custom(secret, one, "%a : i16", "i16"),
        "7 result-type: result 0 has type i16, but the results of 'secret.generic' are secrets"
    );
    // An unparsable type has no consequences.
    for unread in [
        "(!never)",
        "(!secret.secret<!secret.secret<i8>>)",
        "(!secret.secret<what>)",
        "(!secret.secret<i8",
    ] {
        let found = custom(secret, one, "%a : i16", unread);
        assert!(!found.contains("region-values"), "{unread}: {found}");
    }
}

#[test]
fn reports_wrong_types_in_generic_form() {
    check(
        "func.func @f(%x: !secret.secret<i16>, %y: i8) -> !secret.secret<i32> {
  %0 = \"secret.generic\"(%x, %y) ({
  ^bb0(%a: i16, %b: i16):
    \"secret.yield\"(%a) : (i16) -> ()
  }) : (!secret.secret<i16>, i8) -> !secret.secret<i32>
  return %0 : !secret.secret<i32>
}",
        &expect![[r#"
            2 "secret.generic": argument 1 of the block has type i16, but the operand of type i8 gives i8 (entry-arguments)
            4 %a: gives i16, but result 0 of the 'secret.generic' around it has type !secret.secret<i32> (region-values)
        "#]],
    );
}

#[test]
fn accepts_empty_dictionaries() {
    check(
        "func.func @f(%x: !secret.secret<i16>, %c: i1, %a: i16) -> i16 {
  %0 = secret.generic(%x: !secret.secret<i16> {}) {
  ^body(%b: i16):
    secret.yield %b : i16
  } -> (!secret.secret<i16> {})
  scf.if %c {
  } {}
  scf.if %c {} else {}
  %1 = scf.if %c -> (i16) {
    scf.yield %a : i16
  } else {
    scf.yield %a : i16
  } {}
  return %1 : i16
}",
        &expect![[r#""#]],
    );
}

#[test]
fn reports_yields_outside_of_a_generic() {
    check(
        "func.func @f(%x: !secret.secret<i16>) {
  secret.yield %x : !secret.secret<i16>
  return
}",
        &expect![[r#"
            2 secret.yield: expects parent op 'secret.generic' (misplaced-op)
        "#]],
    );
}
