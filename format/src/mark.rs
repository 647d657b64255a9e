//! Comments that affect the formatting of the lines around them.
//!
//! - `// noisy: format off` to `// noisy: format on`, or to the end of the file: the text between
//!   them is not changed.
//! - `// noisy: allow(..)`, `// expected-error@+2 {{..}}` and other comments that refer to a line
//!   by its distance: between the comment and that line, no line break is added or removed, and no
//!   text moves to another line.

use std::ops::Range;

use noisy_syntax::Token;

/// The restrictions that follow from the comments of a text.
#[derive(Debug, Default)]
pub(crate) struct FormatMarks {
    /// The ranges of bytes that are not changed, in order.
    frozen: Vec<Range<usize>>,
    /// Ranges of lines whose line breaks are fixed (first and last line), in order and disjoint.
    rigid_lines: Vec<(usize, usize)>,
    /// The start of each line; empty if `rigid_lines` is empty.
    line_starts: Vec<usize>,
}

/// Words by which this module recognizes comments.
const MARK_WORDS: [&str; 4] = ["noisy: format", "noisy: allow(", "expected-", "@LINE"];

impl FormatMarks {
    /// Reads the comments between the tokens of a text.
    pub(crate) fn of(text: &str, tokens: &[Token]) -> Self {
        let mut out = Self::default();
        if !MARK_WORDS.iter().any(|it| text.contains(it)) {
            return out;
        }
        let lines = line_starts(text);
        let line = |byte: usize| lines.partition_point(|it| *it <= byte) - 1;
        let mut off = None;
        let mut rigid = Vec::new();
        let mut end = 0;
        for token in tokens {
            let gap = end..token.range().start;
            for comment in comments(text, gap.clone()) {
                let words = text[comment.clone()].trim_start_matches('/').trim();
                let first = |it: &str| words.strip_prefix(it).is_some_and(is_word_end);
                if first("noisy: format off") {
                    off.get_or_insert(comment.end);
                } else if first("noisy: format on") {
                    out.frozen.extend(off.take().map(|it| it..comment.start));
                } else if MARK_WORDS[1..].iter().any(|it| words.contains(it)) {
                    let near =
                        (line(end.saturating_sub(1)), line(token.range().start.min(text.len())));
                    let is_alone =
                        text[lines[line(comment.start)]..comment.start].trim().is_empty();
                    rigid.push(referenced_lines(words, line(comment.start), near, is_alone));
                }
            }
            end = token.range().end;
        }
        out.frozen.extend(off.map(|it| it..text.len()));
        rigid.sort_unstable();
        for (first, last) in rigid {
            match out.rigid_lines.last_mut() {
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => out.rigid_lines.push((first, last)),
            }
        }
        if !out.rigid_lines.is_empty() {
            out.line_starts = lines;
        }
        out
    }

    /// Returns true if a range is not changed.
    pub(crate) fn is_frozen(&self, range: &Range<usize>) -> bool {
        let n = self.frozen.partition_point(|it| it.start <= range.start);
        n > 0 && range.end <= self.frozen[n - 1].end
    }

    /// Returns the freedom of the line breaks in a range.
    pub(crate) fn freedom(&self, range: &Range<usize>) -> BreakFreedom {
        if self.rigid_lines.is_empty() {
            return BreakFreedom::Free;
        }
        let line = |byte: usize| self.line_starts.partition_point(|it| *it <= byte) - 1;
        let (first, last) = (line(range.start), line(range.end));
        let n = self.rigid_lines.partition_point(|it| it.1 < first);
        let Some(&(from, to)) = self.rigid_lines.get(n).filter(|it| it.0 <= last) else {
            return BreakFreedom::Free;
        };
        let next_touches = self.rigid_lines.get(n + 1).is_some_and(|it| it.0 < last);
        if first == last || from.max(first) < to.min(last) || next_touches {
            BreakFreedom::Exact
        } else {
            BreakFreedom::Apart
        }
    }
}

/// The freedom of the line breaks between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakFreedom {
    /// Line breaks may be added and removed.
    Free,
    /// At least one line break must remain.
    Apart,
    /// The number of line breaks must not change.
    Exact,
}

/// Returns the comments between two tokens, without the blanks at their ends.
pub(crate) fn comments(text: &str, gap: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = gap.start;
    std::iter::from_fn(move || {
        let start = at + text.get(at..gap.end)?.find("//")?;
        let end = text[start..gap.end].find(['\n', '\r']).map_or(gap.end, |it| start + it);
        at = end;
        Some(start..start + text[start..end].trim_end_matches([' ', '\t']).len())
    })
}

/// Returns the starts of the lines of a text; `\n`, `\r` and `\r\n` end a line.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_end = |at: usize| match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let ends = (0..bytes.len()).filter(|&it| is_end(it));
    std::iter::once(0).chain(ends.map(|it| it + 1)).collect()
}

fn is_word_end(rest: &str) -> bool {
    !rest.starts_with(|it: char| it.is_alphanumeric())
}

/// Returns the range of lines from a comment to the lines to which it refers. `near` are the lines
/// of the tokens before and after it.
fn referenced_lines(
    words: &str,
    own: usize,
    near: (usize, usize),
    is_alone: bool,
) -> (usize, usize) {
    let (mut first, mut last) = (own, own);
    let mut extend = |line: usize| {
        first = first.min(line);
        last = last.max(line);
    };
    if words.contains("noisy: allow(") && is_alone {
        extend(near.1);
    }
    for (at, _) in words.match_indices('@') {
        let rest = &words[at + 1..];
        let rest = rest.strip_prefix("LINE").unwrap_or(rest);
        let number = |it: &str| {
            let digits = it.len() - it.trim_start_matches(|it: char| it.is_ascii_digit()).len();
            it[..digits].parse::<usize>().unwrap_or(0)
        };
        match rest.as_bytes().first() {
            Some(b'+') => extend(own.saturating_add(number(&rest[1..]))),
            Some(b'-') => extend(own.saturating_sub(number(&rest[1..]))),
            _ if rest.starts_with("below") => extend(near.1),
            _ if rest.starts_with("above") => extend(near.0),
            _ => {}
        }
    }
    (first, last)
}
