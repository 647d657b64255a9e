//! A file that is written beside the one whose place it takes.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use tempfile::TempPath;

use crate::reason;
use crate::shown::shown_path;

/// The temporary files that are there now.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Held by all who do what the handler of signals waits for.
static BUSY: RwLock<()> = RwLock::new(());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The exit code of a process that a signal ended, by the custom of shells.
const INTERRUPTED: i32 = 130;

/// From now on, a signal that ends the process takes its temporary files along.
pub fn clean_up_on_signals() {
    let handler = || {
        let _idle = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        for it in &*temporary() {
            // There is nobody left to tell.
            let _ = fs::remove_file(it);
        }
        std::process::exit(INTERRUPTED);
    };
    // Where no handler can be set the files stay, and nothing else is wrong.
    let _ = ctrlc::set_handler(handler);
}

/// Does something that the handler of signals waits for: the process does not end in the middle of it.
fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _busy = BUSY.read().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// A temporary file that is known to the handler of signals; dropped, it is removed if it is still there.
#[derive(Debug)]
pub struct Temporary(TempPath);

impl Temporary {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Puts what it holds into another file, which has `old`; signals wait for it.
    ///
    /// # Errors
    ///
    /// When that cannot be. The other file has what it had; if that could not be brought back either, this one stays, and the error names it.
    pub fn overwrite(&mut self, file: &mut File, old: &[u8]) -> io::Result<()> {
        let new = fs::read(self.path())?;
        let done = undisturbed(|| overwrite(file, old, &new));
        done.map_err(|(why, is_torn)| {
            if !is_torn {
                return why;
            }
            self.0.disable_cleanup(true);
            let place = shown_path(self.path());
            let told = format!("{}; the file is damaged, its new text is in {place}", reason(&why));
            io::Error::new(why.kind(), told)
        })
    }

    /// Gives it the place of another file.
    ///
    /// # Errors
    ///
    /// When it cannot be moved there; it is removed when dropped.
    pub fn take_place(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0.disable_cleanup(true);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporary().remove::<Path>(&self.0);
    }
}

/// A file that is being written, beside the one whose place it takes in the end. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct Staged {
    /// What is written to.
    pub file: BufWriter<File>,
    /// It would be another file if this one took its place: what it holds is replaced instead.
    pub in_place: bool,
    temporary: Temporary,
    path: PathBuf,
}

impl Staged {
    /// Starts one for a path that is no link.
    ///
    /// # Errors
    ///
    /// When nothing can be added beside it.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let old = fs::metadata(&path).ok();
        Self::of(path, old.as_ref())
    }

    /// Starts one for a path that is no link, in the place of what is there.
    ///
    /// # Errors
    ///
    /// When nothing can be added beside it.
    pub fn of(path: PathBuf, old: Option<&fs::Metadata>) -> io::Result<Self> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".noisy-").suffix(".tmp");
        if old.is_none() {
            allow_the_usual(&mut builder);
        }
        // No signal comes between the file and the list.
        let made = undisturbed(|| {
            let made = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?.into_parts();
            temporary().insert(made.1.to_path_buf());
            Ok::<_, io::Error>(made)
        });
        let (file, temporary) = made?;
        let temporary = Temporary(temporary);
        let mut in_place = false;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
            in_place = is_other_when_replaced(&path, old, &file)?;
        }
        Ok(Self { file: BufWriter::new(file), in_place, temporary, path })
    }

    /// The file, closed, and the path whose place it may take.
    ///
    /// # Errors
    ///
    /// When the last of it cannot be written.
    pub fn close(self) -> io::Result<(Temporary, PathBuf)> {
        let Self { mut file, temporary, path, .. } = self;
        file.flush()?;
        Ok((temporary, path))
    }

    /// Takes the place of the other file, or replaces what that holds; all of it is on the disk then.
    ///
    /// # Errors
    ///
    /// When that cannot be; the other file is then as it was, or the error says where the new text is.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if !self.in_place {
            return self.temporary.take_place(&self.path);
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut old = Vec::new();
        file.read_to_end(&mut old)?;
        self.temporary.overwrite(&mut file, &old)
    }
}

