//! `file:row:column: severity[code] message`, one line each.

use std::fmt::Write as _;

use crate::check::Checked;
use crate::place::Place;

pub(super) fn file(checked: &Checked) -> String {
    let mut out = String::new();
    for it in &checked.diagnostics {
        let Place { row, column } = Place::of(&checked.text, it.range.start);
        let severity = it.severity.name();
        let _ = writeln!(
            out,
            "{}:{row}:{column}: {severity}[{}] {}",
            checked.name, it.code, it.message
        );
    }
    out
}
