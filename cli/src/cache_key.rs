//! The secret that the names of the files of a cache depend on.
//!
//! *Law.* What somebody else wrote is not believed: a cache that a repository brings along has other names than those that are looked for. The secret
//! is made once for each user and kept in a file that nobody else may read; without a place for it there is no cache. Who hands a cache
//! from machine to machine, such as a CI, names a secret of its own (`NOISY_CACHE_KEY`).

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// In bytes.
const LENGTH: usize = 32;

/// The secret of the user.
pub(crate) fn key() -> Option<Vec<u8>> {
    let named = |name: &str| env::var_os(name).filter(|it: &OsString| !it.is_empty());
    if let Some(it) = named("NOISY_CACHE_KEY") {
        return Some(it.into_encoded_bytes());
    }
    let folder = if cfg!(windows) {
        PathBuf::from(named("LOCALAPPDATA")?)
    } else if let Some(it) = named("XDG_STATE_HOME") {
        PathBuf::from(it)
    } else {
        PathBuf::from(named("HOME")?).join(".local/state")
    };
    let file = folder.is_absolute().then(|| folder.join("noisy/cache-key"))?;
    let read = || fs::read(&file).ok().filter(|it| it.len() == LENGTH);
    read().or_else(|| {
        make(&file)?;
        // Of two processes that make one at a time the last counts.
        read()
    })
}

fn make(file: &PathBuf) -> Option<()> {
    let folder = file.parent()?;
    fs::create_dir_all(folder).ok()?;
    let mut key = [0; LENGTH];
    getrandom::fill(&mut key).ok()?;
    // Only its user may read a temporary file.
    let mut new = tempfile::NamedTempFile::new_in(folder).ok()?;
    new.write_all(&key).ok()?;
    new.persist(file).ok()?;
    Some(())
}
