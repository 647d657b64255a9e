//! `noisy-lsp`: a language server for MLIR text that knows noise.
//!
//! The folders are layers; each uses only those above it in this list.
//!
//! - [`wire`] reads and writes messages, [`text`] holds a text and positions in it;
//! - [`features`] are functions from a document and a position to plain data;
//! - [`connection`] is the client and its settings, [`optimizer`] the search for placements;
//! - [`proto`] converts between plain data and protocol types;
//! - [`documents`] are the actors that own the open documents, [`session`] holds them;
//! - [`requests`] are the handlers, and [`server`] dispatches messages to them in order.

mod connection;
mod documents;
mod features;
mod log;
mod optimizer;
mod proto;
mod requests;
mod server;
mod session;
mod text;
mod wire;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// A language server for MLIR text that knows noise. It speaks LSP over standard input and output.
#[derive(Debug, Parser)]
#[command(name = "noisy-lsp", version)]
struct Arguments {
    /// Use standard input and output (the default, and the only way).
    #[arg(long)]
    stdio: bool,
    /// Write a line about each request and each problem to a file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The process of the client; some clients pass it here in addition to `initialize`.
    #[arg(long = "clientProcessId", hide = true, value_name = "ID")]
    client_process_id: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(file) = &arguments.log
        && let Err(error) = log::start(file)
    {
        complain(&format!("noisy-lsp: {}: {error}\n", file.display()));
        return ExitCode::from(2);
    }
    log_panics();
    match server::run::run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            complain(&format!("noisy-lsp: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Panics are caught where they happen; the hook logs them.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        log::line(format_args!("{panic}"));
        complain(&format!("noisy-lsp: {panic}\n"));
    }));
}

fn complain(text: &str) {
    // Standard error may be closed, and there is no other place to report this.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
