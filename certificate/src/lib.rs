//! Verifies certificates of placements: the choice of sites is legal, it has the claimed cost, and
//! no legal choice costs less than the claimed bound. [`equality`] verifies that a rewritten
//! program computes the same as the original.
//!
//! The verifier shares no code with the optimizer, not even types: question and proof are JSON. It
//! has its own evaluation of noise, its own walk over proofs and its own sweep, and computes with
//! exact integers. `tests/verify_certificate.py` is a second verifier, in Python.
//!
//! # Verified claims
//!
//! A *question* is a graph of noise ([`Instance`]). `p(v)`, the noise before the reset of node `v`,
//! is the least solution of the rules of the nodes. The noise after a node is the reset of its site
//! if the site is chosen, else `p(v)`. A choice is legal if `p(v) <= limit(v)` for every node. An
//! *answer* ([`System`]) consists of a choice, its cost, a bound, and parts that prove the bound.
//! No two parts share a site, so their bounds add up.
//!
//! A *proof* ([`Proof`]) claims that in every legal choice, the chosen sites among its own sites
//! weigh at least `bound`. In a part, the weights are the costs. A proof consists of
//!
//! - *rows*: valid inequalities `sum of a(s) x(s) >= least`, where `x(s)` is 1 if site `s` is
//!   chosen, else 0. A *core*: one of these sites is chosen, because some node is over its limit
//!   even if all other sites are chosen. A *conditional core*: a core of the choices in which the
//!   noise after some nodes is below given levels, and the noise after others is at least given
//!   levels. It is valid only below the steps that assume these levels. A *cut*: weights of sites
//!   and the least total weight of the chosen ones, with a proof of its own;
//! - *multipliers* `y >= 0` of the rows, in units of `2^-32` of the greatest common divisor `g` of
//!   the weights. For any multipliers, each legal choice weighs at least
//!
//!   ```text
//!   sum of y * least
//!     + sum over sites of the minimum of (weight(s) - sum of y * a(s)) * x(s)
//!       over the values of x(s) that are open
//!   ```
//!
//!   rounded up to a multiple of `g`;
//! - *steps*, a tree in prefix order. The bound of a step holds for the choices that the preceding
//!   steps on its path leave open:
//!
//!   - `bound`: the bound that a list of multipliers proves;
//!   - `branch`: the lesser bound of the next two steps, first without a site, then with it;
//!   - `level`: the lesser bound of the next two steps, first with less noise than a level after a
//!     node, then with at least that level. In the second step, the site of the node is absent if
//!     its reset is below the level;
//!   - `settle`: the lesser of `least` and the bound of the next step, in which some sites are
//!     absent and others chosen. Multipliers prove `least` for every choice that differs in one of
//!     these sites;
//!   - `split`: the sum of the bounds of proofs without common sites, whose rows hold for the open
//!     choices, and of the weights of the other chosen sites;
//!   - `sweep`: `least`. A sweep over the graph finds no choice that weighs less.
//!
//! In proofs, the noise after a chosen site is the lesser of its reset and the noise before it. No
//! legal choice has less noise than that, even if resets can raise noise.
//!
//! Cost: for a core, the nodes whose noise rises without its sites; for each use of multipliers,
//! their number; for a sweep, its states, at most [`sweep::MAX_STATES`] at a time.

#![warn(missing_docs)]

pub mod equality;
mod failure;
mod file;
mod noise;
mod proof;
mod reduced_weights;
pub mod sweep;
mod verify;

pub use self::failure::Failure;
pub use self::file::{
    Certificate, Function, Instance, Multiplier, NodeData, NodeRule, Proof, Row, SiteData, Step,
    System, UnplacedFunction,
};
pub use self::verify::{FORMAT, VERSION, Verified, verify};
