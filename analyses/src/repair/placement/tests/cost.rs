//! The cheapest placement: loops, branches, and uses in blocks that are executed less often.

use super::*;

fn price(text: &str) -> String {
    match &fixed(text).0.functions[0].verdict {
        PlacementVerdict::Fixed(it) if it.cost == it.lower_bound => it.price().to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn resets_are_placed_in_colder_blocks() {
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %p = scf.if %c -> (!noisy.i32) {
    %x = noisy.add %a, %a : !noisy.i32
    %q = noisy.mul %m, %x : !noisy.i32
    scf.yield %q : !noisy.i32
  } else {
    scf.yield %m : !noisy.i32
  }
  return %p : !noisy.i32
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %m = noisy.mul %a, %a : !noisy.i32
  %p = scf.if %c -> (!noisy.i32) {
    %x = noisy.add %a, %a : !noisy.i32
    %m_r = noisy.reduce_noise %m : !noisy.i32
    %q = noisy.mul %m_r, %x : !noisy.i32
    scf.yield %q : !noisy.i32
  } else {
    scf.yield %m : !noisy.i32
  }
  return %p : !noisy.i32
}
",
    );
    // The same with blocks.
    check(
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %q = noisy.mul %m, %m : !noisy.i32
  cf.br ^bb2
^bb2:
  return
}
",
        "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %m_r = noisy.reduce_noise %m : !noisy.i32
  %q = noisy.mul %m_r, %m_r : !noisy.i32
  cf.br ^bb2
^bb2:
  return
}
",
    );
}

#[test]
fn a_use_on_a_hot_path_moves_the_reset_before_the_branch() {
    let text = "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  scf.if %c {
    %q = noisy.mul %m, %m : !noisy.i32
  }
  %s = noisy.mul %m, %a : !noisy.i32
  return
}
";
    let (outcome, after) = fixed(text);
    assert_eq!(outcome.n_inserted(), 1);
    assert!(after.contains("  %m_r = noisy.reduce_noise %m : !noisy.i32\n  scf.if"), "{after}");
}

#[test]
fn branches_within_branches_are_colder_still() {
    let text = |inner: &str, outer: &str| {
        format!(
            "func.func @f(%a: !noisy.i32, %c: i1) {{
  %m = noisy.mul %a, %a : !noisy.i32
  scf.if %c {{
    scf.if %c {{
      {inner}
    }}
    {outer}
  }}
  return
}}
"
        )
    };
    let mul = |name: &str| format!("%{name} = noisy.mul %m, %m : !noisy.i32");
    assert_eq!(price(&text(&mul("x"), "")), "0.25");
    assert_eq!(price(&text("", &mul("x"))), "0.5");
    // One reset for both uses.
    assert_eq!(price(&text(&mul("x"), &mul("y"))), "0.5");
}

#[test]
fn trip_counts_multiply_executions_but_not_counts() {
    let text = "func.func @f(%a: !noisy.i32, %b: !noisy.i32, %n: index) {
  %x = noisy.mul %a, %a : !noisy.i32
  %y = noisy.mul %b, %b : !noisy.i32
  scf.for %i = %n to %n step %n {
    %s = noisy.add %x, %y : !noisy.i32
    %t = noisy.mul %s, %a : !noisy.i32
  }
  return
}
";
    let (outcome, after) = fixed(text);
    assert_eq!(outcome.n_inserted(), 2, "{after}");
    let options = PlacementOptions { objective: Objective::Count, ..PlacementOptions::default() };
    let (outcome, after) = fixed_with(text, &options);
    assert_eq!(outcome.n_inserted(), 1, "{after}");
    assert!(after.contains("noisy.reduce_noise %s"), "{after}");
    // With a trip count of three, two resets before the loop are still cheaper.
    let known = text.replace("%i = %n to %n step %n", "%i = %k0 to %k3 step %k1").replace(
        "{\n  %x",
        "{\n  %k0 = arith.constant 0 : index\n  %k1 = arith.constant 1 : index\n  %k3 = arith.constant 3 : index\n  %x",
    );
    assert_eq!(fixed(&known).0.n_inserted(), 2);
    assert_eq!(price(&known), "2");
    assert_eq!(price(&known.replace("constant 3", "constant 1")), "1");
}

