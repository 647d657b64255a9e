//! The ignore files of a walk: those that apply to a folder, and the paths that they exclude.
//!
//! *Law.* A folder whose ignore files cannot be read within the limits is not walked, and this is
//! reported: checking everything in it would be wrong, and silently checking nothing would be wrong
//! too. These files are read: `.ignore` and `.gitignore` of a folder and of its ancestors,
//! `.git/info/exclude`, and the user's patterns. A missing file, a folder, or an unreadable file
//! has no patterns. Lines have the meaning that git gives them, and as in git the rules of a
//! repository do not apply in a repository nested in it.
//!
//! The limits exist because a pipe blocks, a device has no end, and a megabyte of patterns takes
//! 400 MB and 2 s.

use std::cell::OnceCell;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use noisy_settings::add_pattern;

use crate::input::failure::UnreadablePath;

/// Maximum size of the ignore files of a folder and its ancestors together, in bytes: their
/// patterns are in memory at the same time.
const MAX_BYTES: u64 = 512 << 10;

/// Maximum size of all ignore files of a walk, in bytes.
const MAX_TOTAL_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) struct IgnoreFiles {
    /// The folder of the walk, in the spelling of the user.
    root: PathBuf,
    /// Its absolute path without symbolic links.
    absolute: PathBuf,
    /// The user's patterns, which apply to each repository.
    user: Gitignore,
    /// Size of the user's patterns, in bytes.
    n_user_bytes: u64,
    /// Size of the ignore files of all entered folders, in bytes.
    n_total_bytes: AtomicU64,
}

/// The ignore files that apply to a folder.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    /// The folder in the spelling of the walk; for an ancestor of the walk, its absolute path.
    folder: PathBuf,
    is_above_walk: bool,
    /// True for the root of a repository. Git's files of its ancestors do not apply to it.
    is_repository: bool,
    /// Patterns of `.ignore`, which override git's.
    ignore: Gitignore,
    /// Patterns of `.git/info/exclude` and then `.gitignore`.
    git: Gitignore,
    /// The rules of the nearest ancestor that has some.
    above: Option<Arc<IgnoreRules>>,
    /// Size of all these files, in bytes.
    n_bytes: u64,
}

impl IgnoreFiles {
    /// Starts a walk, with the rules of the ancestors of its folder.
    ///
    /// # Errors
    ///
    /// If the ignore files cannot be read within the limits.
    pub(crate) fn start(root: &Path) -> Result<(Self, Option<Arc<IgnoreRules>>), UnreadablePath> {
        // The walk reports a path that does not exist.
        let absolute = root.canonicalize().unwrap_or_default();
        let mut it = Self {
            root: root.to_owned(),
            absolute,
            user: Gitignore::empty(),
            n_user_bytes: 0,
            n_total_bytes: AtomicU64::new(0),
        };
        if let Some(path) = gitconfig_excludes_path() {
            it.user = it.patterns(Path::new(""), &[path], &mut 0)?;
            it.n_user_bytes = it.n_total_bytes.load(Ordering::Relaxed);
        }
        let folders: Vec<&Path> = it.absolute.ancestors().collect();
        let repository = folders.iter().position(|it| git_metadata(it).is_some());
        let mut rules = None;
        for (n, folder) in folders.iter().enumerate().skip(1).rev() {
            let is_outside = repository.is_some_and(|it| n > it);
            rules = it.with_rules_of(folder, rules, true, is_outside)?;
        }
        Ok((it, rules))
    }

    /// The rules of a folder, given those of its parent.
    ///
    /// # Errors
    ///
    /// If its ignore files cannot be read within the limits.
    pub(crate) fn enter(
        &self,
        folder: &Path,
        above: Option<Arc<IgnoreRules>>,
    ) -> Result<Option<Arc<IgnoreRules>>, UnreadablePath> {
        self.with_rules_of(folder, above, false, false)
    }

    fn with_rules_of(
        &self,
        folder: &Path,
        above: Option<Arc<IgnoreRules>>,
        is_above_walk: bool,
        is_outside: bool,
    ) -> Result<Option<Arc<IgnoreRules>>, UnreadablePath> {
        let n_above = above.as_ref().map_or(self.n_user_bytes, |it| it.n_bytes);
        let mut n_bytes = n_above;
        let ignore = self.patterns(folder, &[folder.join(".ignore")], &mut n_bytes)?;
        let (mut paths, mut is_repository) = (Vec::new(), false);
        if !is_outside {
            if let Some(git) = git_metadata(folder) {
                is_repository = true;
                paths.extend(exclude_file(folder, &git)?);
            }
            paths.push(folder.join(".gitignore"));
        }
        let git = self.patterns(folder, &paths, &mut n_bytes)?;
        if n_bytes == n_above && !is_repository {
            return Ok(above);
        }
        let folder = folder.to_owned();
        let rules =
            IgnoreRules { folder, is_above_walk, is_repository, ignore, git, above, n_bytes };
        Ok(Some(Arc::new(rules)))
    }

