//! Inlay hints: the noise of every noisy value behind its name, where integers are known to lie, how often loops run.

use std::ops::Range;

use noisy_analyses::flow::Flow;
use noisy_analyses::{Document, Noise, range};
use noisy_settings::Hints;
use noisy_syntax::{Op, OpKind, Value};

use super::cursor;
use super::walk::items_in;

/// Something shown between the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Where, in bytes.
    pub offset: usize,
    /// What is shown.
    pub label: String,
    /// What it is about.
    about: About,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Value(Value),
    Loop(Op),
}

/// The hints whose place is in a range of bytes, its end included.
pub(crate) fn hints(document: &Document, range: &Range<usize>, wanted: &Hints) -> Vec<Hint> {
    let ir = document.ir();
    let mut out = Vec::new();
    if !(wanted.noise || wanted.ranges || wanted.trip_counts) {
        return out;
    }
    for item in items_in(ir, range) {
        for &value in &ir.op(item.op).results {
            add(document, value, range, wanted, &mut out);
        }
        for value in cursor::arguments_in(ir, item.op) {
            add(document, value, range, wanted, &mut out);
        }
        if wanted.trip_counts
            && let Some(label) = rounds(document, item.op)
        {
            let name = ir.absolute_at(item.op, item.start, ir.op(item.op).name_span);
            if range.start <= name.end && name.end <= range.end {
                out.push(Hint { offset: name.end, label, about: About::Loop(item.op) });
            }
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
        let about = About::Value(value);
        // The values of a pack share a name, and so a place.
        if let Some(last) = out.iter_mut().find(|it| it.offset == name.end && it.about != about) {
            last.label = format!("{} {label}", last.label);
        } else {
            out.push(Hint { offset: name.end, label, about });
        }
    }
}

fn label(document: &Document, value: Value, wanted: &Hints) -> Option<String> {
    if document.is_noisy(value) {
        noise(document, value, wanted)
    } else {
        integer(document, value, wanted)
    }
}

/// `[0, 24]`, and how much is left if that is wanted.
fn noise(document: &Document, value: Value, wanted: &Hints) -> Option<String> {
    let noise = *document.noise(value);
    let budget = document.model().budget;
    match noise {
        _ if !wanted.noise => None,
        Noise::Range { hi, .. } if hi > budget => Some(format!("{noise} > {budget}")),
        Noise::Range { hi, .. } if wanted.budget => Some(format!("{noise}, {} left", budget - hi)),
        Noise::Range { .. } => Some(noise.to_string()),
        Noise::Unknown => Some("[?]".to_owned()),
        Noise::Bottom => None,
    }
}

/// `in [0, 7]` or `= 7`, of what is not written as a constant anyway.
fn integer(document: &Document, value: Value, wanted: &Hints) -> Option<String> {
    let ir = document.ir();
    let is_written = ir.definer(value).is_some_and(|op| ir.op(op).kind == OpKind::ArithConstant);
    if !wanted.ranges || is_written {
        return None;
    }
    in_words(document, value)
}

/// Where an integer lies, if that is more than its type says: `= 7`, `in [0, 7]`.
pub(crate) fn in_words(document: &Document, value: Value) -> Option<String> {
    match document.integers().range(value) {
        range::Range::Within(it) => Some(match it.single() {
            Some(one) => format!("= {one}"),
            None => format!("in {it}"),
        }),
        range::Range::Bottom | range::Range::Unknown => None,
    }
}

/// How often a loop runs, if that is known.
pub(crate) fn rounds(document: &Document, op: Op) -> Option<String> {
    let ir = document.ir();
    if !Flow::of(ir, op).is_loop() {
        return None;
    }
    let trips = document.integers().trips(ir, op);
    Some(match (trips.least, trips.most) {
        (0, None) => return None,
        (1, Some(1)) => "1 round".to_owned(),
        (a, Some(b)) if a == b => format!("{a} rounds"),
        (0, Some(b)) => format!("at most {b} rounds"),
        (a, Some(b)) => format!("{a} to {b} rounds"),
        (a, None) => format!("at least {a} rounds"),
    })
}
