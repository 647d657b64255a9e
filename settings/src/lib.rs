//! Configuration with `noisy.toml`, for the server and the command line.
//!
//! Only the nearest `noisy.toml` or `.noisy.toml` above a file is used. Files in folders further up
//! are not merged, as in ruff and ty, but a file may extend others by name. If a folder contains
//! both, `.noisy.toml` is used. Layers are merged key by key, and later ones override earlier ones:
//! the extended files, the top of the file, each matching section of `[[overrides]]` in order, and
//! the options of the command line or the editor ([`Overrides`]).
//!
//! [`discover()`] finds the file of a path, [`Config::from_toml`] parses it, and
//! [`Config::for_path`] returns the [`Settings`] of one file. [`ConfigResolver`] does this for many
//! files and caches the results. An error is a [`ConfigProblem`] with its position in the text.
//!
//! *Law.* The known keys are those of the JSON schema ([`schema()`]), which is generated from the
//! types in `options.rs`. The parser, the message about an unknown key, and editors use it.

pub mod assist;
mod config;
mod discover;
mod folders;
mod options;
mod problem;
mod rules;
mod schema;

pub use config::{Config, Overrides, PatternRoot, add_pattern, is_matched};
pub use discover::{
    ConfigOrigin, ConfigResolver, FILE_NAMES, FolderResolver, InvalidConfig, discover, problems,
};
pub use folders::{absolute, folders};
pub use options::{
    HintSettings, LoopSettings, ModelSettings, PlacementSettings, Seconds, Settings,
};
pub use problem::{ConfigProblem, nearest};
pub use rules::{RuleLevel, Rules};
pub use schema::schema;
