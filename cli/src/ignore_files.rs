//! The ignore files of a walk, looked at before the walk reads them: it would wait for a pipe for ever and read a device without end,
//! and a megabyte of patterns takes 400 MB and 2 s.
//!
//! *Law.* A folder whose ignore files cannot be read within the limits is not walked, and that is told: to check all that is in it
//! would be wrong, and so would be to check none of it in silence. What is looked at is what the walk reads: `.gitignore`, `.ignore` and
//! `.git/info/exclude` of a folder and of those above it, and the patterns of the user. What is not there, is a folder, or may not be
//! read holds no patterns.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::gitignore::gitconfig_excludes_path;
use rustc_hash::FxHashMap;

use crate::failure::Unreadable;

/// The ignore files of a folder and of those above it have at most so many bytes together: their patterns are in memory at once.
const MOST: u64 = 512 << 10;

/// Those of a whole walk have at most so many.
const MOST_OF_ALL: u64 = 16 << 20;

/// The ignore files of a walk.
#[derive(Debug, Default)]
pub(crate) struct IgnoreFiles {
    /// The bytes of those that count for a folder, of each folder that has some of its own.
    counting: Mutex<FxHashMap<PathBuf, u64>>,
    /// Of those that count for all.
    above: u64,
    /// Of those of all folders that were entered.
    all: AtomicU64,
    /// Why folders were not admitted.
    errors: Mutex<Vec<Unreadable>>,
}

impl IgnoreFiles {
    /// Of a walk that is about to begin: those above its folder, and that of the user.
    ///
    /// # Errors
    ///
    /// When they cannot be read within the limits.
    pub(crate) fn above(root: &Path) -> Result<Self, Unreadable> {
        let mut it = Self::default();
        if let Some(path) = gitconfig_excludes_path()
            && let Some(text) = text(&path)?
        {
            it.above = it.with(vec![(path, text.len() as u64)], 0)?;
        }
        // What leads nowhere is told by the walk.
        for folder in root.canonicalize().unwrap_or_default().ancestors().skip(1) {
            it.above = it.with(own(folder)?, it.above)?;
        }
        Ok(it)
    }

    /// Whether a walk may enter a folder, after the folders that it is in.
    pub(crate) fn admits(&self, folder: &Path) -> bool {
        let error = self.enter(folder).err();
        let is_admitted = error.is_none();
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).extend(error);
        is_admitted
    }

    /// Why folders were not admitted.
    pub(crate) fn errors(&self) -> Vec<Unreadable> {
        std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn enter(&self, folder: &Path) -> Result<(), Unreadable> {
        let own = own(folder)?;
        if own.is_empty() {
            return Ok(());
        }
        let mut counting = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let above = folder.ancestors().skip(1).find_map(|it| counting.get(it).copied());
        let n = self.with(own, above.unwrap_or(self.above))?;
        counting.insert(folder.to_owned(), n);
        Ok(())
    }

    /// The bytes of some files with those above them.
    fn with(&self, files: Vec<(PathBuf, u64)>, above: u64) -> Result<u64, Unreadable> {
        let mut n = above;
        for (path, n_bytes) in files {
            n += n_bytes;
            let all = self.all.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes;
            if n > MOST {
                let why = "with the ignore files above it this one is larger than 512 KiB";
                return Err(refused(path, why));
            }
            if all > MOST_OF_ALL {
                let why = "with the ignore files before it this one is larger than 16 MiB";
                return Err(refused(path, why));
            }
        }
        Ok(n)
    }
}

/// The ignore files of a folder, with their sizes in bytes.
fn own(folder: &Path) -> Result<Vec<(PathBuf, u64)>, Unreadable> {
    let mut out = Vec::new();
    let names = [Some(folder.join(".gitignore")), Some(folder.join(".ignore")), exclude(folder)?];
    for path in names.into_iter().flatten() {
        if let Some(text) = text(&path)? {
            out.push((path, text.len() as u64));
        }
    }
    Ok(out)
}

/// The patterns of a repository that are not part of it, if a folder is one.
fn exclude(folder: &Path) -> Result<Option<PathBuf>, Unreadable> {
    let git = folder.join(".git");
    match git.metadata() {
        Ok(it) if it.is_dir() => Ok(Some(git.join("info/exclude"))),
        // That of another worktree names the folder where it is kept, which names that of the repository.
        Ok(it) if it.is_file() => {
            let line = first_line(&git)?;
            let Some(kept) = line.as_deref().and_then(|it| it.strip_prefix("gitdir: ")) else {
                return Ok(None);
            };
            let kept = Path::new(kept);
            let common = first_line(&kept.join("commondir"))?;
            let from = |it: String| if it.starts_with('.') { kept.join(it) } else { it.into() };
            Ok(common.map(|it| from(it).join("info/exclude")))
        }
        _ => Ok(None),
    }
}

fn first_line(path: &Path) -> Result<Option<String>, Unreadable> {
    let text = text(path)?.and_then(|it| String::from_utf8(it).ok());
    Ok(text.and_then(|it| it.lines().next().map(str::to_owned)))
}

