//! A text with its IR and its facts, for checks, fixes and explanations.
//!
//! *Law.* After any edits, the facts equal those of a new program with the same text. *Cost.* The
//! cost of an edit is proportional to its change.

pub mod depth;
mod excess;
pub(crate) mod fresh_names;
mod on_demand;
pub mod secretness;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use noisy_syntax::{Delta, Ir, Op, OpKind, Source, Value};
use rustc_hash::FxHashMap;

use crate::facts::noise::Noise;
use crate::facts::noise::model::NoiseModel;
use crate::facts::noise::{Findings, GrowingLoop, NoiseAnalysis, Overflow};
use crate::program::depth::Depth;
use crate::report::remarks::{Remark, Remarks};
use noisy_dataflow::sparse::{AnalysisInput, CallContext, ChangedValues, SparseSolver};
use noisy_heir::{
    AffectedByEdit, CiphertextFacts, HeirEdit, HeirFacts, HeirNoise, HeirNoiseAnalysis,
    LowerLayers, NoiseModelName, ProgramNumbers, ReportSites, ScaleAnalysis, ScaleFacts,
    ValueRangeAnalysis, ValueRangeFacts,
};
use noisy_integers::Integers;

pub(crate) use excess::ContractBreach;
use on_demand::{OnDemand, OnDemandFacts};

/// Text, IR and facts, always those of the current text.
#[derive(Debug)]
pub struct Program {
    source: Source,
    solved: LowerLayers,
    facts: SparseSolver<NoiseAnalysis, Findings>,
    /// The noise of ciphertexts in HEIR programs.
    noise: OnDemand<HeirNoiseAnalysis>,
    scales: OnDemand<ScaleAnalysis>,
    ranges: OnDemand<ValueRangeAnalysis>,
    /// True if an argument or an option states a range.
    states_ranges: bool,
    /// Created by the first query; edits update or drop it.
    sites: OnceLock<Box<ReportSites>>,
    on_demand: OnDemandFacts,
    remarks: Remarks,
}

impl Program {
    /// Parses and analyzes a text with the built-in noise model.
    pub fn new(text: &str) -> Self {
        Self::with_model(text, NoiseModel::tutorial().into())
    }

    /// Parses and analyzes a text.
    pub(crate) fn with_model(text: &str, model: Arc<NoiseModel>) -> Self {
        let source = Source::new(text);
        let solved = LowerLayers::new(source.ir());
        let facts = Self::solve(&source, &solved, model);
        Self::of_parts(source, solved, facts)
    }

    /// Parses and analyzes texts, each with its noise model. Runs each step for all texts before
    /// the next step (see [`Source::read_all`]).
    pub(crate) fn analyze_all(texts: &[&str], models: Vec<Arc<NoiseModel>>) -> Vec<Self> {
        let sources = Source::read_all(texts);
        let solved = LowerLayers::solve_all(sources.iter().map(Source::ir));
        let known = sources.iter().zip(&solved).zip(models);
        let facts: Vec<_> = known.map(|(it, model)| Self::solve(it.0, it.1, model)).collect();
        let parts = sources.into_iter().zip(solved).zip(facts);
        parts.map(|((source, solved), facts)| Self::of_parts(source, solved, facts)).collect()
    }

    fn solve(
        source: &Source,
        solved: &LowerLayers,
        model: Arc<NoiseModel>,
    ) -> SparseSolver<NoiseAnalysis, Findings> {
        let input = AnalysisInput { ir: source.ir(), base: solved.integers() };
        SparseSolver::with_observer(&input, NoiseAnalysis::new(model), Findings::default())
    }

    fn of_parts(
        source: Source,
        solved: LowerLayers,
        facts: SparseSolver<NoiseAnalysis, Findings>,
    ) -> Self {
        let states_ranges = states_ranges(source.ir(), facts.analysis.model());
        Self {
            source,
            solved,
            facts,
            noise: OnDemand::default(),
            scales: OnDemand::default(),
            ranges: OnDemand::default(),
            states_ranges,
            sites: OnceLock::new(),
            on_demand: OnDemandFacts::default(),
            remarks: Remarks::default(),
        }
    }

