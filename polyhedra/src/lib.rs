//! Integer sets: conjunctions and unions of affine constraints, asked for points, bounds and projections, exactly.
//!
//! *Law.* Every answer is exact for integers of any size, or it is [`Stop::Exhausted`]: the budget ended the search. Arithmetic is in
//! machine words that notice when they do not suffice, and then without a limit.
//!
//! Nothing here knows of programs; [`Conjunction`] is the entry.

mod conjunction;
mod number;
mod rows;
mod search;
mod set;
mod system;

pub use conjunction::{Asked, Conjunction, Interval, Relation};
pub use set::Set;

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
