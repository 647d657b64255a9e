//! Threads that share the work of a proof.
//!
//! *Law.* With a work limit, a single thread does all the work in order, so that the answer depends
//! only on the instance and the limit.

use crate::bound::cores::Cores;
use crate::question::limits::Budget;

/// Returns the number of threads for a budget.
pub(crate) fn workers(budget: &Budget) -> usize {
    if budget.left < u64::MAX {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Runs `work` on several threads, each with its own copy of the cores; with one worker, on this
/// thread only.
pub(crate) fn side_by_side<'g>(
    n_workers: usize,
    cores: &mut Cores<'g>,
    budget: &mut Budget,
    work: impl Fn(&mut Cores<'g>, &mut Budget) + Sync,
) {
    if n_workers <= 1 {
        work(cores, budget);
        return;
    }
    let (stop, steps) = (budget.stop, budget.steps);
    std::thread::scope(|scope| {
        for _ in 0..n_workers {
            let (work, mut cores) = (&work, cores.clone());
            scope.spawn(move || work(&mut cores, &mut Budget { stop, left: u64::MAX, steps }));
        }
    });
}
