//! Output formats of findings, one file each.
//!
//! A format converts the findings of each file to a piece of text, on the thread that checked the
//! file. The pieces are joined in order.

mod azure;
mod checkstyle;
mod concise;
mod full;
mod github;
mod gitlab;
mod grouped;
mod json;
mod junit;
mod pylint;
mod rdjson;
mod sarif;

use std::collections::BTreeMap;

use noisy_analyses::Severity;
use noisy_output::{plain_path, shown, shown_line};

use crate::file::check::Checked;
use crate::file::fingerprint::Fingerprints;
use crate::file::line_col::LineCol;
use crate::input::args::Format;
use crate::output::paint::Look;

/// The text around and between the pieces.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Before the first piece.
    pub open: String,
    /// Between pieces that are not empty.
    pub between: &'static str,
    /// After the last piece.
    pub close: &'static str,
}

/// Totals over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Number of checked files.
    pub files: usize,
    /// Number of files with findings.
    pub files_with: usize,
    pub errors: usize,
    pub warnings: usize,
    /// Number of infos and hints.
    pub hints: usize,
}

impl Format {
    /// True for formats that people read. Failures and the summary are then printed in addition to
    /// the output.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Format::Full | Format::Concise | Format::Grouped)
    }
}

/// The piece of text for a file.
pub(crate) fn piece(format: Format, checked: &Checked, look: Look) -> String {
    let Look { color, with_warnings, .. } = look;
    match format {
        Format::Full => full::file(checked, color),
        Format::Concise => concise::file(checked, color),
        Format::Grouped => grouped::file(checked, color),
        Format::Pylint => pylint::file(checked),
        Format::Json => json::array(checked),
        Format::JsonLines => json::lines(checked),
        Format::Sarif => sarif::file(checked),
        Format::Github => github::file(checked),
        Format::Azure => azure::file(checked),
        Format::Gitlab => gitlab::file(checked),
        Format::Junit => junit::file(checked, with_warnings),
        Format::Checkstyle => checkstyle::file(checked),
        Format::Rdjson => rdjson::file(checked),
        // This format is only for visits of the solver. The command line rejects other uses.
        Format::Html => String::new(),
    }
}

/// The mismatches that `--verify-diagnostics` found in a file.
pub(crate) fn mismatches(checked: &Checked) -> String {
    let line = |it: &noisy_analyses::Diagnostic| {
        let LineCol { row, column } = LineCol::of(&checked.text, it.range.start);
        let line = format!("{}:{row}:{column}: error: {}", checked.name, it.message);
        shown_line(&line).into_owned() + "\n"
    };
    checked.diagnostics.iter().map(line).collect()
}

/// The frame of a format.
pub(crate) fn frame(format: Format) -> Frame {
    let frame = |open: &str, between, close| Frame { open: open.to_owned(), between, close };
    match format {
        Format::Full
        | Format::Concise
        | Format::Grouped
        | Format::Pylint
        | Format::JsonLines
        | Format::Github
        | Format::Html
        | Format::Azure => frame("", "", ""),
        Format::Json | Format::Gitlab => frame("[\n", ",\n", "\n]\n"),
        Format::Sarif => sarif::frame(),
        Format::Junit => frame(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"noisy-check\">\n",
            "",
            "</testsuites>\n",
        ),
        Format::Checkstyle => frame(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n",
            "",
            "</checkstyle>\n",
        ),
        Format::Rdjson => {
            frame("{\"source\":{\"name\":\"noisy-check\"},\"diagnostics\":[\n", ",\n", "\n]}\n")
        }
    }
}

/// The text after the last piece. Some formats list all found codes there.
pub(crate) fn close(format: Format, codes: &BTreeMap<&'static str, usize>) -> String {
    match format {
        Format::Sarif => sarif::close(codes),
        _ => frame(format).close.to_owned(),
    }
}

/// A diagnostic or a failure, in the form that most formats need.
#[derive(Debug)]
struct Finding<'a> {
    code: &'a str,
    category: &'static str,
    severity: Severity,
    message: &'a str,
    /// The part of the message that identifies the finding.
    identity: &'a str,
    help: Option<&'a str>,
    start: LineCol,
    end: LineCol,
}

/// The findings of a file, in order.
fn findings(checked: &Checked) -> Vec<Finding<'_>> {
    let failure = checked.failure.iter().map(|it| {
        let (row, column) = it.place.unwrap_or((1, 1));
        let start = LineCol { row, column };
        let (severity, category) = (Severity::Error, "io");
        Finding {
            code: it.code,
            category,
            severity,
            message: &it.message,
            identity: &it.message,
            help: None,
            start,
            end: start,
        }
    });
    let diagnostics = checked.diagnostics.iter().map(|it| Finding {
        code: it.code,
        category: it.category.name(),
        severity: it.severity,
        message: &it.message,
        identity: it.identity(),
        help: it.help.as_deref(),
        start: LineCol::of(&checked.text, it.range.start),
        end: LineCol::of(&checked.text, it.range.end),
    });
    failure.chain(diagnostics).collect()
}

/// The normalized name of a file, for programs.
fn plain_name(checked: &Checked) -> String {
    plain_path(&checked.path).to_string_lossy().into_owned()
}

/// Escapes a text for a command of a CI service: `%` becomes `percent`; line ends and the
/// characters in `others` become `%` and their code.
fn escaped(text: &str, percent: &str, others: &str) -> String {
    let mut out = String::new();
    for c in shown(text).chars() {
        match c {
            '%' => out.push_str(percent),
            '\r' | '\n' => out.push_str(&format!("%{:02X}", c as u32)),
            _ if others.contains(c) => out.push_str(&format!("%{:02X}", c as u32)),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a function that computes the fingerprints of a file's findings.
fn fingerprints(checked: &Checked) -> impl FnMut(&Finding<'_>) -> String {
    let mut fingerprints = Fingerprints::new(&plain_name(checked), &checked.text);
    move |it| fingerprints.of(it.start.row - 1, it.code, it.identity)
}
