//! GitLab Code Quality: the part of Code Climate's format that GitLab reads.

use noisy_analyses::Severity;
use serde_json::json;

use super::{findings, fingerprints, plain_name};
use crate::file::check::FileReport;

pub(super) fn file(checked: &FileReport) -> String {
    let name = plain_name(checked);
    let mut fingerprint = fingerprints(checked);
    let object = |it: super::Finding<'_>| {
        json!({
            "check_name": it.code,
            "description": it.message,
            "severity": match it.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Info | Severity::Hint => "info",
            },
            "fingerprint": fingerprint(&it),
            "location": {
                "path": name,
                "positions": {
                    "begin": { "line": it.start.line, "column": it.start.column },
                    "end": { "line": it.end.line, "column": it.end.column },
                },
            },
        })
        .to_string()
    };
    findings(checked).into_iter().map(object).collect::<Vec<_>>().join(",\n")
}
