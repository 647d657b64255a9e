//! Parallel work on many items, with results in order. No other module shares work on programs
//! between threads.
//!
//! *Law.* The results do not depend on the number of threads, even if the system grants none: the
//! calling thread then does the work.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// Stack size of each thread in bytes. Deeply nested programs are walked by recursion. Unused pages
/// of a stack cost nothing.
const STACK_BYTES: usize = 64 << 20;

/// Maximum number of results that wait for the next result in order.
const MAX_WAITING: usize = 1024;

/// Maximum number of items in a run, which a thread takes at once. Handing over small files one by
/// one costs a tenth of the work on them.
const MAX_RUN_LEN: usize = 16;
/// Minimum number of runs for each thread, so that no thread waits long for a slow one.
const MIN_RUNS_PER_THREAD: usize = 64;

/// Returns the number of threads that run at once on this machine. The system is queried only once:
/// on Linux a query takes as long as the analysis of a small document.
pub fn n_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Runs `work` on a thread with a deep stack, or on the calling thread if the system grants no
/// thread.
pub fn with_deep_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let done = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        Some(builder.spawn_scoped(scope, &work).ok()?.join())
    });
    match done {
        Some(Ok(it)) => it,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => work(),
    }
}

/// Runs `other` on a new thread with a deep stack while the calling thread runs `mine`. If the
/// system grants no thread, `other` runs after `mine`.
pub fn run_beside<A, B: Send>(mine: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    let (mine, other_done) = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, &other).ok();
        (mine(), thread.map(std::thread::ScopedJoinHandle::join))
    });
    match other_done {
        Some(Ok(it)) => (mine, it),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => (mine, other()),
    }
}

/// The queue of results that `take` has not received yet.
struct ResultQueue<T> {
    /// Runs of results, keyed by the number of the first item of the run.
    waiting: BTreeMap<usize, Vec<T>>,
    /// Number of results that `take` received; `usize::MAX` after `take` returned false.
    n_taken: usize,
    /// True while a thread passes results to `take`.
    is_attended: bool,
}

/// Applies `work` to `0..n` on `n_threads` threads besides the caller's. Passes each result to
/// `take` as soon as all earlier ones were passed, until `take` returns false. The thread that
/// computes the next result in order also passes it on, with all results that wait for it, so no
/// other thread is woken for that.
pub fn map_in_order<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl Fn(usize) -> T + Sync,
    take: impl FnMut(T) -> bool + Send,
) {
    map_runs_in_order(n_threads, n, |run| run.map(&work).collect(), take);
}

/// Like [`map_in_order`], but `work` processes a run of numbers at once and returns one result per
/// number: for work that is cheaper for several items together. The length of the runs depends on
/// the numbers of items and threads.
pub fn map_runs_in_order<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl Fn(Range<usize>) -> Vec<T> + Sync,
    mut take: impl FnMut(T) -> bool + Send,
) {
    let threads = n_threads.min(n);
    if threads == 0 {
        let _ = (0..n).flat_map(|it| work(it..it + 1)).all(take);
        return;
    }
    let at_once = (n / (threads * MIN_RUNS_PER_THREAD)).clamp(1, MAX_RUN_LEN);
    let next = AtomicUsize::new(0);
    let line = ResultQueue { waiting: BTreeMap::new(), n_taken: 0, is_attended: false };
    // A thread waits before it starts work too far ahead, because the result would only wait.
    let (line, moved) = (Mutex::new(line), Condvar::new());
    let of_line = || line.lock().unwrap_or_else(PoisonError::into_inner);
    let taker = Mutex::new(&mut take);
    let hand_over = |first: usize, results: Vec<T>| {
        let mut at = of_line();
        at.waiting.insert(first, results);
        if std::mem::replace(&mut at.is_attended, true) {
            return;
        }
        let mut take = taker.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let due = at.n_taken;
            let Some(results) = at.waiting.remove(&due) else { break };
            drop(at);
            let n_taken = due + results.len();
            let goes_on = results.into_iter().all(&mut **take);
            if !goes_on {
                next.store(n, Ordering::Relaxed);
            }
            at = of_line();
            at.n_taken = if goes_on { n_taken } else { usize::MAX };
            moved.notify_all();
        }
        at.is_attended = false;
    };
    let run = || {
        loop {
            let first = next.fetch_add(at_once, Ordering::Relaxed);
            if first >= n {
                return;
            }
            let is_far = |it: &mut ResultQueue<T>| first >= MAX_WAITING.saturating_add(it.n_taken);
            drop(moved.wait_while(of_line(), is_far).unwrap_or_else(PoisonError::into_inner));
            hand_over(first, work(first..n.min(first + at_once)));
        }
    };
    let n_started = std::thread::scope(|scope| {
        let start = |_: &usize| {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, run).is_ok()
        };
        (0..threads).filter(start).count()
    });
    if n_started == 0 {
        // The system grants no thread.
        let _ = (0..n).flat_map(|it| work(it..it + 1)).all(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tasks_run_concurrently() {
        let (send, receive) = std::sync::mpsc::channel();
        let send = Mutex::new(send);
        let other = || send.lock().is_ok_and(|it| it.send(2).is_ok());
        // Each task waits for the other, so running them in sequence would never end.
        assert_eq!(run_beside(move || receive.recv(), other), (Ok(2), true));
    }

    #[test]
    fn results_come_in_order() {
        for n_threads in [0, 1, 4] {
            let mut out = Vec::new();
            map_in_order(
                n_threads,
                5000,
                |n| n,
                |it| {
                    out.push(it);
                    true
                },
            );
            assert_eq!(out, (0..5000).collect::<Vec<_>>());
        }
    }

    #[test]
    fn stops_when_take_returns_false() {
        for n_threads in [0, 2] {
            let begun = AtomicUsize::new(0);
            let mut n_taken = 0;
            map_in_order(
                n_threads,
                100 * MAX_WAITING,
                |_| begun.fetch_add(1, Ordering::Relaxed),
                |_| {
                    n_taken += 1;
                    n_taken < 3
                },
            );
            assert_eq!(n_taken, 3);
            assert!(begun.load(Ordering::Relaxed) < 2 * MAX_WAITING + 16);
        }
    }

    #[test]
    fn deep_stack_holds_many_calls() {
        fn deep(n: usize) -> usize {
            if n == 0 { 0 } else { 1 + std::hint::black_box(deep(n - 1)) }
        }
        // Tests have stacks of 2 MB.
        assert_eq!(with_deep_stack(|| deep(200_000)), 200_000);
    }

    #[test]
    fn accepts_zero_items() {
        map_in_order(2, 0, |n| n, |_| unreachable!());
    }
}
