//! The question: the instance and its layout for the optimizer, the evaluation of a choice, the
//! limits of effort, and simplification without search.

pub mod evaluate;
pub(crate) mod graph;
pub(crate) mod infeasible;
pub mod instance;
pub(crate) mod least_noise;
pub(crate) mod limits;
pub(crate) mod simplify;