/// Gives a temporary file what a new file has: all that the mask of the process lets through.
#[cfg(unix)]
fn allow_the_usual(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn allow_the_usual(_: &mut tempfile::Builder<'_, '_>) {}

/// Writes a file that can be made again at any time: readers see all of it or what was there before, but nobody waits for the disk.
///
/// # Errors
///
/// When it cannot be written.
pub fn remake(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut staged = Staged::new(path.to_owned())?;
    staged.file.write_all(text)?;
    let (mut temporary, path) = staged.close()?;
    temporary.take_place(&path)
}

/// What is written over in place.
trait Target: Write + Seek {
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// What was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Target for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Puts other bytes into a regular file, which is open for writing: it has the new ones then, or, where that fails, the old ones, unless the
/// second part of the error says that these could not be brought back. Only a loss of power in this moment can leave a part besides.
fn overwrite(file: &mut impl Target, old: &[u8], new: &[u8]) -> Result<(), (io::Error, bool)> {
    let mut put = |bytes: &[u8], other: &[u8]| {
        let n_shared = bytes.len().min(other.len());
        // What needs room comes first: while it fails nothing is lost.
        file.seek(SeekFrom::Start(n_shared as u64))?;
        file.write_all(&bytes[n_shared..])?;
        file.sync()?;
        file.rewind()?;
        file.write_all(&bytes[..n_shared])?;
        file.cut(bytes.len() as u64)?;
        file.sync()
    };
    put(new, old).map_err(|why| (why, put(old, new).is_err()))
}

/// Whether a file would lose other names, its owner, or what is said of it besides (access lists and other extended attributes; on Linux) if
/// another took its place.
fn is_other_when_replaced(path: &Path, old: &fs::Metadata, new: &File) -> io::Result<bool> {
    Ok(has_other_names_or_owner(old, &new.metadata()?) || !attributes::are_equal(path, new))
}

#[cfg(unix)]
fn has_other_names_or_owner(old: &fs::Metadata, new: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    old.nlink() > 1 || (old.uid(), old.gid()) != (new.uid(), new.gid())
}

#[cfg(not(unix))]
fn has_other_names_or_owner(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod attributes {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{fgetxattr, lgetxattr, llistxattr};
    use rustix::io::Errno;

    /// More than that is not compared, in bytes.
    const MOST: usize = 4096;

    /// Whether a new file has all the extended attributes that one has. `false` where that cannot be told.
    pub(super) fn are_equal(old: &Path, new: &File) -> bool {
        let mut names = [0_u8; MOST];
        let names = match llistxattr(old, &mut names) {
            Ok(n) => &names[..n],
            // A file system without any.
            Err(Errno::NOTSUP) => return true,
            Err(_) => return false,
        };
        names.split(|&it| it == 0).filter(|it| !it.is_empty()).all(|name| {
            let (mut a, mut b) = ([0_u8; MOST], [0_u8; MOST]);
            match (lgetxattr(old, name, &mut a), fgetxattr(new, name, &mut b)) {
                (Ok(n), Ok(m)) => a[..n] == b[..m],
                _ => false,
            }
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod attributes {
    pub(super) fn are_equal(_: &std::path::Path, _: &std::fs::File) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A file of which one call fails, after it has done half of what it was to do.
    struct Failing {
        bytes: Cursor<Vec<u8>>,
        /// So many calls go well before that.
        n_good: usize,
    }

    impl Failing {
        fn call(&mut self) -> io::Result<()> {
            let is_bad = self.n_good == 0;
            self.n_good = self.n_good.wrapping_sub(1);
            if is_bad { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let call = self.call();
            let n = if call.is_ok() { bytes.len() } else { bytes.len() / 2 };
            let n = self.bytes.write(&bytes[..n])?;
            call.map(|()| n)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Failing {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.bytes.seek(to)
        }
    }

    impl Target for Failing {
        fn cut(&mut self, len: u64) -> io::Result<()> {
            self.call()?;
            self.bytes.get_mut().resize(len as usize, 0);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            self.call()
        }
    }

    #[test]
    fn where_a_file_cannot_be_written_over_it_has_what_it_had() {
        let texts: [&[u8]; 3] = [b"short", b"something that is longer", b""];
        for (old, new) in texts.iter().flat_map(|old| texts.map(|new| (*old, new))) {
            let mut n_failed = 0;
            for n_good in 0..8 {
                let mut file = Failing { bytes: Cursor::new(old.to_vec()), n_good };
                let is_done = match overwrite(&mut file, old, new) {
                    Ok(()) => true,
                    Err((_, is_torn)) => {
                        assert!(!is_torn, "only one call fails");
                        n_failed += 1;
                        false
                    }
                };
                let wanted = if is_done { new } else { old };
                assert_eq!(file.bytes.get_ref(), wanted, "{n_good}");
            }
            assert!(n_failed >= 3, "{n_failed}");
        }
    }
}
