//! Trip counts of loops.

/// Largest limit of an inexact trip count for which a loop is replayed iteration by iteration.
const MAX_INEXACT_REPLAY: u64 = 1024;

/// The trip count of a loop, as a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripCount {
    /// The least number.
    pub least: u64,
    /// The greatest number, if it is known.
    pub most: Option<u64>,
}

impl TripCount {
    /// Any number.
    pub const ANY: TripCount = TripCount { least: 0, most: None };

    pub(crate) fn exactly(n: u64) -> Self {
        TripCount { least: n, most: Some(n) }
    }

    /// Returns the trip count for code that replays a loop iteration by iteration: an inexact limit
    /// above 1,024 is dropped.
    #[must_use]
    pub fn for_replay(self) -> Self {
        TripCount {
            most: self.most.filter(|&it| it == self.least || it <= MAX_INEXACT_REPLAY),
            ..self
        }
    }

    /// Returns the trip count if it is exact.
    pub fn exact(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}
