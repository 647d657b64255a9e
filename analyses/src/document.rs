//! A text with its program, facts and diagnostics.
//!
//! *Law.* After any edits, facts and diagnostics equal those of a document made from the text anew.
//! *Cost.* An edit costs in proportion to its change, the diagnostics in proportion to their
//! number.

use std::ops::{Deref, Range};
use std::sync::Arc;

use noisy_syntax::{Delta, Value};

use crate::checks::{self, Index};
use crate::explain::{self, Assumption, Derivation, Saturation};
use crate::facts::noise::model::NoiseModel;
use crate::problems;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, TextEdit};
use noisy_heir::{Heir, Quantities};

/// A document: a [`Program`] and its diagnostics, always those of the current text.
///
/// Whatever reads a program reads a document too.
#[derive(Debug)]
pub struct Document {
    program: Program,
    index: Index,
}

/// Edits that write more than one byte in this many of the text cost more than reading it again.
const REREAD_FRACTION: usize = 4;
/// More edits than this may also cost more: much of the program may depend on each.
const MAX_IN_PLACE: usize = 16;

impl Deref for Document {
    type Target = Program;

    #[inline]
    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Document {
    /// Reads and analyzes a text under the built-in model.
    pub fn new(text: &str) -> Self {
        Self::with_model(text, NoiseModel::tutorial())
    }

    /// Reads and analyzes a text.
    pub fn with_model(text: &str, model: impl Into<Arc<NoiseModel>>) -> Self {
        Self::of(Program::with_model(text, model.into()))
    }

    /// Reads and analyzes texts, each under its own model. Small texts are read faster together
    /// than one by one, since the caches of the processor keep the code of a step from one text to
    /// the next.
    pub fn all(texts: &[&str], models: Vec<Arc<NoiseModel>>) -> Vec<Self> {
        Program::all(texts, models).into_iter().map(Self::of).collect()
    }

    /// The diagnostics of a program that is analyzed already.
    pub fn of(program: Program) -> Self {
        let index = Index::new(&program);
        Self { program, index }
    }

    /// Replaces a range of bytes, which must lie on character boundaries within the text.
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
        explain::derivation(self, value, &mut Saturation::default())
    }

    /// Describes the range of an integer in words, if it is more than its type says and no
    /// constant.
    pub fn integer_in_words(&self, value: Value) -> Option<String> {
        explain::integer_in_words(self, value)
    }

    /// The ciphertexts of a program of HEIR's. Costs nothing for other programs.
    pub fn ciphertexts(&self) -> Option<(&Heir, Quantities<'_>)> {
        let heir = self.index.heir_of(&self.program)?;
        Some((heir, self.program.quantities()?))
    }

    /// Returns true if the text is a program of HEIR's.
    pub fn is_of_heir(&self) -> bool {
        self.index.is_of_heir()
    }

    /// Makes a few edits, which are in order. Returns false and changes nothing if reading the text
    /// again may cost less.
    pub(crate) fn edit_few(&mut self, edits: &[TextEdit]) -> bool {
        let n_written: usize = edits.iter().map(|it| it.range.len() + it.text.len()).sum();
        let n_bytes = self.source().text().len_bytes();
        if edits.len() > MAX_IN_PLACE || n_written * REREAD_FRACTION > n_bytes {
            return false;
        }
        for it in edits.iter().rev() {
            self.edit(it.range.clone(), &it.text);
        }
        true
    }

    /// The program, and the ops that the checks look at.
    pub(crate) fn parts(&self) -> (&Program, &Index) {
        (&self.program, &self.index)
    }

    /// The document of a program whose index is known.
    pub(crate) fn with_index(program: Program, index: Index) -> Self {
        Self { program, index }
    }

    /// Everything there is to say, in textual order, but by checks that are off by default.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_with(&[])
    }

    /// As [`Document::diagnostics`], with those of some codes that are off by default.
    pub fn diagnostics_with(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::Detail::Full)
    }

    /// As [`Document::diagnostics_with`]; explanations of noise may be left out.
    pub fn diagnostics_in_brief(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::Detail::Brief)
    }

    fn found(&self, also: &[&str], detail: checks::Detail) -> Vec<Diagnostic> {
        let problems = self.source().problems();
        let mut out = Vec::with_capacity(problems.len());
        out.extend(checks::run(&self.program, &self.index, also, detail));
        problems::keep_plausible(&self.program, &problems, &mut out);
        let is_advised = |n: usize| detail == checks::Detail::Full && n < problems::MAX_ADVISED;
        for (n, it) in problems.into_iter().enumerate() {
            out.push(problems::diagnostic(&self.program, it, is_advised(n)));
        }
        let in_order = |a: &Diagnostic, b: &Diagnostic| {
            let key = |it: &Diagnostic| (it.range.start, it.range.end, it.category, it.code);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        };
        // Sorting would take memory for half of them, and mostly they are sorted.
        if !out.is_sorted_by(|a, b| in_order(a, b).is_le()) {
            out.sort_by(in_order);
        }
        out
    }

    /// The document after some edits, which are in order, read and analyzed anew.
    #[must_use]
    pub fn after(&self, edits: &[TextEdit]) -> Self {
        let text = TextEdit::apply_all(edits, &self.source().text().to_string());
        Self::with_model(&text, self.model().clone())
    }
}

#[cfg(test)]
mod tests;
