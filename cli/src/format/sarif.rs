//! SARIF 2.1.0, for GitHub code scanning and others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::{Fix, Rule, Severity};
use serde_json::{Value, json};

use super::{Finding, Frame, findings, fingerprints};
use crate::check::Checked;
use crate::line_col::LineCol;

pub(super) fn frame() -> Frame {
    let open = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[\
                {\"columnKind\":\"unicodeCodePoints\",\"results\":[\n";
    Frame { open: open.to_owned(), between: ",\n", close: "" }
}

/// The tool, with the rules: those of the catalogue, in its order, and what else was found; only at the end is that known.
pub(super) fn close(codes: &BTreeMap<&'static str, usize>) -> String {
    let known = Rule::all().map(|it| {
        let docs = it.docs();
        let mut rule = json!({
            "id": it.code(),
            "shortDescription": { "text": it.title() },
            "fullDescription": { "text": first_paragraph(&docs) },
            "help": { "text": docs, "markdown": docs },
            "defaultConfiguration": { "level": level(it.severity()) },
            "properties": { "tags": [it.category().name()] },
        });
        if !it.is_on() {
            rule["defaultConfiguration"]["enabled"] = false.into();
        }
        rule
    });
    let others = codes.keys().filter(|code| Rule::find(code).is_none());
    let others = others
        .map(|code| json!({ "id": code, "shortDescription": { "text": code.replace('-', " ") } }));
    let tool = json!({
        "driver": {
            "name": "noisy-check",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": known.chain(others).collect::<Vec<_>>(),
        },
    });
    format!("\n],\"tool\":{tool}}}]}}\n")
}

fn first_paragraph(text: &str) -> String {
    let lines: Vec<_> =
        text.lines().skip_while(|it| it.is_empty()).take_while(|it| !it.is_empty()).collect();
    lines.join(" ")
}

pub(super) fn file(checked: &Checked) -> String {
    let mut fingerprint = fingerprints(checked);
    let n_failures = usize::from(checked.failure.is_some());
    let results = findings(checked).into_iter().enumerate().map(|(n, it)| {
        let fingerprint = fingerprint(&it);
        let mut result = json!({
            "ruleId": it.code,
            "level": level(it.severity),
            "message": { "text": text(&it) },
            "locations": [location(&checked.name, it.start, it.end)],
            "partialFingerprints": { "noisy/v1": fingerprint },
        });
        if let Some(index) = Rule::all().position(|one| one.code() == it.code) {
            result["ruleIndex"] = index.into();
        }
        let Some(n) = n.checked_sub(n_failures) else { return result.to_string() };
        let related = checked.diagnostics[n].related.iter().map(|it| {
            let (start, end) = places(checked, &it.range);
            let mut location = location(&checked.name, start, end);
            location["message"] = json!({ "text": it.message });
            location
        });
        let related: Vec<Value> = related.collect();
        if !related.is_empty() {
            result["relatedLocations"] = Value::Array(related);
        }
        let fixes: Vec<Value> =
            checked.fixes.get(n).into_iter().flatten().map(|it| fix(checked, it)).collect();
        if !fixes.is_empty() {
            result["fixes"] = Value::Array(fixes);
        }
        result.to_string()
    });
    results.collect::<Vec<_>>().join(",\n")
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn places(checked: &Checked, range: &Range<usize>) -> (LineCol, LineCol) {
    (LineCol::of(&checked.text, range.start), LineCol::of(&checked.text, range.end))
}

fn fix(checked: &Checked, fix: &Fix) -> Value {
    let replacements = fix.edits.iter().map(|it| {
        let (start, end) = places(checked, &it.range);
        json!({ "deletedRegion": region(start, end), "insertedContent": { "text": it.text } })
    });
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{
            "artifactLocation": uri(&checked.name),
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

fn region(start: LineCol, end: LineCol) -> Value {
    json!({ "startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column })
}

fn text(it: &Finding<'_>) -> String {
    match it.help {
        Some(help) => format!("{}\nhelp: {help}", it.message),
        None => it.message.to_owned(),
    }
}

fn location(name: &str, start: LineCol, end: LineCol) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": uri(name),
            "region": region(start, end),
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
