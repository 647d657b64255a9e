//! The dataflow analysis of levels and dimensions of ciphertexts.
//!
//! *Facts.* A value is a plaintext or a ciphertext with a level and a dimension, which only
//! increase along an ascending chain. Plaintexts are neutral: the result of an op has the largest
//! level of the ciphertext operands, changed by the rule of the op (`rules.rs`). A value that a
//! loop carries has the level and the number of polynomials of its initial value: HEIR requires
//! that the yielded value has the same, and `varying-level` reports the others. An argument of a
//! private function has the largest level that calls pass; the result of a call has the facts of
//! the returned value.
//!
//! *Without numbers.* An op with a region, or an op of `linalg`, with plaintext operands: HEIR does
//! not know whether its results are secret. HEIR finds no numbers for a value that is computed with
//! such a plaintext, no level for a value whose encrypted operands all have no level, and no
//! polynomials for a value that has an operand without polynomials. It annotates these values with
//! the numbers of a fresh ciphertext ([`NumberSource::Fresh`]).
//!
//! *Not checked.* Some numbers in HEIR's annotations depend on the order in which its analyses
//! visit ops. One rule covers them: a value is not checked ([`NumberSource::Unchecked`]) if it is
//! one of the following, or is computed from a value that is not checked.
//!
//! - A value that a loop carries with more polynomials than the initial value has.
//! - An argument of a function that is secret only by its attribute `secret.secret`: HEIR does not
//!   count its polynomials.
//! - A value whose uses disagree (`conflicts.rs`).
//!
//! The polynomials of the result of a relinearization are checked.
//!
//! *Source.* HEIR, `lib/Analysis/{LevelAnalysis,DimensionAnalysis,SecretnessAnalysis}`.

use std::sync::Arc;

