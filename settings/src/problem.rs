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
        Self { range, line, column, message: in_a_line(&message) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// A text that holds names from a file in one line, without what a terminal acts on.
pub(crate) fn in_a_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// What serde says of a wrong value, in words: what was expected, and what stands there instead.
pub(crate) fn in_words(said: &str) -> String {
    let Some((what, expected)) = said.split_once(", expected ") else { return said.to_owned() };
    if let Some(it) = what.strip_prefix("unknown variant ") {
        let wrong = it.trim_matches('`');
        // `one of `a`, `b``, `` `a` or `b` ``
        let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return match nearest(wrong, names.iter().copied()) {
            Some(name) => format!("unknown value `{wrong}`; did you mean `{name}`?"),
            None => format!("unknown value `{wrong}`; there are {}", names.join(", ")),
        };
    }
    let found =
        what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
    let Some(found) = found else { return said.to_owned() };
    let found = match found.split_once(' ') {
        Some(("string" | "integer" | "boolean" | "floating", it)) => {
            it.trim_start_matches("point ")
        }
        _ if found == "map" => "a table",
        _ if found == "sequence" => "an array",
        _ => found,
    };
    let expected = match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "u64" | "usize" => "a whole number from 0",
        "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a map" => "a table",
        "a sequence" => "an array",
        it => it,
    };
    format!("expected {expected}, not {found}")
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
