//! Integer sets: conjunctions and unions of affine constraints, asked for points, bounds and projections, exactly.
//!
//! *Law.* Every answer is exact for integers of any size, or it is [`Stop::Exhausted`]: the budget ended the search. Arithmetic is in
//! machine words that notice when they do not suffice, and then without a limit.
//!
//! Nothing here knows of programs; [`Conjunction`] is the entry.

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
pub use conjunction::{Asked, Conjunction, Interval, Relation};
pub use number::gcd;
pub use set::Set;
