//! Passes on affine loops.
//!
//! *Law.* If [`noisy_loops::Legality`] does not allow a transformation, the loops stay.

pub(super) mod coalesce;
pub(super) mod dependence_check;
mod for_loop;
pub(super) mod fuse;
pub(super) mod hoist;
pub(super) mod jam;
mod legal;
pub(super) mod lower;
pub(super) mod normalize;
pub(super) mod parallelize;
pub(super) mod parametric;
pub(super) mod permute;
pub(super) mod scalars;
pub(super) mod schedule;
pub(super) mod simplify;
pub(super) mod tile;
pub(super) mod unroll;
