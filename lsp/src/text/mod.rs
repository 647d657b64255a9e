//! Texts, the documents derived from them, and positions as clients count them.

pub(crate) mod config_file;
pub(crate) mod content;
pub(crate) mod encoding;
pub(crate) mod position;
