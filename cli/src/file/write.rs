//! Replaces files that were read. It never overwrites a change of another program, and writes many
//! files at once.
//!
//! A new text is written completely to a file beside the old one ([`noisy_output`]), which then
//! replaces the old one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use noisy_output::{StagedFile, TemporaryFile, reason};
use sha2::{Digest, Sha256};

use crate::file::settle::{self, Device, UnsettledFile};

/// The new text of a file: complete in a closed temporary file beside it.
#[derive(Debug)]
pub(crate) struct Replacement {
    temporary: TemporaryFile,
    path: PathBuf,
    /// SHA-256 and size of the old contents.
    before: [u8; 32],
    n_bytes: usize,
    /// True if replacing the file would change its identity, so that it is overwritten in place.
    in_place: bool,
    device: Device,
}

impl Replacement {
    /// Prepares a replacement. Symbolic links, hard links, owner and permissions of the file are
    /// kept.
    ///
    /// # Errors
    ///
    /// If the file does not exist or no file can be written beside it.
    pub(crate) fn new(path: &Path, before: &str, after: &str) -> Result<Self, String> {
        let prepared = || {
            let (mut path, mut metadata) = (path.to_owned(), fs::symlink_metadata(path)?);
            if metadata.is_symlink() {
                // A symbolic link stays a link.
                path = fs::canonicalize(path)?;
                metadata = fs::metadata(&path)?;
            }
            if metadata.permissions().readonly() {
                return Err(io::Error::other("the file is read-only"));
            }
            let mut staged = StagedFile::replacing(path, Some(&metadata))?;
            let new = staged.file.get_ref().metadata()?;
            let device = settle::device(staged.file.get_ref(), &new)?;
            staged.file.write_all(after.as_bytes())?;
            let in_place = staged.is_in_place;
            let (temporary, path) = staged.close()?;
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

    /// Replaces the file if its contents are unchanged.
    fn commit(mut self) -> Result<(), String> {
        let mut committed = || {
            // This check is as late as possible.
            let (mut file, now) = self.unchanged()?;
            if !self.in_place {
                return self.temporary.take_place(&self.path);
            }
            self.temporary.overwrite(&mut file, &now)
        };
        committed().map_err(|it: io::Error| reason(&it))
    }

    /// Opens the file and returns it with its contents. It is open for writing if it will be
    /// overwritten in place.
    ///
    /// # Errors
    ///
    /// If the contents changed. At most one byte more than the old contents is read.
    fn unchanged(&self) -> io::Result<(File, Vec<u8>)> {
        let changed = || io::Error::other("the file was changed by another program meanwhile");
        let is_same = |it: &fs::Metadata| it.is_file() && it.len() == self.n_bytes as u64;
        if !is_same(&fs::symlink_metadata(&self.path)?) {
            return Err(changed());
        }
        let mut options = OpenOptions::new();
        options.read(true).write(self.in_place);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // If another file has taken its place, a link is not followed, and a pipe does not
            // block.
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            options.custom_flags(flags.bits().cast_signed());
        }
        let file = options.open(&self.path)?;
        let mut now = Vec::with_capacity(self.n_bytes + 1);
        (&file).take(self.n_bytes as u64 + 1).read_to_end(&mut now)?;
        if now.len() != self.n_bytes || <[u8; 32]>::from(Sha256::digest(&now)) != self.before {
            return Err(changed());
        }
        Ok((file, now))
    }
}

/// A queue of reports, some with a file to replace. The files are written to the disk in groups on
/// a separate thread, which takes a tenth of the time. Reports leave the queue in order.
#[derive(Debug)]
pub(crate) struct GroupCommit<T> {
    waiting: Vec<(T, Option<Replacement>)>,
    /// Size of the waiting texts before their change.
    n_bytes: usize,
    /// Time at which the first waiting report was added.
    since: Instant,
    /// Maximum number of reports in a group, including those without a file.
    max_reports: usize,
    /// The previous group, which is being written.
    running: Option<RunningCommit<T>>,
}

/// The replacement of each report, if it has one.
type Replacements = Vec<Option<Replacement>>;
type WriteResults = Vec<Result<(), String>>;

/// A group that is being written to the disk.
#[derive(Debug)]
struct RunningCommit<T> {
    reports: Vec<T>,
    /// Empty as soon as a thread has taken the files.
    files: Arc<Mutex<Replacements>>,
    /// `None` if no thread could be started.
    written: Option<JoinHandle<WriteResults>>,
}

impl<T> RunningCommit<T> {
    fn new(things: Vec<(T, Option<Replacement>)>) -> Self {
        let (things, files): (Vec<T>, Replacements) = things.into_iter().unzip();
        let files = Arc::new(Mutex::new(files));
        let its = files.clone();
        let written = thread::Builder::new().spawn(move || settle_and_replace(&its)).ok();
        Self { reports: things, files, written }
    }

