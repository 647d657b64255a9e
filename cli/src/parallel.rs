//! Work on many things at once, with the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// Results may wait so far ahead of the one that is due.
const AHEAD: usize = 1024;

/// Applies `work` to `0..n` on all cores and `take`s the results in order, each as soon as its turn comes.
pub(crate) fn in_order<T: Send>(
    n: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T),
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(n);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let run = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= n || sender.send((index, work(index))).is_err() {
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
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&due) {
                take(result);
                due += 1;
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
        in_order(5000, |n| n, |it| out.push(it));
        assert_eq!(out, (0..5000).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_to_do() {
        in_order(0, |n| n, |_| unreachable!());
    }
}
