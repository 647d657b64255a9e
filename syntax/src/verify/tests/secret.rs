//! Bodies of HEIR's `secret.generic`.

use expect_test::expect;

use super::check;
use crate::Source;

#[test]
fn names_and_types_in_a_generic_are_those_of_its_form() {
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
fn a_generic_takes_and_gives_as_many_values_as_it_says() {
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
    let arguments = |wanted: usize, n: usize| {
        format!(
            "2 entry-arguments: the block needs an argument for each of {wanted} operands, but has {n}"
        )
    };
    assert_eq!(generic(one, "^b(%a: i16, %c: i16):", end), arguments(1, 2));
    assert_eq!(generic(both, "^b(%a: i16):", end), arguments(2, 1));
    assert_eq!(generic(one, "^b:", end), arguments(1, 0));
    assert_eq!(generic(one, "", end), arguments(1, 0));
    assert_eq!(generic("", "^b(%a: i16):", end), arguments(0, 1));
    let results = |n: usize| {
        format!(
            "5 region-values: gives {n} values, but the 'secret.generic' around it has 1 results"
        )
    };
    assert_eq!(generic(one, "^b(%a: i16):", "secret.yield %1, %a : i16, i16"), results(2));
    assert_eq!(generic(one, "^b(%a: i16):", "secret.yield"), results(0));
}

#[test]
fn generics_in_generic_form_are_judged_alike() {
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
        &expect![[r#""#]],
    );
}

/// An op whose region might name arguments is left alone, and so is one of another dialect.
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
