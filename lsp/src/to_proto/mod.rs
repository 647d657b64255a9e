//! From plain data in bytes to the protocol's types, by feature.

pub(crate) mod action;
pub(crate) mod diagnostic;
pub(crate) mod edit;
pub(crate) mod navigation;
pub(crate) mod overlay;
pub(crate) mod symbol;
pub(crate) mod writing;
