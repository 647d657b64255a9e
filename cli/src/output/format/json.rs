//! JSON: one array of objects, or one object on each line. The objects are the same: one for each
//! finding, and with `--fix --statistics` one for each joint placement.

use noisy_analyses::Applicability;
use serde::Serialize;

use super::{Finding, findings, plain_name};
use crate::file::check::FileReport;
use crate::file::fix::PlacedGroup;
use crate::file::line_col::LineCol;

#[derive(Serialize)]
struct FindingObject<'a> {
    filename: &'a str,
    category: &'a str,
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mlir_wording: Option<&'a str>,
    location: Location,
    end_location: Location,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixObject<'a>>,
}

#[derive(Serialize)]
struct FixObject<'a> {
    title: &'a str,
    applicability: &'static str,
    edits: Vec<EditObject<'a>>,
}

#[derive(Serialize)]
struct EditObject<'a> {
    content: &'a str,
    location: Location,
    end_location: Location,
}

#[derive(Serialize)]
struct Location {
    row: usize,
    column: usize,
}

#[derive(Serialize)]
struct RelatedObject<'a> {
    message: &'a str,
    location: Location,
    end_location: Location,
}

impl From<LineCol> for Location {
    fn from(place: LineCol) -> Self {
        Self { row: place.line, column: place.column }
    }
}

/// A joint placement, printed only if requested.
#[derive(Serialize)]
struct PlacedObject<'a> {
    filename: &'a str,
    category: &'static str,
    severity: &'static str,
    code: &'static str,
    message: String,
    placement: &'a PlacedGroup,
}

fn placed(checked: &FileReport) -> impl Iterator<Item = String> + '_ {
    let name = plain_name(checked);
    checked.fixed.placed.iter().filter_map(move |it| {
        serde_json::to_string(&PlacedObject {
            filename: &name,
            category: "placement",
            severity: "info",
            code: "placement",
            message: it.to_string(),
            placement: it,
        })
        .ok()
    })
}

fn objects(checked: &FileReport) -> impl Iterator<Item = String> + '_ {
    let name = plain_name(checked);
    let n_failures = usize::from(checked.failure.is_some());
    findings(checked).into_iter().enumerate().filter_map(move |(n, it)| {
        let related =
            n.checked_sub(n_failures).map_or(&[][..], |n| &checked.diagnostics[n].related);
        let place = |byte| Location::from(LineCol::of(&checked.text, byte));
        let related = related.iter().map(|it| RelatedObject {
            message: &it.message,
            location: place(it.range.start),
            end_location: place(it.range.end),
        });
        let related = related.collect();
        let mlir_wording =
            n.checked_sub(n_failures).and_then(|n| checked.diagnostics[n].mlir_wording.as_deref());
        let fixes =
            n.checked_sub(n_failures).and_then(|n| checked.fixes.get(n)).into_iter().flatten();
        let fixes = fixes.map(|it| FixObject {
            title: &it.title,
            applicability: match it.applicability {
                Applicability::Safe => "safe",
                Applicability::Unsafe => "unsafe",
            },
            edits: it
                .edits
                .iter()
                .map(|it| EditObject {
                    content: &it.text,
                    location: place(it.range.start),
                    end_location: place(it.range.end),
                })
                .collect(),
        });
        let fixes = fixes.collect();
        let Finding { code, category, message, help, start, end, .. } = it;
        serde_json::to_string(&FindingObject {
            filename: &name,
            category,
            severity: it.severity.name(),
            code,
            message,
            help,
            mlir_wording,
            location: start.into(),
            end_location: end.into(),
            related,
            fixes,
        })
        .ok()
    })
}

pub(super) fn lines(checked: &FileReport) -> String {
    objects(checked).chain(placed(checked)).map(|it| it + "\n").collect()
}

pub(super) fn array(checked: &FileReport) -> String {
    objects(checked).chain(placed(checked)).collect::<Vec<_>>().join(",\n")
}