use noisy_syntax::{Attr, AttrData, Form, Interner, Ir, Op, OpKind, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::fact::{
    Ciphertext, CiphertextFact, Dimension, Level, NumberSource, NumberSources,
};
use crate::facts::loops;
use crate::ops::catalogue::{self, LevelRule, LevelSource};
use crate::ops::rules::{self, DimensionRule, PolynomialLibrary};
use crate::text::setting::DocumentSettings;
use crate::text::types::{StatedSize, TypeFacts, TypeFactsCache, has_ciphertext_type};
use noisy_dataflow::attributes::{self, ValueSide};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{AnalysisContext, CallPolicy, Domain, SparseForward};
use noisy_dataflow::view::ProgramView;
use noisy_integers::constants::ConstantFacts;

/// The dataflow analysis of levels and dimensions.
#[derive(Debug)]
pub struct CiphertextAnalysis {
    pub(crate) settings: Arc<DocumentSettings>,
    /// For each part of the document, true if it marks secrets. If not, all values of the part may
    /// be secret.
    has_secret_marks: Vec<bool>,
    /// The facts of arguments of functions that are not fresh ciphertexts.
    pub(crate) entry_facts: FxHashMap<(Op, usize), CiphertextFact>,
    /// Values whose uses disagree, with the numbers on which they do as
    /// [`NumberSource::Unchecked`].
    pub(crate) conflicts: FxHashMap<Value, NumberSources>,
    types: TypeFactsCache,
    /// Calls of declarations. As in HEIR, their results have the level of their operands.
    declaration_calls: FxHashSet<Op>,
}

impl CiphertextAnalysis {
    /// Creates the analysis of a program.
    pub fn new(ir: &Ir) -> Self {
        let settings = Arc::new(DocumentSettings::new(ir));
        let mut marks_secrets = vec![false; settings.n_parts()];
        for function in ir.functions() {
            if has_secret_argument(ir, function) {
                marks_secrets[settings.part_index(function)] = true;
            }
        }
        let mut declared = FxHashSet::default();
        ir.walk(ir.root(), &mut |op| {
            if is_declaration_call(ir, op) {
                declared.insert(op);
            }
        });
        Self {
            settings,
            has_secret_marks: marks_secrets,
            declaration_calls: declared,
            entry_facts: FxHashMap::default(),
            conflicts: FxHashMap::default(),
            types: TypeFactsCache::default(),
        }
    }

    /// Updates the set of calls of declarations for an op that changed.
    pub(crate) fn update_declaration_call(&mut self, ir: &Ir, op: Op) {
        if is_declaration_call(ir, op) {
            self.declaration_calls.insert(op);
        } else if !self.declaration_calls.is_empty() {
            self.declaration_calls.remove(&op);
        }
    }

    /// Returns true if some calls of a changed function became or ceased to be calls of a
    /// declaration.
    pub(crate) fn has_changed_declaration(&self, ir: &Ir, function: Op) -> bool {
        let symbol = ir.extra(function).symbol;
        let mut users = symbol.into_iter().flat_map(|it| ir.symbol_users(it.0));
        users.any(|&it| is_declaration_call(ir, it) != self.declaration_calls.contains(&it))
    }

    /// Returns the dimension that the type of a value states, else `otherwise`.
    fn dimension_by_type(
        &mut self,
        ir: &impl ProgramView,
        value: Value,
        otherwise: Dimension,
    ) -> Dimension {
        match self.types.facts_of(ir, value).size {
            StatedSize::Unstated => otherwise,
            StatedSize::Known(n) => Dimension::Known(n),
            StatedSize::Unreadable => Dimension::Unknown,
        }
    }

    /// Returns the facts that a type states.
    pub(crate) fn type_facts(&self, interner: &Interner, ty: Type) -> TypeFacts {
        self.types.facts_of_type(interner, ty)
    }

    /// Returns true if any function has an argument that is marked as secret.
    pub(crate) fn has_any_secret_marks(&self) -> bool {
        self.has_secret_marks.contains(&true)
    }

    /// Returns true if a function in the same part of the document has an argument that is marked
    /// as secret.
    pub(crate) fn has_secret_marks_around(&self, op: Op) -> bool {
        self.has_secret_marks[self.settings.part_index(op)]
    }
}

/// Returns true if an op calls a declaration. A function whose text was not understood is not a
/// declaration: its results are unknown.
fn is_declaration_call(ir: &Ir, op: Op) -> bool {
    let is_understood = |&it: &Op| !matches!(ir.op(it).form, Form::Broken | Form::Opaque);
    ir.op(op).kind == OpKind::FuncCall
        && flow::callee(ir, op)
            .filter(is_understood)
            .is_some_and(|it| flow::function_body(ir, it).is_none())
}

/// Returns true if an argument of a function, which may be broken, is marked as a ciphertext.
pub(crate) fn has_secret_argument(ir: &Ir, function: Op) -> bool {
    let Some(&(_, region)) = ir.op(function).regions.first() else { return false };
    let args = &ir.block(flow::entry_block(ir, region)).args;
    let mut all = args.iter().enumerate();
    all.any(|(at, &it)| is_secret_argument(ir, function, at, it))
}

/// Returns true if an argument of a function is a ciphertext, by its type or its attribute
/// `secret.secret`.
pub fn is_secret_argument(ir: &impl ProgramView, function: Op, index: usize, value: Value) -> bool {
    has_ciphertext_type(ir, value) || is_marked_argument(ir, function, index, value)
}

/// Returns true if an argument of a function is a ciphertext only by its attribute `secret.secret`.
pub(crate) fn is_marked_argument(
    ir: &impl ProgramView,
    function: Op,
    index: usize,
    value: Value,
) -> bool {
    let is_marked = |dict: Attr| match ir.interner().attr_data(dict) {
        AttrData::Dict(entries) => {
            entries.iter().any(|it| ir.interner().str(it.0) == "secret.secret")
        }
        _ => false,
    };
    !has_ciphertext_type(ir, value)
        && attributes::dictionary(ir, function, ValueSide::Argument, index).is_some_and(is_marked)
}

/// Returns the fact of an argument of a region that no op feeds. For an argument of a function,
/// this is the fact of its kind, `fresh` if it is encrypted; otherwise it is a plaintext.
pub(crate) fn entry_fact<F: Domain>(
    ir: &impl ProgramView,
    op: Op,
    known: Ciphertext,
    plain: F,
    fresh: impl FnOnce() -> Option<F>,
) -> F {
    if ir.op(op).kind != OpKind::FuncFunc {
        return plain;
    }
    match known {
        Ciphertext::Encrypted { .. } => fresh().unwrap_or_else(F::unknown),
        Ciphertext::Plain => plain,
        _ => F::unknown(),
    }
}

impl SparseForward for CiphertextAnalysis {
    type Fact = CiphertextFact;
    /// Constants instead of ranges of integers: HEIR folds a branch only if its condition is
    /// constant.
    type Base = ConstantFacts;

    fn calls(&self) -> CallPolicy {
        CallPolicy::CONTEXT_INSENSITIVE
    }

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        function: Op,
        index: usize,
        value: Value,
        _: &[CiphertextFact],
    ) -> CiphertextFact {
        if ir.op(function).kind != OpKind::FuncFunc {
            return Ciphertext::Plain.into();
        }
        let given = self.entry_facts.get(&(function, index)).copied();
        if given.is_some_and(|it| it.ciphertext == Ciphertext::Unknown) {
            return CiphertextFact::unknown();
        }
        let written = given.map_or(NumberSources::INFERRED, |it| it.number_sources);
        let given = given.and_then(|it| Some((it.ciphertext.level()?, it.ciphertext.dimension()?)));
        let (level, dimension) = given.unwrap_or((Level::Used(0), Dimension::Known(2)));
        let dimension = self.dimension_by_type(ir, value, dimension);
        let is_secret = given.is_some()
            || !self.has_secret_marks_around(function)
            || is_secret_argument(ir, function, index, value);
        let ciphertext =
            if is_secret { Ciphertext::Encrypted { level, dimension } } else { Ciphertext::Plain };
        CiphertextFact { ciphertext, number_sources: written }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        op: Op,
        result: usize,
        operands: &[CiphertextFact],
    ) -> CiphertextFact {
        let operands: Vec<CiphertextFact> = rules::facts_of_operands(ir, op, operands);
        let kinds: Vec<Ciphertext> = operands.iter().map(|it| it.ciphertext).collect();
        let ciphertext = self.compute(ir, op, result, &kinds);
        let name = ir.op_name(op);
        if rules::is_encryption(name)
            || matches!(ciphertext, Ciphertext::Bottom | Ciphertext::Unknown)
        {
            return ciphertext.into();
        }
        CiphertextFact {
            ciphertext,
            number_sources: annotated_number_sources(ir, op, ciphertext, &operands),
        }
    }

    fn carried_fact(
        &self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        op: Op,
        taken: &CiphertextFact,
        joined: CiphertextFact,
    ) -> CiphertextFact {
        let (
            Ciphertext::Encrypted { level, dimension },
            Ciphertext::Encrypted { level: next_level, dimension: next_dimension },
        ) = (taken.ciphertext, joined.ciphertext)
        else {
            return joined;
        };
        let is_loop =
            matches!(ir.op(op).kind, OpKind::AffineFor | OpKind::ScfFor | OpKind::ScfWhile);
        if !is_loop || loops::trip_count(ir, op) == Some(1) {
            return joined;
        }
        // A pinned level does not follow from the yielded values. The polynomials in HEIR's
        // annotation then depend on the order of its visits.
        let level_from =
            if level < next_level { taken.number_sources } else { joined.number_sources };
        let is_wider = dimension < next_dimension;
        let dimension_from =
            if is_wider { NumberSources::UNCHECKED } else { joined.number_sources };
        let written =
            NumberSources { level: level_from.level, dimension: dimension_from.dimension };
        CiphertextFact {
            ciphertext: Ciphertext::Encrypted { level, dimension },
            number_sources: written,
        }
    }

    fn refine(
        &self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        value: Value,
        mut fact: CiphertextFact,
    ) -> CiphertextFact {
        if let Some(&conflict) = self.conflicts.get(&value) {
            fact.number_sources = fact.number_sources.max(conflict);
        }
        if let Some((function, index)) = ir.entry_argument(value)
            && ir.op(function).kind == OpKind::FuncFunc
            && is_marked_argument(ir, function, index, value)
        {
            fact.number_sources.dimension = NumberSource::Unchecked;
        }
        fact
    }
}

