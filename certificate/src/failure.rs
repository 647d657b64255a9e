//! What is said of a claim that is not true.

use std::fmt;

/// The first claim that is not true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where it stands, such as `part 3, row 7`; empty for the answer itself.
    pub place: String,
    /// What is the matter.
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

/// Whether numbers rise.
pub(crate) fn is_increasing(list: &[u32]) -> bool {
    list.windows(2).all(|it| it[0] < it[1])
}
