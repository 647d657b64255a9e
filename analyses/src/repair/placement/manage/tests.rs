//! Placements in HEIR programs, compared with an exhaustive search.

use super::*;
use crate::{Document, ModelSpec, NoiseModel};

/// An op of a random program; the numbers are indices of values.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add(usize, usize),
    Mul(usize, usize),
    /// A product with a plaintext.
    Scale(usize),
    Rotate(usize),
}

/// The numbers of a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Returns random ops on two arguments and earlier results; the last result is yielded.
fn steps(numbers: &mut Numbers, n: usize) -> Vec<Step> {
    let step = |at: usize| {
        let (a, b) = (numbers.below(at + 2), numbers.below(at + 2));
        match numbers.below(7) {
            0..3 => Step::Mul(a, b),
            3..5 => Step::Add(a, b),
            5 => Step::Scale(a),
            _ => Step::Rotate(a),
        }
    };
    (0..n).map(step).collect()
}

fn text(steps: &[Step]) -> String {
    let ty = "tensor<8xf32>";
    let lines = steps.iter().enumerate().map(|(at, step)| {
        let op = match step {
            Step::Add(a, b) => format!("arith.addf %v{a}, %v{b} : {ty}"),
            Step::Mul(a, b) => format!("arith.mulf %v{a}, %v{b} : {ty}"),
            Step::Scale(a) => format!("arith.mulf %v{a}, %p : {ty}"),
            Step::Rotate(a) => format!("tensor_ext.rotate %v{a}, %c : {ty}, index"),
        };
        format!("      %v{} = {op}\n", at + 2)
    });
    generic(&lines.collect::<String>(), &format!("%v{}", steps.len() + 1))
}

fn generic(lines: &str, yielded: &str) -> String {
    let (ty, secret) = ("tensor<8xf32>", "!secret.secret<tensor<8xf32>>");
    format!(
        "module attributes {{scheme.ckks}} {{
  func.func @f(%x: {secret}, %y: {secret}) -> {secret} {{
    %c = arith.constant 1 : index
    %p = arith.constant dense<2.0> : {ty}
    %0 = secret.generic(%x: {secret}, %y: {secret}) {{
    ^body(%v0: {ty}, %v1: {ty}):
{lines}      secret.yield {yielded} : {ty}
    }} -> ({secret})
    return %0 : {secret}
  }}
}}
"
    )
}

fn document(text: &str, budget: u32) -> Document {
    let mut model = NoiseModel::new(&ModelSpec::default()).expect("the built-in model");
    model.heir.level_budget = std::num::NonZeroU32::new(budget);
    Document::with_model(text, model)
}

/// Returns the number of inserted ops, true if it is proven optimal, and the text after the
/// insertion.
fn placed(text: &str, budget: Option<u32>) -> (usize, bool, String) {
    let document = document(text, budget.unwrap_or(1));
    let insert = if budget.is_some() { insert_bootstraps } else { insert_relinearizations };
    let outcome = insert(&document, &document.ir().functions(), &PlacementOptions::default())
        .expect("it stands up");
    let is_optimal = outcome.functions.iter().all(|it| it.verdict.is_optimal());
    let after = outcome.fix.as_ref().map_or_else(|| text.to_owned(), |it| it.apply(text));
    (outcome.n_inserted(), is_optimal, after)
}

/// Returns true if a program is legal with relinearizations after the results in the bit set
/// `chosen`.
fn is_relinearized(steps: &[Step], chosen: usize) -> bool {
    let mut degree = vec![1, 1];
    for (at, step) in steps.iter().enumerate() {
        let after = match *step {
            Step::Add(a, b) => degree[a].max(degree[b]),
            Step::Mul(a, b) => degree[a] + degree[b],
            Step::Scale(a) | Step::Rotate(a) if degree[a] > 1 => return false,
            Step::Scale(_) | Step::Rotate(_) => 1,
        };
        if after > 2 {
            return false;
        }
        degree.push(if chosen >> at & 1 == 1 { 1 } else { after });
    }
    degree.last() == Some(&1)
}

