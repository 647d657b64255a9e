//! What the workers tell of a shared tree, and the rows that they find.

use super::*;
use crate::anneal::Random;
use crate::fixed_point::ceil_cost;
use crate::instance::Site;
use crate::limits::{Limits, Steps};
use crate::state::State;
use crate::tests::window_program;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_is_told_rises_above_the_relaxation_never_above_the_optimum_and_rows_hold_for_it() {
    let stop = || false;
    let mut random = Random::new(3);
    let (mut n_better, mut n_found) = (0, 0);
    let n_levels = AtomicUsize::new(0);
    for _ in 0..6 {
        let instance = window_program(&mut random, 250);
        let answer = crate::place(&instance, &Limits::default()).unwrap();
        let (optimum, best) = (answer.cost, answer.sites);
        let graph = Graph::new(&instance);
        let mut chosen = vec![false; graph.n_sites()];
        for site in &best {
            chosen[site.0 as usize] = true;
        }
        let mut cores = Cores::new(&graph);
        let mut budget = Budget { stop: &stop, left: u64::MAX, steps: Steps::default() };
        let n = graph.n_sites() as u32;
        let mut window = Window::new(&graph, &mut cores, (0..n).collect()).unwrap();
        window.set_weights(&graph.cost).unwrap();
        let answer = loop {
            let answer = window.solve(&mut budget).unwrap();
            window.set_point(&answer.values);
            if window.separate(1e-4, &mut budget).unwrap() == 0 {
                break answer;
            }
        };
        let open = vec![Fixed::Open; graph.n_sites()];
        let relaxed = ceil_cost(window.certified(&graph.cost, &open, &answer).bound);
        let (rows, basis) = (window.rows.clone(), window.basis().unwrap());
        drop(window);
        // One thread always does the same.
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
            // A small tree has open leaves, and so rows that bind there.
            let nodes = if n_workers == 1 { 100 } else { 4 };
            let question = Question { graph, rows, basis, known, nodes, n_workers };
            let found = shared_tree(question, &mut cores, &tell, &mut budget).unwrap();
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

/// Holds the rows of a proof against a choice, and counts those that are about what leaves nodes.
fn rows_hold(graph: &Graph, proof: &Proof, chosen: &[bool]) -> usize {
    let state = State::new(graph, chosen.to_vec());
    let mut n = 0;
    for row in &proof.rows {
        let mut sum = 0;
        row.for_each(|s, weight| sum += weight * u64::from(chosen[s as usize]));
        let is_said = match row {
            Row::CoreWhere(it) => {
                n += 1;
                it.below.iter().all(|&(v, level)| state.e[v as usize] < level)
                    && it.least.iter().all(|&(v, level)| state.e[v as usize] >= level)
            }
            Row::Core(_) | Row::Cut(_) => true,
        };
        assert!(!is_said || sum >= row.least(), "{row:?}");
    }
    n
}
