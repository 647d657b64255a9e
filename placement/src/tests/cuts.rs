//! Local cuts: never above the optimum, worth something on multipliers, and proven wherever they are stopped.

use super::*;
use crate::cores::Cores;
use crate::cost_partition::cost_partition;
use crate::fixed_point::ceil_cost;
use crate::graph::Graph;
use crate::incumbent::Incumbent;
use crate::limits::Budget;
use crate::relax::relax;
use crate::tests::families::a_multiplier;

/// Bounds from the relaxation and cuts alone.
fn only_cuts(work: u64) -> Limits {
    let steps = Steps { branch: false, frontier_dp: false, ..Steps::default() };
    Limits { work: Some(work), time: None, steps, ..Limits::default() }
}

fn has_cut(placement: &Placement) -> bool {
    let rows = placement.certificate.parts.iter().flat_map(|it| {
        let split = it.steps.iter().filter_map(|it| match it {
            Step::Split(of) => Some(of),
            _ => None,
        });
        it.rows.iter().chain(split.flatten().flat_map(|it| &it.rows))
    });
    rows.into_iter().any(|it| matches!(it, Row::Cut(_)))
}

#[test]
fn cuts_are_never_above_exhaustive_search() {
    let mut random = Random::new(31);
    let mut n_cut = 0;
    for i in 0..1500 {
        let shape = if i % 3 == 0 { ALL } else { Shape { weights: i % 2 == 0, ..PLAIN } };
        let instance = random_instance(&mut random, 14, shape);
        let mut limits = only_cuts(3_000_000);
        limits.steps.fix = i % 2 == 0;
        let Ok(placement) = place(&instance, &limits) else { continue };
        check_laws(&instance, &placement);
        let best = exhaustive(&instance).expect("legal");
        assert!(placement.lower_bound <= best && best <= placement.cost, "{instance:?}");
        n_cut += usize::from(has_cut(&placement));
    }
    assert!(n_cut > 5, "{n_cut} with cuts");
}

#[test]
fn cuts_prove_what_the_relaxation_does_not() {
    let instance = a_multiplier(6);
    let mut limits = only_cuts(60_000_000);
    limits.steps.fix = false;
    let with = place(&instance, &limits).unwrap();
    limits.steps.cuts = false;
    let without = place(&instance, &limits).unwrap();
    assert!(has_cut(&with) && !has_cut(&without));
    assert!(with.lower_bound > without.lower_bound, "{with:?}");
    let all = place(&instance, &Limits { work: Some(200_000_000), ..quick() }).unwrap();
    assert_eq!((all.cost, all.proof), (78, Optimality::Optimal));
    assert!(with.lower_bound <= 78);
}

#[test]
fn parts_prove_no_less_than_the_relaxation_and_no_more_than_there_is() {
    let instance = a_multiplier(6);
    let graph = Graph::new(&instance);
    let all = vec![true; graph.n_sites()];
    let best = place(&instance, &Limits { work: Some(60_000_000), ..quick() }).unwrap();
    let incumbent = Incumbent::new(graph.cost_of(&all), all);
    let mut cores = Cores::new(&graph);
    let stop = || false;
    let mut budget = Budget { stop: &stop, left: 30_000_000, steps: Steps::default() };
    let relaxed = relax(&graph, &mut cores, &incumbent, &mut budget).unwrap();
    assert!(relaxed.complete);
    let tight = relaxed.tight();
    let parts =
        cost_partition(&graph, &mut cores, &tight.rows, 40, 1, &incumbent, &mut budget).unwrap();
    assert!(parts.bound > tight.bound, "{} of {}", parts.bound, tight.bound);
    assert!(ceil_cost(parts.bound) <= best.cost);
    assert!(incumbent.lower() >= ceil_cost(parts.bound));
    // The proof is what its rows say, recomputed.
    let proof = incumbent.proof();
    assert_eq!(proof.bound, incumbent.lower());
    assert!(proof.rows.iter().any(|it| matches!(it, Row::Cut(_))));
}
