//! Tests on diagnostics of HEIR programs, and on programs without any.

use super::generic;
use noisy_analyses::{Document, ModelSpec, NoiseModel};

/// Returns the codes of the diagnostics, each with its line and severity.
pub(super) fn codes_by_line(text: &str) -> String {
    codes_within_budget(text, None)
}

fn codes_within_budget(text: &str, budget: Option<u32>) -> String {
    let mut model = NoiseModel::new(&ModelSpec::default()).expect("the built-in model");
    model.heir.level_budget = budget.and_then(std::num::NonZeroU32::new);
    let document = Document::with_model(text, model);
    let found = document.diagnostics().into_iter().map(|it| {
        let line = text[..it.range.start].matches('\n').count() + 1;
        format!("{line} {} {}", it.severity.name(), it.code)
    });
    found.collect::<Vec<_>>().join(", ")
}

/// Attributes of a module with two moduli for CKKS.
const CKKS: &str = "scheme.ckks, ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797018652673, 35184372121601], P = [1152921504606994433], logDefaultScale = 45>";

#[test]
fn reports_a_missing_relinearize_once() {
    let body = "%1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = arith.muli %2, %2 : i16
      %4 = mgmt.modreduce %3 : i16
      %5 = mgmt.modreduce %4 : i16
      secret.yield %5 : i16";
    assert_eq!(codes_by_line(&generic("scheme.bgv", body)), "10 hint missing-relinearize");
    // HEIR refuses a rotation, even if an earlier op was only reported as slow.
    let rotated = body.replace(
        "%5 = mgmt.modreduce %4 : i16",
        "%c = arith.constant 1 : index\n      %5 = tensor_ext.rotate %4, %c : i16, index",
    );
    assert_eq!(
        codes_by_line(&generic("scheme.bgv", &rotated)),
        "10 hint missing-relinearize, 12 error missing-relinearize"
    );
    // HEIR removes an op without a use before the lowering.
    let unused = rotated.replace("secret.yield %5", "secret.yield %4");
    assert_eq!(codes_by_line(&generic("scheme.bgv", &unused)), "10 hint missing-relinearize");
    // Before HEIR has placed any op, nothing is missing. If it has placed no relinearization, it
    // may still do so.
    let fresh = "%1 = arith.muli %a, %a : i16\n secret.yield %1 : i16";
    assert_eq!(codes_by_line(&generic("scheme.bgv", fresh)), "");
    let half =
        "%1 = arith.muli %a, %a : i16\n %2 = mgmt.modreduce %1 : i16\n secret.yield %2 : i16";
    assert_eq!(codes_by_line(&generic("scheme.bgv", half)), "8 hint missing-relinearize");
}

#[test]
fn reports_operands_at_different_levels() {
    let params = CKKS.replace("35184372121601", "35184372121601, 35184372744193, 35184373006337");
    let text = |attributes: &str, op: &str| {
        let body = format!(
            "%1 = mgmt.modreduce %a : i16
      %2 = mgmt.level_reduce %1 {{levelToDrop = 2 : i64}} : i16
      %3 = {op} : i16
      secret.yield %3 : i16"
        );
        generic(attributes, &body)
    };
    let hint = "2 hint missing-scale";
    for op in ["arith.addi %2, %2", "mgmt.relinearize %2"] {
        assert!(!codes_by_line(&text(&params, op)).contains("error"), "{op}");
    }
    for op in ["arith.addi %2, %a", "arith.addi %1, %2", "arith.subi %a, %2"] {
        assert_eq!(
            codes_by_line(&text(&params, op)),
            format!("{hint}, 9 error unequal-levels"),
            "{op}"
        );
        // HEIR chooses parameters after it has placed all of its ops.
        assert_eq!(codes_by_line(&text("scheme.ckks", op)), "", "{op}");
    }
    let text = text(&params, "arith.subi %a, %2");
    let document = Document::new(&text);
    let mut found = document.diagnostics();
    found.retain(|it| it.code == "unequal-levels");
    let message = "%2 has used 3 levels more than %a, but arith.subi takes one level";
    assert_eq!(found[0].message, message);
    let fix = document.fixes(&found).remove(0).expect("a fix");
    let lines = "      %a_r = \"mgmt.level_reduce\"(%a) <{levelToDrop = 3 : i64}> : (i16) -> i16
      %3 = arith.subi %a_r, %2";
    let fixed = fix.apply(&text);
    assert!(fixed.contains(lines), "{fixed}");
    assert_eq!(codes_by_line(&fixed), hint);
}

