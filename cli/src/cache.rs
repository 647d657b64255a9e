//! What was found in files, kept between runs.
//!
//! *Law.* What is kept counts only for the same text under the same name, with the same settings and options, checked by the same
//! program: its key is a SHA-256 over all of these, and no times of files are trusted. A cache that is missing, torn, or written by
//! another process meanwhile costs work and changes no result. Nothing is kept of a file that could not be read, is to be changed, or
//! about whose placement there is something to say.
//!
//! *Cost.* A file that is known is read and hashed, and neither parsed nor analyzed. There is one file of JSON for each folder with
//! checked files; what is in it about files that are gone goes when it is written, and files that nobody has written for a month go
//! with the next one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use noisy_analyses::Rule;
use noisy_settings::Settings;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::Caching;
use crate::baseline;
use crate::check::{Checked, Counts};
use crate::write::remake;

/// The usual name of the folder.
const FOLDER: &str = ".noisy_cache";
/// So long a file may stay that nobody writes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 30;

type Hash = [u8; 32];

/// The results of earlier runs.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    here: PathBuf,
    /// Of the program and the options.
    base: Hash,
    /// By address; those whose addresses are taken are kept.
    settings: Mutex<HashMap<usize, (Arc<Settings>, Hash)>>,
    /// By the folder of the files.
    packs: Mutex<HashMap<PathBuf, Pack>>,
}

/// The results of the files of one folder.
#[derive(Debug, Default)]
struct Pack {
    kept: BTreeMap<String, Kept>,
    /// Names of this run.
    seen: HashSet<String>,
    is_changed: bool,
}

/// The result of one file.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Kept {
    key: String,
    /// What is printed of it.
    piece: String,
    /// Errors, warnings, hints, and how many are left out.
    counts: [usize; 4],
    codes: Vec<(String, usize)>,
    baseline: Vec<baseline::Entry>,
}

/// The place of a file in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    folder: PathBuf,
    name: String,
    key: String,
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
        let folder = args.cache_dir.clone().or(from_environment.map(PathBuf::from));
        let folder = folder.unwrap_or_else(|| {
            let config = if isolated { None } else { noisy_settings::discover(&here) };
            let beside = config.as_deref().and_then(Path::parent).unwrap_or(&here);
            beside.join(FOLDER)
        });
        let base = hash(&[
            format!("{program:?}").as_bytes(),
            here.as_os_str().as_encoded_bytes(),
            format!("{options:?}").as_bytes(),
        ]);
        let (settings, packs) = (Mutex::default(), Mutex::default());
        Some(Self { folder, here, base, settings, packs })
    }

    /// Where a text has its place: that of a file with a name, checked with settings in which some rules are off.
    pub(crate) fn slot(
        &self,
        path: &Path,
        name: &str,
        settings: &Arc<Settings>,
        silenced: &[&str],
        text: &str,
    ) -> Slot {
        let path = self.here.join(path);
        let folder = path.parent().unwrap_or(&self.here).to_owned();
        let key = hash(&[
            &self.base,
            path.as_os_str().as_encoded_bytes(),
            name.as_bytes(),
            &self.of_settings(settings),
            format!("{silenced:?}").as_bytes(),
            text.as_bytes(),
        ]);
        Slot { folder, name: name.to_owned(), key: hex(&key) }
    }

    fn of_settings(&self, settings: &Arc<Settings>) -> Hash {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(settings) as usize;
        let entry = || (Arc::clone(settings), hash(&[settings.to_toml().as_bytes()]));
        known.entry(address).or_insert_with(entry).1
    }

    fn file(&self, folder: &Path) -> PathBuf {
        let name = hash(&[&self.base, folder.as_os_str().as_encoded_bytes()]);
        self.folder.join(hex(&name)).with_extension("json")
    }

    /// What is known: the counts of a file and what is printed of it.
    pub(crate) fn get(&self, slot: &Slot) -> Option<(Checked, String)> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let pack = packs.entry(slot.folder.clone()).or_insert_with(|| {
            let kept = read(&self.file(&slot.folder)).unwrap_or_default();
            Pack { kept, ..Pack::default() }
        });
        pack.seen.insert(slot.name.clone());
        let kept = pack.kept.get(&slot.name).filter(|it| it.key == slot.key)?.clone();
        drop(packs);
        let [errors, warnings, hints, n_left_out] = kept.counts;
        let codes = kept.codes.iter().map(|(code, n)| Some((Rule::find(code)?.code(), *n)));
        let counts = Counts { errors, warnings, hints, codes: codes.collect::<Option<_>>()? };
        let checked = Checked {
            counts,
            n_left_out,
            entries: kept.baseline,
            ..Checked::empty(slot.name.clone())
        };
        Some((checked, kept.piece))
    }

    /// Keeps what was found, if that is all there is to say.
    pub(crate) fn put(&self, slot: &Slot, checked: &Checked, piece: &str) {
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
            key: slot.key.clone(),
            piece: piece.to_owned(),
            counts: [*errors, *warnings, *hints, checked.n_left_out],
            codes: codes.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
            baseline: checked.entries.clone(),
        };
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let pack = packs.entry(slot.folder.clone()).or_default();
        pack.is_changed = true;
        pack.kept.insert(slot.name.clone(), kept);
    }

    /// Writes what is new.
    ///
    /// # Errors
    ///
    /// When it cannot be written; what is there stays as it is.
    pub(crate) fn save(&self) -> io::Result<()> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let changed: Vec<_> = packs.iter_mut().filter(|it| it.1.is_changed).collect();
        if changed.is_empty() {
            return Ok(());
        }
        create(&self.folder)?;
        for (folder, pack) in changed {
            pack.kept.retain(|name, _| pack.seen.contains(name) || Path::new(name).exists());
            remake(&self.file(folder), &serde_json::to_vec(&pack.kept)?)?;
            pack.is_changed = false;
        }
        clean(&self.folder)
    }

    /// The folder, for people.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.strip_prefix(&self.here).unwrap_or(&self.folder)
    }
}

/// Makes the folder, which git and backups leave out.
fn create(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::create_dir(folder) {
        // Whoever made it, made the rest.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        it => it?,
    }
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# The cache of noisy-check: see https://bford.info/cachedir\n";
    fs::write(folder.join("CACHEDIR.TAG"), tag)?;
    fs::write(folder.join(".gitignore"), "*\n")
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

/// What a file holds; nothing if it is missing, or not of this program.
fn read(path: &Path) -> Option<BTreeMap<String, Kept>> {
    fs::metadata(path).ok().filter(|it| it.is_file() && it.len() <= MAX_FILE)?;
    serde_json::from_slice(&fs::read(path).ok()?).ok()
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
