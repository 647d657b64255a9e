//! Optimizer for placements of `reduce_noise`: finds the cheapest ones that make a program legal.
//!
//! [`place`] takes an [`Instance`] and [`PlacementLimits`] and returns a [`Placement`]. The
//! placement is verified and has a lower bound; it is optimal if the bound equals its cost. The
//! problem is NP-hard (Paindavoine and Vialla, "Minimizing bootstrappings in FHE"), so the
//! optimizer is an
//! *anytime* algorithm: it finds a legal answer immediately, then better ones, then a proof.
//!
//! # Pipeline
//!
//! ```text
//! Instance
//!   -> simplify   forced and useless sites, independent parts          [question/simplify]
//!   -> greedy     a legal answer per part, without useless sites       [search/greedy]
//!   -> anneal     better answers, a million moves a second             [search/anneal]
//!      and prove  a relaxation over conflict cores, local cuts, sweeps [bound, exact]
//!                 over narrow programs, branch and bound
//!   -> verify     by an independent evaluation                         [question/evaluate]
//! ```
//!
//! # Laws
//!
//! 1. Every returned placement is legal according to [`evaluate::is_legal`] on the original
//!    instance.
//! 2. `lower_bound <= optimum <= cost`, and [`Optimality::Optimal`] exactly if they are equal.
//! 3. No site of a placement is useless: after the removal of any single site, the placement is not
//!    legal.
//! 4. With only a work limit, the answer is a function of the instance and the limits.
//!
//! For the JSON format of instances see [`instance::json`].
//!
//! `docs/placement-measurements.md` contains measurements and the commands that produce them.

#![warn(missing_docs)]
#![allow(
    clippy::many_single_char_names,
    clippy::needless_range_loop,
    reason = "v, u, w are nodes, s sites, p and e noise before and after, as in the headers"
)]

mod bound;
mod cache;
mod certificate;
mod exact;
#[cfg(test)]
#[path = "../tests/laws/programs.rs"]
mod programs;
mod question;
mod random;
mod search;
mod solve;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

pub use self::cache::PlacementCache;
pub use self::certificate::{
    Certificate, ConditionalCore, Cut, Multiplier, Proof, ProofRow, ProofStep,
};
pub use self::question::infeasible::{Infeasible, InfeasibleReason};
pub use self::question::instance::{Instance, Node, NodeData, NodeRule, NoiseBits, Site, SiteData};
pub use self::question::limits::{
    EnabledSteps, PlacementLimits, PlacementPhase, PlacementProgress,
};
pub use self::question::{evaluate, instance};
pub use self::solve::{Optimality, Placement, PlacementStats, place, place_with};