/// Returns true if a program is legal with bootstraps after the results in the bit set `chosen`.
fn is_bootstrapped(steps: &[Step], budget: usize, chosen: usize) -> bool {
    let mut level = vec![0, 0];
    for (at, step) in steps.iter().enumerate() {
        let after = match *step {
            Step::Add(a, b) => level[a].max(level[b]),
            Step::Mul(a, b) => level[a].max(level[b]) + 1,
            Step::Scale(a) => level[a] + 1,
            Step::Rotate(a) => level[a],
        };
        if after > budget {
            return false;
        }
        level.push(if chosen >> at & 1 == 1 { 0 } else { after });
    }
    true
}

fn least(n: usize, is_legal: &dyn Fn(usize) -> bool) -> usize {
    let legal = (0..1_usize << n).filter(|&it| is_legal(it)).map(|it| it.count_ones() as usize);
    legal.min().expect("an op behind every value is legal")
}

#[test]
fn placements_are_minimal() {
    let mut numbers = Numbers(7);
    for n in [1, 2, 4, 6, 8, 9, 10] {
        for _ in 0..6 {
            let steps = steps(&mut numbers, n);
            let text = text(&steps);
            let (found, is_optimal, after) = placed(&text, None);
            assert_eq!(found, least(n, &|it| is_relinearized(&steps, it)), "{after}");
            assert!(is_optimal, "{text}");
            // A second placement inserts nothing.
            assert_eq!(placed(&after, None), (0, true, after.clone()));
            for budget in [1, 2] {
                let (found, is_optimal, after) = placed(&text, Some(budget));
                let wanted = least(n, &|it| is_bootstrapped(&steps, budget as usize, it));
                assert_eq!(found, wanted, "budget {budget}\n{after}");
                assert!(is_optimal, "{text}");
                assert_eq!(placed(&after, Some(budget)).0, 0);
            }
        }
    }
}

#[test]
fn a_bootstrap_keeps_the_scale_where_modulus_switches_are_placed() {
    let mut numbers = Numbers(11);
    for n in [2, 4, 6, 8, 9] {
        for _ in 0..6 {
            let steps = steps(&mut numbers, n);
            // Each product is followed by its modulus switch.
            let switched = |line: &str| match line.split_once(" = arith.mulf ") {
                Some((name, rest)) => {
                    format!(
                        "{name}m = arith.mulf {rest}\n{name} = mgmt.modreduce {}m : tensor<8xf32>\n",
                        name.trim()
                    )
                }
                None => format!("{line}\n"),
            };
            let text: String = text(&steps).lines().map(switched).collect();
            for budget in [1, 2] {
                let (found, is_optimal, after) = placed(&text, Some(budget));
                let wanted = least(n, &|it| is_bootstrapped(&steps, budget as usize, it));
                assert_eq!(found, wanted, "budget {budget}\n{after}");
                assert!(is_optimal, "{text}");
                let operands = after
                    .lines()
                    .filter_map(|it| it.split_once("mgmt.bootstrap ")?.1.split_once(' '));
                for (operand, _) in operands {
                    assert!(!operand.ends_with('m'), "{after}");
                }
            }
        }
    }
}

#[test]
fn a_waterline_keeps_levels() {
    let squarings: Vec<Step> = (0..9)
        .map(|at| if at == 0 { Step::Mul(0, 0) } else { Step::Mul(at + 1, at + 1) })
        .collect();
    let of = |budget: u32, waterline: u32| {
        let mut document = document(&text(&squarings), budget);
        let mut model = NoiseModel::clone(document.model());
        model.heir.bootstrap_waterline = waterline;
        document = Document::with_model(&text(&squarings), model);
        let functions = document.ir().functions();
        insert_bootstraps(&document, &functions, &PlacementOptions::default()).expect("an answer")
    };
    // HEIR 2026.9.1 inserts the same numbers with these options.
    for (budget, waterline, wanted) in [(3, 0, 2), (3, 1, 4), (3, 2, 8), (5, 2, 2)] {
        assert_eq!(of(budget, waterline).n_inserted(), wanted, "{budget} {waterline}");
    }
    for waterline in [2, 7] {
        let outcome = of(2, waterline);
        let [FunctionOutcome { verdict: PlacementVerdict::Refused(why), .. }] =
            &outcome.functions[..]
        else {
            panic!("{outcome:?}")
        };
        let wanted = format!(
            "no placement is possible: `heir.bootstrap-waterline` keeps {waterline} of the 2 levels of `heir.level-budget`, so no level is left for products; set a waterline below the budget"
        );
        assert_eq!(*why, wanted);
    }
}

