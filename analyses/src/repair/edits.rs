//! Methods of documents that compute and apply fixes and placements of `reduce_noise`.

use std::time::Instant;

use noisy_syntax::{Op, Source, TextEdit};
use rustc_hash::FxHashMap;

use super::placement::{self, PlacementError, PlacementOptions, PlacementOutcome};
use super::trial::{self, FixTrial};
use crate::document::Document;
use crate::problems;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, combine_fixes};
use crate::report::remarks::Remark;

impl Document {
    /// Applies the edits of [`placement::insert_reduces`] for some functions to the document. The
    /// ops in the outcome are those of the document before the edits. The edited document is
    /// verified. Few edits are applied in place, at a cost proportional to their changes; otherwise
    /// the text is reparsed.
    ///
    /// # Errors
    ///
    /// Those of [`placement::insert_reduces`]; the document is then unchanged.
    pub fn insert_reduces(
        &mut self,
        functions: &[Op],
        options: &PlacementOptions,
    ) -> Result<PlacementOutcome, PlacementError> {
        let start = Instant::now();
        let proposal = placement::propose(self, functions, options);
        let edits = merge_near(&proposal.edits, self.source());
        // The clone is cheap: ropes share their chunks.
        let before = self.source().text().clone();
        let all = self.ir().functions();
        // Functions with calls are not edited in place: their placement may need a second attempt.
        if edits.is_empty() || proposal.has_calls() || !self.edit_in_place(&edits) {
            let outcome = proposal.verified(self, functions, options, start)?;
            return Ok(self.adopt_program(outcome));
        }
        if proposal.is_verified_by(self) {
            return Ok(proposal.outcome(self, functions));
        }
        self.restore(&before.to_string());
        let position_of: FxHashMap<Op, usize> = all.into_iter().zip(0..).collect();
        let all = self.ir().functions();
        let same = |it: &Op| all.get(*position_of.get(it)?).copied();
        let functions: Vec<Op> = functions.iter().filter_map(same).collect();
        let outcome = placement::insert_reduces(self, &functions, options)?;
        Ok(self.adopt_program(outcome))
    }

    /// Replaces the document by the program of an outcome, if it has one.
    fn adopt_program(&mut self, mut outcome: PlacementOutcome) -> PlacementOutcome {
        if let Some(after) = outcome.after.take() {
            *self = Self::from_program(after);
        }
        outcome
    }

    fn restore(&mut self, before: &str) {
        *self = Self::with_model(before, self.model().clone());
    }

    /// Returns the fix of each diagnostic of the current text. Each fix is verified by an analysis
    /// of the edited text, if possible one analysis for all fixes. Placements are not included.
    pub fn fixes<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Option<Fix>> {
        let (program, index) = self.parts();
        trial::fixes(program, index, diagnostics, &mut FixTrial::default())
    }

    /// Returns all fixes of each diagnostic of the current text, the best first: those of
    /// [`Document::fixes`], and alternative corrections for problems of the parser and the
    /// verifier.
    pub fn choices<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Vec<Fix>> {
        let (program, index) = self.parts();
        trial::choices(program, index, diagnostics)
    }

    /// Returns the fix of a remark on an op, even if no diagnostic reports the remark; verified
    /// like those of [`Document::fixes`].
    pub fn fix_of(&self, op: Op, remark: Remark) -> Option<Fix> {
        let (program, index) = self.parts();
        trial::fix_of(program, index, op, remark)
    }

    /// Returns the sorted edits of the fixes that can be applied together, and the number of fixes.
    /// Fixes that need a review are included only with `unsafe_too`. In a function with errors in
    /// syntax, names or types, only these errors are fixed.
    pub fn fix_all<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> (Vec<TextEdit>, usize) {
        self.fixes_together(diagnostics, unsafe_too, &mut FixTrial::default())
    }

