//! A text with its program, facts and diagnostics.
//!
//! *Law.* After any edits, facts and diagnostics equal those of a new document with the same text.
//! *Cost.* The cost of an edit is proportional to its change, the cost of diagnostics to their
//! number.

use std::ops::{Deref, Range};
use std::sync::Arc;

use noisy_syntax::{Delta, Value};

use crate::checks::{self, Index};
use crate::explain::{self, Assumption, Derivation, SaturationCache};
use crate::facts::noise::model::NoiseModel;
use crate::problems;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, TextEdit};
use noisy_heir::{CiphertextFacts, ProgramNumbers};

/// A document: a [`Program`] and its diagnostics, always those of the current text.
///
/// It dereferences to its program.
#[derive(Debug)]
pub struct Document {
    program: Program,
    index: Index,
}

/// Reparsing is cheaper than edits that touch more than one n-th of the bytes of the text.
const REREAD_FRACTION: usize = 4;
/// Maximum number of edits that are applied in place: each may change the facts of many ops.
const MAX_EDITS_IN_PLACE: usize = 16;

impl Deref for Document {
    type Target = Program;

    #[inline]
    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Document {
    /// Parses and analyzes a text with the built-in noise model.
    pub fn new(text: &str) -> Self {
        Self::with_model(text, NoiseModel::tutorial())
    }

    /// Parses and analyzes a text.
    pub fn with_model(text: &str, model: impl Into<Arc<NoiseModel>>) -> Self {
        Self::from_program(Program::with_model(text, model.into()))
    }

    /// Parses and analyzes texts, each with its own noise model. For small texts this is faster
    /// than one by one: the code of each step stays in the caches of the processor.
    pub fn all(texts: &[&str], models: Vec<Arc<NoiseModel>>) -> Vec<Self> {
        Program::analyze_all(texts, models).into_iter().map(Self::from_program).collect()
    }

    /// Creates the document of an analyzed program.
    pub fn from_program(program: Program) -> Self {
        let index = Index::new(&program);
        Self { program, index }
    }

    /// Replaces a range of bytes, whose ends must be character boundaries of the text.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        let delta = self.program.edit(range.clone(), text);
        self.index.update(self.program.source(), &delta, &range, text.len());
        delta
    }

    /// Explains the assumed noise of an argument of a function; `None` for other values.
    pub fn assumption(&self, value: Value) -> Option<Assumption> {
        explain::assumption(self, value)
    }

    /// Explains the noise of a value.
    pub fn derivation(&self, value: Value) -> Derivation {
        explain::derivation(self, value, &mut SaturationCache::default())
    }

    /// Describes the range of an integer in words; `None` for a constant, and for a range that is
    /// not smaller than that of its type.
    pub fn integer_in_words(&self, value: Value) -> Option<String> {
        explain::integer_in_words(self, value)
    }

    /// Returns the facts about the ciphertexts of a HEIR program; `None`, at no cost, for other
    /// programs.
    pub fn ciphertexts(&self) -> Option<(&CiphertextFacts, ProgramNumbers<'_>)> {
        let heir = self.index.heir_of(&self.program)?;
        Some((heir, self.program.program_numbers()?))
    }

    /// Returns true if the text is a HEIR program.
    pub fn is_heir_program(&self) -> bool {
        self.index.is_heir_program()
    }

    /// Applies a few edits, sorted by position. Returns false and changes nothing if reparsing the
    /// text may be cheaper.
    pub(crate) fn edit_in_place(&mut self, edits: &[TextEdit]) -> bool {
        let n_written: usize = edits.iter().map(|it| it.range.len() + it.text.len()).sum();
        let n_bytes = self.source().text().len_bytes();
        if edits.len() > MAX_EDITS_IN_PLACE || n_written * REREAD_FRACTION > n_bytes {
            return false;
        }
        for it in edits.iter().rev() {
            self.edit(it.range.clone(), &it.text);
        }
        true
    }

    /// Returns the program and the index of the ops that checks visit.
    pub(crate) fn parts(&self) -> (&Program, &Index) {
        (&self.program, &self.index)
    }

    /// Creates the document of a program with an existing index.
    pub(crate) fn with_index(program: Program, index: Index) -> Self {
        Self { program, index }
    }

    /// Returns all diagnostics in textual order, except those of checks that are off by default.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_with(&[])
    }

    /// Like [`Document::diagnostics`], with the checks in `also` that are off by default.
    pub fn diagnostics_with(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::DiagnosticDetail::Full)
    }

    /// Like [`Document::diagnostics_with`], but may omit explanations of noise.
    pub fn diagnostics_in_brief(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::DiagnosticDetail::Brief)
    }

    fn found(&self, also: &[&str], detail: checks::DiagnosticDetail) -> Vec<Diagnostic> {
        let problems = self.source().problems();
        let mut out = Vec::with_capacity(problems.len());
        out.extend(checks::run(&self.program, &self.index, also, detail));
        problems::keep_plausible(&self.program, &problems, &mut out);
        let is_advised =
            |n: usize| detail == checks::DiagnosticDetail::Full && n < problems::MAX_ADVISED;
        for (n, it) in problems.into_iter().enumerate() {
            out.push(problems::diagnostic(&self.program, it, is_advised(n)));
        }
        let in_order = |a: &Diagnostic, b: &Diagnostic| {
            let key = |it: &Diagnostic| (it.range.start, it.range.end, it.category, it.code);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        };
        // Usually they are sorted already, and sorting would allocate memory for half of them.
        if !out.is_sorted_by(|a, b| in_order(a, b).is_le()) {
            out.sort_by(in_order);
        }
        out
    }

    /// Returns the document after edits sorted by position, parsed and analyzed from scratch.
    #[must_use]
    pub fn after(&self, edits: &[TextEdit]) -> Self {
        let text = TextEdit::apply_all(edits, &self.source().text().to_string());
        Self::with_model(&text, self.model().clone())
    }
}

#[cfg(test)]
mod tests;
