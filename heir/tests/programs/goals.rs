//! Tests on correct programs with annotated goals, and on numbers that HEIR cannot infer.

use super::annotations::codes_by_line;
use super::generic;
use noisy_analyses::Document;

fn m(level: u32) -> String {
    format!("{{mgmt.mgmt = #mgmt.mgmt<level = {level}>}}")
}

#[test]
fn callers_of_functions_with_goals_have_goals() {
    let text = |inside: &str, callee: &str| {
        let secret = "!secret.secret<i16>";
        let call = |name: &str, by: &str| {
            format!(
                "func.func @{name}(%x: {secret} {}) -> ({secret} {}) {{
  %0 = call @{by}(%x) {} : ({secret}) -> {secret}
  return %0 : {secret}
}}
",
                m(5),
                m(2),
                m(2)
            )
        };
        format!(
            "{}{}func.func private @f(%x: {secret} {callee}) -> {secret} {{
  %0 = secret.generic(%x: {secret}) {{
    ^body(%a: i16):
      {inside}
      secret.yield %1 : i16
    }} -> ({secret})
  return %0 : {secret}
}}
",
            call("main", "through"),
            call("through", "f")
        )
    };
    let product = "%1 = arith.muli %a, %a : i16";
    assert_eq!(codes_by_line(&text(product, "")), "");
    assert_eq!(codes_by_line(&text(product, &m(5))), "");
    // A function with an op that uses levels, or with annotated levels on other ops, has no goals.
    let reduced = "%1 = mgmt.modreduce %a : i16";
    assert!(
        codes_by_line(&text(reduced, "")).contains("level-mismatch"),
        "{}",
        codes_by_line(&text(reduced, ""))
    );
    let annotated = format!("%1 = arith.addi %a, %a {} : i16", m(5));
    assert_eq!(codes_by_line(&text(&annotated, &m(5))).matches("level-mismatch").count(), 2);
    // An edit changes the callee of a call, and another edit changes a function that is called.
    let both = format!(
        "{}func.func private @g(%x: !secret.secret<i16>) -> !secret.secret<i16> {{
  %0 = secret.generic(%x: !secret.secret<i16>) {{
    ^body(%a: i16):
      {reduced}
      secret.yield %1 : i16
    }} -> (!secret.secret<i16>)
  return %0 : !secret.secret<i16>
}}
",
        text(product, "")
    );
    let mut document = Document::new(&both);
    let at = both.find("call @f").expect("a call") + "call @".len();
    let found = |it: &Document| it.diagnostics().len();
    let before = found(&document);
    document.edit(at..at + 1, "g");
    let anew = found(&Document::new(&document.source().text().to_string()));
    assert_eq!(found(&document), anew);
    assert!(anew > before);
    document.edit(at..at + 1, "f");
    assert_eq!(found(&document), before);
    let op = both.find("arith.muli %a, %a").expect("a product");
    document.edit(op..op + "arith.muli %a, %a".len(), "mgmt.modreduce %a");
    let anew = found(&Document::new(&document.source().text().to_string()));
    assert_eq!(found(&document), anew);
    assert!(anew > before);
}

