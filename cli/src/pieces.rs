//! Edits of edits: what several rounds of changes make of a text, as edits of the first.

use std::ops::Range;

use noisy_analyses::TextEdit;

/// A text as what is kept of another and what came in between.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    original: &'a str,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A range of the original.
    Kept(Range<usize>),
    /// New text.
    New(String),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::Kept(range) => range.len(),
            Part::New(text) => text.len(),
        }
    }

    fn slice(&self, range: Range<usize>) -> Part {
        match self {
            Part::Kept(it) => Part::Kept(it.start + range.start..it.start + range.end),
            Part::New(text) => Part::New(text[range].to_owned()),
        }
    }
}

impl<'a> Pieces<'a> {
    /// The text itself.
    pub(crate) fn new(original: &'a str) -> Self {
        Self { original, parts: vec![Part::Kept(0..original.len())] }
    }

    /// Changes the text as it is now; the edits are in order and disjoint.
    pub(crate) fn apply(&mut self, edits: &[TextEdit]) {
        let mut out = Vec::with_capacity(self.parts.len() + 2 * edits.len());
        let mut edits = edits.iter().peekable();
        let mut start = 0;
        // Up to here the text is gone.
        let mut gone = 0;
        for part in &self.parts {
            let end = start + part.len();
            let mut at = start.max(gone);
            while let Some(edit) = edits.next_if(|it| it.range.start < end) {
                if at < edit.range.start {
                    out.push(part.slice(at - start..edit.range.start - start));
                }
                out.push(Part::New(edit.text.clone()));
                gone = edit.range.end;
                at = gone.max(start);
            }
            if at < end {
                out.push(part.slice(at - start..end - start));
            }
            start = end;
        }
        out.extend(edits.map(|it| Part::New(it.text.clone())));
        out.retain(|it| it.len() > 0);
        self.parts = out;
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        let parts = self.parts.iter().map(|it| match it {
            Part::Kept(range) => &self.original[range.clone()],
            Part::New(text) => text,
        });
        parts.collect()
    }

    /// The edits that make it of the original, in order and disjoint.
    pub(crate) fn edits(&self) -> Vec<TextEdit> {
        let mut out: Vec<TextEdit> = Vec::new();
        let mut at = 0;
        let mut new = String::new();
        let whole = self.original.len()..self.original.len();
        for part in self.parts.iter().chain([&Part::Kept(whole)]) {
            match part {
                Part::New(text) => new.push_str(text),
                Part::Kept(range) => {
                    if at < range.start || !new.is_empty() {
                        out.push(TextEdit {
                            range: at..range.start,
                            text: std::mem::take(&mut new),
                        });
                    }
                    at = range.end;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: Range<usize>, text: &str) -> TextEdit {
        TextEdit { range, text: text.to_owned() }
    }

    #[test]
    fn rounds_of_edits_are_edits_of_the_first_text() {
        let rounds = [
            vec![edit(0..0, "<"), edit(2..4, ""), edit(8..8, "12"), edit(10..10, ">")],
            vec![edit(0..2, "x"), edit(7..9, "AB"), edit(9..10, "")],
            vec![edit(0..6, ""), edit(8..8, "end")],
            vec![],
        ];
        let original = "0123456789";
        let mut pieces = Pieces::new(original);
        let mut text = original.to_owned();
        for edits in rounds {
            for it in edits.iter().rev() {
                text.replace_range(it.range.clone(), &it.text);
            }
            pieces.apply(&edits);
            assert_eq!(pieces.text(), text);
            let mut again = original.to_owned();
            for it in pieces.edits().iter().rev() {
                again.replace_range(it.range.clone(), &it.text);
            }
            assert_eq!(again, text);
        }
    }

    #[test]
    fn nothing_is_no_edit() {
        assert_eq!(Pieces::new("").edits(), []);
        let mut pieces = Pieces::new("");
        pieces.apply(&[edit(0..0, "a")]);
        assert_eq!((pieces.text().as_str(), pieces.edits()), ("a", vec![edit(0..0, "a")]));
    }
}
