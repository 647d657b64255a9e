//! Placements that may remove existing resets.

use super::*;

fn options() -> PlacementOptions {
    PlacementOptions { replace: true, ..PlacementOptions::default() }
}

#[test]
fn three_resets_become_one() {
    let before = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %x = noisy.reduce_noise %m : !noisy.i32 // for one
  %p = noisy.mul %x, %a : !noisy.i32
  %y = noisy.reduce_noise %m : !noisy.i32
  %q = noisy.mul %a, %y : !noisy.i32
  %z = noisy.reduce_noise %x : !noisy.i32
  %s = noisy.add %z, %q : !noisy.i32
  return %s : !noisy.i32
}
";
    let (outcome, after) = fixed_with(before, &options());
    let verdict = &outcome.functions[0].verdict;
    assert!(verdict.is_optimal(), "{verdict:?}");
    assert_eq!(after.matches("reduce_noise").count(), 1, "{after}");
    assert!(outcome.n_removed() == outcome.n_inserted() + 2, "{verdict:?}");
    // A second run changes nothing.
    assert_eq!(fixed_with(&after, &options()).0.fix, None);
    // Without `replace` nothing is changed.
    assert_eq!(fixed(before).0.fix, None);
}

#[test]
fn unneeded_ops_are_removed_with_their_line() {
    check_with(
        "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %x = noisy.reduce_noise %m : !noisy.i32
  %y = noisy.reduce_noise %x : !noisy.i32 // why
  %s = noisy.add %y, %x : !noisy.i32 %t = noisy.reduce_noise %s : !noisy.i32   %u = noisy.add %t, %s : !noisy.i32
  return %u : !noisy.i32
}
",
        "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  // why
  %s = noisy.add %m, %m : !noisy.i32 %u = noisy.add %s, %s : !noisy.i32
  return %u : !noisy.i32
}
",
        &options(),
    );
}

#[test]
fn cheapest_placements_stay() {
    let text = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %x = noisy.reduce_noise %m : !noisy.i32
  %y = noisy.mul %x, %x : !noisy.i32
  return %y : !noisy.i32
}
";
    check_with(text, text, &options());
}

#[test]
fn resets_are_moved_in_functions_over_the_budget() {
    let text = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %i = noisy.add %a, %a : !noisy.i32
  %j = noisy.reduce_noise %i : !noisy.i32
  %m = noisy.mul %j, %j : !noisy.i32
  %y = noisy.mul %m, %m : !noisy.i32
  return %y : !noisy.i32
}
";
    let (outcome, after) = fixed_with(text, &options());
    let fix = outcome.fix.unwrap();
    // 13 + 13 = 26 is within the budget.
    assert_eq!(fix.title, "Replace 1 reduce_noise with 1 (proven optimal)");
    assert!(after.contains("noisy.mul %i, %i") && after.contains("%m_r, %m_r"), "{after}");
}

#[test]
fn a_reset_in_a_branch_is_replaced() {
    // The reset in the branch is removed and replaced at the same position.
    let text = "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  %n = noisy.reduce_noise %m : !noisy.i32
  scf.if %c {
    %x = noisy.reduce_noise %n : !noisy.i32
    %y = noisy.mul %x, %n : !noisy.i32
  }
  return
}
";
    let (outcome, after) = fixed_with(text, &options());
    assert_eq!(after.matches("reduce_noise").count(), 1, "{after}");
    let fixed = match outcome.functions[0].verdict {
        PlacementVerdict::Fixed(it) => it,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(fixed.price().to_string(), "0.5");
}
