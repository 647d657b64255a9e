//! How long the optimizer may work, which of its steps are on, and what it says on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bounds on the effort of [`crate::place`].
///
/// A legal answer is made whatever the limits are, in time linear in the instance; they bound what improves
/// and proves it. With neither time nor work limited the optimizer goes on until its answer is proven.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock time. The answer may come a few hundredths of a second later.
    pub time: Option<Duration>,
    /// Steps of work, of about a tenth of a microsecond each. With a work limit, no time limit and no
    /// cancellation the answer depends on the instance and this number only.
    pub work: Option<u64>,
    /// Set to true from another thread to end early with what there is.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Which steps are on.
    pub steps: Steps,
}

impl Default for Limits {
    /// Ten seconds, all steps.
    fn default() -> Limits {
        Limits {
            time: Some(Duration::from_secs(10)),
            work: None,
            cancel: None,
            steps: Steps::default(),
        }
    }
}

/// Switches, so that what each step is worth can be measured. All on by default. Without any of them the
/// answer is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches")]
pub struct Steps {
    /// Decide what is forced and what is idle before any search.
    pub force: bool,
    /// Solve independent parts apart.
    pub split: bool,
    /// Take useless sites out of the greedy answer.
    pub prune: bool,
    /// Improve by annealing.
    pub anneal: bool,
    /// Compute bounds and proofs at all.
    pub prove: bool,
    /// Bounds from conflict cores; off: no bounds, but the choice that the compact model finds.
    pub cores: bool,
    /// Solve the relaxation of a large part in clusters first.
    pub partition: bool,
    /// Fix sites by reduced cost before branch and bound.
    pub fix: bool,
    /// Dynamic programming over a narrow program.
    pub frontier_dp: bool,
    /// That for a small program before anything else.
    pub sweep_first: bool,
    /// Tighten the relaxation by local cuts.
    pub cuts: bool,
    /// Branch and bound.
    pub branch: bool,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
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

/// What the optimizer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A first legal answer exists.
    Greedy,
    /// Parts are being improved and proven.
    Search,
    /// The answer is final.
    Done,
}

/// Where the optimizer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Cost of the best legal answer so far.
    pub cost: u64,
    /// No legal answer costs less.
    pub lower_bound: u64,
    /// Time since the start.
    pub elapsed: Duration,
}

/// How much may be spent, and what was.
pub(crate) struct Budget<'a> {
    /// Asked often; true ends everything.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Steps of work left; a step is about a node visit.
    pub left: u64,
    /// Which steps are on.
    pub steps: Steps,
}

impl Budget<'_> {
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0 || (self.stop)()
    }

    /// Spends work; without a limit of work nothing is counted.
    pub(crate) fn spend(&mut self, work: u64) {
        if self.left < u64::MAX {
            self.left = self.left.saturating_sub(work);
        }
    }

    /// Spends for simplex iterations on a program of `n` columns; at least one, so that loops of free solves end.
    pub(crate) fn spend_iterations(&mut self, iterations: u64, n: usize) {
        self.spend((iterations + 1).saturating_mul(iteration(n)));
    }

    /// What the solver may use of what is left, on a program of `n` columns.
    pub(crate) fn for_solver(&self, n: usize) -> noisy_solver::Limits<'_> {
        let is_all = self.left == u64::MAX;
        let iterations = if is_all { u64::MAX } else { self.left / iteration(n) + 1 };
        noisy_solver::Limits { stop: self.stop, iterations, ..noisy_solver::Limits::none() }
    }
}

/// A simplex iteration costs about this many node visits, as measured with 250 and with 33,000 columns.
fn iteration(n: usize) -> u64 {
    200 + n as u64 / 7
}

/// The limits as questions.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    start: Instant,
    pub(crate) end: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
}

impl Clock {
    pub(crate) fn new(limits: &Limits) -> Clock {
        let start = Instant::now();
        // A limit too far in the future to be told is none.
        let end = limits.time.and_then(|time| start.checked_add(time));
        Clock { start, end, cancel: limits.cancel.clone() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn is_over(&self) -> bool {
        let cancelled = self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        cancelled || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
