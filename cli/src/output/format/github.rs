//! Workflow commands of GitHub Actions, which become annotations of the lines.

use std::fmt::Write as _;

use noisy_analyses::Severity;

use super::{escaped, findings, plain_name};
use crate::file::check::FileReport;

pub(super) fn file(checked: &FileReport) -> String {
    let name = plain_name(checked);
    let mut out = String::new();
    for it in findings(checked) {
        let command = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "notice",
        };
        let (a, b) = (it.start, it.end);
        let _ = write!(
            out,
            "::{command} title=noisy ({}),file={},line={},col={},endLine={}",
            it.code,
            property(&name),
            a.line,
            a.column,
            b.line,
        );
        // GitHub uses columns only for annotations of one line.
        if a.line == b.line {
            let _ = write!(out, ",endColumn={}", b.column);
        }
        let _ = writeln!(
            out,
            "::{}:{}:{}: {} {}",
            data(&name),
            a.line,
            a.column,
            it.code,
            data(it.message)
        );
    }
    out
}

fn data(text: &str) -> String {
    escaped(text, "%25", "")
}

fn property(text: &str) -> String {
    escaped(text, "%25", ":,")
}
