//! How long the optimizer may work, which of its steps are on, and what it says on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bounds on the effort of [`super::place`].
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
    /// Bounds from conflict cores; off: from the compact model.
    pub cores: bool,
    /// Solve the relaxation of a large part in clusters first.
    pub cluster: bool,
    /// Fix sites by reduced cost before branch and bound.
    pub fix: bool,
    /// Dynamic programming over a narrow program.
    pub sweep: bool,
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
            cluster: true,
            fix: true,
            sweep: true,
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

/// The limits as questions.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    start: Instant,
    pub(super) end: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
}

impl Clock {
    pub(super) fn new(limits: &Limits) -> Clock {
        let start = Instant::now();
        // A limit too far in the future to be told is none.
        let end = limits.time.and_then(|time| start.checked_add(time));
        Clock { start, end, cancel: limits.cancel.clone() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn is_over(&self) -> bool {
        let cancelled = self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        cancelled || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
