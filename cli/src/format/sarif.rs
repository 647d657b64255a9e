//! SARIF 2.1.0, for GitHub code scanning and others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use noisy_analyses::Severity;
use serde_json::{Value, json};

use super::{Finding, Frame, findings, fingerprint};
use crate::check::Checked;
use crate::place::Place;

pub(super) fn frame() -> Frame {
    let open = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[\
                {\"columnKind\":\"unicodeCodePoints\",\"results\":[\n";
    Frame { open: open.to_owned(), between: ",\n", close: "" }
}

/// The tool, with the rules that were broken; only at the end are they known.
pub(super) fn close(codes: &BTreeMap<&'static str, usize>) -> String {
    let rule = |code: &&str| json!({ "id": code, "name": code, "shortDescription": { "text": code.replace('-', " ") } });
    let tool = json!({
        "driver": {
            "name": "noisy-check",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": codes.keys().map(rule).collect::<Vec<_>>(),
        },
    });
    format!("\n],\"tool\":{tool}}}]}}\n")
}

pub(super) fn file(checked: &Checked) -> String {
    let mut seen = Vec::new();
    let n_failures = usize::from(checked.failure.is_some());
    let results = findings(checked).into_iter().enumerate().map(|(n, it)| {
        let fingerprint = fingerprint(checked, &it, &mut seen);
        let related =
            n.checked_sub(n_failures).map_or(&[][..], |n| &checked.diagnostics[n].related);
        let related: Vec<_> = related
            .iter()
            .map(|it| {
                let (start, end) = (
                    Place::of(&checked.text, it.range.start),
                    Place::of(&checked.text, it.range.end),
                );
                let mut location = location(&checked.name, start, end);
                location["message"] = json!({ "text": it.message });
                location
            })
            .collect();
        let mut result = json!({
            "ruleId": it.code,
            "level": match it.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Hint => "note",
            },
            "message": { "text": text(&it) },
            "locations": [location(&checked.name, it.start, it.end)],
            "partialFingerprints": { "noisy/v1": fingerprint },
        });
        if !related.is_empty() {
            result["relatedLocations"] = Value::Array(related);
        }
        result.to_string()
    });
    results.collect::<Vec<_>>().join(",\n")
}

fn text(it: &Finding<'_>) -> String {
    match it.help {
        Some(help) => format!("{}\nhelp: {help}", it.message),
        None => it.message.to_owned(),
    }
}

fn location(name: &str, start: Place, end: Place) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": uri(name),
            "region": {
                "startLine": start.row,
                "startColumn": start.column,
                "endLine": end.row,
                "endColumn": end.column,
            },
        },
    })
}

/// A path as an URI: relative ones to where the tool ran.
fn uri(name: &str) -> Value {
    let name = name.replace('\\', "/");
    let mut path = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            path.push(byte as char);
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
    if name.starts_with('/') {
        json!({ "uri": format!("file://{path}") })
    } else {
        json!({ "uri": path.trim_start_matches("./"), "uriBaseId": "%SRCROOT%" })
    }
}
