//! How often a loop runs.

/// The largest limit up to which a loop of an inexact number of iterations is gone through one by one.
const MOST_REPLAYED: u64 = 1024;

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// At least.
    pub least: u64,
    /// At most, if there is a limit that the facts give.
    pub most: Option<u64>,
}

impl Trips {
    /// Nothing is known.
    pub const ANY: Trips = Trips { least: 0, most: None };

    /// Just so often.
    pub(crate) fn exactly(n: u64) -> Self {
        Trips { least: n, most: Some(n) }
    }

    /// The same for who goes through the iterations one by one: a limit that is not the number is none if it is beyond 1,024.
    #[must_use]
    pub fn replayed(self) -> Self {
        Trips { most: self.most.filter(|&it| it == self.least || it <= MOST_REPLAYED), ..self }
    }

    /// The number, if there is only one.
    pub fn count(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}
