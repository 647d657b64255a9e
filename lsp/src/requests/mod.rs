//! The handlers by topic: they turn parameters of the protocol into queries, and answers into
//! results of the protocol.

pub(crate) mod action;
pub(crate) mod command;
pub(crate) mod config_file;
pub(crate) mod diagnostic;
pub(crate) mod format;
pub(crate) mod hierarchy;
pub(crate) mod navigation;
pub(crate) mod outline;
pub(crate) mod overlay;
pub(crate) mod picture;
pub(crate) mod placement;
pub(crate) mod refactor;
pub(crate) mod token;
pub(crate) mod writing;
