//! Waits until files are on the disk, separately or for a whole file system at once.
//!
//! *Law.* A file that is reported as settled survives a power failure. *Cost.* For many files,
//! Linux gets one request for each file system (`syncfs`). It then writes the files in disk order
//! and flushes the cache of the disk once. On other systems, and for a few files, there is one
//! request for each file.

use std::fs::OpenOptions;
use std::io;
use std::path::PathBuf;

/// A closed file that must reach the disk.
#[derive(Clone, Debug)]
pub(crate) struct UnsettledFile {
    pub path: PathBuf,
    /// Its file system.
    pub device: Device,
}

/// Waits for files; returns the result of each.
pub(crate) fn settle(files: &[UnsettledFile]) -> Vec<io::Result<()>> {
    let settled = whole(files);
    let each =
        files.iter().map(|it| if settled.contains(&it.device) { Ok(()) } else { settle_file(it) });
    each.collect()
}

fn settle_file(it: &UnsettledFile) -> io::Result<()> {
    // Some systems only flush files that are open for writing.
    OpenOptions::new().write(true).open(&it.path)?.sync_all()
}

#[cfg(target_os = "linux")]
use linux::whole;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Device, device};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::sync::{Mutex, PoisonError};

    use super::UnsettledFile;

    /// Number of a file system.
    pub(crate) type Device = u64;

    /// Minimum number of files for which the whole file system is settled.
    const MIN_FILES: usize = 8;

    /// An open file of each file system with new files. It is opened before the first write, so
    /// that `syncfs` reports every failure since then.
    static DEVICES: Mutex<BTreeMap<Device, File>> = Mutex::new(BTreeMap::new());

    /// Returns the file system of a new file. Must be called before the first write to it.
    ///
    /// # Errors
    ///
    /// If the system does not report it.
    pub(crate) fn device(new: &File, metadata: &Metadata) -> io::Result<Device> {
        let device = metadata.dev();
        let mut known = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        if let std::collections::btree_map::Entry::Vacant(it) = known.entry(device) {
            it.insert(new.try_clone()?);
        }
        Ok(device)
    }

    /// Settles the file systems that contain many of these files, and returns them. A file system
    /// that cannot be settled or that reports a failure is left out.
    pub(super) fn whole(files: &[UnsettledFile]) -> BTreeSet<Device> {
        let mut counts: BTreeMap<Device, usize> = BTreeMap::new();
        for it in files {
            *counts.entry(it.device).or_default() += 1;
        }
        counts.retain(|_, n| *n >= MIN_FILES);
        let open = |device: &Device| {
            let known = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(device)?.try_clone().ok()
        };
        let is_settled = |it: &Device| open(it).is_some_and(|it| rustix::fs::syncfs(it).is_ok());
        counts.into_keys().filter(is_settled).collect()
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::whole;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Device, device};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::fs::{File, Metadata};
    use std::io;

    use super::Settling;

    /// All file systems count as one.
    pub(crate) type Device = ();

    #[expect(clippy::unnecessary_wraps, reason = "it may fail on Linux")]
    pub(crate) fn device(_: &File, _: &Metadata) -> io::Result<Device> {
        Ok(())
    }

    pub(super) fn whole(_: &[UnsettledFile]) -> [Device; 0] {
        []
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;

    use super::*;

    #[test]
    fn reports_missing_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            let mut file = File::create(&path).expect("a file");
            let metadata = file.metadata().expect("it is open");
            let device = device(&file, &metadata).expect("its file system");
            file.write_all(b"text").expect("room");
            UnsettledFile { path, device }
        };
        let (here, gone) = (file("a"), file("b"));
        fs::remove_file(&gone.path).expect("it is there");
        let settled: Vec<bool> = settle(&[here, gone]).iter().map(Result::is_ok).collect();
        assert_eq!(settled, [true, false]);
        let many: Vec<UnsettledFile> = (0..20).map(|it| file(&it.to_string())).collect();
        assert!(settle(&many).iter().all(Result::is_ok));
    }
}
