//! Reading, splitting and atomic writing of files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use noisy_output::{MAX_FILE, MAX_STREAM, Output, clean_up_on_signals, reason};
use noisy_syntax::SPLIT_MARKER;
use noisy_syntax::lex::split_positions;

/// Reads a file, or standard input for `-`. Fails early if it is too large.
pub(super) fn read(file: &str) -> io::Result<String> {
    let bytes = if file == "-" {
        read_at_most(io::stdin().lock(), MAX_STREAM)?
    } else {
        let file = File::open(file)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() > MAX_FILE {
            return Err(io::Error::other("more than 1 GiB"));
        }
        read_at_most(file, if metadata.is_file() { MAX_FILE } else { MAX_STREAM })?
    };
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

fn read_at_most(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// Writes a file atomically with [`Output::to_file`], or writes to standard output for `-`.
pub(super) fn write(file: &str, text: &str) -> io::Result<()> {
    if file == "-" {
        return io::stdout().lock().write_all(text.as_bytes());
    }
    // The signal handler is only needed when a temporary file is written.
    clean_up_on_signals();
    let readable = |it: io::Error| io::Error::new(it.kind(), reason(&it));
    let mut out = Output::to_file(Path::new(file)).map_err(readable)?;
    out.write_all(text.as_bytes())?;
    out.finish()
}

/// A part of a split text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePart {
    /// The marker before the part, with the rest of its line if that is empty or a comment.
    pub separator: String,
    pub text: String,
    /// Number of lines before the part.
    pub first_line: usize,
}

/// Splits a text as `mlir-opt` does: at each marker outside of strings. Text after a marker on the
/// same line, other than a comment, is the start of the next part.
pub(super) fn split_into_parts(text: String, marker: Option<&str>) -> Vec<FilePart> {
    let places = match marker {
        None => Vec::new(),
        Some(SPLIT_MARKER) => split_positions(&text),
        Some(marker) => text.match_indices(marker).map(|it| it.0).collect(),
    };
    if places.is_empty() {
        return vec![FilePart { text, ..FilePart::default() }];
    }
    let marker = marker.unwrap_or_default();
    let mut out = vec![FilePart::default()];
    // The end of the last separator.
    let mut start = 0;
    for at in places {
        // Skip a marker in the comment after another marker.
        if at < start {
            continue;
        }
        let behind = at + marker.len();
        let line_end = text[behind..].find('\n').map_or(text.len(), |it| behind + it + 1);
        let rest = text[behind..line_end].trim_start();
        let end = if rest.is_empty() || rest.starts_with("//") { line_end } else { behind };
        let (mut n_lines, separator) = (0, text[at..end].to_owned());
        if let Some(last) = out.last_mut() {
            last.text.push_str(&text[start..at]);
            n_lines = last.first_line + text[start..end].matches('\n').count();
        }
        out.push(FilePart { separator, text: String::new(), first_line: n_lines });
        start = end;
    }
    if let Some(last) = out.last_mut() {
        last.text.push_str(&text[start..]);
    }
    out
}

/// Replaces the split markers in a text by spaces in a comment, so that the text is not split.
pub(super) fn without_split_markers(text: &str) -> Cow<'_, str> {
    let places = split_positions(text);
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut start = 0;
    for at in places {
        out.push_str(&text[start..at]);
        out.push_str("//      ");
        start = at + SPLIT_MARKER.len();
    }
    out.push_str(&text[start..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{split_into_parts, without_split_markers};

    #[test]
    fn joins_a_text_without_a_change_to_its_strings() {
        let text = "\"// -----\"\n// -----\n// ----- // -----\n// -----// IR Dump\n";
        let joined = without_split_markers(text);
        assert_eq!(joined, "\"// -----\"\n//      \n//       //      \n//      // IR Dump\n");
    }

    /// Compares the parts of a text, each with the number of lines before it.
    fn split(text: &str, marker: &str, wanted: &[(&str, usize)]) {
        let found = split_into_parts(text.to_owned(), Some(marker));
        let shown: Vec<(&str, usize)> = found.iter().map(|it| (&*it.text, it.first_line)).collect();
        assert_eq!(shown, wanted, "{text:?}");
        let all: String = found.iter().flat_map(|it| [&*it.separator, &*it.text]).collect();
        assert_eq!(all, text, "nothing is lost or doubled");
    }

    #[test]
    fn splits_a_file_where_mlir_opt_does() {
        // `mlir-opt` reads ` x` as the start of a part, in which it is an error.
        let text = "a\n// -----\nb\n// // -----\t\nc // -----\n// ----- x\nd";
        split(text, "// -----", &[("a\n", 0), ("b\n// ", 2), ("c ", 4), ("", 5), (" x\nd", 5)]);
        for line in ["// ----- //", "// -----//", "// -----\t// x", "// ----- // // -----"] {
            split(&format!("a\n{line}\nb\n"), "// -----", &[("a\n", 0), ("b\n", 2)]);
        }
        split("a\n// y // ----- //\nb\n", "// -----", &[("a\n// y ", 0), ("b\n", 2)]);
        let code = "a\n// ----- func.func private @b()\nc\n";
        split(code, "// -----", &[("a\n", 0), (" func.func private @b()\nc\n", 1)]);
        for text in ["//-----\n", "// ---- //\n", "\"// -----\"\n", "!e.f<// ----- //>\n", ""] {
            split(text, "// -----", &[(text, 0)]);
        }
        split("a\n// cut\nb\n", "// cut", &[("a\n", 0), ("b\n", 2)]);
    }
}
