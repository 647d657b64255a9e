//! A file that is written beside its target and then takes its place.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use tempfile::TempPath;

use crate::reason;
use crate::shown::shown_path;

/// The temporary files that currently exist.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Held during operations that a signal must not interrupt.
static BUSY: RwLock<()> = RwLock::new(());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The exit code after a signal, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// Removes the temporary files when a signal ends the process, from now on.
pub fn clean_up_on_signals() {
    let handler = || {
        let _idle = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        for it in &*temporary() {
            // There is no user to whom an error could be shown.
            let _ = fs::remove_file(it);
        }
        std::process::exit(INTERRUPTED);
    };
    // Without a handler the files stay, and nothing else is wrong.
    #[cfg(target_family = "wasm")]
    let _ = handler;
    #[cfg(not(target_family = "wasm"))]
    let _ = ctrlc::set_handler(handler);
}

/// Runs an operation that a signal must not interrupt.
fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _busy = BUSY.read().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// A temporary file that is known to the signal handler. Dropping it removes the file.
#[derive(Debug)]
pub struct Temporary(TempPath);

impl Temporary {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes its content into another file with content `old`. Signals wait for the end.
    ///
    /// # Errors
    ///
    /// If that fails. The other file keeps its content; if that could not be restored either, this
    /// file stays, and the error names it.
    pub fn overwrite(&mut self, file: &mut File, old: &[u8]) -> io::Result<()> {
        let new = fs::read(self.path())?;
        let done = undisturbed(|| overwrite(file, old, &new));
        done.map_err(|(why, is_torn)| {
            if !is_torn {
                return why;
            }
            self.0.disable_cleanup(true);
            let place = shown_path(self.path());
            let told =
                format!("{}; the file is damaged, and its new text is in {place}", reason(&why));
            io::Error::new(why.kind(), told)
        })
    }

    /// Moves it to the path of another file.
    ///
    /// # Errors
    ///
    /// If it cannot be moved. Dropping it removes it.
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

/// A file under construction beside its target. Dropping it before the end leaves nothing behind.
#[derive(Debug)]
pub struct Staged {
    /// The open file.
    pub file: BufWriter<File>,
    /// True if replacing the target would change its identity: then its content is overwritten
    /// instead.
    pub in_place: bool,
    temporary: Temporary,
    path: PathBuf,
}

impl Staged {
    /// Starts a file for a path that is no link.
    ///
    /// # Errors
    ///
    /// If nothing can be added beside it.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let old = fs::metadata(&path).ok();
        Self::of(path, old.as_ref())
    }

    /// Starts a file for a path that is no link, which replaces an existing file.
    ///
    /// # Errors
    ///
    /// If nothing can be added beside it.
    pub fn of(path: PathBuf, old: Option<&fs::Metadata>) -> io::Result<Self> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".noisy-").suffix(".tmp");
        if old.is_none() {
            allow_the_usual(&mut builder);
        }
        // No signal comes between creating the file and listing it.
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

    /// Closes the file and returns it with the path of its target.
    ///
    /// # Errors
    ///
    /// If the last part cannot be written.
    pub fn close(self) -> io::Result<(Temporary, PathBuf)> {
        let Self { mut file, temporary, path, .. } = self;
        file.flush()?;
        Ok((temporary, path))
    }

    /// Takes the place of the target or overwrites its content. All of it is then on the disk.
    ///
    /// # Errors
    ///
    /// If that fails; the target is then unchanged, or the error says where the new text is.
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

/// Gives a temporary file the permissions of a new file: everything that the mask of the process
/// allows.
#[cfg(unix)]
fn allow_the_usual(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn allow_the_usual(_: &mut tempfile::Builder<'_, '_>) {}

/// Writes a file that can be regenerated at any time: readers see all of it or the previous
/// content, but the caller does not wait for the disk.
///
/// # Errors
///
/// If it cannot be written.
pub fn remake(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut staged = Staged::new(path.to_owned())?;
    staged.file.write_all(text)?;
    let (mut temporary, path) = staged.close()?;
    temporary.take_place(&path)
}

/// A file whose content is overwritten in place.
trait Target: Write + Seek {
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Waits until the content is on the disk.
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

/// Overwrites a regular file, which is open for writing. It then has the new content or, after an
/// error, the old one. The second part of the error is true if the old content could not be
/// restored. Only a loss of power in this moment can leave a part of it.
fn overwrite(file: &mut impl Target, old: &[u8], new: &[u8]) -> Result<(), (io::Error, bool)> {
    let mut put = |bytes: &[u8], other: &[u8]| {
        let n_shared = bytes.len().min(other.len());
        // Operations that need space come first: if they fail nothing is lost.
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

/// Returns true if replacing a file would lose other names, its owner, or further metadata (access
/// lists and other extended attributes; on Linux).
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

    /// Larger attributes, in bytes, are not compared.
    const MOST: usize = 4096;

    /// Returns true if a new file has all extended attributes of another one; `false` if that is
    /// unknown.
    pub(super) fn are_equal(old: &Path, new: &File) -> bool {
        let mut names = [0_u8; MOST];
        let names = match llistxattr(old, &mut names) {
            Ok(n) => &names[..n],
            // The file system has no extended attributes.
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

    /// A file of which one call fails after half of its work.
    struct Failing {
        bytes: Cursor<Vec<u8>>,
        /// The number of calls that succeed before that.
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
    fn restores_a_file_that_cannot_be_overwritten() {
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
