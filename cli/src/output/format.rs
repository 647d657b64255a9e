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

use crate::file::check::FileReport;
use crate::file::fingerprint::Fingerprints;
use crate::file::line_col::LineCol;
use crate::input::args::OutputFormat;
use crate::output::paint::OutputStyle;

/// The text around and between the pieces.
#[derive(Debug)]
pub(crate) struct OutputFrame {
    /// Before the first piece.
    pub open: String,
    /// Between pieces that are not empty.
    pub between: &'static str,
    /// After the last piece.
    pub close: &'static str,
}

/// Totals over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindingTotals {
    /// Number of checked files.
    pub n_files: usize,
    /// Number of files with findings.
    pub n_files_with_findings: usize,
    pub n_errors: usize,
    pub n_warnings: usize,
    /// Number of infos and hints.
    pub n_hints: usize,
}

impl OutputFormat {
    /// True for formats that people read. Failures and the summary are then printed in addition to
    /// the output.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, OutputFormat::Full | OutputFormat::Concise | OutputFormat::Grouped)
    }
}

/// The piece of text for a file.
pub(crate) fn file_text(format: OutputFormat, checked: &FileReport, look: OutputStyle) -> String {
    let OutputStyle { has_color: color, fails_on_warnings: with_warnings, .. } = look;
    match format {
        OutputFormat::Full => full::file(checked, color),
        OutputFormat::Concise => concise::file(checked, color),
        OutputFormat::Grouped => grouped::file(checked, color),
        OutputFormat::Pylint => pylint::file(checked),
        OutputFormat::Json => json::array(checked),
        OutputFormat::JsonLines => json::lines(checked),
        OutputFormat::Sarif => sarif::file(checked),
        OutputFormat::Github => github::file(checked),
        OutputFormat::Azure => azure::file(checked),
        OutputFormat::Gitlab => gitlab::file(checked),
        OutputFormat::Junit => junit::file(checked, with_warnings),
        OutputFormat::Checkstyle => checkstyle::file(checked),
        OutputFormat::Rdjson => rdjson::file(checked),
        // This format is only for visits of the solver. The command line rejects other uses.
        OutputFormat::Html => String::new(),
    }
}

/// The mismatches that `--verify-diagnostics` found in a file.
pub(crate) fn mismatches(checked: &FileReport) -> String {
    let line = |it: &noisy_analyses::Diagnostic| {
        let LineCol { line: row, column } = LineCol::of(&checked.text, it.range.start);
        let line = format!("{}:{row}:{column}: error: {}", checked.name, it.message);
        shown_line(&line).into_owned() + "\n"
    };
    checked.diagnostics.iter().map(line).collect()
}

/// The frame of a format.
pub(crate) fn frame(format: OutputFormat) -> OutputFrame {
    let frame = |open: &str, between, close| OutputFrame { open: open.to_owned(), between, close };
    match format {
        OutputFormat::Full
        | OutputFormat::Concise
        | OutputFormat::Grouped
        | OutputFormat::Pylint
        | OutputFormat::JsonLines
        | OutputFormat::Github
        | OutputFormat::Html
        | OutputFormat::Azure => frame("", "", ""),
        OutputFormat::Json | OutputFormat::Gitlab => frame("[\n", ",\n", "\n]\n"),
        OutputFormat::Sarif => sarif::frame(),
        OutputFormat::Junit => frame(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"noisy-check\">\n",
            "",
            "</testsuites>\n",
        ),
        OutputFormat::Checkstyle => frame(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n",
            "",
            "</checkstyle>\n",
        ),
        OutputFormat::Rdjson => {
            frame("{\"source\":{\"name\":\"noisy-check\"},\"diagnostics\":[\n", ",\n", "\n]}\n")
        }
    }
}

/// The text after the last piece. Some formats list all found codes there.
pub(crate) fn closing_text(format: OutputFormat, codes: &BTreeMap<&'static str, usize>) -> String {
    match format {
        OutputFormat::Sarif => sarif::close(codes),
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
fn findings(checked: &FileReport) -> Vec<Finding<'_>> {
    let failure = checked.failure.iter().map(|it| {
        let (row, column) = it.position.unwrap_or((1, 1));
        let start = LineCol { line: row, column };
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
fn plain_name(checked: &FileReport) -> String {
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
fn fingerprints(checked: &FileReport) -> impl FnMut(&Finding<'_>) -> String {
    let mut fingerprints = Fingerprints::new(&plain_name(checked), &checked.text);
    move |it| fingerprints.of(it.start.line - 1, it.code, it.identity)
}
