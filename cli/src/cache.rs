//! What was found in files, kept between runs.
//!
//! *Law.* What is kept counts only for the same text under the same name, with the same settings and options, checked by the same
//! program. That a text is the same says a SHA-256 over it and all of these, or, of a file that was not touched since, its
//! [`Stamp`], where that can be trusted ([`crate::stamp`] says when). It counts for the user alone who wrote it ([`crate::cache_key`]).
//! A cache that is missing, torn, or written by another process meanwhile costs work and changes no result. Nothing is kept of a file that could not be read, is to be changed, or
//! about whose placement there is something to say.
//!
//! *Cost.* A file that was not touched is neither read, parsed nor analyzed; one that was, but is known, is read and hashed, and has its stamp
//! from then on. There is one file of JSON for each folder with
//! checked files; what is in it about files that are gone goes when it is written, and files that nobody has written for a month go
//! with the next one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use noisy_analyses::Rule;
use noisy_output::remake;
use noisy_settings::Settings;
use noisy_syntax::parallel;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::Caching;
use crate::baseline;
use crate::cache_key;
use crate::check::{Checked, Counts};
use crate::stamp::{Moment, Stamp};

/// The usual name of the folder.
const FOLDER: &str = ".noisy_cache";
/// So long a file may stay that nobody writes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
/// The largest file that is read, in bytes: a file of a folder takes some 200.
const MAX_FILE: u64 = 64 << 20;

type Hash = [u8; 32];

/// The results of earlier runs.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Somebody chose it.
    is_named: bool,
    here: PathBuf,
    /// Of the program and the options.
    base: Hash,
    /// Before any file was read.
    start: Moment,
    contexts: Mutex<FxHashMap<Known, Context>>,
    packs: Mutex<Packs>,
}

/// By the folder of the files.
#[derive(Debug, Default)]
struct Packs {
    all: HashMap<PathBuf, Arc<Mutex<Pack>>>,
    /// That of the last file, by its folder as it was named: most often it is that of the next, too.
    last: Option<(PathBuf, Arc<Mutex<Pack>>)>,
}

/// The address of settings, which are kept so that nothing else has it, and the rules that are off besides.
type Known = (usize, String);
/// The settings, and the hash of all that counts but the text.
type Context = (Arc<Settings>, Arc<str>);

/// The results of the files of one folder: for each context those of its files. A file has one result.
#[derive(Debug, Default)]
struct Pack {
    kept: BTreeMap<String, FxHashMap<String, Kept>>,
    /// Names of this run.
    seen: FxHashSet<String>,
    is_changed: bool,
}

/// A pack as it is written.
#[derive(Debug, Deserialize, Serialize)]
struct Written<K> {
    /// When the run began that wrote it.
    start: Moment,
    kept: K,
}

/// The result of one file.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Kept {
    /// The hash of its text.
    text: String,
    /// Of the file that was read, if it was settled.
    stamp: Option<Stamp>,
    /// What is printed of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    piece: String,
    /// Errors, warnings, hints, and how many are left out.
    counts: [usize; 4],
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    codes: Vec<(String, usize)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    baseline: Vec<baseline::Entry>,
}

/// The place of a file in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pack: Arc<Mutex<Pack>>,
    /// The hash of all that counts but the text.
    context: Arc<str>,
    name: String,
}

/// A text that was read.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    hash: String,
    stamp: Option<Stamp>,
}

impl Seen {
    /// A text, and what was known of its file before it was read.
    pub(crate) fn new(text: &str, stamp: Option<Stamp>) -> Self {
        Self { hash: hex(&Sha256::digest(text).into()), stamp }
    }
}

