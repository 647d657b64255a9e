//! The input of the optimizer: the instance and its compiled form, the evaluation of a choice of
//! sites, the limits of a run, and simplification without search.

pub mod evaluate;
pub(crate) mod graph;
pub(crate) mod infeasible;
pub mod instance;
pub(crate) mod least_noise;
pub(crate) mod limits;
pub(crate) mod simplify;
