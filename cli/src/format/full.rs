//! For people: each finding on its source, with the chain that fed the noise.
//!
//! `ariadne` draws. It is given excerpts, not files: the lines concerned and what stands between those near each other, with lines
//! that are too long cut. So it costs the same in a file of any size.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use ariadne::{Color, Config, Label, Report, ReportKind, Source};
use noisy_analyses::{Diagnostic, Severity};
use ropey::Rope;

use crate::check::Checked;

/// Labels on lines so far apart are drawn as one piece.
const NEAR: usize = 4;
/// Of a longer chain only the first and the last steps are drawn.
const FIRST: usize = 1;
const LAST: usize = 4;
/// Longer lines are cut around the label.
const MAX_LINE: usize = 300;

pub(super) fn file(checked: &Checked, color: bool) -> String {
    let mut out = String::new();
    if let Some(failure) = &checked.failure {
        let place = failure.place.map_or(String::new(), |(row, column)| format!("{row}:{column}:"));
        let _ = writeln!(out, "{}:{place} error[{}] {}\n", checked.name, failure.code, failure.message);
    }
    for it in &checked.diagnostics {
        out.push_str(&draw(checked, it, color));
        out.push('\n');
    }
    for note in &checked.mended.notes {
        let _ = writeln!(out, "{}: @{}: {}", checked.name, note.function, note.text);
    }
    out
}

/// A place to mark, and what to say there.
struct Mark<'a> {
    row: usize,
    range: Range<usize>,
    message: &'a str,
    is_primary: bool,
}

/// Where an excerpt stands: the file, and its number so that excerpts of one file differ.
type Id = (String, usize);

struct Excerpts<'a> {
    name: &'a str,
    sources: BTreeMap<usize, Source<String>>,
}

impl ariadne::Cache<Id> for Excerpts<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &Id) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.sources.get(&id.1).ok_or_else(|| format!("no excerpt {}", id.1))
    }

    fn display<'b>(&self, _: &'b Id) -> Option<impl std::fmt::Display + 'b> {
        Some(self.name.to_owned())
    }
}

fn draw(checked: &Checked, it: &Diagnostic, color: bool) -> String {
    let (mut marks, n_hidden) = marks(&checked.text, it);
    marks.sort_by_key(|it| it.row);
    let mut groups: Vec<Vec<Mark<'_>>> = Vec::new();
    for mark in marks {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|it| it.row + NEAR >= mark.row) => group.push(mark),
            _ => groups.push(vec![mark]),
        }
    }
    // The finding itself first, then the chain from its source on.
    groups.sort_by_key(|group| !group.iter().any(|it| it.is_primary));

    let (kind, paint) = match it.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
        Severity::Info => (ReportKind::Custom("Info", Color::Blue), Color::Blue),
        Severity::Hint => (ReportKind::Custom("Hint", Color::Cyan), Color::Cyan),
    };
    let mut excerpts = Excerpts { name: &checked.name, sources: BTreeMap::new() };
    let mut labels = Vec::new();
    let mut primary = ((checked.name.clone(), 0), 0..0);
    for (n, group) in groups.iter().enumerate() {
        let (source, ranges) = excerpt(&checked.text, group);
        excerpts.sources.insert(n, source);
        for (mark, range) in group.iter().zip(ranges) {
            let span = ((checked.name.clone(), n), range);
            if mark.is_primary {
                primary = span.clone();
            }
            let label = Label::new(span).with_message(mark.message).with_order(labels.len() as i32);
            labels.push(label.with_color(if mark.is_primary { paint } else { Color::Blue }));
        }
    }
    let mut report = Report::build(kind, primary)
        .with_config(Config::new().with_color(color))
        .with_code(it.code)
        .with_message(&it.message)
        .with_labels(labels);
    if n_hidden > 0 {
        let steps = if n_hidden == 1 { "step".to_owned() } else { format!("{n_hidden} steps") };
        report = report.with_note(format!("{steps} of the chain not shown"));
    }
    if let Some(help) = &it.help {
        report = report.with_help(help);
    }
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = report.finish().write(excerpts, &mut out);
    // Drawn lines end in blanks where there is nothing to draw.
    let text = String::from_utf8_lossy(&out);
    text.lines().fold(String::new(), |acc, line| acc + line.trim_end() + "\n")
}

/// The marks of a diagnostic, and how many steps of its chain are left out.
fn marks<'a>(text: &Rope, it: &'a Diagnostic) -> (Vec<Mark<'a>>, usize) {
    let n = it.related.len();
    let n_hidden = if n > FIRST + LAST + 1 { n - FIRST - LAST } else { 0 };
    let shown = it.related.iter().enumerate().filter(|(at, _)| n_hidden == 0 || *at < FIRST || *at >= n - LAST);
    let mark = |range: &Range<usize>, message, is_primary| {
        let range = range.start.min(text.len_bytes())..range.end.min(text.len_bytes());
        Mark { row: text.byte_to_line(range.start), range, message, is_primary }
    };
    let mut out: Vec<_> = shown.map(|(_, it)| mark(&it.range, &it.message, false)).collect();
    // The message stands in the headline; at its place a last step of the chain says more.
    let own = out.iter().position(|other| other.range == it.range);
    match own {
        Some(at) => out[at].is_primary = true,
        None => out.push(mark(&it.range, "here", true)),
    }
    (out, n_hidden)
}

/// The lines of a group of marks, and the marks in characters of them.
fn excerpt(text: &Rope, group: &[Mark<'_>]) -> (Source<String>, Vec<Range<usize>>) {
    let first = group.iter().map(|it| it.row).min().unwrap_or(0);
    let last = group.iter().map(|it| it.row).max().unwrap_or(0);
    let mut out = String::new();
    let mut n_chars = 0;
    let mut ranges = vec![0..0; group.len()];
    for row in first..=last {
        let start = text.line_to_char(row);
        let line = text.line(row);
        let mut len = line.len_chars();
        while len > 0 && matches!(line.char(len - 1), '\n' | '\r') {
            len -= 1;
        }
        let marks: Vec<_> = group.iter().enumerate().filter(|(_, it)| it.row == row).collect();
        let columns = |mark: &Mark<'_>| {
            let column = |byte| text.byte_to_char(byte).saturating_sub(start).min(len);
            column(mark.range.start)..column(mark.range.end)
        };
        // A line too long is shown from a little before its first mark on.
        let from = match marks.iter().map(|(_, it)| columns(it).start).min() {
            Some(column) if len > MAX_LINE => column.saturating_sub(MAX_LINE / 4),
            _ => 0,
        };
        let to = len.min(from + MAX_LINE);
        for (n, mark) in marks {
            let columns = columns(mark);
            let column = |at: usize| n_chars + at.clamp(from, to) - from;
            ranges[n] = column(columns.start)..column(columns.end).max(column(columns.start));
        }
        for c in line.slice(from..to).chars() {
            // What ariadne takes for the end of a line is none here.
            out.push(if matches!(c, '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}') { ' ' } else { c });
        }
        out.push('\n');
        n_chars += to - from + 1;
    }
    (Source::from(out).with_display_line_offset(first), ranges)
}