#[test]
fn checks_library_ops_like_scheme_ops() {
    let of = |ops: &str| {
        format!(
            "!cc = !openfhe.crypto_context
!ct = !openfhe.ciphertext
module attributes {{backend.openfhe, scheme.bgv}} {{
  func.func @f(%cc: !cc, %x: !ct) -> !ct {{
    {ops}
    return %2 : !ct
  }}
}}"
        )
    };
    let rotated = "%0 = openfhe.mul_no_relin %cc, %x, %x : (!cc, !ct, !ct) -> !ct
    %1 = openfhe.rot %cc, %0 {static_shift = 1 : index} : (!cc, !ct) -> !ct
    %2 = openfhe.relin %cc, %1 : (!cc, !ct) -> !ct";
    assert_eq!(codes_by_line(&of(rotated)), "6 warning missing-relinearize");
    let summed = "%0 = openfhe.mod_reduce %cc, %x : (!cc, !ct) -> !ct
    %2 = openfhe.add %cc, %0, %x : (!cc, !ct, !ct) -> !ct";
    assert_eq!(codes_by_line(&of(summed)), "6 warning unequal-levels");
}

#[test]
fn reports_the_first_scale_over_the_modulus() {
    let body = "%1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = mgmt.modreduce %2 : i16
      %4 = arith.muli %3, %3 : i16
      %5 = mgmt.relinearize %4 : i16
      secret.yield %5 : i16";
    let document = Document::new(&generic(CKKS, body));
    let found = document.diagnostics();
    let over: Vec<_> = found.iter().filter(|it| it.code == "scale-over-modulus").collect();
    let [it] = over.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        it.message,
        "%4: scale 2^90, but the modulus at level 0 has 55 bits: 35 are missing, so it decrypts to garbage"
    );
}

#[test]
fn generics_of_one_op_yield_products() {
    let text = "func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
  %0 = secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    %1 = arith.muli %a, %a : i16
    secret.yield %1 : i16
  } -> (!secret.secret<i16>)
  %2 = secret.generic(%0: !secret.secret<i16>) {
  ^body(%a: i16):
    %3 = mgmt.relinearize %a : i16
    secret.yield %3 : i16
  } -> (!secret.secret<i16>)
  return %2 : !secret.secret<i16>
}";
    assert_eq!(codes_by_line(text), "");
    let text = text.replace("mgmt.relinearize", "mgmt.modreduce");
    assert_eq!(codes_by_line(&text), "9 hint missing-relinearize");
}

#[test]
fn reports_a_single_wrong_level_at_its_annotation() {
    let level = |n: u32| format!("{{mgmt.mgmt = #mgmt.mgmt<level = {n}>}}");
    let text = |a: u32, b: u32, c: u32| {
        let body = format!(
            "%1 = mgmt.modreduce %a {} : i16
      %2 = mgmt.modreduce %1 {} : i16
      %3 = arith.addi %2, %2 {} : i16
      secret.yield %3 : i16",
            level(a),
            level(b),
            level(c)
        );
        generic("scheme.bgv", &body)
    };
    assert_eq!(codes_by_line(&text(1, 0, 0)), "");
    // Parameters with more moduli than necessary are allowed.
    assert_eq!(codes_by_line(&text(6, 5, 5)), "");
    assert_eq!(codes_by_line(&text(2, 0, 0)), "7 warning level-mismatch");
    assert_eq!(codes_by_line(&text(1, 1, 0)), "8 warning level-mismatch");
    assert_eq!(codes_by_line(&text(1, 0, 1)), "9 warning level-mismatch");
    let document = Document::new(&text(1, 7, 0));
    let found = document.diagnostics();
    let fix = document.fixes(&found).remove(0).expect("a fix");
    assert_eq!(fix.apply(&text(1, 7, 0)), text(1, 0, 0));
}

