//! Passes over affine loops.
//!
//! *Law.* A transformation that [`noisy_loops::Legality`] does not allow is not done: the loops stay as they are.

pub(super) mod dependence_check;
mod for_loop;
pub(super) mod jam;
mod legal;
pub(super) mod normalize;
pub(super) mod permute;
pub(super) mod schedule;
pub(super) mod simplify;
pub(super) mod tile;
pub(super) mod unroll;
