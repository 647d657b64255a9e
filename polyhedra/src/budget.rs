//! The budget of a search, and the reasons why a search may end without an answer.

/// The reason why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
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
    left: u64,
}

impl Budget {
    /// Returns a budget of `work` machine words.
    pub fn new(work: u64) -> Self {
        Self { left: work }
    }

    /// Returns the work that remains.
    pub fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn spend(&mut self, work: usize) -> Result<(), Stop> {
        match self.left.checked_sub(work as u64 + 1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Stop::Exhausted)
            }
        }
    }
}
