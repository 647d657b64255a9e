//! The open set: one folder of chunks, each with its re-prints, and an index of what the tools
//! said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One program, and what a tool printed of it.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The path of the program below the folder.
    pub(crate) name: String,
    /// The tool that printed it: `m19` or `h24`.
    pub(crate) printed_by: String,
    /// The program.
    pub(crate) text: String,
    /// The tool's generic form of it.
    pub(crate) generic: String,
    /// True if all its ops are of the dialects that are read in full.
    pub(crate) is_core: bool,
    /// True if it has ops of `memref`, and otherwise of those dialects only.
    pub(crate) is_memref: bool,
}

/// The dialects that are read in full.
const CORE: [&str; 7] = ["affine", "arith", "builtin", "cf", "func", "noisy", "scf"];

/// Where the open set is unpacked; `None` where there is none.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let unpacked = FOLDER.get_or_init(|| {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/open.tar.xz");
        if !archive.is_file() {
            eprintln!("no {}: nothing to compare with", archive.display());
            return None;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
        let done = target.join("done");
        if !done.is_file() {
            fs::create_dir_all(&target).expect("the target folder is writable");
            let unpack =
                Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(&target).status();
            assert!(unpack.is_ok_and(|it| it.success()), "tar unpacks {}", archive.display());
            fs::write(&done, "").expect("the target folder is writable");
        }
        let mut folders = fs::read_dir(&target).expect("it was made above").flatten();
        folders.find(|it| it.path().is_dir()).map(|it| it.path())
    });
    unpacked.as_deref()
}

/// All chunks of a set of the index that a tool accepted and printed; empty where there is no
/// corpus.
pub(crate) fn chunks() -> Vec<Chunk> {
    let Some(folder) = folder() else { return Vec::new() };
    let index = fs::read_to_string(folder.join("index.tsv")).expect("the corpus has an index");
    let mut rows = index.lines().map(|it| it.split('\t').collect::<Vec<_>>());
    let head = rows.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|it| *it == name).expect("a known column");
    let columns = ["path", "chunk", "dialects", "printed_by"].map(column);
    let mut out = Vec::new();
    for row in rows {
        let [path, chunk, dialects, printed_by] =
            columns.map(|it| row.get(it).copied().unwrap_or(""));
        out.extend(read(folder, &format!("{path}.{chunk}"), printed_by, dialects));
    }
    out
}

/// The generated programs.
pub(crate) fn synthetic() -> Vec<Chunk> {
    let Some(folder) = folder() else { return Vec::new() };
    let files = fs::read_dir(folder.join("synth")).expect("the corpus has generated programs");
    let mut names: Vec<String> = files
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.strip_suffix(".mlir").map(ToOwned::to_owned))
        .filter(|it| !it.contains('.'))
        .collect();
    names.sort();
    names.iter().filter_map(|it| read(folder, &format!("synth/{it}"), "", "")).collect()
}

fn read(folder: &Path, base: &str, printed_by: &str, dialects: &str) -> Option<Chunk> {
    let name = format!("{base}.mlir");
    let generic = fs::read_to_string(folder.join(format!("{base}.generic.mlir"))).ok()?;
    let text = fs::read_to_string(folder.join(&name)).ok()?;
    let mut others = dialects.split(',').filter(|it| !it.is_empty() && !CORE.contains(it));
    let (first, more) = (others.next(), others.next());
    let is_memref = first == Some("memref") && more.is_none();
    let printed_by = printed_by.to_owned();
    Some(Chunk { name, printed_by, text, generic, is_core: first.is_none(), is_memref })
}
