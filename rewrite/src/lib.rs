//! Rewrites programs over noisy integers into equal ones that need fewer noise reductions.

mod balance;
mod bound;
mod clock;
mod dag;
mod equality;
mod extract;
mod factor;
mod improve;
mod race;
mod rotate;
mod scale;
mod search;
mod straight;
mod write;

pub use equality::{Equality, equal};
pub use improve::{Options, Rewritten, Saving, rewrite, time_left};

#[cfg(test)]
mod tests;
