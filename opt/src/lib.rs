//! Passes on MLIR programs: a driver like `mlir-opt`, a greedy rewriter, and the passes.
//!
//! | module | contents | independent of |
//! |---|---|---|
//! | `predicate` | predicates of comparisons | rewriting |
//! | [`rewrite`] | the rewriter, the greedy driver, constants, blocks | patterns |
//! | `patterns` | rewrite patterns by dialect | folds, passes |
//! | `fold` | constant folding, with the table of the constant analysis | passes |
//! | [`diagnostics`], [`timing`], [`actions`] | diagnostics, times and steps of a run | passes |
//! | [`analysis`] | a cache of analyses that passes share | the analyses |
//! | [`pass`] | the interface of passes: description, options, context | passes |
//! | [`passes`] | the passes and the list of all passes | pipelines, flags, files |
//! | [`driver`] | flags, files, pipelines, the pass manager | the effects of passes |

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
