//! The budget of a search, and the reasons why it may end without an answer.

/// The reason why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A number does not fit its type. Inside the crate the search then goes on with larger
    /// numbers. In the result of a query: a coefficient or a bound has more than 127 bits.
    Overflow,
    /// The budget is spent.
    Exhausted,
}

/// The work that a search may do, in numbers touched.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// Returns a budget of this much work.
    pub fn new(work: u64) -> Self {
        Self { left: work }
    }

    /// Returns the work that is left.
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
