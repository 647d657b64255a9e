//! Passes that use constants and ranges of integers.

pub(crate) mod facts;
pub(crate) mod int_range;
pub(crate) mod mul_to_add;
pub(crate) mod narrow;
pub(crate) mod sccp;