#[test]
fn reports_wrong_levels_in_all_places() {
    let m = |level: u32| format!("{{mgmt.mgmt = #mgmt.mgmt<level = {level}>}}");
    let (one, none) = (m(1), m(0));
    let custom = format!(
        "module attributes {{scheme.bgv}} {{
  func.func @f(%x: !secret.secret<i16> {one}, %b: i1) -> (!secret.secret<i16> {none}) {{
    %0:2 = secret.generic(%x: !secret.secret<i16> {one}) {{
    ^body(%a: i16):
      %1 = affine.for %i = 0 to 4 iter_args(%c = %a) -> (i16) {{
        %2 = arith.addi %c, %c {one} : i16
        affine.yield %2 : i16
      }} {{__argattrs = [{one}], __resattrs = [{one}]}}
      %3 = scf.if %b -> (i16) {{
        scf.yield %1 : i16
      }} else {{
        scf.yield %a : i16
      }} {one}
      %4 = mgmt.modreduce %3 {none} : i16
      secret.yield %1, %4 : i16, i16
    }} -> (!secret.secret<i16> {one}, !secret.secret<i16> {none})
    %5 = func.call @g(%0#1) {{__resattrs = [{none}]}} : (!secret.secret<i16>) -> !secret.secret<i16>
    return %5 : !secret.secret<i16>
  }}
  func.func private @g(%y: !secret.secret<i16> {none}) -> (!secret.secret<i16> {none}) {{
    return %y : !secret.secret<i16>
  }}
}}"
    );
    let generic = format!(
        "\"builtin.module\"() ({{
  \"func.func\"() <{{arg_attrs = [{one}], function_type = (!secret.secret<i16>) -> !secret.secret<i16>, res_attrs = [{none}], sym_name = \"f\"}}> ({{
  ^bb0(%x: !secret.secret<i16>):
    %0 = \"secret.generic\"(%x) ({{
    ^bb0(%a: i16):
      %1 = \"mgmt.modreduce\"(%a) {none} : (i16) -> i16
      \"secret.yield\"(%1) : (i16) -> ()
    }}) {{__argattrs = [{one}], __resattrs = [{none}]}} : (!secret.secret<i16>) -> !secret.secret<i16>
    \"func.return\"(%0) : (!secret.secret<i16>) -> ()
  }}) : () -> ()
}}) {{scheme.bgv}} : () -> ()"
    );
    for (text, n) in [(custom, 13), (generic, 5)] {
        assert_eq!(codes_by_line(&text), "");
        let places: Vec<usize> = text.match_indices("level = ").map(|it| it.0 + 8).collect();
        assert_eq!(places.len(), n);
        for at in places {
            let is_one = &text[at..=at] == "1";
            let mutant = format!("{}{}{}", &text[..at], u32::from(!is_one), &text[at + 1..]);
            let document = Document::new(&mutant);
            let found = document.diagnostics();
            let [it] = found.as_slice() else { panic!("{found:?} of {mutant}") };
            assert_eq!(it.code, "level-mismatch");
            assert_eq!(line(&mutant, it.range.start), line(&mutant, at), "{mutant}");
            let fix = document.fixes(&found).remove(0).expect("a fix");
            assert_eq!(fix.apply(&mutant), text);
        }
    }
}

#[test]
fn reports_unreadable_levels() {
    let of = |annotation: &str| {
        codes_by_line(&generic(
            "scheme.bgv",
            &format!("%1 = mgmt.modreduce %a {{{annotation}}} : i16\n      secret.yield %1 : i16"),
        ))
    };
    for good in
        ["mgmt.mgmt = #mgmt.mgmt<level = 1>", "mgmt.mgmt = #mgmt.mgmt<dimension = 2, level = 1>"]
    {
        assert_eq!(of(good), "");
    }
    for bad in [
        "level = -1",
        "level = 99999999999",
        "level = 4294967295",
        "level = 1, level = 2",
        "dimension = 2",
        "",
    ] {
        let told = of(&format!("mgmt.mgmt = #mgmt.mgmt<{bad}>"));
        assert_eq!(told, "7 warning level-mismatch", "{bad}");
    }
    assert_eq!(of("mgmt.mgmt"), "7 warning level-mismatch");
    assert_eq!(of("mgmt.mgmt = 3 : i64"), "7 warning level-mismatch");
    let listed = generic("scheme.bgv", "secret.yield %a : i16")
        .replace("%x: !secret.secret<i16>) {", "%x: !secret.secret<i16> {mgmt.mgmt = 1 : i64}) {");
    assert_eq!(codes_by_line(&listed), "5 warning level-mismatch");
}

