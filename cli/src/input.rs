//! The command line: files to check, their settings, and failures to read them.

pub(crate) mod args;
pub(crate) mod failure;
pub(crate) mod ignore_files;
pub(crate) mod select;
pub(crate) mod setup;
pub(crate) mod shard;
pub(crate) mod walk;
