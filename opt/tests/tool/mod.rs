//! The tool as it is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of its own for a test.
pub(crate) fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("noisy-opt-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

/// Runs it on a file.
pub(crate) fn run(args: &[&str], input: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_noisy-opt"));
    command.args(args).arg(input).output().expect("the tool runs")
}
