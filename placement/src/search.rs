//! Search for good legal choices, without proofs.

pub(crate) mod anneal;
pub(crate) mod compact;
pub(crate) mod greedy;
pub(crate) mod incumbent;
pub(crate) mod state;
pub(crate) mod subproblem;
