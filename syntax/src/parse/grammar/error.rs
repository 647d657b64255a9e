//! Errors of the grammar of `values.rs`, and their messages.

use chumsky::error::{Error, LabelError};
use chumsky::util::MaybeRef;

use super::words::{Word, Words};

/// The word at which the grammar failed, and the expected words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// Index of the word; the number of words if it is missing.
    pub(super) at: usize,
    /// The first few things that the grammar expected here.
    pub(super) expected: [&'static str; 3],
}

impl SyntaxError {
    pub(super) fn new(at: usize) -> Self {
        Self { at, expected: [""; 3] }
    }

    pub(super) fn add(&mut self, label: &'static str) {
        for slot in &mut self.expected {
            if slot.is_empty() || *slot == label {
                *slot = label;
                return;
            }
        }
    }

    /// Returns a message such as `expected ',' or '>'`.
    pub(super) fn message(&self) -> String {
        let all: Vec<_> = self.expected.iter().copied().filter(|it| !it.is_empty()).collect();
        match all.as_slice() {
            [] => "unexpected token".to_owned(),
            [one] => format!("expected {one}"),
            [most @ .., last] => format!("expected {} or {last}", most.join(", ")),
        }
    }
}

impl<'a> Error<'a, Words<'a>> for SyntaxError {
    fn merge(mut self, other: Self) -> Self {
        for label in other.expected {
            if !label.is_empty() {
                self.add(label);
            }
        }
        self
    }
}

impl<'a, L> LabelError<'a, Words<'a>, L> for SyntaxError
where
    L: AsLabel,
{
    fn expected_found<E: IntoIterator<Item = L>>(
        expected: E,
        _: Option<MaybeRef<'a, Word<'a>>>,
        span: chumsky::span::SimpleSpan<usize>,
    ) -> Self {
        let mut it = Self::new(span.start);
        for label in expected {
            if let Some(label) = label.as_label() {
                it.add(label);
            }
        }
        it
    }

    fn label_with(&mut self, label: L) {
        if let Some(label) = label.as_label() {
            self.expected = [label, "", ""];
        }
    }
}

/// A label that is the description of an expected thing in a message.
pub(super) trait AsLabel {
    fn as_label(&self) -> Option<&'static str>;
}

impl AsLabel for &'static str {
    fn as_label(&self) -> Option<&'static str> {
        Some(self)
    }
}

impl AsLabel for chumsky::DefaultExpected<'_, Word<'_>> {
    fn as_label(&self) -> Option<&'static str> {
        None
    }
}