/// Returns the number of the line that contains a byte.
pub(super) fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count()
}

#[test]
fn reports_levels_over_the_budget_or_the_moduli() {
    let body = "%1 = mgmt.modreduce %a : i16
      %2 = mgmt.modreduce %1 : i16
      %3 = mgmt.modreduce %2 : i16
      secret.yield %3 : i16";
    let text = generic("scheme.ckks", body);
    assert_eq!(codes_by_line(&text), "");
    assert_eq!(codes_within_budget(&text, Some(3)), "");
    assert_eq!(codes_within_budget(&text, Some(1)), "8 error level-underflow");
    // A bootstrap uses levels itself, which the budget does not include.
    let own = "backend.config_override = {bootstrapLevelsConsumed = 2 : i32}, backend.lattigo, scheme.ckks";
    assert_eq!(codes_within_budget(&generic(own, body), Some(1)), "");
    let told = codes_by_line(&generic(CKKS, body));
    // HEIR refuses two consecutive modulus switches between which it would have to adjust the
    // scale.
    assert_eq!(told, "2 hint missing-scale, 8 error too-few-moduli, 8 error unequal-scales");
}

#[test]
fn values_of_unknown_secretness_have_no_level() {
    // HEIR 2026.9.1 annotates no level on this sum.
    let text = "func.func @f(%x: !secret.secret<tensor<4xf32>>) -> !secret.secret<tensor<4xf32>> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %p = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = secret.generic(%x: !secret.secret<tensor<4xf32>>) {
  ^body(%a: tensor<4xf32>):
    %1 = mgmt.modreduce %a : tensor<4xf32>
    %2 = arith.addf %1, %p : tensor<4xf32>
    %3 = arith.addf %2, %1 : tensor<4xf32>
    secret.yield %3 : tensor<4xf32>
  } -> (!secret.secret<tensor<4xf32>>)
  return %0 : !secret.secret<tensor<4xf32>>
}";
    let levels = super::levels(text);
    assert!(levels.ends_with("%a=0 %1=1 %2=- %3=1"), "{levels}");
}

#[test]
fn checks_written_scales() {
    let scale = |n: u32| format!("{{mgmt.mgmt = #mgmt.mgmt<level = 1, scale = {n}>}}");
    let text = |body: &str| {
        format!(
            "module attributes {{{CKKS}}} {{
  func.func @f(%x: !secret.secret<f32> {0}) -> !secret.secret<f32> {{
    %0 = secret.generic(%x: !secret.secret<f32> {0}) {{
    ^body(%a: f32):
      {body}
      secret.yield %r : f32
    }} -> (!secret.secret<f32> {0})
    return %0 : !secret.secret<f32>
  }}
}}",
            scale(45)
        )
    };
    // All of these ops have level 1, which another check reports.
    let one = |op: &str, n: u32| {
        let told = codes_by_line(&text(&format!("%r = {op} {} : f32", scale(n))));
        let about_scales = told.split(", ").filter(|it| it.ends_with("scale-mismatch"));
        about_scales.collect::<Vec<_>>().join(", ")
    };
    // HEIR 2026.9.1 gives the same results.
    assert_eq!(one("arith.addf %a, %a", 45), "");
    assert_eq!(one("arith.addf %a, %a", 46), "5 error scale-mismatch");
    assert_eq!(one("arith.mulf %a, %a", 90), "");
    assert_eq!(one("arith.mulf %a, %a", 80), "5 error scale-mismatch");
    assert_eq!(one("mgmt.modreduce %a", 0), "");
    assert_eq!(one("mgmt.modreduce %a", 1), "5 error scale-mismatch");
    assert_eq!(one("mgmt.adjust_scale %a", 47), "");
    assert_eq!(one("mgmt.adjust_scale %a", 44), "5 error scale-mismatch");
    assert_eq!(one("mgmt.bootstrap %a", 45), "");
    assert_eq!(one("mgmt.bootstrap %a", 46), "5 error scale-mismatch");
    assert_eq!(one("arith.negf %a", 50), "");
    let bare = text("%r = arith.addf %a, %a : f32")
        .replace(&format!("<f32> {}) {{\n", scale(45)), "<f32>) {\n");
    assert_eq!(codes_by_line(&bare), "");
    let no_result = text("%r = arith.addf %a, %a : f32")
        .replace(&format!("-> (!secret.secret<f32> {})", scale(45)), "-> (!secret.secret<f32>)");
    assert_eq!(codes_by_line(&no_result), "3 warning missing-scale");
}

