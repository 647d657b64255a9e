//! How much work a search may do, and why it may end without an answer.

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A number does not fit. Inside, the search goes on with larger ones; from outside, a coefficient or a bound of more than
    /// 127 bits.
    Overflow,
    /// The budget is spent.
    Exhausted,
}

/// How much work a search may do, in numbers touched.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// So much work.
    pub fn new(work: u64) -> Self {
        Self { left: work }
    }

    /// What is left.
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
