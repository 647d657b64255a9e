//! Rewrites programs over noisy integers into equivalent programs that need fewer noise reductions.

mod bound;
mod equality;
mod extract;
mod improve;
mod placing;
mod scale;
mod search;
mod straight;
mod structure;
mod write;

pub use equality::{Equality, prove_equal};
pub use improve::{RewrittenProgram, Saving, rewrite, time_left};
pub use placing::RewriteOptions;

#[cfg(test)]
mod tests;
