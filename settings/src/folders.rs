//! The folders above a file.

use std::path::{Component, Path, PathBuf};

/// Maximum length of a path in bytes: the limit of Windows in characters, and eight times the limit
/// of other systems.
const LONGEST_PATH: usize = 32_767;

/// Maximum number of folders in a path: a copy of the path of each folder is kept in memory.
const MAX_FOLDERS: usize = 1_000;

/// Returns a folder and the folders above it, the nearest first; nothing if no file system allows
/// such a path.
pub fn folders(folder: &Path) -> impl Iterator<Item = &Path> {
    let is_possible =
        folder.as_os_str().len() <= LONGEST_PATH && folder.ancestors().nth(MAX_FOLDERS).is_none();
    folder.ancestors().take(if is_possible { MAX_FOLDERS } else { 0 })
}

/// Returns an absolute path without `.` and `..`. Links are not followed.
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
