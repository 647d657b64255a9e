//! Rewrites programs over noisy integers into equal ones that need fewer noise reductions.

mod bound;
mod clock;
mod equality;
mod extract;
mod improve;
mod race;
mod scale;
mod search;
mod straight;
mod structure;
mod write;

pub use equality::{Equality, equal};
pub use improve::{Options, Rewritten, Saving, rewrite, time_left};

#[cfg(test)]
mod tests;