#[test]
fn nothing_else_changes() {
    let text = text(&[Step::Mul(0, 1), Step::Rotate(2), Step::Add(2, 3)]);
    let (n, _, after) = placed(&text, None);
    let wanted = text
        .replace(
            "%v2 = arith.mulf %v0, %v1 : tensor<8xf32>\n",
            "%v2 = arith.mulf %v0, %v1 : tensor<8xf32>\n      %v2_r = mgmt.relinearize %v2 : tensor<8xf32>\n",
        )
        .replace("rotate %v2", "rotate %v2_r")
        .replace("addf %v2", "addf %v2_r");
    assert_eq!((n, after), (1, wanted));
}

#[test]
fn results_of_unknown_ops_have_the_type_of_their_uses() {
    let text = text(&[Step::Mul(0, 1), Step::Rotate(2), Step::Add(3, 3), Step::Mul(4, 3)]);
    let (_, _, after) = placed(&text, Some(1));
    assert!(after.contains("mgmt.bootstrap %v3 : tensor<8xf32>\n"), "{after}");
}

#[test]
fn the_generic_form_stays() {
    let text = text(&[Step::Mul(0, 1)]).replace(
        "arith.mulf %v0, %v1 : tensor<8xf32>",
        "\"arith.mulf\"(%v0, %v1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>",
    );
    let (_, _, after) = placed(&text, None);
    assert!(
        after.contains("%v2_r = \"mgmt.relinearize\"(%v2) : (tensor<8xf32>) -> tensor<8xf32>"),
        "{after}"
    );
}

#[test]
fn loops_yield_the_level_of_their_initial_value() {
    let ty = "tensor<8xf32>";
    let lines = |inside: &str| {
        format!(
            "      %1 = affine.for %i = 0 to 4 iter_args(%b = %v0) -> ({ty}) {{
        {inside}
        affine.yield %2 : {ty}
      }}
"
        )
    };
    // One bootstrap in each iteration, although the levels suffice for all iterations.
    let grows = generic(&lines("%2 = arith.mulf %b, %v1 : tensor<8xf32>"), "%1");
    let (n, _, after) = placed(&grows, Some(9));
    assert_eq!(n, 1, "{after}");
    assert!(
        after.contains("%2_r = mgmt.bootstrap %2") || after.contains("%r2 = mgmt.bootstrap %2"),
        "{after}"
    );
    let stays = generic(&lines("%2 = arith.addf %b, %v1 : tensor<8xf32>"), "%1");
    assert_eq!(placed(&stays, Some(1)).0, 0);
    // A product in a loop is relinearized in the loop.
    assert!(placed(&grows, None).2.contains("%r2 = mgmt.relinearize %2"));
}

#[test]
fn bootstraps_use_levels() {
    let squarings: Vec<Step> = (0..9)
        .map(|at| Step::Mul(if at == 0 { 0 } else { at + 1 }, if at == 0 { 0 } else { at + 1 }))
        .collect();
    // HEIR 2026.9.1 inserts the same numbers.
    for (taken, wanted) in [(0, 2), (2, 2), (16, 0)] {
        let attributes = format!(
            "backend.config_override = {{bootstrapLevelsConsumed = {taken} : i64}}, backend.lattigo, scheme.ckks"
        );
        let text = text(&squarings).replace("scheme.ckks", &attributes);
        assert_eq!(placed(&text, Some(3)).0, wanted, "{taken}");
    }
}

