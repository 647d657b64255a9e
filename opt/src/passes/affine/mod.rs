//! Passes on affine loops.
//!
//! *Law.* If [`noisy_loops::Legality`] does not allow a transformation, the loops stay.

pub(crate) mod bounds;
pub(crate) mod for_loop;
pub(crate) mod legal;
pub(crate) mod memory;
pub(crate) mod nests;
pub(crate) mod schedule;
