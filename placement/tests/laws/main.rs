//! Tests of the optimizer: against exhaustive search on 10,000 random instances, without single
//! steps, with interruptions, and on unusual input.

#![allow(clippy::many_single_char_names, reason = "values of generated programs")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use noisy_placement::{
    EnabledSteps, Infeasible, InfeasibleReason, Instance, Node, NodeRule, NoiseBits, Optimality,
    Placement, PlacementLimits, PlacementPhase, PlacementProgress, ProofRow, ProofStep, Site,
    evaluate, place, place_with,
};

use programs::{BUDGET, FRESH, Program, multiplier, window_program};
use random::Random;

mod cuts;
mod families;
mod programs;
#[expect(dead_code, reason = "the crate uses the rest")]
#[path = "../../src/random.rs"]
mod random;

/// Returns the least cost of a legal choice. Tries all choices, the cheapest first.
fn exhaustive(instance: &Instance) -> Option<u64> {
    let n = instance.sites.len();
    let choice = |bits: u32| -> Vec<bool> { (0..n).map(|s| bits >> s & 1 == 1).collect() };
    let cost = |bits: u32| {
        let sites = instance.sites.iter().enumerate().filter(|(s, _)| bits >> s & 1 == 1);
        sites.fold(0_u64, |sum, (_, site)| sum.saturating_add(site.cost))
    };
    let mut all: Vec<(u64, u32)> = (0..1_u32 << n).map(|bits| (cost(bits), bits)).collect();
    all.sort_unstable();
    all.into_iter().find(|it| evaluate::is_legal(instance, &choice(it.1))).map(|it| it.0)
}

/// Checks the laws that hold for every placement, for any limits.
fn check_laws(instance: &Instance, placement: &Placement) {
    let mut chosen = vec![false; instance.sites.len()];
    let mut cost = 0_u64;
    for &Site(s) in &placement.sites {
        assert!(!std::mem::replace(&mut chosen[s as usize], true), "a site twice");
        cost = cost.saturating_add(instance.sites[s as usize].cost);
    }
    assert!(placement.sites.is_sorted());
    assert_eq!(cost, placement.cost);
    assert!(evaluate::is_legal(instance, &chosen));
    assert!(placement.lower_bound <= cost);
    assert_eq!(placement.proof == Optimality::Optimal, placement.lower_bound == cost);
    for &Site(s) in &placement.sites {
        chosen[s as usize] = false;
        assert!(
            !evaluate::is_legal(instance, &chosen),
            "site {s} is useless: {placement:?} {instance:?}"
        );
        chosen[s as usize] = true;
    }
}

/// Checks that `place` agrees with exhaustive search, with and without the first sweep. With it,
/// most instances never reach the other steps.
fn check(instance: &Instance, limits: &PlacementLimits) {
    let expected = exhaustive(instance);
    for sweep_first in [true, false] {
        let steps = EnabledSteps { sweep_first, ..limits.steps };
        match (place(instance, &PlacementLimits { steps, ..limits.clone() }), expected) {
            (Ok(placement), Some(best)) => {
                check_laws(instance, &placement);
                assert_eq!((placement.cost, placement.lower_bound), (best, best), "{instance:?}");
            }
            (Err(_), None) => {}
            (answer, expected) => panic!("{answer:?} where {expected:?} is right: {instance:?}"),
        }
    }
}

/// The features that a random instance may have.
#[derive(Clone, Copy)]
struct InstanceFeatures {
    cycles: bool,
    shared: bool,
    weights: bool,
    limits: bool,
    /// Resets that raise noise.
    resets: bool,
}

const PLAIN: InstanceFeatures =
    InstanceFeatures { cycles: false, shared: false, weights: false, limits: false, resets: false };
const ALL: InstanceFeatures =
    InstanceFeatures { cycles: true, shared: true, weights: true, limits: true, resets: true };

