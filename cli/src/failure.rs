//! Why a file could not be checked or written.

use std::path::PathBuf;

/// What cannot be checked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The path as it was given or found.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// Why a file could not be checked or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// A stable code.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// Where, in lines and columns from 1, if it has a place.
    pub place: Option<(usize, usize)>,
}

impl Failure {
    /// A failure of reading or writing.
    pub(crate) fn io(message: String) -> Self {
        Self { code: "io-error", message, place: None }
    }

    /// A defect of this program.
    pub(crate) fn internal(why: &str) -> Self {
        let why = noisy_output::shown_line(why);
        let message = format!("internal error, please report it: {why}");
        Self { code: "internal-error", message, place: None }
    }
}
