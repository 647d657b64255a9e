//! The rows of the built-in ops, one file per dialect.

#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of a method of `Verifier<'_>` is no function pointer for all lifetimes"
)]

pub(super) mod affine;
pub(super) mod arith;
pub(super) mod builtin;
pub(super) mod cf;
pub(super) mod func;
pub(super) mod math;
pub(super) mod memref;
pub(super) mod noisy;
pub(super) mod scf;
pub(super) mod vector;
