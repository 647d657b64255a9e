//! A text with all that is known of it.
//!
//! *Law.* After any edits, facts and diagnostics equal those of a document made from the text anew. *Cost.* An edit costs in
//! proportion to what it changes; asking for the diagnostics, in proportion to how many there are.

use std::ops::Range;

use noisy_syntax::{Def, Delta, Ir, Op, OpKind, Source, Value};
use rustc_hash::FxHashMap;

use crate::candidates::Candidates;
use crate::checks;
use crate::constant::is_written;
use crate::contract::{self, Contract, Side};
use crate::derivation::{self, Derivation};
use crate::fact::Noise;
use crate::integer::Integers;
use crate::model::NoiseModel;
use crate::noise::{Growing, NoiseAnalysis, Root};
use crate::sparse::{Context, Scene, Sparse};
use crate::{Diagnostic, Fix, Severity};

/// Why the noise of an argument of a function is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A contract on it says so.
    Contract(Contract),
    /// Anybody may call the function, so it is fresh; joined with what these calls pass.
    Fresh {
        /// The calls in the document, in textual order.
        calls: Vec<Op>,
    },
    /// The function is private, and these calls pass it.
    Passed {
        /// The calls, in textual order.
        calls: Vec<Op>,
    },
    /// The function is private, and nothing that runs calls it.
    NeverCalled,
}

impl Assumption {
    /// In words, for hover: `assumed fresh (12): public function`.
    pub fn text(&self, fresh: crate::Bits) -> String {
        let callers = |n: usize| if n == 1 { "1 call".to_owned() } else { format!("{n} calls") };
        match self {
            Assumption::Contract(Contract::Bound(bound)) => format!("bound by contract: {bound}"),
            Assumption::Contract(Contract::Wrong) => {
                "unknown: its contract is not valid".to_owned()
            }
            Assumption::Fresh { calls } if calls.is_empty() => {
                format!("assumed fresh ({fresh}): public function")
            }
            Assumption::Fresh { calls } => {
                format!(
                    "assumed fresh ({fresh}): public function; and {} here",
                    callers(calls.len())
                )
            }
            Assumption::Passed { calls } => {
                format!("passed by {}: private function", callers(calls.len()))
            }
            Assumption::NeverCalled => "never called: private function".to_owned(),
        }
    }
}

/// A document: text, IR, facts and diagnostics, always those of the current text.
#[derive(Debug)]
pub struct Document {
    source: Source,
    integers: Integers,
    facts: Sparse<NoiseAnalysis>,
    candidates: Candidates,
    /// Where [`checks::MARK`] occurs in the text, in bytes, in order.
    allows: Vec<usize>,
}

impl Document {
    /// Reads and analyzes a text under the built-in model.
    pub fn new(text: &str) -> Self {
        Self::with_model(text, NoiseModel::tutorial())
    }

    /// Reads and analyzes a text.
    pub fn with_model(text: &str, model: NoiseModel) -> Self {
        let source = Source::new(text);
        let integers = Integers::new(source.ir());
        let scene = Scene { ir: source.ir(), base: &integers };
        let facts = Sparse::new(&scene, NoiseAnalysis::new(model));
        let candidates = Candidates::new(source.ir());
        let allows = text.match_indices(checks::MARK).map(|it| it.0).collect();
        Self { source, integers, facts, candidates, allows }
    }