/// Returns the number of ops that each stage inserts, and the text after all stages.
fn staged(text: &str, budget: u32) -> (Vec<usize>, String) {
    let mut text = text.to_owned();
    let stages = MANAGEMENT_STAGES.map(|(_, insert)| {
        let document = document(&text, budget);
        let functions = document.ir().functions();
        let outcome =
            insert(&document, &functions, &PlacementOptions::default()).expect("it stands up");
        text = outcome.fix.as_ref().map_or_else(|| text.clone(), |it| it.apply(&text));
        outcome.n_inserted()
    });
    (stages.to_vec(), text)
}

#[test]
fn loops_drop_levels_that_bootstraps_use() {
    let ty = "tensor<8xf32>";
    let lines = format!(
        "      %1 = affine.for %i = 0 to 4 iter_args(%b = %v0) -> ({ty}) {{
        %2 = arith.mulf %b, %v1 : {ty}
        affine.yield %2 : {ty}
      }}
      %3 = affine.for %i = 0 to 4 iter_args(%b = %v0) -> ({ty}) {{
        affine.yield %1 : {ty}
      }}
"
    );
    let taken = "backend.config_override = {bootstrapLevelsConsumed = 3 : i64}, backend.lattigo, scheme.ckks";
    let text = generic(&lines, "%3").replace("scheme.ckks", taken);
    let (inserted, after) = staged(&text, 1);
    // HEIR's greedy pass also inserts one bootstrap.
    assert_eq!(inserted, [1, 1, 1], "{after}");
    assert!(
        after.contains("\"mgmt.level_reduce\"(%v0) <{levelToDrop = 4 : i64}> : (tensor<8xf32>)"),
        "{after}"
    );
    assert_eq!(staged(&after, 1), (vec![0, 0, 0], after.clone()));
    // If a bootstrap uses no levels, it suffices.
    let (inserted, after) = staged(&generic(&lines, "%3"), 1);
    assert_eq!(inserted, [1, 0, 1], "{after}");
}

#[test]
fn ops_inserted_after_annotated_ones_are_annotated() {
    let m = |rest: &str| format!("{{mgmt.mgmt = #mgmt.mgmt<{rest}>}} : tensor<8xf32>");
    let lines = format!(
        "      %1 = arith.mulf %v0, %v1 {}
      %2 = mgmt.modreduce %1 {}
      %3 = arith.mulf %2, %2 {}
      %4 = mgmt.modreduce %3 : tensor<8xf32>
      %5 = arith.mulf %4, %4 : tensor<8xf32>
",
        m("level = 2, dimension = 3, scale = 90"),
        m("level = 1, scale = 45"),
        m("level = 1, dimension = 3, scale = 90")
    );
    let (inserted, after) = staged(&generic(&lines, "%5"), 1);
    assert_eq!(inserted, [1, 0, 3], "{after}");
    let of = |text: &str| after.lines().find(|it| it.contains(text)).map_or("", str::trim);
    let wanted = format!("%r1 = mgmt.relinearize %1 {}", m("level = 2, scale = 90"));
    assert_eq!(of("mgmt.relinearize %1"), wanted);
    // Not after the product, whose scale differs from that after a bootstrap.
    assert!(after.contains("mgmt.bootstrap %2 "), "{after}");
    assert!(of("mgmt.relinearize %5").ends_with("mgmt.relinearize %5 : tensor<8xf32>"), "{after}");
    let bootstrap = of("= mgmt.bootstrap %");
    assert!(bootstrap.ends_with(&m("level = 2, scale = 45")), "{after}");
}

#[test]
fn ops_inserted_after_an_unreadable_annotation_have_none() {
    let m = "{mgmt.mgmt = #mgmt.mgmt<level = 1, dimension = 3, scale = foo>}";
    let lines = format!("      %2 = arith.mulf %v0, %v1 {m} : tensor<8xf32>\n");
    let (n, _, after) = placed(&generic(&lines, "%2"), None);
    assert_eq!(n, 1, "{after}");
    let line = after.lines().find(|it| it.contains("mgmt.relinearize")).map_or("", str::trim);
    assert!(line.ends_with("mgmt.relinearize %2 : tensor<8xf32>"), "{after}");
}

