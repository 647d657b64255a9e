//! Threads and timers of the host, which is a machine or a browser. Both get the clock, files and
//! randomness from the standard library.
//!
//! *Law.* All differences between a program and a web worker are here, in [`crate::server::run`] or
//! `crate::server::web`, and in `noisy-solver`.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
pub(crate) mod web;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::{apart, blocking, discard, run_document, sleep, spawn, timeout};
#[cfg(target_family = "wasm")]
pub(crate) use web::{apart, blocking, discard, run_document, sleep, spawn, timeout};

#[cfg(all(test, not(target_family = "wasm")))]
pub(crate) use native::MAX_THREADS;

/// True if files may change without a notification from the client.
pub(crate) const HAS_DISK: bool = cfg!(not(target_family = "wasm"));

/// True if a document may continue its work. If false, messages must be handled first.
pub(crate) fn has_time() -> bool {
    #[cfg(target_family = "wasm")]
    return web::has_time();
    #[cfg(not(target_family = "wasm"))]
    true
}