    fn is_written(&self) -> bool {
        self.written.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Waits for the group.
    fn wait(self) -> Vec<(T, Result<(), String>)> {
        let written = match self.written {
            Some(it) => it.join().unwrap_or_default(),
            None => settle_and_replace(&self.files),
        };
        let lost = || Err("an internal error".to_owned());
        let written = written.into_iter().chain(iter::repeat_with(lost));
        self.reports.into_iter().zip(written).collect()
    }
}

/// Settles the new files, and then replaces the old ones.
fn settle_and_replace(files: &Mutex<Replacements>) -> WriteResults {
    let files = std::mem::take(&mut *files.lock().unwrap_or_else(PoisonError::into_inner));
    let settling = |it: &Replacement| UnsettledFile {
        path: it.temporary.path().to_path_buf(),
        device: it.device,
    };
    let all: Vec<UnsettledFile> = files.iter().flatten().map(settling).collect();
    // All new files are settled before the first old one is replaced.
    let mut settled = settle::settle(&all).into_iter();
    let written = files.into_iter().map(|file| {
        let Some(file) = file else { return Ok(()) };
        let settled = settled.next().unwrap_or_else(|| Err(io::ErrorKind::Other.into()));
        settled.map_err(|why| reason(&why)).and_then(|()| file.commit())
    });
    written.collect()
}

impl<T> GroupCommit<T> {
    const MAX_REPORTS: usize = 1024;
    /// A group is full at this size in bytes.
    const MAX_BYTES: usize = 32 << 20;
    /// Maximum number of groups that wait.
    const MAX_WAITING_GROUPS: usize = 4;
    /// A group that waited this long is written when a report is added.
    const MAX_WAIT: Duration = Duration::from_secs(5);

    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            n_bytes: 0,
            since: Instant::now(),
            max_reports: Self::MAX_REPORTS,
            running: None,
        }
    }

    /// Adds a report; returns those that are done, each with the result of its file.
    pub(crate) fn push(
        &mut self,
        it: T,
        file: Option<Replacement>,
    ) -> Vec<(T, Result<(), String>)> {
        if file.is_none() && self.waiting.is_empty() && self.running.is_none() {
            // There is no earlier report.
            return vec![(it, Ok(()))];
        }
        let done = self.running.take_if(|it| it.is_written());
        let mut done = done.map_or_else(Vec::new, RunningCommit::wait);
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        self.n_bytes += file.as_ref().map_or(0, |it| it.n_bytes);
        self.waiting.push((it, file));
        let is_full = |groups: usize| {
            self.waiting.len() >= groups * self.max_reports
                || self.n_bytes >= groups * Self::MAX_BYTES
        };
        // The next group grows while the previous one is written, so that no checking thread waits
        // for the disk.
        let is_turn = match self.running {
            None => is_full(1) || self.since.elapsed() >= Self::MAX_WAIT,
            Some(_) => is_full(Self::MAX_WAITING_GROUPS),
        };
        if is_turn {
            done.extend(self.start_group());
        }
        if self.running.is_none() {
            // Reports without a file before the first one with a file need not wait.
            let n = self.waiting.iter().take_while(|it| it.1.is_none()).count();
            done.extend(self.waiting.drain(..n).map(|it| (it.0, Ok(()))));
        }
        done
    }

    /// Waits for the previous group, and starts to write the waiting one.
    fn start_group(&mut self) -> Vec<(T, Result<(), String>)> {
        let done = self.running.take().map_or_else(Vec::new, RunningCommit::wait);
        self.n_bytes = 0;
        self.running = Some(RunningCommit::new(std::mem::take(&mut self.waiting)));
        done
    }

    /// Writes all remaining reports, and waits for them.
    pub(crate) fn finish(&mut self) -> Vec<(T, Result<(), String>)> {
        let mut done = self.start_group();
        done.extend(self.running.take().map_or_else(Vec::new, RunningCommit::wait));
        done
    }
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
    fn keeps_files_that_were_changed() {
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

    #[cfg(target_os = "linux")]
    #[test]
    fn does_not_block_on_pipes_and_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mlir");
        for other in ["pipe", "link"] {
            fs::write(&path, "old").expect("a file");
            let file = Replacement::new(&path, "old", "new").expect("it can be written");
            fs::remove_file(&path).expect("it is there");
            if other == "pipe" {
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, 0o600.into(), 0).expect("a pipe");
            } else {
                std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
            }
            let mut group = GroupCommit::new();
            group.push((), Some(file));
            let told = group.finish().remove(0).1;
            assert!(told.is_err_and(|it| it.contains("changed by another program")), "{other}");
            fs::remove_file(&path).expect("it is as it was");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn keeps_extended_attributes() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mlir");
        fs::write(&path, "old").expect("a file");
        let mut value = [0_u8; 8];
        if setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_err() {
            eprintln!("skipped: this file system has no attributes for users");
            return;
        }
        assert_eq!(replace(&path, "old", "a longer text"), Ok(()));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("a longer text"));
        let n = getxattr(&path, "user.note", &mut value).expect("it has stayed");
        assert_eq!(&value[..n], b"kept");
    }

    #[test]
    fn reports_leave_the_queue_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |n: usize| folder.path().join(n.to_string());
        let mut group = GroupCommit { max_reports: 16, ..GroupCommit::new() };
        assert_eq!(group.push(0, None), [(0, Ok(()))], "nothing waits for nothing");
        let mut done = Vec::new();
        let n = 60;
        for it in 1..n {
            fs::write(path(it), "old").expect("a file");
            let file = Replacement::new(&path(it), "old", "new").expect("it can be written");
            // Every third report has no file, one file is changed by another program.
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
