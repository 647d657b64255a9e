//! Proofs of optimality: dynamic programming for narrow programs, and branch and bound.

mod frontier_dp;
pub(crate) mod prove;
mod shared_tree;
