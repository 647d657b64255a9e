//! For people: each finding on its source, with the chain that fed the noise.
//!
//! `ariadne` draws. It looks at all lines between the labels of one source, so labels that are far apart are put on sources of
//! different names, all of them the same file: a finding costs what is drawn of it. Lines that are too long are not drawn.

use std::fmt::Write as _;
use std::ops::Range;

use ariadne::{Color, Config, Label, Report, ReportKind, Source};
use noisy_analyses::Diagnostic;
use noisy_output::{is_hidden, picture, shown_line};
use ropey::{Rope, RopeSlice};

use super::concise;
use crate::check::Checked;
use crate::paint;

/// Labels on lines so far apart are drawn as one piece.
const NEAR: usize = 4;
/// Longer lines are not drawn.
const MAX_LINE: usize = 1000;

pub(super) fn file(checked: &Checked, color: bool) -> String {
    let mut out = String::new();
    if !checked.diagnostics.is_empty() {
        let source = sheet(shown_part(checked));
        for it in &checked.diagnostics {
            out.push_str(&draw(checked, &source, it, color));
            out.push('\n');
        }
    }
    for note in &checked.fixed.notes {
        let line = format!("{}: @{}: {}", checked.name, note.function, note.text);
        let _ = writeln!(out, "{}", shown_line(&line));
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

/// A part of the file, by its number.
type Id = usize;

/// The parts of a file: one source under many names.
#[derive(Clone, Copy)]
struct Parts<'a> {
    name: &'a str,
    source: &'a Source<String>,
}

impl ariadne::Cache<Id> for Parts<'_> {
    type Storage = String;

    fn fetch(&mut self, _: &Id) -> Result<&Source<String>, impl std::fmt::Debug> {
        Ok::<_, std::convert::Infallible>(self.source)
    }

    fn display<'b>(&self, _: &'b Id) -> Option<impl std::fmt::Display + 'b> {
        Some(shown_line(self.name).into_owned())
    }
}

/// The lines up to the last one that is marked.
fn shown_part(checked: &Checked) -> RopeSlice<'_> {
    let text = &checked.text;
    let marked = |it: &Diagnostic| {
        let related = it.related.iter().map(|it| it.range.start).max();
        it.range.start.max(related.unwrap_or(0)).min(text.len_bytes())
    };
    let last = text.byte_to_line(checked.diagnostics.iter().map(marked).max().unwrap_or(0));
    text.slice(..text.line_to_char((last + 1).min(text.len_lines())))
}

/// The text as ariadne shall see it, character by character: what it takes for the end of a line, and MLIR does not, is a blank.
fn sheet(text: RopeSlice<'_>) -> Source<String> {
    let mut out = text.to_string();
    if out.bytes().all(|it| matches!(it, b' '..=b'~' | b'\t' | b'\n' | b'\r')) {
        return Source::from(out);
    }
    let odd = ['\x0b', '\x0c', '\u{85}', '\u{2028}', '\u{2029}'];
    if out.contains(odd) {
        out = out.replace(odd, " ");
    }
    // A carriage return ends a line and is not drawn.
    let is_pictured = |it: char| it != '\r' && is_hidden(it);
    if out.contains(is_pictured) {
        let show = |it: char| if is_pictured(it) { picture(it) } else { it };
        out = out.chars().map(show).collect();
    }
    Source::from(out)
}

fn draw(checked: &Checked, source: &Source<String>, it: &Diagnostic, color: bool) -> String {
    let mut marks = marks(&checked.text, it);
    marks.retain(|it| {
        let start = source.line(it.row).map_or(source.len(), |line| line.offset());
        line_end(source, it.row) - start <= MAX_LINE
    });
    if !marks.iter().any(|it| it.is_primary) {
        return concise::line(checked, it, color);
    }
    marks.sort_by_key(|it| it.row);
    let mut groups: Vec<Vec<Mark<'_>>> = Vec::new();
    for mark in marks {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|it| it.row + NEAR >= mark.row) => {
                group.push(mark);
            }
            _ => groups.push(vec![mark]),
        }
    }
    // The finding itself first, then the chain from its source on.
    groups.sort_by_key(|group| !group.iter().any(|it| it.is_primary));

    let paint = match paint::number(it.severity) {
        1 => Color::Red,
        3 => Color::Yellow,
        4 => Color::Blue,
        _ => Color::Cyan,
    };
    let headline = format!("{}[{}]", it.severity.name(), it.code);
    let chars = |range: &Range<usize>| {
        let (from, to) =
            (checked.text.byte_to_char(range.start), checked.text.byte_to_char(range.end));
        // A mark ends with its line; only the first line of a range is marked.
        from..to.min(line_end(source, checked.text.byte_to_line(range.start))).max(from)
    };
    let mut labels = Vec::new();
    let mut primary = (0, 0..0);
    for (n, group) in groups.iter().enumerate() {
        for mark in group {
            let span = (n, chars(&mark.range));
            if mark.is_primary {
                primary = span.clone();
            }
            let label = Label::new(span)
                .with_message(shown_line(mark.message))
                .with_order(labels.len() as i32);
            labels.push(label.with_color(if mark.is_primary { paint } else { Color::Blue }));
        }
    }
    let mut report = Report::build(ReportKind::Custom(&headline, paint), primary)
        .with_config(Config::new().with_color(color))
        .with_message(shown_line(&it.message))
        .with_labels(labels);
    if let Some(help) = &it.help {
        report = report.with_help(shown_line(help));
    }
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = report.finish().write(Parts { name: &checked.name, source }, &mut out);
    let mut text = String::from_utf8_lossy(&out).into_owned();
    if !color {
        // NB ariadne colors the headline of kinds of our own in any case.
        text = anstream::adapter::strip_str(&text).to_string();
    }
    // Drawn lines end in blanks where there is nothing to draw.
    text.lines().fold(String::new(), |acc, line| acc + line.trim_end() + "\n")
}

/// The marks of a diagnostic. Its chain was shortened where it was made, and says by how much.
fn marks<'a>(text: &Rope, it: &'a Diagnostic) -> Vec<Mark<'a>> {
    let mark = |range: &Range<usize>, message, is_primary| {
        let range = range.start.min(text.len_bytes())..range.end.min(text.len_bytes());
        Mark { row: text.byte_to_line(range.start), range, message, is_primary }
    };
    let mut out: Vec<_> = it.related.iter().map(|it| mark(&it.range, &it.message, false)).collect();
    // The message stands in the headline; at its place a last step of the chain says more.
    let own = out.iter().position(|other| other.range == it.range);
    match own {
        Some(at) => out[at].is_primary = true,
        None => out.push(mark(&it.range, "here", true)),
    }
    out
}

/// The character after the last of a line, its line break not counted.
fn line_end(source: &Source<String>, row: usize) -> usize {
    let Some(line) = source.line(row) else { return source.len() };
    let text = source.get_line_text(line).unwrap_or_default();
    let n_broken = text.len() - text.trim_end_matches(['\n', '\r']).len();
    line.offset() + line.len() - n_broken
}
