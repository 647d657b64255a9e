//! SARIF 2.1.0, for GitHub code scanning and others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use noisy_analyses::{Fix, Rule, Severity};
use noisy_output::plain_path;
use serde_json::{Value, json};

use super::{Finding, OutputFrame, findings, fingerprints};
use crate::file::check::FileReport;
use crate::file::line_col::LineCol;

/// Codes and descriptions of failures. In the report, they are rules after those of the catalogue.
const FAILURES: [(&str, &str); 4] = [
    ("internal-error", "noisy-check failed on this file and did not check it. Please report this."),
    (
        "invalid-configuration",
        "The configuration cannot be used. No file that it applies to was checked.",
    ),
    ("invalid-utf8", "The file is not valid UTF-8 from this place on. It was not checked."),
    ("io-error", "The file cannot be read or written. It was not checked or not changed."),
];

pub(super) fn frame() -> OutputFrame {
    let open = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[\
                {\"columnKind\":\"unicodeCodePoints\",\"results\":[\n";
    OutputFrame { open: open.to_owned(), between: ",\n", close: "" }
}

/// The tool with its rules: the catalogue in its order, failures, and other codes that were found.
/// The other codes are known only at the end.
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
    let failures = FAILURES.iter().map(|(code, text)| {
        json!({
            "id": code,
            "shortDescription": { "text": code.replace('-', " ") },
            "help": { "text": text, "markdown": text },
            "defaultConfiguration": { "level": level(Severity::Error) },
        })
    });
    let others = codes.keys().filter(|code| Rule::find(code).is_none());
    let others = others
        .map(|code| json!({ "id": code, "shortDescription": { "text": code.replace('-', " ") } }));
    let tool = json!({
        "driver": {
            "name": "noisy-check",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": known.chain(failures).chain(others).collect::<Vec<_>>(),
        },
    });
    format!("\n],\"tool\":{tool}}}]}}\n")
}

fn first_paragraph(text: &str) -> String {
    let lines: Vec<_> =
        text.lines().skip_while(|it| it.is_empty()).take_while(|it| !it.is_empty()).collect();
    lines.join(" ")
}

pub(super) fn file(checked: &FileReport) -> String {
    let path = &checked.path;
    let mut fingerprint = fingerprints(checked);
    let n_failures = usize::from(checked.failure.is_some());
    let results = findings(checked).into_iter().enumerate().map(|(n, it)| {
        let fingerprint = fingerprint(&it);
        let mut result = json!({
            "ruleId": it.code,
            "level": level(it.severity),
            "message": { "text": text(&it) },
            "locations": [location(path, it.start, it.end)],
            "partialFingerprints": { "noisy/v1": fingerprint },
        });
        let mut rules = Rule::all().map(Rule::code).chain(FAILURES.map(|it| it.0));
        if let Some(index) = rules.position(|code| code == it.code) {
            result["ruleIndex"] = index.into();
        }
        let Some(n) = n.checked_sub(n_failures) else { return result.to_string() };
        let related = checked.diagnostics[n].related.iter().map(|it| {
            let (start, end) = places(checked, &it.range);
            let mut location = location(path, start, end);
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

fn places(checked: &FileReport, range: &Range<usize>) -> (LineCol, LineCol) {
    (LineCol::of(&checked.text, range.start), LineCol::of(&checked.text, range.end))
}

fn fix(checked: &FileReport, fix: &Fix) -> Value {
    let replacements = fix.edits.iter().map(|it| {
        let (start, end) = places(checked, &it.range);
        json!({ "deletedRegion": region(start, end), "insertedContent": { "text": it.text } })
    });
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{
            "artifactLocation": uri(&checked.path),
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

fn region(start: LineCol, end: LineCol) -> Value {
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

fn text(it: &Finding<'_>) -> String {
    match it.help {
        Some(help) => format!("{}\nhelp: {help}", it.message),
        None => it.message.to_owned(),
    }
}

fn location(path: &Path, start: LineCol, end: LineCol) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": uri(path),
            "region": region(start, end),
        },
    })
}

/// A path as a URI; relative paths stay relative to the working directory.
fn uri(path: &Path) -> Value {
    let mut uri = String::new();
    for &byte in plain_path(path).as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    if uri.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn each_byte_of_a_name_is_in_its_uri() {
        for (name, wanted) in [
            (&b"./a b//./c.mlir"[..], "a%20b/c.mlir"),
            (b"c\\d:%.mlir", "c%5Cd%3A%25.mlir"),
            (b"\xff\xc3\xa4.mlir", "%FF%C3%A4.mlir"),
            (b"/x/.hidden", "file:///x/.hidden"),
        ] {
            assert_eq!(uri(Path::new(OsStr::from_bytes(name)))["uri"], wanted);
        }
    }
}
