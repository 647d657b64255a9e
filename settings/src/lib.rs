//! Configuration by `noisy.toml`, for the server and the command line.
//!
//! Only the nearest `noisy.toml` or `.noisy.toml` above a file counts. Nothing is merged from
//! folders further up, as in ruff and ty; but a file may extend others by name. In one folder
//! `.noisy.toml` comes before `noisy.toml`. Layers are merged, key by key, the later over the
//! earlier: the extended files, the top of the file, each `[[overrides]]` whose `files` match, in
//! their order, and the options of the command line or the editor ([`Overrides`]).
//!
//! [`discover()`] finds the file of a path, [`Config::from_toml`] reads it, [`Config::for_path`]
//! returns the [`Settings`] of one file. [`Resolver`] does all three for many files and remembers
//! the results. An error is a [`Problem`] with its place in the text.
//!
//! *Law.* The known keys are those of the JSON schema ([`schema()`]), which is generated from the
//! types in `options.rs`: one list for the reader, for the message about an unknown key, and for
//! editors.

pub mod assist;
mod config;
mod discover;
mod folders;
mod options;
mod problem;
mod rules;
mod schema;

pub use config::{Config, Overrides, PatternRoot, add_pattern, is_matched};
pub use discover::{FILE_NAMES, FolderResolver, Invalid, Origin, Resolver, discover, problems};
pub use folders::{absolute, folders};
pub use options::{Hints, Loops, Model, Placement, Seconds, Settings};
pub use problem::{Problem, nearest};
pub use rules::{Level, Rules};
pub use schema::schema;
