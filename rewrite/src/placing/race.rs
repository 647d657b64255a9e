//! The placement of a program as it is and that of its rewriting run beside each other. The first
//! ends early once its lower bound shows that it costs more than the second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use noisy_analyses::repair::placement::Watch;
use noisy_analyses::{Options as Placing, Program};

/// Time that the placement of the program as it is has at least: most are proven by then.
const LEAST: Duration = Duration::from_millis(200);

/// The standing of both placements.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    start: Instant,
    /// True if both place the same functions together, so that their costs can be compared.
    is_fair: bool,
    standing: Arc<Mutex<Standing>>,
    /// Ends the placement of the program as it is.
    stop: Arc<AtomicBool>,
    /// The search for a rewriting needs a core: the placement has one thread.
    is_narrow: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Standing {
    /// Cost of the program as it is, so far.
    cost: f64,
    /// It never costs less.
    bound: f64,
    /// Cost of the rewriting.
    rival: f64,
    is_over: bool,
}

impl Race {
    pub(crate) fn new(program: &Program) -> Self {
        let standing =
            Standing { cost: f64::INFINITY, bound: 0.0, rival: f64::INFINITY, is_over: false };
        Self {
            start: Instant::now(),
            is_fair: program.excesses().len() == 1,
            standing: Arc::new(Mutex::new(standing)),
            stop: Arc::default(),
            is_narrow: Arc::new(AtomicBool::new(true)),
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the placement of the program as it is if it has lost.
    fn decide(&self) {
        let it = self.standing();
        if self.is_fair && it.rival < it.bound {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The options of the placement of the program as it is, which this watches.
    pub(crate) fn watched(&self, mut placing: Placing) -> Placing {
        let (race, told) = (self.clone(), placing.watch.take());
        let cancel = placing.limits.cancel.replace(self.stop.clone());
        placing.limits.is_narrow = Some(self.is_narrow.clone());
        placing.watch = Some(Watch::new(move |it| {
            {
                let mut standing = race.standing();
                standing.cost = it.price.executions();
                standing.bound = it.least_price.executions();
            }
            race.decide();
            if cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
                race.stop.store(true, Ordering::Relaxed);
            }
            if let Some(told) = &told {
                told.tell(it);
            }
        }));
        placing
    }

    /// The search for a rewriting has ended.
    pub(crate) fn widen(&self) {
        self.is_narrow.store(false, Ordering::Relaxed);
    }

    /// The placement of the program as it is has ended.
    pub(crate) fn end(&self) {
        self.standing().is_over = true;
    }

    /// True if the program as it is costs no more than its rewriting.
    pub(crate) fn is_lost(&self, cost: f64) -> bool {
        self.is_fair && self.standing().cost <= cost
    }

    /// The rewriting has a first placement.
    pub(crate) fn enter(&self, cost: f64) {
        self.standing().rival = cost;
        self.decide();
    }

    /// The rewriting has its last placement. The other may go on for as long again, which mostly
    /// proves its cost.
    pub(crate) fn finish(&self, cost: f64) {
        let most = (self.start.elapsed() * 2).max(LEAST);
        while self.is_fair && self.start.elapsed() < most && !self.standing().is_over {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.enter(cost);
    }
}

#[cfg(test)]
mod tests {
    use noisy_analyses::repair::placement::{Standing as Told, insert_reduces};

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

    /// The race after the program as it is was placed, which costs one reduction.
    fn placed(program: &Program, told: &Arc<Mutex<Vec<Told>>>) -> Race {
        let race = Race::new(program);
        let told = told.clone();
        let watch = Watch::new(move |it| told.lock().expect("no panic").push(it));
        let placing = Placing { watch: Some(watch), ..Placing::default() };
        race.widen();
        let outcome = insert_reduces(program, &program.ir().functions(), &race.watched(placing));
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
        race.enter(1.0);
        assert!(!is_stopped(), "as cheap is not cheaper");
        race.finish(0.0);
        assert!(is_stopped());
    }

    #[test]
    fn placements_of_several_functions_are_not_compared() {
        let race = placed(&over(2), &Arc::default());
        assert!(!race.is_lost(5.0));
        race.finish(0.0);
        assert!(!race.stop.load(Ordering::Relaxed));
    }

    #[test]
    fn an_end_from_outside_ends_the_placement() {
        let program = over(1);
        let race = Race::new(&program);
        let mut placing = Placing::default();
        placing.limits.cancel = Some(Arc::new(AtomicBool::new(true)));
        let _ = insert_reduces(&program, &program.ir().functions(), &race.watched(placing));
        assert!(race.stop.load(Ordering::Relaxed));
    }
}
