//! Proofs that an answer is the cheapest: a sweep over narrow programs, and branch and bound.

mod frontier_dp;
pub(crate) mod prove;
mod shared_tree;
