//! Logging commands of Azure Pipelines, which become issues of a run. Source of the grammar and its
//! escapes: <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands>.

use std::fmt::Write as _;

use noisy_analyses::Severity;

use super::{escaped, findings, plain_name};
use crate::file::check::FileReport;

pub(super) fn file(checked: &FileReport) -> String {
    let name = property(&plain_name(checked));
    let mut out = String::new();
    for it in findings(checked) {
        // Azure supports only these two kinds.
        let kind = if it.severity == Severity::Error { "error" } else { "warning" };
        let _ = writeln!(
            out,
            "##vso[task.logissue type={kind};sourcepath={name};linenumber={};columnnumber={};code={};]{}",
            it.start.line,
            it.start.column,
            it.code,
            data(it.message)
        );
    }
    out
}

fn data(text: &str) -> String {
    escaped(text, "%AZP25", "")
}

fn property(text: &str) -> String {
    escaped(text, "%AZP25", ";]")
}
