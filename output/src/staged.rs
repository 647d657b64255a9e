//! A file that is written beside the one whose place it takes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempPath;

/// The temporary files that are there now.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The exit code of a process that a signal ended, by the custom of shells.
const INTERRUPTED: i32 = 130;

/// From now on, a signal that ends the process takes its temporary files along.
pub fn clean_up_on_signals() {
    let handler = || {
        let files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        for it in &*files {
            // There is nobody left to tell.
            let _ = fs::remove_file(it);
        }
        std::process::exit(INTERRUPTED);
    };
    // Where no handler can be set the files stay, and nothing else is wrong.
    let _ = ctrlc::set_handler(handler);
}

/// Does something that the handler of signals waits for: the process does not end in the middle of it. No temporary file may be made or
/// dropped meanwhile.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove::<Path>(&self.0);
    }
}

/// A file that is being written, beside the one whose place it takes in the end. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct Staged {
    /// What is written to.
    pub file: BufWriter<File>,
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
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, temporary) = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?.into_parts();
        files.insert(temporary.to_path_buf());
        drop(files);
        let staged = Self { file: BufWriter::new(file), temporary: Temporary(temporary), path };
        if let Some(it) = old {
            staged.file.get_ref().set_permissions(it.permissions())?;
        }
        Ok(staged)
    }

    /// The file, closed, and the path whose place it may take.
    ///
    /// # Errors
    ///
    /// When the last of it cannot be written.
    pub fn close(self) -> io::Result<(Temporary, PathBuf)> {
        let Self { mut file, temporary, path } = self;
        file.flush()?;
        Ok((temporary, path))
    }

    /// Takes the place of the other file, all of it on the disk.
    ///
    /// # Errors
    ///
    /// When that cannot be; the other file is then as it was.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        self.temporary.take_place(&self.path)
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

/// Whether a file would lose other names or its owner if another took its place.
#[cfg(unix)]
pub fn is_other_when_replaced(old: &fs::Metadata, new: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    old.nlink() > 1 || (old.uid(), old.gid()) != (new.uid(), new.gid())
}

#[cfg(not(unix))]
/// Whether a file would lose other names or its owner if another took its place.
pub fn is_other_when_replaced(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}
