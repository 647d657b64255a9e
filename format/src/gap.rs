//! Formats the gaps between tokens. Each changed run of blanks is one edit, and no edit contains a
//! comment.

use std::ops::Range;

use noisy_syntax::TextEdit;

use crate::INDENT;
use crate::mark::{BreakFreedom, FormatMarks, comments};
use crate::space::Spacing;

/// The wanted form of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedGap {
    /// Both tokens on one line. If a comment or a mark separates them, the second one is indented
    /// by this number of blanks.
    Line(Spacing, usize),
    /// A line break.
    Break(LineBreak),
    /// The current text, with its lines shifted right by this number of blanks.
    Shift(isize),
}

/// A line break and its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineBreak {
    /// Indentation of the next token.
    pub(crate) indent: usize,
    /// Indentation of a comment on a line of its own.
    pub(crate) comments: usize,
    /// True if an empty line may come first.
    pub(crate) may_start_empty: bool,
    /// True if an empty line may come last.
    pub(crate) may_end_empty: bool,
}

impl LineBreak {
    /// Returns a break with an indentation in units of regions, and at most one empty line
    /// anywhere.
    pub(crate) fn at(level: usize) -> Self {
        Self::column(level * INDENT)
    }

    /// Returns a break with an indentation in blanks.
    pub(crate) fn column(indent: usize) -> Self {
        Self { indent, comments: indent, may_start_empty: true, may_end_empty: true }
    }
}

/// A text whose gaps are being formatted.
#[derive(Debug)]
pub(crate) struct GapFormatter<'a> {
    pub(crate) text: &'a str,
    pub(crate) marks: FormatMarks,
    /// The line end of new lines; existing line ends are kept.
    newline: &'static str,
    pub(crate) edits: Vec<TextEdit>,
    /// The number of columns by which the token after the last gap moves with the start of its
    /// line.
    pub(crate) moved: isize,
}

impl<'a> GapFormatter<'a> {
    pub(crate) fn new(text: &'a str, marks: FormatMarks) -> Self {
        Self {
            text,
            marks,
            newline: first_line_end(text).unwrap_or("\n"),
            edits: Vec::new(),
            moved: 0,
        }
    }

    /// Returns the number of line breaks in a range.
    pub(crate) fn n_breaks(&self, range: &Range<usize>) -> usize {
        let text = &self.text[range.clone()];
        if text.is_empty() {
            return 0;
        }
        let bytes = text.as_bytes();
        let is_end = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        (0..bytes.len()).filter(|&it| is_end(it)).count()
    }

    /// Formats a gap. A gap that contains anything other than blanks, line breaks and comments is
    /// not changed.
    pub(crate) fn format_gap(&mut self, gap: Range<usize>, want: WantedGap) {
        if gap.is_empty() {
            return self.format_blanks(gap, want, BlanksPosition { is_first: true, is_last: true });
        }
        let text = self.text;
        let mut at = gap.start;
        let mut first = true;
        let commented: Vec<Range<usize>> = if text[gap.clone()].contains('/') {
            comments(text, gap.clone()).collect()
        } else {
            Vec::new()
        };
        for comment in &commented {
            self.format_blanks(
                at..comment.start,
                want,
                BlanksPosition { is_first: first, is_last: false },
            );
            at = comment.end;
            first = false;
        }
        self.format_blanks(at..gap.end, want, BlanksPosition { is_first: first, is_last: true });
    }

    /// Formats one run of blanks: a whole gap, or the blanks beside its comments.
    fn format_blanks(&mut self, range: Range<usize>, want: WantedGap, place: BlanksPosition) {
        let old = &self.text[range.clone()];
        let is_plain = old.bytes().all(|it| matches!(it, b' ' | b'\t' | b'\n' | b'\r'));
        self.moved = 0;
        if !is_plain || self.marks.is_frozen(&range) {
            return;
        }
        let new = self.new_blanks(&range, want, place);
        if let (Some(before), Some(after)) = (indentation_after(old), indentation_after(&new)) {
            self.moved = after as isize - before as isize;
        }
        self.replace(range, &new);
    }

