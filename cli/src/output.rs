//! Printing of findings, facts and pages.

pub(crate) mod dump;
pub(crate) mod format;
pub(crate) mod page;
pub(crate) mod paint;
pub(crate) mod ranges;
