//! The ops that checks must visit, updated by edits, so that no check walks the program.
//!
//! *Law.* Each set contains all ops that match its description, and may contain others: an op stays
//! in `unused_pure_ops`, for example, when its result gains a use. A check therefore tests each op
//! again when diagnostics are requested. *Cost.* The cost of an update is proportional to the edit
//! and to the number of suppression comments after it.

use std::ops::Range;

use memchr::memmem;
use noisy_syntax::{Def, Delta, Ir, Name, Op, OpKind, Region, Source, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::misspelling;
use crate::facts::noise::contract;
use crate::program::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_heir::{CiphertextFacts, ReportSites};

/// The text that every suppression comment contains.
pub(super) const SUPPRESSION_MARK: &str = "noisy: allow(";

/// The ops that the checks must visit.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Pure ops without a used result.
    pub(super) unused_pure_ops: FxHashSet<Op>,
    /// Functions that state a bound on noise, and those without a body.
    pub(super) contract_functions: FxHashSet<Op>,
    /// Ops that may make code unreachable: labels, and ops that decide if a region runs.
    pub(super) reachability_ops: FxHashSet<Op>,
    /// Ops with an operand that selects the successor or the region that runs.
    pub(super) conditional_ops: FxHashSet<Op>,
    /// The ops that identify a HEIR program: modules that name a scheme, and ops of HEIR's
    /// dialects.
    pub(super) heir_ops: FxHashSet<Op>,
    /// Ops with a name that may be misspelled.
    pub(super) misspelled_ops: FxHashSet<Op>,
    /// Cache: true for each name that may be misspelled. The key is true for names of attributes,
    /// false for names of ops.
    is_misspelled: FxHashMap<(Name, bool), bool>,
    /// The offsets of [`SUPPRESSION_MARK`] in the text, in order.
    pub(super) marks: Vec<usize>,
}

impl Index {
    /// Creates the index of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let mut it = Self { marks: marks_in(program.source()), ..Self::default() };
        it.add_all(program.ir(), program.ir().root());
        it
    }

    /// Returns true for a HEIR program.
    pub(crate) fn is_heir_program(&self) -> bool {
        !self.heir_ops.is_empty()
    }

    /// Returns the facts about ciphertexts; `None` if it is not a HEIR program.
    pub(crate) fn heir_of<'a>(&self, program: &'a Program) -> Option<&'a CiphertextFacts> {
        if self.is_heir_program() { program.heir() } else { None }
    }

    /// Like [`Self::heir_of`], with the IR and the positions that checks report.
    pub(super) fn sites_of<'a>(
        &self,
        program: &'a Program,
    ) -> Option<(&'a Ir, &'a CiphertextFacts, &'a ReportSites)> {
        Some((program.ir(), self.heir_of(program)?, program.sites()?))
    }

    /// Returns the offsets of [`SUPPRESSION_MARK`] in the text, in order.
    #[cfg(test)]
    pub(crate) fn marks(&self) -> &[usize] {
        &self.marks
    }

    /// Updates the index after an edit that replaced `range` by `len` bytes.
    pub(crate) fn update(
        &mut self,
        source: &Source,
        delta: &Delta,
        range: &Range<usize>,
        len: usize,
    ) {
        let ir = source.ir();
        for &op in &delta.removed {
            self.remove(op);
        }
        for &op in &delta.changed {
            self.remove(op);
            self.add(ir, op);
        }
        for &value in &delta.unused_values {
            if let Def::Result(op, _) = ir.value(value).def
                && ir.is_alive(op)
            {
                self.add(ir, op);
            }
        }
        self.move_marks(source, range, len);
    }

    fn move_marks(&mut self, source: &Source, range: &Range<usize>, len: usize) {
        let text = source.text();
        let reach = SUPPRESSION_MARK.len() - 1;
        let from = text.byte_to_char(range.start.saturating_sub(reach));
        let to = text.byte_to_char((range.start + len + reach).min(text.len_bytes()));
        let (near, start) = (text.slice(from..to).to_string(), text.char_to_byte(from));
        let first = self.marks.partition_point(|it| it + reach < range.start);
        let last = self.marks.partition_point(|&it| it < range.end).max(first);
        for it in &mut self.marks[last..] {
            *it = *it - range.len() + len;
        }
        let found = near.match_indices(SUPPRESSION_MARK).map(|it| start + it.0);
        self.marks.splice(first..last, found);
    }

    fn remove(&mut self, op: Op) {
        let sets = [
            &mut self.unused_pure_ops,
            &mut self.contract_functions,
            &mut self.reachability_ops,
            &mut self.conditional_ops,
            &mut self.heir_ops,
            &mut self.misspelled_ops,
        ];
        for set in sets {
            if !set.is_empty() {
                set.remove(&op);
            }
        }
    }

    fn add_all(&mut self, ir: &Ir, region: Region) {
        for op in ir.items(region) {
            self.add(ir, op);
            for &(_, inner) in &ir.op(op).regions {
                self.add_all(ir, inner);
            }
        }
    }

    fn add(&mut self, ir: &Ir, op: Op) {
        let data = ir.op(op);
        if is_unused_pure(ir, op) {
            self.unused_pure_ops.insert(op);
        }
        if flow::controlling_operand(ir, op).is_some() {
            self.conditional_ops.insert(op);
        }
        if noisy_heir::is_heir_marker(ir, op) {
            self.heir_ops.insert(op);
        }
        if data.kind == OpKind::Unknown || data.extra.is_some() {
            let known = &mut self.is_misspelled;
            let mut names = misspelling::names_to_check(ir, op);
            let is_misspelled = |it: (Name, bool)| {
                let meant = || misspelling::correction(ir.interner.str(it.0), it.1).is_some();
                *known.entry(it).or_insert_with(meant)
            };
            if names.any(is_misspelled) {
                self.misspelled_ops.insert(op);
            }
        }
        match data.kind {
            OpKind::Label => {
                self.reachability_ops.insert(op);
            }
            OpKind::FuncFunc => {
                if data.regions.is_empty() || contract::has_contract(ir, op) {
                    self.contract_functions.insert(op);
                }
            }
            _ if data.regions.is_empty() => {}
            _ => {
                if Flow::of(ir, op) == Flow::Choice || Flow::of(ir, op).is_loop() {
                    self.reachability_ops.insert(op);
                }
            }
        }
    }
}

