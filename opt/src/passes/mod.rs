//! The passes and their tables. A pass is a function on an op.
//!
//! To add a pass, add a row to a table in `TABLES`: name, class (as in upstream's messages),
//! anchor, options and the function.

mod affine;
mod analyses;
mod canonicalize;
mod composite;
mod cse;
mod dead_code;
mod facts;
mod infrastructure;
mod inline;
mod int_range;
mod licm;
mod mem2reg;
mod mul_to_add;
mod narrow;
mod noisy;
mod printers;
mod remove_dead;
mod sccp;
mod sink;
mod symbols;

pub use affine::schedule::{best_schedule, is_nest_root};

pub use crate::pass::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};

/// The passes of each family. Passes from other crates have one row here.
const TABLES: &[&[PassInfo]] = &[
    affine::coalesce::PASSES,
    affine::dependence_check::PASSES,
    affine::fuse::PASSES,
    affine::hoist::PASSES,
    affine::jam::PASSES,
    affine::lower::PASSES,
    affine::normalize::PASSES,
    affine::parallelize::PASSES,
    affine::parametric::PASSES,
    affine::permute::PASSES,
    affine::scalars::PASSES,
    affine::schedule::PASSES,
    affine::simplify::PASSES,
    affine::tile::PASSES,
    affine::unroll::PASSES,
    analyses::PASSES,
    canonicalize::PASSES,
    composite::PASSES,
    cse::PASSES,
    dead_code::PASSES,
    infrastructure::PASSES,
    inline::PASSES,
    int_range::PASSES,
    licm::PASSES,
    mem2reg::PASSES,
    mul_to_add::PASSES,
    narrow::PASSES,
    noisy::PASSES,
    printers::PASSES,
    remove_dead::PASSES,
    sccp::PASSES,
    sink::PASSES,
    symbols::PASSES,
];

/// Returns all passes.
pub(crate) fn all() -> impl Iterator<Item = &'static PassInfo> {
    TABLES.iter().copied().flatten()
}

/// Returns the pass with a name.
pub(crate) fn find(name: &str) -> Option<&'static PassInfo> {
    all().find(|it| it.name == name)
}

/// Passes that read only the isolated op that they change: their effect on a function depends on
/// that function alone.
const LOCAL: &[&str] = &[
    "arith-int-narrowing",
    "canonicalize",
    "control-flow-sink",
    "cse",
    "loop-invariant-code-motion",
    "mem2reg",
    "test-constant-fold",
    "trivial-dce",
];

/// Passes that read the whole program, but only one function if they run on functions (`facts.rs`).
const LOCAL_ON_FUNCTIONS: &[&str] =
    &["arith-unsigned-when-equivalent", "int-range-optimizations", "sccp"];

/// Returns true if the effect of a pass on an isolated op, of the kind of the pipeline's anchor,
/// depends on that op alone.
pub fn is_local(pass: &PassInfo, anchor: &str) -> bool {
    LOCAL.contains(&pass.name) || anchor == "func.func" && LOCAL_ON_FUNCTIONS.contains(&pass.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_pass_and_lists_of_names_mean_passes() {
        let mut names: Vec<&str> = all().map(|it| it.name).collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|it| it[0] == it[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        for name in LOCAL.iter().chain(LOCAL_ON_FUNCTIONS) {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
