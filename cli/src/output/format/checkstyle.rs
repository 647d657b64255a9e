//! Checkstyle XML.

use std::fmt::Write as _;

use noisy_analyses::Severity;
use noisy_page::xml;

use super::{findings, plain_name};
use crate::file::check::Checked;

pub(super) fn file(checked: &Checked) -> String {
    let found = findings(checked);
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!("  <file name=\"{}\">\n", xml(&plain_name(checked)));
    for it in found {
        let severity = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "info",
        };
        let (row, column) = (it.start.row, it.start.column);
        let _ = writeln!(
            out,
            "    <error line=\"{row}\" column=\"{column}\" severity=\"{severity}\" message=\"{}\" source=\"noisy.{}\"/>",
            xml(it.message),
            xml(it.code)
        );
    }
    out.push_str("  </file>\n");
    out
}