/// Target levels cause no `level-mismatch`, before and after the fix.
#[test]
fn target_levels_are_kept() {
    let lines = "      %2 = arith.mulf %v0, %v1 : tensor<8xf32>\n      %3 = arith.mulf %2, %2 : tensor<8xf32>\n";
    let m = |level: u32| {
        format!("!secret.secret<tensor<8xf32>> {{mgmt.mgmt = #mgmt.mgmt<level = {level}>}}")
    };
    let text = generic(lines, "%3");
    let text =
        text.replace("generic(%x: !secret.secret<tensor<8xf32>>", &format!("generic(%x: {}", m(5)));
    let text = text.replace("} -> (!secret.secret<tensor<8xf32>>)", &format!("}} -> ({})", m(2)));
    assert_eq!(text.matches("level = ").count(), 2);
    let (inserted, after) = staged(&text, 1);
    assert!(inserted.iter().sum::<usize>() > 1, "{after}");
    for text in [text, after] {
        let found = document(&text, 1).diagnostics();
        assert!(found.iter().all(|it| it.code != "level-mismatch"), "{found:?}");
    }
}

#[test]
fn functions_with_unknown_facts_are_left_alone() {
    let text = generic("      %1 = other.op %v0 : tensor<8xf32>\n", "%1");
    let document = document(&text, 1);
    let functions = document.ir().functions();
    let outcome = insert_relinearizations(&document, &functions, &PlacementOptions::default())
        .expect("an answer");
    assert!(outcome.fix.is_none());
    assert!(matches!(
        &outcome.functions[..],
        [FunctionOutcome { verdict: PlacementVerdict::Refused(_), .. }]
    ));
}

#[test]
fn effects_of_calls_on_ciphertexts_are_not_guessed() {
    let of = |within: &str, insert: InsertFunction| {
        let ty = "tensor<8xf32>";
        let lines = format!(
            "      %1 = arith.mulf %v0, %v1 : {ty}\n      %2 = func.call @g(%1) : ({ty}) -> {ty}\n      %3 = arith.mulf %2, %2 : {ty}\n"
        );
        let text = generic(&lines, "%3");
        let callee = format!(
            "  func.func private @h(%y: {ty}) -> {ty} {{\n    %5 = arith.addf %y, %y : {ty}\n    return %5 : {ty}\n  }}\n  func.func private @m(%y: {ty}) -> {ty} {{\n    %6 = arith.mulf %y, %y : {ty}\n    return %6 : {ty}\n  }}\n  func.func private @g(%y: {ty}) -> {ty} {{\n    %e = arith.constant dense<2.0> : {ty}\n    %4 = {within} : {}\n    return %4 : {ty}\n  }}\n}}\n",
            if within.contains('@') { format!("({ty}) -> {ty}") } else { ty.to_owned() }
        );
        let text = format!("{}{callee}", text.strip_suffix("}\n").expect("a module"));
        let document = document(&text, 1);
        let functions = document.ir().functions();
        let outcome =
            insert(&document, &functions, &PlacementOptions::default()).expect("it stands up");
        match &outcome.functions[0].verdict {
            PlacementVerdict::Refused(why) => why.clone(),
            _ => format!("{} inserted", outcome.n_inserted()),
        }
    };
    for insert in [insert_bootstraps as InsertFunction, insert_relinearizations] {
        assert!(of("arith.addf %y, %y", insert).ends_with(" inserted"));
        assert!(of("func.call @h(%y)", insert).ends_with(" inserted"));
    }
    // A product with a plaintext keeps the number of polynomials and uses one level.
    assert!(of("arith.mulf %y, %e", insert_relinearizations).ends_with(" inserted"));
    let refused = |why: &str| format!("%2 is returned by a call: @g {why}");
    let levels = |by: &str| {
        refused(&format!("changes levels by {by}, and bootstraps are not placed across such calls"))
    };
    for op in ["arith.mulf %y, %e", "arith.mulf %y, %y"] {
        assert_eq!(of(op, insert_bootstraps), levels("%4 = arith.mulf in @g"));
    }
    assert_eq!(of("func.call @m(%y)", insert_bootstraps), levels("%6 = arith.mulf in @m"));
    let wide = |it: &str| {
        format!("computes {it} with more than 2 polynomials, and has no position to relinearize it")
    };
    assert_eq!(of("arith.mulf %y, %y", insert_relinearizations), refused(&wide("%4")));
    let through = format!("cannot be analyzed: %4 is returned by a call: @m {}", wide("%6"));
    assert_eq!(of("func.call @m(%y)", insert_relinearizations), refused(&through));
}

