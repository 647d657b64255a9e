//! Finds the files to check: named files, and the `*.mlir` files in named folders that git does not
//! ignore.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{fs, io, thread};

use noisy_output::{reason, shown_path};

use crate::input::failure::UnreadablePath;
use crate::input::ignore_files::{IgnoreFiles, IgnoreRules};
use crate::print_error;

/// An input, in the order of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    File(PathBuf),
    Stdin,
}

impl Input {
    /// The path, if it is a file.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Stdin => None,
        }
    }

    /// The name in the system's encoding, which may not be UTF-8; standard input has the name
    /// `stdin`.
    pub(crate) fn path<'a>(&'a self, stdin: &'a str) -> &'a Path {
        match self {
            Input::File(path) => path,
            Input::Stdin => Path::new(stdin),
        }
    }
}

/// Rules that leave out files.
pub(crate) struct InputFilter<'a> {
    /// True for a file to leave out; called for the files in folders.
    pub is_excluded: &'a mut dyn FnMut(&Path) -> bool,
    /// True if `is_excluded` also applies to named files.
    pub applies_to_named: bool,
    /// True if files that git ignores are left out.
    pub respects_gitignore: bool,
    /// The name of standard input.
    pub stdin_filename: &'a str,
}

/// The name of standard input if none is given. No pattern excludes it.
pub(crate) const STDIN: &str = "<stdin>";

/// The files that were found.
#[derive(Debug, Default)]
pub(crate) struct FoundInputs {
    pub inputs: Vec<Input>,
    /// Paths that were named or found and cannot be read.
    pub unreadable: Vec<UnreadablePath>,
    /// True if standard input was named and its name is excluded.
    pub excludes_stdin: bool,
    /// Folders that were left out completely, with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

impl FoundInputs {
    /// Reports the folders that were left out completely, on standard error.
    pub(crate) fn report_left_out(&self) {
        for (path, why) in &self.left_out {
            print_error(&format!("noisy-check: {}: {why}", shown_path(path)));
        }
    }
}

/// Copies standard input to standard output, for a filter that changes nothing.
///
/// # Errors
///
/// If it cannot be read or written.
pub(crate) fn echo_stdin() -> io::Result<()> {
    let mut out = io::stdout().lock();
    io::copy(&mut io::stdin().lock(), &mut out)?;
    out.flush()
}

/// Finds the files, each once. A named file may have any extension.
pub(crate) fn find_inputs(paths: &[PathBuf], filter: InputFilter<'_>) -> FoundInputs {
    let InputFilter {
        is_excluded,
        applies_to_named: force,
        respects_gitignore: gitignore,
        stdin_filename,
    } = filter;
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let (mut excludes_stdin, mut left_out) = (false, Vec::new());
    let mut seen = HashSet::new();
    // Two spellings of a path are the same file.
    let mut is_new = |path: &Path| {
        seen.insert(path.components().filter(|it| *it != Component::CurDir).collect::<PathBuf>())
    };
    for path in paths {
        if path.as_os_str() == "-" {
            let is_left_out =
                force && stdin_filename != STDIN && is_excluded(Path::new(stdin_filename));
            excludes_stdin |= is_left_out;
            if !is_left_out && is_new(path) {
                out.push(Input::Stdin);
            }
            continue;
        }
        match path.metadata() {
            Err(error) => {
                if is_new(path) {
                    errors.push(UnreadablePath::new(path.clone(), reason(&error)));
                }
            }
            Ok(it) if it.is_dir() => {
                let (mut found, mut failed) = walk_folder(path, gitignore);
                if found.is_empty() && failed.is_empty() {
                    if gitignore && !walk_folder(path, false).0.is_empty() {
                        let why = "git ignores all .mlir files in this folder (--no-respect-gitignore includes them)";
                        left_out.push((path.clone(), why));
                        continue;
                    }
                    failed.push(UnreadablePath {
                        path: path.clone(),
                        why: "no .mlir files in this folder".to_owned(),
                        is_empty_folder: true,
                    });
                }
                let n_found = found.len();
                found.retain(|it| !is_excluded(it));
                if n_found > 0 && found.is_empty() {
                    left_out.push((path.clone(), "all .mlir files in this folder are excluded"));
                }
                // Inside one folder, no path is found twice.
                found.retain(|it| paths.len() == 1 || is_new(it));
                failed.retain(|it| is_new(&it.path));
                out.extend(found.into_iter().map(Input::File));
                errors.append(&mut failed);
            }
            Ok(_) => {
                if !(force && is_excluded(path)) && is_new(path) {
                    out.push(Input::File(path.clone()));
                }
            }
        }
    }
    FoundInputs { inputs: out, unreadable: errors, excludes_stdin, left_out }
}

/// Folders with private files of version control systems or of this program.
const SKIPPED_FOLDERS: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".noisy_cache"];

/// Maximum number of threads of a walk; they take folders from one list.
const MAX_THREADS: usize = 8;

/// A walk through a folder.
struct FolderWalk {
    ignore_files: Option<IgnoreFiles>,
    /// True if the walk starts in `.`; paths are then shown without it.
    is_here: bool,
    state: Mutex<UnreadFolders>,
    /// Signals new folders, or the end.
    changed: Condvar,
}

#[derive(Default)]
struct UnreadFolders {
    /// Folders still to read, each with the rules of its parent.
    folders: Vec<(PathBuf, Option<Arc<IgnoreRules>>)>,
    /// Number of threads that read a folder.
    n_busy: usize,
    found: WalkedPaths,
}