/// Returns the sources of the numbers in HEIR's annotation of a result, from those of the operands.
fn annotated_number_sources(
    ir: &impl ProgramView,
    op: Op,
    result: Ciphertext,
    operands: &[CiphertextFact],
) -> NumberSources {
    let relinearizes = rules::dimension_rule(ir.op_name(op)) == Some(DimensionRule::Relinearize);
    let known = || operands.iter().filter(|it| it.ciphertext != Ciphertext::Unknown);
    let is_open = |number: fn(&CiphertextFact) -> NumberSource| {
        known().any(|it| number(it) == NumberSource::Unchecked)
    };
    let is_fresh = |it: &CiphertextFact| it.number_sources.level == NumberSource::Fresh;
    let mut plain = known().filter(|it| it.ciphertext == Ciphertext::Plain);
    let mut out = if result == Ciphertext::Plain {
        let is_hidden = has_hidden_secretness(ir, op) || known().any(is_fresh);
        if is_hidden { NumberSources::FRESH } else { NumberSources::INFERRED }
    } else if plain.any(is_fresh) {
        NumberSources::FRESH
    } else {
        let mut encrypted = known().filter(|it| it.ciphertext != Ciphertext::Plain);
        let has_no_level = encrypted.all(is_fresh);
        let has_no_dimension =
            !relinearizes && known().any(|it| it.number_sources.dimension == NumberSource::Fresh);
        let of = |is_fresh| if is_fresh { NumberSource::Fresh } else { NumberSource::Inferred };
        NumberSources { level: of(has_no_level), dimension: of(has_no_dimension) }
    };
    out.level.set_unchecked_if(is_open(|it| it.number_sources.level));
    out.dimension.set_unchecked_if(!relinearizes && is_open(|it| it.number_sources.dimension));
    out
}

