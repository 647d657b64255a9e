//! A text: what is derived from it, and the places in it as clients count them.

pub(crate) mod config_file;
pub(crate) mod content;
pub(crate) mod encoding;
pub(crate) mod position;
