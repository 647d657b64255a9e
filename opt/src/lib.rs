//! Passes over MLIR programs: a driver in the manner of `mlir-opt`, a greedy rewriter, and the passes.
//!
//! | module | what | knows nothing of |
//! |---|---|---|
//! | [`effects`] | which memory an op touches, whether it may be erased or moved | rewriting |
//! | [`rewrite`] | the rewriter, the greedy driver, constants, blocks | which patterns there are |
//! | [`fold`] | folds, by the table of the constants analysis | patterns |
//! | [`patterns`] | rewriting rules by dialect | passes |
//! | [`passes`] | the passes and the table of them | flags, files |
//! | [`driver`] | flags, pipelines, the pass manager, diagnostics | what passes do |

pub mod driver;
pub mod effects;
pub mod fold;
pub mod passes;
pub mod patterns;
pub mod rewrite;
