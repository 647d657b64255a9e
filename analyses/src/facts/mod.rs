//! Facts about values and ops: analyses and queries that use no other folder of this crate.

pub mod effects;
pub mod invariant;
pub mod liveness;
pub(crate) mod misspelling;
pub mod noise;
pub mod same;
pub mod values;
