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
mod write;

pub use equality::{Equality, equal};
pub use improve::{Options, Rewritten, Saving, rewrite};

#[cfg(test)]
mod tests;
