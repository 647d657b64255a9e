//! Passes on MLIR programs: a driver like `mlir-opt`, a greedy rewriter, and the passes.
//!
//! | module | contents | knows nothing of |
//! |---|---|---|
//! | `predicate` | predicates of comparisons | rewriting |
//! | [`rewrite`] | the rewriter, the greedy driver, constants, blocks | the patterns |
//! | `patterns` | rewriting rules by dialect | folds, passes |
//! | `fold` | folds, by the table of the constants analysis | passes |
//! | [`diagnostics`], [`timing`], [`actions`] | reports of a run, and its numbered steps | passes |
//! | [`analysis`] | analyses that passes share, kept while they are preserved | the analyses |
//! | [`pass`] | the interface of passes: row, options, context | the passes |
//! | [`passes`] | the passes and their tables | pipelines, flags, files |
//! | [`driver`] | flags, pipelines, the pass manager | the effects of passes |

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
