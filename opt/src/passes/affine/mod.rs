//! Passes on affine loops.
//!
//! *Law.* If [`noisy_loops::Legality`] forbids a transformation, the loops are not changed.

pub(crate) mod bounds;
pub(crate) mod for_loop;
pub(crate) mod legal;
pub(crate) mod memory;
pub(crate) mod nests;
pub(crate) mod schedule;
