//! The folders above a file.

use std::path::Path;

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
