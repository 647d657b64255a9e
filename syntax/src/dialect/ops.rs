//! The rows of the built-in ops, one file per dialect.

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