    /// True if the rules of its folder exclude `path`.
    pub(crate) fn is_ignored(
        &self,
        rules: Option<&IgnoreRules>,
        path: &Path,
        is_folder: bool,
    ) -> bool {
        let absolute = OnceCell::new();
        let path_for = |rules: &IgnoreRules| {
            let whole = || absolute.get_or_init(|| self.absolute(path)).as_path();
            if rules.is_above_walk { whole() } else { path }
        };
        let verdict = |patterns: &Gitignore, rules: &IgnoreRules| {
            if patterns.is_empty() {
                return None;
            }
            match patterns.matched(path_for(rules), is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        };
        let (mut by_git, mut repository) = (None, None);
        for rules in iter::successors(rules, |it| it.above.as_deref()) {
            if let Some(it) = verdict(&rules.ignore, rules) {
                return it;
            }
            if repository.is_none() {
                by_git = by_git.or_else(|| verdict(&rules.git, rules));
                repository = Some(rules).filter(|it| it.is_repository);
            }
        }
        by_git.unwrap_or_else(|| {
            // A pattern of the user that begins with a slash is relative to the root of a
            // repository.
            let below = |it: &IgnoreRules| path_for(it).strip_prefix(&it.folder).unwrap_or(path);
            !self.user.is_empty()
                && self.user.matched(repository.map_or(path, below), is_folder).is_ignore()
        })
    }

    /// The absolute path of a file or folder of the walk.
    fn absolute(&self, path: &Path) -> PathBuf {
        self.absolute.join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// The patterns of some ignore files of a folder. Later files have precedence. Adds their sizes
    /// to `n_bytes`.
    fn patterns(
        &self,
        folder: &Path,
        paths: &[PathBuf],
        n_bytes: &mut u64,
    ) -> Result<Gitignore, UnreadablePath> {
        let mut builder = GitignoreBuilder::new(folder);
        let mut last = None;
        for path in paths {
            let Some(text) = read_ignore_file(path)? else { continue };
            self.count(path, text.len() as u64, n_bytes)?;
            add_lines(&mut builder, &text);
            last = Some(path);
        }
        let Some(last) = last else { return Ok(Gitignore::empty()) };
        builder.build().map_err(|_| refused(last.clone(), "the ignore file has too many patterns"))
    }

    /// Adds the size of an ignore file to the sums, and checks the limits.
    fn count(&self, path: &Path, n: u64, n_bytes: &mut u64) -> Result<(), UnreadablePath> {
        *n_bytes += n;
        let all = self.n_total_bytes.fetch_add(n, Ordering::Relaxed) + n;
        if *n_bytes > MAX_BYTES {
            let why = "this ignore file and those above it are larger than 512 KiB together";
            return Err(refused(path.to_owned(), why));
        }
        if all > MAX_TOTAL_BYTES {
            let why = "this ignore file and those before it are larger than 16 MiB together";
            return Err(refused(path.to_owned(), why));
        }
        Ok(())
    }
}

/// Adds the lines of an ignore file. As in git, invalid patterns match nothing.
fn add_lines(builder: &mut GitignoreBuilder, text: &[u8]) {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|it| *it == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            let _ = add_pattern(builder, line);
        }
    }
}

/// Metadata of the `.git` of a repository, which is a folder or a file with the path of one.
fn git_metadata(folder: &Path) -> Option<Metadata> {
    folder.join(".git").metadata().ok().filter(|it| it.is_dir() || it.is_file())
}

/// The exclude file of a repository, given its `.git`.
fn exclude_file(folder: &Path, git: &Metadata) -> Result<Option<PathBuf>, UnreadablePath> {
    let path = folder.join(".git");
    if git.is_dir() {
        return Ok(Some(path.join("info/exclude")));
    }
    let line = first_line(&path)?;
    let Some(kept) = line.as_deref().and_then(|it| it.strip_prefix("gitdir: ")) else {
        return Ok(None);
    };
    let kept = folder.join(kept);
    // The folder of a linked worktree contains the path of the repository.
    let common = first_line(&kept.join("commondir"))?.map(|it| kept.join(it));
    Ok(Some(common.unwrap_or(kept).join("info/exclude")))
}

fn first_line(path: &Path) -> Result<Option<String>, UnreadablePath> {
    let text = read_ignore_file(path)?.and_then(|it| String::from_utf8(it).ok());
    Ok(text.and_then(|it| it.lines().next().map(str::to_owned)))
}