fn random_instance(random: &mut Random, most_sites: usize, shape: InstanceFeatures) -> Instance {
    let mut instance = Instance::default();
    let n_nodes = 3 + random.below(22);
    let level = random.below(3) == 0;
    let (fresh, budget) = if level { (0, 3) } else { (3, 3 + 4 + random.below(4) as NoiseBits) };
    for i in 0..n_nodes {
        let limit = match random.below(if shape.limits { 8 } else { usize::MAX }) {
            0 => budget - 1,
            // The compact model cannot express unbounded noise, so without cores there is no proof.
            1 if !(shape.cycles && shape.resets) => NoiseBits::MAX,
            _ => budget,
        };
        let reset = match random.below(if shape.resets { 6 } else { usize::MAX }) {
            0 => fresh + 2,
            _ => fresh,
        };
        let cost = if shape.weights { 1 + random.below(9) as u64 } else { 1 };
        let site = match random.below(5) {
            0 => None,
            1 if shape.shared && !instance.sites.is_empty() => {
                Some(Site(random.below(instance.sites.len()) as u32))
            }
            _ if instance.sites.len() < most_sites => Some(instance.push_site(cost, reset)),
            _ => None,
        };
        let mut operand = || match random.below(if shape.cycles { 12 } else { usize::MAX }) {
            0 => Node(random.below(n_nodes) as u32),
            _ => Node(random.below(i.max(1)) as u32),
        };
        let (a, b, c) = (operand(), operand(), operand());
        if i == 0 {
            instance.push(NodeRule::Source(fresh), &[], limit, None);
            continue;
        }
        let (rule, operands) = match random.below(12) {
            0 => (NodeRule::Source(fresh + random.below(2) as NoiseBits), vec![]),
            1 | 2 => (NodeRule::Max(0), vec![a, b]),
            3..=7 => (NodeRule::Max(1), vec![a, b]),
            8 => (NodeRule::Sum(0), vec![a, a]),
            9 => (NodeRule::Sum(0), vec![a, b]),
            10 => (NodeRule::Sum(1), vec![a]),
            _ => (NodeRule::Sum(0), vec![a, b, c]),
        };
        instance.push(rule, &operands, limit, site);
    }
    instance
}

fn quick() -> PlacementLimits {
    PlacementLimits { work: Some(20_000_000), time: None, ..PlacementLimits::default() }
}

#[test]
fn mul_add_add_needs_no_reset() {
    let mut program = Program::default();
    let a = program.encode();
    let m = program.mul(a, a);
    let s = program.add(m, a);
    program.add(s, a);
    let placement = place(&program.0, &quick()).unwrap();
    assert_eq!((placement.sites, placement.proof), (vec![], Optimality::Optimal));
}

#[test]
fn one_reset_suffices_for_two_branches() {
    let mut program = Program::default();
    let a = program.encode();
    let m = program.mul(a, a);
    for _ in 0..2 {
        let mut v = m;
        for _ in 0..4 {
            v = program.add(v, a);
        }
    }
    let placement = place(&program.0, &quick()).unwrap();
    assert_eq!((placement.sites, placement.proof), (vec![Site(0)], Optimality::Optimal));
}

#[test]
fn three_squarings_need_three_resets() {
    let mut program = Program::default();
    let (a, b) = (program.encode(), program.encode());
    let mut v = program.mul(a, b);
    for _ in 0..3 {
        v = program.mul(v, v);
    }
    let placement = place(&program.0, &quick()).unwrap();
    assert_eq!(placement.sites, [Site(0), Site(1), Site(2)]);
    assert_eq!(placement.stats.n_forced, 3);
}

#[test]
fn equals_exhaustive_search() {
    let mut random = Random::new(7);
    for _ in 0..2500 {
        let n = 2 + random.below(12);
        check(&random_instance(&mut random, n, PLAIN), &quick());
    }
}

#[test]
fn equals_exhaustive_search_with_all_features() {
    let mut random = Random::new(8);
    for _ in 0..2500 {
        let n = 2 + random.below(12);
        check(&random_instance(&mut random, n, ALL), &quick());
    }
}

#[test]
fn equals_exhaustive_search_feature_by_feature() {
    let mut random = Random::new(9);
    for _ in 0..400 {
        for shape in [
            InstanceFeatures { cycles: true, ..PLAIN },
            InstanceFeatures { resets: false, ..ALL },
            InstanceFeatures { shared: true, ..PLAIN },
            InstanceFeatures { weights: true, ..PLAIN },
            InstanceFeatures { limits: true, ..PLAIN },
            InstanceFeatures { resets: true, ..PLAIN },
        ] {
            check(&random_instance(&mut random, 9, shape), &quick());
        }
    }
}

#[test]
fn equals_exhaustive_search_on_fourteen_sites() {
    let mut random = Random::new(10);
    for i in 0..600 {
        check(&random_instance(&mut random, 14, if i % 2 == 0 { PLAIN } else { ALL }), &quick());
    }
}

