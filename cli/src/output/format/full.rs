//! The format for people: each finding in its source text, with the chain of ops that its noise
//! comes from.
//!
//! The drawing is done by `ariadne`. It reads all lines between the labels of one source, so
//! distant labels are given to sources with different names that all contain the same file. The
//! cost of a finding is then proportional to the drawn lines. Lines that are too long are not
//! drawn.

use std::fmt::Write as _;
use std::ops::Range;

use ariadne::{Color, Config, Label, Report, ReportKind, Source};
use noisy_analyses::{Diagnostic, Rule};
use noisy_output::{is_hidden, picture, shown_line};
use ropey::{Rope, RopeSlice};

use super::concise;
use crate::file::check::FileReport;
use crate::output::paint;

/// Maximum distance, in lines, of labels in one drawing.
const MAX_LINE_DISTANCE: usize = 4;
/// Maximum length of a drawn line, in bytes.
const MAX_LINE_BYTES: usize = 1000;

pub(super) fn file(checked: &FileReport, color: bool) -> String {
    let mut out = String::new();
    if !checked.diagnostics.is_empty() {
        let source = drawable_source(shown_part(checked));
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

/// A range with its label.
struct Mark<'a> {
    row: usize,
    range: Range<usize>,
    message: &'a str,
    is_primary: bool,
}

/// Number of a part of the file.
type PartId = usize;

/// The parts of a file: one source under many names.
#[derive(Clone, Copy)]
struct FileParts<'a> {
    name: &'a str,
    source: &'a Source<String>,
}

impl ariadne::Cache<PartId> for FileParts<'_> {
    type Storage = String;

    fn fetch(&mut self, _: &PartId) -> Result<&Source<String>, impl std::fmt::Debug> {
        Ok::<_, std::convert::Infallible>(self.source)
    }

    fn display<'b>(&self, _: &'b PartId) -> Option<impl std::fmt::Display + 'b> {
        Some(shown_line(self.name).into_owned())
    }
}

/// The lines up to the last marked one.
fn shown_part(checked: &FileReport) -> RopeSlice<'_> {
    let text = &checked.text;
    let marked = |it: &Diagnostic| {
        let related = it.related.iter().map(|it| it.range.start).max();
        it.range.start.max(related.unwrap_or(0)).min(text.len_bytes())
    };
    let last = text.byte_to_line(checked.diagnostics.iter().map(marked).max().unwrap_or(0));
    text.slice(..text.line_to_char((last + 1).min(text.len_lines())))
}

/// The text for ariadne, with the same number of characters. Characters that end a line for ariadne
/// but not for MLIR become blanks.
fn drawable_source(text: RopeSlice<'_>) -> Source<String> {
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

fn draw(checked: &FileReport, source: &Source<String>, it: &Diagnostic, color: bool) -> String {
    let mut marks = marks(&checked.text, it);
    marks.retain(|it| {
        let start = source.line(it.row).map_or(source.len(), |line| line.offset());
        line_end(source, it.row) - start <= MAX_LINE_BYTES
    });
    if !marks.iter().any(|it| it.is_primary) {
        return concise::line(checked, it, color);
    }
    marks.sort_by_key(|it| it.row);
    let mut groups: Vec<Vec<Mark<'_>>> = Vec::new();
    for mark in marks {
        match groups.last_mut() {
            Some(group)
                if group.last().is_some_and(|it| it.row + MAX_LINE_DISTANCE >= mark.row) =>
            {
                group.push(mark);
            }
            _ => groups.push(vec![mark]),
        }
    }
    // The finding comes first, then the chain, beginning with its source.
    groups.sort_by_key(|group| !group.iter().any(|it| it.is_primary));

    let paint = match paint::color_number(it.severity) {
        1 => Color::Red,
        3 => Color::Yellow,
        4 => Color::Blue,
        _ => Color::Cyan,
    };
    let headline = format!("{}[{}]", it.severity.name(), it.code);
    let chars = |range: &Range<usize>| {
        let (from, to) =
            (checked.text.byte_to_char(range.start), checked.text.byte_to_char(range.end));
        // A mark ends with its line: only the first line of a range is marked.
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
    let wording = it.mlir_wording.as_ref().filter(|wording| !it.message.contains(*wording));
    if let Some(wording) = wording {
        report = report.with_note(shown_line(&format!("mlir-opt: {wording}")));
    }
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = report.finish().write(FileParts { name: &checked.name, source }, &mut out);
    let mut text = String::from_utf8_lossy(&out).into_owned();
    if !color {
        // ariadne colors the headline of custom report kinds even without colors.
        text = anstream::adapter::strip_str(&text).to_string();
    }
    // Drawn lines end in blanks where nothing is drawn.
    text.lines().fold(String::new(), |acc, line| acc + line.trim_end() + "\n")
}

/// The marks of a diagnostic. Its chain is already shortened, and contains the number of omitted
/// steps.
fn marks<'a>(text: &Rope, it: &'a Diagnostic) -> Vec<Mark<'a>> {
    let mark = |range: &Range<usize>, message, is_primary| {
        let range = range.start.min(text.len_bytes())..range.end.min(text.len_bytes());
        Mark { row: text.byte_to_line(range.start), range, message, is_primary }
    };
    let mut out: Vec<_> = it.related.iter().map(|it| mark(&it.range, &it.message, false)).collect();
    // The headline contains the message, so a step of the chain at the same range is the primary
    // mark.
    let own = out.iter().position(|other| other.range == it.range);
    match own {
        Some(at) => out[at].is_primary = true,
        None => {
            out.push(mark(&it.range, label(it), true));
        }
    }
    out
}

/// The label of a diagnostic without a chain: the title of its rule, or a text that fits better.
fn label(it: &Diagnostic) -> &'static str {
    match it.code {
        "unknown-op" if !it.message.starts_with("unknown op") => "not expected here",
        "unexpected-character" if it.message.contains("string") => "the string begins here",
        "expected-token" if it.range.is_empty() => "something is missing here",
        code => Rule::find(code).map_or("", Rule::title),
    }
}

/// The offset after the last character of a line, without its line break.
fn line_end(source: &Source<String>, row: usize) -> usize {
    let Some(line) = source.line(row) else { return source.len() };
    let text = source.get_line_text(line).unwrap_or_default();
    let n_broken = text.len() - text.trim_end_matches(['\n', '\r']).len();
    line.offset() + line.len() - n_broken
}
