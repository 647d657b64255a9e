//! Tests on annotated numbers of polynomials, and on unreadable attributes.

use noisy_syntax::{Ir, Value};

use super::generic;
use noisy_analyses::Document;
use noisy_analyses::TextEdit;
use noisy_heir::CiphertextFacts;

/// Returns the codes of the diagnostics, each with its line.
pub(super) fn codes_by_line(text: &str) -> String {
    let found = Document::new(text).diagnostics().into_iter();
    let found =
        found.map(|it| format!("{} {}", text[..it.range.start].matches('\n').count() + 1, it.code));
    found.collect::<Vec<_>>().join(", ")
}

#[test]
fn reports_wrong_dimensions_in_all_places() {
    let m = |rest: &str| format!("{{mgmt.mgmt = #mgmt.mgmt<level = 0{rest}>}}");
    let (two, three) = (m(""), m(", dimension = 3"));
    let custom = format!(
        "module attributes {{scheme.bgv}} {{
  func.func @f(%x: !secret.secret<i16> {two}) -> (!secret.secret<i16> {two}) {{
    %0:2 = secret.generic(%x: !secret.secret<i16> {two}) {{
    ^body(%a: i16):
      %p = arith.constant 3 : i16
      %i = mgmt.init %p {three} : i16
      %1 = arith.muli %a, %a {three} : i16
      %2 = arith.muli %1, %i {three} : i16
      %3 = affine.for %j = 0 to 4 iter_args(%c = %2) -> (i16) {{
        %4 = arith.addi %c, %c {three} : i16
        affine.yield %4 : i16
      }} {{__argattrs = [{three}], __resattrs = [{three}]}}
      %5 = mgmt.relinearize %3 {two} : i16
      %6 = arith.muli %5, %3 {} : i16
      secret.yield %5, %6 : i16, i16
    }} -> (!secret.secret<i16> {two}, !secret.secret<i16> {})
    return %0#0 : !secret.secret<i16>
  }}
}}",
        m(", dimension = 4, scale = 7"),
        m(", dimension = 4")
    );
    let printed = format!(
        "\"builtin.module\"() ({{
  \"func.func\"() <{{arg_attrs = [{two}], function_type = (!secret.secret<i16>) -> !secret.secret<i16>, res_attrs = [{two}], sym_name = \"f\"}}> ({{
  ^bb0(%x: !secret.secret<i16>):
    %0 = \"secret.generic\"(%x) ({{
    ^bb0(%a: i16):
      %1 = \"arith.muli\"(%a, %a) {three} : (i16, i16) -> i16
      %2 = \"mgmt.relinearize\"(%1) {two} : (i16) -> i16
      \"secret.yield\"(%2) : (i16) -> ()
    }}) {{__argattrs = [{two}], __resattrs = [{two}]}} : (!secret.secret<i16>) -> !secret.secret<i16>
    \"func.return\"(%0) : (!secret.secret<i16>) -> ()
  }}) : () -> ()
}}) {{scheme.bgv}} : () -> ()"
    );
    // Another test covers the products that the generic yields.
    let others = |text: &str| {
        let mut found = Document::new(text).diagnostics();
        found.retain(|it| it.code != "missing-relinearize");
        found
    };
    for (text, n) in [(custom, 13), (printed, 6)] {
        assert_eq!(others(&text), []);
        let places: Vec<usize> = text.match_indices("level = 0").map(|it| it.0 + 9).collect();
        assert_eq!(places.len(), n);
        for at in places {
            let is_written = text[at..].starts_with(", dimension");
            let (end, values): (usize, &[&str]) = if is_written {
                (at + ", dimension = 3".len(), &["", ", dimension = 2", ", dimension = 7"])
            } else {
                (at, &[", dimension = 3", ", dimension = 11"])
            };
            for other in values {
                let mutant = format!("{}{other}{}", &text[..at], &text[end..]);
                let document = Document::new(&mutant);
                let found = others(&mutant);
                let [it] = found.as_slice() else { panic!("{found:?} of {mutant}") };
                assert_eq!(it.code, "dimension-mismatch");
                let line = |to: usize| mutant[..to].matches('\n').count();
                assert_eq!(line(it.range.start), line(at), "{mutant}");
                let fix = document.fixes(&found).remove(0).expect("a fix");
                assert_eq!(fix.apply(&mutant), text);
            }
        }
    }
}

