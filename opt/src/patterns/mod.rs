//! Rewriting rules, a table for each dialect. A rule stands beside the kind of op that it matches; the greedy driver tries the rules
//! of a kind in the order of the tables.
//!
//! *Law.* What a rule puts in place of an op gives the same results and effects wherever the op has any meaning. A rule of which that is
//! not sure stands in none of these tables, even if MLIR has it (`docs/passes.md` names those).

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

/// The rules that drop values which nothing needs, and do nothing else.
pub(crate) const DEAD_VALUES: &[&str] =
    &["unused_results", "fixed_iter_args", "unused_while_results", "unused_while_args"];

/// All rules of `canonicalize`.
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
