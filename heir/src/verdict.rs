//! Predicts whether HEIR's lowering accepts a program.

pub(crate) mod levels;
pub(crate) mod liveness;
pub(crate) mod modulus;
pub(crate) mod out_of_range;
pub(crate) mod plaintexts;
pub mod requirements;
pub(crate) mod scales;
pub(crate) mod types;
pub(crate) mod unlowered;
