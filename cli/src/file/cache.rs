//! Results of earlier runs.
//!
//! *Law.* A result is used only for the same text, file name, settings and options, and the same
//! build of this program. A SHA-256 over all of these identifies them. For a file with an unchanged
//! and trustworthy [`Stamp`] ([`crate::file::stamp`]), the stamp replaces the hash of the text. A
//! cache is used only by the user who wrote it ([`crate::file::cache_key`]). A cache that is
//! missing, incomplete, or written by another process at the same time costs time but never changes
//! a result. No result is stored for a file that could not be read, will be changed, or has a note
//! about its placement.
//!
//! *Cost.* An untouched file is neither read, parsed nor analyzed. A touched file with a known text
//! is read and hashed, and gets a new stamp. The cache has one JSON file for each folder of checked
//! files. Writing it drops the results of deleted files, and removes JSON files that were not
//! written for a month.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, UNIX_EPOCH};

use noisy_analyses::Rule;
use noisy_output::replace_without_sync;
use noisy_settings::Settings;
use noisy_syntax::parallel;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::file::baseline;
use crate::file::cache_key;
use crate::file::check::{DiagnosticCounts, FileReport};
use crate::file::stamp::{Moment, Stamp};
use crate::input::args::CacheArgs;

/// Default name of the folder.
const FOLDER: &str = ".noisy_cache";
/// A file of the cache that was not written for this long is removed.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
/// Maximum size of a file of the cache, in bytes. A checked file takes about 200.
const MAX_FILE: u64 = 64 << 20;

type Hash = [u8; 32];

#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// True if the user named the folder.
    is_named: bool,
    here: PathBuf,
    /// Hash of the program and the options.
    base: Hash,
    /// A time before the first file is read.
    start: Moment,
    contexts: Mutex<FxHashMap<SettingsKey, SettingsHash>>,
    /// One pack for each folder of checked files.
    packs: Mutex<HashMap<PathBuf, Arc<RwLock<FolderResults>>>>,
}

/// Values of the previous lookup. The next file is usually in the same folder, and then no lock is
/// needed.
#[derive(Debug, Default)]
pub(crate) struct LastLookup {
    /// The folder in the spelling of the path, and its pack.
    pack: Option<(PathBuf, Arc<RwLock<FolderResults>>)>,
    context: Option<(SettingsKey, Arc<str>)>,
}

/// The address of the settings, and the rules that are off in addition. [`SettingsHash`] keeps the
/// settings alive, so that no other settings get this address.
type SettingsKey = (usize, String);
/// The settings, and the context: the hash of everything but the text.
type SettingsHash = (Arc<Settings>, Arc<str>);

/// A *pack*: the results of the files of one folder. A file has one result, in one context.
#[derive(Debug, Default)]
struct FolderResults {
    kept: ResultsByContext,
    is_changed: bool,
}

/// Results by context (a hash of everything but the text), and then by file name.
type ResultsByContext = BTreeMap<String, FxHashMap<String, CachedFile>>;

/// The contents of the file of a pack.
#[derive(Debug, Deserialize, Serialize)]
struct PackFile<K> {
    /// Start of the run that wrote the pack.
    start: Moment,
    kept: K,
}

#[derive(Debug, Deserialize, Serialize)]
struct CachedFile {
    /// Hash of the text.
    #[serde(with = "hex::serde")]
    text: Hash,
    /// Stamp of the file at the time of reading, if settled.
    stamp: Option<Stamp>,
    /// `None` for a file without findings, the most common case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said: Option<Box<CachedReport>>,
    /// True if this run looked up or stored the file.
    #[serde(skip)]
    is_seen: AtomicBool,
}

/// The printed result of a file.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
struct CachedReport {
    /// The printed text.
    piece: String,
    /// Numbers of errors, warnings, hints, and omitted findings.
    counts: [usize; 4],
    codes: Vec<(String, usize)>,
    baseline: Vec<baseline::BaselineFinding>,
}

