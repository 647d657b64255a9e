//! From tokens to parsed items: the skeleton finds the extents of items, the grammar reads each.

pub(crate) mod grammar;
pub(crate) mod skeleton;
