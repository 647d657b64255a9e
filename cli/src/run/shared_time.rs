//! The time limit of a run.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use noisy_syntax::parallel;

/// The time limit, shared by all files. Each file gets its part of the remaining time when its turn
/// comes, and a sixteenth if there are many files, because most files need almost no time. Only the
/// work of the optimizer counts, summed over all threads. Reading and writing files is not limited,
/// and does not reduce the time of later files.
pub(crate) struct SharedTime {
    n_threads: usize,
    /// Number of files that have no share yet.
    n_left: Mutex<usize>,
    /// Time that the optimizer had spent in this process when the run began.
    worked_before: Duration,
}

impl SharedTime {
    /// `worked` is the time that the optimizer has already spent in this process.
    pub(crate) fn new(n_files: usize, worked: Duration) -> Self {
        Self { n_threads: parallel::n_cores(), n_left: Mutex::new(n_files), worked_before: worked }
    }

    /// The limit for the next file, when the optimizer has worked for `worked` in this process.
    pub(crate) fn share(&self, limit: Duration, worked: Duration) -> Duration {
        let mut left = self.n_left.lock().unwrap_or_else(PoisonError::into_inner);
        let rounds = left.div_ceil(self.n_threads).clamp(1, 16) as u32;
        *left = left.saturating_sub(1);
        let spent = worked.saturating_sub(self.worked_before) / self.n_threads as u32;
        limit.saturating_sub(spent) / rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_work_of_the_optimizer_uses_the_shared_time() {
        let limit = Duration::from_secs(10);
        let before = Duration::from_secs(7);
        let time = SharedTime { n_threads: 2, n_left: Mutex::new(4), worked_before: before };
        // Two rounds of two files.
        assert_eq!(time.share(limit, before), limit / 2);
        assert_eq!(time.share(limit, before), limit / 2);
        // Time does not count if the optimizer did no work.
        assert_eq!(time.share(limit, before), limit);
        let both = Duration::from_secs(4);
        assert_eq!(time.share(limit, before + both), Duration::from_secs(8));
        assert_eq!(time.share(limit, before + 3 * limit), Duration::ZERO);
        let many = SharedTime { n_left: Mutex::new(10_000), ..time };
        assert_eq!(many.share(limit, before), limit / 16);
    }
}