#[test]
fn merged_plaintexts_have_the_dimension_of_the_ciphertext() {
    let text = |first: &str, merged: &str, dimension: &str| {
        let body = format!(
            "%1 = arith.muli %a, %a : i16
      %r = mgmt.relinearize %1 : i16
      %i = mgmt.init %q {{mgmt.mgmt = #mgmt.mgmt<level = 0{dimension}>}} : i16
      {first}
      {merged}
      secret.yield %r : i16"
        );
        codes_by_line(&generic("scheme.bgv", &body))
    };
    let branch = "%t = arith.cmpi eq, %q, %q : i16
      %3 = scf.if %t -> (i16) {
        scf.yield %i : i16
      } else {
        scf.yield %1 : i16
      }";
    let branch = branch.replace("%t = arith.cmpi eq, %q, %q : i16", "%t = \"x.y\"() : () -> i1");
    let round = "%3 = affine.for %j = 0 to 4 iter_args(%c = %i) -> (i16) {
        %4 = arith.addi %1, %a : i16
        affine.yield %4 : i16
      }";
    let has = |told: &str| told.contains("dimension-mismatch");
    for merged in [branch.as_str(), round] {
        assert!(!has(&text("", merged, ", dimension = 3")), "{merged}");
        assert!(has(&text("", merged, "")), "{merged}");
        // The numbers that a user of the plaintext needs take precedence.
        let sum = "%2 = arith.addi %a, %i : i16";
        assert!(!has(&text(sum, merged, "")), "{merged}");
        assert!(has(&text(sum, merged, ", dimension = 3")), "{merged}");
    }
    // An op that computes with the plaintext does not determine the number.
    let computed =
        branch.replace("scf.yield %i", "%5 = arith.addi %i, %i : i16\n        scf.yield %5");
    assert!(!has(&text("", &computed, "")));
    assert!(has(&text("", &computed, ", dimension = 3")));
}

#[test]
fn plaintexts_merged_at_several_levels_have_the_least() {
    let text = |level: u32, yielded: &str| {
        let branch = |name: &str, other: &str| {
            format!(
                "{name} = scf.if %t -> (i16) {{
        {}
      }} else {{
        scf.yield {other} : i16
      }}",
                yielded.replace("%y", &name.replace('%', "%y"))
            )
        };
        let body = format!(
            "%t = \"x.y\"() : () -> i1
      %1 = mgmt.modreduce %a {} : i16
      %2 = mgmt.modreduce %1 {} : i16
      %i = mgmt.init %q {} : i16
      {}
      {}
      %5 = arith.addi %3, %4 {} : i16
      secret.yield %5 : i16",
            m(1),
            m(0),
            m(level),
            branch("%4", "%2"),
            branch("%3", "%1"),
            m(0)
        );
        codes_by_line(&generic("scheme.bgv", &body))
    };
    let itself = "scf.yield %i : i16";
    assert_eq!([text(1, itself), text(0, itself)], ["", "10 level-mismatch"]);
    // If a value computed from the plaintext is merged, the plaintext has the level of a fresh
    // ciphertext.
    let computed = "%y = arith.addi %i, %i : i16\n        scf.yield %y : i16";
    assert_eq!([text(2, computed), text(1, computed)], ["", "10 level-mismatch"]);
}

#[test]
fn does_not_compare_dimensions_that_grow_in_loops() {
    let text = |dimension: &str| {
        let m = format!("{{mgmt.mgmt = #mgmt.mgmt<level = 0{dimension}>}}");
        let body = format!(
            "%3 = affine.for %j = 0 to 4 iter_args(%c = %a) -> (i16) {{
        %4 = arith.muli %c, %a {m} : i16
        affine.yield %4 : i16
      }} {{__argattrs = [{m}], __resattrs = [{m}]}}
      %5 = arith.addi %3, %a {m} : i16
      %6 = mgmt.relinearize %5 {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : i16
      %7 = arith.muli %6, %6 {{mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = 3>}} : i16
      %8 = mgmt.relinearize %7 : i16
      secret.yield %8 : i16"
        );
        generic("scheme.bgv", &body)
    };
    for dimension in ["", ", dimension = 3"] {
        assert_eq!(codes_by_line(&text(dimension)), "9 missing-relinearize");
        // The dimension of a relinearized ciphertext is known again.
        let wrong =
            text(dimension).replace("0, dimension = 3>} : i16\n      %8", "0>} : i16\n      %8");
        assert_eq!(codes_by_line(&wrong), "9 missing-relinearize, 13 dimension-mismatch");
    }
}

#[test]
fn does_not_compare_dimensions_of_plaintexts_merged_twice() {
    // The initial value of the loop is the result of a branch, which may have three polynomials.
    // HEIR assumes three for the loop.
    let text = |dimension: &str| {
        let m = |rest: &str| format!("{{mgmt.mgmt = #mgmt.mgmt<level = 0{rest}>}}");
        let (two, three, carried) = (m(""), m(", dimension = 3"), m(dimension));
        let body = format!(
            "%1 = arith.muli %a, %a {three} : i16
      %k = other.condition : i1
      %r = affine.for %i = 0 to 3 iter_args(%l = %q) -> (i16) {{
        %2 = scf.if %k -> (i16) {{
          scf.yield %q : i16
        }} else {{
          scf.yield %1 : i16
        }} {three}
        %3 = mgmt.relinearize %2 {two} : i16
        affine.yield %3 : i16
      }} {{__argattrs = [{carried}], __resattrs = [{two}]}}
      secret.yield %r : i16"
        );
        generic("scheme.ckks", &body)
    };
    assert_eq!([codes_by_line(&text("")), codes_by_line(&text(", dimension = 3"))], ["", ""]);
}

