//! Passes over MLIR programs: a driver in the manner of `mlir-opt`, a greedy rewriter, and the passes.
//!
//! | module | what | knows nothing of |
//! |---|---|---|
//! | `predicate` | predicates of comparisons | rewriting |
//! | [`rewrite`] | the rewriter, the greedy driver, constants, blocks | which patterns there are |
//! | `patterns` | rewriting rules by dialect | folds, passes |
//! | `fold` | folds, by the table of the constants analysis | passes |
//! | [`diagnostics`], [`timing`], [`actions`] | what is told of a run, and its steps, counted | passes |
//! | [`analysis`] | analyses that passes share, kept while they are preserved | which there are |
//! | [`pass`] | what a pass is, its options, what it works with | which passes there are |
//! | [`passes`] | the passes and the table of them | pipelines, flags, files |
//! | [`driver`] | flags, pipelines, the pass manager | what passes do |

pub mod actions;
pub mod analysis;
pub mod diagnostics;
pub mod driver;
mod fold;
pub mod pass;
pub mod passes;
mod patterns;
mod predicate;
pub mod rewrite;
pub mod timing;
