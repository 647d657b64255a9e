//! Limits of time and work, switches for the steps of the optimizer, and progress reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of the effort of [`crate::place`].
///
/// The optimizer always computes a first legal answer, in time linear in the size of the instance.
/// The limits apply to the improvement and the proof. If neither time nor work is limited, it runs
/// until its answer is proven.
#[derive(Clone, Debug)]
pub struct PlacementLimits {
    /// Wall-clock time. The run may take some hundredths of a second longer.
    pub time: Option<Duration>,
    /// Work in steps of about 0.1 microseconds. With a work limit, without a time limit and without
    /// cancellation, the answer depends only on the instance and this number.
    pub work: Option<u64>,
    /// Flag for cancellation. If another thread sets it to true, the run ends early with the best
    /// answer found up to then.
    pub cancel: Option<Arc<AtomicBool>>,
    /// While another thread keeps this flag true, a run with a time limit uses one thread:
    /// concurrent proofs wait.
    pub is_single_threaded: Option<Arc<AtomicBool>>,
    /// The enabled steps.
    pub steps: EnabledSteps,
}

impl Default for PlacementLimits {
    /// Returns a limit of ten seconds with all steps enabled.
    fn default() -> PlacementLimits {
        PlacementLimits {
            time: Some(Duration::from_secs(10)),
            work: None,
            cancel: None,
            is_single_threaded: None,
            steps: EnabledSteps::default(),
        }
    }
}

/// Switches for the steps of the optimizer, to measure the benefit of each one. All are on by
/// default. With all of them off, the answer is still legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches")]
pub struct EnabledSteps {
    /// Decide forced and useless sites before any search.
    pub force: bool,
    /// Solve independent parts separately.
    pub split: bool,
    /// Remove useless sites from the greedy answer.
    pub prune: bool,
    /// Improve by annealing.
    pub anneal: bool,
    /// Compute bounds and proofs.
    pub prove: bool,
    /// Derive bounds from conflict cores. If off, there are no bounds, and the compact model finds
    /// choices.
    pub cores: bool,
    /// Solve the relaxation of a large part in clusters before the whole part.
    pub partition: bool,
    /// Fix sites by reduced cost before branch and bound.
    pub fix: bool,
    /// Solve narrow programs by dynamic programming.
    pub frontier_dp: bool,
    /// Solve small programs by dynamic programming before anything else.
    pub sweep_first: bool,
    /// Tighten the relaxation by local cuts.
    pub cuts: bool,
    /// Search by branch and bound.
    pub branch: bool,
}

impl Default for EnabledSteps {
    fn default() -> EnabledSteps {
        EnabledSteps {
            force: true,
            split: true,
            prune: true,
            anneal: true,
            prove: true,
            cores: true,
            partition: true,
            fix: true,
            frontier_dp: true,
            sweep_first: true,
            cuts: true,
            branch: true,
        }
    }
}

/// The current phase of the optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementPhase {
    /// A first legal answer exists.
    Greedy,
    /// Parts are being improved and proven.
    Search,
    /// The answer is final.
    Done,
}

/// A progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacementProgress {
    /// The current phase.
    pub phase: PlacementPhase,
    /// Cost of the best legal answer found up to now.
    pub cost: u64,
    /// Proven lower bound: no legal answer costs less.
    pub lower_bound: u64,
    /// Time since the start of the run.
    pub elapsed: Duration,
}

/// The remaining effort of a computation.
pub(crate) struct EffortBudget<'a> {
    /// Polled often; the computation ends when it returns true.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Remaining steps of work; a step is about one visit of a node. `u64::MAX` means no limit.
    pub remaining: u64,
    /// The enabled steps.
    pub steps: EnabledSteps,
}

impl EffortBudget<'_> {
    pub(crate) fn is_spent(&self) -> bool {
        self.remaining == 0 || (self.stop)()
    }

    /// Subtracts work. Without a work limit nothing is counted.
    pub(crate) fn spend(&mut self, work: u64) {
        if self.remaining < u64::MAX {
            self.remaining = self.remaining.saturating_sub(work);
        }
    }

    /// Subtracts the work of simplex iterations on a linear program with `n` columns. At least one
    /// iteration is counted, so that a loop of solves without iterations terminates.
    pub(crate) fn spend_iterations(&mut self, iterations: u64, n: usize) {
        self.spend((iterations + 1).saturating_mul(iteration_cost(n)));
    }

    /// Returns the limits of the solver for a linear program with `n` columns.
    pub(crate) fn for_solver(&self, n: usize) -> noisy_solver::SolverLimits<'_> {
        let is_all = self.remaining == u64::MAX;
        let iterations = if is_all { u64::MAX } else { self.remaining / iteration_cost(n) + 1 };
        noisy_solver::SolverLimits {
            should_stop: self.stop,
            max_iterations: iterations,
            ..noisy_solver::SolverLimits::none()
        }
    }
}

/// Returns the cost of a simplex iteration in node visits, fitted to measurements with 250 and with
/// 33,000 columns.
fn iteration_cost(n: usize) -> u64 {
    200 + n as u64 / 7
}

/// The time limit and the flags of a running optimization.
#[derive(Clone, Debug)]
pub(crate) struct RunClock {
    start: Instant,
    pub(crate) end: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
    is_narrow: Option<Arc<AtomicBool>>,
}

impl RunClock {
    pub(crate) fn new(limits: &PlacementLimits) -> RunClock {
        let start = Instant::now();
        // An instant that is too far in the future to be represented means no limit.
        let end = limits.time.and_then(|time| start.checked_add(time));
        let (cancel, is_narrow) = (limits.cancel.clone(), limits.is_single_threaded.clone());
        RunClock { start, end, cancel, is_narrow }
    }

    /// Returns true if concurrent proofs must wait.
    pub(crate) fn is_narrow(&self) -> bool {
        self.is_narrow.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn is_over(&self) -> bool {
        let cancelled = self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        cancelled || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
