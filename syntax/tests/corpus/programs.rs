//! The programs of `tests/corpus`. Each file contains several programs, separated by `// -----`.
//! `X.generic.mlir` contains their generic form as `mlir-opt` of LLVM 19 prints it.
//!
//! `BLESS=1 cargo test -p noisy-syntax --test corpus` records that form again and needs `mlir-opt`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::oracle;

const SEPARATOR: &str = "// -----\n";

/// One program of the corpus.
#[derive(Debug)]
pub(crate) struct Program {
    /// File name and number of the program in the file, from 1.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The generic form that `mlir-opt` prints.
    pub(crate) generic: String,
}

fn split(text: &str) -> Vec<String> {
    text.split(SEPARATOR).map(ToOwned::to_owned).collect()
}

/// Returns the paths of the files with programs, sorted.
fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    let entries = fs::read_dir(&folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut out: Vec<PathBuf> = entries.map(|it| it.expect("a readable folder").path()).collect();
    out.retain(|it| {
        let name = it.to_string_lossy();
        name.ends_with(".mlir") && !name.ends_with(".generic.mlir")
    });
    out.sort();
    out
}

/// Returns all programs.
///
/// # Panics
///
/// Panics if a recorded form is missing or does not match the programs.
pub(crate) fn programs() -> Vec<Program> {
    let mut out = Vec::new();
    for path in paths() {
        let read = |path: &Path| {
            fs::read_to_string(path).unwrap_or_else(|it| {
                panic!("{}: {it}; BLESS=1 with mlir-opt records it", path.display())
            })
        };
        let texts = split(&read(&path));
        let printed = split(&read(&path.with_extension("generic.mlir")));
        assert_eq!(texts.len(), printed.len(), "{}: BLESS=1 is needed", path.display());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        for (at, (text, generic)) in texts.into_iter().zip(printed).enumerate() {
            out.push(Program { name: format!("{stem} {}", at + 1), text, generic });
        }
    }
    out
}

#[test]
fn recorded_forms_are_those_of_mlir_opt() {
    for path in paths() {
        let Some(printed) = oracle::generic_form(&path) else { return };
        let recorded = path.with_extension("generic.mlir");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&recorded, printed).expect("the corpus is writable");
        } else {
            assert!(
                fs::read_to_string(&recorded).is_ok_and(|it| it == printed),
                "{} is not what mlir-opt prints; BLESS=1 records it",
                recorded.display()
            );
        }
    }
}