impl Cache {
    /// The cache of runs with some options; nothing if there is to be none, or it cannot be told which program this is.
    pub(crate) fn new(args: &Caching, isolated: bool, options: &dyn Debug) -> Option<Self> {
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
            // Nobody has said that anything may be written where it leads.
            return None;
        }
        let base = hash(&[
            &cache_key::key()?,
            format!("{program:?}").as_bytes(),
            here.as_os_str().as_encoded_bytes(),
            format!("{options:?}").as_bytes(),
        ]);
        let (contexts, packs) = (Mutex::default(), Mutex::default());
        Some(Self { folder, is_named, here, base, start: Moment::now(), contexts, packs })
    }

    /// A time before any file was read.
    pub(crate) fn start(&self) -> Moment {
        self.start
    }

    /// Where a file has its place that is checked with settings, and with some rules off besides; nothing if its name is no text, for
    /// another one may look like it.
    pub(crate) fn slot(
        &self,
        path: &Path,
        settings: &Arc<Settings>,
        silenced: &[&str],
    ) -> Option<Slot> {
        let name = path.to_str()?.to_owned();
        let pack = self.pack(path.parent().unwrap_or(Path::new("")));
        Some(Slot { pack, context: self.context(settings, silenced), name })
    }

    fn pack(&self, named: &Path) -> Arc<Mutex<Pack>> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, it)) =
            packs.last.as_ref().filter(|it| it.0.as_os_str() == named.as_os_str())
        {
            return it.clone();
        }
        let folder = self.here.join(named);
        let known = packs.all.get(&folder).cloned();
        let is_new = known.is_none();
        let pack = known.unwrap_or_default();
        packs.last = Some((named.to_owned(), pack.clone()));
        if is_new {
            packs.all.insert(folder.clone(), pack.clone());
            // Who comes next for this folder waits, nobody else.
            let mut filled = pack.lock().unwrap_or_else(PoisonError::into_inner);
            drop(packs);
            filled.kept = self.read(&folder).unwrap_or_default();
        }
        pack
    }

    fn context(&self, settings: &Arc<Settings>, silenced: &[&str]) -> Arc<str> {
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = (Arc::as_ptr(settings) as usize, silenced.join("\n"));
        let entry = || {
            let off = format!("{silenced:?}");
            let hash = hash(&[&self.base, settings.to_toml().as_bytes(), off.as_bytes()]);
            (Arc::clone(settings), hex(&hash).into())
        };
        contexts.entry(known).or_insert_with(entry).1.clone()
    }

    fn file(&self, folder: &Path) -> PathBuf {
        let name = hash(&[&self.base, folder.as_os_str().as_encoded_bytes()]);
        self.folder.join(hex(&name)).with_extension("json")
    }

    /// What the cache holds of a folder; nothing if that is missing, or not of this program.
    fn read(&self, folder: &Path) -> Option<BTreeMap<String, FxHashMap<String, Kept>>> {
        let path = self.file(folder);
        fs::metadata(&path).ok().filter(|it| it.is_file() && it.len() <= MAX_FILE)?;
        let written: Written<BTreeMap<_, FxHashMap<_, Kept>>> =
            serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let Written { start, mut kept } = written;
        if start > self.start {
            // The clock was set back: what is written now may have the time of what was there.
            kept.values_mut().flat_map(FxHashMap::values_mut).for_each(|it| it.stamp = None);
        }
        Some(kept)
    }

    /// Writes what is new.
    ///
    /// # Errors
    ///
    /// When it cannot be written; what is there stays as it is.
    pub(crate) fn save(&self) -> io::Result<()> {
        let packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed =
            |pack: &Mutex<Pack>| pack.lock().unwrap_or_else(PoisonError::into_inner).is_changed;
        let changed: Vec<(&PathBuf, &Arc<Mutex<Pack>>)> =
            packs.all.iter().filter(|it| is_changed(it.1)).collect();
        if changed.is_empty() {
            return Ok(());
        }
        create(&self.folder, self.is_named)?;
        // A few are not worth a thread.
        let n_threads = if changed.len() < 8 { 0 } else { parallel::cores() };
        let write = |n: usize| self.write(changed[n].0, changed[n].1);
        let mut written = Ok(());
        parallel::in_order(n_threads, changed.len(), write, |it| {
            written = it;
            written.is_ok()
        });
        written?;
        clean(&self.folder)
    }

    fn write(&self, folder: &Path, pack: &Mutex<Pack>) -> io::Result<()> {
        let mut pack = pack.lock().unwrap_or_else(PoisonError::into_inner);
        let Pack { kept, seen, is_changed } = &mut *pack;
        let is_there = |name: &String| seen.contains(name) || Path::new(name).exists();
        for it in kept.values_mut() {
            it.retain(|name, _| is_there(name));
        }
        kept.retain(|_, it| !it.is_empty());
        let written = Written { start: self.start, kept: &*kept };
        remake(&self.file(folder), &serde_json::to_vec(&written)?)?;
        *is_changed = false;
        Ok(())
    }

    /// The folder, for people.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.strip_prefix(&self.here).unwrap_or(&self.folder)
    }
}