#[test]
fn reports_the_first_noise_over_the_modulus() {
    let params = |q: &str| {
        format!(
            "scheme.bgv, bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [{q}], P = [2147573761], plaintextModulus = 65537>"
        )
    };
    let body = "%1 = arith.muli %a, %a : tensor<8xi16>
      %2 = mgmt.relinearize %1 : tensor<8xi16>
      secret.yield %2 : tensor<8xi16>";
    let of = |q: &str| {
        let text = generic(&params(q), body);
        text.replace("secret<i16>", "secret<tensor<8xi16>>").replace("%a: i16", "%a: tensor<8xi16>")
    };
    let one = of("2147565569");
    assert_eq!(codes_by_line(&one), "7 warning noise-validation");
    assert_eq!(codes_by_line(&of("2147565569, 1152921504606994433")), "");
    // A chosen model turns warnings into errors; a model of another scheme reports nothing.
    let under = |model| {
        let mut noise = NoiseModel::tutorial();
        noise.heir.noise_model = Some(model);
        let found = Document::with_model(&one, noise).diagnostics();
        found.into_iter().map(|it| it.severity.name()).collect::<Vec<_>>()
    };
    assert_eq!(under(noisy_heir::NoiseModelName::BgvMono), ["error"]);
    assert!(under(noisy_heir::NoiseModelName::BfvCanonEmb).is_empty());
}

#[test]
fn reports_unusable_parameters() {
    let body = "%1 = mgmt.modreduce %a : i16\n secret.yield %1 : i16";
    let told = |attributes: &str| {
        let text = generic(attributes, body);
        let found = Document::new(&text).diagnostics();
        let mut found = found.into_iter().filter(|it| it.code == "invalid-scheme");
        let first = found.next().map(|it| format!("{}: {}", &text[it.range], it.message));
        assert_eq!(found.count(), 0, "{attributes}");
        first.unwrap_or_default()
    };
    let bgv =
        |params: &str| told(&format!("scheme.bgv, bgv.schemeParam = #bgv.scheme_param<{params}>"));
    let at = "bgv.schemeParam: the scheme parameter";
    assert_eq!(
        bgv("Q = [97], plaintextModulus = 17"),
        format!("{at}s have no `logN`, so noise is unknown")
    );
    assert_eq!(bgv("logN = 12, Q = []"), format!("{at}s have no `Q`, so noise is unknown"));
    assert_eq!(
        bgv("logN = 12, Q = [x]"),
        format!("{at} `Q` cannot be read: `[x]`, so noise is unknown")
    );
    assert_eq!(
        bgv("logN = 12, Q = [97]"),
        format!("{at}s have no `plaintextModulus`, so noise is unknown")
    );
    assert_eq!(bgv("logN = 12, Q = [97], P = [97], plaintextModulus = 17"), "");
    assert_eq!(
        told("scheme.bgv, bgv.schemeParam = 5"),
        format!("{at}s have no `logN`, so noise is unknown")
    );
    assert_eq!(
        told(
            "scheme.ckks, bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [97], plaintextModulus = 17>"
        ),
        "bgv.schemeParam: `scheme.ckks` needs `ckks.schemeParam`, so scales are unknown"
    );
    assert_eq!(
        told("scheme.ckks, scheme.bgv"),
        "scheme.ckks: the module has both `scheme.bgv` and `scheme.ckks`; the first is used"
    );
    assert_eq!(
        told("backend.openfhe, backend.lattigo, scheme.ckks"),
        "backend.openfhe: the module has both `backend.lattigo` and `backend.openfhe`; the first is used"
    );
    assert_eq!(
        told(
            "backend.lattigo, backend.config_override = {bootstrapLevelsConsumed = -3 : i32}, scheme.ckks"
        ),
        "bootstrapLevelsConsumed: `bootstrapLevelsConsumed` is not a number of levels, so bootstraps are assumed to use no level"
    );
    let none = "so bootstraps are assumed to use no level";
    assert_eq!(
        told("backend.unheard, scheme.ckks"),
        format!("backend.unheard: HEIR has no library `backend.unheard`, {none}")
    );
    // The first library by name is used, if it exists.
    assert_eq!(
        told("backend.lattigo, backend.unheard, scheme.ckks"),
        "backend.unheard: the module has both `backend.lattigo` and `backend.unheard`; the first is used"
    );
    assert_eq!(
        told("backend.lattigo = \"yes\", scheme.ckks"),
        "backend.lattigo: `backend.lattigo` must not have a value; it is ignored"
    );
    assert_eq!(
        told("scheme.bgv = 1 : i64, scheme.ckks"),
        "scheme.bgv: `scheme.bgv` must not have a value; it is ignored"
    );
    let keys = |keys: &str| {
        told(&format!("backend.lattigo, backend.config_override = {{{keys}}}, scheme.ckks"))
    };
    assert_eq!(
        keys(
            "has_kernel_chebyshev = false, has_kernel_linear_transform = 1 : i64, bootstrapLevelsConsumed = 0 : i64"
        ),
        ""
    );
    assert_eq!(keys("levels = 3 : i64"), format!("levels: unknown key `levels`, {none}"));
    assert_eq!(
        keys("has_kernel_chebyshev = \"no\""),
        format!("has_kernel_chebyshev: `has_kernel_chebyshev` is not a number, {none}")
    );
    assert_eq!(
        told("backend.config_override = {bootstrapLevelsConsumed = 3 : i32}, scheme.ckks"),
        format!("backend.config_override: the module names no library, {none}")
    );
    // If there are two kinds of parameters, those of the scheme are used.
    let both = format!("bgv.schemeParam = 5, {CKKS}");
    assert_eq!(told(&both), "");
}

