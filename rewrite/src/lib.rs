//! Rewrites programs over noisy integers into equal ones that need fewer noise reductions.

mod balance;
mod dag;
mod equality;
mod extract;
mod factor;
mod improve;
mod rotate;
mod scale;
mod search;
mod straight;
mod structure;
mod write;

pub use equality::{Equality, equal};
pub use improve::{Options, Rewritten, Saving};
pub use structure::rewrite;

#[cfg(test)]
mod tests;
