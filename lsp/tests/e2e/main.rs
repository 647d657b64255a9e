//! Tests of the real server over standard input and output: one file for each feature, and files
//! for the hazards of the transport.

#![expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]

mod ability;
mod action;
mod broken;
mod client;
mod coexist;
mod completion;
mod config;
mod config_file;
mod diagnostic;
mod format;
mod heir;
mod hint;
mod hover;
mod lifecycle;
mod link;
mod lints;
mod navigation;
mod order;
mod outline;
mod picture;
mod settings;
mod soak;
mod solve;
mod spelling;
mod token;
mod typing;
