//! A text with all that is known of it.

use std::ops::Range;

use noisy_syntax::{Delta, Ir, Op, Source, Value};

use crate::derivation::Derivation;
use crate::fact::Noise;
use crate::model::NoiseModel;
use crate::{Category, Diagnostic, Severity};

/// A document: text, IR, facts and diagnostics, always those of the current text.
#[derive(Debug)]
pub struct Document {
    source: Source,
    model: NoiseModel,
}

impl Document {
    /// Reads and analyzes a text under the built-in model.
    pub fn new(text: &str) -> Self {
        Self { source: Source::new(text), model: NoiseModel::tutorial() }
    }

    /// Replaces a range of bytes, which must lie on character boundaries within the text.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        self.source.edit(range, text)
    }

    /// Text and IR.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The IR.
    pub fn ir(&self) -> &Ir {
        self.source.ir()
    }

    /// The noise model.
    pub fn model(&self) -> &NoiseModel {
        &self.model
    }

    /// What is known of the noise of a value; [`Noise::Bottom`] for values that carry none.
    pub fn noise(&self, value: Value) -> &Noise {
        let _ = value;
        &Noise::Unknown
    }

    /// How the noise of a value came about.
    pub fn derivation(&self, value: Value) -> Derivation {
        let _ = value;
        Derivation::default()
    }

    /// Everything there is to say, in textual order.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for (_, range, problem) in self.source.problems() {
            let category = match problem.category {
                noisy_syntax::Category::Syntax => Category::Syntax,
                noisy_syntax::Category::Name => Category::Name,
                noisy_syntax::Category::Type => Category::Type,
                noisy_syntax::Category::Structure => Category::Structure,
            };
            out.push(Diagnostic {
                code: problem.code,
                category,
                severity: Severity::Error,
                range,
                message: problem.message,
                related: Vec::new(),
                help: None,
                tags: Vec::new(),
                fixes: Vec::new(),
            });
        }
        out
    }

    /// The symbol name of a function without `@`, or an empty string.
    pub fn function_name(&self, function: Op) -> String {
        let ir = self.ir();
        ir.rest(function).symbol.map_or(String::new(), |(name, _)| ir.interner.str(name).to_owned())
    }
}