#[test]
fn relinearizations_are_placed_across_calls_that_return_two_polynomials() {
    let (ty, secret) = ("tensor<8xf32>", "!secret.secret<tensor<8xf32>>");
    let of = |callee: &str| {
        let lines = format!(
            "      %1 = arith.mulf %v0, %v1 : {ty}\n      %2 = func.call @g(%1) : ({ty}) -> {ty}\n      %3 = arith.mulf %2, %2 : {ty}\n"
        );
        let text = generic(&lines, "%3");
        let text = format!("{}{callee}}}\n", text.strip_suffix("}\n").expect("a module"));
        placed(&text, None)
    };
    let inside = |end: &str| {
        format!(
            "  func.func private @g(%y: {ty}) -> {ty} {{\n    %4 = arith.mulf %y, %y : {ty}\n{end}  }}\n"
        )
    };
    let relinearized = format!("    %5 = mgmt.relinearize %4 : {ty}\n    return %5 : {ty}\n");
    // Callees take two polynomials, and so does the yield of the generic.
    let (n, is_optimal, after) = of(&inside(&relinearized));
    assert_eq!((n, is_optimal), (2, true), "{after}");
    assert_eq!(placed(&after, None).0, 0);
    // Recursive functions are not analyzed.
    let again = format!(
        "    %5 = mgmt.relinearize %4 : {ty}\n    %b = \"x.y\"() : () -> i1\n    %6 = scf.if %b -> ({ty}) {{\n      %7 = func.call @g(%5) : ({ty}) -> {ty}\n      scf.yield %7 : {ty}\n    }} else {{\n      scf.yield %5 : {ty}\n    }}\n    return %6 : {ty}\n"
    );
    assert_eq!(of(&inside(&again)).0, 0);
    // The placement in a callee counts, in any order of the functions.
    let function = |name: &str, lines: &str, given: &str| {
        format!(
            "  func.func @{name}(%x: {secret}) -> {secret} {{\n{lines}    %0 = secret.generic({given}: {secret}) {{\n    ^body(%v: {ty}):\n      %1 = arith.mulf %v, %v : {ty}\n      secret.yield %1 : {ty}\n    }} -> ({secret})\n    return %0 : {secret}\n  }}\n"
        )
    };
    let call = format!("    %c = call @g(%x) : ({secret}) -> {secret}\n");
    let (caller, callee) = (function("f", &call, "%c"), function("g", "", "%x"));
    for functions in [format!("{caller}{callee}"), format!("{callee}{caller}")] {
        let text = format!("module attributes {{scheme.ckks}} {{\n{functions}}}\n");
        let (n, is_optimal, after) = placed(&text, None);
        assert_eq!((n, is_optimal), (2, true), "{after}");
    }
    // A callee that is refused does not count.
    let broken =
        callee.replace("      %1 =", &format!("      %w = arith.addf %u, %u : {ty}\n      %1 ="));
    let text = format!("module attributes {{scheme.ckks}} {{\n{caller}{broken}}}\n");
    let document = document(&text, 1);
    let functions = document.ir().functions();
    let outcome = insert_relinearizations(&document, &functions, &PlacementOptions::default())
        .expect("an answer");
    let PlacementVerdict::Refused(why) = &outcome.functions[0].verdict else { panic!("{text}") };
    assert!(why.starts_with("%c is returned by a call: @g is not changed: "), "{why}");
}
