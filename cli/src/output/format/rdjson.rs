//! Reviewdog Diagnostic Format. Its columns count bytes, from 1.

use noisy_analyses::Severity;
use serde_json::{Value, json};

use super::{findings, plain_name};
use crate::file::check::FileReport;
use crate::file::line_col::LineCol;

pub(super) fn file(checked: &FileReport) -> String {
    let name = plain_name(checked);
    let object = |it: super::Finding<'_>| {
        json!({
            "message": it.message,
            "location": {
                "path": name,
                "range": { "start": position(checked, it.start), "end": position(checked, it.end) },
            },
            "severity": match it.severity {
                Severity::Error => "ERROR",
                Severity::Warning => "WARNING",
                Severity::Info | Severity::Hint => "INFO",
            },
            "code": { "value": it.code },
        })
        .to_string()
    };
    findings(checked).into_iter().map(object).collect::<Vec<_>>().join(",\n")
}

fn position(checked: &FileReport, place: LineCol) -> Value {
    let line = checked.text.get_line(place.line - 1);
    let column =
        line.and_then(|it| it.try_char_to_byte(place.column - 1).ok()).unwrap_or(place.column - 1);
    json!({ "line": place.line, "column": column + 1 })
}
