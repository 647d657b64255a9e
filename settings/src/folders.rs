//! The folders above a file.

use std::path::{Component, Path, PathBuf};

/// Longer paths are none of files, in bytes: Windows has paths of so many characters, other systems of an eighth of that.
const LONGEST_PATH: usize = 32_767;

/// Paths with more folders are none of files that anybody keeps: there is a copy of the path of each in memory.
const MOST_FOLDERS: usize = 1_000;

/// A folder and those above it, the nearest first; none if no file system has such a folder.
pub fn folders(folder: &Path) -> impl Iterator<Item = &Path> {
    let is_possible =
        folder.as_os_str().len() <= LONGEST_PATH && folder.ancestors().nth(MOST_FOLDERS).is_none();
    folder.ancestors().take(if is_possible { MOST_FOLDERS } else { 0 })
}

/// A path from the root of the file system on, without `.` and `..`. Only names are looked at: links are not followed.
pub fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !path.components().any(|it| it == Component::ParentDir) {
        return path;
    }
    let mut out = PathBuf::new();
    for it in path.components() {
        if it == Component::ParentDir {
            out.pop();
        } else {
            out.push(it);
        }
    }
    out
}
