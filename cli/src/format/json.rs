//! JSON: an array of objects, or an object on each line. Both have the same objects.

use serde::Serialize;

use super::{Finding, findings, severity};
use crate::check::Checked;
use crate::place::Place;

#[derive(Serialize)]
struct Object<'a> {
    filename: &'a str,
    category: &'a str,
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    location: Location,
    end_location: Location,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Location {
    row: usize,
    column: usize,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    location: Location,
    end_location: Location,
}

impl From<Place> for Location {
    fn from(place: Place) -> Self {
        Self { row: place.row, column: place.column }
    }
}

fn objects(checked: &Checked) -> impl Iterator<Item = String> + '_ {
    let n_failures = usize::from(checked.failure.is_some());
    findings(checked).into_iter().enumerate().filter_map(move |(n, it)| {
        let related =
            n.checked_sub(n_failures).map_or(&[][..], |n| &checked.diagnostics[n].related);
        let place = |byte| Place::of(&checked.text, byte).into();
        let related = related.iter().map(|it| Related {
            message: &it.message,
            location: place(it.range.start),
            end_location: place(it.range.end),
        });
        let related = related.collect();
        let Finding { code, category, message, help, start, end, .. } = it;
        serde_json::to_string(&Object {
            filename: &checked.name,
            category,
            severity: severity(it.severity),
            code,
            message,
            help,
            location: start.into(),
            end_location: end.into(),
            related,
        })
        .ok()
    })
}

pub(super) fn lines(checked: &Checked) -> String {
    objects(checked).map(|it| it + "\n").collect()
}

pub(super) fn array(checked: &Checked) -> String {
    objects(checked).collect::<Vec<_>>().join(",\n")
}
