//! A document: its text in a rope, the IR of that text, and edits that reparse only the affected
//! items.
//!
//! The header of `reparse.rs` explains the processing of an edit. All ops whose verdict the edit
//! may change are verified again ([`crate::verify`]).
//!
//! *Laws* (property tests): after any edits, the IR and the problems equal those of a new parse of
//! the text, and every range selects the text that it describes.

mod advice;
mod braces;
mod lines;
mod locate;
mod parse;
mod problems;
mod reparse;
mod replace;

pub use advice::{Advice, Proposal, nearest};

use std::ops::Range;

use ropey::Rope;
use rustc_hash::FxHashSet;

use crate::ir::names::Stale;
use crate::parallel::n_cores;
use crate::verify::Verdicts;
use crate::{Delta, Ir, Op, Span};
use reparse::TextChange;

/// Text and IR of a document. The IR always corresponds to the text.
#[derive(Debug)]
pub struct Source {
    rope: Rope,
    ir: Ir,
    verdicts: Verdicts,
}

impl Ir {
    /// Parses a text of less than 4 GiB and drops the text ([`Source::into_ir`]). Uses `n_threads`
    /// threads in addition to the caller's.
    ///
    /// # Errors
    /// The document, if it may have problems; [`Source::problems`] lists them.
    pub fn read(text: &str, n_threads: usize) -> Result<Ir, Box<Source>> {
        let mut ir = parse::parse(text, n_threads);
        let verdicts = Verdicts::new(&ir, n_threads);
        if ir.has_suspects() || verdicts.iter().next().is_some() {
            return Err(Box::new(Source::of(text, ir, verdicts)));
        }
        ir.detach();
        Ok(ir)
    }
}

impl Source {
    /// Parses a text of less than 4 GiB.
    pub fn new(text: &str) -> Self {
        Self::read(text, n_cores())
    }

    /// Like [`Source::new`], on `n_threads` threads in addition to the caller's.
    pub fn read(text: &str, n_threads: usize) -> Self {
        let mut ir = parse::parse(text, n_threads);
        ir.keep_slack();
        let verdicts = Verdicts::new(&ir, n_threads);
        Self::of(text, ir, verdicts)
    }

    /// Parses several texts: first parses all, then verifies all. The result is the same as for
    /// single texts. For small texts this is faster, because each phase makes better use of the
    /// processor's caches. Reserves no capacity for edits, because most of these texts are not
    /// edited.
    pub fn read_all(texts: &[&str]) -> Vec<Self> {
        let irs: Vec<Ir> = texts.iter().map(|it| parse::parse(it, n_cores())).collect();
        let verdicts: Vec<Verdicts> = irs.iter().map(|it| Verdicts::new(it, n_cores())).collect();
        let read = texts.iter().zip(irs).zip(verdicts);
        read.map(|((text, ir), verdicts)| Self::of(text, ir, verdicts)).collect()
    }

    fn of(text: &str, ir: Ir, verdicts: Verdicts) -> Self {
        Self { rope: Rope::from_str(text), ir, verdicts }
    }

    /// The text.
    pub fn text(&self) -> &Rope {
        &self.rope
    }

    /// The IR of the text.
    #[inline]
    pub fn ir(&self) -> &Ir {
        &self.ir
    }

    /// Drops the text and returns the IR, which can then be changed (see [`crate::rewrite`]).
    ///
    /// Ops of unknown form and ops with syntax errors are incomplete: they contain only the parts
    /// that were parsed. A program that will be printed should have none.
    pub fn into_ir(self) -> Ir {
        let mut ir = self.ir;
        ir.detach();
        ir
    }

    /// The verdicts of the verifier, reported or not.
    #[cfg(any(test, feature = "laws"))]
    pub(crate) fn verdicts(&self) -> &Verdicts {
        &self.verdicts
    }

    /// The text of a range of bytes.
    pub fn slice(&self, range: Range<usize>) -> String {
        self.rope.byte_slice(range).to_string()
    }

    /// Returns the start of the line that contains a byte.
    pub fn line_start(&self, at: usize) -> usize {
        self.rope.line_to_byte(self.rope.byte_to_line(at))
    }

    /// The blanks at the start of the line that contains the byte at `at`, up to that byte.
    pub fn indentation(&self, at: usize) -> String {
        let head = self.slice(self.line_start(at)..at);
        head.chars().take_while(|&it| is_blank(it)).collect()
    }

    /// Returns true if only blanks precede the byte on its line.
    pub fn is_first_on_line(&self, at: usize) -> bool {
        self.rope.byte_slice(self.line_start(at)..at).chars().all(is_blank)
    }

    /// The text of a span of an op's own text.
    pub fn span_text(&self, op: Op, span: Span) -> String {
        self.slice(self.ir.absolute(op, span))
    }

    /// Replaces a range of bytes and updates the IR. The range must be within the text and start
    /// and end at character boundaries.
    ///
    /// # Panics
    /// If the range is not valid.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        let old = self.rope.clone();
        let from = self.rope.byte_to_char(range.start);
        let to = self.rope.byte_to_char(range.end);
        self.rope.remove(from..to);
        self.rope.insert(from, text);
        let change = TextChange {
            start: range.start,
            old_end: range.end,
            new_end: range.start + text.len(),
        };
        let mut delta = reparse::reparse(&mut self.ir, &old, &self.rope, change);
        self.reparse_stale_items(&mut delta);
        self.ir.free_ops.append(&mut delta.freed);
        let mut touched = std::mem::take(&mut self.ir.names.touched);
        delta.unused_values = std::mem::take(&mut touched.unused_values);
        delta.n_verified = self.verdicts.update(&self.ir, &delta, &touched);
        delta
    }

    /// Parses the items again that were parsed with outdated meanings of aliases.
    fn reparse_stale_items(&mut self, delta: &mut Delta) {
        let mut stale = Stale::new();
        self.ir.note_stale(&delta.changed, &mut stale);
        if stale.is_empty() {
            return;
        }
        while let Some((_, op)) = stale.pop_first() {
            if self.ir.is_alive(op) && self.ir.is_stale(op) {
                let mut again = reparse::reparse_stale_item(&mut self.ir, &self.rope, op);
                self.ir.note_stale(&again.changed, &mut stale);
                delta.changed.append(&mut again.changed);
                delta.removed.append(&mut again.removed);
                delta.freed.append(&mut again.freed);
                delta.n_parsed += again.n_parsed;
                delta.n_linked += again.n_linked;
                delta.n_read += again.n_read;
            }
        }
        let mut seen = FxHashSet::default();
        delta.changed.retain(|&op| self.ir.is_alive(op) && seen.insert(op));
    }
}

fn is_blank(it: char) -> bool {
    matches!(it, ' ' | '\t')
}

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod doublings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traps;
