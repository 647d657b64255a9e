//! Configuration: what `noisy.toml` says, for the server and the command line alike.
//!
//! The nearest `noisy.toml` or `.noisy.toml` above a file counts, and no other: nothing is merged from folders further up, as ruff
//! and ty do it; but a file may extend others by name. In one folder `.noisy.toml` comes before `noisy.toml`. Layers are merged, key
//! by key, the later over the earlier: what a file extends, what is at its top, each `[[overrides]]` whose `files` match, in their
//! order, and what the command line or the editor says ([`Overrides`]).
//!
//! The arrows: [`discover()`] finds the file of a path, [`Config::from_toml`] reads it, [`Config::for_path`] gives the [`Settings`] of
//! one file, [`Resolver`] does all three for many files and keeps what it read. What is wrong is a [`Problem`] with its place in the text.
//!
//! *Law.* The keys that are known are those of the JSON schema ([`schema()`]), which is made from the types in `options.rs`: one list
//! for the reader, for the message about an unknown key, and for editors.

pub mod assist;
mod config;
mod discover;
mod folders;
mod options;
mod problem;
mod rules;
mod schema;

pub use config::{Config, Overrides, Root, add_pattern, is_matched};
pub use discover::{FILE_NAMES, InARow, Invalid, Origin, Resolver, discover, problems};
pub use folders::{absolute, folders};
pub use options::{Hints, Loops, Model, Placement, Seconds, Settings};
pub use problem::{Problem, nearest};
pub use rules::{Level, Rules};
pub use schema::schema;
