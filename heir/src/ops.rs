//! HEIR's ops: which there are, and their rules.

pub(crate) mod catalogue;
pub(crate) mod placed;
pub(crate) mod rules;