/// Returns true if HEIR does not know whether the results of an op with plaintext operands are
/// secret. Its analysis does not look into regions. Ops of `linalg` have a region even where the
/// text does not show it.
pub(crate) fn has_hidden_secretness(ir: &impl ProgramView, op: Op) -> bool {
    ir.op_name(op).starts_with("linalg.") || !ir.op(op).regions.is_empty()
}

impl CiphertextAnalysis {
    /// Computes the kind, the level and the dimension of a result.
    fn compute(
        &mut self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        op: Op,
        result: usize,
        operands: &[Ciphertext],
    ) -> Ciphertext {
        let name = ir.op_name(op);
        let value = ir.op(op).results[result];
        // The result of an op with an unreachable operand is unreachable.
        if operands.contains(&Ciphertext::Bottom) {
            return Ciphertext::Bottom;
        }
        let joined = operands.iter().fold(Ciphertext::Plain, |all, &it| all.join(it));
        let is_declared = self.declaration_calls.contains(&op);
        // The solver does not follow this call, or this generic: its arguments do not match its
        // operands, or it has another terminator.
        if ir.op(op).kind == OpKind::FuncCall && !is_declared || name == "secret.generic" {
            return Ciphertext::Unknown;
        }
        if !catalogue::has_known_effect(name) || is_declared && joined == Ciphertext::Plain {
            // A result of plaintexts only is a plaintext, unless its type states otherwise.
            let is_plain =
                joined == Ciphertext::Plain && !self.types.facts_of(ir, value).is_ciphertext;
            return if is_plain { Ciphertext::Plain } else { Ciphertext::Unknown };
        }
        if rules::is_encryption(name) {
            return Ciphertext::FRESH;
        }
        if rules::is_decryption(name) {
            return Ciphertext::Plain;
        }
        let Ciphertext::Encrypted { level, dimension } = joined else { return joined };
        let dimension = dimension_after(ir, op, operands, dimension);
        let dimension = self.dimension_by_type(ir, value, dimension);
        match self.level_after(ir, op, level, operands) {
            Some(level) => Ciphertext::Encrypted { level, dimension },
            None => Ciphertext::Unknown,
        }
    }
}

/// The effect of an op on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelChange {
    /// The op uses this number of levels.
    Uses(u32),
    /// The op uses all levels.
    UsesAll,
    /// After the op, the levels that a bootstrap uses are used up.
    Bootstrapped,
}

/// The attribute with the coefficients of the polynomial that an op evaluates.
pub(crate) const COEFFICIENTS: &str = "coefficients";

/// Returns the number of levels to drop that an attribute states.
pub(crate) fn n_dropped_levels(ir: &impl ProgramView, attr: Attr) -> Option<u32> {
    match ir.interner().attr_data(attr) {
        AttrData::Int { value, .. } => u32::try_from(*value).ok(),
        _ => None,
    }
}