#[test]
fn does_not_compare_dimensions_of_marked_arguments() {
    let text = |argument: &str| {
        format!(
            "func.func @f(%x: {argument}) -> i16 {{
  %1 = arith.muli %x, %x {0} : i16
  %2 = mgmt.relinearize %1 {0} : i16
  %3 = arith.addi %2, %x {0} : i16
  return %3 : i16
}}
func.func @g(%x: i16) -> i16 {{
  %1 = arith.muli %x, %x {0} : i16
  %2 = mgmt.relinearize %1 {0} : i16
  %3 = call @h(%2) : (i16) -> i16
  return %3 : i16
}}
func.func @h(%x: i16) -> i16 {{
  %1 = arith.muli %x, %x {0} : i16
  %2 = mgmt.relinearize %1 {0} : i16
  return %2 : i16
}}",
            m(0)
        )
    };
    let marked = "i16 {secret.secret}";
    assert_eq!(codes_by_line(&text(marked)), "");
    let unmarked = "2 dimension-mismatch, 8 dimension-mismatch, 14 dimension-mismatch";
    assert_eq!(codes_by_line(&text("i16")), unmarked);
    // Calls that pass such a ciphertext are not compared, nor are their callers.
    let sum = format!("%3 = arith.addi %2, %x {} : i16", m(0));
    let called = text(marked).replace(&sum, "%3 = func.call @h(%x) : (i16) -> i16");
    assert_eq!(codes_by_line(&called), "");
    let mut document = Document::new(&text("i16"));
    let at = text("i16").find("(%x: i16)").expect("an argument") + "(%x: i16".len();
    document.edit(at..at, " {secret.secret}");
    assert_eq!(document.diagnostics(), []);
    document.edit(at..at + " {secret.secret}".len(), "");
    assert_eq!(document.diagnostics().len(), 3);
}

#[test]
fn client_arguments_have_the_returned_dimension() {
    let text = |dimension: &str| {
        let three = "{mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = 3>}";
        let generic = generic(
            "scheme.bgv",
            "%1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = arith.muli %2, %2 : i16
      secret.yield %3 : i16",
        );
        let generic = generic
            .replace("-> (!secret.secret<i16>) {", &format!("-> (!secret.secret<i16> {three}) {{"));
        let client = format!(
            "  func.func @d(%y: !secret.secret<i16> {{mgmt.mgmt = #mgmt.mgmt<level = 0{dimension}>}}) -> i16 attributes {{client.dec_func = {{func_name = \"f\", index = 0 : i64}}}} {{
    %r = mgmt.relinearize %y : !secret.secret<i16>
    %0 = secret.reveal %y : !secret.secret<i16> -> i16
    return %0 : i16
  }}
}}"
        );
        format!("{}{client}", generic.strip_suffix('}').expect("a module"))
    };
    let found =
        |dimension: &str| codes_by_line(&text(dimension)).matches("dimension-mismatch").count();
    assert_eq!([found(", dimension = 3"), found("")], [0, 1]);
}

#[test]
fn the_last_level_is_always_zero() {
    // As in HEIR for BFV, where all values are at the level of the multiplicative depth.
    let text = |last: u32| {
        let body = format!(
            "%1 = arith.addi %a, %a {0} : i16
      %2 = arith.addi %1, %a {0} : i16
      %3 = mgmt.level_reduce_min %2 {1} : i16
      %4 = mgmt.modreduce %2 {2} : i16
      secret.yield %3 : i16",
            m(2),
            m(last),
            m(1)
        );
        codes_by_line(&generic("scheme.bfv", &body)).replace("1 invalid-scheme, ", "")
    };
    assert!(!text(0).contains("level-mismatch"), "{}", text(0));
    assert!(text(7).contains("9 level-mismatch"), "{}", text(7));
}

#[test]
fn finds_escaped_names() {
    let body = |level: u32| {
        format!(
            "%1 = mgmt.modreduce %a {{\"mgmt\\2Emgmt\" = #mgmt.mgmt<level = {level}>}} : i16
      %2 = mgmt.modreduce %1 {} : i16
      %3 = arith.addi %2, %2 {} : i16
      secret.yield %3 : i16",
            m(0),
            m(0)
        )
    };
    let (wrong, right) = (generic("scheme.bgv", &body(3)), generic("scheme.bgv", &body(1)));
    let document = Document::new(&wrong);
    let found = document.diagnostics();
    assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), ["level-mismatch"]);
    assert_eq!(document.fixes(&found).remove(0).expect("a fix").apply(&wrong), right);
}

