//! `noisy-lsp`: a language server for MLIR text that knows noise.
//!
//! The arrows: [`transport`] reads messages, [`ingress`] takes what must be taken in order and hands requests to [`server`], whose
//! handlers ask the [`actor`] of a document; the actor runs the functions in [`features`] over the document and converts their
//! plain data in [`to_proto`]; everything leaves through [`outbox`].

mod abilities;
mod actor;
mod ask;
mod capabilities;
mod config;
mod content;
mod docs;
mod features;
mod from_proto;
mod ingress;
mod job;
mod json;
mod log;
mod outbox;
mod parent;
mod position;
mod progress;
mod request;
mod run;
mod server;
mod session;
mod settings;
mod solve;
mod status;
mod to_proto;
mod transport;
mod view;
mod watch;

use std::io::Write;
use std::path::Path;
use std::process::exit;

const HELP: &str = "\
A language server for MLIR text that knows noise. Speaks LSP over standard input and output.

Usage: noisy-lsp [OPTIONS]

Options:
      --stdio       Use standard input and output (the default, and the only way)
      --log <FILE>  Write what happens to a file
  -V, --version     Print the version
  -h, --help        Print this help
";

fn main() {
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--stdio" => {}
            "-V" | "--version" => say(concat!("noisy-lsp ", env!("CARGO_PKG_VERSION"), "\n")),
            "-h" | "--help" => say(HELP),
            "--log" => match args.next() {
                Some(file) => start_log(&file),
                None => misused("--log needs a file"),
            },
            _ => match arg.strip_prefix("--log=") {
                Some(file) => start_log(file),
                // Some clients add this to tell whose child it is; `initialize` says that, too.
                None if arg.starts_with("--clientProcessId") => {}
                None => misused(&format!("unexpected argument '{arg}'")),
            },
        }
    }
    log_panics();
    match run::run() {
        Ok(code) => exit(code),
        Err(error) => {
            complain(&format!("noisy-lsp: {error}\n"));
            exit(1)
        }
    }
}

fn start_log(file: &str) {
    if let Err(error) = log::start(Path::new(file)) {
        misused(&format!("{file}: {error}"));
    }
}

/// Panics are caught where they happen; they are written down here.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        log::line(format_args!("{panic}"));
        complain(&format!("noisy-lsp: {panic}\n"));
    }));
}

fn say(text: &str) {
    // Nobody listens to an error here.
    let _ = std::io::stdout().write_all(text.as_bytes());
    exit(0)
}

fn complain(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn misused(why: &str) {
    complain(&format!("noisy-lsp: {why}\nTry 'noisy-lsp --help'.\n"));
    exit(2)
}
