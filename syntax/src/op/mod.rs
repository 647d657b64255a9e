//! The identity of ops, and the vocabulary in which rows state facts about them.

pub(crate) mod kind;
pub(crate) mod namespace;
pub(crate) mod op_traits;
pub(crate) mod tool;
