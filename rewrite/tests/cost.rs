//! Tests that a rewriting costs less than the placement of the original program with the whole time
//! limit, and that both placements are in the cache afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use noisy_analyses::{PlacementOptions as Placing, PlacementVerdict, Program, insert_reduces};
use noisy_placement::PlacementLimits;
use noisy_rewrite::{RewriteOptions, rewrite, time_left};

/// Returns a program of sums and products of recent values.
fn program(mut seed: u64, n_ops: usize) -> String {
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut out =
        "func.func @f(%0: !noisy.i32, %1: !noisy.i32, %2: !noisy.i32) -> !noisy.i32 {\n".to_owned();
    for n in 3..n_ops + 3 {
        let (a, b) = (n - 1 - below(n.min(9)), n - 1 - below(n.min(9)));
        let op = ["add", "add", "add", "sub", "mul"][below(5)];
        out += &format!("  %{n} = noisy.{op} %{a}, %{b} : !noisy.i32\n");
    }
    out + &format!("  return %{} : !noisy.i32\n}}\n", n_ops + 2)
}

fn cost(program: &Program, placing: &Placing) -> f64 {
    let outcome = insert_reduces(program, &program.ir().functions(), placing).expect("it is sound");
    let cost = |verdict: &PlacementVerdict| match verdict {
        PlacementVerdict::Legal => 0.0,
        PlacementVerdict::Fixed(it) => it.cost as f64 / it.unit as f64,
        PlacementVerdict::Refused(why) => panic!("{why}"),
    };
    outcome.functions.iter().map(|it| cost(&it.verdict)).sum()
}

#[test]
fn a_rewriting_costs_less_than_the_placement_with_all_of_the_time() {
    let mut n_rewritten = 0;
    for (seed, n_ops) in [(1, 20), (2, 40), (3, 60), (4, 100), (5, 150), (6, 200)] {
        for milliseconds in [1, 30, 300] {
            let time = Duration::from_millis(milliseconds);
            let limits = PlacementLimits { time: Some(time), ..PlacementLimits::default() };
            let placing = Placing { limits, cache: Some(Arc::default()), ..Placing::default() };
            let known = Placing {
                limits: PlacementLimits {
                    time: Some(Duration::ZERO),
                    ..PlacementLimits::default()
                },
                ..placing.clone()
            };
            let before = Program::new(&program(seed, n_ops));
            let options = RewriteOptions {
                placement: placing,
                search_time: time,
                max_growth: 1.5,
                keeps_structure: false,
            };
            let rewritten = rewrite(&before, &before.ir().functions(), &options);
            let Some(rewritten) = rewritten else { continue };
            n_rewritten += 1;
            let [saving] = &rewritten.savings[..] else { panic!("one function") };
            let after = cost(&rewritten.document, &known);
            assert!(after < cost(&before, &known), "seed {seed}, {milliseconds} ms");
            assert!(
                (after - saving.after).abs() < 1e-9 && saving.lower_bound <= after,
                "seed {seed}"
            );
        }
    }
    assert!(n_rewritten > 3, "{n_rewritten}");
}

#[test]
fn the_time_limit_is_kept() {
    let before = Program::new(&program(7, 2000));
    let time = Duration::from_millis(200);
    let limits = PlacementLimits { time: Some(time), ..PlacementLimits::default() };
    let placing = Placing { limits, cache: Some(Arc::default()), ..Placing::default() };
    let start = Instant::now();
    let options = RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: 1.5,
        keeps_structure: false,
    };
    rewrite(&before, &before.ir().functions(), &options);
    // Analyzing and placing the program once takes some time in a debug build.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(time_left(time, start) <= Duration::from_millis(50));
}
