//! Files: reading, splitting, and atomic writing.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use noisy_output::{MAX_FILE, MAX_STREAM, Output, clean_up_on_signals, reason};

/// Reads a file, `-` for standard input. Fails early if it is too long.
pub(super) fn read(file: &str) -> io::Result<String> {
    let bytes = if file == "-" {
        bounded(io::stdin().lock(), MAX_STREAM)?
    } else {
        let file = File::open(file)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() > MAX_FILE {
            return Err(io::Error::other("more than 1 GiB"));
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

/// Writes a file atomically, `-` for standard output, as [`Output::to_file`].
pub(super) fn write(file: &str, text: &str) -> io::Result<()> {
    if file == "-" {
        return io::stdout().lock().write_all(text.as_bytes());
    }
    // Only writers of temporary files need the thread that waits for signals.
    clean_up_on_signals();
    let readable = |it: io::Error| io::Error::new(it.kind(), reason(&it));
    let mut out = Output::to_file(Path::new(file)).map_err(readable)?;
    out.write_all(text.as_bytes())?;
    out.finish()
}

/// Returns the position at which a line splits a text: a marker at its start, or at its end apart
/// from blanks, as in a comment: `// // -----`.
fn split_of(line: &str, marker: &str) -> Option<usize> {
    if line.starts_with(marker) {
        return Some(0);
    }
    let before = line.trim_end_matches([' ', '\t', '\r', '\n']).strip_suffix(marker)?;
    (!before.ends_with('/')).then_some(before.len())
}

/// Returns the parts of a text between markers, each with the number of lines before it.
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

/// Returns the marker before a part that starts after this many lines, with the rest of its line.
pub(super) fn separator<'a>(text: &'a str, marker: &str, first_line: usize) -> &'a str {
    let line = text.split_inclusive('\n').nth(first_line.wrapping_sub(1));
    let found = line.and_then(|it| it.get(split_of(it, marker)?..));
    found.unwrap_or("// -----\n")
}

/// Replaces markers in the text by plain comments of the same length.
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
