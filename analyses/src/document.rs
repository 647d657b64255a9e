//! A text with all that is known of it.
//!
//! *Law.* After any edits, facts and diagnostics equal those of a document made from the text anew. *Cost.* An edit costs in
//! proportion to what it changes; asking for the diagnostics, in proportion to how many there are.

use std::ops::{Deref, Range};
use std::sync::Arc;
use std::time::Instant;

use noisy_syntax::{Delta, Op, Value};
use rustc_hash::FxHashMap;

use crate::checks::{self, Index, Trial};
use crate::diagnostic::{Applicability, Diagnostic, Fix, Severity, TextEdit, combine};
use crate::explain::{self, Assumption, Derivation, Saturation};
use crate::fix::{self, FixError, Options, Outcome};
use crate::heir::{Heir, Quantities};
use crate::noise::model::NoiseModel;
use crate::program::Program;
use crate::remarks::Remark;

/// A document: a [`Program`] and its diagnostics, always those of the current text.
///
/// Whatever reads a program reads a document too.
#[derive(Debug)]
pub struct Document {
    program: Program,
    index: Index,
}

/// Edits that write one in so many bytes of a text cost as much as reading all of it.
const MUCH: usize = 4;
/// More edits than this may cost more, too: each may be one on which much of the program depends.
const FEW: usize = 16;

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

    /// Reads and analyzes as many texts as models, each under its own: the same documents as one by one, and sooner where they are
    /// small, since what a step needs of the processor's caches stays there from one text to the next.
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

    /// Why the noise of an argument of a function is what it is; none for what is no such argument.
    pub fn assumption(&self, value: Value) -> Option<Assumption> {
        explain::assumption(self, value)
    }

    /// How the noise of a value came about.
    pub fn derivation(&self, value: Value) -> Derivation {
        explain::derivation(self, value, &mut Saturation::default())
    }

    /// Where an integer lies, in words, if that is more than its type says and it is no constant as it is written.
    pub fn integer_in_words(&self, value: Value) -> Option<String> {
        explain::integer_in_words(self, value)
    }

    /// What is known of ciphertexts, if the text says that it is a program of HEIR's. Asking this of any other costs nothing.
    pub fn ciphertexts(&self) -> Option<(&Heir, Quantities<'_>)> {
        let heir = self.index.heir_of(&self.program)?;
        Some((heir, self.program.quantities()?))
    }

    /// Whether the text says that it is a program of HEIR's.
    pub fn is_of_heir(&self) -> bool {
        self.index.is_of_heir()
    }

    /// Puts the cheapest `reduce_noise` into some functions of the document, as [`fix::insert_reduces`] finds them; the outcome names these
    /// as they were. Verified is the document that it becomes: the edited one, for edits leave what a document made anew would be
    /// and cost what they change, or, where they change much of it, one made anew.
    ///
    /// # Errors
    ///
    /// As [`fix::insert_reduces`]; the document is then as it was.
    pub fn insert_reduces(
        &mut self,
        functions: &[Op],
        options: &Options,
    ) -> Result<Outcome, FixError> {
        let start = Instant::now();
        let proposal = fix::propose(self, functions, options);
        let edits = TextEdit::in_few(&proposal.edits, self.source());
        // What calls give may have to be asked about again.
        if edits.is_empty() || proposal.has_calls() || self.is_much(&edits) {
            let outcome = proposal.settled(self, functions, options, start)?;
            return Ok(self.become_of(outcome));
        }
        // It is cheap: the pieces of a text are shared.
        let before = self.source().text().clone();
        let all = self.ir().functions();
        let place_of: FxHashMap<Op, usize> = all.into_iter().zip(0..).collect();
        let places = functions.iter().map(|it| place_of.get(it).copied());
        let places: Vec<Option<usize>> = places.collect();
        self.edit_all(&edits);
        if proposal.is_kept_by(self) {
            return Ok(proposal.outcome(self, functions));
        }
        self.go_back(&before.to_string());
        let all = self.ir().functions();
        let functions: Vec<Op> =
            places.into_iter().filter_map(|at| all.get(at?).copied()).collect();
        let outcome = fix::insert_reduces(self, &functions, options)?;
        Ok(self.become_of(outcome))
    }

    /// Becomes the program of an outcome, if it has one.
    fn become_of(&mut self, mut outcome: Outcome) -> Outcome {
        if let Some(after) = outcome.after.take() {
            *self = Self::of(after);
        }
        outcome
    }

    /// Whether reading all of the text anew may cost no more than some edits.
    fn is_much(&self, edits: &[TextEdit]) -> bool {
        let n_written: usize = edits.iter().map(|it| it.range.len() + it.text.len()).sum();
        edits.len() > FEW || n_written * MUCH > self.source().text().len_bytes()
    }

    fn edit_all(&mut self, edits: &[TextEdit]) {
        for it in edits.iter().rev() {
            self.edit(it.range.clone(), &it.text);
        }
    }

    fn go_back(&mut self, before: &str) {
        *self = Self::with_model(before, self.model().clone());
    }

    /// Everything there is to say, in textual order, but by checks that are off by default.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics_with(&[])
    }

    /// As [`Document::diagnostics`], with those of some codes that are off by default.
    pub fn diagnostics_with(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::Told::All)
    }

    /// As [`Document::diagnostics_with`], but what explains noise may be left out: for who wants to know what is wrong and not why.
    pub fn diagnostics_in_brief(&self, also: &[&str]) -> Vec<Diagnostic> {
        self.found(also, checks::Told::InBrief)
    }

    fn found(&self, also: &[&str], told: checks::Told) -> Vec<Diagnostic> {
        let problems = self.source().problems();
        let mut out = Vec::with_capacity(problems.len());
        for (_, range, problem) in problems {
            out.push(Diagnostic {
                code: problem.code.name(),
                category: problem.code.category().into(),
                severity: Severity::Error,
                range,
                message: problem.message,
                related: Vec::new(),
                help: None,
                tags: Vec::new(),
            });
        }
        out.extend(checks::run(&self.program, &self.index, also, told));
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

    /// What would fix each of some diagnostics of the current text at once, proven by analyzing the text after it; made when asked for,
    /// at best for the price of one analysis. Placement is asked for separately.
    pub fn fixes<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Option<Fix>> {
        checks::fixes(&self.program, &self.index, diagnostics, &mut Trial::default())
    }

    /// What fixes what a remark says of an op, whether a diagnostic tells of it or not; proven as [`Document::fixes`] are.
    pub fn fix_of(&self, op: Op, remark: Remark) -> Option<Fix> {
        checks::fix_of(&self.program, &self.index, op, remark)
    }

    /// The edits of the fixes of some diagnostics that can be applied at once, in order, and how many fixes they are. Those that need
    /// a look are left out unless `unsafe_too`. A function with an error in syntax, names or types is left as it is.
    pub fn fix_all<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> (Vec<TextEdit>, usize) {
        self.fixes_together(diagnostics, unsafe_too, &mut Trial::default())
    }

    /// Applies the fixes of [`Document::fix_all`] to the document, if what it becomes is kept; how many fixes they are. `None` where there are
    /// none, and where it is not kept: the document is then as it was. Few edits are made in it as they are, which costs less than to prove
    /// them by reading all anew; only where that is not kept are they proven, and what is proven is asked about in turn.
    pub fn apply_fixes<'a>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic> + Clone,
        unsafe_too: bool,
        is_kept: &mut dyn FnMut(&Self) -> bool,
    ) -> Option<usize> {
        let fixes = checks::unproven(&self.program, diagnostics.clone());
        let (edits, is_taken) = combine(&self.applicable(fixes, unsafe_too));
        let edits = TextEdit::in_few(&edits, self.source());
        if edits.is_empty() {
            return None;
        }
        if !self.is_much(&edits) {
            // It is cheap: the pieces of a text are shared.
            let before = self.source().text().clone();
            self.edit_all(&edits);
            if is_kept(self) {
                return Some(is_taken.into_iter().filter(|&it| it).count());
            }
            self.go_back(&before.to_string());
        }
        let (after, n) = self.with_all_fixed(diagnostics, unsafe_too)?;
        is_kept(&after).then(|| {
            *self = after;
            n
        })
    }

    /// The document after the edits of [`Document::fix_all`], and how many fixes they are; `None` if there are none. Mostly it is the one that proves
    /// the fixes, so that this costs no more than asking for the edits.
    fn with_all_fixed<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
    ) -> Option<(Self, usize)> {
        let mut trial = Trial::default();
        let (edits, n) = self.fixes_together(diagnostics, unsafe_too, &mut trial);
        if edits.is_empty() {
            return None;
        }
        let after = match trial.after(&edits) {
            Some((program, index)) => Self { program, index },
            None => self.after(&edits),
        };
        Some((after, n))
    }

    /// The document after some edits, which are in order, read and analyzed anew.
    #[must_use]
    pub fn after(&self, edits: &[TextEdit]) -> Self {
        let text = TextEdit::apply_all(edits, &self.source().text().to_string());
        Self::with_model(&text, self.model().clone())
    }

    fn fixes_together<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        unsafe_too: bool,
        trial: &mut Trial,
    ) -> (Vec<TextEdit>, usize) {
        let fixes = checks::fixes(&self.program, &self.index, diagnostics, trial);
        let mut fixes = self.applicable(fixes, unsafe_too);
        loop {
            let (edits, is_taken) = combine(&fixes);
            // Each holds alone; together they might meet in a new name.
            if fixes.len() <= 1 || checks::holds(&self.program, &self.index, &edits, trial) {
                return (edits, is_taken.into_iter().filter(|&it| it).count());
            }
            fixes.truncate(fixes.len() / 2);
        }
    }

    /// Those of some fixes that may be applied, the largest first: one that takes others along does their work, too. A function with an
    /// error in syntax, names or types is left as it is.
    fn applicable(&self, fixes: Vec<Option<Fix>>, unsafe_too: bool) -> Vec<Fix> {
        let mut fixes: Vec<Fix> = fixes.into_iter().flatten().collect();
        if fixes.is_empty() {
            return fixes;
        }
        let ir = self.ir();
        let problems = self.source().problems().into_iter();
        let mut broken: Vec<_> = problems.filter_map(|it| ir.function_of(it.0)).collect();
        broken.dedup();
        let broken: Vec<_> = broken.into_iter().map(|it| ir.range(it)).collect();
        let is_broken = |edit: &TextEdit| {
            broken.iter().any(|it| edit.range.start <= it.end && it.start <= edit.range.end)
        };
        fixes.retain(|it| {
            let is_wanted = unsafe_too || it.applicability == Applicability::Safe;
            is_wanted && !it.edits.is_empty() && !it.edits.iter().any(is_broken)
        });
        fixes.sort_by_key(|it| std::cmp::Reverse(it.edits.len()));
        fixes
    }
}

#[cfg(test)]
mod tests;
