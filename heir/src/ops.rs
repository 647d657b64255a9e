//! The catalogue of HEIR's ops, and their rules.

pub(crate) mod catalogue;
pub(crate) mod placed;
pub(crate) mod rules;
