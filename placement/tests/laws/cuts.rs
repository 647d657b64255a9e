//! Tests of local cuts: their bounds never exceed the optimum, and exceed the relaxation for
//! integer multipliers.

use super::*;

/// Returns limits with which only the relaxation and cuts prove bounds.
fn only_cuts(work: u64) -> PlacementLimits {
    let steps = EnabledSteps { branch: false, frontier_dp: false, ..EnabledSteps::default() };
    PlacementLimits { work: Some(work), time: None, steps, ..PlacementLimits::default() }
}

fn has_cut(placement: &Placement) -> bool {
    let rows = placement.certificate.parts.iter().flat_map(|it| {
        let split = it.steps.iter().filter_map(|it| match it {
            ProofStep::Split(of) => Some(of),
            _ => None,
        });
        it.rows.iter().chain(split.flatten().flat_map(|it| &it.rows))
    });
    rows.into_iter().any(|it| matches!(it, ProofRow::Cut(_)))
}

#[test]
fn cuts_never_exceed_exhaustive_search() {
    let mut random = Random::new(31);
    let mut n_cut = 0;
    for i in 0..1500 {
        let shape =
            if i % 3 == 0 { ALL } else { InstanceFeatures { weights: i % 2 == 0, ..PLAIN } };
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
fn cuts_prove_more_than_the_relaxation() {
    let instance = multiplier(6);
    let mut limits = only_cuts(60_000_000);
    limits.steps.fix = false;
    let with = place(&instance, &limits).unwrap();
    limits.steps.cuts = false;
    let without = place(&instance, &limits).unwrap();
    assert!(has_cut(&with) && !has_cut(&without));
    assert!(with.lower_bound > without.lower_bound, "{with:?}");
    let all = place(&instance, &PlacementLimits { work: Some(200_000_000), ..quick() }).unwrap();
    assert_eq!((all.cost, all.proof), (78, Optimality::Optimal));
    assert!(with.lower_bound <= 78);
}
