//! The machine or the browser below the server: threads and timers. Clock, files and randomness
//! are those of the standard library in both.
//!
//! *Law.* Everything that differs between a program and a web worker is here, in
//! [`crate::server::run`] or `crate::server::web`, and in `noisy-solver`.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
pub(crate) mod web;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::{apart, blocking, discard, run_document, sleep, spawn, timeout};
#[cfg(target_family = "wasm")]
pub(crate) use web::{apart, blocking, discard, run_document, sleep, spawn, timeout};

#[cfg(all(test, not(target_family = "wasm")))]
pub(crate) use native::MOST;

/// True if files change without a word of the client.
pub(crate) const HAS_DISK: bool = cfg!(not(target_family = "wasm"));

/// True if a document may go on working; otherwise messages come first.
pub(crate) fn has_time() -> bool {
    #[cfg(target_family = "wasm")]
    return web::has_time();
    #[cfg(not(target_family = "wasm"))]
    true
}
