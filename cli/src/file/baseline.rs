//! `--baseline`: reports only findings that are not in the baseline.
//!
//! A baseline is a JSON file with the findings of a run: the file of each finding, and a
//! fingerprint that stays the same when lines move. Only these two are read again; the rest is for
//! people. File names are relative to the folder of the baseline, so the working directory and the
//! spelling of paths do not matter.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use noisy_analyses::Diagnostic;
use noisy_output::{is_stream, plain_path, reason, shown_path};
use noisy_settings::absolute;
use ropey::Rope;
use serde::{Deserialize, Serialize};

use crate::file::fingerprint::Fingerprints;

/// Version of the only format that is written and read. Fingerprints of version 1 depended on the
/// spelling of paths.
const VERSION: u32 = 2;
/// Maximum size of a baseline, in bytes.
const MAX_FILE: u64 = 256 << 20;
/// Name of standard input without `--stdin-filename`.
const STDIN: &str = "<stdin>";

/// A finding of a baseline. The fields are in the order by which findings are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct BaselineFinding {
    /// The file, relative to the folder of the baseline (absolute before the baseline is written),
    /// or [`STDIN`].
    filename: String,
    code: String,
    message: String,
    /// Identifies the finding in its file.
    fingerprint: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct BaselineFile {
    version: u32,
    findings: Vec<BaselineFinding>,
}

#[derive(Debug)]
pub(crate) struct Baseline {
    folder: BaselineFolder,
    /// Pairs of a file and a fingerprint.
    findings: BTreeSet<(String, String)>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a baseline.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", shown_path(path));
        let io = |it: io::Error| named(reason(&it));
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|it| it.take(MAX_FILE + 1).read_to_end(&mut bytes))
            .map_err(io)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(named("a baseline has at most 256 MiB".to_owned()));
        }
        let read: BaselineFile = serde_json::from_slice(&bytes)
            .map_err(|why| named(format!("not a baseline file: {why}")))?;
        if read.version != VERSION {
            return Err(named(format!(
                "baseline of version {}; this program reads version {VERSION}",
                read.version
            )));
        }
        let findings = read.findings.into_iter().map(|it| (it.filename, it.fingerprint)).collect();
        Ok(Self { folder: BaselineFolder::of(path), findings })
    }

    /// Returns, for each finding of a file, true if the baseline contains it.
    pub(crate) fn contains(&self, entries: &[BaselineFinding]) -> Vec<bool> {
        let Some(first) = entries.first() else { return Vec::new() };
        let name = self.folder.name(&first.filename);
        let is_known =
            |it: &BaselineFinding| self.findings.contains(&(name.clone(), it.fingerprint.clone()));
        entries.iter().map(is_known).collect()
    }
}

/// The entries of a baseline for the findings of a file, in the same order.
pub(crate) fn baseline_findings(
    name: &str,
    text: &Rope,
    found: &[Diagnostic],
) -> Vec<BaselineFinding> {
    let filename = if name == STDIN {
        name.to_owned()
    } else {
        absolute(Path::new(name)).to_string_lossy().into_owned()
    };
    let mut fingerprints = Fingerprints::new("", text);
    let entries = found.iter().map(|it| BaselineFinding {
        filename: filename.clone(),
        code: it.code.to_owned(),
        message: it.identity().to_owned(),
        fingerprint: fingerprints.of(
            text.byte_to_line(it.range.start.min(text.len_bytes())),
            it.code,
            it.identity(),
        ),
    });
    entries.collect()
}

/// The text of a baseline, for the file `baseline`.
pub(crate) fn baseline_text(baseline: &Path, mut findings: Vec<BaselineFinding>) -> String {
    let folder = BaselineFolder::of(baseline);
    for it in &mut findings {
        it.filename = folder.name(&it.filename);
    }
    findings.sort_unstable();
    // Serialization of strings and numbers cannot fail.
    serde_json::to_string_pretty(&BaselineFile { version: VERSION, findings }).unwrap_or_default()
        + "\n"
}

/// The folder of a baseline.
#[derive(Debug)]
struct BaselineFolder(PathBuf);