#[test]
fn a_cycle_of_blocks_is_a_loop() {
    // Estimated executions: ten in the cycle, one before and one after it.
    let text = |before: &str, within: &str, after: &str| {
        format!(
            "func.func @f(%a: !noisy.i32, %c: i1) {{
  %m = noisy.mul %a, %a : !noisy.i32
  {before}
  cf.br ^bb1
^bb1:
  {within}
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  {after}
  return
}}
"
        )
    };
    let mul = |of: &str| format!("%x = noisy.mul %{of}, %{of} : !noisy.i32");
    assert_eq!(price(&text("", &mul("m"), "")), "1");
    assert_eq!(price(&text("", "", &mul("m"))), "1");
    let inside = format!("%p = noisy.mul %a, %a : !noisy.i32\n  {}", mul("p"));
    assert_eq!(price(&text("", &inside, "")), "10");
    assert_eq!(price(&text("", "", &inside)), "1");
    assert_eq!(price(&text(&inside, "", "")), "1");
}

#[test]
fn weights_saturate() {
    let mut text = "func.func @f(%a: !noisy.i32) {
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
"
    .to_owned();
    for _ in 0..9 {
        text += "  scf.for %i = %k0 to %many step %k1 {\n";
    }
    text += "  %m = noisy.mul %a, %a : !noisy.i32\n  %x = noisy.mul %m, %m : !noisy.i32\n";
    let text = (0..9).fold(text, |text, _| text + "  }\n") + "  return\n}\n";
    // Names cannot be shadowed, so each induction variable gets its own name.
    let mut n = 0;
    let text: String = text
        .split_inclusive("%i")
        .map(|piece| {
            n += 1;
            if piece.ends_with("%i") { format!("{piece}{n}") } else { piece.to_owned() }
        })
        .collect();
    let (outcome, after) = fixed(&text);
    assert_eq!(outcome.n_inserted(), 1, "{after}");
    assert!(after.contains("noisy.reduce_noise %m"), "{after}");
}

#[test]
fn infeasible_programs_are_refused() {
    refused(
        "func.func @f(%a: !noisy.i32 {noisy.bound = 30 : i64}) {
  %0 = noisy.add %a, %a : !noisy.i32
  return
}
",
        "no placement is possible: %a on line 1 has at least 30 bits of noise, and at most 26 are allowed",
    );
}

#[test]
fn progress_is_reported_in_executions() {
    use std::sync::Mutex;
    // The reset costs half an execution, which is one unit of cost.
    let text = "func.func @f(%a: !noisy.i32, %c: i1) {
  %m = noisy.mul %a, %a : !noisy.i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %q = noisy.mul %m, %m : !noisy.i32
  cf.br ^bb2
^bb2:
  return
}
";
    let told: Arc<Mutex<Vec<GroupProgress>>> = Arc::default();
    let heard = Arc::clone(&told);
    let watch = ProgressCallback::new(move |it| heard.lock().unwrap().push(it));
    let (outcome, _) =
        fixed_with(text, &PlacementOptions { watch: Some(watch), ..PlacementOptions::default() });
    let PlacementVerdict::Fixed(fixed) = &outcome.functions[0].verdict else {
        panic!("{outcome:?}")
    };
    assert_eq!(fixed.price().to_string(), "0.5");
    let told = told.lock().unwrap();
    let last = told.last().map(|it| (&*it.function, it.phase, it.price, it.least_price));
    assert_eq!(last, Some(("f", PlacementPhase::Done, fixed.price(), fixed.least_price())));
    assert_eq!(told[0].phase, PlacementPhase::Greedy);
}
