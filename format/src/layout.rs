//! Walks over the items and their tokens, and formats every gap.
//!
//! The regions of an op divide its own tokens into *segments*: `scf.if %c {`, `} else {`, `}`. A
//! segment is joined on one line, wrapped, or keeps its line breaks. There is a line break between
//! a brace and the contents of its region.

use std::ops::Range;

use noisy_syntax::lex::lex;
use noisy_syntax::{Form, Ir, Op, OpKind, Region, Source, TextEdit, Token, TokenKind};

use crate::gap::{GapFormatter, LineBreak, WantedGap};
use crate::mark::{BreakFreedom, FormatMarks};
use crate::space::{self, OpenBrackets, Spacing, SpacingKind};
use crate::{INDENT, MAX_WIDTH, has_known_syntax};

/// Additional indentation of continuation lines, inside parentheses or outside of brackets.
const CONTINUATION_INDENT: usize = 4;

/// Returns the edits that format a text. If the text does not follow the grammar, the result may be
/// unhelpful, but the edits change only blanks.
pub(crate) fn layout_edits(source: &Source) -> Vec<TextEdit> {
    let text = source.text().to_string();
    let tokens = lex(&text).tokens;
    let marks = FormatMarks::of(&text, &tokens);
    let mut layout = ItemFormatter {
        source,
        ir: source.ir(),
        gaps: GapFormatter::new(&text, marks),
        tokens: &tokens,
        at: 0,
        spaces: Vec::new(),
        is_after_unknown: false,
    };
    layout.format_file();
    layout.gaps.edits
}

struct ItemFormatter<'a> {
    source: &'a Source,
    ir: &'a Ir,
    gaps: GapFormatter<'a>,
    tokens: &'a [Token],
    /// The index of the next token.
    at: usize,
    /// The blanks before all tokens of the current segment except the first.
    spaces: Vec<Spacing>,
    /// True if the previous item ends with a segment of unknown form, which may continue here.
    is_after_unknown: bool,
}

