//! Tests of the bounds and the rows of a shared tree against an optimum.

use super::*;
use crate::certificate::ceil_cost;
use crate::programs::window_program;
use crate::question::instance::Site;
use crate::question::limits::{EnabledSteps, PlacementLimits};
use crate::random::Random;
use crate::search::state::ChoiceState;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn bounds_rise_up_to_the_optimum_and_rows_hold() {
    let stop = || false;
    let mut random = Random::new(3);
    let (mut n_better, mut n_found) = (0, 0);
    let n_levels = AtomicUsize::new(0);
    for _ in 0..6 {
        let instance = window_program(&mut random, 250);
        let answer = crate::place(&instance, &PlacementLimits::default()).unwrap();
        let (optimum, best) = (answer.cost, answer.sites);
        let graph = NoiseGraph::new(&instance);
        let mut chosen = vec![false; graph.n_sites()];
        for site in &best {
            chosen[site.0 as usize] = true;
        }
        let mut cores = CoreSeparator::new(&graph);
        let mut budget =
            EffortBudget { stop: &stop, remaining: u64::MAX, steps: EnabledSteps::default() };
        let n = graph.n_sites() as u32;
        let mut local = LocalProblem::new(&mut cores, (0..n).collect()).unwrap();
        local.set_weights(&graph.cost).unwrap();
        let answer = loop {
            let answer = local.solve(&mut budget).unwrap();
            local.set_point(&answer.values);
            if local.separate(1e-4, &mut budget).unwrap() == 0 {
                break answer;
            }
        };
        let open = vec![ColumnDecision::Open; graph.n_sites()];
        let relaxed = ceil_cost(local.multiplier_bound(&graph.cost, &open, &answer).bound);
        let (rows, basis) = (local.rows.clone(), local.basis().unwrap());
        drop(local);
        // The bounds of a run with one thread, which is deterministic.
        let mut alone = Vec::new();
        for n_workers in [1, 1, 3] {
            let told = Mutex::new(vec![relaxed]);
            let tell = |proof: Proof| {
                n_levels.fetch_add(rows_hold(&graph, &proof, &chosen), Ordering::Relaxed);
                told.lock().unwrap().push(proof.bound);
            };
            let known = vec![true; graph.n_sites()];
            let (rows, basis) = (&*rows, &basis);
            let graph = &graph;
            // A small tree ends with open leaves, at which new rows are binding.
            let nodes = if n_workers == 1 { 100 } else { 4 };
            let problem = TreeProblem { graph, rows, basis, known, nodes, n_workers };
            let found = shared_tree(problem, &mut cores, &tell, &mut budget).unwrap();
            for row in &found {
                let mut sum = 0;
                row.for_each(|s, weight| sum += weight * u64::from(best.contains(&Site(s))));
                assert!(sum >= row.least(), "{row:?}");
            }
            n_found += found.len();
            let told = told.into_inner().unwrap();
            assert!(told.is_sorted() && told.iter().all(|it| *it <= optimum), "{told:?}");
            n_better += told.len() - 1;
            if n_workers == 1 {
                assert!(alone.is_empty() || alone == told);
                alone = told;
            }
        }
    }
    assert!(n_better > 0 && n_found > 0, "{n_better} {n_found}");
    assert!(n_levels.load(Ordering::Relaxed) > 0);
}

/// Checks the rows of a proof against a choice, and returns the number of conditional cores.
fn rows_hold(graph: &NoiseGraph, proof: &Proof, chosen: &[bool]) -> usize {
    let state = ChoiceState::new(graph, chosen.to_vec());
    let mut n = 0;
    for row in &proof.rows {
        let mut sum = 0;
        row.for_each(|s, weight| sum += weight * u64::from(chosen[s as usize]));
        let is_said = match row {
            ProofRow::CoreWhere(it) => {
                n += 1;
                it.below.iter().all(|&(v, level)| state.noise_after[v as usize] < level)
                    && it.least.iter().all(|&(v, level)| state.noise_after[v as usize] >= level)
            }
            ProofRow::Core(_) | ProofRow::Cut(_) => true,
        };
        assert!(!is_said || sum >= row.least(), "{row:?}");
    }
    n
}
