//! Parsing of tokens to items: the skeleton finds the extents of items, the grammar parses each
//! item.

pub(crate) mod grammar;
pub(crate) mod skeleton;
