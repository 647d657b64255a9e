//! Rewrite patterns, in one table per topic. A row specifies the op kind that its patterns match.
//! The greedy driver tries the patterns of a kind in the order of the tables.
//!
//! *Law.* The replacement has the same results and effects wherever the behavior of the op is
//! defined. Patterns of MLIR that violate this are omitted; `docs/passes.md` lists them.

pub(crate) mod affine;
pub(crate) mod arith;
mod cf;
mod compare;
mod func;
mod loops;
pub(crate) mod memref;
mod noisy;
mod parallel;
mod reshape;
mod scf;
mod select;
mod strided;
mod whiles;

use crate::rewrite::greedy::Pattern;

/// The patterns that only remove unused values.
pub(crate) const DEAD_VALUE_PATTERNS: &[&str] =
    &["unused_results", "fixed_iter_args", "unused_while_results", "unused_while_args"];

/// Returns all patterns of `canonicalize`.
pub(crate) fn all() -> impl Iterator<Item = Pattern> {
    const TABLES: &[&[Pattern]] = &[
        arith::PATTERNS,
        compare::PATTERNS,
        select::PATTERNS,
        cf::PATTERNS,
        scf::PATTERNS,
        loops::PATTERNS,
        whiles::PATTERNS,
        parallel::PATTERNS,
        affine::PATTERNS,
        memref::PATTERNS,
        reshape::PATTERNS,
        strided::PATTERNS,
        func::PATTERNS,
        noisy::PATTERNS,
    ];
    TABLES.iter().copied().flatten().copied()
}

/// Creates a table of patterns. Each row has an op kind and the functions that rewrite ops of that
/// kind.
macro_rules! patterns {
    ($($kind:ident: $($rule:path),+;)*) => {
        &[$($(crate::rewrite::greedy::Pattern {
            name: stringify!($rule),
            kind: noisy_syntax::OpKind::$kind,
            rewrite: $rule,
        },)+)*]
    };
}
use patterns;
