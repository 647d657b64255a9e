//! Finds the ranges of annotations in the text.

use std::ops::Range;

use noisy_syntax::{Op, Source};
use rustc_hash::FxHashMap;

use crate::text::annotation::{self, AnnotationHolder};
use crate::text::entries::{self, entries};
use noisy_dataflow::attributes::{self, ValueSide};

/// The range of an annotation and its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationPlace {
    /// The whole annotation, if it is reported separately from its op: the op holds several
    /// annotations, or contains other ops.
    pub whole: Option<Range<usize>>,
    entries: Vec<AnnotationEntry>,
}

/// A key of an annotation with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationEntry {
    key: String,
    /// The range of the key.
    pub key_range: Range<usize>,
    /// The range of the value.
    pub value_range: Range<usize>,
    /// The range of the entry and of the comma to delete with it; `None` if there is a comment
    /// between them.
    pub with_comma: Option<Range<usize>>,
}

impl AnnotationPlace {
    /// Returns the entry of a key, if it is written in the annotation itself and not in an alias.
    pub fn entry(&self, key: &str) -> Option<&AnnotationEntry> {
        self.entries.iter().find(|it| it.key == key)
    }
}

/// Finds the ranges of annotations. The annotations of the last op are cached, so request those of
/// one op in sequence.
#[derive(Debug)]
pub struct AnnotationPlaces<'a> {
    source: &'a Source,
    cached_op: Option<Op>,
    found: FxHashMap<AnnotationHolder, attributes::AttributeRange>,
}

impl<'a> AnnotationPlaces<'a> {
    /// Creates a finder for the annotations of a program.
    pub fn new(source: &'a Source) -> Self {
        Self { source, cached_op: None, found: FxHashMap::default() }
    }

    /// Returns the ranges of an annotation and its entries.
    pub fn place_of(&mut self, holder: AnnotationHolder) -> Option<AnnotationPlace> {
        place_at(self.source, holder, self.attribute_range(holder)?)
    }

    /// Returns the range of an annotation, if it is reported separately from its op.
    pub fn separate_range(&mut self, holder: AnnotationHolder) -> Option<Range<usize>> {
        let whole = self.attribute_range(holder)?.whole.clone();
        is_reported_separately(self.source, holder).then_some(whole)
    }

    fn attribute_range(&mut self, holder: AnnotationHolder) -> Option<&attributes::AttributeRange> {
        let (AnnotationHolder::OwnAttribute(op)
        | AnnotationHolder::OfArgument(op, _)
        | AnnotationHolder::OfResult(op, _)) = holder;
        if self.cached_op != Some(op) {
            self.cached_op = Some(op);
            let listed =
                attributes::listed_attributes(self.source, op, ANNOTATION_NAME).into_iter();
            let listed = listed.map(|(side, at, place)| match side {
                ValueSide::Argument => (AnnotationHolder::OfArgument(op, at), place),
                ValueSide::Result => (AnnotationHolder::OfResult(op, at), place),
            });
            let own = attributes::own_attribute(self.source, op, ANNOTATION_NAME);
            self.found =
                listed.chain(own.map(|it| (AnnotationHolder::OwnAttribute(op), it))).collect();
        }
        self.found.get(&holder)
    }
}

/// The name of annotations.
const ANNOTATION_NAME: &str = "mgmt.mgmt";

/// Returns the ranges of an annotation and its entries.
pub(crate) fn annotation_place(
    source: &Source,
    holder: AnnotationHolder,
) -> Option<AnnotationPlace> {
    AnnotationPlaces::new(source).place_of(holder)
}

/// Returns true if an annotation is reported separately from its op.
fn is_reported_separately(source: &Source, holder: AnnotationHolder) -> bool {
    match holder {
        // The annotation follows the regions of the op, far from its name.
        AnnotationHolder::OwnAttribute(op) => !source.ir().op(op).regions.is_empty(),
        _ => true,
    }
}

fn place_at(
    source: &Source,
    holder: AnnotationHolder,
    found: &attributes::AttributeRange,
) -> Option<AnnotationPlace> {
    let text = source.slice(found.value.clone());
    // An unreadable annotation has no entries.
    let text = annotation::annotation_body(&text)?;
    let start = found.value.end - text.len();
    let at = |it: Range<usize>| start + it.start..start + it.end;
    let entries = entries(text).map(|it| AnnotationEntry {
        key: it.key.to_owned(),
        with_comma: with_comma(text, &it).map(at),
        key_range: at(it.key_range),
        value_range: at(it.value_range),
    });
    let whole = is_reported_separately(source, holder).then(|| found.whole.clone());
    Some(AnnotationPlace { whole, entries: entries.collect() })
}

/// Returns the range of an entry with the comma before it, or else the comma after it.
fn with_comma(text: &str, entry: &entries::AttributeEntry<'_>) -> Option<Range<usize>> {
    let (start, end) = (entry.key_range.start, entry.value_range.end);
    let is_blank = |it: &str| it.trim().is_empty();
    match entry.commas {
        [Some(comma), _] => is_blank(&text[comma + 1..start]).then_some(comma..end),
        [None, Some(comma)] => is_blank(&text[end..comma]).then(|| {
            let behind = text[comma + 1..].trim_start();
            start..text.len() - behind.len()
        }),
        [None, None] => Some(start..end),
    }
}
