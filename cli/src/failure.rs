//! Why a file could not be checked or written.

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
        let message = format!("internal error, please report it: {why}");
        Self { code: "internal-error", message, place: None }
    }
}
