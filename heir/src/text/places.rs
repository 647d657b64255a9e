//! Finds the ranges of annotations in the text.

use std::ops::Range;

use noisy_syntax::{Op, Source};
use rustc_hash::FxHashMap;

use crate::text::annotation::{self, Holder};
use crate::text::entries::{self, entries};
use noisy_dataflow::attributes::{self, Side};

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
    pub name: Range<usize>,
    /// The range of the value.
    pub value: Range<usize>,
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
pub struct Places<'a> {
    source: &'a Source,
    of: Option<Op>,
    found: FxHashMap<Holder, attributes::AttributeRange>,
}

impl<'a> Places<'a> {
    /// Creates a finder for the annotations of a program.
    pub fn new(source: &'a Source) -> Self {
        Self { source, of: None, found: FxHashMap::default() }
    }

    /// Returns the ranges of an annotation and its entries.
    pub fn of(&mut self, holder: Holder) -> Option<AnnotationPlace> {
        place_at(self.source, holder, self.whole(holder)?)
    }

    /// Returns the range of an annotation, if it is reported separately from its op.
    pub fn apart(&mut self, holder: Holder) -> Option<Range<usize>> {
        let whole = self.whole(holder)?.whole.clone();
        is_apart(self.source, holder).then_some(whole)
    }

    fn whole(&mut self, holder: Holder) -> Option<&attributes::AttributeRange> {
        let (Holder::Op(op) | Holder::Taken(op, _) | Holder::Given(op, _)) = holder;
        if self.of != Some(op) {
            self.of = Some(op);
            let listed = attributes::listed_attributes(self.source, op, NAME).into_iter();
            let listed = listed.map(|(side, at, place)| match side {
                Side::Argument => (Holder::Taken(op, at), place),
                Side::Result => (Holder::Given(op, at), place),
            });
            let own = attributes::own_attribute(self.source, op, NAME);
            self.found = listed.chain(own.map(|it| (Holder::Op(op), it))).collect();
        }
        self.found.get(&holder)
    }
}

/// The name of annotations.
const NAME: &str = "mgmt.mgmt";

/// Returns the ranges of an annotation and its entries.
pub(crate) fn place(source: &Source, holder: Holder) -> Option<AnnotationPlace> {
    Places::new(source).of(holder)
}

/// Returns true if an annotation is reported separately from its op.
fn is_apart(source: &Source, holder: Holder) -> bool {
    match holder {
        // The annotation follows the regions of the op, far from its name.
        Holder::Op(op) => !source.ir().op(op).regions.is_empty(),
        _ => true,
    }
}

fn place_at(
    source: &Source,
    holder: Holder,
    found: &attributes::AttributeRange,
) -> Option<AnnotationPlace> {
    let text = source.slice(found.value.clone());
    // An unreadable annotation has no entries.
    let text = annotation::body(&text)?;
    let start = found.value.end - text.len();
    let at = |it: Range<usize>| start + it.start..start + it.end;
    let entries = entries(text).map(|it| AnnotationEntry {
        key: it.key.to_owned(),
        with_comma: with_comma(text, &it).map(at),
        name: at(it.name),
        value: at(it.value),
    });
    let whole = is_apart(source, holder).then(|| found.whole.clone());
    Some(AnnotationPlace { whole, entries: entries.collect() })
}

/// Returns the range of an entry with the comma before it, or else the comma after it.
fn with_comma(text: &str, entry: &entries::Entry<'_>) -> Option<Range<usize>> {
    let (start, end) = (entry.name.start, entry.value.end);
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
