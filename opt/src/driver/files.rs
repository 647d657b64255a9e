//! Files: read, split into parts, and written as a whole or not at all.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The largest file, in bytes: places in a text are numbers of 32 bits.
const MAX_FILE: u64 = u32::MAX as u64 - 1;
/// The most that is read of what does not say how large it is, in bytes.
const MAX_STREAM: u64 = 1 << 29;

/// The text of a file, `-` for standard input. What is too long is refused before it takes room.
pub(super) fn read(file: &str) -> io::Result<String> {
    let bytes = if file == "-" {
        bounded(io::stdin().lock(), MAX_STREAM)?
    } else {
        let file = File::open(file)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() > MAX_FILE {
            return Err(io::Error::other("4 GiB or more"));
        }
        bounded(file, if metadata.is_file() { MAX_FILE } else { MAX_STREAM })?
    };
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

fn bounded(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// Writes a file as a whole, `-` for standard output. A name of an open stream, such as `/dev/stdout`, is that stream: what it holds stays. Links, other
/// names, owner and permissions of a file stay.
pub(super) fn write(file: &str, text: &str) -> io::Result<()> {
    let path = followed(Path::new(file));
    match if file == "-" { Some(1) } else { descriptor(&path) } {
        Some(1) => return io::stdout().lock().write_all(text.as_bytes()),
        Some(2) => return io::stderr().lock().write_all(text.as_bytes()),
        Some(_) => {
            return OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes());
        }
        None => {}
    }
    let old = fs::metadata(&path).ok();
    if let Some(old) = &old {
        // It may be written.
        OpenOptions::new().write(true).open(&path)?;
        if !old.is_file() {
            return OpenOptions::new().write(true).open(&path)?.write_all(text.as_bytes());
        }
    }
    match Staged::new(&path, text, old.as_ref()) {
        Ok(Some(it)) => it.commit(),
        // It would be another file, or nothing can be added beside it.
        Ok(None) => fs::write(&path, text),
        Err(_) if old.is_some() => fs::write(&path, text),
        Err(error) => Err(error),
    }
}

/// A text that stands complete beside the file whose place it takes. Dropped before that, it goes.
struct Staged {
    temporary: PathBuf,
    path: PathBuf,
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Staged {
    /// Nothing if a file would lose other names or its owner.
    fn new(path: &Path, text: &str, old: Option<&fs::Metadata>) -> io::Result<Option<Self>> {
        let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let (mut file, temporary) = temporary(folder.unwrap_or(Path::new(".")))?;
        let staged = Self { temporary, path };
        if let Some(old) = old {
            if is_other_when_replaced(old, &file.metadata()?) {
                return Ok(None);
            }
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(Some(staged))
    }

    fn commit(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

/// A new file under a name that nobody can foresee.
fn temporary(folder: &Path) -> io::Result<(File, PathBuf)> {
    const ATTEMPTS: u32 = 100;
    for attempt in 0..ATTEMPTS {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!(".noisy-{:x}-{:x}-{attempt}.tmp", std::process::id(), now.as_nanos());
        let path = folder.join(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
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

/// Where a line splits a text: at a marker at its start, or at its end, blanks aside, as in a comment: `// // -----`.
fn split_of(line: &str, marker: &str) -> Option<usize> {
    if line.starts_with(marker) {
        return Some(0);
    }
    let before = line.trim_end_matches([' ', '\t', '\r', '\n']).strip_suffix(marker)?;
    (!before.ends_with('/')).then_some(before.len())
}

/// The parts of a text between markers, each with the number of lines before it.
pub(super) fn parts(text: String, marker: Option<&str>) -> Vec<(String, usize)> {
    let Some(marker) = marker else { return vec![(text, 0)] };
    let mut out = vec![(String::new(), 0)];
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let at = split_of(line, marker);
        if let Some(last) = out.last_mut() {
            last.0.push_str(&line[..at.unwrap_or(line.len())]);
        }
        if at.is_some() {
            out.push((String::new(), n + 1));
        }
    }
    out
}

/// The marker before a part that starts behind so many lines, with what stands after it in its line.
pub(super) fn separator<'a>(text: &'a str, marker: &str, first_line: usize) -> &'a str {
    let line = text.split_inclusive('\n').nth(first_line.wrapping_sub(1));
    let found = line.and_then(|it| it.get(split_of(it, marker)?..));
    found.unwrap_or("// -----\n")
}

/// The text with the lines that would split it made plain comments of the same length.
pub(super) fn one_chunk(text: &str) -> Cow<'_, str> {
    if !text.contains("// -----") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("// -----", "//      "))
}

#[cfg(test)]
mod tests {
    use super::{parts, separator};

    #[test]
    fn a_file_is_split_where_mlir_opt_splits_it() {
        let text = "a\n// -----\nb\n// // -----\t\nc // -----\n/// -----\n// ----- x\nd";
        let found = parts(text.to_owned(), Some("// -----"));
        let wanted = [("a\n", 0), ("b\n// ", 2), ("c ", 4), ("/// -----\n", 5), ("d", 7)];
        assert_eq!(found, wanted.map(|(part, line)| (part.to_owned(), line)));
        let mut all = found[0].0.clone();
        for (part, first_line) in &found[1..] {
            all += separator(text, "// -----", *first_line);
            all += part;
        }
        assert_eq!(all, text, "nothing is lost or doubled");
    }
}
