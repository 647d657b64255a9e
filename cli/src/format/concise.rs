//! `file:row:column: severity[code] message`, one line each.

use std::fmt::Write as _;

use crate::check::Checked;
use crate::line_col::LineCol;
use crate::shown::shown;

pub(super) fn file(checked: &Checked) -> String {
    let mut out = String::new();
    for it in &checked.diagnostics {
        let LineCol { row, column } = LineCol::of(&checked.text, it.range.start);
        let severity = it.severity.name();
        let (name, code, message) = (&checked.name, it.code, &it.message);
        let line = format!("{name}:{row}:{column}: {severity}[{code}] {message}");
        let _ = writeln!(out, "{}", shown(&line));
    }
    out
}
