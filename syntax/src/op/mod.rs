//! The identity of ops, and the types in which rows state facts about ops.

pub(crate) mod kind;
pub(crate) mod namespace;
pub(crate) mod op_traits;
pub(crate) mod tool;