/// Returns the offsets of [`SUPPRESSION_MARK`] in a text, in order. *Cost.* Linear, without a copy
/// of the text.
fn marks_in(source: &Source) -> Vec<usize> {
    let mut marks = Vec::new();
    // The text that is being searched, and its offset.
    let (mut near, mut start) = (String::new(), 0);
    for chunk in source.text().chunks() {
        near.push_str(chunk);
        marks.extend(memmem::find_iter(near.as_bytes(), SUPPRESSION_MARK).map(|it| start + it));
        // A mark may continue in the next chunk.
        let mut rest = near.len().saturating_sub(SUPPRESSION_MARK.len() - 1);
        while !near.is_char_boundary(rest) {
            rest += 1;
        }
        near.drain(..rest);
        start += rest;
    }
    marks
}

/// Returns true if an op has no effects and no used result.
pub(crate) fn is_unused_pure(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    !data.results.is_empty()
        && data.kind.is_pure()
        && !data.kind.has(Traits::TERMINATOR)
        && data.regions.is_empty()
        && data.results.iter().all(|&it| ir.value(it).uses.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_marks_across_two_chunks_of_the_rope() {
        let mut text = String::new();
        for line in 0..2000 {
            let blanks = " ".repeat(line % 7);
            text += &format!("{blanks}// é: noisy: allo\u{301}w( noisy: noisy: allow(unused-op)\n");
        }
        let source = Source::new(&text);
        let all: Vec<usize> = text.match_indices(SUPPRESSION_MARK).map(|it| it.0).collect();
        let mut end = 0;
        let ends = source.text().chunks().map(|it| {
            end += it.len();
            end
        });
        let n_split = ends
            .filter(|&end| {
                all.iter().any(|&start| start < end && end < start + SUPPRESSION_MARK.len())
            })
            .count();
        assert!(n_split > 5, "{n_split} marks are split");
        assert_eq!(marks_in(&source), all);
    }
}
