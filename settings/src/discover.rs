//! Finds the configuration of a file.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, io};

use rustc_hash::FxHashMap;

use crate::config::{Config, Overrides, extends};
use crate::folders::{absolute, folders};
use crate::problem::{ConfigProblem, to_one_line};

/// The names of a configuration file. If a folder contains several, the first one is used.
pub const FILE_NAMES: [&str; 2] = [".noisy.toml", "noisy.toml"];

/// Returns the nearest configuration file of a path: in its folder or in a folder above.
pub fn discover(path: &Path) -> Option<PathBuf> {
    let path = absolute(path);
    let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
    folders(folder?).find_map(in_folder)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|it| it.is_file())
}

/// The source of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOrigin {
    /// The nearest configuration file of each path.
    Nearest,
    /// This file, for all paths. Its patterns are relative to the current folder.
    File(PathBuf),
    /// No file: the defaults apply.
    NoFile,
}

/// An invalid or unreadable configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfig {
    /// The file.
    pub path: PathBuf,
    /// Its problems; empty if it is unreadable.
    pub problems: Vec<ConfigProblem>,
    /// The reason if it is unreadable.
    pub unreadable: Option<String>,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = to_one_line(&self.path.to_string_lossy());
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

impl std::error::Error for InvalidConfig {}

type LoadedConfig = Result<Arc<Config>, Arc<InvalidConfig>>;

/// Finds and reads the configurations of many files. Each configuration is read once.
#[derive(Debug)]
pub struct ConfigResolver {
    origin: ConfigOrigin,
    overrides: Overrides,
    /// The configuration of each folder, by its original and by its absolute path.
    folders: Mutex<FxHashMap<PathBuf, LoadedConfig>>,
    extended: Mutex<BTreeSet<PathBuf>>,
}

impl ConfigResolver {
    /// Creates a resolver without cached configurations.
    pub fn new(origin: ConfigOrigin, overrides: Overrides) -> Self {
        Self { origin, overrides, folders: Mutex::default(), extended: Mutex::default() }
    }

    /// Returns the configuration of a file, which need not exist.
    ///
    /// # Errors
    ///
    /// If the configuration file is invalid. The error is the same for all files that it applies
    /// to.
    pub fn config(&self, file: &Path) -> LoadedConfig {
        let given = match &self.origin {
            ConfigOrigin::Nearest => file.parent().unwrap_or(file),
            ConfigOrigin::File(_) | ConfigOrigin::NoFile => Path::new(""),
        };
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = folders.get(given) {
            return it.clone();
        }
        let folder = match &self.origin {
            ConfigOrigin::Nearest => absolute(given),
            ConfigOrigin::File(_) | ConfigOrigin::NoFile => PathBuf::new(),
        };
        let loaded = self.load(&folder, &mut folders);
        folders.insert(given.to_owned(), loaded.clone());
        loaded
    }

    /// Returns a resolver for files that are grouped by folder.
    pub fn by_folder(&self) -> FolderResolver<'_> {
        FolderResolver { resolver: self, last: None }
    }

    /// Clears the cache, because a configuration file was created, deleted or changed.
    pub fn clear_cache(&self) {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn load(&self, folder: &Path, known: &mut FxHashMap<PathBuf, LoadedConfig>) -> LoadedConfig {
        match &self.origin {
            ConfigOrigin::NoFile => self.defaults(),
            ConfigOrigin::File(path) => self.read(path, &env::current_dir().unwrap_or_default()),
            ConfigOrigin::Nearest => self.nearest(folder, known),
        }
    }

    /// Returns the nearest configuration of a folder, and caches it for all folders up to it.
    fn nearest(&self, folder: &Path, known: &mut FxHashMap<PathBuf, LoadedConfig>) -> LoadedConfig {
        let mut passed = Vec::new();
        let found = folders(folder).find_map(|it| {
            passed.push(it);
            let read = || in_folder(it).map(|path| self.read(&path, it));
            known.get(it).cloned().or_else(read)
        });
        let loaded = found.unwrap_or_else(|| self.defaults());
        for it in passed {
            known.insert(it.to_owned(), loaded.clone());
        }
        loaded
    }

    fn read(&self, path: &Path, root: &Path) -> LoadedConfig {
        let chain = chain(path);
        let mut extended = self.extended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(files) = &chain {
            extended.extend(files.iter().skip(1).map(|it| it.0.clone()));
        }
        drop(extended);
        let (paths, texts): (Vec<_>, Vec<_>) = chain?.into_iter().rev().unzip();
        let below: Vec<_> = paths.iter().take(paths.len() - 1).map(|it| shown(it)).collect();
        match Config::from_layers(texts, root, &self.overrides) {
            Ok(it) => Ok(Arc::new(it.with_path(&shown(path), below))),
            Err((n, problems)) => {
                Err(Arc::new(InvalidConfig { path: shown(&paths[n]), problems, unreadable: None }))
            }
        }
    }

    /// Returns the configuration without a file.
    fn defaults(&self) -> LoadedConfig {
        let config = Config::from_toml("", Path::new(""), &self.overrides);
        let path = PathBuf::new();
        config
            .map(Arc::new)
            .map_err(|problems| Arc::new(InvalidConfig { path, problems, unreadable: None }))
    }

    /// Returns all files that configuration files extend.
    pub fn extended(&self) -> Vec<PathBuf> {
        let extended = self.extended.lock().unwrap_or_else(PoisonError::into_inner);
        extended.iter().cloned().collect()
    }
}

