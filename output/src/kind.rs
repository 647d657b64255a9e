//! Kinds of files: an output must not replace a file of another kind by mistake.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::shown::shown_path;

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An MLIR program.
    Program,
    /// A configuration in TOML.
    Toml,
    /// Other text.
    Text,
    /// An HTML page.
    Html,
    /// A picture in SVG.
    Svg,
    /// A graph for Graphviz.
    Dot,
    /// JSON, or lines of JSON.
    Json,
    /// Other XML, such as a report of `JUnit`.
    Xml,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "an MLIR program",
            Self::Toml => "a TOML file",
            Self::Text => "text",
            Self::Html => "an HTML page",
            Self::Svg => "an SVG picture",
            Self::Dot => "a DOT graph",
            Self::Json => "JSON",
            Self::Xml => "XML",
        })
    }
}

/// Number of bytes that are read to recognize the kind of a file.
const HEAD: u64 = 512;

impl FileKind {
    /// Returns the kind that the extension of a file name states.
    fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match &*extension {
            "mlir" => Self::Program,
            "toml" => Self::Toml,
            "html" | "htm" => Self::Html,
            "svg" => Self::Svg,
            "dot" | "gv" => Self::Dot,
            "json" | "jsonl" | "sarif" => Self::Json,
            "xml" => Self::Xml,
            _ => return None,
        })
    }

    /// Returns the kind of a content, judging by its start.
    fn of_content(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let head = head.trim_start();
        let starts = |all: &[&str]| all.iter().any(|it| head.starts_with(it));
        if starts(&["<!doctype html", "<html"]) {
            Self::Html
        } else if starts(&["<svg"]) || (starts(&["<?xml"]) && head.contains("<svg")) {
            Self::Svg
        } else if starts(&["<?xml"]) {
            Self::Xml
        } else if starts(&["digraph", "strict digraph"]) {
            Self::Dot
        } else if starts(&["{\"", "{\n", "{}", "[\n", "[{", "[]"]) {
            Self::Json
        } else {
            Self::Text
        }
    }
}

/// Checks that an output of a kind may replace a file: the file does not exist, is empty, is not a
/// regular file, or has the same kind.
///
/// # Errors
///
/// The error names the file and both kinds.
pub fn check_replaceable(path: &Path, by: FileKind) -> Result<(), String> {
    // If a file cannot be read, the attempt to write it reports the error.
    if !path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0) {
        return Ok(());
    }
    let mut head = Vec::new();
    let is_read = File::open(path).and_then(|it| it.take(HEAD).read_to_end(&mut head)).is_ok();
    let named = FileKind::of_name(path);
    let Some(old) = named.or_else(|| is_read.then(|| FileKind::of_content(&head))) else {
        return Ok(());
    };
    // Without an extension, a program cannot be distinguished from text.
    let is_same =
        old == by || (named.is_none() && (old, by) == (FileKind::Text, FileKind::Program));
    if is_same {
        return Ok(());
    }
    let path = shown_path(path);
    Err(format!(
        "{path}: this file holds {old}, and the output is {by}; choose another file, or replace it with --force"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_files_of_the_same_kind() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_fine = |name: &str, text: &str, by| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            check_replaceable(&path, by).is_ok()
        };
        let page = "<!DOCTYPE html>\n<html>";
        assert!(check_replaceable(&folder.path().join("new.mlir"), FileKind::Html).is_ok());
        assert!(is_fine("empty.mlir", "", FileKind::Html));
        assert!(!is_fine("a.mlir", "func.func private @f()\n", FileKind::Html));
        assert!(!is_fine("a.mlir", "func.func private @f()\n", FileKind::Text));
        assert!(is_fine("a.mlir", "func.func private @f()\n", FileKind::Program));
        assert!(is_fine("a.html", page, FileKind::Html));
        assert!(!is_fine("a.html", page, FileKind::Svg));
        // Without a known extension the content decides.
        for (text, kind) in [
            (page, FileKind::Html),
            ("<svg xmlns=\"\">", FileKind::Svg),
            ("<?xml version=\"1.0\"?>\n<svg>", FileKind::Svg),
            ("<?xml version=\"1.0\"?>\n<testsuites>", FileKind::Xml),
            ("digraph {\n", FileKind::Dot),
            ("[\n]\n", FileKind::Json),
            ("{\"a\": 1}\n", FileKind::Json),
            ("1 error in 1 file.\n", FileKind::Text),
        ] {
            for by in [
                FileKind::Html,
                FileKind::Svg,
                FileKind::Xml,
                FileKind::Dot,
                FileKind::Json,
                FileKind::Text,
            ] {
                assert_eq!(is_fine("a", text, by), by == kind, "{text} {by}");
            }
        }
        assert!(is_fine("a.txt", "func.func private @f()\n", FileKind::Program));
        assert!(is_fine("a.txt", "\u{0}\u{1}", FileKind::Text));
        assert!(check_replaceable(Path::new("/dev/null"), FileKind::Html).is_ok());
    }
}
