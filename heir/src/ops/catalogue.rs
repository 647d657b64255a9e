//! The catalogue of HEIR's ops, with the facts of HEIR's interfaces for each.
//!
//! Its data is `catalogue.txt`, which `scripts/heir-catalogue` generates from a checkout of HEIR;
//! run the script for each new version of HEIR. *Law.* The effect on a ciphertext is unknown for an
//! op of HEIR's dialects that the catalogue lacks, and for an op of an unknown dialect.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// The effect of an op on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelRule {
    /// The op uses this number of levels; the attribute of the op, if it is present, overrides it.
    Drop(u32, Option<&'static str>),
    /// The op uses all levels.
    DropAll,
    /// The result has the level after a bootstrap.
    Bootstrap,
    /// The op uses the levels that the evaluation of a Chebyshev polynomial needs, by the number of
    /// its coefficients.
    Chebyshev,
}

/// The catalogue's entry of an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CatalogueRow {
    /// The effect on a level.
    pub(crate) level_rule: Option<LevelRule>,
    /// The operands to whose level the effect applies.
    pub(crate) level_source: LevelSource,
    /// True if plaintext operands are encoded for the level of the result.
    pub(crate) takes_plaintexts: bool,
}

/// The operands whose level an op changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelSource {
    /// The operand with this index.
    Operand(usize),
    /// All inputs of a structured op, but not its outputs.
    Inputs,
}

impl Default for LevelSource {
    fn default() -> Self {
        LevelSource::Operand(0)
    }
}

static TEXT: &str = include_str!("catalogue.txt");

static ENTRIES: LazyLock<FxHashMap<&str, CatalogueRow>> = LazyLock::new(|| rows(TEXT).collect());

/// The dialects of the ops in the catalogue, without those of MLIR.
static DIALECTS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    let dialects = rows(TEXT).filter_map(|it| Some(it.0.split_once('.')?.0));
    dialects.filter(|it| !UPSTREAM.contains(it)).collect()
});

/// The dialects of MLIR. As in HEIR, the result of such an op has the level of its operands, unless
/// the catalogue states another effect.
const UPSTREAM: [&str; 21] = [
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "index",
    "linalg",
    "llvm",
    "math",
    "memref",
    "ml_program",
    "quant",
    "scf",
    "shape",
    "tensor",
    "tosa",
    "transform",
    "ub",
    "vector",
];

/// HEIR's dialects for libraries or schemes whose ops have no levels. HEIR's analysis of levels has
/// no rules for them.
const WITHOUT_LEVELS: [&str; 10] = [
    "cggi",
    "cheddar",
    "jaxite",
    "jaxiteword",
    "poulpy",
    "rotom",
    "scifrbool",
    "scifrckks",
    "tfhe_rust",
    "tfhe_rust_bool",
];

fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, CatalogueRow)> {
    text.lines().filter(|it| !it.starts_with('#')).filter_map(|line| {
        let mut words = line.split(' ');
        let name = words.next().filter(|it| !it.is_empty())?;
        let mut entry = CatalogueRow::default();
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("drop", "chebyshev") => entry.level_rule = Some(LevelRule::Chebyshev),
                ("drop", "") => entry.level_rule = Some(LevelRule::Drop(1, None)),
                ("drop", attribute) => entry.level_rule = Some(LevelRule::Drop(1, Some(attribute))),
                ("last", _) => entry.level_rule = Some(LevelRule::DropAll),
                ("bootstrap", _) => entry.level_rule = Some(LevelRule::Bootstrap),
                ("of", "inputs") => entry.level_source = LevelSource::Inputs,
                ("of", number) => {
                    entry.level_source = LevelSource::Operand(number.parse().unwrap_or(usize::MAX));
                }
                ("plaintexts", _) => entry.takes_plaintexts = true,
                _ => {}
            }
        }
        Some((name, entry))
    })
}

/// Returns the entry of an op, by its full name.
pub(crate) fn row(name: &str) -> Option<&'static CatalogueRow> {
    ENTRIES.get(name)
}

/// Returns the names of all ops of HEIR's own dialects.
pub fn heir_op_names() -> impl Iterator<Item = &'static str> {
    rows(TEXT).map(|it| it.0).filter(|it| {
        let dialect = it.split_once('.').map_or("", |it| it.0);
        !UPSTREAM.contains(&dialect)
    })
}

/// Returns the version of HEIR from which the catalogue was generated.
pub fn heir_version() -> &'static str {
    let rest = TEXT.strip_prefix("# HEIR ").unwrap_or_default();
    rest.split(',').next().unwrap_or_default()
}

/// Returns true if the catalogue has the op, and its dialect is one of HEIR's own.
pub fn is_heir_op(name: &str) -> bool {
    let dialect = name.split_once('.').map(|it| it.0);
    dialect.is_some_and(|it| DIALECTS.contains(it)) && row(name).is_some()
}

/// Returns true if the effect of an op on a ciphertext is known.
pub(crate) fn has_known_effect(name: &str) -> bool {
    let Some((dialect, _)) = name.split_once('.') else { return false };
    if UPSTREAM.contains(&dialect) {
        return true;
    }
    row(name).is_some() && !WITHOUT_LEVELS.contains(&dialect)
}

/// Returns true if the dialect of an op is one of HEIR's own, but the catalogue lacks the op.
pub(crate) fn is_missing_heir_op(name: &str) -> bool {
    let dialect = name.split_once('.').map(|it| it.0);
    dialect.is_some_and(|it| DIALECTS.contains(it)) && row(name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_catalogue_is_understood() {
        let words = ["drop", "last", "bootstrap", "of", "plaintexts"];
        for line in TEXT.lines().skip(1) {
            let mut parts = line.split(' ');
            assert!(parts.next().is_some_and(|it| it.contains('.')), "{line}");
            for part in parts {
                let (word, value) = part.split_once('=').unwrap_or((part, ""));
                assert!(words.contains(&word), "{line}");
                assert!(word != "of" || value == "inputs" || value.parse::<usize>().is_ok());
            }
        }
        assert_eq!(heir_version(), "2026.9.1");
    }

    #[test]
    fn ops_are_found_by_name() {
        let drop = row("openfhe.level_reduce").expect("it is in the catalogue");
        assert_eq!(drop.level_rule, Some(LevelRule::Drop(1, Some("levelToDrop"))));
        assert_eq!(drop.level_source, LevelSource::Operand(1));
        assert_eq!(row("linalg.matvec").map(|it| it.level_source), Some(LevelSource::Inputs));
        assert!(
            has_known_effect("bgv.add")
                && has_known_effect("tensor.extract")
                && has_known_effect("kernel.eval_chebyshev")
        );
        assert!(
            !has_known_effect("bgv.add3")
                && is_missing_heir_op("bgv.add3")
                && !is_missing_heir_op("bgv.add")
        );
        assert!(
            is_heir_op("mgmt.modreduce")
                && !is_heir_op("mgmt.modreduse")
                && !is_heir_op("linalg.matvec")
        );
        assert!(
            !has_known_effect("foo.bar")
                && !is_missing_heir_op("foo.bar")
                && !has_known_effect("cheddar.rescale")
        );
    }
}
