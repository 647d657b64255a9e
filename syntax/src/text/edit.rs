//! Edits of a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A replacement of a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextEdit {
    /// The replaced range, in bytes of the text before any edit.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl TextEdit {
    /// Sorts edits by their start; `None` if two of them overlap.
    pub fn in_order(mut edits: Vec<TextEdit>) -> Option<Vec<TextEdit>> {
        edits.sort_by_key(|it| (it.range.start, it.range.end));
        let overlap = edits.windows(2).any(|it| it[0].range.end > it[1].range.start);
        (!overlap).then_some(edits)
    }

    /// The text after some edits, which are in order and disjoint.
    ///
    /// # Panics
    /// If they are not edits of this text.
    pub fn apply_all(edits: &[TextEdit], text: &str) -> String {
        let n_new: usize = edits.iter().map(|it| it.text.len()).sum();
        let mut out = String::with_capacity(text.len() + n_new);
        let mut at = 0;
        for edit in edits {
            out.push_str(&text[at..edit.range.start]);
            out.push_str(&edit.text);
            at = edit.range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}