/// The place of the result of a file in the cache.
#[derive(Clone, Debug)]
pub(crate) struct CacheSlot {
    pack: Arc<RwLock<FolderResults>>,
    /// The hash of everything but the text.
    context: Arc<str>,
    name: String,
}

/// The hash of a text that was read, and the stamp of its file.
#[derive(Clone, Debug)]
pub(crate) struct ReadText {
    hash: Hash,
    stamp: Option<Stamp>,
}

impl ReadText {
    /// `stamp` must be taken before the text is read.
    pub(crate) fn new(text: &str, stamp: Option<Stamp>) -> Self {
        Self { hash: Sha256::digest(text).into(), stamp }
    }
}

impl Cache {
    /// The cache for runs with some options; `None` if it is switched off or the build of this
    /// program is unknown.
    pub(crate) fn new(args: &CacheArgs, isolated: bool, options: &dyn Debug) -> Option<Self> {
        if args.no_cache {
            return None;
        }
        let here = std::env::current_dir().ok()?;
        let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let program = (env!("CARGO_PKG_VERSION"), program.len(), built);
        let from_environment = std::env::var_os("NOISY_CACHE_DIR").filter(|it| !it.is_empty());
        let named = args.cache_dir.clone().or(from_environment.map(PathBuf::from));
        let is_named = named.is_some();
        let folder = named.unwrap_or_else(|| {
            let config = if isolated { None } else { noisy_settings::discover(&here) };
            let beside = config.as_deref().and_then(Path::parent).unwrap_or(&here);
            beside.join(FOLDER)
        });
        if !is_named && folder.is_symlink() {
            // The user did not name the target of this link.
            return None;
        }
        let base = hash(&[
            &cache_key::user_key()?,
            format!("{program:?}").as_bytes(),
            here.as_os_str().as_encoded_bytes(),
            format!("{options:?}").as_bytes(),
        ]);
        let (contexts, packs) = (Mutex::default(), Mutex::default());
        Some(Self { folder, is_named, here, base, start: Moment::now(), contexts, packs })
    }

    pub(crate) fn start(&self) -> Moment {
        self.start
    }

