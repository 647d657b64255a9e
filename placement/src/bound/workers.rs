//! Threads that share the work of a proof.
//!
//! *Law.* With a work limit, a single thread does all the work in order, so that the answer depends
//! only on the instance and the limit.

use crate::bound::cores::CoreSeparator;
use crate::question::limits::EffortBudget;

/// Returns the number of threads for a budget.
pub(crate) fn n_workers(budget: &EffortBudget) -> usize {
    if budget.remaining < u64::MAX {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Runs `work` on several threads, each with its own copy of the cores; with one worker, on this
/// thread only.
pub(crate) fn run_on_workers<'g>(
    n_workers: usize,
    cores: &mut CoreSeparator<'g>,
    budget: &mut EffortBudget,
    work: impl Fn(&mut CoreSeparator<'g>, &mut EffortBudget) + Sync,
) {
    if n_workers <= 1 {
        work(cores, budget);
        return;
    }
    let (stop, steps) = (budget.stop, budget.steps);
    std::thread::scope(|scope| {
        for _ in 0..n_workers {
            let (work, mut cores) = (&work, cores.clone());
            scope.spawn(move || {
                work(&mut cores, &mut EffortBudget { stop, remaining: u64::MAX, steps });
            });
        }
    });
}
