//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;

/// One thing wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, in bytes of the text.
    pub range: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column in Unicode scalar values, from 1.
    pub column: usize,
    /// What is wrong, and what to write instead where that is known.
    pub message: String,
}

impl Problem {
    /// A problem of a range of a text.
    pub(crate) fn new(text: &str, range: Range<usize>, message: String) -> Self {
        let mut start = range.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        Self { range, line, column, message }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The name nearest to a wrong one, if it is near enough to be what was meant.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer than any name: nothing is near.
    const LONG: usize = 64;
    if wrong.len() > LONG {
        return None;
    }
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase().replace('_', "-"), name);
    let (name, distance) = names.map(|it| (it, distance(it))).min_by_key(|it| it.1)?;
    (distance <= (wrong.chars().count() / 3).max(1)).then_some(name)
}
