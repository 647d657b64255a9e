//! Lines, indentation, and the comments above and after an op.

use std::ops::Range;

/// Returns the start of the line that contains a byte.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |it| it + 1)
}

/// Returns the end of the line that contains a byte, after its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |it| at + it + 1)
}

/// Returns the indentation of the line that contains a byte.
pub(super) fn indent_of(text: &str, at: usize) -> String {
    let line = &text[line_start(text, at)..];
    line.chars().take_while(|it| matches!(it, ' ' | '\t')).collect()
}

/// Returns true if only white space precedes a byte on its line.
pub(super) fn is_first_on_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// Returns true if only white space or a comment follows a byte on its line.
pub(super) fn is_last_on_line(text: &str, at: usize) -> bool {
    let rest = text[at..line_end(text, at)].trim();
    rest.is_empty() || rest.starts_with("//")
}

/// Extends a range to whole lines, with a comment after it, if no other text is on these lines.
pub(super) fn line_span(text: &str, range: &Range<usize>) -> Range<usize> {
    if is_first_on_line(text, range.start) && is_last_on_line(text, range.end) {
        line_start(text, range.start)..line_end(text, range.end)
    } else {
        range.clone()
    }
}

/// Returns the start of the comment lines directly above a line.
pub(super) fn start_with_comments(text: &str, start: usize) -> usize {
    let mut at = start;
    while at > 0 {
        let above = line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with("//") {
            break;
        }
        at = above;
    }
    at
}

/// Changes the indentation of all lines but the first.
pub(super) fn reindented(text: &str, old: &str, new: &str) -> String {
    if old == new {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
            let rest = line.strip_prefix(old).unwrap_or_else(|| line.trim_start());
            if !rest.is_empty() {
                out.push_str(new);
            }
            out.push_str(rest);
        } else {
            out.push_str(line);
        }
    }
    out
}
