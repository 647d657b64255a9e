//! Time limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A practically infinite time.
const FAR: Duration = Duration::from_secs(1 << 28);

/// A time limit with a cancel flag.
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    end: Instant,
    /// Another thread sets this to true to end the work early.
    cancel: Option<Arc<AtomicBool>>,
}

impl TimeLimit {
    pub(crate) fn new(time: Duration, cancel: Option<Arc<AtomicBool>>) -> Self {
        let now = Instant::now();
        // An instant that is too far in the future to be represented is replaced by a practically
        // infinite limit.
        let end = now.checked_add(time).or_else(|| now.checked_add(FAR)).unwrap_or(now);
        Self { end, cancel }
    }

    /// Returns the remaining time.
    pub(crate) fn remaining(&self) -> Duration {
        if self.is_cancelled() {
            return Duration::ZERO;
        }
        self.end.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Returns a clock for a fraction of the remaining time.
    pub(crate) fn part(&self, of: f64) -> Self {
        Self::new(self.remaining().mul_f64(of.clamp(0.0, 1.0)), self.cancel.clone())
    }

    /// Returns a clock that ends after the given time, or with this clock if that is earlier.
    pub(crate) fn at_most(&self, time: Duration) -> Self {
        Self::new(self.remaining().min(time), self.cancel.clone())
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }
}
