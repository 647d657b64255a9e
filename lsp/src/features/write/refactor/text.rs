//! Functions for moved parts of a text: edits within a part, and its indentation.

use std::ops::Range;

use noisy_analyses::TextEdit;
use noisy_syntax::Source;

/// Applies sorted edits to a part of a text that begins at `start`; `None` if they overlap or
/// extend beyond the part.
pub(super) fn apply_edits(part: &str, start: usize, edits: &[TextEdit]) -> Option<String> {
    let mut out = String::with_capacity(part.len());
    let mut at = 0;
    for edit in edits {
        let range = edit.range.start.checked_sub(start)?..edit.range.end.checked_sub(start)?;
        out.push_str(part.get(at..range.start)?);
        out.push_str(&edit.text);
        at = range.end;
    }
    out.push_str(part.get(at..)?);
    Some(out)
}

/// The edits within a range, in order, each once.
pub(super) fn edits_within(edits: Vec<TextEdit>, range: &Range<usize>) -> Vec<TextEdit> {
    let mut out: Vec<TextEdit> = edits
        .into_iter()
        .filter(|it| range.start <= it.range.start && it.range.end <= range.end)
        .collect();
    out.sort_by_key(|it| it.range.start);
    out.dedup_by(|a, b| a.range == b.range);
    out
}

/// Replaces the indentation of lines. The first line, which has none, gets the new one. Lines with
/// less than the old indentation are not changed.
pub(super) fn reindent(part: &str, old: &str, new: &str) -> String {
    let lines = part.split('\n').enumerate().map(|(n, line)| match line.strip_prefix(old) {
        _ if line.trim().is_empty() => String::new(),
        _ if n == 0 => format!("{new}{line}"),
        Some(rest) => format!("{new}{rest}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The end of the line of an offset, if only a comment follows; else the offset.
pub(super) fn end_of_line(source: &Source, offset: usize) -> usize {
    let text = source.text();
    let line = text.byte_to_line(offset);
    let end =
        if line + 1 < text.len_lines() { text.line_to_byte(line + 1) } else { text.len_bytes() };
    let rest = source.slice(offset..end);
    let is_free = rest.trim().is_empty() || rest.trim_start().starts_with("//");
    if is_free { offset + rest.trim_end_matches(['\n', '\r']).len() } else { offset }
}
