//! Limits of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A time that no work takes.
const FAR: Duration = Duration::from_secs(1 << 28);

/// Tells when work has to end.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    end: Instant,
    /// Another thread sets this to true to end the work early.
    cancel: Option<Arc<AtomicBool>>,
}

impl Clock {
    pub(crate) fn new(time: Duration, cancel: Option<Arc<AtomicBool>>) -> Self {
        let now = Instant::now();
        // A moment too far in the future to be represented is as good as one in some years.
        let end = now.checked_add(time).or_else(|| now.checked_add(FAR)).unwrap_or(now);
        Self { end, cancel }
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Duration {
        if self.is_cancelled() {
            return Duration::ZERO;
        }
        self.end.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// A clock for a part of the time that is left.
    pub(crate) fn part(&self, of: f64) -> Self {
        Self::new(self.left().mul_f64(of.clamp(0.0, 1.0)), self.cancel.clone())
    }

    /// A clock that ends after this time, or with this one if that is earlier.
    pub(crate) fn at_most(&self, time: Duration) -> Self {
        Self::new(self.left().min(time), self.cancel.clone())
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }
}
