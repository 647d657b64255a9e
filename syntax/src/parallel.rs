//! Work on many things at once, with the results in order: the one place where threads share work on programs.
//!
//! *Law.* What comes out does not depend on how many threads there are, nor on whether the system grants any: what no thread does is done
//! by the caller's.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError, mpsc};

/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// Results may wait so far ahead of the one that is due.
const AHEAD: usize = 1024;

/// A thread takes so many things at once at most: handing over each small file by itself costs a tenth of the work on it.
const MOST_AT_ONCE: usize = 16;
/// Each thread has so many turns at least, so that none waits long for a slow one.
const TURNS: usize = 64;

/// How many threads run at once on this machine. The system is asked once: on Linux it takes as long as a small document.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Applies `work` to `0..n` on so many threads, with none on the caller's, and `take`s the results in order, each as soon as its turn
/// comes, until one says that it is enough.
pub fn in_order<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) {
    let threads = n_threads.min(n);
    let at_once = (n / (threads.max(1) * TURNS)).clamp(1, MOST_AT_ONCE);
    let next = AtomicUsize::new(0);
    // How many were taken. Nothing is begun that lies too far ahead: it would wait with its result.
    let taken = (Mutex::new(0), Condvar::new());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut n_started = 0;
        for _ in 0..threads {
            let (sender, next, work, taken) = (sender.clone(), &next, &work, &taken);
            let run = move || {
                loop {
                    let first = next.fetch_add(at_once, Ordering::Relaxed);
                    if first >= n {
                        return;
                    }
                    let guard = taken.0.lock().unwrap_or_else(PoisonError::into_inner);
                    let guard =
                        taken.1.wait_while(guard, |taken| first >= AHEAD.saturating_add(*taken));
                    drop(guard);
                    let results: Vec<T> = (first..n.min(first + at_once)).map(work).collect();
                    if sender.send((first, results)).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK);
            n_started += usize::from(builder.spawn_scoped(scope, run).is_ok());
        }
        drop(sender);
        if n_started == 0 {
            // None was asked for, or the system refuses.
            let _ = (0..n).map(&work).all(take);
            return;
        }
        let set = |due| {
            *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = due;
            taken.1.notify_all();
        };
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        while let Ok((first, results)) = receiver.recv() {
            waiting.insert(first, results);
            while let Some(results) = waiting.remove(&due) {
                due += results.len();
                if !results.into_iter().all(&mut take) {
                    next.store(n, Ordering::Relaxed);
                    set(usize::MAX);
                    return;
                }
                set(due);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nothing_to_do() {
        in_order(2, 0, |n| n, |_| unreachable!());
    }
}
