//! The division of time between the search and the proof of one part.
//!
//! 1. A short run of annealing ([`crate::search::anneal`]), so that the proof starts from a good
//!    choice.
//! 2. The proof ([`crate::exact::prove`]) with a first share of the effort. Small parts are solved
//!    after this step.
//! 3. Runs of annealing of growing length. With a time limit, the proof runs concurrently on a
//!    second thread; on targets without threads, the proof gets the first half of the time. With a
//!    work limit, both run alternately on one thread, so that the answer is deterministic.
//!
//! One long run is better than several short ones: a run that cools four times slower finds a
//! better choice than four runs. So each run is four times as long as the preceding one, and the
//! last run takes all the remaining time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::exact::prove;
use crate::question::graph::NoiseGraph;
use crate::question::limits::{EffortBudget, EnabledSteps, RunClock};
use crate::search::anneal::{improve, improve_for};
use crate::search::incumbent::Incumbent;

/// Improves and proves one part with a share of the remaining effort. Returns the work done.
pub(crate) fn solve(
    graph: &Arc<NoiseGraph>,
    incumbent: &Arc<Incumbent>,
    clock: &RunClock,
    share: EffortShare,
    report: &mut dyn FnMut(&Incumbent),
) -> u64 {
    incumbent.resume();
    let n = graph.n_sites() as u64;
    let end = share.end;
    let stop = || clock.is_over() || end.is_some_and(|end| Instant::now() >= end);
    let mut budget = EffortBudget { stop: &stop, remaining: share.work, steps: share.steps };
    if share.round == 0 && prove::solve_small(graph, incumbent, &mut budget) {
        report(incumbent);
        return share.work - budget.remaining;
    }
    // The length is limited, because longer runs follow for a large part anyway.
    let visits = (n * 500).min(2_000_000).min(budget.remaining / 10);
    improve_for(graph, incumbent, 1 + (share.round << 32), visits, &mut budget);
    report(incumbent);
    if incumbent.is_proven() || budget.is_spent() {
        return share.work - budget.remaining;
    }
    if share.work == u64::MAX {
        let first = if n <= 2000 { Duration::from_millis(30) } else { Duration::ZERO };
        if cfg!(target_family = "wasm") {
            one_after_the_other(graph, incumbent, clock, &share, report);
        } else {
            concurrent(graph, incumbent, clock, &share, first, report);
        }
        return 0;
    }
    // The proof gets half of the work, annealing the rest.
    let mut proof =
        EffortBudget { stop: &stop, remaining: budget.remaining / 2, steps: share.steps };
    let given = proof.remaining;
    if share.steps.prove {
        prove::prove(graph, incumbent, &mut proof);
    }
    budget.spend(given - proof.remaining);
    report(incumbent);
    let mut length = n.saturating_mul(VISITS_PER_SITE);
    let mut seed = 2 + (share.round << 32);
    while !budget.is_spent() && !incumbent.is_done() && share.steps.anneal {
        let visits = if budget.remaining / 5 < length * 2 { budget.remaining } else { length };
        let before = budget.remaining;
        improve_for(graph, incumbent, seed, visits, &mut budget);
        if budget.remaining == before {
            break;
        }
        report(incumbent);
        length = length.saturating_mul(4);
        seed += 1;
    }
    share.work - budget.remaining
}

/// While the proof uses all processors, annealing works for this time and then sleeps at least as
/// long. Without sleeping it would occupy one of two processors; with half of the visits, the cost
/// of its answers is only 0.2 % higher.
const WORK_INTERVAL: Duration = Duration::from_millis(5);
/// Node visits per site in the first long run.
const VISITS_PER_SITE: u64 = 10_000;

/// The effort for one part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffortShare {
    /// Steps of work; `u64::MAX` for no limit.
    pub work: u64,
    /// The time limit.
    pub end: Option<Instant>,
    pub steps: EnabledSteps,
    /// Number of earlier attempts at the part.
    pub round: u64,
}