    /// Applies the edits of [`Document::fix_all`] if `is_kept` accepts the document after them.
    /// Returns the edits and the number of fixes; `None` without edits or acceptance, with an
    /// unchanged document. Few edits are first applied in place without verification, which is
    /// cheaper than to reparse the text. They are verified, and `is_kept` is called again, only if
    /// it rejects that document.
    pub(super) fn apply_fixes<'a>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic> + Clone,
        unsafe_too: bool,
        is_kept: &mut dyn FnMut(&Self) -> bool,
    ) -> Option<(Vec<TextEdit>, usize)> {
        let fixes = trial::unverified_fixes(self, diagnostics.clone());
        let is_problem = diagnostics.clone().into_iter().map(problems::hides_others);
        let fixes = fixes.into_iter().zip(is_problem);
        let (edits, is_taken) = combine_fixes(&self.applicable(fixes, unsafe_too));
        let few = merge_near(&edits, self.source());
        if few.is_empty() {
            return None;
        }
        // The clone is cheap: ropes share their chunks.
        let before = self.source().text().clone();
        if self.edit_in_place(&few) {
            if is_kept(self) {
                return Some((edits, is_taken.into_iter().filter(|&it| it).count()));
            }
            self.restore(&before.to_string());
        }
        let (after, edits, n) = self.with_all_fixed(diagnostics, unsafe_too)?;
        is_kept(&after).then(|| {
            *self = after;
            (edits, n)
        })
    }

    /// Returns the document after the edits of [`Document::fix_all`], the edits, and the number of
    /// fixes; `None` without edits. Usually the analysis that verified the fixes is reused for the
    /// document.
    fn with_all_fixed<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> Option<(Self, Vec<TextEdit>, usize)> {
        let mut trial = FixTrial::default();
        let (edits, n) = self.fixes_together(diagnostics, unsafe_too, &mut trial);
        if edits.is_empty() {
            return None;
        }
        let after = match trial.after(&edits) {
            Some((program, index)) => Self::with_index(program, index),
            None => self.after(&edits),
        };
        Some((after, edits, n))
    }

    fn fixes_together<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
        trial: &mut FixTrial,
    ) -> (Vec<TextEdit>, usize) {
        let (program, index) = self.parts();
        let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
        let fixes = trial::fixes(program, index, diagnostics.iter().copied(), trial);
        let is_problem = diagnostics.into_iter().map(problems::hides_others);
        let mut fixes = self.applicable(fixes.into_iter().zip(is_problem), unsafe_too);
        loop {
            let (edits, is_taken) = combine_fixes(&fixes);
            // Each fix is verified separately. But two fixes may introduce the same name.
            if fixes.len() <= 1 || trial::is_valid(program, index, &edits, trial) {
                return (edits, is_taken.into_iter().filter(|&it| it).count());
            }
            fixes.truncate(fixes.len() / 2);
        }
    }

    /// Returns the fixes that may be applied, those with the most edits first: a fix that also
    /// moves other ops includes their fixes. `fixes` has true for fixes of errors in syntax, names
    /// or types; in a function with such errors, only these are returned.
    fn applicable(
        &self,
        fixes: impl Iterator<Item = (Option<Fix>, bool)>,
        unsafe_too: bool,
    ) -> Vec<Fix> {
        let mut fixes: Vec<(Fix, bool)> =
            fixes.filter_map(|(fix, is_problem)| Some((fix?, is_problem))).collect();
        if fixes.is_empty() {
            return Vec::new();
        }
        let ir = self.ir();
        let problems = self.source().problems().into_iter();
        let mut broken: Vec<_> = problems.filter_map(|it| ir.function_of(it.0)).collect();
        broken.dedup();
        let broken: Vec<_> = broken.into_iter().map(|it| ir.range(it)).collect();
        let is_broken = |edit: &TextEdit| {
            broken.iter().any(|it| edit.range.start <= it.end && it.start <= edit.range.end)
        };
        fixes.retain(|(it, is_problem)| {
            let is_wanted = unsafe_too || it.applicability == Applicability::Safe;
            is_wanted && !it.edits.is_empty() && (*is_problem || !it.edits.iter().any(is_broken))
        });
        let mut fixes: Vec<Fix> = fixes.into_iter().map(|it| it.0).collect();
        fixes.sort_by_key(|it| std::cmp::Reverse(it.edits.len()));
        fixes
    }
}

#[cfg(test)]
mod tests;

/// Merges edits that are near each other: writing the text between them again costs less than
/// another edit.
fn merge_near(edits: &[TextEdit], source: &Source) -> Vec<TextEdit> {
    const NEAR: usize = 512;
    let mut out: Vec<TextEdit> = Vec::new();
    for it in edits {
        match out.last_mut() {
            Some(last) if it.range.start - last.range.end <= NEAR => {
                last.text.push_str(&source.slice(last.range.end..it.range.start));
                last.text.push_str(&it.text);
                last.range.end = it.range.end;
            }
            _ => out.push(it.clone()),
        }
    }
    out
}