#[test]
fn programs_without_secrets_encode_nothing() {
    let text = |level: u32, of: &str| {
        format!(
            "module attributes {{scheme.ckks}} {{
  func.func @f(%x: i16) -> i16 {{
    %q = arith.constant 3 : i16
    %1 = mgmt.modreduce %x {of} : i16
    %2 = mgmt.modreduce %x {of} : i16
    %i = mgmt.init %q {} : i16
    %3 = arith.muli %1, %i : i16
    %j = mgmt.init %q {} : i16
    %4 = arith.muli %2, %j : i16
    %5 = mgmt.modreduce %3 : i16
    %6 = arith.addi %4, %5 : i16
    return %6 : i16
  }}
}}",
            m(0),
            m(level)
        )
    };
    assert!(
        !codes_by_line(&text(0, "")).contains("level-mismatch"),
        "{}",
        codes_by_line(&text(0, ""))
    );
    assert!(
        codes_by_line(&text(3, &m(1))).contains("8 level-mismatch"),
        "{}",
        codes_by_line(&text(3, &m(1)))
    );
}

#[test]
fn results_of_calls_have_the_returned_level() {
    let text = |level: u32| {
        let secret = "!secret.secret<i16>";
        format!(
            "module attributes {{scheme.bgv}} {{
  func.func @f(%x: {secret} {}) -> ({secret} {m}) {{
    %0 = secret.generic(%x: {secret} {}) {{
    ^body(%a: i16):
      %1 = mgmt.modreduce %a {m} : i16
      %2 = func.call @g(%1) {{__resattrs = [{m}]}} : (i16) -> i16
      %3 = func.call @g(%a) {{__resattrs = [{}]}} : (i16) -> i16
      %4 = arith.addi %3, %2 {m} : i16
      secret.yield %4 : i16
    }} -> ({secret} {m})
    return %0 : {secret}
  }}
  func.func private @g(%y: i16 {m}) -> (i16 {m}) {{
    %0 = arith.addi %y, %y {m} : i16
    return %0 : i16
  }}
}}",
            m(1),
            m(1),
            m(level),
            m = m(0)
        )
    };
    assert_eq!([codes_by_line(&text(0)), codes_by_line(&text(1))], ["", "7 level-mismatch"]);
    // For a call outside of a generic, HEIR annotates the level of the argument.
    let passed = |level: u32| {
        let secret = "!secret.secret<i16>";
        format!(
            "module attributes {{scheme.bgv}} {{
  func.func @f(%x: {secret} {x}) -> ({secret} {m}) {{
    %0 = secret.generic(%x: {secret} {x}) {{
    ^body(%a: i16):
      %1 = mgmt.modreduce %a {m} : i16
      secret.yield %1 : i16
    }} -> ({secret} {m})
    %2 = call @g(%0) {{__resattrs = [{m}]}} : ({secret}) -> {secret}
    %3 = call @g(%x) {{__resattrs = [{m}]}} : ({secret}) -> {secret}
    return %2 : {secret}
  }}
  func.func private @g(%y: {secret} {m}) -> ({secret} {m}) {{
    %0 = secret.generic(%y: {secret} {m}) {{
    ^body(%a: i16):
      %1 = arith.addi %a, %a {m} : i16
      secret.yield %1 : i16
    }} -> ({secret} {m})
    return %0 : {secret}
  }}
}}",
            x = m(level),
            m = m(0)
        )
    };
    assert_eq!([codes_by_line(&passed(0)), codes_by_line(&passed(1))], ["", ""]);
}

#[test]
fn generics_without_computation_have_no_goals() {
    let text = |body: &str| {
        let (secret, m) = ("!secret.secret<i16>", m(0));
        format!(
            "module attributes {{scheme.ckks}} {{
  func.func @f(%x: {secret} {m}) -> ({secret} {m}) {{
    %0 = secret.generic(%x: {secret} {m}) {{
    ^body(%a: i16):
      {body}secret.yield %a : i16
    }} -> ({secret} {})
    return %0 : {secret}
  }}
}}",
            self::m(1)
        )
    };
    assert_eq!(codes_by_line(&text("")), "6 level-mismatch");
    let sum = "%1 = arith.addi %a, %a : i16\n      ";
    assert!(!codes_by_line(&text(sum)).contains("level-mismatch"), "{}", codes_by_line(&text(sum)));
    // The same after edits.
    let mut document = Document::new(&text(sum));
    let at = text(sum).find(sum).expect("a sum");
    document.edit(at..at + sum.len(), "");
    assert_eq!(document.diagnostics(), Document::new(&text("")).diagnostics());
    document.edit(at..at, sum);
    assert_eq!(document.diagnostics(), Document::new(&text(sum)).diagnostics());
}
