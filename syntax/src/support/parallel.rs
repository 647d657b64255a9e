//! Work on many things at once, with the results in order: the one place where threads share work
//! on programs.
//!
//! *Law.* What comes out does not depend on how many threads there are, nor on whether the system
//! grants any: what no thread does is done by the caller's.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// Results may wait so far ahead of the one that is due.
const AHEAD: usize = 1024;

/// A thread takes so many things at once at most: handing over each small file by itself costs a
/// tenth of the work on it.
const MOST_AT_ONCE: usize = 16;
/// Each thread has so many turns at least, so that none waits long for a slow one.
const TURNS: usize = 64;

/// Number of threads that run at once on this machine. The system is asked once: on Linux it takes
/// as long as a small document.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Runs `work` with as much stack as the threads of this module have, however little the caller
/// has; on the stack of the caller if the system grants no thread.
pub fn with_deep_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let done = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        Some(builder.spawn_scoped(scope, &work).ok()?.join())
    });
    match done {
        Some(Ok(it)) => it,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => work(),
    }
}

/// Runs `other` on a thread of its own, with a deep stack, while this one runs `mine`; after `mine`
/// if the system grants no thread.
pub fn beside<A, B: Send>(mine: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    let (mine, other_done) = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, &other).ok();
        (mine(), thread.map(std::thread::ScopedJoinHandle::join))
    });
    match other_done {
        Some(Ok(it)) => (mine, it),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => (mine, other()),
    }
}

/// The results that wait for their turn.
struct Line<T> {
    /// By the number of the first of each run of them.
    waiting: BTreeMap<usize, Vec<T>>,
    /// Number of results that were taken; at the greatest number nothing is due any more.
    n_taken: usize,
    /// Some thread takes what is due.
    is_attended: bool,
}

/// Applies `work` to `0..n` on so many threads, with none on the caller's, and `take`s the results
/// in order, each as soon as its turn comes, until one says that it is enough. The thread that made
/// the next part takes it, and the parts waiting behind it, so no other thread is woken for that.
pub fn in_order<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl Fn(usize) -> T + Sync,
    take: impl FnMut(T) -> bool + Send,
) {
    in_order_by_runs(n_threads, n, |run| run.map(&work).collect(), take);
}

/// As [`in_order`], with `work` for a run of numbers at once, which gives as many results: for who
/// does better with some things together than with one after the other. How long the runs are
/// depends on how many things and threads there are.
pub fn in_order_by_runs<T: Send>(
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
    let at_once = (n / (threads * TURNS)).clamp(1, MOST_AT_ONCE);
    let next = AtomicUsize::new(0);
    let line = Line { waiting: BTreeMap::new(), n_taken: 0, is_attended: false };
    // Nothing is begun that lies too far ahead: it would wait with its result.
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
            let is_far = |it: &mut Line<T>| first >= AHEAD.saturating_add(it.n_taken);
            drop(moved.wait_while(of_line(), is_far).unwrap_or_else(PoisonError::into_inner));
            hand_over(first, work(first..n.min(first + at_once)));
        }
    };
    let n_started = std::thread::scope(|scope| {
        let start = |_: &usize| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, run).is_ok()
        };
        (0..threads).filter(start).count()
    });
    if n_started == 0 {
        // The system refuses.
        let _ = (0..n).flat_map(|it| work(it..it + 1)).all(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tasks_run_beside_each_other() {
        let (send, receive) = std::sync::mpsc::channel();
        let send = Mutex::new(send);
        let other = || send.lock().is_ok_and(|it| it.send(2).is_ok());
        // The caller waits for the other, so one after the other would never end.
        assert_eq!(beside(move || receive.recv(), other), (Ok(2), true));
    }

    #[test]
    fn results_come_in_order() {
        for n_threads in [0, 1, 4] {
            let mut out = Vec::new();
            in_order(
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
    fn enough_is_enough() {
        for n_threads in [0, 2] {
            let begun = AtomicUsize::new(0);
            let mut n_taken = 0;
            in_order(
                n_threads,
                100 * AHEAD,
                |_| begun.fetch_add(1, Ordering::Relaxed),
                |_| {
                    n_taken += 1;
                    n_taken < 3
                },
            );
            assert_eq!(n_taken, 3);
            assert!(begun.load(Ordering::Relaxed) < 2 * AHEAD + 16);
        }
    }

    #[test]
    fn a_deep_stack_is_deep() {
        fn deep(n: usize) -> usize {
            if n == 0 { 0 } else { 1 + std::hint::black_box(deep(n - 1)) }
        }
        // Tests have stacks of 2 MB.
        assert_eq!(with_deep_stack(|| deep(200_000)), 200_000);
    }

    #[test]
    fn nothing_to_do() {
        in_order(2, 0, |n| n, |_| unreachable!());
    }
}
