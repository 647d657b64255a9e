//! `noisy-lsp`: the server as a program that communicates over standard input and output.

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
        && let Err(error) = noisy_lsp::log::start(file)
    {
        print_error(&format!("noisy-lsp: {}: {error}\n", file.display()));
        return ExitCode::from(2);
    }
    log_panics();
    match noisy_lsp::run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            print_error(&format!("noisy-lsp: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Installs a hook that logs panics, including those that are caught.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        noisy_lsp::log::line(format_args!("{panic}"));
        print_error(&format!("noisy-lsp: {panic}\n"));
    }));
}

fn print_error(text: &str) {
    // Standard error may be closed, and there is no other place to report this.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