/// Returns the number of coefficients that an attribute lists.
pub(crate) fn n_coefficients(ir: &impl ProgramView, attr: Attr) -> Option<usize> {
    match ir.interner().attr_data(attr) {
        AttrData::Array(items) => Some(items.len()),
        AttrData::DenseArray { values, .. } => Some(values.len()),
        _ => None,
    }
}

impl CiphertextAnalysis {
    /// Returns the effect of an op on the level of its operands; `None` if it is unknown.
    pub(crate) fn level_change(&self, ir: &impl ProgramView, op: Op) -> Option<LevelChange> {
        let Some(rule) = rules::level_rule(ir.op_name(op)) else {
            return Some(LevelChange::Uses(0));
        };
        Some(LevelChange::Uses(match rule {
            LevelRule::DropAll => return Some(LevelChange::UsesAll),
            LevelRule::Bootstrap => return Some(LevelChange::Bootstrapped),
            LevelRule::Drop(default, None) => default,
            LevelRule::Drop(default, Some(attribute)) => match ir.attr(op, attribute) {
                None => default,
                Some(attr) => n_dropped_levels(ir, attr)?,
            },
            LevelRule::Chebyshev => {
                let coefficients = n_coefficients(ir, ir.attr(op, COEFFICIENTS)?)?;
                let Some(degree) = coefficients.checked_sub(1) else {
                    return Some(LevelChange::Uses(0));
                };
                let is_openfhe = self.settings.of(op).is_some_and(|it| it.is_openfhe);
                let library = if is_openfhe {
                    PolynomialLibrary::OpenFhe
                } else {
                    PolynomialLibrary::Lattigo
                };
                rules::chebyshev_levels(u32::try_from(degree).ok()?, library)?
            }
        }))
    }

    /// Returns the level after an op, from the largest level of its operands; `None` if it is
    /// unknown.
    fn level_after(
        &self,
        ir: &impl ProgramView,
        op: Op,
        mut level: Level,
        operands: &[Ciphertext],
    ) -> Option<Level> {
        match catalogue::row(ir.op_name(op))
            .filter(|it| it.level_rule.is_some())
            .map(|it| it.level_source)
        {
            Some(LevelSource::Operand(at)) => level = operands.get(at)?.level()?,
            Some(LevelSource::Inputs) => {
                level = operands.iter().take(2).filter_map(|it| it.level()).max()?;
            }
            None => {}
        }
        Some(match (self.level_change(ir, op)?, level) {
            // A bootstrap also restores an operand without a level.
            (LevelChange::Bootstrapped, _) => {
                Level::Used(self.settings.of(op).map_or(0, |it| it.bootstrap_level))
            }
            (_, Level::Invalid) => Level::Invalid,
            (LevelChange::UsesAll, _) | (LevelChange::Uses(0), Level::All) => Level::All,
            (LevelChange::Uses(drop), Level::Used(n)) => Level::Used(n.saturating_add(drop)),
            (LevelChange::Uses(_), Level::All) => Level::Invalid,
        })
    }
}

/// Returns the dimension after an op, from the largest dimension of its operands.
fn dimension_after(
    ir: &impl ProgramView,
    op: Op,
    operands: &[Ciphertext],
    most: Dimension,
) -> Dimension {
    let name = ir.op_name(op);
    let of = |it: &Ciphertext| it.dimension();
    match rules::dimension_rule(name) {
        Some(DimensionRule::Product) => {
            operands.iter().filter_map(of).reduce(Dimension::times).unwrap_or(most)
        }
        Some(DimensionRule::Relinearize) => Dimension::Known(2),
        None if name.starts_with("linalg.") => {
            // A contraction with one encrypted input multiplies it with plaintexts.
            let encrypted = operands.iter().take(2).filter_map(of).count();
            let is_linear =
                rules::is_linear_linalg_op(name) || rules::is_contraction(name) && encrypted < 2;
            match most {
                _ if is_linear => most,
                Dimension::Known(2) | Dimension::Assumed => Dimension::Assumed,
                _ => Dimension::Unknown,
            }
        }
        None => most,
    }
}
