//! The text of a document and all data derived from it.
//!
//! *Law.* The text is never lost: if the derivation panics, the text is kept, and the next edit
//! repeats the derivation.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use noisy_analyses::{Document, NoiseModel};
use ropey::Rope;

/// The text and the derived document, if it could be derived.
pub(crate) struct Content {
    /// The noise model.
    model: Arc<NoiseModel>,
    derived: Derived,
}

enum Derived {
    Good(Box<Document>),
    Broken(Rope),
}

fn derive(text: &str, model: &Arc<NoiseModel>) -> Derived {
    let read = || Document::with_model(text, Arc::clone(model));
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(document) => Derived::Good(Box::new(document)),
        Err(_) => Derived::Broken(Rope::from_str(text)),
    }
}

impl Content {
    /// Derives a document from a text with a noise model.
    pub(crate) fn new(text: &str, model: Arc<NoiseModel>) -> Self {
        Self { derived: derive(text, &model), model }
    }

    /// Derives the document again with another noise model.
    pub(crate) fn set_model(&mut self, model: &Arc<NoiseModel>) {
        if self.model != *model {
            let text = self.text().to_string();
            // The old data is dropped first, because two copies of a large file may not fit into
            // memory.
            self.derived = Derived::Broken(Rope::new());
            *self = Self::new(&text, Arc::clone(model));
        }
    }

    pub(crate) fn text(&self) -> &Rope {
        match &self.derived {
            Derived::Good(document) => document.source().text(),
            Derived::Broken(text) => text,
        }
    }

    /// The derived document.
    pub(crate) fn document(&self) -> Option<&Document> {
        match &self.derived {
            Derived::Good(document) => Some(document),
            Derived::Broken(_) => None,
        }
    }

    /// Replaces a range of bytes. Its ends must be character boundaries of the text.
    pub(crate) fn edit(&mut self, bytes: Range<usize>, new: &str) {
        // A clone of a rope is cheap: only the nodes that the edit touches are copied.
        let mut text = self.text().clone();
        if let Derived::Good(document) = &mut self.derived {
            let bytes = bytes.clone();
            if catch_unwind(AssertUnwindSafe(|| document.edit(bytes, new))).is_ok() {
                return;
            }
        }
        let (from, to) = (text.byte_to_char(bytes.start), text.byte_to_char(bytes.end));
        text.remove(from..to);
        text.insert(from, new);
        self.derived = derive(&text.to_string(), &self.model);
    }
}

/// The single difference of two texts: the bytes of the old one, and their replacement in the new
/// one.
pub(crate) fn difference<'a>(old: &Rope, new: &'a str) -> (Range<usize>, &'a str) {
    let bytes = new.as_bytes();
    let mut prefix = 0;
    for chunk in old.chunks() {
        let n = chunk.bytes().zip(&bytes[prefix..]).take_while(|(a, b)| a == *b).count();
        prefix += n;
        if n < chunk.len() {
            break;
        }
    }
    while !new.is_char_boundary(prefix) {
        prefix -= 1;
    }
    let room = old.len_bytes().min(new.len()) - prefix;
    let mut suffix = 0;
    let (mut chunks, ..) = old.chunks_at_byte(old.len_bytes());
    while let Some(chunk) = chunks.prev() {
        let ends = bytes[..new.len() - suffix].iter().rev();
        let n = chunk.bytes().rev().zip(ends).take_while(|(a, b)| a == *b).count();
        suffix += n;
        if n < chunk.len() || suffix >= room {
            break;
        }
    }
    suffix = suffix.min(room);
    while !new.is_char_boundary(new.len() - suffix) {
        suffix -= 1;
    }
    (prefix..old.len_bytes() - suffix, &new[prefix..new.len() - suffix])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) {
        let rope = Rope::from_str(old);
        let (bytes, text) = difference(&rope, new);
        let mut out = old.to_owned();
        out.replace_range(bytes.clone(), text);
        assert_eq!(out, new, "{old:?} {bytes:?} {text:?}");
    }

    #[test]
    fn applying_the_difference_gives_the_new_text() {
        let long = "abc \u{e9} \n".repeat(1000);
        for (old, new) in [
            ("", ""),
            ("", "a"),
            ("a", ""),
            ("aa", "aaa"),
            ("aaa", "aa"),
            ("a\u{e9}b", "a\u{e8}b"),
            ("\u{1F600}", "\u{1F601}"),
            ("abcabc", "abc"),
            (&long, &long[..4000]),
            (&long, &format!("{}x{}", &long[..4002], &long[4002..])),
        ] {
            check(old, new);
            check(new, old);
        }
        let rope = Rope::from_str(&long);
        let new = format!("{}x{}", &long[..4000], &long[4000..]);
        let (bytes, text) = difference(&rope, &new);
        assert_eq!(text.len(), 1);
        assert!(bytes.is_empty());
    }
}
