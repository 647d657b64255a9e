//! The passes, and the list of all passes. A pass is a function on an op.
//!
//! To add a pass, add its `PassInfo` to a list in `TABLES`: name, class (as in MLIR's messages),
//! anchor, options and function.

pub(crate) mod affine;
pub(crate) mod general;
pub(crate) mod integers;
mod noisy;
pub(crate) mod report;

pub use affine::schedule::{best_schedule, is_nest_root};

pub use crate::pass::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};

/// The passes of each module.
const TABLES: &[&[PassInfo]] = &[
    affine::nests::coalesce::PASSES,
    affine::memory::dependence_check::PASSES,
    affine::nests::fuse::PASSES,
    affine::nests::hoist::PASSES,
    affine::nests::jam::PASSES,
    affine::bounds::lower::PASSES,
    affine::bounds::normalize::PASSES,
    affine::memory::parallelize::PASSES,
    affine::nests::permute::PASSES,
    affine::memory::scalars::PASSES,
    affine::schedule::PASSES,
    affine::bounds::simplify::PASSES,
    affine::nests::tile::PASSES,
    affine::nests::unroll::PASSES,
    general::canonicalize::PASSES,
    general::composite::PASSES,
    general::cse::PASSES,
    report::infrastructure::PASSES,
    general::inline::PASSES,
    integers::int_range::PASSES,
    general::licm::PASSES,
    general::mem2reg::PASSES,
    integers::mul_to_add::PASSES,
    integers::narrow::PASSES,
    noisy::PASSES,
    report::printers::PASSES,
    general::remove_dead::PASSES,
    integers::sccp::PASSES,
    general::sink::PASSES,
    general::symbols::PASSES,
];

/// Returns all passes.
pub(crate) fn all() -> impl Iterator<Item = &'static PassInfo> {
    TABLES.iter().copied().flatten()
}

/// Returns the pass with a name.
pub(crate) fn find(name: &str) -> Option<&'static PassInfo> {
    all().find(|it| it.name == name)
}

/// The passes that read only the isolated op that they change. Their effect on a function depends
/// only on this function.
const LOCAL_PASSES: &[&str] = &[
    "arith-int-narrowing",
    "canonicalize",
    "control-flow-sink",
    "cse",
    "loop-invariant-code-motion",
    "mem2reg",
    "test-constant-fold",
    "trivial-dce",
];

/// The passes that read the whole program, except if they run on functions (`facts.rs`).
const PASSES_LOCAL_ON_FUNCTIONS: &[&str] =
    &["arith-unsigned-when-equivalent", "int-range-optimizations", "sccp"];

/// Returns true if the effect of a pass on an isolated op, in a pipeline with this anchor, depends
/// only on this op.
pub fn is_local(pass: &PassInfo, anchor: &str) -> bool {
    LOCAL_PASSES.contains(&pass.name)
        || anchor == "func.func" && PASSES_LOCAL_ON_FUNCTIONS.contains(&pass.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_names_are_unique_and_lists_have_only_passes() {
        let mut names: Vec<&str> = all().map(|it| it.name).collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|it| it[0] == it[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        for name in LOCAL_PASSES.iter().chain(PASSES_LOCAL_ON_FUNCTIONS) {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
