//! A language server for MLIR text that analyzes noise. It runs as a program (`main.rs`) or in a
//! web worker (`web`).
//!
//! The folders are layers; each uses only those above it in this list.
//!
//! - `host` contains the threads and timers of the machine or the browser;
//! - `wire` reads and writes messages, `text` holds a text and positions in it;
//! - `features` are functions from a document and a position to plain data;
//! - `connection` is the client and its settings, `optimizer` the search for placements;
//! - `proto` converts between plain data and protocol types;
//! - `documents` are the actors that own the open documents, `session` lists them;
//! - `requests` are the handlers, and `server` dispatches messages to them in order.

mod connection;
mod documents;
mod features;
mod host;
pub mod log;
mod optimizer;
mod proto;
mod requests;
mod server;
mod session;
mod text;
mod wire;

#[cfg(not(target_family = "wasm"))]
pub use server::run::run;
#[cfg(target_family = "wasm")]
pub use server::web;
