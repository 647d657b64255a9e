//! The edits that repair a document: fixes of diagnostics, and `reduce_noise` placed in it.

use std::time::Instant;

use noisy_syntax::{Op, Source, TextEdit};
use rustc_hash::FxHashMap;

use super::placement::{self, FixError, Options, Outcome};
use super::trial::{self, Trial};
use crate::document::Document;
use crate::problems;
use crate::report::diagnostic::{Applicability, Diagnostic, Fix, combine};
use crate::report::remarks::Remark;

impl Document {
    /// Inserts the cheapest `reduce_noise` into some functions of the document, as
    /// [`placement::insert_reduces`] finds them. The outcome names the functions before. The
    /// document is verified as it is after the edits: edited in place, which costs as much as the
    /// edits change, or read again if they change much of it.
    ///
    /// # Errors
    ///
    /// As [`placement::insert_reduces`]; the document is then as it was.
    pub fn insert_reduces(
        &mut self,
        functions: &[Op],
        options: &Options,
    ) -> Result<Outcome, FixError> {
        let start = Instant::now();
        let proposal = placement::propose(self, functions, options);
        let edits = in_few(&proposal.edits, self.source());
        // Cheap: ropes share their pieces.
        let before = self.source().text().clone();
        let all = self.ir().functions();
        // The noise of calls may have to be asked again, so only functions without them are edited
        // in place.
        if edits.is_empty() || proposal.has_calls() || !self.edit_few(&edits) {
            let outcome = proposal.settled(self, functions, options, start)?;
            return Ok(self.become_of(outcome));
        }
        if proposal.is_kept_by(self) {
            return Ok(proposal.outcome(self, functions));
        }
        self.go_back(&before.to_string());
        let position_of: FxHashMap<Op, usize> = all.into_iter().zip(0..).collect();
        let all = self.ir().functions();
        let same = |it: &Op| all.get(*position_of.get(it)?).copied();
        let functions: Vec<Op> = functions.iter().filter_map(same).collect();
        let outcome = placement::insert_reduces(self, &functions, options)?;
        Ok(self.become_of(outcome))
    }

    /// Becomes the program of an outcome, if it has one.
    fn become_of(&mut self, mut outcome: Outcome) -> Outcome {
        if let Some(after) = outcome.after.take() {
            *self = Self::of(after);
        }
        outcome
    }

    fn go_back(&mut self, before: &str) {
        *self = Self::with_model(before, self.model().clone());
    }

    /// Returns the fix of each diagnostic of the current text, proven by analyzing the text after
    /// it, at best for the price of one analysis. The optimizer is asked separately.
    pub fn fixes<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Option<Fix>> {
        let (program, index) = self.parts();
        trial::fixes(program, index, diagnostics, &mut Trial::default())
    }

    /// Returns all fixes of each diagnostic of the current text, the best first: those of
    /// [`Document::fixes`], and for problems of the text also other possible corrections.
    pub fn choices<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Vec<Fix>> {
        let (program, index) = self.parts();
        trial::choices(program, index, diagnostics)
    }

    /// Returns the fix of a remark on an op, even if no diagnostic reports it; proven as
    /// [`Document::fixes`] are.
    pub fn fix_of(&self, op: Op, remark: Remark) -> Option<Fix> {
        let (program, index) = self.parts();
        trial::fix_of(program, index, op, remark)
    }

    /// Returns the edits of the fixes that can be applied at once, in order, and the number of
    /// fixes. Fixes that need a review are left out unless `unsafe_too`. A function with an error
    /// in syntax, names or types is left as it is.
    pub fn fix_all<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> (Vec<TextEdit>, usize) {
        self.fixes_together(diagnostics, unsafe_too, &mut Trial::default())
    }

    /// Applies the edits of [`Document::fix_all`] if the document after them is kept. Returns them
    /// with the number of fixes; `None` if there are none or the document is not kept: it is then
    /// as it was. A few edits are made in place, which costs less than to prove them by reading all
    /// of the text again. They are proven, and asked about again, only if that document is not
    /// kept.
    pub(super) fn apply_fixes<'a>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic> + Clone,
        unsafe_too: bool,
        is_kept: &mut dyn FnMut(&Self) -> bool,
    ) -> Option<(Vec<TextEdit>, usize)> {
        let fixes = trial::unproven(self, diagnostics.clone());
        let is_problem = diagnostics.clone().into_iter().map(problems::hides_others);
        let fixes = fixes.into_iter().zip(is_problem);
        let (edits, is_taken) = combine(&self.applicable(fixes, unsafe_too));
        let few = in_few(&edits, self.source());
        if few.is_empty() {
            return None;
        }
        // Cheap: ropes share their pieces.
        let before = self.source().text().clone();
        if self.edit_few(&few) {
            if is_kept(self) {
                return Some((edits, is_taken.into_iter().filter(|&it| it).count()));
            }
            self.go_back(&before.to_string());
        }
        let (after, edits, n) = self.with_all_fixed(diagnostics, unsafe_too)?;
        is_kept(&after).then(|| {
            *self = after;
            (edits, n)
        })
    }

    /// Returns the document after the edits of [`Document::fix_all`], with these and the number of
    /// fixes; `None` if there are none. Mostly the analysis that proves the fixes is that of the
    /// document, so this costs no more than the edits.
    fn with_all_fixed<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> Option<(Self, Vec<TextEdit>, usize)> {
        let mut trial = Trial::default();
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
        trial: &mut Trial,
    ) -> (Vec<TextEdit>, usize) {
        let (program, index) = self.parts();
        let diagnostics: Vec<&Diagnostic> = diagnostics.into_iter().collect();
        let fixes = trial::fixes(program, index, diagnostics.iter().copied(), trial);
        let is_problem = diagnostics.into_iter().map(problems::hides_others);
        let mut fixes = self.applicable(fixes.into_iter().zip(is_problem), unsafe_too);
        loop {
            let (edits, is_taken) = combine(&fixes);
            // Each holds alone. Two may still introduce the same name.
            if fixes.len() <= 1 || trial::holds(program, index, &edits, trial) {
                return (edits, is_taken.into_iter().filter(|&it| it).count());
            }
            fixes.truncate(fixes.len() / 2);
        }
    }

    /// Returns the fixes that may be applied, the largest first: a fix that moves other ops along
    /// includes their fixes. In a function with an error in syntax, names or types only fixes of
    /// these are applied, which are marked.
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
fn in_few(edits: &[TextEdit], source: &Source) -> Vec<TextEdit> {
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
