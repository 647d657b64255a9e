//! Rewriting rules, with a table per dialect. A row names the kind of op that a rule matches; the
//! greedy driver tries the rules of a kind in the order of the tables.
//!
//! *Law.* The replacement has the same results and effects wherever the op has a meaning. Rules
//! that may break this are in none of these tables, even if MLIR has them (`docs/passes.md` lists
//! those).

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

/// The rules that only drop unused values.
pub(crate) const DEAD_VALUES: &[&str] =
    &["unused_results", "fixed_iter_args", "unused_while_results", "unused_while_args"];

/// Returns all rules of `canonicalize`.
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

/// Writes a row of a table: kind of op, function.
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
