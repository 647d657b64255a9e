//! Verifies certificates of placements: the choice of sites is legal, it has the claimed cost, and
//! no legal choice costs less than the claimed bound. [`equality`] verifies that a program and the
//! one that it was rewritten into compute the same.
//!
//! The verifier shares no code with the optimizer, not even types: question and proof are JSON. It
//! has its own evaluation of noise, walk over proofs and sweep, and exact integers.
//! `tests/verify_certificate.py` is a second verifier, in Python.
//!
//! # What is verified
//!
//! A *question* is a graph of noise ([`Instance`]). `p(v)`, the noise before a reset, is the least
//! solution of the rules of the nodes. The noise after a node is the reset of its site if that is
//! chosen, else `p(v)`. A choice is legal if `p(v) <= limit(v)` everywhere. An *answer*
//! ([`System`]) is a choice, its cost, a bound, and parts that prove it. Parts share no site, so
//! their bounds add up.
//!
//! A *proof* ([`Proof`]) claims that the chosen ones of its sites weigh at least `bound` in every
//! legal choice; in a part the weights are costs. It consists of
//!
//! - *rows*: valid inequalities `sum of a(s) x(s) >= least` over choices `x` of zeros and
//!   ones. A *core*: one of these sites is chosen, because with all others chosen some node is over
//!   its limit. A *conditional core*: a core among the choices in which less than given levels
//!   leave some nodes, and at least given levels leave others. It is valid only below the steps
//!   that assume so. A *cut*: weights of sites and the least weight of the chosen ones, with a
//!   proof of its own;
//! - *multipliers* `y >= 0` of the rows, in units of `2^-32` of the greatest common divisor `g`
//!   of the weights. Whatever they are, legal choices weigh at least
//!
//!   ```text
//!   sum of y * least
//!     + sum over sites of the least of (weight(s) - sum of y * a(s)) * x(s)
//!       over the values of x(s) that are open
//!   ```
//!
//!   and this may be rounded up to a multiple of `g`;
//! - *steps*, a tree written in prefix order. The bound of a step holds for the choices that its
//!   predecessors leave open:
//!
//!   - `bound`: the bound that some multipliers prove;
//!   - `branch`: the lesser bound of the next two steps, first without the site, then with it;
//!   - `level`: the lesser bound of the next two steps, first with less than a level after the
//!     node, then with at least that. In the second the site of the node is absent if its reset is
//!     less;
//!   - `settle`: the lesser of `least` and the bound of the next step, in which some sites are
//!     absent and some chosen. Multipliers prove `least` for every choice that differs in one of
//!     them;
//!   - `split`: the sum of proofs without common sites, whose rows hold for the open choices, and
//!     of the weights of the other chosen sites;
//!   - `sweep`: `least`. A sweep over the program finds no choice that weighs less.
//!
//! In proofs, a chosen site gives the lesser noise, its reset or the noise before it. No legal
//! choice has less noise than that, even if resets can raise it.
//!
//! Cost: per core the nodes that its absence raises; per use of multipliers their number; per sweep
//! its number of states, at most [`sweep::MOST_STATES`] at a time.

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