/// A [`ConfigResolver`] for files that are grouped by folder: it queries the cache once per folder.
/// It must be dropped before configurations change.
#[derive(Debug)]
pub struct FolderResolver<'a> {
    resolver: &'a ConfigResolver,
    /// The folder of the last file, as the caller named it, and its configuration.
    last: Option<(PathBuf, LoadedConfig)>,
}

impl FolderResolver<'_> {
    /// Like [`ConfigResolver::config`].
    ///
    /// # Errors
    ///
    /// Like [`ConfigResolver::config`].
    pub fn config(&mut self, file: &Path) -> LoadedConfig {
        let folder = file.parent().unwrap_or(file);
        match &self.last {
            Some((last, known)) if last.as_os_str() == folder.as_os_str() => known.clone(),
            _ => {
                let loaded = self.resolver.config(file);
                self.last = Some((folder.to_owned(), loaded.clone()));
                loaded
            }
        }
    }
}

/// Maximum number of files in a chain of `extends`.
const MAX_FILES: usize = 16;

/// Reads a configuration file and the files that it extends. Returns their paths and texts.
fn chain(path: &Path) -> Result<Vec<(PathBuf, String)>, Arc<InvalidConfig>> {
    match read_bounded(path) {
        Ok(text) => chain_from_text(path, text),
        Err(error) => {
            let unreadable = Some(reason(&error));
            Err(Arc::new(InvalidConfig { path: shown(path), problems: Vec::new(), unreadable }))
        }
    }
}

/// Like [`chain`], with a given text of the first file.
fn chain_from_text(
    path: &Path,
    text: String,
) -> Result<Vec<(PathBuf, String)>, Arc<InvalidConfig>> {
    let invalid = |path: &Path, problems, unreadable| {
        Err(Arc::new(InvalidConfig { path: shown(path), problems, unreadable }))
    };
    let mut out = vec![(path.to_owned(), text)];
    loop {
        let (path, text) = &out[out.len() - 1];
        let (place, next) = match extends(text) {
            Ok(Some(it)) => it,
            Ok(None) => return Ok(out),
            Err(problems) => return invalid(path, problems, None),
        };
        let wrong = |why: String| {
            invalid(
                path,
                vec![ConfigProblem::new(text, place.clone(), format!("`extends`: {why}"))],
                None,
            )
        };
        let next = path.parent().map_or_else(|| PathBuf::from(&next), |it| it.join(&next));
        let is_next = |it: &Path| {
            it.canonicalize().is_ok_and(|it| next.canonicalize().is_ok_and(|next| it == next))
        };
        if let Some(first) = out.iter().position(|it| is_next(&it.0)) {
            let circle = out[first..].iter().map(|it| shown(&it.0).display().to_string());
            let circle = circle.collect::<Vec<_>>().join(" extends ");
            return wrong(format!(
                "files extend each other in a cycle: {circle} extends {}",
                shown(&out[first].0).display()
            ));
        }
        if out.len() == MAX_FILES {
            return wrong(format!("at most {MAX_FILES} files may form a chain of `extends`"));
        }
        if fs::metadata(&next).is_ok_and(|it| !it.is_file()) {
            // Reading a pipe could block forever.
            return wrong(format!("{}: not a regular file", shown(&next).display()));
        }
        match read_bounded(&next) {
            Ok(text) => out.push((next, text)),
            Err(error) => return wrong(format!("{}: {}", shown(&next).display(), reason(&error))),
        }
    }
}