impl BaselineFolder {
    /// Returns the folder of a baseline. A baseline that is read from or written to an open stream
    /// counts as a file in the current folder.
    fn of(baseline: &Path) -> Self {
        let mut folder = absolute(if is_stream(baseline) { Path::new("_") } else { baseline });
        folder.pop();
        Self(folder)
    }

    /// The relative path from this folder to `file`. If the file is not below this folder, symbolic
    /// links are resolved first.
    fn name(&self, file: &str) -> String {
        let path = Path::new(file);
        let relative = match path.strip_prefix(&self.0) {
            Ok(it) => it.to_owned(),
            Err(_) if path.is_relative() => return file.to_owned(),
            Err(_) => {
                let real = |it: &Path| fs::canonicalize(it).unwrap_or_else(|_| it.to_owned());
                let folder = path.parent().map(real).unwrap_or_default();
                relative(&folder.join(path.file_name().unwrap_or_default()), &real(&self.0))
            }
        };
        plain_path(&relative).to_string_lossy().into_owned()
    }
}

/// The path of `file` relative to `folder`, both [`absolute`]; `file` itself if there is no
/// relative path.
fn relative(file: &Path, folder: &Path) -> PathBuf {
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return file.to_owned();
    }
    let back = folder.components().skip(shared).map(|_| Component::ParentDir);
    back.chain(file.components().skip(shared)).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_folder_of_a_baseline() {
        let folder = BaselineFolder(PathBuf::from("/no/such"));
        for (file, name) in [
            ("/no/such/a.mlir", "a.mlir"),
            ("/no/such/src/a.mlir", "src/a.mlir"),
            ("/no/a.mlir", "../a.mlir"),
            ("/no/suchlike/a.mlir", "../suchlike/a.mlir"),
            ("/a.mlir", "../../a.mlir"),
            (STDIN, STDIN),
        ] {
            assert_eq!(folder.name(file), name);
        }
    }

    #[test]
    fn resolves_parent_components() {
        for (typed, path) in [
            ("/a/./b//c", "/a/b/c"),
            ("/a/x/../b/c/", "/a/b/c"),
            ("/../../a", "/a"),
            ("/a/..", "/"),
        ] {
            assert_eq!(absolute(Path::new(typed)), Path::new(path), "{typed}");
        }
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(absolute(Path::new("./x/../y")), here.join("y"));
    }

    #[test]
    fn resolves_symbolic_links() {
        let (real, other) = (tempfile::tempdir(), tempfile::tempdir());
        let (real, other) = (real.expect("a folder"), other.expect("a folder"));
        let link = other.path().join("link");
        std::os::unix::fs::symlink(real.path(), &link).expect("a link");
        fs::create_dir(real.path().join("src")).expect("a folder");
        for folder in [real.path(), &link] {
            for file in [real.path().join("src/a.mlir"), link.join("src/a.mlir")] {
                let name = BaselineFolder(folder.to_owned()).name(file.to_str().expect("UTF-8"));
                assert_eq!(name, "src/a.mlir", "{}", file.display());
            }
        }
    }

    #[test]
    fn finds_written_findings() {
        let text_of = Rope::from_str("a\nb\n");
        let found = [Diagnostic {
            code: "x",
            category: noisy_analyses::Category::Lint,
            severity: noisy_analyses::Severity::Hint,
            range: 2..3,
            message: "as in line 1".to_owned(),
            related: Vec::new(),
            help: None,
            mlir_wording: None,
            tags: Vec::new(),
            repair: noisy_analyses::RepairKind::None,
        }];
        let folder = tempfile::tempdir().expect("a folder");
        let baseline = folder.path().join("ci/old.json");
        fs::create_dir(folder.path().join("ci")).expect("a folder");
        let name = |it: &str| folder.path().join(it).display().to_string();
        let entries = |it: &str| baseline_findings(&name(it), &text_of, &found);
        fs::write(&baseline, baseline_text(&baseline, entries("src/a.mlir"))).expect("a file");
        assert!(fs::read_to_string(&baseline).expect("a text").contains("\"../src/a.mlir\""));
        let known = Baseline::read(&baseline).expect("a baseline");
        assert_eq!(known.contains(&entries("ci/.././src//a.mlir")), [true]);
        assert_eq!(known.contains(&entries("src/b.mlir")), [false]);
    }
}