#[test]
fn works_without_any_single_step() {
    let mut random = Random::new(11);
    let switches: [fn(&mut EnabledSteps) -> &mut bool; 11] = [
        |s| &mut s.force,
        |s| &mut s.split,
        |s| &mut s.prune,
        |s| &mut s.anneal,
        |s| &mut s.prove,
        |s| &mut s.cores,
        |s| &mut s.fix,
        |s| &mut s.partition,
        |s| &mut s.frontier_dp,
        |s| &mut s.cuts,
        |s| &mut s.branch,
    ];
    for i in 0..2000 {
        let instance = random_instance(&mut random, 9, if i / 10 % 2 == 0 { PLAIN } else { ALL });
        let mut limits = quick();
        limits.work = Some(1_000_000);
        let off = switches[i % switches.len()](&mut limits.steps);
        *off = false;
        // Without cores, the answer need not be optimal.
        let exact = limits.steps.prove && limits.steps.branch && limits.steps.cores;
        if exact {
            check(&instance, &limits);
        } else if let Ok(placement) = place(&instance, &limits) {
            check_laws(&instance, &placement);
            let best = exhaustive(&instance).unwrap_or(u64::MAX);
            assert!(placement.lower_bound <= best && best <= placement.cost);
        }
    }
}

#[test]
fn counts_repeated_operands_of_a_sum() {
    let mut instance = Instance::default();
    let a = instance.push(NodeRule::Source(5), &[], 9, None);
    let s = instance.push_site(1, 4);
    let b = instance.push(NodeRule::Max(0), &[a], 9, Some(s));
    instance.push(NodeRule::Sum(0), &[b, b], 9, None);
    let placement = place(&instance, &quick()).unwrap();
    assert_eq!(placement.sites, [s]);
}

#[test]
fn locates_infeasibility() {
    let mut instance = Instance::default();
    let a = instance.push(NodeRule::Source(5), &[], 9, None);
    let b = instance.push(NodeRule::Sum(0), &[a, a], 9, None);
    let err = place(&instance, &quick()).unwrap_err();
    assert_eq!(
        err,
        Infeasible { node: b, reason: InfeasibleReason::OverLimit { least: 10, limit: 9 } }
    );
    // A cycle that raises noise and has no site.
    let mut instance = Instance::default();
    let a = instance.push(NodeRule::Source(5), &[], 9, None);
    let b = Node(1);
    instance.push(NodeRule::Max(1), &[a, b], 9, None);
    assert_eq!(place(&instance, &quick()).unwrap_err().node, b);
}

#[test]
fn reports_malformed_instances() {
    let mut instance = Instance::default();
    instance.push(NodeRule::Max(0), &[Node(7)], 9, None);
    assert_eq!(place(&instance, &quick()).unwrap_err().reason, InfeasibleReason::Malformed);
    let mut instance = Instance::default();
    instance.push(NodeRule::Max(0), &[], 9, Some(Site(0)));
    assert_eq!(place(&instance, &quick()).unwrap_err().reason, InfeasibleReason::Malformed);
}

#[test]
fn solves_the_empty_instance() {
    let placement = place(&Instance::default(), &quick()).unwrap();
    assert_eq!((placement.cost, placement.proof), (0, Optimality::Optimal));
}

#[test]
fn costs_saturate() {
    let mut random = Random::new(12);
    for _ in 0..200 {
        let mut instance = random_instance(&mut random, 8, ALL);
        for site in &mut instance.sites {
            site.cost = [1, 1 << 40, u64::MAX / 2, u64::MAX][random.below(4)];
        }
        if let Ok(placement) = place(&instance, &PlacementLimits { work: Some(100_000), ..quick() })
        {
            let best = exhaustive(&instance).unwrap_or(u64::MAX);
            assert!(placement.lower_bound <= best && best <= placement.cost, "{instance:?}");
        }
    }
}