/// Returns all problems of a configuration file that is being edited, in order. `text` may differ
/// from the text on the disk. Problems in a file that it extends are reported at the `extends` key.
pub fn problems(path: &Path, text: &str) -> Vec<ConfigProblem> {
    if text.len() as u64 > MAX_FILE {
        return vec![ConfigProblem::new(text, 0..0, TOO_LARGE.to_owned())];
    }
    let elsewhere = |invalid: &InvalidConfig| {
        let place = extends(text).ok().flatten().map_or(0..0, |it| it.0);
        vec![ConfigProblem::new(text, place, format!("`extends`: {invalid}"))]
    };
    let chain = match chain_from_text(path, text.to_owned()) {
        Ok(it) => it,
        Err(invalid) if invalid.path == shown(path) => return invalid.problems.clone(),
        Err(invalid) => return elsewhere(&invalid),
    };
    let (paths, texts): (Vec<_>, Vec<_>) = chain.into_iter().rev().unzip();
    let folder = path.parent().unwrap_or(Path::new(""));
    match Config::from_layers(texts, folder, &Overrides::default()) {
        Ok(_) => Vec::new(),
        Err((n, problems)) if n + 1 == paths.len() => problems,
        Err((n, problems)) => {
            elsewhere(&InvalidConfig { path: shown(&paths[n]), problems, unreadable: None })
        }
    }
}

/// Maximum size of a configuration in bytes. A handwritten one is about a thousand times smaller.
const MAX_FILE: u64 = 1 << 20;

const TOO_LARGE: &str = "the configuration file is larger than 1 MiB";

/// Reads a file or a stream, up to [`MAX_FILE`].
fn read_bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other(TOO_LARGE));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("the file is not valid UTF-8"))
}

/// Returns the most readable form of a path: relative to the current folder if it is inside, and
/// `.` for the current folder itself.
fn shown(path: &Path) -> PathBuf {
    let here = env::current_dir().ok();
    let path = here.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path);
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
}

