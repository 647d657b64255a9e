//! The error that reports a false claim.

use std::fmt;

/// The first false claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its place, such as `part 3, row 7`; empty for the answer itself.
    pub place: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.place {
            "" => f.write_str(&self.why),
            place => write!(f, "{place}: {}", self.why),
        }
    }
}

impl std::error::Error for Failure {}

/// Returns true if the numbers are strictly increasing.
pub(crate) fn is_increasing(list: &[u32]) -> bool {
    list.windows(2).all(|it| it[0] < it[1])
}
