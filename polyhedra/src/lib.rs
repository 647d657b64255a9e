//! Integer sets: conjunctions and unions of affine constraints, with exact answers about points,
//! bounds and projections.
//!
//! *Law.* Every answer is exact for integers of any size, or it is [`QueryFailure::Exhausted`]: the
//! budget was spent first. Arithmetic uses machine words. On overflow, it starts again with numbers
//! of any size.
//!
//! The crate is independent of programs and of MLIR. Start reading at [`Conjunction`].

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

pub use budget::{Budget, QueryFailure};
pub use conjunction::{Conjunction, FormInterval, OutputCondition, Relation, SparseRow};
pub use number::gcd;
pub use set::Set;
