//! The handlers, by topic: from the protocol's parameters to a question, from its answer to the protocol's.

pub(crate) mod action;
pub(crate) mod command;
pub(crate) mod config_file;
pub(crate) mod diagnostic;
pub(crate) mod format;
pub(crate) mod hierarchy;
pub(crate) mod navigation;
pub(crate) mod outline;
pub(crate) mod overlay;
pub(crate) mod placement;
pub(crate) mod refactor;
pub(crate) mod token;
pub(crate) mod writing;
