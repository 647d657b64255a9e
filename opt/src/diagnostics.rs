//! Diagnostics, printed on stderr as `FILE:LINE:COL: severity: text`, or compared with the
//! `expected-*` comments in the text.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use noisy_analyses::report::expectation::Expectations;
use noisy_syntax::{Ir, Op, floor_char_boundary};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The exit code of the tool is a failure.
    Error,
    /// The exit code of the tool is not affected.
    Warning,
    /// Information from a pass.
    Remark,
    /// A note about the previous diagnostic.
    Note,
}

impl Severity {
    fn text(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// A part of a file that is processed separately (`--split-input-file`), or a whole file.
#[derive(Debug)]
pub struct Input {
    /// The name of the file.
    pub file: String,
    /// The text of the part.
    pub text: String,
    /// Number of lines of the file before the part.
    pub first_line: usize,
    /// The byte offset of each line in the part, computed at the first use.
    starts: OnceCell<Vec<usize>>,
}

impl Input {
    pub fn new(file: &str, text: String, first_line: usize) -> Self {
        Self { file: file.to_owned(), text, first_line, starts: OnceCell::new() }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let ends = self.text.match_indices('\n').map(|it| it.0 + 1);
            std::iter::once(0).chain(ends).collect()
        })
    }

    /// Returns the line and the column of a byte offset in the part, both from 1.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let starts = self.starts();
        let line = starts.partition_point(|&it| it <= at);
        (line, at - starts[line - 1] + 1)
    }

    /// Returns the line with a number, from 1, and the number of its characters before a column. A
    /// long line is truncated to the text around the column.
    fn excerpt(&self, line: usize, column: usize) -> (String, usize) {
        let start = self.starts()[line - 1];
        let end = self.starts().get(line).copied().unwrap_or(self.text.len());
        let text = self.text[start..end].trim_end_matches(['\n', '\r']);
        let at = floor_char_boundary(text, column - 1);
        let from = if at > AROUND { floor_char_boundary(text, at - AROUND) } else { 0 };
        let to = floor_char_boundary(text, at.saturating_add(AROUND));
        let (mut out, mut before) = (String::new(), text[from..at].chars().count());
        if from > 0 {
            out.push_str("...");
            before += 3;
        }
        out.push_str(&text[from..to]);
        if to < text.len() {
            out.push_str("...");
        }
        (out, before)
    }
}

/// Number of bytes of a line that are shown on each side of a position.
const AROUND: usize = 500;

/// Maximum number of diagnostics of a part that are printed.
const MOST: usize = 1000;

/// Replaces control characters by U+FFFD, except line breaks and tabs, so that no text of a file
/// can control the terminal.
fn shown(text: &str) -> String {
    let is_hidden = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    text.replace(is_hidden, "\u{fffd}")
}

/// The destination of diagnostics.
#[derive(Debug)]
pub struct Sink {
    /// The diagnosed text.
    input: Input,
    /// True if diagnostics are collected in `got` and compared with expectations; false if they are
    /// printed.
    expects: bool,
    got: Vec<(Severity, Option<usize>, String)>,
    n_errors: usize,
    /// Number of diagnostics to be printed, including those above the maximum.
    n_told: usize,
}

impl Sink {
    /// Returns a sink that prints diagnostics, or collects them if `expects`.
    pub fn new(input: Input, expects: bool) -> Self {
        Self { input, expects, got: Vec::new(), n_errors: 0, n_told: 0 }
    }

    /// Returns the diagnosed part of the file.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the diagnosed text.
    pub fn text(&self) -> &str {
        &self.input.text
    }

    /// Returns true if there were no diagnostics.
    pub fn is_silent(&self) -> bool {
        self.got.is_empty() && self.n_told == 0
    }

    /// Returns the number of errors.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Reports a diagnostic at a byte offset of the text, or without a position.
    pub fn tell(&mut self, severity: Severity, at: Option<usize>, text: &str) {
        self.n_errors += usize::from(severity == Severity::Error);
        let place = at.map(|it| self.input.place(it.min(self.input.text.len())));
        if self.expects {
            self.got.push((severity, place.map(|it| it.0), text.to_owned()));
            return;
        }
        self.n_told += 1;
        if self.n_told > MOST {
            if self.n_told == MOST + 1 {
                let text = format!("{}: note: more than {MOST} diagnostics", self.input.file);
                let _ = writeln!(std::io::stderr(), "{}, the others are not shown", shown(&text));
            }
            return;
        }
        let mut out = String::new();
        let kind = severity.text();
        let first = text.lines().next().unwrap_or("");
        match place {
            Some((line, column)) => {
                let in_file = line + self.input.first_line;
                let (source, before) = self.input.excerpt(line, column);
                let _ = writeln!(out, "{}:{in_file}:{column}: {kind}: {text}", self.input.file);
                let _ = writeln!(out, "{source}\n{}^", " ".repeat(before));
            }
            None => {
                let _ = writeln!(out, "{}: {kind}: {text}", self.input.file);
            }
        }
        debug_assert!(
            text.is_empty() || !first.is_empty(),
            "a diagnostic starts with its sentence"
        );
        let _ = std::io::stderr().write_all(shown(&out).as_bytes());
    }

    /// Reports a diagnostic on an op, at its position in the source.
    pub(crate) fn tell_op(&mut self, severity: Severity, ir: &Ir, op: Op, text: &str) {
        self.tell(severity, place_of(ir, op), text);
    }

    /// Compares the diagnostics with the `expected-*` comments of the text. Returns a description
    /// of each difference.
    pub fn unexpected(&self) -> Vec<String> {
        let (mut expected, mut wrong) = Expectations::read(&self.input.text);
        let mut out = Vec::new();
        let mut tell = |row: usize, why: String| {
            let line = row + 1 + self.input.first_line;
            out.push(format!("{}:{line}: error: {why}", self.input.file));
        };
        for (severity, line, text) in &self.got {
            let row = line.map(|it| it - 1);
            if let Err((place, why)) = expected.meet(severity.text(), row, text)
                && *severity != Severity::Note
            {
                let of_place = |it: Range<usize>| self.input.place(it.start).0 - 1;
                tell(place.map(of_place).or(row).unwrap_or(0), why);
            }
        }
        wrong.extend(expected.unmet());
        for (range, why) in wrong {
            tell(self.input.place(range.start).0 - 1, why);
        }
        out
    }
}

/// Returns the byte offset of an op in the source, or of the nearest enclosing op that has one.
pub fn place_of(ir: &Ir, op: Op) -> Option<usize> {
    let mut at = Some(op);
    while let Some(it) = at {
        if let Some(range) = ir.origin(it) {
            return Some(range.start);
        }
        at = ir.parent_op(it);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_is_around_a_column_is_shown() {
        let long = "ä{".repeat(100_000);
        let input = Input::new("a.mlir", format!("a {{\r\n{long}\nend"), 0);
        assert_eq!(input.excerpt(1, 3), ("a {".to_owned(), 2));
        assert_eq!(input.excerpt(3, 4), ("end".to_owned(), 3));
        for column in [1, 2, 3, 499, 70_000, 150_000, 299_999, 300_000, 300_001] {
            let (line, before) = input.excerpt(2, column);
            assert!(line.len() <= 2 * AROUND + 8, "{column}");
            let wanted = long[floor_char_boundary(&long, column - 1)..].chars().next();
            assert_eq!(line.chars().nth(before), wanted, "{column}");
        }
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("a\x1b[2J\tb\r\n"), "a\u{fffd}[2J\tb\u{fffd}\n");
    }
}
