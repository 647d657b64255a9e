//! Which configuration counts for a file.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, io};

use rustc_hash::FxHashMap;

use crate::config::{Config, Overrides};
use crate::problem::Problem;

/// The names of a configuration file; in one folder the first counts.
pub const FILE_NAMES: [&str; 2] = [".noisy.toml", "noisy.toml"];

/// The nearest configuration file above a path, in the folder of a file or any folder above it.
pub fn discover(path: &Path) -> Option<PathBuf> {
    let path = absolute(path);
    let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
    folder?.ancestors().find_map(in_folder)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|it| it.is_file())
}

fn absolute(path: &Path) -> PathBuf {
    // `..` stays: what it means is for the file system to say.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The nearest file above each path.
    Nearest,
    /// This file, for all paths; its patterns are about the files below the current folder.
    File(PathBuf),
    /// No file.
    Nowhere,
}

/// A configuration file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it; nothing if it cannot be read.
    pub problems: Vec<Problem>,
    /// Why it cannot be read.
    pub unreadable: Option<String>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        if let Some(why) = &self.unreadable {
            return write!(f, "{path}: {why}");
        }
        for (n, problem) in self.problems.iter().enumerate() {
            let separator = if n == 0 { "" } else { "\n" };
            write!(f, "{separator}{path}:{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

type Loaded = Result<Arc<Config>, Arc<Invalid>>;

/// Finds and reads the configurations of many files, each configuration once.
#[derive(Debug)]
pub struct Resolver {
    origin: Origin,
    overrides: Overrides,
    /// The configuration of each folder that was asked for.
    folders: Mutex<FxHashMap<PathBuf, Loaded>>,
}

impl Resolver {
    /// A resolver that has read nothing yet.
    pub fn new(origin: Origin, overrides: Overrides) -> Self {
        Self { origin, overrides, folders: Mutex::default() }
    }

    /// The configuration of a file, which need not be there.
    ///
    /// # Errors
    ///
    /// When the configuration file that counts cannot be used; the same for every file it counts for.
    pub fn config(&self, file: &Path) -> Loaded {
        let folder = match &self.origin {
            Origin::Nearest => absolute(file).parent().map(Path::to_owned).unwrap_or_default(),
            Origin::File(_) | Origin::Nowhere => PathBuf::new(),
        };
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        self.load(&folder, &mut folders)
    }

    /// Forgets what was read: a configuration file came, went or changed.
    pub fn forget(&self) {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn load(&self, folder: &Path, folders: &mut FxHashMap<PathBuf, Loaded>) -> Loaded {
        if let Some(it) = folders.get(folder) {
            return it.clone();
        }
        let loaded = match &self.origin {
            Origin::Nowhere => self.parse("", Path::new(""), Path::new("")),
            Origin::File(path) => self.read(path, &env::current_dir().unwrap_or_default()),
            Origin::Nearest => match in_folder(folder) {
                Some(path) => self.read(&path, folder),
                None => match folder.parent() {
                    Some(parent) => self.load(parent, folders),
                    None => self.parse("", Path::new(""), Path::new("")),
                },
            },
        };
        folders.insert(folder.to_owned(), loaded.clone());
        loaded
    }

    fn read(&self, path: &Path, root: &Path) -> Loaded {
        match bounded(path) {
            Ok(text) => self.parse(&text, path, root),
            Err(error) => Err(Arc::new(Invalid {
                path: shown(path),
                problems: Vec::new(),
                unreadable: Some(reason(&error)),
            })),
        }
    }

    fn parse(&self, text: &str, path: &Path, root: &Path) -> Loaded {
        let config = Config::from_toml(text, root, &self.overrides);
        let at = |it: Config| if path.as_os_str().is_empty() { it } else { it.at(&shown(path)) };
        config
            .map(|it| Arc::new(at(it)))
            .map_err(|problems| Arc::new(Invalid { path: shown(path), problems, unreadable: None }))
    }
}

/// The largest configuration, in bytes. None that a person writes is a thousandth of it.
const MAX_FILE: u64 = 1 << 20;

/// The text of a file or of what is read like one.
fn bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other("the configuration file is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("the file is not valid UTF-8"))
}

/// A path as it is best read: from the current folder if it is below.
fn shown(path: &Path) -> PathBuf {
    let here = env::current_dir().ok();
    here.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path).to_owned()
}

/// An error of the system, without what only programmers read.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes away with its test.
    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, files: &[(&str, &str)]) -> Self {
            let root =
                env::temp_dir().join(format!("noisy-settings-{}-{name}", std::process::id()));
            for (name, text) in files {
                let path = root.join(name);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            Self(root)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_nearest_counts_and_nothing_is_merged() {
        let folder = Folder::with(
            "nearest",
            &[
                ("noisy.toml", "placement.replace = true"),
                ("a/b/noisy.toml", "placement.time-limit = 1"),
                ("a/b/.noisy.toml", "placement.time-limit = 2"),
                ("a/b/x.mlir", ""),
                ("a/x.mlir", ""),
            ],
        );
        let root = &folder.0;
        assert_eq!(discover(&root.join("a/b/x.mlir")), Some(root.join("a/b/.noisy.toml")));
        assert_eq!(discover(&root.join("a/x.mlir")), Some(root.join("noisy.toml")));
        assert_eq!(
            discover(&root.join("a/b")),
            Some(root.join("a/b/.noisy.toml")),
            "of a folder, its own"
        );
        assert_eq!(discover(&root.join("a/not-there.mlir")), Some(root.join("noisy.toml")));
        let resolver = Resolver::new(Origin::Nearest, Overrides::default());
        let of = |path: &str| {
            let placement =
                resolver.config(&root.join(path)).expect("right").settings().placement.clone();
            (placement.replace, placement.time_limit.duration().as_secs())
        };
        assert_eq!((of("a/x.mlir"), of("a/b/x.mlir")), ((true, 10), (false, 2)));
        fs::remove_file(root.join("a/b/.noisy.toml")).expect("there");
        assert_eq!(of("a/b/x.mlir"), (false, 2), "read once");
        resolver.forget();
        assert_eq!(of("a/b/x.mlir"), (false, 1));
        let isolated = Resolver::new(Origin::Nowhere, Overrides::default());
        assert!(
            !isolated.config(&root.join("a/x.mlir")).expect("right").settings().placement.replace
        );
        let named = Resolver::new(Origin::File(root.join("noisy.toml")), Overrides::default());
        assert!(
            named.config(&root.join("a/b/x.mlir")).expect("right").settings().placement.replace
        );
    }

    #[test]
    fn a_broken_file_is_named_with_the_place() {
        let folder = Folder::with("broken", &[("noisy.toml", "\n[rule]")]);
        let resolver = Resolver::new(Origin::Nearest, Overrides::default());
        let error = resolver.config(&folder.0.join("x.mlir")).expect_err("wrong").to_string();
        assert!(
            error.ends_with("noisy.toml:2:2: unknown key `rule`; did you mean `rules`?"),
            "{error}"
        );
        let named = Resolver::new(Origin::File(folder.0.join("none.toml")), Overrides::default());
        let error = named.config(Path::new("x.mlir")).expect_err("missing").to_string();
        assert!(error.ends_with("none.toml: No such file or directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn reading_ends() {
        let endless = Resolver::new(Origin::File("/dev/zero".into()), Overrides::default());
        let error = endless.config(Path::new("x.mlir")).expect_err("endless").to_string();
        assert_eq!(error, "/dev/zero: the configuration file is larger than 1 MiB");
        // Many mistakes, each with a place far behind the start.
        let keys = "a = 1\nb = 2\n".replace('a', &"k".repeat(400_000));
        let wrong = (0..50_000).fold(String::new(), |text, n| text + &format!("k{n} = 0\n"));
        for text in [keys, wrong, "[".repeat(500_000), "a = \"\n".repeat(100_000)] {
            let folder = Folder::with("mistakes", &[("noisy.toml", &text)]);
            let resolver = Resolver::new(Origin::Nearest, Overrides::default());
            let error = resolver.config(&folder.0.join("x.mlir")).expect_err("wrong");
            assert!((1..=100).contains(&error.problems.len()), "{}", error.problems.len());
        }
    }
}
