//! A common type for streams and files that are written.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::reason;
use crate::shown::shown_path;
use crate::staged::StagedFile;

/// The destination of output. A file keeps its old content until all output is written.
pub enum Output {
    /// A stream.
    Stream(Box<dyn Write + Send>),
    /// A path that is not a regular file, or is in a folder where no files can be created.
    InPlace(BufWriter<File>, PathBuf),
    /// A file, with its path as the caller gave it.
    Staged(Box<StagedFile>, PathBuf),
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(_) => f.write_str("Stream"),
            Self::InPlace(_, path) | Self::Staged(_, path) => {
                f.debug_tuple("File").field(path).finish()
            }
        }
    }
}

impl Output {
    /// Opens a file, which may exist. If the path names an open stream, such as `/dev/stdout`,
    /// output is appended to that stream.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let given = path;
        let path = &follow_links(path);
        match descriptor(path) {
            Some(1) => return Ok(Self::Stream(Box::new(BufWriter::new(io::stdout())))),
            Some(2) => return Ok(Self::Stream(Box::new(io::stderr()))),
            Some(_) => {
                let file = OpenOptions::new().append(true).open(path)?;
                return Ok(Self::InPlace(BufWriter::new(file), given.to_owned()));
            }
            None => {}
        }
        let open = |truncate: bool| OpenOptions::new().write(true).truncate(truncate).open(path);
        let is_there = match fs::metadata(path) {
            Ok(it) if !it.is_file() => {
                return Ok(Self::InPlace(BufWriter::new(open(false)?), given.to_owned()));
            }
            it => it.is_ok(),
        };
        if is_there {
            // Checks that the file can be written.
            open(false)?;
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        match StagedFile::new(target) {
            Ok(it) => Ok(Self::Staged(Box::new(it), given.to_owned())),
            Err(_) if is_there => Ok(Self::InPlace(BufWriter::new(open(true)?), given.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Completes the output.
    ///
    /// # Errors
    ///
    /// If some of the output could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        match self {
            Self::Staged(it, path) => it.commit().map_err(|error| error_with_path(&path, &error)),
            Self::Stream(_) | Self::InPlace(..) => Ok(()),
        }
    }
}

/// Checks that an output file is not one of the input files, even under another name.
///
/// # Errors
///
/// The error names the file.
pub fn check_not_an_input<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), String> {
    let Some(it) = identity(output) else { return Ok(()) };
    match inputs.into_iter().find(|input| identity(input).as_ref() == Some(&it)) {
        None => Ok(()),
        Some(input) => {
            let input = shown_path(input);
            Err(format!("{input}: this is an input file; choose another file to write to"))
        }
    }
}

/// Returns the identity of a file, which is the same under all its names. `None` if it does not
/// exist.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns the identity of a file. `None` if it does not exist.
#[cfg(not(unix))]
pub fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Follows links until a path names an open stream. Such a path is not followed, because its target
/// is already open.
fn follow_links(path: &Path) -> PathBuf {
    /// Maximum number of links to follow; no system follows more.
    const LINKS: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        if descriptor(&at).is_some() {
            return at;
        }
        let Ok(to) = fs::read_link(&at) else { return at };
        at = at.parent().map_or_else(|| to.clone(), |it| it.join(&to));
    }
    at
}

/// Returns true if a path is the name of an open stream, such as `/dev/stdin`, or a link to one.
pub fn is_stream(path: &Path) -> bool {
    descriptor(&follow_links(path)).is_some()
}

/// Returns the number of the open stream that a path names.
fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|it| path.strip_prefix(it))
            .and_then(|it| it.parse().ok()),
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(it) => it.write(bytes),
            Self::InPlace(it, path) => {
                it.write(bytes).map_err(|error| error_with_path(path, &error))
            }
            Self::Staged(it, path) => {
                it.file.write(bytes).map_err(|error| error_with_path(path, &error))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(it) => it.flush(),
            Self::InPlace(it, path) => it.flush().map_err(|error| error_with_path(path, &error)),
            Self::Staged(it, path) => {
                it.file.flush().map_err(|error| error_with_path(path, &error))
            }
        }
    }
}

/// Adds the name of a file to an error.
fn error_with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", shown_path(path), reason(error)))
}
