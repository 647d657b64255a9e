//! `noisy-check`: checks noisy arithmetic in MLIR files, and fixes it.
//!
//! The path of a file through the modules: [`input`] reads the command line, and finds the files
//! and their settings. [`file`](mod@file) builds a document for each file without cached findings,
//! computes its diagnostics, and fixes it if requested. [`output`] prints the result on the same
//! thread. [`noisy_syntax::parallel`] runs this on all cores and passes the texts in order to
//! [`run`](mod@run).

mod certificate;
mod explain;
mod file;
mod graph;
mod input;
mod nest;
mod output;
mod reformat;
mod run;

use std::io::{self, Write};
use std::process::exit;

use clap::CommandFactory;
use noisy_syntax::parallel;

use crate::input::args::{self, Cli, Command};

const EXIT_CLEAN: i32 = 0;
const EXIT_FINDINGS: i32 = 1;
const EXIT_FAILURE: i32 = 2;
const EXIT_INTERNAL_ERROR: i32 = 101;

fn main() {
    // A panic while a file is checked is reported with the file.
    std::panic::set_hook(Box::new(|panic| {
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            print_error(&format!("{panic}\n{}", std::backtrace::Backtrace::capture()));
        }
    }));
    noisy_output::clean_up_on_signals();
    let cli = args::parse();
    let code = match parallel::with_deep_stack(|| dispatch(&cli)) {
        Ok(code) => code,
        // A broken pipe is not an error: the reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => EXIT_FAILURE,
        Err(error) => {
            print_error(&format!("noisy-check: {}", noisy_output::reason(&error)));
            EXIT_FAILURE
        }
    };
    exit(code)
}

fn dispatch(cli: &Cli) -> io::Result<i32> {
    let mut out = io::stdout().lock();
    let check = match &cli.command {
        None => Some(&cli.check),
        Some(Command::Check(check)) => Some(&**check),
        Some(_) => None,
    };
    if let Some(check) = check {
        drop(out);
        return if check.watch { run::watch::run(check) } else { run::run(check) };
    }
    match &cli.command {
        None | Some(Command::Check(_)) => {}
        Some(Command::Explain { code, all }) => {
            return explain::run(code.as_deref(), *all, &mut out);
        }
        Some(Command::Graph(args)) => return graph::run(args),
        Some(Command::Nest(args)) => return nest::run(args),
        Some(Command::Format(args)) => {
            drop(out);
            return reformat::run(args);
        }
        Some(Command::VerifyCertificate(args)) => return certificate::run(args, &mut out),
        Some(Command::Schema) => writeln!(out, "{:#}", noisy_settings::schema())?,
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "noisy-check", &mut text);
            out.write_all(&text)?;
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            out.write_all(&text)?;
        }
    }
    out.flush()?;
    Ok(EXIT_CLEAN)
}

fn print_error(text: &str) {
    // There is no other place to report a failure of standard error.
    let _ = writeln!(io::stderr(), "{}", noisy_output::shown(text));
}
