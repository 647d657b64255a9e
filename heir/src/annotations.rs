//! Compares annotations with the facts.

pub(crate) mod scales;
pub(crate) mod unreadable;
pub(crate) mod votes;