/// What a file holds, as far as it can be read; nothing if there is none.
fn text(path: &Path) -> Result<Option<Vec<u8>>, Unreadable> {
    match path.metadata() {
        Ok(it) if it.is_file() => {}
        Ok(it) if !it.is_dir() => {
            return Err(refused(path.to_owned(), "the ignore file is not a regular file"));
        }
        _ => return Ok(None),
    }
    let mut out = Vec::new();
    // The size that a file says it has may be less than what it holds, as in `/proc`.
    let _ = File::open(path).and_then(|it| it.take(MOST + 1).read_to_end(&mut out));
    if out.len() as u64 > MOST {
        return Err(refused(path.to_owned(), "the ignore file is larger than 512 KiB"));
    }
    Ok(Some(out))
}

fn refused(path: PathBuf, why: &str) -> Unreadable {
    let why = format!("{why}; --no-respect-gitignore checks without ignore files");
    Unreadable { path, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Why a folder is not admitted, without what to do.
    fn why(files: &IgnoreFiles, folder: &Path) -> Option<String> {
        let is_admitted = files.admits(folder);
        let errors = files.errors();
        assert_eq!(errors.len(), usize::from(!is_admitted));
        errors.first().map(|it| it.why.split(';').next().unwrap_or_default().to_owned())
    }

    #[test]
    fn patterns_are_counted_along_the_folders() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let half = "x*/**/y?z\n".repeat(25_000);
        for folder in ["a/b/c", "d/e"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        for name in ["a/.gitignore", "a/b/c/.ignore", "a/b/c/.gitignore", "d/e/.ignore"] {
            fs::write(root.join(name), &half).expect("a file");
        }
        let files = IgnoreFiles::above(root).expect("nothing is above");
        for folder in ["", "a", "a/b", "d", "d/e"] {
            assert_eq!(why(&files, &root.join(folder)), None, "{folder}");
        }
        let too_large = "with the ignore files above it this one is larger than 512 KiB";
        assert_eq!(why(&files, &root.join("a/b/c")).as_deref(), Some(too_large));
        // Those above a walk count as well.
        let files = IgnoreFiles::above(&root.join("a/b")).expect("there is room");
        assert_eq!(why(&files, &root.join("a/b")), None);
        assert_eq!(why(&files, &root.join("a/b/c")).as_deref(), Some(too_large));
        assert!(IgnoreFiles::above(&root.join("a/b/c/d")).is_ok(), "there is no such folder");
        fs::create_dir(root.join("a/b/c/d")).expect("a folder");
        let error = IgnoreFiles::above(&root.join("a/b/c/d")).expect_err("they are too large");
        assert!(error.why.contains("larger than 512 KiB"), "{error:?}");
    }

    #[test]
    fn a_walk_has_a_limit() {
        let root = tempfile::tempdir().expect("a folder");
        let files = IgnoreFiles::above(root.path()).expect("nothing is above");
        let large = "x*/**/y?z\n".repeat(50_000);
        let n_admitted = (0..40).filter(|n| {
            let folder = root.path().join(n.to_string());
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join(".gitignore"), &large).expect("a file");
            files.admits(&folder)
        });
        assert_eq!(n_admitted.count(), 33);
        assert!(files.errors()[0].why.contains("larger than 16 MiB"));
    }

    #[test]
    fn what_git_keeps_elsewhere_is_looked_at() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        for folder in ["repository/.git/info", "repository/.git/worktrees/w", "w", "odd/.gitignore"]
        {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let kept = root.join("repository/.git/worktrees/w");
        fs::write(kept.join("commondir"), "../..\n").expect("a file");
        fs::write(root.join("w/.git"), format!("gitdir: {}\n", kept.display())).expect("a file");
        let files = IgnoreFiles::above(root).expect("nothing is above");
        for folder in ["repository", "w", "odd"] {
            assert_eq!(why(&files, &root.join(folder)), None, "{folder}");
        }
        let exclude = root.join("repository/.git/info/exclude");
        fs::write(exclude, "x\n".repeat(300_000)).expect("a file");
        for folder in ["repository", "w"] {
            let why = why(&files, &root.join(folder));
            assert_eq!(why.as_deref(), Some("the ignore file is larger than 512 KiB"), "{folder}");
        }
        fs::write(kept.join("commondir"), "x".repeat(600_000)).expect("a file");
        assert!(why(&files, &root.join("w")).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_not_waited_for() {
        use std::os::unix::fs::symlink;
        for name in [".gitignore", ".ignore", ".git/info/exclude"] {
            let root = tempfile::tempdir().expect("a folder");
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.is_ok_and(|it| it.success()));
            let files = IgnoreFiles::default();
            let not_regular = Some("the ignore file is not a regular file".to_owned());
            assert_eq!(why(&files, root.path()), not_regular, "{name}");
            fs::remove_file(&path).expect("it is there");
            symlink("/dev/zero", &path).expect("a link");
            assert_eq!(why(&files, root.path()), not_regular, "{name}");
            fs::remove_file(&path).expect("it is there");
            symlink("/nowhere", &path).expect("a link");
            assert_eq!(why(&files, root.path()), None, "{name}");
        }
    }
}