impl ItemFormatter<'_> {
    fn format_file(&mut self) {
        let ir = self.ir;
        let mut start = 0;
        for chunk in ir.items(ir.root()) {
            let (own, region) = ir.op(chunk).regions[0];
            if own > 0 {
                self.format_next_gap(WantedGap::Break(LineBreak::at(0)));
                self.at += 1;
            }
            self.format_region(region, start + own as usize, 0, true);
            start += ir.item_len(chunk);
        }
        // The rest is not part of any item.
        let end = self.gap(self.tokens.len() - 1);
        self.gaps.format_end(end);
    }

    /// Returns the text before a token.
    fn gap(&self, token: usize) -> Range<usize> {
        let start = token.checked_sub(1).map_or(0, |it| self.tokens[it].range().end);
        start..self.tokens[token].range().start
    }

    /// Formats the gap before the next token.
    fn format_next_gap(&mut self, want: WantedGap) {
        self.gaps.format_gap(self.gap(self.at), want);
    }

    /// Formats the items of a region, from the byte after its `{`.
    fn format_region(&mut self, region: Region, start: usize, level: usize, is_top: bool) {
        let ir = self.ir;
        let mut at = start;
        self.is_after_unknown = false;
        for op in ir.items(region) {
            let is_first = at == start && !is_top;
            self.format_item(op, at, level, is_first);
            at += ir.item_len(op);
        }
    }

    /// Formats one item, from the start of the blanks and comments before it.
    fn format_item(&mut self, op: Op, start: usize, level: usize, is_first: bool) {
        let ir = self.ir;
        let data = ir.op(op);
        let is_label = data.kind == OpKind::Label;
        let column = level.saturating_sub(usize::from(is_label)) * INDENT;
        let gap = self.gap(self.at);
        let was_at_line_start = gap.start == 0 || self.gaps.n_breaks(&gap) > 0;
        if was_at_line_start || !self.is_after_unknown {
            let empty_first = !is_first;
            self.format_next_gap(WantedGap::Break(LineBreak {
                may_start_empty: empty_first,
                ..LineBreak::column(column)
            }));
        }
        let is_known = has_known_syntax(self.source, op);
        let shift = if was_at_line_start { self.gaps.moved } else { 0 };
        let mut at = start;
        let mut done = 0;
        for &(own, region) in &data.regions {
            at += (own - done) as usize;
            done = own;
            let len = ir.region_len(region);
            // After the `{`.
            let end = self.tokens.partition_point(|it| it.range().start < at);
            self.format_segment(op, end, column, is_known, shift);
            self.is_after_unknown = false;
            let is_closed = ir.region(region).is_closed;
            if !is_known && is_closed && !self.has_break(at..at + len) {
                // This may be a body in unknown syntax.
                self.at += self.tokens[self.at..].partition_point(|it| it.range().start < at + len);
            } else if is_closed {
                self.format_region_contents(region, at, at + len, column);
            } else {
                self.format_region(region, at, column / INDENT + 1, false);
            }
            at += len;
        }
        let end = at + (data.own_len - done) as usize;
        let end = self.at
            + self.tokens[self.at..]
                .partition_point(|it| it.range().start < end && it.kind != TokenKind::Eof);
        self.format_segment(op, end, column, is_known, shift);
        self.is_after_unknown = !is_known;
    }

    /// Formats the text between the braces of a region. Then the `}` is the next token.
    fn format_region_contents(&mut self, region: Region, start: usize, end: usize, column: usize) {
        let is_empty = self.tokens[self.at].range().start == end;
        let gap = self.gap(self.at);
        let level = column / INDENT + 1;
        if is_empty && self.gaps.text[gap.clone()].trim().is_empty() {
            let has_break = self.gaps.n_breaks(&gap) > 0;
            let close = LineBreak {
                may_start_empty: false,
                may_end_empty: false,
                ..LineBreak::column(column)
            };
            self.format_next_gap(if has_break {
                WantedGap::Break(close)
            } else {
                WantedGap::Line(Spacing::Tight, column)
            });
            return;
        }
        self.format_region(region, start, level, false);
        self.format_next_gap(WantedGap::Break(LineBreak {
            indent: column,
            comments: level * INDENT,
            may_start_empty: !is_empty,
            may_end_empty: false,
        }));
    }

    /// Returns true if a range contains a line break.
    fn has_break(&self, range: Range<usize>) -> bool {
        self.gaps.text[range].contains(['\n', '\r'])
    }

    /// Formats the own tokens of an item from the next one up to `end`. The gap before the first
    /// one is already formatted.
    fn format_segment(&mut self, op: Op, end: usize, column: usize, is_known: bool, shift: isize) {
        let from = self.at;
        if from >= end {
            return;
        }
        self.at = end;
        if !is_known {
            for at in from + 1..end {
                self.gaps.format_gap(self.gap(at), WantedGap::Shift(shift));
            }
            return;
        }
        let segment = Segment { from, end, column };
        let is_function = self.ir.op(op).kind == OpKind::FuncFunc;
        self.compute_spaces(op, &segment);
        match self.choose_layout(&segment, is_function && is_header(self.ir, op, self.tokens[from]))
        {
            SegmentLayout::Joined => {
                for at in from + 1..end {
                    let space = self.spaces[at - from - 1];
                    self.gaps.format_gap(
                        self.gap(at),
                        WantedGap::Line(space, column + CONTINUATION_INDENT),
                    );
                }
            }
            SegmentLayout::Wrapped(open, close) => self.wrap_arguments(&segment, open, close),
            SegmentLayout::Kept => self.keep_line_breaks(&segment),
        }
    }

    /// Computes the blanks between the tokens of a segment on one line.
    fn compute_spaces(&mut self, op: Op, segment: &Segment) {
        let data = self.ir.op(op);
        let kind = match (data.kind, data.form) {
            (OpKind::Label, _) => SpacingKind::Label,
            (_, Form::Generic) => SpacingKind::Generic,
            (OpKind::FuncFunc, _) => SpacingKind::Function,
            _ => SpacingKind::Other,
        };
        let tokens = &self.tokens[..segment.end];
        let mut brackets = OpenBrackets::default();
        let mut in_results = tokens[segment.from].kind == TokenKind::Percent;
        let mut name = (!in_results).then_some(segment.from);
        self.spaces.clear();
        for at in segment.from + 1..segment.end {
            let number = at - 1 - segment.from;
            brackets.push_token(tokens, at - 1, number);
            if in_results && tokens[at].kind == TokenKind::Equal {
                in_results = false;
                name = Some(at + 1);
            }
            let after_name = name == Some(at - 1) && tokens[at - 1].kind == TokenKind::Str;
            let place = (in_results, after_name);
            self.spaces.push(space::spacing_before(
                tokens,
                at,
                kind,
                &brackets,
                self.gaps.text,
                place,
            ));
        }
    }

    /// Chooses the layout of a segment.
    fn choose_layout(&self, segment: &Segment, is_signature: bool) -> SegmentLayout {
        let text = self.gaps.text;
        let mut width = segment.column;
        for at in segment.from..segment.end {
            let token = &text[self.tokens[at].range()];
            if token.contains(['\n', '\r']) {
                return SegmentLayout::Kept;
            }
            width += token.chars().count();
            if at == segment.from {
                continue;
            }
            let gap = self.gap(at);
            let written = &text[gap.clone()];
            let is_blank = match self.spaces[at - segment.from - 1] {
                Spacing::Tight => false,
                Spacing::One => true,
                Spacing::AsWritten => !written.is_empty(),
            };
            width += usize::from(is_blank);
            if written.contains('/') || self.gaps.marks.freedom(&gap) != BreakFreedom::Free {
                return SegmentLayout::Kept;
            }
            // Rows of a list of lists remain on separate lines.
            let kinds =
                [at.wrapping_sub(2), at - 1, at].map(|it| self.tokens.get(it).map(|it| it.kind));
            if kinds == [TokenKind::RSquare, TokenKind::Comma, TokenKind::LSquare].map(Some)
                && self.gaps.n_breaks(&gap) > 0
            {
                return SegmentLayout::Kept;
            }
        }
        if width <= MAX_WIDTH {
            return SegmentLayout::Joined;
        }
        let arguments = if is_signature { self.argument_parentheses(segment) } else { None };
        arguments.map_or(SegmentLayout::Kept, |(open, close)| SegmentLayout::Wrapped(open, close))
    }

    /// Returns the parentheses of the arguments of a function, if there are any arguments.
    fn argument_parentheses(&self, segment: &Segment) -> Option<(usize, usize)> {
        let tokens = &self.tokens[..segment.end];
        let open = (segment.from + 1..segment.end).find(|&it| {
            tokens[it].kind == TokenKind::LParen && tokens[it - 1].kind == TokenKind::At
        })?;
        let mut brackets = OpenBrackets::default();
        let close =
            (open..segment.end).find(|&it| brackets.push_token(tokens, it, it) == Some(open))?;
        (close > open + 1).then_some((open, close))
    }

    /// Formats one argument per line.
    fn wrap_arguments(&mut self, segment: &Segment, open: usize, close: usize) {
        let mut brackets = OpenBrackets::default();
        for at in segment.from + 1..segment.end {
            let prev = at - 1;
            if prev >= open {
                brackets.push_token(self.tokens, prev, prev);
            }
            let is_argument = prev == open
                || at < close
                    && brackets.depth() == 1
                    && self.tokens[prev].kind == TokenKind::Comma;
            let want = if is_argument {
                WantedGap::Break(LineBreak::column(segment.column + CONTINUATION_INDENT))
            } else if at == close {
                WantedGap::Break(LineBreak::column(segment.column))
            } else {
                WantedGap::Line(
                    self.spaces[prev - segment.from],
                    segment.column + CONTINUATION_INDENT,
                )
            };
            self.gaps.format_gap(self.gap(at), without_empty_lines(want));
        }
    }

    /// Keeps the line breaks. Each line is indented according to the brackets that enclose it.
    fn keep_line_breaks(&mut self, segment: &Segment) {
        let mut brackets = OpenBrackets::default();
        let mut line = segment.column;
        for at in segment.from + 1..segment.end {
            brackets.push_token(self.tokens, at - 1, line);
            let space = self.spaces[at - segment.from - 1];
            let token = self.tokens[at];
            let gap = self.gap(at);
            let closes =
                matches!(token.kind, TokenKind::RParen | TokenKind::RSquare | TokenKind::RBrace)
                    || token.kind == TokenKind::Greater
                        && brackets.innermost() == Some(TokenKind::Less);
            let indent = match brackets.last() {
                Some((_, line)) if closes => line,
                Some((TokenKind::LParen, line)) => line + CONTINUATION_INDENT,
                Some((_, line)) => line + INDENT,
                None => segment.column + CONTINUATION_INDENT,
            };
            let is_loose =
                space != Spacing::Tight || closes || space::is_opening_bracket(self.tokens, at - 1);
            let opens_region = at + 1 == segment.end && token.kind == TokenKind::LBrace;
            let has_comment = self.gaps.text[gap.clone()].contains('/');
            let is_held = self.gaps.marks.freedom(&gap) != BreakFreedom::Free;
            let has_break = self.gaps.n_breaks(&gap) > 0;
            let is_behind_region =
                at == segment.from + 1 && self.tokens[at - 1].kind == TokenKind::RBrace;
            let is_kept = has_break
                && (is_loose && !opens_region && !is_behind_region || has_comment || is_held);
            if is_kept {
                line = indent;
                let mut want = LineBreak::column(indent);
                want.may_start_empty = has_comment;
                want.may_end_empty = has_comment;
                self.gaps.format_gap(gap, WantedGap::Break(want));
            } else {
                self.gaps.format_gap(gap, WantedGap::Line(space, indent));
            }
        }
    }
}

/// Removes empty lines.
fn without_empty_lines(want: WantedGap) -> WantedGap {
    match want {
        WantedGap::Break(it) => {
            WantedGap::Break(LineBreak { may_start_empty: false, may_end_empty: false, ..it })
        }
        other => other,
    }
}

/// Returns true if a segment that starts with a token is the first one of an op.
fn is_header(ir: &Ir, op: Op, first: Token) -> bool {
    ir.op(op).form == Form::Custom && first.kind != TokenKind::RBrace
}

/// Consecutive own tokens of an item, without a region between them.
#[derive(Debug)]
struct Segment {
    from: usize,
    end: usize,
    /// The indentation of the item.
    column: usize,
}

/// The layout of a segment.
#[derive(Debug)]
enum SegmentLayout {
    /// On one line.
    Joined,
    /// One argument per line, between these parentheses.
    Wrapped(usize, usize),
    /// With its current line breaks.
    Kept,
}
