//! Reasons why a file could not be checked or written.

use std::path::PathBuf;

/// A path that cannot be checked, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadablePath {
    /// The path as given or found.
    pub path: PathBuf,
    pub why: String,
    /// True for a folder without programs, in which case no file was left unchecked.
    pub is_empty_folder: bool,
}

impl UnreadablePath {
    /// A path other than an empty folder.
    pub(crate) fn new(path: PathBuf, why: String) -> Self {
        Self { path, why, is_empty_folder: false }
    }
}

/// The reason why a file could not be checked or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// A stable code.
    pub code: &'static str,
    pub message: String,
    /// Line and column from 1, if known.
    pub position: Option<(usize, usize)>,
}

impl Failure {
    /// A failure of reading or writing.
    pub(crate) fn io(message: String) -> Self {
        Self { code: "io-error", message, position: None }
    }

    /// A defect of this program.
    pub(crate) fn internal(why: &str) -> Self {
        let why = noisy_output::shown_line(why);
        let message = format!("internal error, please report it: {why}");
        Self { code: "internal-error", message, position: None }
    }
}
