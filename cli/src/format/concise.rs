//! `file:row:column: severity[code] message`, one line each.

use std::fmt::Write as _;

use super::{findings, severity};
use crate::check::Checked;

pub(super) fn file(checked: &Checked) -> String {
    let mut out = String::new();
    for it in findings(checked) {
        let (row, column) = (it.start.row, it.start.column);
        let severity = severity(it.severity);
        let _ = writeln!(
            out,
            "{}:{row}:{column}: {severity}[{}] {}",
            checked.name, it.code, it.message
        );
    }
    out
}