#[derive(Default)]
struct WalkedPaths {
    folders: Vec<(PathBuf, Option<Arc<IgnoreRules>>)>,
    files: Vec<PathBuf>,
    errors: Vec<UnreadablePath>,
}

impl FolderWalk {
    /// The loop of one thread: reads folders until none are left.
    fn run(&self) {
        let mut found = WalkedPaths::default();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // The newest folder is read next, so that few folders wait and few rules are in memory.
            if let Some((folder, above)) = state.folders.pop() {
                state.n_busy += 1;
                drop(state);
                self.read(&folder, above, &mut found);
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.n_busy -= 1;
                state.folders.append(&mut found.folders);
                self.changed.notify_all();
            } else if state.n_busy > 0 {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                break;
            }
        }
        state.found.files.append(&mut found.files);
        state.found.errors.append(&mut found.errors);
    }

    /// Reads one folder.
    fn read(&self, folder: &Path, above: Option<Arc<IgnoreRules>>, found: &mut WalkedPaths) {
        let unreadable =
            |path: PathBuf, error: &io::Error| UnreadablePath::new(path, reason(error));
        let rules = match self.ignore_files.as_ref().map(|it| it.enter(folder, above)) {
            Some(Ok(it)) => it,
            Some(Err(it)) => return found.errors.push(it),
            None => None,
        };
        let entries = match fs::read_dir(folder) {
            Ok(it) => it,
            Err(error) => return found.errors.push(unreadable(folder.to_owned(), &error)),
        };
        let first = found.files.len();
        for entry in entries {
            let entry = match entry {
                Ok(it) => it,
                Err(error) => {
                    found.errors.push(unreadable(folder.to_owned(), &error));
                    continue;
                }
            };
            let name = entry.file_name();
            let kind = match entry.file_type() {
                Ok(it) => it,
                Err(error) => {
                    found.errors.push(unreadable(folder.join(name), &error));
                    continue;
                }
            };
            let is_of_interest = if kind.is_dir() {
                !SKIPPED_FOLDERS.iter().any(|it| *it == name)
            } else {
                Path::new(&name).extension().is_some_and(|it| it == "mlir")
            };
            if !is_of_interest {
                continue;
            }
            let path = folder.join(&name);
            let is_ignored =
                |it: &IgnoreFiles| it.is_ignored(rules.as_deref(), &path, kind.is_dir());
            if self.ignore_files.as_ref().is_some_and(is_ignored) {
                continue;
            }
            if kind.is_dir() {
                found.folders.push((path, rules.clone()));
            } else if kind.is_file() || kind.is_symlink() && is_link_to_file(&path) {
                let short = if self.is_here { path.strip_prefix(".").ok() } else { None };
                found.files.push(short.map(Path::to_owned).unwrap_or(path));
            }
        }
        found.files[first..].sort_unstable_by(|a, b| compare_paths(a, b));
    }
}

/// True if the target of a link is a regular file. A dangling link counts too, because reading it
/// then reports an error.
fn is_link_to_file(link: &Path) -> bool {
    // Emacs marks a file that is being edited with such a link.
    let is_mark = || link.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b".#"));
    link.metadata().map_or_else(|_| !is_mark(), |it| it.is_file())
}

fn walk_folder(root: &Path, gitignore: bool) -> (Vec<PathBuf>, Vec<UnreadablePath>) {
    let (ignore_files, above) = match gitignore.then(|| IgnoreFiles::start(root)).transpose() {
        Ok(it) => it.unzip(),
        Err(it) => return (Vec::new(), vec![it]),
    };
    let folders = vec![(root.to_owned(), above.flatten())];
    let state = Mutex::new(UnreadFolders { folders, ..UnreadFolders::default() });
    let is_here = root == Path::new(".");
    let walk = FolderWalk { ignore_files, is_here, state, changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..noisy_syntax::parallel::n_cores().min(MAX_THREADS) {
            // If no thread can be started, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, || walk.run());
        }
        walk.run();
    });
    let WalkedPaths { mut files, mut errors, .. } =
        walk.state.into_inner().unwrap_or_else(PoisonError::into_inner).found;
    // The files of each folder are already sorted, which makes this sort fast.
    files.sort_by(|a, b| compare_paths(a, b));
    errors.sort_unstable_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
    (files, errors)
}

/// Orders paths below one folder by their components, without splitting them.
fn compare_paths(a: &Path, b: &Path) -> Ordering {
    let (a, b) = (a.as_os_str().as_encoded_bytes(), b.as_os_str().as_encoded_bytes());
    // A name that ends comes before one that continues.
    let rank = |byte: u8| if char::from(byte) == MAIN_SEPARATOR { 0 } else { byte };
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(at) => rank(a[at]).cmp(&rank(b[at])),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_files_by_path() {
        let names = ["a", "a-b", "a.mlir", "a b", "b", "é", "\u{1}", "a\u{1}"];
        let mut paths = Vec::new();
        for first in names {
            paths.push(Path::new("x").join(first));
            for second in names {
                paths.push(Path::new("x").join(first).join(second));
                paths.push(Path::new("x").join(first).join(second).join(first));
            }
        }
        for a in &paths {
            for b in &paths {
                assert_eq!(compare_paths(a, b), a.cmp(b), "{} {}", a.display(), b.display());
            }
        }
    }
}
