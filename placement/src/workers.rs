//! Threads that share work.
//!
//! *Law.* Under a limit of work one thread does all in order, so that the answer depends on the instance and the number only.

use crate::cores::Cores;
use crate::limits::Budget;

/// How many threads share what a budget allows.
pub(crate) fn workers(budget: &Budget) -> usize {
    if budget.left < u64::MAX {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Has some threads do the same, with memory of their own; this one alone if work is counted.
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
