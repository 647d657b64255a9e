//! Tests on diagnostics about values that loops and recursive calls carry.

use super::diagnostics::{codes_by_line, line};
use super::generic;
use noisy_analyses::Document;

#[test]
fn loops_keep_the_number_of_polynomials() {
    // HEIR 2026.9.1 lowers some of these programs, and refuses the others, with the passes
    // `--secret-distribute-generic --canonicalize --secret-to-bgv`.
    let of = |init: &str, inside: &str| {
        let body = format!(
            "%1 = arith.muli %a, %a : i16
      %r = affine.for %i = 0 to 4 iter_args(%l = {init}) -> (i16) {{
        {inside}
        affine.yield %y : i16
      }}
      %s = mgmt.relinearize %r : i16
      secret.yield %s : i16"
        );
        let told = codes_by_line(&generic("scheme.bgv", &body));
        let found = told.split(", ").filter(|it| !it.contains(" hint "));
        found.collect::<Vec<_>>().join(", ")
    };
    let end = "10 warning missing-relinearize";
    let product = "%z = arith.muli %l, %a : i16";
    assert_eq!(of("%a", &format!("{product}\n        %y = mgmt.relinearize %z : i16")), "");
    assert_eq!(
        of("%a", &format!("{product}\n        %y = arith.addi %z, %z : i16")),
        "11 warning missing-relinearize"
    );
    assert_eq!(of("%a", "%y = arith.muli %a, %a : i16"), end);
    assert_eq!(of("%a", "%y = arith.addi %1, %l : i16"), end);
    assert_eq!(of("%1", "%y = arith.addi %1, %l : i16"), "");
    assert_eq!(of("%1", "%y = mgmt.relinearize %l : i16"), "8 warning missing-relinearize");
    let choice = "%t = arith.constant true
        %y = scf.if %t -> (i16) {
          scf.yield %l : i16
        } else {
          scf.yield %1 : i16
        }";
    assert_eq!(of("%a", choice), "");
    let choice = choice.replace("arith.constant true", "other.condition : i1");
    assert_eq!(of("%a", &choice), "15 warning missing-relinearize");
    // A loop that runs once has no next iteration.
    let body = "%r = affine.for %i = 0 to 1 iter_args(%l = %a) -> (i16) {
        %z = arith.muli %l, %a : i16
        affine.yield %z : i16
      }
      %s = mgmt.relinearize %r : i16
      secret.yield %s : i16";
    assert_eq!(codes_by_line(&generic("scheme.bgv", body)), "");
}

#[test]
fn reports_loops_that_change_the_level() {
    let of = |inside: &str| {
        let body = format!(
            "%1 = affine.for %i = 0 to 4 iter_args(%b = %a) -> (i16) {{
        {inside}
        affine.yield %c : i16
      }}
      secret.yield %1 : i16"
        );
        codes_by_line(&generic("scheme.bgv", &body))
    };
    assert_eq!(of("%c = arith.addi %b, %b : i16"), "");
    assert_eq!(of("%c = mgmt.modreduce %b : i16"), "8 warning varying-level");
}

#[test]
fn reports_recursive_calls_that_change_the_level() {
    let of = |inside: &str, entry: &str| {
        let text = format!(
            "module attributes {{scheme.ckks}} {{
  func.func private @g(%x: i16, %b: i1) -> i16 {{
    {inside}
    return %r : i16
  }}
  func.func @f(%x: !secret.secret<i16>, %b: i1) -> !secret.secret<i16> {{
    %0 = secret.generic(%x: !secret.secret<i16>) {{
    ^body(%a: i16):
      %1 = func.call @{entry}(%a, %b) : (i16, i1) -> i16
      secret.yield %1 : i16
    }} -> (!secret.secret<i16>)
    return %0 : !secret.secret<i16>
  }}
  func.func private @h(%x: i16, %b: i1) -> i16 {{
    %0 = func.call @g(%x, %b) : (i16, i1) -> i16
    return %0 : i16
  }}
}}"
        );
        let found = Document::new(&text).diagnostics().into_iter();
        let found = found.map(|it| format!("{} {}", line(&text, it.range.start), it.message));
        found.collect::<Vec<_>>().join(", ")
    };
    let round = |callee: &str, before: &str, passed: &str, after: &str| {
        format!(
            "%r = scf.if %b -> (i16) {{
      {before}
      %c = func.call @{callee}({passed}, %b) : (i16, i1) -> i16
      {after} %c : i16
      scf.yield %d : i16
    }} else {{
      scf.yield %x : i16
    }}"
        )
    };
    assert_eq!(of(&round("g", "", "%x", "%d = arith.addi %c,"), "g"), "");
    assert_eq!(
        of(&round("g", "", "%x", "%d = mgmt.modreduce"), "g"),
        "4 %c: each recursive call of @g returns a different level"
    );
    assert_eq!(
        of(&round("g", "%m = mgmt.modreduce %x : i16", "%m", "%d = arith.addi %c,"), "g"),
        "4 %m: each recursive call of @g gets a different level"
    );
    // Recursion through another function, in which each call is recursive.
    assert_eq!(
        of(&round("h", "", "%x", "%d = mgmt.modreduce"), "h"),
        "4 %c: each recursive call of @h returns a different level, 21 %0: each recursive call of @g returns a different level"
    );
    assert_eq!(
        of("%r = func.call @g(%x, %b) : (i16, i1) -> i16", "g"),
        "2 %r: @g calls itself before it returns, so its result has no level"
    );
}