#[test]
fn a_relinearization_of_two_polynomials_is_needless() {
    let body = "%1 = arith.muli %a, %p : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = arith.muli %2, %2 : i16
      %4 = mgmt.relinearize %3 : i16
      secret.yield %4 : i16";
    let text = generic("scheme.bgv", body);
    assert_eq!(codes_by_line(&text), "8 hint needless-relinearize");
    // The fix deletes the relinearization with its line, and replaces its uses by its operand.
    let document = Document::new(&text);
    let (edits, n) = document.fix_all(&document.diagnostics(), false);
    let fixed = noisy_analyses::TextEdit::apply_all(&edits, &text);
    let expected = text.replace("      %2 = mgmt.relinearize %1 : i16\n", "");
    assert_eq!((fixed, n), (expected.replace("%2, %2", "%1, %1"), 1));
}

#[test]
fn reports_conflicting_annotations() {
    let body = "%1 = mgmt.modreduce %a {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      %2 = arith.addi %1, %1 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      %3 = arith.addi %2, %2 {mgmt.mgmt = #mgmt.mgmt<level = 2>} : i16
      %4 = arith.addi %3, %3 {mgmt.mgmt = #mgmt.mgmt<level = 0>} : i16
      secret.yield %4 : i16";
    assert_eq!(codes_by_line(&generic("scheme.bgv", body)), "9 warning level-mismatch");
    // An unreadable annotation is reported, and does not affect others.
    let unread = body.replace("#mgmt.mgmt<level = 2>", "#mgmt.mgmt<level = many>");
    assert_eq!(codes_by_line(&generic("scheme.bgv", &unread)), "9 warning level-mismatch");
}

#[test]
fn follows_values_into_nested_generics() {
    let text = "func.func @f(%x: !secret.secret<i16>, %p: i16) -> !secret.secret<i16> {
  %0 = secret.generic(%x: !secret.secret<i16>) {
  ^body(%a: i16):
    %1 = arith.muli %a, %a : i16
    %2 = mgmt.relinearize %1 : i16
    %3 = mgmt.modreduce %2 : i16
    %4 = secret.generic(%3: i16) {
    ^body(%b: i16):
      %5 = arith.muli %b, %3 : i16
      %6 = mgmt.modreduce %5 : i16
      secret.yield %6 : i16
    } -> (i16)
    secret.yield %4 : i16
  } -> (!secret.secret<i16>)
  return %0 : !secret.secret<i16>
}";
    assert_eq!(super::levels(text), "%x=0 %p=- %0=2 %a=0 %1=0 %2=0 %3=1 %4=2 %b=1 %5=1 %6=2");
    // HEIR refuses a generic whose results are not all secrets, so nested generics are illegal.
    assert_eq!(codes_by_line(text), "10 hint missing-relinearize, 12 error result-type");
}