/// Returns the message of a system error without its number, which is only useful for programmers.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed after its test.
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
    fn uses_only_the_nearest_file() {
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
        let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
        let of = |path: &str| {
            let placement =
                resolver.config(&root.join(path)).expect("right").settings().placement.clone();
            (placement.replace, placement.time_limit.duration().as_secs())
        };
        assert_eq!((of("a/x.mlir"), of("a/b/x.mlir")), ((true, 10), (false, 2)));
        fs::remove_file(root.join("a/b/.noisy.toml")).expect("there");
        assert_eq!(of("a/b/x.mlir"), (false, 2), "read once");
        resolver.clear_cache();
        assert_eq!(of("a/b/x.mlir"), (false, 1));
        let isolated = ConfigResolver::new(ConfigOrigin::NoFile, Overrides::default());
        assert!(
            !isolated.config(&root.join("a/x.mlir")).expect("right").settings().placement.replace
        );
        let named =
            ConfigResolver::new(ConfigOrigin::File(root.join("noisy.toml")), Overrides::default());
        assert!(
            named.config(&root.join("a/b/x.mlir")).expect("right").settings().placement.replace
        );
    }

    #[test]
    fn ignores_folders_that_a_path_leaves_again() {
        let files = [("noisy.toml", ""), ("a/noisy.toml", ""), ("b/x.mlir", "")];
        let folder = Folder::with("left", &files);
        let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
        for (path, wanted) in [("a/../b/x.mlir", "noisy.toml"), ("b/../a/x.mlir", "a/noisy.toml")] {
            let (path, wanted) = (folder.0.join(path), folder.0.join(wanted));
            assert_eq!(discover(&path).as_ref(), Some(&wanted));
            assert_eq!(resolver.config(&path).expect("right").path(), Some(wanted.as_path()));
        }
    }

    #[test]
    fn a_file_extends_another() {
        let folder = Folder::with(
            "extends",
            &[
                (
                    "shared/base.toml",
                    "extends = \"../far.toml\"\nexclude = [\"gen/\"]\nplacement.time-limit = 1\n\
                     [[overrides]]\nfiles = [\"old/\"]\nplacement.time-limit = 2\nrules.lint = \"off\"\n",
                ),
                ("far.toml", "placement.replace = true\nplacement.time-limit = 9\n"),
                ("a/noisy.toml", "extends = \"../shared/base.toml\"\n"),
                ("b/noisy.toml", "extends = \"../shared/base.toml\"\nplacement.time-limit = 3\n"),
            ],
        );
        let root = &folder.0;
        let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
        let of = |path: &str| {
            let path = root.join(path);
            let settings = resolver.config(&path).expect("right").for_path(&path).expect("right");
            let placement = &settings.placement;
            (
                placement.replace,
                placement.time_limit.duration().as_secs(),
                !settings.rules.levels().is_empty(),
            )
        };
        assert_eq!(of("a/x.mlir"), (true, 1, false));
        // Patterns are relative to the folder of the extending file. Its settings override those of
        // the extended file.
        assert_eq!(of("a/old/x.mlir"), (true, 2, true));
        assert_eq!(of("b/x.mlir"), (true, 3, false));
        assert_eq!(of("b/old/x.mlir"), (true, 3, true));
        let config = resolver.config(&root.join("a/x.mlir")).expect("right");
        assert!(config.is_excluded(&root.join("a/gen/x.mlir")));
        assert!(!config.is_excluded(&root.join("a/x.mlir")));
        let files: Vec<_> = config.extended().iter().filter_map(|it| it.file_name()).collect();
        assert_eq!(files, ["far.toml", "base.toml"]);
        assert_eq!(resolver.extended().len(), 4, "each by the path that leads there");
    }

    #[test]
    fn reports_problems_in_extended_files() {
        let far = (0..20).map(|n| format!("extends = \"{}.toml\"", n + 1)).collect::<Vec<_>>();
        let names = (0..20).map(|n| format!("{n}.toml")).collect::<Vec<_>>();
        let mut files = vec![
            ("here/a.toml", "\nextends = \"../b.toml\"".to_owned()),
            ("b.toml", "extends = \"here/../here/a.toml\"".to_owned()),
            ("self.toml", "extends = \"./self.toml\"".to_owned()),
            ("none.toml", "extends = \"nowhere.toml\"".to_owned()),
            ("list.toml", "extends = [\"b.toml\"]".to_owned()),
            ("net.toml", "extends = \"https://a.b/c.toml\"".to_owned()),
            ("child.toml", "extends = \"broken.toml\"".to_owned()),
            ("broken.toml", "\n[rule]\n".to_owned()),
            ("low.toml", "extends = \"high.toml\"\nmodel.budget = 20".to_owned()),
            ("high.toml", "model.fresh = 22".to_owned()),
        ];
        files.extend(names.iter().map(String::as_str).zip(far));
        let files: Vec<_> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
        let folder = Folder::with("extends-wrong", &files);
        let wrong = |name: &str| {
            let origin = ConfigOrigin::File(folder.0.join(name));
            let error =
                ConfigResolver::new(origin, Overrides::default()).config(Path::new("x.mlir"));
            let error = error.err().map_or_else(String::new, |it| it.to_string());
            error.replace(&format!("{}/", folder.0.display()), "")
        };
        assert_eq!(
            wrong("here/a.toml"),
            "here/../b.toml:1:11: `extends`: files extend each other in a cycle: here/a.toml extends here/../b.toml extends here/a.toml"
        );
        assert_eq!(
            wrong("self.toml"),
            "self.toml:1:11: `extends`: files extend each other in a cycle: self.toml extends self.toml"
        );
        assert_eq!(
            wrong("none.toml"),
            "none.toml:1:11: `extends`: nowhere.toml: No such file or directory"
        );
        assert_eq!(
            wrong("list.toml"),
            "list.toml:1:11: `extends`: expected the path of one file, a string"
        );
        assert_eq!(
            wrong("net.toml"),
            "net.toml:1:11: `extends`: expected a local file: URLs are not supported"
        );
        assert_eq!(
            wrong("child.toml"),
            "broken.toml:2:2: unknown key `rule`; did you mean `rules`?"
        );
        assert_eq!(
            wrong("0.toml"),
            "15.toml:1:11: `extends`: at most 16 files may form a chain of `extends`"
        );
        let together = wrong("low.toml");
        assert!(together.starts_with("low.toml:1:1: `model`: "), "{together}");
    }

    #[test]
    fn names_an_extended_folder_in_the_error() {
        let here = env::current_dir().expect("there is one");
        let said = |text: &str| {
            let problems = problems(&here.join("none.toml"), text);
            problems.iter().map(ToString::to_string).collect::<String>()
        };
        assert_eq!(said("extends = \".\""), "1:11: `extends`: .: not a regular file");
        assert_eq!(said("extends = \"src\""), "1:11: `extends`: src: not a regular file");
        let expected = "1:11: `extends`: expected the path of one file, a string";
        assert_eq!(said("extends = \"\""), expected);
    }

    #[test]
    fn impossible_paths_have_no_configuration() {
        let folder = Folder::with("deep", &[("noisy.toml", "")]);
        let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
        let n_known = || resolver.folders.lock().unwrap_or_else(PoisonError::into_inner).len();
        for (below, has_one) in [
            ("a/".repeat(900), true),
            ("a/".repeat(1_100), false),
            ("a/".repeat(200_000), false),
            ("a".repeat(40_000), false),
        ] {
            let path = folder.0.join(&below).join("x.mlir");
            let before = n_known();
            let config = resolver.config(&path).expect("right");
            assert_eq!(config.path().is_some(), has_one, "{}", below.len());
            assert_eq!(discover(&path).is_some(), has_one, "{}", below.len());
            assert_eq!(folders(&path).next().is_some(), has_one, "{}", below.len());
            let n_new = n_known() - before;
            assert_eq!(n_new, if has_one { 901 } else { 1 }, "{}", below.len());
        }
    }

    #[test]
    fn names_from_files_stay_in_their_line() {
        let files =
            [("noisy.toml", "extends = \"x\\n::error::y\""), ("a\nb/noisy.toml", "\"k\\ne\" = 1")];
        let files = if cfg!(unix) { &files[..] } else { &files[..1] };
        let folder = Folder::with("lines", files);
        for (name, _) in files {
            let path = folder.0.join(name).with_file_name("x.mlir");
            let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
            let error = resolver.config(&path).expect_err("wrong").to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(error.contains("\u{fffd}"), "{error}");
        }
    }

    #[test]
    fn reports_the_position_in_an_invalid_file() {
        let folder = Folder::with("broken", &[("noisy.toml", "\n[rule]")]);
        let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
        let error = resolver.config(&folder.0.join("x.mlir")).expect_err("wrong").to_string();
        assert!(
            error.ends_with("noisy.toml:2:2: unknown key `rule`; did you mean `rules`?"),
            "{error}"
        );
        let named = ConfigResolver::new(
            ConfigOrigin::File(folder.0.join("none.toml")),
            Overrides::default(),
        );
        let error = named.config(Path::new("x.mlir")).expect_err("missing").to_string();
        assert!(error.ends_with("none.toml: No such file or directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn does_not_wait_for_special_files() {
        for it in ["pipe", "folder", "/dev/zero"] {
            let text = format!("extends = \"{it}\"");
            let folder = Folder::with("no_file", &[("noisy.toml", &text)]);
            let pipe = std::process::Command::new("mkfifo").arg(folder.0.join("pipe")).status();
            assert!(pipe.is_ok_and(|it| it.success()));
            fs::create_dir(folder.0.join("folder")).expect("a folder");
            let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
            let error = resolver.config(&folder.0.join("x.mlir")).expect_err("wrong").to_string();
            assert!(error.ends_with(&format!("{it}: not a regular file")), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn reading_terminates() {
        let endless =
            ConfigResolver::new(ConfigOrigin::File("/dev/zero".into()), Overrides::default());
        let error = endless.config(Path::new("x.mlir")).expect_err("endless").to_string();
        assert_eq!(error, "/dev/zero: the configuration file is larger than 1 MiB");
        // Many problems, each far from the start.
        let keys = "a = 1\nb = 2\n".replace('a', &"k".repeat(400_000));
        let wrong = (0..50_000).fold(String::new(), |text, n| text + &format!("k{n} = 0\n"));
        for text in [keys, wrong, "[".repeat(500_000), "a = \"\n".repeat(100_000)] {
            let folder = Folder::with("mistakes", &[("noisy.toml", &text)]);
            let resolver = ConfigResolver::new(ConfigOrigin::Nearest, Overrides::default());
            let error = resolver.config(&folder.0.join("x.mlir")).expect_err("wrong");
            assert!((1..=100).contains(&error.problems.len()), "{}", error.problems.len());
        }
    }
}
