//! Files: read, split into parts, and written as a whole or not at all.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};

/// The text of a file, `-` for standard input.
pub(super) fn read(file: &str) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(file)?;
    }
    if bytes.len() >= 1 << 32 {
        return Err(std::io::Error::other("4 GiB or more"));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("not UTF-8"))
}

/// Writes a file as a whole, `-` for standard output.
pub(super) fn write(file: &str, text: &str) -> std::io::Result<()> {
    if file == "-" {
        return std::io::stdout().lock().write_all(text.as_bytes());
    }
    let is_plain = std::fs::metadata(file).map_or(true, |it| it.is_file());
    if !is_plain {
        return std::fs::write(file, text);
    }
    let beside = format!("{file}.part");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, file)
}

/// The parts of a text between lines that start with a marker, each with the number of lines before it.
pub(super) fn parts(text: String, marker: Option<&str>) -> Vec<(String, usize)> {
    let Some(marker) = marker else { return vec![(text, 0)] };
    let mut out = vec![(String::new(), 0)];
    for (n, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with(marker) {
            out.push((String::new(), n + 1));
        } else if let Some(last) = out.last_mut() {
            last.0.push_str(line);
        }
    }
    out
}

/// The line before a part that starts behind so many lines.
pub(super) fn separator(text: &str, first_line: usize) -> &str {
    text.split_inclusive('\n').nth(first_line.wrapping_sub(1)).unwrap_or("// -----\n")
}

/// The text with the lines that would split it made plain comments of the same length.
pub(super) fn one_chunk(text: &str) -> Cow<'_, str> {
    if !text.contains("// -----") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("// -----", "//      "))
}
