//! Concurrent placement of the original program and of its rewriting. The placement of the original
//! program ends early when its lower bound exceeds the cost of the rewriting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use noisy_analyses::repair::placement::ProgressCallback;
use noisy_analyses::{PlacementOptions as Placing, Program};

/// Minimum time for the placement of the original program; most placements are proven by then.
const LEAST: Duration = Duration::from_millis(200);

/// The shared state of both placements.
#[derive(Clone, Debug)]
pub(crate) struct PlacementRace {
    start: Instant,
    /// True if exactly one function is over the budget, so that both placements are about the same
    /// function and their costs are comparable.
    is_fair: bool,
    standing: Arc<Mutex<RaceState>>,
    /// Flag that ends the placement of the original program.
    stop: Arc<AtomicBool>,
    /// Flag that limits the placement of the original program to one thread while the search for a
    /// rewriting runs.
    is_single_threaded: Arc<AtomicBool>,
}

#[derive(Debug)]
struct RaceState {
    /// Best cost of the original program up to now.
    cost: f64,
    /// Lower bound of the cost of the original program.
    bound: f64,
    /// Cost of the rewriting.
    rewriting_cost: f64,
    is_over: bool,
}

impl PlacementRace {
    pub(crate) fn new(program: &Program) -> Self {
        let standing = RaceState {
            cost: f64::INFINITY,
            bound: 0.0,
            rewriting_cost: f64::INFINITY,
            is_over: false,
        };
        Self {
            start: Instant::now(),
            is_fair: program.excesses().len() == 1,
            standing: Arc::new(Mutex::new(standing)),
            stop: Arc::default(),
            is_single_threaded: Arc::new(AtomicBool::new(true)),
        }
    }

    fn standing(&self) -> MutexGuard<'_, RaceState> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the placement of the original program if its bound exceeds the cost of the rewriting.
    fn stop_if_lost(&self) {
        let it = self.standing();
        if self.is_fair && it.rewriting_cost < it.bound {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Returns options for the placement of the original program that report its progress to this
    /// race.
    pub(crate) fn watched_options(&self, mut placing: Placing) -> Placing {
        let (race, told) = (self.clone(), placing.watch.take());
        let cancel = placing.limits.cancel.replace(self.stop.clone());
        placing.limits.is_single_threaded = Some(self.is_single_threaded.clone());
        placing.watch = Some(ProgressCallback::new(move |it| {
            {
                let mut standing = race.standing();
                standing.cost = it.price.executions();
                standing.bound = it.least_price.executions();
            }
            race.stop_if_lost();
            if cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
                race.stop.store(true, Ordering::Relaxed);
            }
            if let Some(told) = &told {
                told.report(it);
            }
        }));
        placing
    }

    /// Called when the search for a rewriting has ended: allows all threads for the original
    /// program.
    pub(crate) fn allow_all_threads(&self) {
        self.is_single_threaded.store(false, Ordering::Relaxed);
    }

    /// Called when the placement of the original program has ended.
    pub(crate) fn end(&self) {
        self.standing().is_over = true;
    }

    /// Returns true if the original program costs at most as much as a rewriting of this cost.
    pub(crate) fn is_lost(&self, cost: f64) -> bool {
        self.is_fair && self.standing().cost <= cost
    }

    /// Called when the rewriting has a first placement.
    pub(crate) fn enter_rewriting(&self, cost: f64) {
        self.standing().rewriting_cost = cost;
        self.stop_if_lost();
    }

    /// Called when the rewriting has its final placement. The other placement may continue for the
    /// same time again, which mostly proves its cost.
    pub(crate) fn finish_rewriting(&self, cost: f64) {
        let most = (self.start.elapsed() * 2).max(LEAST);
        while self.is_fair && self.start.elapsed() < most && !self.standing().is_over {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.enter_rewriting(cost);
    }
}

#[cfg(test)]
mod tests {
    use noisy_analyses::repair::placement::{GroupProgress as Told, insert_reduces};

    use super::*;

    fn over(n: usize) -> Program {
        let function = |n| {
            format!(
                "func.func @f{n}(%x: !noisy.i32) -> !noisy.i32 {{\n  %0 = noisy.mul %x, %x : !noisy.i32\n  \
                 %1 = noisy.mul %0, %0 : !noisy.i32\n  return %1 : !noisy.i32\n}}\n"
            )
        };
        Program::new(&(0..n).map(function).collect::<String>())
    }

    /// Returns the race after the placement of the original program, which costs one reduction per
    /// function.
    fn placed(program: &Program, told: &Arc<Mutex<Vec<Told>>>) -> PlacementRace {
        let race = PlacementRace::new(program);
        let told = told.clone();
        let watch = ProgressCallback::new(move |it| told.lock().expect("no panic").push(it));
        let placing = Placing { watch: Some(watch), ..Placing::default() };
        race.allow_all_threads();
        let outcome =
            insert_reduces(program, &program.ir().functions(), &race.watched_options(placing));
        assert!(outcome.is_ok());
        race.end();
        race
    }

    #[test]
    fn a_placement_that_has_lost_is_stopped() {
        let told = Arc::default();
        let race = placed(&over(1), &told);
        let is_stopped = || race.stop.load(Ordering::Relaxed);
        assert!(!told.lock().expect("no panic").is_empty(), "the watch of the caller is told, too");
        assert!(race.is_lost(1.0) && !race.is_lost(0.0));
        race.enter_rewriting(1.0);
        assert!(!is_stopped(), "as cheap is not cheaper");
        race.finish_rewriting(0.0);
        assert!(is_stopped());
    }

    #[test]
    fn placements_of_several_functions_are_not_compared() {
        let race = placed(&over(2), &Arc::default());
        assert!(!race.is_lost(5.0));
        race.finish_rewriting(0.0);
        assert!(!race.stop.load(Ordering::Relaxed));
    }

    #[test]
    fn cancellation_ends_the_placement() {
        let program = over(1);
        let race = PlacementRace::new(&program);
        let mut placing = Placing::default();
        placing.limits.cancel = Some(Arc::new(AtomicBool::new(true)));
        let _ = insert_reduces(&program, &program.ir().functions(), &race.watched_options(placing));
        assert!(race.stop.load(Ordering::Relaxed));
    }
}
