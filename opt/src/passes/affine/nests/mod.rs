//! Transformations of loop nests.

pub(crate) mod coalesce;
pub(crate) mod fuse;
pub(crate) mod hoist;
pub(crate) mod jam;
pub(crate) mod permute;
pub(crate) mod tile;
pub(crate) mod unroll;
