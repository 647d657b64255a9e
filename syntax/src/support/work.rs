//! Counts steps of work in tests, so that laws about cost do not depend on the machine.

thread_local! {
    /// Number of requested tokens, bytes read from bodies, and resolved uses.
    static N_STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds `n` steps of work.
pub(crate) fn count_steps(n: usize) {
    N_STEPS.set(N_STEPS.get() + n);
}

/// Returns the result of `f` and the number of its steps of work.
pub(crate) fn count_steps_of<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = N_STEPS.get();
    let result = f();
    (result, N_STEPS.get() - before)
}
