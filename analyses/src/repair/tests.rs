//! The order of repairs, their edits and titles.

use super::*;
use crate::NoiseModel;

/// The numbers of a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn line_edits_turn_one_text_into_the_other() {
    let mut numbers = Numbers(7);
    for _ in 0..500 {
        let mut text = |n: usize| -> String {
            (0..numbers.below(n))
                .map(|_| ["a\n", "b\n", "\n", "c", "λ\r\n"][numbers.below(5)])
                .collect()
        };
        let (before, after) = (text(12), text(12));
        let edits = line_edits(&before, &after);
        assert_eq!(TextEdit::apply_all(&edits, &before), after, "{before:?}");
        assert_eq!(edits.is_empty(), before == after);
    }
}

const MANAGED: &str = "module attributes {backend.config_override = {bootstrapLevelsConsumed = 1 : i32}, backend.lattigo, scheme.ckks} {
  func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
    %0 = secret.generic(%x: !secret.secret<f32>) {
    ^body(%a: f32):
      %1 = arith.mulf %a, %a : f32
      %3 = mgmt.modreduce %1 : f32
      %4 = arith.mulf %3, %3 : f32
      %5 = mgmt.modreduce %4 : f32
      %6 = mgmt.modreduce %5 : f32
      secret.yield %6 : f32
    } -> !secret.secret<f32>
    return %0 : !secret.secret<f32>
  }
}
";

/// Repairs a text. Returns the repairs and the text after them, and asserts that the edits give
/// this text.
fn repaired(
    text: &str,
    scope: RepairScope<'_>,
    level_budget: Option<u32>,
) -> (RepairResult, String) {
    let mut model = NoiseModel::tutorial();
    model.heir.level_budget = level_budget.and_then(std::num::NonZeroU32::new);
    let mut document = Document::with_model(text, model);
    let options = PlacementOptions::default();
    let wanted =
        RepairOptions { rules: &DefaultRules, unsafe_fixes: false, placement: Some(&options) };
    let repaired = repair(&mut document, scope, &wanted).expect("no defect");
    let after = document.source().text().to_string();
    assert_eq!(TextEdit::apply_all(&repaired.edits(text, &document), text), after);
    assert_eq!(repaired.is_changed(), after != text);
    let anew = Document::with_model(&after, document.model().clone());
    assert_eq!(document.diagnostics(), anew.diagnostics());
    (repaired, after)
}

#[test]
fn bootstraps_come_before_relinearizations() {
    for scope in [RepairScope::File, RepairScope::Function(0)] {
        let (done, text) = repaired(MANAGED, scope, None);
        assert_eq!(done.title(), "Insert 2 relinearize (proven optimal)");
        assert_eq!(text.matches("mgmt.relinearize").count(), 2, "{text}");
        let (done, text) = repaired(MANAGED, scope, Some(1));
        let title = "Insert 1 bootstrap (proven optimal), 2 relinearize (proven optimal)";
        assert_eq!(done.title(), title);
        assert_eq!(text.matches("mgmt.bootstrap").count(), 1, "{text}");
        assert_eq!(text.matches("mgmt.relinearize").count(), 2, "{text}");
    }
    let (done, text) = repaired(MANAGED, RepairScope::Code("level-underflow"), Some(1));
    assert!(!done.is_changed() && done.placed.is_empty(), "{text}");
}

/// Returns two functions over the budget, each with an unused suppression.
fn two_functions() -> String {
    let function = |name: &str| {
        format!(
            "func.func @{name}(%x: !noisy.i32) -> !noisy.i32 {{
  %0 = noisy.mul %x, %x : !noisy.i32  // noisy: allow(unused-op)
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  return %2 : !noisy.i32
}}
"
        )
    };
    function("f") + &function("g")
}

#[test]
fn scopes_repair_their_diagnostics_only() {
    let text = two_functions();
    let whole = |it: &str| (it.matches("reduce_noise").count(), it.matches("allow").count());
    let (n_reduces, n_allowed) = whole(&text);
    assert_eq!((n_reduces, n_allowed), (0, 2));
    let (done, after) = repaired(&text, RepairScope::File, None);
    assert_eq!(done.n_fixed, 2);
    assert!(done.title().starts_with("Fix 2 problems; Insert "), "{}", done.title());
    let (n_reduces, n_allowed) = whole(&after);
    assert!(n_reduces > 0 && n_allowed == 0, "{after}");
    let (done, second) = repaired(&text, RepairScope::Function(1), None);
    assert_eq!((done.n_fixed, whole(&second)), (1, (n_reduces / 2, 1)), "{second}");
    let half = text.len() / 2;
    assert_eq!(second[..half], text[..half]);
    let (done, allowed) = repaired(&text, RepairScope::Code("unused-suppression"), None);
    assert_eq!((done.title().as_str(), whole(&allowed)), ("Fix 2 problems", (0, 0)), "{allowed}");
    assert_eq!(repaired(&after, RepairScope::File, None).1, after);
}

#[test]
fn a_code_is_repaired_until_nothing_is_left() {
    let text = "func.func @f(%x: i5) {
  %0 = arith.addi %x, %x : i5
  %1 = arith.addi %0, %0 : i5
  return
}
";
    // Hints are repaired only if the scope is their code.
    assert_eq!(repaired(text, RepairScope::File, None).1, text);
    let (done, after) = repaired(text, RepairScope::Code("unused-op"), None);
    assert_eq!(after, "func.func @f(%x: i5) {\n  return\n}\n");
    assert!(done.n_fixed >= 1);
}

#[test]
fn a_broken_function_is_left_as_it_is() {
    let text = two_functions().replacen("return %2", "return %gone", 1);
    let (done, after) = repaired(&text, RepairScope::File, None);
    let end = text.find("func.func @g").expect("it has two functions");
    assert_eq!(after[..end], text[..end]);
    assert!(after[end..].contains("reduce_noise") && !after[end..].contains("allow"), "{after}");
    assert!(done.refusal().is_some_and(|it| it.contains("gone")), "{:?}", done.refusal());
}