    fn new_blanks(&self, range: &Range<usize>, want: WantedGap, place: BlanksPosition) -> String {
        let old = &self.text[range.clone()];
        let n_breaks = self.n_breaks(range);
        let freedom = self.marks.freedom(range);
        if place.is_first && !place.is_last && n_breaks == 0 && range.start > 0 {
            // The blanks before a comment at the end of a line.
            return if old.is_empty() { " ".to_owned() } else { old.to_owned() };
        }
        let alone = place.is_first && place.is_last;
        let it = match want {
            WantedGap::Shift(columns) => return shifted(old, columns),
            WantedGap::Line(space, _)
                if alone && (freedom == BreakFreedom::Free || n_breaks == 0) =>
            {
                let is_blank = match space {
                    Spacing::Tight => false,
                    Spacing::One => true,
                    Spacing::AsWritten => !old.is_empty(),
                };
                return if is_blank { " " } else { "" }.to_owned();
            }
            WantedGap::Line(_, indent) => LineBreak::column(indent),
            WantedGap::Break(it) => it,
        };
        if n_breaks == 0 && freedom == BreakFreedom::Exact {
            return old.to_owned();
        }
        let is_empty_kept =
            (!place.is_first || it.may_start_empty) && (!place.is_last || it.may_end_empty);
        let n = match freedom {
            BreakFreedom::Exact => n_breaks,
            _ if range.start == 0 => 0,
            _ if is_empty_kept => n_breaks.clamp(1, 2),
            _ => 1,
        };
        let indent = if place.is_last { it.indent } else { it.comments };
        first_line_end(old).unwrap_or(self.newline).repeat(n) + &" ".repeat(indent)
    }

    /// Formats the end of the text: one line break, unless the text is empty.
    pub(crate) fn format_end(&mut self, gap: Range<usize>) {
        let text = self.text;
        let all: Vec<Range<usize>> = comments(text, gap.clone()).collect();
        let last = all.last().map_or(gap.start, |it| it.end);
        if let Some(comment) = all.last() {
            let want = LineBreak { may_end_empty: false, ..LineBreak::at(0) };
            let mut at = gap.start;
            for it in &all {
                let place = BlanksPosition { is_first: at == gap.start, is_last: false };
                self.format_blanks(at..it.start, WantedGap::Break(want), place);
                at = it.end;
            }
            debug_assert_eq!(comment.end, at);
        }
        let range = last..gap.end;
        let old = &text[range.clone()];
        let is_plain = old.bytes().all(|it| matches!(it, b' ' | b'\t' | b'\n' | b'\r'));
        if is_plain && !self.marks.is_frozen(&range) {
            let new =
                if range.start == 0 { "" } else { first_line_end(old).unwrap_or(self.newline) };
            self.replace(range, new);
        }
    }

    /// Adds an edit of the differing part. A line end of two bytes is never split.
    fn replace(&mut self, range: Range<usize>, new: &str) {
        let old = &self.text[range.clone()];
        if old == new {
            return;
        }
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let splits = |it: &[u8], at: usize| {
            at > 0 && at < it.len() && it[at - 1] == b'\r' && it[at] == b'\n'
        };
        let mut prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        while splits(a, prefix) || splits(b, prefix) {
            prefix -= 1;
        }
        let room = a.len().min(b.len()) - prefix;
        let mut suffix =
            a.iter().rev().zip(b.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
        while suffix > 0 && (splits(a, a.len() - suffix) || splits(b, b.len() - suffix)) {
            suffix -= 1;
        }
        self.edits.push(TextEdit {
            range: range.start + prefix..range.end - suffix,
            text: new[prefix..new.len() - suffix].to_owned(),
        });
    }
}

/// Shifts lines to the right, or to the left as far as the blanks allow.
fn shifted(old: &str, columns: isize) -> String {
    let Some(start) = old.rfind(['\n', '\r']).map(|it| it + 1) else { return old.to_owned() };
    let (breaks, indent) = old.split_at(start);
    if columns >= 0 {
        return format!("{breaks}{}{indent}", " ".repeat(columns.unsigned_abs()));
    }
    format!("{breaks}{}", &indent[indent.len().min(columns.unsigned_abs())..])
}

/// Returns the line end of the first line of a text.
fn first_line_end(text: &str) -> Option<&'static str> {
    let rest = &text[text.find(['\n', '\r'])?..];
    Some(["\r\n", "\r", "\n"].into_iter().find(|it| rest.starts_with(it)).unwrap_or("\n"))
}

/// Returns the indentation of the text after a run of blanks, if that text starts a line.
fn indentation_after(blanks: &str) -> Option<usize> {
    blanks.rfind(['\n', '\r']).map(|it| blanks.len() - it - 1)
}

/// The position of a run of blanks in its gap.
#[derive(Clone, Copy, Debug)]
struct BlanksPosition {
    /// True if the run directly follows the previous token.
    is_first: bool,
    /// True if the run directly precedes the next token.
    is_last: bool,
}
