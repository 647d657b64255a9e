//! Trip counts of loops.

/// The largest limit up to which a loop with an inexact trip count is replayed round by round.
const MOST_REPLAYED: u64 = 1024;

/// The number of times that a loop runs its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// The least number.
    pub least: u64,
    /// The greatest number, if facts give one.
    pub most: Option<u64>,
}

impl Trips {
    /// Any number.
    pub const ANY: Trips = Trips { least: 0, most: None };

    pub(crate) fn exactly(n: u64) -> Self {
        Trips { least: n, most: Some(n) }
    }

    /// Returns the same for code that replays a loop round by round: an inexact limit above 1,024
    /// is none.
    #[must_use]
    pub fn replayed(self) -> Self {
        Trips { most: self.most.filter(|&it| it == self.least || it <= MOST_REPLAYED), ..self }
    }

    /// Returns the number, if it is exact.
    pub fn count(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}
