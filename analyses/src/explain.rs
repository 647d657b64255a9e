//! Explanations: the chain of ops from which the noise of a value comes, facts in words, and the
//! run-time cost of a function.

mod assumption;
mod derivation;
mod place;
mod tally;
mod words;

pub use assumption::{Assumption, assumption};
pub use derivation::{
    Derivation, DerivationStep, MAX_STEPS, SaturationCache, derivation, saturates,
};
pub(crate) use place::core_range;
pub use place::value_range;
pub use tally::{CostTally, EvaluationKeys, LatencySum, OpCount};
pub use words::integer_in_words;
pub(crate) use words::{excess_in_words, short_name};
