//! Writing files: all of it or nothing, and not over somebody else's change.
//!
//! A file is written beside the one whose place it takes in the end, under a random name that goes away with the process, also when
//! that is interrupted. Where taking its place would change what the file is (it has other names, or belongs to somebody else), it is
//! written in place instead, while the new text stands complete beside it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tempfile::TempPath;

use crate::settle::{self, Device, Settling};
use crate::walk::reason;

/// The temporary files that are there now.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The exit code of a process that a signal ended, by the custom of shells.
const INTERRUPTED: i32 = 130;

/// From now on, a signal that ends the process takes its temporary files along.
pub(crate) fn clean_up_on_signals() {
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

/// A temporary file that is known to the handler of signals; dropped, it is removed if it is still there.
#[derive(Debug)]
struct Temporary(TempPath);

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove::<Path>(&self.0);
    }
}

/// A file that is being written, beside the one whose place it takes in the end. Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Staged {
    file: BufWriter<File>,
    temporary: Temporary,
    path: PathBuf,
}

impl Staged {
    /// Starts one for a path that is no link.
    fn new(path: PathBuf) -> io::Result<Self> {
        let old = fs::metadata(&path).ok();
        Self::of(path, old.as_ref())
    }

    /// Starts one for a path that is no link, in the place of what is there.
    fn of(path: PathBuf, old: Option<&fs::Metadata>) -> io::Result<Self> {
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

    /// All of it on the disk.
    fn settle(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Takes the place of the other file.
    fn commit(&self) -> io::Result<()> {
        fs::rename(&self.temporary.0, &self.path)
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
pub(crate) fn remake(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut staged = Staged::new(path.to_owned())?;
    staged.file.write_all(text)?;
    staged.file.flush()?;
    staged.commit()
}

/// A new text of a file: complete in a temporary file beside it, which is closed.
#[derive(Debug)]
pub(crate) struct Replacement {
    temporary: Temporary,
    path: PathBuf,
    /// The SHA-256 of what the file held, and how many bytes these are.
    before: [u8; 32],
    n_bytes: usize,
    /// It would be another file if the new one took its place.
    in_place: bool,
    device: Device,
}

impl Replacement {
    /// Prepares one. Links, other names, owner and permissions of the file stay.
    ///
    /// # Errors
    ///
    /// When there is no such file, or none can be written beside it.
    pub(crate) fn new(path: &Path, before: &str, after: &str) -> Result<Self, String> {
        let prepared = || {
            let (mut path, mut metadata) = (path.to_owned(), fs::symlink_metadata(path)?);
            if metadata.is_symlink() {
                // It stays a link.
                path = fs::canonicalize(path)?;
                metadata = fs::metadata(&path)?;
            }
            if metadata.permissions().readonly() {
                return Err(io::Error::other("the file is read-only"));
            }
            let mut staged = Staged::of(path, Some(&metadata))?;
            let new = staged.file.get_ref().metadata()?;
            let device = settle::device(staged.file.get_ref(), &new)?;
            staged.file.write_all(after.as_bytes())?;
            staged.file.flush()?;
            let in_place = is_other_when_replaced(&metadata, &new);
            let Staged { temporary, path, .. } = staged;
            Ok(Self {
                temporary,
                path,
                before: Sha256::digest(before).into(),
                n_bytes: before.len(),
                in_place,
                device,
            })
        };
        prepared().map_err(|it| reason(&it))
    }

    /// Puts the text into the file if that still is as it was.
    fn commit(mut self) -> Result<(), String> {
        let mut committed = || {
            // As late as can be.
            let now = fs::read(&self.path)?;
            if now.len() != self.n_bytes || <[u8; 32]>::from(Sha256::digest(now)) != self.before {
                return Err(io::Error::other("the file was changed by another program meanwhile"));
            }
            if !self.in_place {
                fs::rename(&self.temporary.0, &self.path)?;
                self.temporary.0.disable_cleanup(true);
                return Ok(());
            }
            let after = fs::read(&self.temporary.0)?;
            // The handler of signals waits for this, too: it would end the process in the middle.
            let _whole = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
            let mut file = OpenOptions::new().write(true).truncate(true).open(&self.path)?;
            file.write_all(&after)?;
            file.sync_all()
        };
        committed().map_err(|it: io::Error| reason(&it))
    }
}

/// Things that come in an order, some with a file to replace. Replacements wait for each other and go to the disk together, which takes a
/// tenth of the time, on a thread of its own while the next ones come. The order stays.
#[derive(Debug)]
pub(crate) struct GroupCommit<T> {
    waiting: Vec<(T, Option<Replacement>)>,
    /// Of the texts that wait, before their change.
    n_bytes: usize,
    /// When the first came.
    since: Instant,
    /// So many make a group, those without a file counted.
    most: usize,
    /// Those before, on their way to the disk.
    ahead: Option<Ahead<T>>,
}

/// Replacements of things, each if it has one.
type Files = Vec<Option<Replacement>>;
type Written = Vec<Result<(), String>>;

/// What is on its way to the disk.
#[derive(Debug)]
struct Ahead<T> {
    things: Vec<T>,
    /// Empty once a thread has them.
    files: Arc<Mutex<Files>>,
    /// Nothing if no thread could be started.
    written: Option<JoinHandle<Written>>,
}

impl<T> Ahead<T> {
    fn new(things: Vec<(T, Option<Replacement>)>) -> Self {
        let (things, files): (Vec<T>, Files) = things.into_iter().unzip();
        let files = Arc::new(Mutex::new(files));
        let its = files.clone();
        let written = thread::Builder::new().spawn(move || write(&its)).ok();
        Self { things, files, written }
    }

    fn is_written(&self) -> bool {
        self.written.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Waits for it.
    fn done(self) -> Vec<(T, Result<(), String>)> {
        let written = match self.written {
            Some(it) => it.join().unwrap_or_default(),
            None => write(&self.files),
        };
        let lost = || Err("an internal error".to_owned());
        let written = written.into_iter().chain(iter::repeat_with(lost));
        self.things.into_iter().zip(written).collect()
    }
}

/// Takes the files to the disk, and then to their places.
fn write(files: &Mutex<Files>) -> Written {
    let files = std::mem::take(&mut *files.lock().unwrap_or_else(PoisonError::into_inner));
    let settling =
        |it: &Replacement| Settling { path: it.temporary.0.to_path_buf(), device: it.device };
    let all: Vec<Settling> = files.iter().flatten().map(settling).collect();
    // All are settled before the first takes its place.
    let mut settled = settle::settle(&all).into_iter();
    let written = files.into_iter().map(|file| {
        let Some(file) = file else { return Ok(()) };
        let settled = settled.next().unwrap_or_else(|| Err(io::ErrorKind::Other.into()));
        settled.map_err(|why| reason(&why)).and_then(|()| file.commit())
    });
    written.collect()
}

impl<T> GroupCommit<T> {
    const MOST: usize = 1024;
    /// So many bytes make a group.
    const MOST_BYTES: usize = 32 << 20;
    /// What makes so many groups waits at most.
    const GROUPS: usize = 4;
    /// What has waited for so long is a group, if others come.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// One in which nothing waits.
    pub(crate) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            n_bytes: 0,
            since: Instant::now(),
            most: Self::MOST,
            ahead: None,
        }
    }

    /// Adds one; those that are done, each with what became of its file.
    pub(crate) fn push(
        &mut self,
        it: T,
        file: Option<Replacement>,
    ) -> Vec<(T, Result<(), String>)> {
        let done = self.ahead.take_if(|it| it.is_written());
        let mut done = done.map_or_else(Vec::new, Ahead::done);
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        self.n_bytes += file.as_ref().map_or(0, |it| it.n_bytes);
        self.waiting.push((it, file));
        let is_full = |groups: usize| {
            self.waiting.len() >= groups * self.most || self.n_bytes >= groups * Self::MOST_BYTES
        };
        // While a group is on its way the next grows: nobody waits for the disk.
        let is_turn = match self.ahead {
            None => is_full(1) || self.since.elapsed() >= Self::PATIENCE,
            Some(_) => is_full(Self::GROUPS),
        };
        if is_turn {
            done.extend(self.turn());
        }
        if self.ahead.is_none() {
            // Nothing waits for nothing.
            let n = self.waiting.iter().take_while(|it| it.1.is_none()).count();
            done.extend(self.waiting.drain(..n).map(|it| (it.0, Ok(()))));
        }
        done
    }

    /// Sends on what waits, when those before are done.
    fn turn(&mut self) -> Vec<(T, Result<(), String>)> {
        let done = self.ahead.take().map_or_else(Vec::new, Ahead::done);
        self.n_bytes = 0;
        self.ahead = Some(Ahead::new(std::mem::take(&mut self.waiting)));
        done
    }

    /// All that wait, done.
    pub(crate) fn finish(&mut self) -> Vec<(T, Result<(), String>)> {
        let mut done = self.turn();
        done.extend(self.ahead.take().map_or_else(Vec::new, Ahead::done));
        done
    }
}

/// Whether a file would lose other names or its owner if another took its place.
#[cfg(unix)]
fn is_other_when_replaced(old: &fs::Metadata, new: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    old.nlink() > 1 || (old.uid(), old.gid()) != (new.uid(), new.gid())
}

#[cfg(not(unix))]
fn is_other_when_replaced(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

/// Where the output goes. A file keeps what it had until all is written.
pub(crate) enum Output {
    /// A stream.
    Stream(Box<dyn Write + Send>),
    /// What is no regular file, has other names, or stands in a folder where nothing can be added; with its path.
    InPlace(BufWriter<File>, PathBuf),
    /// A file, with its path as it was given.
    Staged(Box<Staged>, PathBuf),
}

impl Output {
    /// To a file, which may be there. A name of an open stream, such as `/dev/stdout`, is that stream: what it holds stays.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn to_file(path: &Path) -> io::Result<Self> {
        let given = path;
        let path = &followed(path);
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
            // It may be written.
            open(false)?;
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let staged = Staged::new(target).and_then(|it| {
            let old = fs::metadata(path).ok().filter(|_| is_there);
            let new = it.file.get_ref().metadata()?;
            let is_other = old.is_some_and(|old| is_other_when_replaced(&old, &new));
            Ok((!is_other).then_some(it))
        });
        match staged {
            Ok(Some(it)) => Ok(Self::Staged(Box::new(it), given.to_owned())),
            Ok(None) | Err(_) if is_there => {
                Ok(Self::InPlace(BufWriter::new(open(true)?), given.to_owned()))
            }
            Ok(None) => {
                Err(io::Error::other("another program created and removed the file meanwhile"))
            }
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

/// Where links lead, up to a name of an open stream: that is not followed, for what it names is open already.
fn followed(path: &Path) -> PathBuf {
    /// No system follows more.
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

/// The number of the open stream that a path names.
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

    fn replace(path: &Path, before: &str, after: &str) -> Result<(), String> {
        let mut group = GroupCommit::new();
        let waiting = group.push((), Some(Replacement::new(path, before, after)?));
        assert_eq!(waiting, []);
        group.finish().remove(0).1
    }

    #[test]
    fn a_file_changed_meanwhile_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mlir");
        fs::write(&path, "new").expect("a file");
        assert!(replace(&path, "old", "fixed").is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("new"));
        assert_eq!(replace(&path, "new", "fixed"), Ok(()));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("fixed"));
        let left = fs::read_dir(folder.path()).map(Iterator::count).ok();
        assert_eq!(left, Some(1), "nothing is left behind");
    }

    #[test]
    fn replacements_wait_for_each_other_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |n: usize| folder.path().join(n.to_string());
        let mut group = GroupCommit { most: 16, ..GroupCommit::new() };
        assert_eq!(group.push(0, None), [(0, Ok(()))], "nothing waits for nothing");
        let mut done = Vec::new();
        let n = 60;
        for it in 1..n {
            fs::write(path(it), "old").expect("a file");
            let file = Replacement::new(&path(it), "old", "new").expect("it can be written");
            // Every third has no file to write, one is changed by another program.
            let file = (it % 3 != 0).then_some(file);
            if it == 40 {
                fs::write(path(it), "other").expect("a file");
            }
            done.extend(group.push(it, file));
        }
        done.extend(group.finish());
        assert_eq!(done.iter().map(|it| it.0).collect::<Vec<_>>(), (1..n).collect::<Vec<_>>());
        for (it, written) in done {
            let text = fs::read_to_string(path(it)).expect("it is there");
            let wanted = match it {
                40 => "other",
                it if it % 3 == 0 => "old",
                _ => "new",
            };
            assert_eq!((text.as_str(), written.is_ok()), (wanted, it != 40), "{it}");
        }
        assert_eq!(fs::read_dir(folder.path()).map(Iterator::count).ok(), Some(n - 1));
    }
}
