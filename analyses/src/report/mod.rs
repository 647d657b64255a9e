//! Plain data for reports: diagnostics, remarks and diffs of texts.

pub mod diagnostic;
pub mod diff;
pub mod expectation;
pub(crate) mod remarks;