    /// Replaces a range of bytes, which must lie on character boundaries within the text.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        let delta = self.source.edit(range.clone(), text);
        self.move_allows(&range, text.len());
        self.integers.update(self.source.ir(), &delta);
        let scene = Scene { ir: self.source.ir(), base: &self.integers };
        self.facts.update(&scene, &delta, self.integers.moved());
        self.candidates.update(self.source.ir(), &delta);
        delta
    }

    /// Keeps up with an edit that put so many bytes in the place of a range: takes the time of the edit, and of what follows in the list.
    fn move_allows(&mut self, range: &Range<usize>, len: usize) {
        let text = self.source.text();
        let reach = checks::MARK.len() - 1;
        let from = text.byte_to_char(range.start.saturating_sub(reach));
        let to = text.byte_to_char((range.start + len + reach).min(text.len_bytes()));
        let (near, start) = (text.slice(from..to).to_string(), text.char_to_byte(from));
        let first = self.allows.partition_point(|it| it + reach < range.start);
        let last = self.allows.partition_point(|&it| it < range.end).max(first);
        for it in &mut self.allows[last..] {
            *it = *it - range.len() + len;
        }
        let found = near.match_indices(checks::MARK).map(|it| start + it.0);
        self.allows.splice(first..last, found);
    }

    /// Where comments may stand that allow something: the bytes of [`checks::MARK`], in order.
    pub(crate) fn allows(&self) -> &[usize] {
        &self.allows
    }

    /// The ops that checks look at.
    pub(crate) fn candidates(&self) -> &Candidates {
        &self.candidates
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
        self.facts.analysis.model()
    }

    /// What is known of integers, conditions and reachability.
    pub fn integers(&self) -> &Integers {
        &self.integers
    }

    /// The facts, for who wants to know what is live and how much work the last edit was.
    pub fn facts(&self) -> &Sparse<NoiseAnalysis> {
        &self.facts
    }

    /// What is known of the noise of a value; [`Noise::Bottom`] for values that carry none or that nothing reaches.
    pub fn noise(&self, value: Value) -> &Noise {
        self.facts.fact(value).unwrap_or(&Noise::Bottom)
    }

    /// Whether a value is of a type that carries noise.
    pub fn is_noisy(&self, value: Value) -> bool {
        self.model().is_noisy(&self.ir().interner, self.ir().value(value).ty)
    }

    /// As [`Document::noise`], and unknown for values that carry none.
    pub(crate) fn carried(&self, value: Value) -> Noise {
        if self.is_noisy(value) { *self.noise(value) } else { Noise::Unknown }
    }

    /// Where noise first goes over the budget: one for each such value, in the context that comes first (see [`Document::contexts`]).
    pub fn roots(&self) -> Vec<(Value, &Root)> {
        let all = self.facts.analysis.roots(self.ir()).into_iter();
        self.first_of_each(
            all.map(|(value, it)| (value, self.ir().defining_op(value), it.context, it)),
        )
    }

    /// The loops that add noise each round without end, each in the context that comes first.
    pub fn growing(&self) -> Vec<(Op, &Growing)> {
        let all = self.facts.analysis.growing(self.ir()).into_iter();
        self.first_of_each(all.map(|(op, context, it)| (op, Some(op), context, it)))
    }

    /// How a loop adds noise each round without end, if it does: in the context that comes first.
    pub fn growth_of(&self, op: Op) -> Option<&Growing> {
        let all = self.facts.analysis.growth_of(op);
        all.min_by_key(|it| self.rank(op, it.0)).map(|it| it.1)
    }

    /// Keeps what was noted in the first context for each key.
    fn first_of_each<K: Copy + Eq + std::hash::Hash, T>(
        &self,
        all: impl Iterator<Item = (K, Option<Op>, Option<u32>, T)>,
    ) -> Vec<(K, T)> {
        let mut place: FxHashMap<K, usize> = FxHashMap::default();
        let mut out: Vec<(K, usize, T)> = Vec::new();
        for (key, op, context, it) in all {
            let rank = op.map_or(0, |op| self.rank(op, context));
            match place.get(&key) {
                Some(&at) if out[at].1 <= rank => {}
                Some(&at) => out[at] = (key, rank, it),
                None => {
                    place.insert(key, out.len());
                    out.push((key, rank, it));
                }
            }
        }
        out.into_iter().map(|(key, _, it)| (key, it)).collect()
    }

    fn rank(&self, op: Op, context: Option<u32>) -> usize {
        let Some(function) = self.ir().function_of(op) else { return 0 };
        let contexts = self.contexts(function);
        contexts.iter().position(|it| Some(it.id) == context).unwrap_or(0)
    }

    /// The contexts in which a function is analyzed: the assumed one first, then in the order of their first calls in the text.
    pub fn contexts(&self, function: Op) -> Vec<&Context<Noise>> {
        self.facts.contexts(self.ir(), function)
    }

    /// Why the noise of an argument of a function is what it is; none for what is no such argument.
    pub fn assumption(&self, value: Value) -> Option<Assumption> {
        let ir = self.ir();
        let Def::Argument(block, index) = ir.value(value).def else { return None };
        let function = ir.region(ir.block(block).region).parent?;
        if ir.op(function).kind != OpKind::FuncFunc || !self.is_noisy(value) {
            return None;
        }
        if let Some(stated) = contract::of(ir, function, Side::Argument, index as usize) {
            return Some(Assumption::Contract(stated));
        }
        let contexts = self.contexts(function);
        let mut calls: Vec<Op> = contexts.iter().flat_map(|it| it.calls.iter().copied()).collect();
        calls.sort_by_cached_key(|&it| ir.start(it));
        calls.dedup();
        let is_assumed = contexts.iter().any(|it| it.is_assumed);
        Some(match (is_assumed, calls.is_empty()) {
            (true, _) => Assumption::Fresh { calls },
            (false, false) => Assumption::Passed { calls },
            (false, true) => Assumption::NeverCalled,
        })
    }

    /// How the noise of a value came about.
    pub fn derivation(&self, value: Value) -> Derivation {
        derivation::derive(self, value)
    }

    /// Everything there is to say, in textual order.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for (_, range, problem) in self.source.problems() {
            out.push(Diagnostic {
                code: problem.code.name(),
                category: problem.category.into(),
                severity: Severity::Error,
                range,
                message: problem.message,
                related: Vec::new(),
                help: None,
                tags: Vec::new(),
            });
        }
        out.extend(checks::run(self));
        out.sort_by(|a, b| {
            let key = |it: &Diagnostic| (it.range.start, it.range.end, it.category, it.code);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        out
    }

    /// How many diagnostics are errors.
    pub(crate) fn n_errors(&self) -> usize {
        self.diagnostics().iter().filter(|it| it.severity == Severity::Error).count()
    }

    /// Where an integer lies, in words, if that is more than its type says and it is no constant as it is written.
    pub fn integer_in_words(&self, value: Value) -> Option<String> {
        let is_written = is_written(self.ir(), value);
        (!is_written).then(|| self.integers().range(value).in_words()).flatten()
    }

    /// What would mend each of some diagnostics of the current text at once, proven by analyzing the text after it; made when asked for,
    /// at best for the price of one analysis. Placement is asked for separately.
    pub fn fixes<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    ) -> Vec<Option<Fix>> {
        let fixes: Vec<_> = diagnostics
            .into_iter()
            .map(|it| checks::find(it.code).and_then(|check| check.fix(self, it)))
            .collect();
        if fixes.iter().all(Option::is_none) { fixes } else { checks::proven(self, fixes) }
    }

    /// The symbol name of a function without `@`, or an empty string.
    pub fn function_name(&self, function: Op) -> String {
        let ir = self.ir();
        ir.extra(function)
            .symbol
            .map_or(String::new(), |(name, _)| ir.interner.str(name).to_owned())
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