#[test]
fn fixes_two_polynomials_by_deleting_the_entry() {
    let text = |rest: &str| {
        generic(
            "scheme.bgv",
            &format!(
                "%1 = arith.addi %a, %a {{mgmt.mgmt = #mgmt.mgmt<{rest}>}} : i16\n      secret.yield %1 : i16"
            ),
        )
    };
    for (wrong, right) in [
        ("dimension = 3, level = 0", "level = 0"),
        ("level = 0, dimension = 3, scale = 5", "level = 0, scale = 5"),
        ("level = 0,dimension=4", "level = 0"),
    ] {
        let document = Document::new(&text(wrong));
        let (edits, n) = document.fix_all(&document.diagnostics(), false);
        assert_eq!((TextEdit::apply_all(&edits, &text(wrong)), n), (text(right), 1));
        assert_eq!(codes_by_line(&text(right)), "");
    }
}

#[test]
fn fixes_level_and_dimension_of_one_annotation() {
    let text = |rest: &str| {
        let m = "{mgmt.mgmt = #mgmt.mgmt<level = 1>}";
        let body = format!(
            "%1 = arith.muli %a, %a {{mgmt.mgmt = #mgmt.mgmt<{rest}>}} : i16
      %2 = arith.addi %a, %a {m} : i16
      %3 = arith.addi %2, %a {m} : i16
      %4 = mgmt.relinearize %1 : i16
      %5 = arith.addi %3, %4 : i16
      secret.yield %5 : i16"
        );
        generic("scheme.bgv", &body)
    };
    let mut now = text("level = 7");
    for _ in 0..2 {
        let document = Document::new(&now);
        let (edits, _) = document.fix_all(&document.diagnostics(), false);
        now = TextEdit::apply_all(&edits, &now);
    }
    assert_eq!(now, text("level = 1, dimension = 3"));
}

