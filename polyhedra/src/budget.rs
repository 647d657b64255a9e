//! The budget of a search, and the reasons why a search may end without an answer.

/// The reason why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFailure {
    /// A number does not fit into its type. Inside the crate, the query is then repeated with
    /// numbers of any size. As the result of a query: a coefficient or a bound has more than 127
    /// bits.
    Overflow,
    /// The budget is spent.
    Exhausted,
}

/// The work that a search may still do. The unit is one machine word that is read or written.
#[derive(Clone, Debug)]
pub struct Budget {
    remaining: u64,
}

impl Budget {
    /// Returns a budget of `work` machine words.
    pub fn new(work: u64) -> Self {
        Self { remaining: work }
    }

    /// Returns the work that remains.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    pub(crate) fn spend(&mut self, work: usize) -> Result<(), QueryFailure> {
        match self.remaining.checked_sub(work as u64 + 1) {
            Some(left) => {
                self.remaining = left;
                Ok(())
            }
            None => {
                self.remaining = 0;
                Err(QueryFailure::Exhausted)
            }
        }
    }
}
