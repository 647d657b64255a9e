//! `JUnit` XML: a test suite for each file, a failing test case for each error, a passing one with
//! its text for each warning, and a passing one for a file without findings.

use std::fmt::Write as _;

use noisy_analyses::Severity;
use noisy_page::escape_xml;

use super::{findings, plain_name};
use crate::file::check::FileReport;

/// The test suite of a file. With `with_warnings`, warnings are failures too.
pub(super) fn file(checked: &FileReport, with_warnings: bool) -> String {
    let name = escape_xml(&plain_name(checked));
    // Hints are not reported.
    let found: Vec<_> =
        findings(checked).into_iter().filter(|it| it.severity <= Severity::Warning).collect();
    let n = found.len();
    let is_failure = |severity| severity <= Severity::Error || with_warnings;
    let n_failures = found.iter().filter(|it| is_failure(it.severity)).count();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{n_failures}\" errors=\"0\" skipped=\"0\">",
        n.max(1)
    );
    if found.is_empty() {
        let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"noisy-check\"/>");
    }
    for it in found {
        let (row, column, code) = (it.start.line, it.start.column, escape_xml(it.code));
        let message = escape_xml(it.message);
        let _ = writeln!(out, "    <testcase name=\"{code} {row}:{column}\" classname=\"{name}\">");
        let (severity, line) =
            (it.severity.name(), format!("{name}:{row}:{column}: {code}: {message}"));
        let _ = if is_failure(it.severity) {
            writeln!(
                out,
                "      <failure type=\"{severity}\" message=\"{message}\">{line}</failure>"
            )
        } else {
            writeln!(out, "      <system-out>{severity}: {line}</system-out>")
        };
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
    out
}