impl Slot {
    /// What is known of a file that was not touched since: its counts and what is printed of it.
    pub(crate) fn untouched(&self) -> Option<(Checked, String)> {
        let stamp = Stamp::of(&fs::metadata(&self.name).ok()?)?;
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pack.of(self).filter(|it| it.stamp == Some(stamp))?.checked(self);
        pack.seen.insert(self.name.clone());
        known
    }

    /// What is known of a text, which has the stamp of its file from now on.
    pub(crate) fn get(&self, seen: &Seen) -> Option<(Checked, String)> {
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        pack.seen.insert(self.name.clone());
        let kept = pack.of(self).filter(|it| it.text == seen.hash)?;
        let is_changed = kept.stamp != seen.stamp;
        kept.stamp = seen.stamp;
        let known = kept.checked(self);
        pack.is_changed |= is_changed;
        known
    }

    /// Keeps what was found, if that is all there is to say.
    pub(crate) fn put(&self, seen: Seen, checked: &Checked, piece: &str) {
        let fixed = &checked.fixed;
        let is_all = checked.failure.is_none()
            && !fixed.is_changed
            && fixed.notes.is_empty()
            && fixed.placed.is_empty();
        if !is_all {
            return;
        }
        let Counts { errors, warnings, hints, codes } = &checked.counts;
        let kept = Kept {
            text: seen.hash,
            stamp: seen.stamp,
            piece: piece.to_owned(),
            counts: [*errors, *warnings, *hints, checked.n_left_out],
            codes: codes.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
            baseline: checked.entries.clone(),
        };
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        pack.is_changed = true;
        for it in pack.kept.values_mut() {
            it.remove(&self.name);
        }
        let of = pack.kept.entry(self.context.to_string()).or_default();
        of.insert(self.name.clone(), kept);
    }
}

impl Pack {
    fn of(&mut self, slot: &Slot) -> Option<&mut Kept> {
        self.kept.get_mut(&*slot.context)?.get_mut(&slot.name)
    }
}

impl Kept {
    fn checked(&self, slot: &Slot) -> Option<(Checked, String)> {
        let [errors, warnings, hints, n_left_out] = self.counts;
        let codes = self.codes.iter().map(|(code, n)| Some((Rule::find(code)?.code(), *n)));
        let counts = Counts { errors, warnings, hints, codes: codes.collect::<Option<_>>()? };
        let entries = self.baseline.clone();
        let checked = Checked { n_left_out, counts, entries, ..Checked::empty(slot.name.clone()) };
        Some((checked, self.piece.clone()))
    }
}

/// Makes the folder, which git and backups leave out. One that is there stays as it is if it was named.
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

/// Removes files that were not written for long.
fn clean(folder: &Path) -> io::Result<()> {
    for it in fs::read_dir(folder)? {
        let it = it?;
        let name = it.file_name();
        let name = name.to_str().and_then(|it| it.strip_suffix(".json")).unwrap_or_default();
        let is_ours = name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
        let written = it.metadata().and_then(|it| it.modified());
        if is_ours && written.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > MONTH)) {
            // Somebody else may have removed it.
            let _ = fs::remove_file(it.path());
        }
    }
    Ok(())
}

/// The SHA-256 of parts, each with its length before it.
fn hash(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    for it in parts {
        hash.update((it.len() as u64).to_le_bytes());
        hash.update(it);
    }
    hash.finalize().into()
}

fn hex(hash: &Hash) -> String {
    let digits = hash.iter().flat_map(|it| [it >> 4, it & 15]);
    digits.filter_map(|it| char::from_digit(u32::from(it), 16)).collect()
}