/// The readable part of the contents of a file; `None` if there is no file.
fn read_ignore_file(path: &Path) -> Result<Option<Vec<u8>>, UnreadablePath> {
    match path.metadata() {
        Ok(it) if it.is_file() => {}
        Ok(it) if !it.is_dir() => {
            return Err(refused(path.to_owned(), "the ignore file is not a regular file"));
        }
        _ => return Ok(None),
    }
    let mut out = Vec::new();
    // The reported size may be too small, as in `/proc`.
    let _ = File::open(path).and_then(|it| it.take(MAX_BYTES + 1).read_to_end(&mut out));
    if out.len() as u64 > MAX_BYTES {
        return Err(refused(path.to_owned(), "the ignore file is larger than 512 KiB"));
    }
    Ok(Some(out))
}

fn refused(path: PathBuf, why: &str) -> UnreadablePath {
    let why = format!("{why}; --no-respect-gitignore checks without ignore files");
    UnreadablePath::new(path, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The reason why a folder is not walked, without the advice.
    fn why<T>(entered: &Result<T, UnreadablePath>) -> Option<&str> {
        entered.as_ref().err().and_then(|it| it.why.split(';').next())
    }

    fn write(path: PathBuf, text: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// The paths that a walk excludes.
    fn left_out<'a>(root: &Path, paths: &[&'a str]) -> Vec<&'a str> {
        let (files, above) = IgnoreFiles::start(root).expect("they can be read");
        let is_left_out = |name: &str| {
            let path = root.join(name);
            let mut rules = above.clone();
            let inside: Vec<_> =
                path.ancestors().skip(1).take_while(|it| it.starts_with(root)).collect();
            inside.into_iter().rev().any(|folder| {
                let is_ignored = folder != root && files.is_ignored(rules.as_deref(), folder, true);
                rules = files.enter(folder, rules.take()).expect("it can be read");
                is_ignored
            }) || files.is_ignored(rules.as_deref(), &path, false)
        };
        paths.iter().copied().filter(|it| is_left_out(it)).collect()
    }

    #[test]
    fn limits_the_bytes_of_a_folder_and_its_ancestors() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let half = "# comment\n".repeat(25_000);
        for name in ["a/.gitignore", "a/b/c/.ignore", "a/b/c/.gitignore", "d/e/.ignore"] {
            write(root.join(name), &half);
        }
        let too_large =
            Some("this ignore file and those above it are larger than 512 KiB together");
        let (files, above) = IgnoreFiles::start(root).expect("nothing is above");
        let enter = |folders: &[&str]| {
            let mut folders = folders.iter().map(|it| root.join(it));
            folders.try_fold(above.clone(), |rules, it| files.enter(&it, rules))
        };
        assert_eq!(why(&enter(&["", "a", "a/b"])), None);
        assert_eq!(why(&enter(&["", "d", "d/e"])), None);
        assert_eq!(why(&enter(&["", "a", "a/b", "a/b/c"])), too_large);
        // The rules of ancestors apply as well.
        let (files, above) = IgnoreFiles::start(&root.join("a/b")).expect("there is room");
        let rules = files.enter(&root.join("a/b"), above).expect("there is room");
        assert_eq!(why(&files.enter(&root.join("a/b/c"), rules)), too_large);
        assert!(IgnoreFiles::start(&root.join("a/b/c/d")).is_ok(), "there is no such folder");
        fs::create_dir(root.join("a/b/c/d")).expect("a folder");
        assert_eq!(why(&IgnoreFiles::start(&root.join("a/b/c/d"))), too_large);
    }

    #[test]
    fn limits_the_bytes_of_a_walk() {
        let root = tempfile::tempdir().expect("a folder");
        let (files, _) = IgnoreFiles::start(root.path()).expect("nothing is above");
        let large = "# comment\n".repeat(50_000);
        let enter = |n: usize| {
            let folder = root.path().join(n.to_string());
            write(folder.join(".gitignore"), &large);
            files.enter(&folder, None)
        };
        let entered: Vec<_> = (0..40).map(enter).collect();
        assert_eq!(entered.iter().filter(|it| it.is_ok()).count(), 33);
        let too_large = "this ignore file and those before it are larger than 16 MiB together";
        assert_eq!(why(&entered[39]), Some(too_large));
    }

    #[test]
    fn reads_exclude_files_of_worktrees_and_submodules() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let exclude = root.join("repository/.git/info/exclude");
        let common = root.join("repository/.git/worktrees/w/commondir");
        write(exclude.clone(), "/x.mlir\n");
        write(common.clone(), "../..\n");
        write(root.join("odd/.gitignore/x.mlir"), "");
        // A path in `.git` may be relative to its folder.
        let whole = format!("gitdir: {}\n", common.parent().expect("a folder").display());
        for gitdir in [whole.as_str(), "gitdir: ../repository/.git/worktrees/w\n"] {
            write(root.join("w/.git"), gitdir);
            let found = ["w/x.mlir", "w/a/x.mlir", "repository/x.mlir", "odd/x.mlir"];
            assert_eq!(left_out(root, &found), ["w/x.mlir", "repository/x.mlir"], "{gitdir}");
            assert_eq!(left_out(&root.join("w"), &["x.mlir", "y.mlir"]), ["x.mlir"]);
        }
        // A submodule is a separate repository.
        write(root.join("repository/sub/.git"), "gitdir: ../.git/modules/sub\r\n");
        write(root.join("repository/.git/modules/sub/info/exclude"), "y.mlir\n");
        let found = ["repository/sub/x.mlir", "repository/sub/y.mlir"];
        assert_eq!(left_out(root, &found), [found[1]]);
        write(exclude, "x\n".repeat(300_000));
        for name in ["repository", "w"] {
            let (files, above) = IgnoreFiles::start(root).expect("nothing is above");
            let entered = files.enter(&root.join(name), above);
            assert_eq!(why(&entered), Some("the ignore file is larger than 512 KiB"), "{name}");
        }
        write(common, "x".repeat(600_000));
        let (files, above) = IgnoreFiles::start(root).expect("nothing is above");
        assert!(files.enter(&root.join("w"), above).is_err());
    }

    #[test]
    fn outer_rules_do_not_apply_in_nested_repositories() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        write(root.join(".git/info/exclude"), "excluded.mlir\n");
        write(root.join(".gitignore"), "x.mlir\n/inner/sub\n");
        write(root.join(".ignore"), "everywhere.mlir\n");
        write(root.join("inner/.git/HEAD"), "");
        write(root.join("inner/.gitignore"), "y.mlir\n");
        write(root.join("inner/sub/z.mlir"), "");
        write(root.join("plain/z.mlir"), "");
        let of = |folder: &str| {
            let names = ["excluded.mlir", "x.mlir", "y.mlir", "everywhere.mlir", "sub/z.mlir"];
            let paths = names.map(|it| format!("{folder}{it}"));
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let found = left_out(root, &paths);
            found.iter().map(|it| it[folder.len()..].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("plain/"), ["excluded.mlir", "x.mlir", "everywhere.mlir"]);
        assert_eq!(of("inner/"), ["y.mlir", "everywhere.mlir"]);
        // The result is the same if the walk starts in the inner folder.
        let found = ["excluded.mlir", "x.mlir", "y.mlir", "everywhere.mlir", "z.mlir"];
        assert_eq!(left_out(&root.join("inner"), &found), ["y.mlir", "everywhere.mlir"]);
        assert_eq!(left_out(&root.join("inner/sub"), &found), ["y.mlir", "everywhere.mlir"]);
        assert_eq!(
            left_out(&root.join("plain"), &found),
            ["excluded.mlir", "x.mlir", "everywhere.mlir"]
        );
    }

    #[test]
    fn nearer_files_and_dot_ignore_have_precedence() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        write(root.join(".gitignore"), "*.mlir\n!b.mlir\n");
        write(root.join(".ignore"), "c.mlir\n!d.mlir\n");
        write(root.join("sub/.gitignore"), "!a.mlir\nb.mlir\n!c.mlir\nd.mlir\n");
        let found = ["a.mlir", "b.mlir", "c.mlir", "d.mlir"];
        assert_eq!(left_out(root, &found), ["a.mlir", "c.mlir"]);
        assert_eq!(left_out(&root.join("sub"), &found), ["b.mlir", "c.mlir"]);
    }

    #[test]
    fn skips_invalid_patterns() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let text = b"\xef\xbb\xbfa.mlir\r\n\n#b.mlir\n[b\n\xff*\nb.mlir\\\n!\n\r\nc.mlir";
        write(root.join(".gitignore"), text);
        let found = ["a.mlir", "b.mlir", "c.mlir"];
        assert_eq!(left_out(root, &found), ["a.mlir", "c.mlir"]);
    }

    #[cfg(unix)]
    #[test]
    fn rejects_ignore_files_that_are_not_regular() {
        use std::os::unix::fs::symlink;
        for name in [".gitignore", ".ignore", ".git/info/exclude"] {
            let root = tempfile::tempdir().expect("a folder");
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.is_ok_and(|it| it.success()));
            let (files, _) = IgnoreFiles::start(root.path()).expect("nothing is above");
            let not_regular = Some("the ignore file is not a regular file");
            assert_eq!(why(&files.enter(root.path(), None)), not_regular, "{name}");
            fs::remove_file(&path).expect("it is there");
            symlink("/dev/zero", &path).expect("a link");
            assert_eq!(why(&files.enter(root.path(), None)), not_regular, "{name}");
            fs::remove_file(&path).expect("it is there");
            symlink("/nowhere", &path).expect("a link");
            assert_eq!(why(&files.enter(root.path(), None)), None, "{name}");
        }
    }
}