#[test]
fn a_program_of_plaintexts_has_no_levels() {
    let text = "module attributes {scheme.ckks} {
  func.func @f(%p: tensor<8xf32>, %s: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
    %0 = mgmt.init %p : tensor<8xf32>
    %1 = arith.mulf %0, %0 : tensor<8xf32>
    %2 = mgmt.modreduce %1 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}";
    assert_eq!(super::levels(text), "%p=- %s=0 %0=- %1=- %2=-");
    assert_eq!(codes_by_line(text), "");
}

#[test]
fn encodes_plaintexts_for_the_level_of_their_uses() {
    let text = |level: u32| {
        let body = format!(
            "%k = mgmt.init %q {{mgmt.mgmt = #mgmt.mgmt<level = {level}>}} : i16
      %1 = mgmt.modreduce %a {{mgmt.mgmt = #mgmt.mgmt<level = 1>}} : i16
      %2 = arith.addi %1, %k {{mgmt.mgmt = #mgmt.mgmt<level = 1>}} : i16
      secret.yield %2 : i16"
        );
        generic("scheme.bgv", &body)
    };
    assert_eq!(codes_by_line(&text(1)), "");
    assert_eq!(codes_by_line(&text(0)), "7 warning level-mismatch");
    assert_eq!(codes_by_line(&text(2)), "7 warning level-mismatch");
}

#[test]
fn calls_pass_on_values_without_a_level() {
    let of = |fill: &str| {
        format!(
            "module attributes {{scheme.ckks}} {{
  func.func private @g(%y: tensor<8xf32> {{mgmt.mgmt = #mgmt.mgmt<level = 0>}}) -> tensor<8xf32> {{
    %1 = mgmt.modreduce %y {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : tensor<8xf32>
    return %1 : tensor<8xf32>
  }}
  func.func @f(%x: tensor<8xf32> {{secret.secret, mgmt.mgmt = #mgmt.mgmt<level = 0>}}, %c: f32) -> tensor<8xf32> {{
    %e = tensor.empty() : tensor<8xf32>
    %p = {fill}
    %0 = arith.addf %x, %p {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : tensor<8xf32>
    %2 = func.call @g(%0) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = arith.negf %2 {{mgmt.mgmt = #mgmt.mgmt<level = 0>}} : tensor<8xf32>
    return %3 : tensor<8xf32>
  }}
}}"
        )
    };
    let broadcast = "linalg.fill ins(%c : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>";
    assert!(!codes_by_line(&of(broadcast)).contains("11 "), "{}", codes_by_line(&of(broadcast)));
    let known = "arith.constant dense<1.0> : tensor<8xf32>";
    assert!(codes_by_line(&of(known)).contains(" level-mismatch"), "{}", codes_by_line(&of(known)));
}

#[test]
fn reports_mistakes_in_entries_with_corrections() {
    for (annotation, wanted) in [
        ("level = 1, dimension: 3", "expected `=` after `dimension` of `mgmt.mgmt`, found `:`"),
        ("level = 1, dimensoin = 3", "unknown key `dimensoin` of `mgmt.mgmt`"),
        ("levle = 1", "unknown key `levle` of `mgmt.mgmt`"),
    ] {
        let text = format!(
            "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = mgmt.modreduce %x {{mgmt.mgmt = #mgmt.mgmt<{annotation}>}} : tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"
        );
        let found = Document::new(&text).diagnostics();
        let found: Vec<&str> = found
            .iter()
            .filter(|it| it.code == "unreadable-attribute")
            .map(|it| it.message.as_str())
            .collect();
        assert!(found.len() == 1 && found[0].starts_with(wanted), "{annotation}: {found:?}");
    }
}