    /// Reads the packs of the folders of `files` in parallel. Otherwise threads that check files of
    /// the same folder would wait for each other.
    pub(crate) fn read_ahead<'a>(&self, files: impl Iterator<Item = &'a Path>) {
        let mut folders: Vec<&Path> = files.filter_map(Path::parent).collect();
        folders.dedup_by_key(|it| it.as_os_str());
        let read = |n: usize| drop(self.pack(folders[n]));
        parallel::map_in_order(threads_for(folders.len()), folders.len(), read, |()| true);
    }

    /// The slot of a file that is checked with these settings and without the rules `silenced`.
    /// `None` if the name is not UTF-8, because another name could look the same.
    pub(crate) fn slot(
        &self,
        path: &Path,
        settings: &Arc<Settings>,
        silenced: &[&str],
        last: &mut LastLookup,
    ) -> Option<CacheSlot> {
        let name = path.to_str()?.to_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        let pack = match &last.pack {
            Some((of, it)) if of.as_os_str() == folder.as_os_str() => it.clone(),
            _ => last.pack.insert((folder.to_owned(), self.pack(folder))).1.clone(),
        };
        let known = (Arc::as_ptr(settings) as usize, silenced.join("\n"));
        let context = match &last.context {
            Some((of, it)) if *of == known => it.clone(),
            _ => {
                let context = self.context(known.clone(), settings, silenced);
                last.context.insert((known, context)).1.clone()
            }
        };
        Some(CacheSlot { pack, context, name })
    }

    fn pack(&self, named: &Path) -> Arc<RwLock<FolderResults>> {
        let folder = self.here.join(named);
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = packs.get(&folder).cloned();
        let is_new = known.is_none();
        let pack = known.unwrap_or_default();
        if is_new {
            packs.insert(folder.clone(), pack.clone());
            // Only readers of the same folder wait for this lock.
            let mut filled = pack.write().unwrap_or_else(PoisonError::into_inner);
            drop(packs);
            filled.kept = self.read(&folder).unwrap_or_default();
        }
        pack
    }

    fn context(&self, key: SettingsKey, settings: &Arc<Settings>, silenced: &[&str]) -> Arc<str> {
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = || {
            let off = format!("{silenced:?}");
            let hash = hash(&[&self.base, settings.to_toml().as_bytes(), off.as_bytes()]);
            (Arc::clone(settings), hex::encode(hash).into())
        };
        contexts.entry(key).or_insert_with(entry).1.clone()
    }

    fn file(&self, folder: &Path) -> PathBuf {
        let name = hash(&[&self.base, folder.as_os_str().as_encoded_bytes()]);
        self.folder.join(hex::encode(name)).with_extension("json")
    }

    /// Reads the pack of a folder; `None` if it is missing or belongs to another build.
    fn read(&self, folder: &Path) -> Option<ResultsByContext> {
        let path = self.file(folder);
        fs::metadata(&path).ok().filter(|it| it.is_file() && it.len() <= MAX_FILE)?;
        let written: PackFile<ResultsByContext> =
            serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let PackFile { start, mut kept } = written;
        if start > self.start {
            // The clock was set back, so a text that is written now could get the stamp of an older
            // text.
            kept.values_mut().flat_map(FxHashMap::values_mut).for_each(|it| it.stamp = None);
        }
        Some(kept)
    }

    /// Writes the packs that changed.
    ///
    /// # Errors
    ///
    /// If a pack cannot be written. Its old file is then unchanged.
    pub(crate) fn save(&self) -> io::Result<()> {
        let packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = |pack: &RwLock<FolderResults>| {
            pack.read().unwrap_or_else(PoisonError::into_inner).is_changed
        };
        let changed: Vec<(&PathBuf, &Arc<RwLock<FolderResults>>)> =
            packs.iter().filter(|it| is_changed(it.1)).collect();
        if changed.is_empty() {
            return Ok(());
        }
        create(&self.folder, self.is_named)?;
        let write = |n: usize| self.write(changed[n].0, changed[n].1);
        let mut written = Ok(());
        parallel::map_in_order(threads_for(changed.len()), changed.len(), write, |it| {
            written = it;
            written.is_ok()
        });
        written?;
        remove_old_files(&self.folder)
    }

    fn write(&self, folder: &Path, pack: &RwLock<FolderResults>) -> io::Result<()> {
        let mut pack = pack.write().unwrap_or_else(PoisonError::into_inner);
        let FolderResults { kept, is_changed } = &mut *pack;
        for it in kept.values_mut() {
            it.retain(|name, kept| {
                kept.is_seen.load(Ordering::Relaxed) || Path::new(name).exists()
            });
        }
        kept.retain(|_, it| !it.is_empty());
        let written = PackFile { start: self.start, kept: &*kept };
        replace_without_sync(&self.file(folder), &serde_json::to_vec(&written)?)?;
        *is_changed = false;
        Ok(())
    }

    /// The folder for messages: relative to the current folder, if possible.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.strip_prefix(&self.here).unwrap_or(&self.folder)
    }
}

impl CacheSlot {
    /// The result of a file that was not touched since it was stored: its counts and its printed
    /// text.
    pub(crate) fn get_untouched(&self) -> Option<(FileReport, String)> {
        let stamp = Stamp::of(&fs::metadata(&self.name).ok()?)?;
        let pack = self.pack.read().unwrap_or_else(PoisonError::into_inner);
        let of_context = pack.kept.get(&*self.context)?;
        let kept = of_context.get(&self.name).filter(|it| it.stamp == Some(stamp))?;
        kept.is_seen.store(true, Ordering::Relaxed);
        kept.to_report(self)
    }