/// Anneals on this thread and proves on another until the time is over or the proof is complete.
fn concurrent(
    graph: &Arc<NoiseGraph>,
    incumbent: &Arc<Incumbent>,
    clock: &RunClock,
    share: &EffortShare,
    patience: Duration,
    report: &mut dyn FnMut(&Incumbent),
) {
    let end = share.end;
    let over = {
        let clock = clock.clone();
        move || clock.is_over() || end.is_some_and(|end| Instant::now() >= end)
    };
    let prover = share.steps.prove.then(|| {
        let (graph, incumbent, over) = (Arc::clone(graph), Arc::clone(incumbent), over.clone());
        let (steps, clock) = (share.steps, clock.clone());
        std::thread::spawn(move || {
            let stop = || over() || incumbent.is_done();
            while clock.is_narrow() && !stop() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let mut budget = EffortBudget { stop: &stop, remaining: u64::MAX, steps };
            prove::prove(&graph, &incumbent, &mut budget);
        })
    });
    let finished = || prover.as_ref().is_none_or(std::thread::JoinHandle::is_finished);
    // Most parts are proven quickly, and annealing would only slow down the proof.
    let start = Instant::now();
    while !finished() && !over() && !clock.is_narrow() && start.elapsed() < patience {
        std::thread::sleep(Duration::from_micros(200));
    }
    report(incumbent);
    anneal(graph, incumbent, &over, share, report);
    while !finished() && !over() && !incumbent.is_done() {
        std::thread::sleep(Duration::from_millis(1));
        report(incumbent);
    }
    incumbent.request_stop();
    report(incumbent);
    if let Some(prover) = prover {
        // The solver may notice the stop flag late; then the thread is left to end by itself.
        let start = Instant::now();
        while !prover.is_finished() && start.elapsed() < Duration::from_millis(20) {
            std::thread::sleep(Duration::from_micros(200));
        }
        if prover.is_finished() {
            // If the prover panicked, the bounds that it posted before are still valid.
            drop(prover.join());
        }
    }
}

/// First proves and then anneals on this thread, until the time is over or the proof is complete.
fn one_after_the_other(
    graph: &Arc<NoiseGraph>,
    incumbent: &Arc<Incumbent>,
    clock: &RunClock,
    share: &EffortShare,
    report: &mut dyn FnMut(&Incumbent),
) {
    let end = share.end;
    let over = || clock.is_over() || end.is_some_and(|end| Instant::now() >= end);
    if share.steps.prove {
        let now = Instant::now();
        let half = end.map(|end| now + end.saturating_duration_since(now) / 2);
        let is_half_over = || half.is_some_and(|half| Instant::now() >= half);
        let stop = || over() || incumbent.is_done() || share.steps.anneal && is_half_over();
        let mut budget = EffortBudget { stop: &stop, remaining: u64::MAX, steps: share.steps };
        prove::prove(graph, incumbent, &mut budget);
        report(incumbent);
    }
    anneal(graph, incumbent, &over, share, report);
    incumbent.request_stop();
    report(incumbent);
}

/// Anneals in runs of growing length.
fn anneal(
    graph: &Arc<NoiseGraph>,
    incumbent: &Arc<Incumbent>,
    over: &(dyn Fn() -> bool + Sync),
    share: &EffortShare,
    report: &mut dyn FnMut(&Incumbent),
) {
    let end = share.end;
    let mut length = graph.n_sites() as f64 * VISITS_PER_SITE as f64;
    let mut seed = 2 + (share.round << 32);
    // Node visits per second, measured in each run.
    let mut speed = 1e7;
    let mut budget = EffortBudget { stop: over, remaining: u64::MAX, steps: share.steps };
    while !over() && !incumbent.is_done() && share.steps.anneal {
        let start = Instant::now();
        let left = end.map_or(f64::INFINITY, |end| (end - start).as_secs_f64());
        let whole = left * speed < length * 5.0;
        let mut reported = start;
        let mut rested = start;
        let mut visits = 0;
        improve(
            graph,
            incumbent,
            seed,
            &mut |work| {
                visits = work;
                if over() || incumbent.is_done() {
                    return 1.0;
                }
                if reported.elapsed() > Duration::from_millis(50) {
                    reported = Instant::now();
                    report(incumbent);
                }
                // Without sleeping, annealing would occupy a processor that the proof can use.
                let rests = incumbent.sleep_ratio();
                if rests > 0 && rested.elapsed() > WORK_INTERVAL {
                    std::thread::sleep(WORK_INTERVAL * rests);
                    rested = Instant::now();
                }
                if whole {
                    start.elapsed().as_secs_f64() / left.max(1e-9)
                } else {
                    work as f64 / length
                }
            },
            &mut budget,
        );
        report(incumbent);
        let seconds = start.elapsed().as_secs_f64();
        if seconds > 1e-3 {
            speed = visits as f64 / seconds;
        }
        length *= 4.0;
        seed += 1;
    }
}