#[test]
fn ignores_dimensions_of_products_after_lowering() {
    // HEIR annotates products after lowering with two polynomials, although the type states more.
    let text = "!ct = !lwe.lwe_ciphertext<plaintext_space = #p, ciphertext_space = #c, key = #k, modulus_chain = #m>
module attributes {scheme.bgv} {
  func.func @f(%x: !ct) -> !ct {
    %0 = bgv.mul %x, %x {mgmt.mgmt = #mgmt.mgmt<level = 0>} : (!ct, !ct) -> !ct
    return %0 : !ct
  }
}";
    assert!(!codes_by_line(text).contains("dimension-mismatch"), "{}", codes_by_line(text));
}

#[test]
fn reports_unreadable_attributes_at_their_position() {
    let of = |op: &str| {
        let text = generic("scheme.bgv", &format!("%1 = {op} : i16\n      secret.yield %1 : i16"));
        let found = Document::new(&text).diagnostics().into_iter();
        let all: Vec<_> = found.map(|it| format!("{} {}", it.code, &text[it.range])).collect();
        all.join(", ")
    };
    for good in ["levelToDrop = 3 : i64", "levelToDrop = 0 : i64", "other = -3 : i64"] {
        assert_eq!(of(&format!("mgmt.level_reduce %a {{{good}}}")), "", "{good}");
    }
    for bad in ["-3 : i64", "99999999999 : i64", "\"two\"", "[1]", "2.0 : f32"] {
        let told = of(&format!("mgmt.level_reduce %a {{levelToDrop = {bad}}}"));
        assert_eq!(told, "unreadable-attribute levelToDrop", "{bad}");
    }
    for bad in ["7 : i64", "[7 : i64]", "{a = 1 : i64}"] {
        let told = of(&format!("arith.addi %a, %a {{__argattrs = {bad}}}"));
        assert_eq!(told, "unreadable-attribute __argattrs", "{bad}");
    }
    assert_eq!(of("arith.addi %a, %a {__resattrs = [{}]}"), "");
    for (key, bad) in
        [("dimension", "-2"), ("dimension", "x"), ("scale", "big"), ("scale", "1, scale = 1")]
    {
        let told = of(&format!(
            "mgmt.adjust_scale %a {{mgmt.mgmt = #mgmt.mgmt<level = 0, {key} = {bad}>}}"
        ));
        assert_eq!(told, format!("unreadable-attribute {key}"), "{bad}");
    }
    assert_eq!(of("mgmt.adjust_scale %a {mgmt.mgmt = #mgmt.mgmt<level = 0, scale = -1>}"), "");
    // The level is unknown then.
    let text = generic(
        "scheme.bgv",
        "%1 = mgmt.level_reduce %a {levelToDrop = -3 : i64} : i16\n      secret.yield %1 : i16",
    );
    assert!(super::levels(&text).ends_with("%1=-"), "{}", super::levels(&text));
}

#[test]
fn counts_levels_of_products_in_loops_before_management() {
    let of = |after: &str| {
        let body = format!(
            "%d = mgmt.level_reduce %a {{levelToDrop = 4 : i64}} : i16
      %1 = affine.for %i = 0 to 4 iter_args(%b = %d) -> (i16) {{
        %c = mgmt.bootstrap %b : i16
        %m = arith.muli %c, %p : i16
        %e = {after} : i16
        affine.yield %e : i16
      }}
      secret.yield %1 : i16"
        );
        codes_by_line(&generic(
            "backend.config_override = {bootstrapLevelsConsumed = 3 : i64}, backend.lattigo, scheme.bgv",
            &body,
        ))
    };
    assert_eq!(of("arith.addi %m, %m"), "");
    assert_eq!(of("arith.muli %m, %p"), "11 varying-level");
    // If modulus switches are placed, the ops determine the levels.
    assert_eq!(of("mgmt.modreduce %m"), "");
    assert_eq!(of("mgmt.level_reduce %m {levelToDrop = 2 : i64}"), "11 varying-level");
}

#[test]
fn does_not_add_a_second_dimension() {
    for written in ["-1", "three", "0xg"] {
        let text = format!(
            "module attributes {{scheme.bgv}} {{
  func.func @f(%x: !secret.secret<i16> {{mgmt.mgmt = #mgmt.mgmt<level = 0>}}) -> !secret.secret<i16> {{
    %0 = secret.generic(%x: !secret.secret<i16> {{mgmt.mgmt = #mgmt.mgmt<level = 0>}}) {{
    ^body(%a: i16):
      %1 = arith.muli %a, %a {{mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = {written}>}} : i16
      %2 = mgmt.relinearize %1 {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : i16
      secret.yield %2 : i16
    }} -> (!secret.secret<i16> {{mgmt.mgmt = #mgmt.mgmt<level = 0>}})
    return %0 : !secret.secret<i16>
  }}
}}
"
        );
        assert!(
            codes_by_line(&text).contains("5 unreadable-attribute"),
            "{text}: {}",
            codes_by_line(&text)
        );
        let document = Document::new(&text);
        let found = document.diagnostics();
        let fixes = document.fixes(&found);
        let edited = fixes.iter().flatten().flat_map(|it| &it.edits);
        assert!(edited.clone().all(|it| !it.text.contains("dimension")), "{written}");
    }
}

#[test]
fn parses_numbers_like_heir() {
    let text = |annotation: &str| {
        let body = format!(
            "%1 = arith.muli %a, %a {{mgmt.mgmt = {annotation}}} : i16
      %2 = mgmt.relinearize %1 {{mgmt.mgmt = #mgmt.mgmt<level = 0x0, scale = 0x10>}} : i16
      secret.yield %2 : i16"
        );
        codes_by_line(&generic("scheme.bgv", &body))
    };
    assert_eq!(text("#mgmt.mgmt<level = 0x0, dimension = 0x3>"), "");
    assert_eq!(text("#mgmt<mgmt<level = 0, dimension = 3>>"), "");
    assert_eq!(text("#mgmt.mgmt<level = 0, dimension = 0x4>"), "7 dimension-mismatch");
    // Another attribute has no level, and is not replaced.
    assert_eq!(text("#foo.bar<level = 1, dimension = 4>"), "7 level-mismatch");
}

#[test]
fn fixes_many_wrong_operands_of_one_op_together() {
    let n = 400;
    let m = |level: u32| format!("{{mgmt.mgmt = #mgmt.mgmt<level = {level}>}}");
    let text = |level: u32| {
        let operands = vec![format!("%x: !secret.secret<i16> {}", m(level)); n].join(", ");
        let args: Vec<String> = (0..n).map(|it| format!("%a{it}: i16")).collect();
        let op = |it: usize| format!("      %b{it} = mgmt.modreduce %a0 {} : i16\n", m(0));
        let ops: Vec<String> = (0..n + 5).map(op).collect();
        let ops = ops.concat();
        format!(
            "func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {{\n  %0 = secret.generic({operands}) {{\n    ^body({}):\n{ops}      secret.yield %b0 : i16\n  }} -> (!secret.secret<i16> {})\n  return %0 : !secret.secret<i16>\n}}\n",
            args.join(", "),
            m(0)
        )
    };
    let document = Document::new(&text(7));
    let found = document.diagnostics();
    let (edits, n_fixed) = document.fix_all(&found, false);
    assert_eq!((n_fixed, TextEdit::apply_all(&edits, &text(7))), (n, text(1)));
}

#[test]
fn ignores_comments_in_annotations() {
    let text = |level: u32, dimension: &str| {
        let m = |level: u32, rest: &str| {
            format!(
                "{{note = \"mgmt.mgmt = #mgmt.mgmt<level = 7, dimension = 9> // x\", mgmt.mgmt = #mgmt.mgmt< // level = 4, of <all>
        level = {level} // dimension = 5, level = 6
        {rest} // scale = x
        >}} // {{mgmt.mgmt = #mgmt.mgmt<level = 8>}}\n      "
            )
        };
        let (one, none) = (m(1, ""), m(0, ""));
        let body = format!(
            "%1 = arith.muli %a, %a {} : i16
      %2 = mgmt.relinearize %1 {one} : i16
      %3 = mgmt.modreduce %2 {none} : i16
      %4 = arith.addi %3, %3 {none} : i16
      secret.yield %4 : i16",
            m(level, dimension)
        );
        generic("scheme.bgv", &body)
    };
    let right = text(1, ", // of products\n dimension = 3");
    assert_eq!(Document::new(&right).diagnostics(), []);
    for (wrong, code) in [
        (text(2, ", // of products\n dimension = 3"), "level-mismatch"),
        (text(1, ", // of products\n dimension = 4"), "dimension-mismatch"),
    ] {
        let document = Document::new(&wrong);
        let found = document.diagnostics();
        assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [code], "{wrong}");
        assert_eq!(document.fixes(&found).remove(0).expect("a fix").apply(&wrong), right);
    }
    // A fix does not delete a comment together with a number.
    let body = "%1 = arith.addi %a, %a {mgmt.mgmt = #mgmt.mgmt<level = 0, // here\n dimension = 3>} : i16\n secret.yield %1 : i16";
    let document = Document::new(&generic("scheme.bgv", body));
    let found = document.diagnostics();
    assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), ["dimension-mismatch"]);
    assert_eq!(document.fixes(&found), [None]);
}

#[test]
fn underlines_the_unreadable_key() {
    let attributes = [
        ("levelToDrop", "levelToDrop = -3 : i64"),
        ("__argattrs", "__argattrs = 7 : i64"),
        ("dimension", "mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = x>"),
        ("scale", "mgmt.mgmt = #mgmt.mgmt<level = 0, scale = x>"),
    ];
    for (key, attribute) in attributes {
        let body = format!(
            "%1 = mgmt.level_reduce %a {{note = \"{key} = 1, {{{key} = 2\", other = {{{key} = 3}}, // {key} = 4\n {attribute}}} : i16\n      secret.yield %1 : i16"
        );
        let text = generic("scheme.bgv", &body);
        let found = Document::new(&text).diagnostics();
        let it = found.iter().find(|it| it.code == "unreadable-attribute").expect("it is told");
        let own = text.rfind(attribute).expect("it is there");
        let start = own + attribute.find(key).expect("it is there");
        assert_eq!(it.range, start..start + key.len(), "{text}");
    }
    // Of two annotations, only the unreadable one is reported.
    let text = generic("scheme.bgv", "secret.yield %a : i16").replace(
        "%x: !secret.secret<i16>) {\n    ^",
        "%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = 2>}, %x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 0, dimension = two>}) {\n    ^",
    );
    let text = text.replace("^body(%a: i16)", "^body(%a: i16, %b: i16)");
    let found = Document::new(&text).diagnostics();
    let it = found.iter().find(|it| it.code == "unreadable-attribute").expect("it is told");
    let start = text.find("dimension = two").expect("it is there");
    assert_eq!(it.range, start..start + "dimension".len(), "{text}");
}

#[test]
fn reports_coefficients_that_are_not_a_list() {
    let of = |coefficients: &str| {
        let text = generic(
            "scheme.ckks",
            &format!(
                "%1 = kernel.eval_chebyshev %a {{coefficients = {coefficients}}} : i16 -> i16\n      secret.yield %1 : i16"
            ),
        );
        let found = Document::new(&text).diagnostics().into_iter();
        let all: Vec<_> = found.map(|it| format!("{} {}", it.code, &text[it.range])).collect();
        (all.join(", "), super::levels(&text).rsplit('=').next().map(str::to_owned))
    };
    assert_eq!(of("[1.0, 2.0, 3.0]"), (String::new(), Some("2".into())));
    let text = generic(
        "scheme.ckks",
        "%1 = kernel.eval_chebyshev %a : i16 -> i16\n      secret.yield %1 : i16",
    );
    let found = Document::new(&text).diagnostics();
    let [it] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(it.message, "`coefficients` is missing, so later levels are unknown");
    assert_eq!(&text[it.range.clone()], "kernel.eval_chebyshev %a");
    for bad in ["5", "5 : i64", "\"[1.0, 2.0]\"", "{a = [1.0]}"] {
        let told = "unreadable-attribute coefficients".to_owned();
        assert_eq!(of(bad), (told, Some("-".into())), "{bad}");
    }
}

#[test]
fn accepts_two_polynomials_before_relinearization() {
    let text = |rest: &str, end: &str| {
        let body = format!(
            "%1 = arith.muli %a, %a {{mgmt.mgmt = #mgmt.mgmt<level = 0{rest}>}} : i16
      %2 = arith.addi %1, %1 {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : i16
      {end}"
        );
        generic("scheme.bgv", &body)
    };
    let bare = "secret.yield %2 : i16";
    assert_eq!(codes_by_line(&text("", bare)), "");
    assert_eq!(codes_by_line(&text(", dimension = 2", bare)), "");
    assert_eq!(codes_by_line(&text(", dimension = 3", bare)), "");
    assert_eq!(codes_by_line(&text(", dimension = 4", bare)), "7 dimension-mismatch");
    let end = "%3 = mgmt.relinearize %2 : i16\n      secret.yield %3 : i16";
    assert_eq!(codes_by_line(&text("", end)), "7 dimension-mismatch, 8 dimension-mismatch");
    // The relinearization is inserted and deleted again.
    let mut document = Document::new(&text("", bare));
    assert_eq!(document.diagnostics(), []);
    let at = text("", bare).find(bare).expect("it is there");
    document.edit(at..at + bare.len(), end);
    assert_eq!(document.diagnostics().len(), 2);
    document.edit(at..at + end.len(), bare);
    assert_eq!(document.diagnostics(), []);
}

#[test]
fn treats_results_of_generics_as_goals_before_management() {
    let text = |body: &str| {
        let m = "{mgmt.mgmt = #mgmt.mgmt<level = 1, scale = 51>}";
        let body = format!("{body}\n      secret.yield %2 : i16");
        let text = generic("scheme.bgv", &body);
        let text =
            text.replace("-> (!secret.secret<i16>)", &format!("-> (!secret.secret<i16> {m})"));
        text.replace(
            "%x: !secret.secret<i16>",
            "%x: !secret.secret<i16> {mgmt.mgmt = #mgmt.mgmt<level = 3>}",
        )
    };
    let fresh = "%1 = arith.muli %a, %a : i16\n      %2 = arith.muli %1, %1 : i16";
    assert_eq!(codes_by_line(&text(fresh)), "");
    let annotated =
        fresh.replace("%1 :", "%1 {mgmt.mgmt = #mgmt.mgmt<level = 3, dimension = 5>} :");
    assert_eq!(codes_by_line(&text(&annotated)), "2 level-mismatch, 10 level-mismatch");
    // A relinearization or a bootstrap does not determine which ops use levels.
    for op in ["relinearize", "bootstrap"] {
        let placed = fresh.replace("%2 = arith.muli %1, %1", "%3 = arith.muli %1, %1");
        let placed = format!("{placed}\n      %2 = mgmt.{op} %3 : i16");
        assert!(
            !codes_by_line(&text(&placed)).contains("level-mismatch"),
            "{}",
            codes_by_line(&text(&placed))
        );
    }
    let managed = "%1 = mgmt.modreduce %a : i16\n      %2 = mgmt.relinearize %1 : i16";
    assert!(
        codes_by_line(&text(managed)).contains("level-mismatch"),
        "{}",
        codes_by_line(&text(managed))
    );
}

#[test]
fn finds_goals_in_branches_of_one_function_only() {
    let goal = |to: u32| {
        let m =
            |level: u32| format!("!secret.secret<i16> {{mgmt.mgmt = #mgmt.mgmt<level = {level}>}}");
        format!(
            "secret.generic(%x: {}) {{
    ^body(%a: i16):
      %1 = arith.muli %a, %a : i16
      secret.yield %1 : i16
    }} -> ({})",
            m(5),
            m(to)
        )
    };
    let branch = format!(
        "func.func @b(%x: !secret.secret<i16>, %c: i1) -> !secret.secret<i16> {{
  %r = scf.if %c -> !secret.secret<i16> {{
    %0 = {}
    scf.yield %0 : !secret.secret<i16>
  }} else {{
    scf.yield %x : !secret.secret<i16>
  }}
  return %r : !secret.secret<i16>
}}
",
        goal(2)
    );
    assert_eq!(codes_by_line(&branch), "");
    let other = "func.func @o(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %0 = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      secret.yield %1 : i16
    } -> (!secret.secret<i16>)
  return %0 : !secret.secret<i16>
}
";
    let first = format!(
        "func.func @a(%x: !secret.secret<i16>) -> !secret.secret<i16> {{\n  %0 = {}\n  return %0 : !secret.secret<i16>\n}}\n",
        goal(5)
    );
    assert_eq!(codes_by_line(&format!("{first}{other}")), "");
}

#[test]
fn unreadable_scales_are_unknown() {
    let scale = |rest: &str| {
        let body = format!(
            "%1 = mgmt.init %q {{mgmt.mgmt = #mgmt.mgmt<level = 0{rest}>}} : i16
      %2 = arith.muli %a, %1 : i16
      secret.yield %2 : i16"
        );
        let params = "ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797019389953], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks";
        let text = generic(params, &body);
        let of = |program: &Document, _: &CiphertextFacts, _: &Ir, value: Value| {
            program.scales()?.log2(value).map(|it| it.to_string())
        };
        let all = super::facts_of_values(&text, &of);
        all.rsplit('=').next().map(str::to_owned).unwrap_or_default()
    };
    assert_eq!(scale(", scale = 50"), "95");
    assert_eq!(scale(", scale = 50 // scale = 60\n"), "95");
    // HEIR writes -1 for an unknown scale.
    assert_eq!([scale(""), scale(", scale = -1")], ["90", "90"]);
    assert_eq!(scale(", scale = x"), "-");
}
