//! Which files to check: those named, and the `*.mlir` in the directories named, as git sees them.

use std::collections::HashSet;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};
use noisy_output::{reason, shown_line};

use crate::failure::Unreadable;
use crate::ignore_files::IgnoreFiles;

/// What to read, in the order in which it is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// The name as the system has it, which need not be UTF-8; standard input has that of `stdin`.
    pub(crate) fn path<'a>(&'a self, stdin: &'a str) -> &'a Path {
        match self {
            Input::File(path) => path,
            Input::Stdin => Path::new(stdin),
        }
    }
}

/// What is left out.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    /// Of folders.
    pub is_excluded: &'a dyn Fn(&Path) -> bool,
    /// What is excluded is left out of what is named, too.
    pub force: bool,
    /// What git ignores is left out of folders.
    pub gitignore: bool,
}

/// Finds the files; a file named is taken whatever its name, and each only once. What is left out says `filter`.
pub(crate) fn inputs(paths: &[PathBuf], filter: Filter<'_>) -> (Vec<Input>, Vec<Unreadable>) {
    let Filter { is_excluded, force, gitignore } = filter;
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    // The same file under two spellings is one.
    let mut is_new = |path: &Path| {
        seen.insert(path.components().filter(|it| *it != Component::CurDir).collect::<PathBuf>())
    };
    for path in paths {
        if path.as_os_str() == "-" {
            if is_new(path) {
                out.push(Input::Stdin);
            }
            continue;
        }
        match path.metadata() {
            Err(error) => {
                if is_new(path) {
                    errors.push(Unreadable { path: path.clone(), why: reason(&error) });
                }
            }
            Ok(it) if it.is_dir() => {
                let (mut found, mut failed) = directory(path, gitignore);
                if found.is_empty() && failed.is_empty() {
                    failed.push(Unreadable {
                        path: path.clone(),
                        why: "no .mlir files in this directory".to_owned(),
                    });
                }
                // Below one folder no file has two.
                found.retain(|it| !is_excluded(it) && (paths.len() == 1 || is_new(it)));
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
    (out, errors)
}

/// What tells a file from all others, whatever its name; nothing if it is not there.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// What tells a file from all others; nothing if it is not there.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// What one thread of a walk found, for all to have in the end.
struct Found<'a> {
    files: Vec<PathBuf>,
    errors: Vec<Unreadable>,
    all: &'a Mutex<(Vec<PathBuf>, Vec<Unreadable>)>,
}

impl Drop for Found<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.0.append(&mut self.files);
        all.1.append(&mut self.errors);
    }
}

fn directory(root: &Path, gitignore: bool) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let all = Mutex::default();
    let threads = noisy_syntax::parallel::cores();
    let mut walk = WalkBuilder::new(root);
    walk.require_git(false).threads(threads);
    let mut ignore_files = Arc::default();
    if gitignore {
        ignore_files = match IgnoreFiles::above(root) {
            Ok(it) => Arc::new(it),
            Err(it) => return (Vec::new(), vec![it]),
        };
        if !ignore_files.admits(root) {
            return (Vec::new(), ignore_files.errors());
        }
        let files = Arc::clone(&ignore_files);
        walk.filter_entry(move |it| {
            it.file_type().is_none_or(|it| !it.is_dir()) || files.admits(it.path())
        });
    } else {
        walk.ignore(false).parents(false).git_ignore(false).git_exclude(false).git_global(false);
    }
    let walk = walk.build_parallel();
    walk.run(|| {
        let mut found = Found { files: Vec::new(), errors: Vec::new(), all: &all };
        Box::new(move |entry| {
            match entry {
                Ok(it) => {
                    let is_mlir = it.path().extension().is_some_and(|it| it == "mlir");
                    // What a link leads to is looked at; one that leads nowhere is told of when it is read. Nothing waits for a pipe.
                    let kind = it.file_type();
                    let is_file = kind.is_some_and(|it| it.is_file())
                        || kind.is_some_and(|it| it.is_symlink())
                            && it.path().metadata().map_or(true, |it| it.is_file());
                    if is_mlir && is_file {
                        found.files.push(it.into_path());
                    }
                }
                Err(error) => found.errors.push(unreadable(root, error)),
            }
            WalkState::Continue
        })
    });
    let (mut files, mut errors) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.append(&mut ignore_files.errors());
    files.sort_by_cached_key(|it| in_order(it));
    // `.` was not asked to be seen.
    if root == Path::new(".") {
        for file in &mut files {
            let short = file.to_str().and_then(|it| it.strip_prefix("./")).map(Path::new);
            if let Some(short) = short.or_else(|| file.strip_prefix(".").ok()) {
                *file = short.to_owned();
            }
        }
    }
    errors.sort_unstable_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
    (files, errors)
}

/// What is in the order of the paths below one folder, which goes component by component; it reads none.
fn in_order(path: &Path) -> Vec<u8> {
    // A name that ends comes before one that goes on.
    let rank = |&byte: &u8| if char::from(byte) == MAIN_SEPARATOR { 0 } else { byte };
    path.as_os_str().as_encoded_bytes().iter().map(rank).collect()
}

/// What the walk stumbled over.
fn unreadable(root: &Path, error: ignore::Error) -> Unreadable {
    match error {
        ignore::Error::WithPath { path, err } => unreadable(&path, *err),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            unreadable(root, *err)
        }
        ignore::Error::Io(error) => Unreadable { path: root.to_owned(), why: reason(&error) },
        other => {
            let why = shown_line(&other.to_string()).into_owned();
            Unreadable { path: root.to_owned(), why }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_in_the_order_of_paths() {
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
                let order = in_order(a).cmp(&in_order(b));
                assert_eq!(order, a.cmp(b), "{} {}", a.display(), b.display());
            }
        }
    }
}
