//! Passes that use dependences through memory.

pub(crate) mod dependence_check;
pub(crate) mod parallelize;
pub(crate) mod scalars;