#[test]
fn answers_legally_after_a_cancellation_at_any_time() {
    let mut random = Random::new(13);
    let instance = window_program(&mut random, 600);
    for i in 0..12 {
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = PlacementLimits {
            time: Some(Duration::from_secs(60)),
            cancel: Some(Arc::clone(&cancel)),
            ..PlacementLimits::default()
        };
        let after = Duration::from_millis(1 + 17 * i);
        let timer = std::thread::spawn(move || {
            std::thread::sleep(after);
            cancel.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let placement = place(&instance, &limits).unwrap();
        let end = Instant::now();
        check_laws(&instance, &placement);
        let asked = timer.join().unwrap();
        // On an idle machine it takes about 50 ms.
        assert!(end.saturating_duration_since(asked) < Duration::from_secs(2));
    }
}

#[test]
fn runs_no_concurrent_proof_while_single_threaded() {
    let instance = window_program(&mut Random::new(13), 600);
    let bound = |is_narrow| {
        let limits = PlacementLimits {
            time: Some(Duration::from_secs(2)),
            is_single_threaded: Some(Arc::new(AtomicBool::new(is_narrow))),
            ..PlacementLimits::default()
        };
        let placement = place(&instance, &limits).unwrap();
        check_laws(&instance, &placement);
        placement.lower_bound
    };
    assert!(bound(true) < bound(false));
}

#[test]
fn answers_legally_after_an_interruption_at_any_step() {
    let mut random = Random::new(18);
    for _ in 0..60 {
        let n = 20 + random.below(100);
        let instance = window_program(&mut random, n);
        let best = place(&instance, &quick()).unwrap();
        // 17 random interruptions for each of 60 programs.
        for _ in 0..17 {
            let work = 1 << random.below(18);
            let work = Some(work + random.below(work as usize) as u64);
            let placement = place(&instance, &PlacementLimits { work, ..quick() }).unwrap();
            check_laws(&instance, &placement);
            assert!(placement.lower_bound <= best.cost && best.lower_bound <= placement.cost);
        }
    }
    // Interruption at the n-th progress report.
    let instance = window_program(&mut random, 400);
    for n in 0..12 {
        let cancel = Arc::new(AtomicBool::new(false));
        let limits =
            PlacementLimits { cancel: Some(Arc::clone(&cancel)), ..PlacementLimits::default() };
        let mut heard = 0;
        let placement = place_with(&instance, &limits, &mut |_| {
            heard += 1;
            cancel.fetch_or(heard > n, Ordering::Relaxed);
        });
        check_laws(&instance, &placement.unwrap());
    }
}

#[test]
fn answers_legally_without_time() {
    let instance = window_program(&mut Random::new(14), 300);
    for limits in [
        PlacementLimits { time: Some(Duration::ZERO), ..PlacementLimits::default() },
        PlacementLimits { time: None, work: Some(0), ..PlacementLimits::default() },
        PlacementLimits {
            time: Some(Duration::MAX),
            work: Some(1000),
            ..PlacementLimits::default()
        },
        PlacementLimits {
            cancel: Some(Arc::new(AtomicBool::new(true))),
            ..PlacementLimits::default()
        },
    ] {
        check_laws(&instance, &place(&instance, &limits).unwrap());
    }
}

#[test]
fn repeats_an_answer_under_a_work_limit() {
    let instance = window_program(&mut Random::new(15), 400);
    let run = || {
        let limits =
            PlacementLimits { time: None, work: Some(3_000_000), ..PlacementLimits::default() };
        let placement = place(&instance, &limits).unwrap();
        (placement.sites, placement.cost, placement.lower_bound)
    };
    assert_eq!(run(), run());
}

/// Returns the disjoint union of two instances.
fn disjoint_union(a: &Instance, b: &Instance) -> Instance {
    let mut out = a.clone();
    let (n_nodes, n_sites) = (a.nodes.len() as u32, a.sites.len() as u32);
    for site in &b.sites {
        out.push_site(site.cost, site.reset);
    }
    for (v, node) in (0..).zip(&b.nodes) {
        let operands: Vec<Node> =
            b.operands(Node(v)).iter().map(|it| Node(it.0 + n_nodes)).collect();
        let site = node.site.map(|it| Site(it.0 + n_sites));
        out.push(node.rule, &operands, node.limit, site);
    }
    out
}

#[test]
fn gives_unused_effort_of_easy_parts_to_hard_ones() {
    // The easy part is larger, so it is solved later. It is proven quickly, because one reset
    // suffices for all branches.
    let mut easy = Program::default();
    let a = easy.encode();
    let center = easy.mul(a, a);
    for _ in 0..500 {
        (0..4).fold(center, |last, _| easy.add(last, a));
    }
    let with =
        |work| PlacementLimits { time: None, work: Some(work), ..PlacementLimits::default() };
    let mut n_seen = 0;
    'seeds: for seed in 0..10 {
        let hard = window_program(&mut Random::new(seed), 250);
        for work in [2_000_000, 8_000_000, 32_000_000] {
            let proof = |work| place(&hard, &with(work)).unwrap().proof;
            // The share of the hard part is too small, but with the rest it is sufficient.
            if proof(work / 8) == Optimality::Optimal || proof(work / 2) == Optimality::Gap {
                continue;
            }
            let both = place(&disjoint_union(&easy.0, &hard), &with(work)).unwrap();
            assert_eq!(
                (both.proof, both.stats.n_proven_parts),
                (Optimality::Optimal, both.stats.n_parts)
            );
            n_seen += 1;
            if n_seen == 2 {
                break 'seeds;
            }
        }
    }
    assert!(n_seen > 0, "no case");
}

#[test]
fn progress_only_improves() {
    let instance = window_program(&mut Random::new(16), 300);
    let mut last: Option<PlacementProgress> = None;
    let limits =
        PlacementLimits { time: Some(Duration::from_millis(500)), ..PlacementLimits::default() };
    let placement = place_with(&instance, &limits, &mut |now| {
        if let Some(last) = last {
            assert!(now.cost <= last.cost && now.lower_bound >= last.lower_bound);
        }
        last = Some(*now);
    });
    let (placement, last) = (placement.unwrap(), last.unwrap());
    assert_eq!((last.phase, last.cost), (PlacementPhase::Done, placement.cost));
}

#[test]
fn does_not_count_up_to_a_distant_limit() {
    // The noise would reach the limit after two billion iterations of the cycle. (Cores are off,
    // because they need a step for each level.)
    let steps = EnabledSteps { cores: false, ..EnabledSteps::default() };
    let mut instance = Instance::default();
    let a = instance.push(NodeRule::Source(FRESH), &[], BUDGET, None);
    let site = Some(instance.push_site(1, FRESH));
    instance.push(NodeRule::Max(1), &[a, Node(2)], 1 << 31, None);
    instance.push(NodeRule::Max(1), &[Node(1)], 1 << 31, site);
    let placement = place(&instance, &PlacementLimits { steps, ..quick() }).unwrap();
    check_laws(&instance, &placement);
    assert_eq!((placement.cost, exhaustive(&instance)), (1, Some(1)));
}

#[test]
fn accepts_operands_after_their_users() {
    // A chain of 1000 additions in reverse order.
    let n = 1000_u32;
    let mut instance = Instance::default();
    for v in 0..n {
        let site = Some(instance.push_site(1, FRESH));
        instance.push(NodeRule::Max(1), &[Node(v + 1)], BUDGET, site);
    }
    instance.push(NodeRule::Source(FRESH), &[], BUDGET, None);
    let placement = place(&instance, &quick()).unwrap();
    check_laws(&instance, &placement);
    assert_eq!((placement.cost, placement.proof), (71, Optimality::Optimal));
}

#[test]
fn bounds_a_large_part_in_clusters() {
    // The bounds with and without clusters must be consistent.
    let instance = window_program(&mut Random::new(17), 7500);
    let limits = |cluster| PlacementLimits {
        time: None,
        work: Some(6_000_000),
        steps: EnabledSteps { partition: cluster, anneal: false, ..EnabledSteps::default() },
        ..PlacementLimits::default()
    };
    let [with, without] = [true, false].map(|on| place(&instance, &limits(on)).unwrap());
    check_laws_of_large(&instance, &with);
    assert!(with.lower_bound > 500 && without.lower_bound <= with.cost);
}

#[test]
fn stops_concurrent_clusters_on_request() {
    // Without a work limit, clusters are solved concurrently. Interruption at the n-th progress
    // report.
    let instance = window_program(&mut Random::new(19), 3500);
    for n in [1, 4] {
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = PlacementLimits {
            time: None,
            cancel: Some(Arc::clone(&cancel)),
            ..PlacementLimits::default()
        };
        let mut heard = 0;
        let placement = place_with(&instance, &limits, &mut |_| {
            heard += 1;
            cancel.fetch_or(heard > n, Ordering::Relaxed);
        });
        check_laws_of_large(&instance, &placement.unwrap());
    }
}

/// Like [`check_laws`], without the check for useless sites, which needs an evaluation per site.
fn check_laws_of_large(instance: &Instance, placement: &Placement) {
    let mut chosen = vec![false; instance.sites.len()];
    placement.sites.iter().for_each(|s| chosen[s.0 as usize] = true);
    assert!(evaluate::is_legal(instance, &chosen));
    assert!(placement.lower_bound <= placement.cost);
}
