//! Runs the tool as a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Creates a temporary file for a test.
pub(crate) fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("noisy-opt-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

/// Runs the tool on a file.
pub(crate) fn run(args: &[&str], input: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_noisy-opt"));
    command.args(args).arg(input).output().expect("the tool runs")
}
