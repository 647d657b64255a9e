//! The findings of a file below its name.

use std::fmt::Write as _;

use noisy_output::shown_line;

use crate::file::check::FileReport;
use crate::file::line_col::LineCol;
use crate::output::paint;

pub(super) fn file(checked: &FileReport, color: bool) -> String {
    if checked.diagnostics.is_empty() {
        return String::new();
    }
    let name = shown_line(&checked.name);
    let name = if color { paint::bold(&name) } else { name.into_owned() };
    let mut out = format!("{name}:\n");
    for it in &checked.diagnostics {
        let LineCol { line: row, column } = LineCol::of(&checked.text, it.range.start);
        let kind = format!("{}[{}]", it.severity.name(), it.code);
        let kind =
            if color { paint::colored(&kind, paint::color_number(it.severity)) } else { kind };
        let _ = writeln!(out, "  {row}:{column} {kind} {}", shown_line(&it.message));
    }
    out.push('\n');
    out
}