    /// Replaces a range of bytes, whose ends must be character boundaries of the text.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        let delta = self.source.edit(range.clone(), text);
        let touched = self.solved.update(self.source.ir(), &delta);
        let integers = self.solved.integers();
        let input = AnalysisInput { ir: self.source.ir(), base: integers };
        self.facts.update(&input, &delta, integers.changed_values());
        self.on_demand.update(&input, &delta);
        self.remarks.update(input.ir, &delta, integers.changed_values(), &range, text.len());
        self.update_ranges(&delta);
        self.update_heir(touched, &delta);
        delta
    }

    /// Updates the ranges. The integers must be up to date.
    fn update_ranges(&mut self, delta: &Delta) {
        let ir = self.source.ir();
        let stated_before = self.states_ranges;
        let is_function = |&it: &Op| ir.op(it).kind == OpKind::FuncFunc;
        let changes_function = delta.changed.iter().any(is_function);
        if changes_function || !delta.removed.is_empty() {
            self.states_ranges = states_ranges(ir, self.facts.analysis.model());
        }
        if !self.states_ranges {
            self.ranges = OnDemand::default();
        }
        let integers = self.solved.integers();
        self.ranges.update(ir, integers, delta, integers.changed_values());
        // Checks compare the operands of calls with the ranges that functions state.
        if changes_function && self.states_ranges || stated_before != self.states_ranges {
            self.sites = OnceLock::new();
        }
    }

    /// Updates the facts that are computed from levels, and the reports of HEIR's checks. Drops
    /// them if the levels were not updated or the parameters changed.
    fn update_heir(&mut self, upkept: Option<HeirEdit>, delta: &Delta) {
        let Some(HeirEdit { mut values, has_other_params: false }) = upkept else {
            self.noise = OnDemand::default();
            self.scales = OnDemand::default();
            self.sites = OnceLock::new();
            return;
        };
        let below = self.solved.changed_values(values.clone());
        let ir = self.source.ir();
        self.noise.update(ir, &self.solved, delta, &below);
        self.scales.update(ir, &self.solved, delta, &below);
        let Some(mut sites) = self.sites.take() else { return };
        for moved in [self.noise.moved(), self.scales.moved(), self.ranges.moved()] {
            match moved {
                Some(ChangedValues::All) => return,
                Some(ChangedValues::These(moved)) => values.extend(moved),
                None => {}
            }
        }
        if let Some(sight) = self.heir_facts() {
            let touched = AffectedByEdit::new(ir, sight.heir, &values, delta);
            sites.update(&sight, &touched.ops, &delta.removed);
            self.sites = OnceLock::from(sites);
        }
    }

    /// The facts that the checks of HEIR programs read.
    pub(crate) fn heir_facts(&self) -> Option<HeirFacts<'_>> {
        let (noise, scales, options) = (self.heir_noise(), self.scales(), self.model().heir);
        let ranges = self.ranges();
        Some(HeirFacts { ir: self.ir(), heir: self.heir()?, noise, scales, ranges, options })
    }

    /// Returns the remarks of passes on ops that may run, in no particular order. They are computed
    /// on request, function by function.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = (Op, Remark)> {
        let all = self.remarks.all(self.ir(), self.integers());
        all.filter(|it| self.integers().is_live(self.ir(), it.0))
    }

    /// Returns the remarks of passes on an op that may run. *Cost.* Linear in the size of its
    /// function, unless the remarks of the function are cached.
    pub fn remarks_on(&self, op: Op) -> Vec<Remark> {
        if !self.integers().is_live(self.ir(), op) {
            return Vec::new();
        }
        self.remarks.of(self.ir(), self.integers(), op)
    }

    /// Returns the number of values of each name in a function.
    pub(crate) fn name_counts(&self, function: Op) -> Option<&FxHashMap<String, usize>> {
        self.remarks.names(self.ir(), function)
    }

    /// The text and its IR.
    pub fn source(&self) -> &Source {
        &self.source
    }

    #[inline]
    pub fn ir(&self) -> &Ir {
        self.source.ir()
    }

    pub fn model(&self) -> &Arc<NoiseModel> {
        self.facts.analysis.model()
    }

    /// Facts about integers, conditions and reachability.
    pub fn integers(&self) -> &Integers {
        self.solved.integers()
    }

    /// Levels, dimensions and parameters of a HEIR program; `None` for other programs. They are
    /// solved at the first query and then updated, if the edit is of a kind that
    /// `heir/src/facts/incremental.rs` handles.
    pub fn heir(&self) -> Option<&CiphertextFacts> {
        self.solved.heir(self.ir())
    }

    /// The noise of HEIR's ciphertexts under the chosen model; `None` if no module has the
    /// parameters of the model.
    pub fn heir_noise(&self) -> Option<HeirNoise<'_>> {
        let (ir, heir) = (self.ir(), self.heir()?);
        let facts = match self.noise.current() {
            Some(facts) => facts,
            None => {
                let chosen = heir.noise_model(self.model().heir.noise_model)?;
                let analysis = HeirNoiseAnalysis::new(heir, chosen)?;
                self.noise.get(ir, &self.solved, || analysis)
            }
        };
        Some(HeirNoise::new(ir, heir, facts))
    }

    /// Solves the noise of HEIR's ciphertexts from scratch, under each noise model of its schemes.
    pub fn heir_noise_of_all_models(&self) -> Vec<SparseSolver<HeirNoiseAnalysis>> {
        let Some(heir) = self.heir() else { return Vec::new() };
        let input = AnalysisInput { ir: self.ir(), base: &self.solved };
        let all = NoiseModelName::BGV.into_iter().chain(NoiseModelName::BFV);
        all.filter_map(|it| Some(SparseSolver::new(&input, HeirNoiseAnalysis::new(heir, it)?)))
            .collect()
    }

    /// The scales of CKKS ciphertexts; `None` if no module has the parameters of the scheme.
    pub fn scales(&self) -> Option<ScaleFacts<'_>> {
        if let Some(facts) = self.scales.current() {
            return Some(ScaleFacts(facts));
        }
        let analysis = ScaleAnalysis::new(self.heir()?, self.model().heir)?;
        Some(ScaleFacts(self.scales.get(self.ir(), &self.solved, || analysis)))
    }

    /// The ranges of the numbers that the program computes; `None` if no range is stated.
    pub fn ranges(&self) -> Option<ValueRangeFacts<'_>> {
        let analysis = || ValueRangeAnalysis::new(self.model().heir.input_range);
        let solve = || self.ranges.get(self.ir(), self.integers(), analysis);
        self.states_ranges.then(|| ValueRangeFacts(solve()))
    }

    /// The positions that the checks of HEIR programs report.
    pub(crate) fn sites(&self) -> Option<&ReportSites> {
        if let Some(sites) = self.sites.get() {
            return Some(sites);
        }
        let sight = self.heir_facts()?;
        Some(self.sites.get_or_init(|| Box::new(ReportSites::new(&sight))))
    }

    /// Returns the greatest [`Program::depth`] of the values in a function. *Cost.* Linear in the
    /// size of the function.
    pub fn max_depth(&self, function: Op) -> Depth {
        let ir = self.ir();
        let deepest = |values: &[Value]| values.iter().map(|&it| self.depth(it)).max();
        let mut depth = Depth::Bottom;
        for &(_, region) in &ir.op(function).regions {
            let entry = &ir.block(ir.region(region).entry).args;
            depth = depth.max(deepest(entry).unwrap_or_default());
            ir.walk(region, &mut |op| {
                depth = depth.max(deepest(&ir.op(op).results).unwrap_or_default());
                for &(_, region) in &ir.op(op).regions {
                    let entry = &ir.block(ir.region(region).entry).args;
                    depth = depth.max(deepest(entry).unwrap_or_default());
                }
            });
        }
        depth
    }

    /// All facts about the ciphertexts of a HEIR program, for callers that read the facts of many
    /// values.
    pub(crate) fn program_numbers(&self) -> Option<ProgramNumbers<'_>> {
        Some(ProgramNumbers {
            ir: self.ir(),
            heir: self.heir()?,
            sites: self.sites()?,
            noise: self.heir_noise(),
            scales: self.scales(),
            ranges: self.ranges(),
        })
    }

    /// The solver of the noise. It also has the liveness of ops and the work of the last edit.
    pub(crate) fn noise_solver(&self) -> &SparseSolver<NoiseAnalysis, Findings> {
        &self.facts
    }

    /// The noise of a value; [`Noise::Bottom`] if its type carries no noise or it is unreachable.
    #[inline]
    pub fn noise(&self, value: Value) -> &Noise {
        self.facts.fact(value).unwrap_or(&Noise::Bottom)
    }

    /// Returns true if the type of a value carries noise.
    pub fn is_noisy(&self, value: Value) -> bool {
        self.model().is_noisy(&self.ir().interner, self.ir().value(value).ty)
    }

    /// Like [`Program::noise`], but unknown for values whose type carries no noise.
    pub(crate) fn noise_or_unknown(&self, value: Value) -> Noise {
        if self.is_noisy(value) { *self.noise(value) } else { Noise::Unknown }
    }

    /// The values at which noise first exceeds the budget, each in the first of its contexts (see
    /// `Program::contexts`).
    pub fn overflows(&self) -> Vec<(Value, &Overflow)> {
        let all = self.facts.observer.overflows(self.ir()).into_iter();
        self.first_of_each(
            all.map(|(value, it)| (value, self.ir().definition_site(value), it.context, it)),
        )
    }

    /// The loops in which noise grows without bound, each in the first of its contexts.
    pub(crate) fn growing_loops(&self) -> Vec<(Op, &GrowingLoop)> {
        let all = self.facts.observer.growing(self.ir()).into_iter();
        self.first_of_each(all.map(|(op, context, it)| (op, Some(op), context, it)))
    }

    /// The growth of a loop whose noise grows without bound, in the first of its contexts.
    pub fn growth_of(&self, op: Op) -> Option<&GrowingLoop> {
        let all = self.facts.observer.growth_of(op);
        all.min_by_key(|it| self.rank(op, it.0)).map(|it| it.1)
    }

    /// The ops at which an analysis exhausted its budget of visits, so that the facts of their
    /// values are unknown: loops, ops with a cycle of blocks in a region, and calls. In textual
    /// order. *Cost.* Proportional to their number.
    pub(crate) fn undecided(&self) -> Vec<Op> {
        let mut all: Vec<Op> = self.facts.undecided().chain(self.integers().undecided()).collect();
        all.sort_by_cached_key(|&it| (self.ir().start(it), it.index()));
        all.dedup();
        all
    }

    /// Keeps the finding of the first context for each key.
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

    /// The contexts of a function: first the one with the assumed noise of arguments, then the
    /// others in the textual order of their first calls.
    pub(crate) fn contexts(&self, function: Op) -> Vec<&CallContext<Noise>> {
        self.facts.contexts(self.ir(), function)
    }

    /// The symbol name of a function without `@`, or an empty string.
    pub fn function_name(&self, function: Op) -> String {
        let ir = self.ir();
        ir.extra(function)
            .symbol
            .map_or(String::new(), |(name, _)| ir.interner.str(name).to_owned())
    }
}

/// Returns true if an argument of a function or an option states a range.
fn states_ranges(ir: &Ir, model: &NoiseModel) -> bool {
    model.heir.input_range.is_some() || noisy_heir::has_stated_ranges(ir)
}

/// Threads can share a program.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Program>();
};
