//! `file:line:column: severity[code] message`, one line each.

use noisy_analyses::Diagnostic;
use noisy_output::shown_line;

use crate::file::check::FileReport;
use crate::file::line_col::LineCol;
use crate::output::paint;

pub(super) fn file(checked: &FileReport, color: bool) -> String {
    checked.diagnostics.iter().map(|it| line(checked, it, color)).collect()
}

/// The line of a diagnostic.
pub(super) fn line(checked: &FileReport, it: &Diagnostic, color: bool) -> String {
    let LineCol { line: row, column } = LineCol::of(&checked.text, it.range.start);
    let place = format!("{}:{row}:{column}:", checked.name);
    let kind = format!("{}[{}]", it.severity.name(), it.code);
    let (place, message) = (shown_line(&place), shown_line(&it.message));
    if color {
        let kind = paint::colored(&kind, paint::color_number(it.severity));
        format!("{} {kind} {message}\n", paint::bold(&place))
    } else {
        format!("{place} {kind} {message}\n")
    }
}
