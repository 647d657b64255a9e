//! Checkstyle XML.

use std::fmt::Write as _;

use noisy_analyses::Severity;
use noisy_page::escape_xml;

use super::{findings, plain_name};
use crate::file::check::FileReport;

pub(super) fn file(checked: &FileReport) -> String {
    let found = findings(checked);
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!("  <file name=\"{}\">\n", escape_xml(&plain_name(checked)));
    for it in found {
        let severity = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "info",
        };
        let (row, column) = (it.start.line, it.start.column);
        let _ = writeln!(
            out,
            "    <error line=\"{row}\" column=\"{column}\" severity=\"{severity}\" message=\"{}\" source=\"noisy.{}\"/>",
            escape_xml(it.message),
            escape_xml(it.code)
        );
    }
    out.push_str("  </file>\n");
    out
}
