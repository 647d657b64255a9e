//! Integer sets: conjunctions and unions of affine constraints, with exact answers about points,
//! bounds and projections.
//!
//! *Law.* Every answer is exact for integers of any size, or it is [`Stop::Exhausted`]: the budget
//! ended the search. Arithmetic uses machine words, detects overflow, and then uses numbers of any
//! size.
//!
//! The crate knows nothing of programs. [`Conjunction`] is the entry.

#![warn(missing_docs)]

mod budget;
mod conjunction;
mod elimination;
mod implied;
mod number;
mod rows;
mod search;
mod set;
mod shadow;
mod system;

pub use budget::{Budget, Stop};
pub use conjunction::{Asked, Conjunction, Interval, Relation, SparseRow};
pub use number::gcd;
pub use set::Set;
