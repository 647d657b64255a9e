//! `JUnit` XML: a test suite for each file, a failing test case for each finding, a passing one for
//! a file without findings.

use std::fmt::Write as _;

use noisy_analyses::Severity;
use noisy_page::xml;

use super::{findings, plain_name};
use crate::file::check::Checked;

pub(super) fn file(checked: &Checked) -> String {
    let name = xml(&plain_name(checked));
    // Hints do not fail a build.
    let found: Vec<_> =
        findings(checked).into_iter().filter(|it| it.severity <= Severity::Warning).collect();
    let n = found.len();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{n}\" errors=\"0\" skipped=\"0\">",
        n.max(1)
    );
    if found.is_empty() {
        let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"noisy-check\"/>");
    }
    for it in found {
        let (row, column, code) = (it.start.row, it.start.column, xml(it.code));
        let message = xml(it.message);
        let _ = writeln!(out, "    <testcase name=\"{code} {row}:{column}\" classname=\"{name}\">");
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{message}\">{name}:{row}:{column}: {code}: {message}</failure>",
            it.severity.name()
        );
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
    out
}
