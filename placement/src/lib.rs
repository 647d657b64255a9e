//! Where to insert `reduce_noise` so that a program is legal and the cost is least.
//!
//! [`place`] takes an [`Instance`] and [`Limits`] and returns a [`Placement`]: verified, with a lower bound, and
//! called optimal only when that bound meets its cost. The problem is NP-hard (Paindavoine and Vialla, "Minimizing
//! bootstrappings in FHE"), so the optimizer is *anytime*: a legal answer at once, then better ones, then proof.
//!
//! # Pipeline
//!
//! ```text
//! Instance -> simplify   forced and idle sites, independent parts                  [simplify]
//!          -> greedy     a legal answer per part, without useless sites             [greedy]
//!          -> search     annealing, a million moves a second                        [search, anneal, state]
//!             concurrent a relaxation over conflict cores, which proves bounds,      [prove, relax, cores]
//!                        local cuts, a sweep over narrow programs, branch and bound [local_cuts, frontier_dp, branch]
//!          -> verify     by an evaluator that knows none of the above               [evaluate]
//! ```
//!
//! # Laws
//!
//! 1. Every returned placement was found legal by [`evaluate::legal`] on the instance that was given.
//! 2. `lower_bound <= optimum <= cost`, and [`Optimality::Optimal`] exactly when the ends meet.
//! 3. No site of a placement is useless: without it alone, the placement is not legal.
//! 4. With a work limit and nothing else the answer is a function of the instance and the limits.
//!
//! Instances are read and written as JSON: see [`instance::json`].
//!
//! What each step is worth is in `docs/placement.md`, with the command that repeats each figure.

#![warn(missing_docs)]
#![allow(
    clippy::many_single_char_names,
    clippy::needless_range_loop,
    reason = "v, u, w are nodes, s sites, p and e noise before and after, as in the headers"
)]

mod anneal;
mod answer;
mod branch;
mod cache;
mod certificate;
mod compact;
mod cores;
mod cost_partition;
mod deal;
mod deepest_cut;
pub mod evaluate;
mod fixed_point;
mod frontier_dp;
mod graph;
mod greedy;
mod incumbent;
pub mod instance;
mod levels;
mod limits;
mod local_cuts;
mod partition;
mod piece;
mod prove;
mod relax;
mod repeats;
mod search;
mod shared_tree;
mod simplify;
mod solve;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod walk;
mod window;
mod workers;
mod zero_half;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

pub use self::answer::{Infeasible, Optimality, Placement, Stats, Why};
pub use self::cache::Cache;
pub use self::certificate::{Certificate, Cut, Multiplier, Proof, Row, Step};
pub use self::instance::{Bits, Instance, Node, NodeData, NodeRule, Site, SiteData};
pub use self::limits::{Limits, Phase, Progress, Steps};
pub use self::solve::{place, place_with};
