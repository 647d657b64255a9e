//! The secret from which the file names of a cache are computed.
//!
//! *Law.* Nobody else can plant results: the files of a cache that comes with a repository have
//! other names than those that are looked up. The secret is created once per user and stored in a
//! file that nobody else can read. If it cannot be stored, there is no cache. A CI that shares a
//! cache between machines sets its own secret (`NOISY_CACHE_KEY`).

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Length in bytes.
const KEY_BYTES: usize = 32;

/// The secret of the user.
pub(crate) fn user_key() -> Option<Vec<u8>> {
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
    let read = || fs::read(&file).ok().filter(|it| it.len() == KEY_BYTES);
    read().or_else(|| {
        create_key(&file)?;
        // If two processes create one at the same time, the last one wins.
        read()
    })
}

fn create_key(file: &PathBuf) -> Option<()> {
    let folder = file.parent()?;
    fs::create_dir_all(folder).ok()?;
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).ok()?;
    // A temporary file is readable by its user only.
    let mut new = tempfile::NamedTempFile::new_in(folder).ok()?;
    new.write_all(&key).ok()?;
    new.persist(file).ok()?;
    Some(())
}
