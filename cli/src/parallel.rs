//! Work on many things at once, with the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// Results may wait so far ahead of the one that is due.
const AHEAD: usize = 1024;

/// Applies `work` to `0..n` on all cores and `take`s the results in order, each as soon as its turn comes, until one says that it is
/// enough.
pub(crate) fn in_order<T: Send>(
    n: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(n);
    let next = AtomicUsize::new(0);
    // How many were taken. Nothing is begun that lies too far ahead: it would wait with its result.
    let taken = (Mutex::new(0), Condvar::new());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work, taken) = (sender.clone(), &next, &work, &taken);
            let run = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= n {
                        return;
                    }
                    let guard = taken.0.lock().unwrap_or_else(PoisonError::into_inner);
                    let guard =
                        taken.1.wait_while(guard, |taken| index >= AHEAD.saturating_add(*taken));
                    drop(guard);
                    if sender.send((index, work(index))).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK);
            if let Err(error) = builder.spawn_scoped(scope, run) {
                // Without any thread nothing would ever be received.
                assert!(next.load(Ordering::Relaxed) > 0, "cannot start a thread: {error}");
            }
        }
        drop(sender);
        let set = |due| {
            *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = due;
            taken.1.notify_all();
        };
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        while let Ok((index, result)) = receiver.recv() {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&due) {
                if !take(result) {
                    next.store(n, Ordering::Relaxed);
                    set(usize::MAX);
                    return;
                }
                due += 1;
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
        let mut out = Vec::new();
        in_order(
            5000,
            |n| n,
            |it| {
                out.push(it);
                true
            },
        );
        assert_eq!(out, (0..5000).collect::<Vec<_>>());
    }

    #[test]
    fn enough_is_enough() {
        let begun = AtomicUsize::new(0);
        let mut n_taken = 0;
        in_order(
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

    #[test]
    fn nothing_to_do() {
        in_order(0, |n| n, |_| unreachable!());
    }
}