    /// The result of a known text. The entry takes over the stamp of `seen`.
    pub(crate) fn get(&self, seen: &ReadText) -> Option<(FileReport, String)> {
        let mut pack = self.pack.write().unwrap_or_else(PoisonError::into_inner);
        let of_context = pack.kept.get_mut(&*self.context)?;
        let kept = of_context.get_mut(&self.name).filter(|it| it.text == seen.hash)?;
        let is_changed = kept.stamp != seen.stamp;
        kept.is_seen.store(true, Ordering::Relaxed);
        kept.stamp = seen.stamp;
        let known = kept.to_report(self);
        pack.is_changed |= is_changed;
        known
    }

    /// Stores a result, if the cache can represent all of it.
    pub(crate) fn put(&self, seen: ReadText, checked: &FileReport, piece: &str) {
        let fixed = &checked.fixed;
        let is_all = checked.failure.is_none()
            && !fixed.is_changed
            && fixed.notes.is_empty()
            && fixed.placed.is_empty();
        if !is_all {
            return;
        }
        let DiagnosticCounts { errors, warnings, hints, codes } = &checked.counts;
        let said = CachedReport {
            piece: piece.to_owned(),
            counts: [*errors, *warnings, *hints, checked.n_left_out],
            codes: codes.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
            baseline: checked.baseline_findings.clone(),
        };
        let said = (said != CachedReport::default()).then(|| said.into());
        let is_seen = AtomicBool::new(true);
        let kept = CachedFile { text: seen.hash, stamp: seen.stamp, said, is_seen };
        let mut pack = self.pack.write().unwrap_or_else(PoisonError::into_inner);
        pack.is_changed = true;
        for it in pack.kept.values_mut() {
            it.remove(&self.name);
        }
        let of = pack.kept.entry(self.context.to_string()).or_default();
        of.insert(self.name.clone(), kept);
    }
}

impl CachedFile {
    fn to_report(&self, slot: &CacheSlot) -> Option<(FileReport, String)> {
        let empty = FileReport::empty(slot.name.clone());
        let Some(said) = &self.said else { return Some((empty, String::new())) };
        let [errors, warnings, hints, n_left_out] = said.counts;
        let codes = said.codes.iter().map(|(code, n)| Some((Rule::find(code)?.code(), *n)));
        let counts =
            DiagnosticCounts { errors, warnings, hints, codes: codes.collect::<Option<_>>()? };
        let entries = said.baseline.clone();
        Some((
            FileReport { n_left_out, counts, baseline_findings: entries, ..empty },
            said.piece.clone(),
        ))
    }
}

/// Number of threads for reading `n_packs` packs. Threads do not pay off for a few packs.
fn threads_for(n_packs: usize) -> usize {
    if n_packs < 8 { 0 } else { parallel::n_cores() }
}

/// Creates the folder and marks it for git and backup programs. An existing folder that the user
/// named is not changed.
fn create(folder: &Path, is_named: bool) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_named => return Ok(()),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# The cache of noisy-check: see https://bford.info/cachedir\n";
    for (name, text) in [("CACHEDIR.TAG", tag), (".gitignore", "*\n")] {
        match File::create_new(folder.join(name)) {
            Ok(mut it) => it.write_all(text.as_bytes())?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes files that were not written for a month.
fn remove_old_files(folder: &Path) -> io::Result<()> {
    for it in fs::read_dir(folder)? {
        let it = it?;
        let name = it.file_name();
        let name = name.to_str().and_then(|it| it.strip_suffix(".json")).unwrap_or_default();
        let is_ours = name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
        let written = it.metadata().and_then(|it| it.modified());
        if is_ours && written.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > MONTH)) {
            // Another process may have removed the file.
            let _ = fs::remove_file(it.path());
        }
    }
    Ok(())
}

/// The SHA-256 of the parts, each preceded by its length.
fn hash(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    for it in parts {
        hash.update((it.len() as u64).to_le_bytes());
        hash.update(it);
    }
    hash.finalize().into()
}
