//! Problems and explanations for users.

pub(crate) mod chain;
pub(crate) mod derivation;
pub(crate) mod management;
pub(crate) mod operation;
pub(crate) mod origins;
pub(crate) mod oversized;
pub(crate) mod quantities;
pub(crate) mod sites;
pub(crate) mod underflow;
