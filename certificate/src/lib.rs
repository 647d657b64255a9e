//! Verifies certificates of placements: that a choice of sites is legal, what it costs, and that no legal choice costs less than a bound.
//!
//! This is for who doubts the optimizer. It shares no code with it, not even types: question and proof are JSON. It has an evaluation
//! of noise, a walk over proofs and a sweep of its own, and exact integers. `tests/verify_certificate.py` is the same once more, in Python.
//!
//! # What is verified
//!
//! A *question* is a graph of noise ([`Instance`]): `p(v)`, the noise before a reset, is the least solution of the rules of the nodes,
//! and what leaves a node is the reset of its site if that is chosen, else `p(v)`. A choice is legal when `p(v) <= limit(v)`
//! everywhere. An *answer* ([`System`]) is a choice, its cost, a bound, and parts that prove it. Parts share no site, so their bounds
//! add up.
//!
//! A *proof* ([`Proof`]) says that the chosen ones of its sites weigh at least `bound` in every legal choice; in a part the weights
//! are costs. It consists of
//!
//! - *rows*: valid inequalities `sum of a(s) x(s) >= least` over choices `x` of zeros and ones. A core: one of these sites is chosen,
//!   for with all others chosen some node is over its limit. A core where less than some levels leave some nodes, and at least some levels
//!   others: the same among the choices in which that is true, and of use only below the steps that say so. A cut: weights of sites and the least that the chosen ones weigh, with a
//!   proof of its own;
//! - *multipliers* `y >= 0` of the rows, in units of `2^-32` of the greatest common divisor `g` of the weights. Whatever they are,
//!   legal choices weigh at least
//!
//!   ```text
//!   sum of y * least  +  sum over sites of the least of (weight(s) - sum of y * a(s)) * x(s) over the values of x(s) that are open
//!   ```
//!
//!   and that may be rounded up to a multiple of `g`;
//! - *steps*, a tree written in prefix order. What a step proves holds for the choices that its predecessors leave open:
//!
//!   - `bound`: what some multipliers prove;
//!   - `branch`: the lesser of the two steps after it, first without the site, then with it;
//!   - `level`: the lesser of the two steps after it, first where less than so many bits leave the node, then where as many or more do;
//!     there its site is absent if its reset is less;
//!   - `settle`: the lesser of `least` and the step after it, in which some sites are absent and some chosen. Multipliers prove
//!     `least` for every choice that differs in one of them;
//!   - `split`: the sum of proofs with sites of their own, whose rows hold for what is left open, and of the weights of what is
//!     chosen besides;
//!   - `sweep`: `least`. A sweep over the program finds no choice that weighs less.
//!
//! Where a proof says "chosen", a site does what is lower, its reset or nothing: no legal choice has less noise than that, even if
//! resets can raise it.
//!
//! Cost: per core the nodes that its absence raises; per use of multipliers their number; a sweep as many states as it meets, at most
//! [`sweep::MOST_STATES`] at a time.

#![warn(missing_docs)]

mod failure;
mod file;
mod noise;
mod prices;
mod proof;
pub mod sweep;
mod verify;

pub use self::failure::Failure;
pub use self::file::{
    Certificate, Function, Instance, Left, Multiplier, NodeData, NodeRule, Proof, Row, SiteData,
    Step, System,
};
pub use self::verify::{FORMAT, VERSION, Verified, verify};
