//! The verdict of HEIR's lowering on a program that is not lowered yet.

pub(crate) mod levels;
pub(crate) mod liveness;
pub(crate) mod modulus;
pub(crate) mod out_of_range;
pub(crate) mod plaintexts;
pub mod requirements;
pub(crate) mod scales;
pub(crate) mod types;
pub(crate) mod unlowered;
