//! A file that is written beside its target and then replaces it.

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
/// Locked for reading during operations that a signal must not interrupt.
static BUSY: RwLock<()> = RwLock::new(());

fn temporary() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The exit code after a signal, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// Removes the temporary files when a signal ends the process. Takes effect when called.
pub fn clean_up_on_signals() {
    let handler = || {
        let _idle = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        for it in &*temporary() {
            // An error cannot be shown to anyone at this point.
            let _ = fs::remove_file(it);
        }
        std::process::exit(INTERRUPTED);
    };
    // Without a handler, the files remain after an interruption; everything else works.
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

/// A temporary file that the signal handler removes. Dropping it also removes the file.
#[derive(Debug)]
pub struct TemporaryFile(TempPath);

impl TemporaryFile {
    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes its content to another file, which has the content `old`. Signals are handled
    /// afterwards.
    ///
    /// # Errors
    ///
    /// If writing fails. The other file keeps its content. If its content could not be restored,
    /// the temporary file is kept, and the error names it.
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

    /// Moves it to the path of another file, which it replaces.
    ///
    /// # Errors
    ///
    /// If it cannot be moved. It is then removed when it is dropped.
    pub fn take_place(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0.disable_cleanup(true);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        temporary().remove::<Path>(&self.0);
    }
}

/// A file that is being written beside its target. Dropping it before the end removes it.
#[derive(Debug)]
pub struct StagedFile {
    /// The open file.
    pub file: BufWriter<File>,
    /// True if replacing the target would change its identity, so its content is overwritten.
    pub is_in_place: bool,
    temporary: TemporaryFile,
    path: PathBuf,
}

impl StagedFile {
    /// Starts a file for a path that is not a link.
    ///
    /// # Errors
    ///
    /// If no file can be created beside the path.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let old = fs::metadata(&path).ok();
        Self::replacing(path, old.as_ref())
    }

    /// Starts a file for a path that is not a link. `old` is the file that it replaces.
    ///
    /// # Errors
    ///
    /// If no file can be created beside the path.
    pub fn replacing(path: PathBuf, old: Option<&fs::Metadata>) -> io::Result<Self> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".noisy-").suffix(".tmp");
        if old.is_none() {
            allow_the_usual(&mut builder);
        }
        // A signal must not arrive between the creation of the file and its registration.
        let made = undisturbed(|| {
            let made = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?.into_parts();
            temporary().insert(made.1.to_path_buf());
            Ok::<_, io::Error>(made)
        });
        let (file, temporary) = made?;
        let temporary = TemporaryFile(temporary);
        let mut in_place = false;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
            in_place = has_identity_to_lose(&path, old, &file)?;
        }
        Ok(Self { file: BufWriter::new(file), is_in_place: in_place, temporary, path })
    }

    /// Closes the file and returns it with the path of its target.
    ///
    /// # Errors
    ///
    /// If the buffered content cannot be written.
    pub fn close(self) -> io::Result<(TemporaryFile, PathBuf)> {
        let Self { mut file, temporary, path, .. } = self;
        file.flush()?;
        Ok((temporary, path))
    }

    /// Replaces the target or overwrites its content, and waits until the content is on the disk.
    ///
    /// # Errors
    ///
    /// If writing fails. The target is then unchanged, or the error states where the new text is.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if !self.is_in_place {
            return self.temporary.take_place(&self.path);
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut old = Vec::new();
        file.read_to_end(&mut old)?;
        self.temporary.overwrite(&mut file, &old)
    }
}

/// Gives a temporary file the permissions of a new file: all that the umask allows.
#[cfg(unix)]
fn allow_the_usual(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn allow_the_usual(_: &mut tempfile::Builder<'_, '_>) {}

/// Writes a file that can be regenerated at any time. Readers see either the complete file or the
/// previous content. The caller does not wait for the disk.
///
/// # Errors
///
/// If it cannot be written.
pub fn replace_without_sync(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut staged = StagedFile::new(path.to_owned())?;
    staged.file.write_all(text)?;
    let (mut temporary, path) = staged.close()?;
    temporary.take_place(&path)
}

/// A file with content that is overwritten in place.
trait OverwritableFile: Write + Seek {
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Waits until the content is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl OverwritableFile for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Overwrites a regular file, which is open for writing. Afterwards it has the new content or, if
/// an error is returned, the old content. The boolean of the error is true if the old content could
/// not be restored. Only a power failure at this moment can leave mixed content.
fn overwrite(
    file: &mut impl OverwritableFile,
    old: &[u8],
    new: &[u8],
) -> Result<(), (io::Error, bool)> {
    let mut put = |bytes: &[u8], other: &[u8]| {
        let n_shared = bytes.len().min(other.len());
        // Operations that need disk space come first: if they fail, nothing is lost.
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

/// Returns true if replacing a file would lose other names (hard links), its owner, or, on Linux,
/// extended attributes such as access lists.
fn has_identity_to_lose(path: &Path, old: &fs::Metadata, new: &File) -> io::Result<bool> {
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

    /// Maximum size in bytes of attributes that are compared.
    const MAX_ATTRIBUTE_LEN: usize = 4096;

    /// Returns true if a new file has all extended attributes of another file, and false if that is
    /// unknown.
    pub(super) fn are_equal(old: &Path, new: &File) -> bool {
        let mut names = [0_u8; MAX_ATTRIBUTE_LEN];
        let names = match llistxattr(old, &mut names) {
            Ok(n) => &names[..n],
            // The file system does not support extended attributes.
            Err(Errno::NOTSUP) => return true,
            Err(_) => return false,
        };
        names.split(|&it| it == 0).filter(|it| !it.is_empty()).all(|name| {
            let (mut a, mut b) = ([0_u8; MAX_ATTRIBUTE_LEN], [0_u8; MAX_ATTRIBUTE_LEN]);
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

    /// A file with one call that fails after half of its work.
    struct Failing {
        bytes: Cursor<Vec<u8>>,
        /// Number of calls that succeed before the failing one.
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

    impl OverwritableFile for Failing {
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
