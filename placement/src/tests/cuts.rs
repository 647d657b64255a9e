//! Local cuts: never above the optimum, worth something on multipliers, and proven wherever they are stopped.

use super::*;
use crate::cores::Cores;
use crate::cost_partition::cost_partition;
use crate::fixed_point::ceil_cost;
use crate::graph::Graph;
use crate::incumbent::{Incumbent, Of, Source};
use crate::limits::Budget;
use crate::relax::relax;
use crate::repeats::{Copies, Repeats};
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
fn copies_of_cuts_hold_where_they_are_taken_to() {
    let instance = a_multiplier(9);
    let mut limits = only_cuts(60_000_000);
    limits.steps.fix = false;
    let placement = place(&instance, &limits).unwrap();
    let rows = placement.certificate.parts.iter().flat_map(|it| it.rows.clone());
    let cuts: Vec<Row> = rows.filter(|it| matches!(it, Row::Cut(_))).collect();
    let graph = Graph::new(&instance);
    let cores = Cores::new(&graph);
    let repeats = Repeats::new(&graph);
    repeats.learn(&graph, &cuts);
    let by_color = repeats.by_color(0..graph.n_nodes() as u32);
    let mut copies = Copies::new(&repeats, &graph);
    // Legal choices: all sites but some, without what they do not need.
    let mut random = Random::new(7);
    let mut legal: Vec<Vec<bool>> = Vec::new();
    for _ in 0..100 {
        let mut chosen = vec![true; instance.sites.len()];
        for _ in 0..3 * chosen.len() {
            let s = random.below(chosen.len());
            let before = std::mem::replace(&mut chosen[s], false);
            if !evaluate::legal(&instance, &chosen) {
                chosen[s] = before;
            }
        }
        legal.push(chosen);
    }
    let (mut n_copied, mut n_refused) = (0, 0);
    for pattern in repeats.patterns() {
        for &start in repeats.starts(&by_color, &pattern) {
            let Some(Row::Cut(cut)) = copies.copy(&cores, &pattern, start) else {
                n_refused += 1;
                continue;
            };
            n_copied += usize::from(cuts.iter().all(|it| it != &Row::Cut(cut.clone())));
            for row in &cut.proof.rows {
                let Row::Core(core) = row else { panic!("cuts of cuts") };
                let mut chosen = vec![true; instance.sites.len()];
                core.iter().for_each(|&s| chosen[s as usize] = false);
                assert!(!evaluate::legal(&instance, &chosen), "{core:?} is no core");
            }
            for chosen in &legal {
                let terms = cut.terms.iter().filter(|it| chosen[it.0 as usize]);
                assert!(terms.map(|it| it.1).sum::<u64>() >= cut.least, "{cut:?}");
            }
        }
    }
    assert!(n_copied > 20 && n_refused > 20, "{n_copied} copied, {n_refused} refused");
}

/// A source of a proof that is worth so much.
struct Worth(u64);

impl Source for Worth {
    fn proof(&self) -> Proof {
        Proof { bound: self.0, ..Proof::default() }
    }
}

#[test]
fn what_was_told_of_a_part_is_still_proven_after_it_was_begun_again() {
    let incumbent = Incumbent::new(9, vec![true]);
    incumbent.ask(Of::Relaxation, Arc::new(Worth(5)));
    incumbent.prove(5);
    assert_eq!(incumbent.proof().bound, 5);
    incumbent.resume();
    incumbent.ask(Of::Relaxation, Arc::new(Worth(2)));
    assert_eq!((incumbent.proof().bound, incumbent.lower()), (5, 5));
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
