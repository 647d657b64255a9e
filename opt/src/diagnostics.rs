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
pub enum DiagnosticSeverity {
    /// The exit code of the tool is a failure.
    Error,
    /// The exit code of the tool is not affected.
    Warning,
    /// Information from a pass.
    Remark,
    /// A note about the previous diagnostic.
    Note,
}

impl DiagnosticSeverity {
    fn text(self) -> &'static str {
        match self {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Remark => "remark",
            DiagnosticSeverity::Note => "note",
        }
    }
}

/// A part of a file that is processed separately (`--split-input-file`), or a whole file.
#[derive(Debug)]
pub struct InputText {
    /// The name of the file.
    pub file: String,
    /// The text of the part.
    pub text: String,
    /// Number of lines of the file before the part.
    pub first_line: usize,
    /// The byte offset of each line in the part, computed at the first use.
    starts: OnceCell<Vec<usize>>,
}

impl InputText {
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
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
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
        let from =
            if at > EXCERPT_RADIUS { floor_char_boundary(text, at - EXCERPT_RADIUS) } else { 0 };
        let to = floor_char_boundary(text, at.saturating_add(EXCERPT_RADIUS));
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
const EXCERPT_RADIUS: usize = 500;

/// Maximum number of diagnostics of a part that are printed.
const MAX_PRINTED: usize = 1000;

/// Replaces control characters by U+FFFD, except line breaks and tabs, so that no text of a file
/// can control the terminal.
fn without_control_characters(text: &str) -> String {
    let is_hidden = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    text.replace(is_hidden, "\u{fffd}")
}

/// The destination of diagnostics.
#[derive(Debug)]
pub struct DiagnosticSink {
    /// The diagnosed text.
    input: InputText,
    /// True if diagnostics are collected in `collected` and compared with expectations; false if
    /// they are printed.
    is_collecting: bool,
    collected: Vec<(DiagnosticSeverity, Option<usize>, String)>,
    n_errors: usize,
    /// Number of diagnostics to be printed, including those above the maximum.
    n_reported: usize,
}

impl DiagnosticSink {
    /// Returns a sink that prints diagnostics, or collects them if `is_collecting`.
    pub fn new(input: InputText, is_collecting: bool) -> Self {
        Self { input, is_collecting, collected: Vec::new(), n_errors: 0, n_reported: 0 }
    }

    /// Returns the diagnosed part of the file.
    pub fn input(&self) -> &InputText {
        &self.input
    }

    /// Returns the diagnosed text.
    pub fn text(&self) -> &str {
        &self.input.text
    }

    /// Returns true if there were no diagnostics.
    pub fn is_silent(&self) -> bool {
        self.collected.is_empty() && self.n_reported == 0
    }

    /// Returns the number of errors.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Reports a diagnostic at a byte offset of the text, or without a position.
    pub fn report(&mut self, severity: DiagnosticSeverity, at: Option<usize>, text: &str) {
        self.n_errors += usize::from(severity == DiagnosticSeverity::Error);
        let place = at.map(|it| self.input.line_and_column(it.min(self.input.text.len())));
        if self.is_collecting {
            self.collected.push((severity, place.map(|it| it.0), text.to_owned()));
            return;
        }
        self.n_reported += 1;
        if self.n_reported > MAX_PRINTED {
            if self.n_reported == MAX_PRINTED + 1 {
                let text =
                    format!("{}: note: more than {MAX_PRINTED} diagnostics", self.input.file);
                let _ = writeln!(
                    std::io::stderr(),
                    "{}, the others are not shown",
                    without_control_characters(&text)
                );
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
        let _ = std::io::stderr().write_all(without_control_characters(&out).as_bytes());
    }

    /// Reports a diagnostic on an op, at its position in the source.
    pub(crate) fn report_at_op(
        &mut self,
        severity: DiagnosticSeverity,
        ir: &Ir,
        op: Op,
        text: &str,
    ) {
        self.report(severity, offset_of(ir, op), text);
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
        for (severity, line, text) in &self.collected {
            let row = line.map(|it| it - 1);
            if let Err((place, why)) = expected.mark_met(severity.text(), row, text)
                && *severity != DiagnosticSeverity::Note
            {
                let of_place = |it: Range<usize>| self.input.line_and_column(it.start).0 - 1;
                tell(place.map(of_place).or(row).unwrap_or(0), why);
            }
        }
        wrong.extend(expected.unmet());
        for (range, why) in wrong {
            tell(self.input.line_and_column(range.start).0 - 1, why);
        }
        out
    }
}

/// Returns the byte offset of an op in the source, or of the nearest enclosing op that has one.
pub fn offset_of(ir: &Ir, op: Op) -> Option<usize> {
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
    fn excerpt_of_a_long_line_is_truncated() {
        let long = "ä{".repeat(100_000);
        let input = InputText::new("a.mlir", format!("a {{\r\n{long}\nend"), 0);
        assert_eq!(input.excerpt(1, 3), ("a {".to_owned(), 2));
        assert_eq!(input.excerpt(3, 4), ("end".to_owned(), 3));
        for column in [1, 2, 3, 499, 70_000, 150_000, 299_999, 300_000, 300_001] {
            let (line, before) = input.excerpt(2, column);
            assert!(line.len() <= 2 * EXCERPT_RADIUS + 8, "{column}");
            let wanted = long[floor_char_boundary(&long, column - 1)..].chars().next();
            assert_eq!(line.chars().nth(before), wanted, "{column}");
        }
    }

    #[test]
    fn replaces_control_characters() {
        assert_eq!(without_control_characters("a\x1b[2J\tb\r\n"), "a\u{fffd}[2J\tb\u{fffd}\n");
    }
}
