//! A user command that tests programs: it runs on a file, and its exit code is the result.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use noisy_output::shown_path;

/// A command and its input file.
#[derive(Debug)]
pub(super) struct Script {
    command: String,
    file: PathBuf,
    /// Number of runs.
    pub n_runs: usize,
}

impl Script {
    /// Returns the script of a shell command. The path of the file replaces `{}`, or is appended to
    /// the command.
    pub(super) fn new(command: &str) -> Self {
        let file = std::env::temp_dir().join(format!("noisy-opt-{}.mlir", std::process::id()));
        Self { command: command.to_owned(), file, n_runs: 0 }
    }

    /// Returns true if the command fails on a program.
    ///
    /// # Errors
    /// If the file cannot be written, or the command cannot run.
    pub(super) fn fails(&mut self, text: &str) -> Result<bool, String> {
        self.n_runs += 1;
        std::fs::write(&self.file, text)
            .map_err(|it| format!("cannot write '{}': {it}", shown_path(&self.file)))?;
        let line = if self.command.contains("{}") {
            self.command.replace("{}", "\"$NOISY_OPT_FILE\"")
        } else {
            format!("{} \"$NOISY_OPT_FILE\"", self.command)
        };
        let status = Command::new("sh")
            .args(["-c", &line])
            .env("NOISY_OPT_FILE", &self.file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|it| format!("cannot run `sh`: {it}"))?;
        // The exit codes of a shell if the command is not found or not executable.
        match status.code() {
            Some(code @ (126 | 127)) => {
                Err(format!("`{}` cannot be run: exit code {code}", self.command))
            }
            _ => Ok(!status.success()),
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
