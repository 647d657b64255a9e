//! Facts about values and ops: each an analysis or a query that needs no other folder.

pub mod effects;
pub mod invariant;
pub mod liveness;
pub(crate) mod misspelling;
pub mod noise;
pub mod same;
pub mod values;
