//! Inlay hints: the noise of every noisy value, behind its name.

use std::ops::Range;

use noisy_analyses::{Document, Noise};
use noisy_settings::Hints;
use noisy_syntax::Value;

use super::cursor;
use super::walk::items_in;

/// Something shown between the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Where, in bytes.
    pub offset: usize,
    /// What is shown.
    pub label: String,
    /// The value that it is about.
    pub value: Value,
}

/// The hints whose place is in a range of bytes, its end included.
pub(crate) fn hints(document: &Document, range: &Range<usize>, wanted: &Hints) -> Vec<Hint> {
    let ir = document.ir();
    let mut out = Vec::new();
    if !wanted.noise {
        return out;
    }
    for item in items_in(ir, range) {
        for &value in &ir.op(item.op).results {
            add(document, value, range, wanted, &mut out);
        }
        for value in cursor::arguments_in(ir, item.op) {
            add(document, value, range, wanted, &mut out);
        }
    }
    out.sort_by_key(|it| it.offset);
    out.dedup();
    out
}

fn add(
    document: &Document,
    value: Value,
    range: &Range<usize>,
    wanted: &Hints,
    out: &mut Vec<Hint>,
) {
    let Some(label) = label(document, value, wanted) else { return };
    let Some(name) = cursor::definition(document.ir(), value) else { return };
    if range.start <= name.end && name.end <= range.end {
        // The values of a pack share a name, and so a place.
        if let Some(last) = out.iter_mut().find(|it| it.offset == name.end && it.value != value) {
            last.label = format!("{} {label}", last.label);
        } else {
            out.push(Hint { offset: name.end, label, value });
        }
    }
}

/// `[0, 24]`, and how much is left if that is wanted.
fn label(document: &Document, value: Value, wanted: &Hints) -> Option<String> {
    let noise = *document.noise(value);
    let budget = document.model().budget;
    match noise {
        Noise::Range { hi, .. } if hi > budget => Some(format!("{noise} > {budget}")),
        Noise::Range { hi, .. } if wanted.budget => Some(format!("{noise}, {} left", budget - hi)),
        Noise::Range { .. } => Some(noise.to_string()),
        Noise::Unknown if document.is_noisy(value) => Some("[?]".to_owned()),
        Noise::Bottom | Noise::Unknown => None,
    }
}
