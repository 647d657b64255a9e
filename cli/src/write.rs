//! Writing files: all of it or nothing, permissions kept, and not over somebody else's change.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::check::real;
use crate::walk::reason;

/// A file that is being written, beside the one whose place it takes in the end. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Staged {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Staged {
    /// Starts one for a path behind which there is no link.
    fn new(path: PathBuf) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = BufWriter::new(File::create_new(&temporary)?);
        let staged = Self { file, temporary, path };
        if let Ok(metadata) = fs::metadata(&staged.path) {
            staged.file.get_ref().set_permissions(metadata.permissions())?;
        }
        Ok(staged)
    }

    /// All of it on the disk.
    fn settle(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Takes the place of the other file.
    fn commit(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // It is not there any more if it took its place.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Replaces the text of a file if it still is `before`.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> Result<(), String> {
    // A link stays a link.
    let path = real(path).map_err(|it| reason(&it))?;
    let metadata = fs::metadata(&path).map_err(|it| reason(&it))?;
    if metadata.permissions().readonly() {
        return Err("the file is read-only".to_owned());
    }
    let written = (|| {
        let mut staged = Staged::new(path.clone())?;
        staged.file.write_all(after.as_bytes())?;
        staged.settle()?;
        // As late as can be.
        if fs::read(&path)? != before.as_bytes() {
            return Ok(false);
        }
        staged.commit()?;
        Ok(true)
    })();
    match written {
        Ok(true) => Ok(()),
        Ok(false) => Err("the file was changed meanwhile".to_owned()),
        Err(error) => {
            let error: io::Error = error;
            Err(reason(&error))
        }
    }
}

/// Where the output goes. A file keeps what it had until all is written.
pub(crate) enum Output {
    /// A stream.
    Stream(Box<dyn Write>),
    /// What is no regular file, or stands in a folder where nothing can be added; with its path.
    InPlace(BufWriter<File>, PathBuf),
    /// A file, with its path as it was given.
    Staged(Box<Staged>, PathBuf),
}

impl Output {
    /// To a file, which may be there.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn to_file(path: &Path) -> io::Result<Self> {
        let target = real(path).unwrap_or_else(|_| path.to_owned());
        let open =
            |truncate: bool| fs::OpenOptions::new().write(true).truncate(truncate).open(path);
        let is_there = match fs::metadata(&target) {
            Ok(it) if !it.is_file() => {
                return Ok(Self::InPlace(BufWriter::new(open(false)?), path.to_owned()));
            }
            it => it.is_ok(),
        };
        if is_there {
            // It may be written.
            open(false)?;
        }
        match Staged::new(target) {
            Ok(it) => Ok(Self::Staged(Box::new(it), path.to_owned())),
            Err(_) if is_there => Ok(Self::InPlace(BufWriter::new(open(true)?), path.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// All is written.
    ///
    /// # Errors
    ///
    /// When something of it could not be written after all.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        match &mut self {
            Self::Staged(it, path) => {
                it.settle().and_then(|()| it.commit()).map_err(|error| named(path, &error))
            }
            Self::Stream(_) | Self::InPlace(..) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(it) => it.write(bytes),
            Self::InPlace(it, path) => it.write(bytes).map_err(|error| named(path, &error)),
            Self::Staged(it, path) => it.file.write(bytes).map_err(|error| named(path, &error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(it) => it.flush(),
            Self::InPlace(it, path) => it.flush().map_err(|error| named(path, &error)),
            Self::Staged(it, path) => it.file.flush().map_err(|error| named(path, &error)),
        }
    }
}

/// An error with the file that it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", path.display(), reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changed_meanwhile_is_kept() {
        let directory = std::env::temp_dir().join(format!("noisy-write-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap_or_default();
        let path = directory.join("a.mlir");
        fs::write(&path, "new").unwrap_or_default();
        assert!(replace(&path, "old", "mended").is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("new"));
        assert_eq!(replace(&path, "new", "mended"), Ok(()));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("mended"));
        assert_eq!(
            fs::read_dir(&directory).map(Iterator::count).ok(),
            Some(1),
            "nothing is left behind"
        );
        let _ = fs::remove_dir_all(&directory);
    }
}
