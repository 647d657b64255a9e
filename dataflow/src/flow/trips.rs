//! How often a loop runs.

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

    /// The number, if there is only one.
    pub fn count(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}
