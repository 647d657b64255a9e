//! Problems of a configuration, with their positions.

use std::fmt;
use std::ops::Range;

/// A problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Its range, in bytes of the text.
    pub range: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in Unicode scalar values, counted from 1.
    pub column: usize,
    /// The message, with a suggestion if there is one.
    pub message: String,
}

impl ConfigProblem {
    /// Creates a problem with a range of a text.
    pub(crate) fn new(text: &str, range: Range<usize>, message: String) -> Self {
        let mut start = range.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        Self { range, line, column, message: to_one_line(&message) }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Replaces control characters, which names from a file may contain, so that the text is one line
/// and cannot control a terminal.
pub(crate) fn to_one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Rewords a message of serde about a wrong value as the expected type and the actual value.
pub(crate) fn reword(said: &str) -> String {
    let Some((what, expected)) = said.split_once(", expected ") else { return said.to_owned() };
    if let Some(it) = what.strip_prefix("unknown variant ") {
        let wrong = it.trim_matches('`');
        // Matches "one of `a`, `b`" and "`a` or `b`".
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

/// Returns the name that is most similar to a wrong one, if it is similar enough.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words are not compared.
    const LONG: usize = 64;
    if wrong.len() > LONG {
        return None;
    }
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase().replace('_', "-"), name);
    let (name, distance) = names.map(|it| (it, distance(it))).min_by_key(|it| it.1)?;
    (distance <= (wrong.chars().count() / 3).max(1)).then_some(name)
}
