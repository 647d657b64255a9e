//! Steps of work, counted in tests: laws about cost hold on every machine.

thread_local! {
    /// Tokens asked for, bytes of bodies read, uses resolved.
    static N: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts steps of work.
pub(crate) fn count(n: usize) {
    N.set(N.get() + n);
}

/// The result of a function, and the number of its steps of work.
pub(crate) fn counted<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = N.get();
    let result = f();
    (result, N.get() - before)
}
