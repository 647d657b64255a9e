//! Plain data for reports: diagnostics, remarks and diffs of texts.

pub mod diagnostic;
pub mod diff;
pub(crate) mod remarks;
