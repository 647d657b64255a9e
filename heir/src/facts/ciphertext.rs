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
//! the numbers of a fresh ciphertext ([`HeirNumber::Fresh`]).
//!
//! *Not checked.* Some numbers in HEIR's annotations depend on the order in which its analyses
//! visit ops. One rule covers them: a value is not checked ([`HeirNumber::Open`]) if it is one of
//! the following, or is computed from a value that is not checked.
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

use crate::facts::fact::{Ciphertext, Dimension, Fact, HeirNumber, HeirNumbers, Level};
use crate::facts::loops;
use crate::ops::catalogue::{self, LevelRule, LevelSource};
use crate::ops::rules::{self, DimensionRule, Library};
use crate::text::setting::Settings;
use crate::text::types::{Size, TypeFacts, Types, is_ciphertext_type};
use noisy_dataflow::attributes::{self, Side};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{AnalysisContext, Calls, Domain, SparseForward};
use noisy_dataflow::view::View;
use noisy_integers::constants::ConstantFacts;

/// The dataflow analysis of levels and dimensions.
#[derive(Debug)]
pub struct Ciphertexts {
    pub(crate) settings: Arc<Settings>,
    /// For each part of the document, true if it marks secrets. If not, all values of the part may
    /// be secret.
    marks_secrets: Vec<bool>,
    /// The facts of arguments of functions that are not fresh ciphertexts.
    pub(crate) entries: FxHashMap<(Op, usize), Fact>,
    /// Values whose uses disagree, with the numbers on which they do as [`HeirNumber::Open`].
    pub(crate) conflicts: FxHashMap<Value, HeirNumbers>,
    types: Types,
    /// Calls of declarations. As in HEIR, their results have the level of their operands.
    declared: FxHashSet<Op>,
}

impl Ciphertexts {
    /// Creates the analysis of a program.
    pub fn new(ir: &Ir) -> Self {
        let settings = Arc::new(Settings::new(ir));
        let mut marks_secrets = vec![false; settings.n_parts()];
        for function in ir.functions() {
            if has_secret_argument(ir, function) {
                marks_secrets[settings.part(function)] = true;
            }
        }
        let mut declared = FxHashSet::default();
        ir.walk(ir.root(), &mut |op| {
            if calls_declared(ir, op) {
                declared.insert(op);
            }
        });
        Self {
            settings,
            marks_secrets,
            declared,
            entries: FxHashMap::default(),
            conflicts: FxHashMap::default(),
            types: Types::default(),
        }
    }

    /// Updates the set of calls of declarations for an op that changed.
    pub(crate) fn note_call(&mut self, ir: &Ir, op: Op) {
        if calls_declared(ir, op) {
            self.declared.insert(op);
        } else if !self.declared.is_empty() {
            self.declared.remove(&op);
        }
    }

    /// Returns true if some calls of a changed function became or ceased to be calls of a
    /// declaration.
    pub(crate) fn is_called_otherwise(&self, ir: &Ir, function: Op) -> bool {
        let symbol = ir.extra(function).symbol;
        let mut users = symbol.into_iter().flat_map(|it| ir.symbol_users(it.0));
        users.any(|&it| calls_declared(ir, it) != self.declared.contains(&it))
    }

    /// Returns the dimension that the type of a value states, else `otherwise`.
    fn sized(&mut self, ir: &impl View, value: Value, otherwise: Dimension) -> Dimension {
        match self.types.of(ir, value).size {
            Size::Silent => otherwise,
            Size::Of(n) => Dimension::Known(n),
            Size::Unreadable => Dimension::Unknown,
        }
    }

    /// Returns the facts that a type states.
    pub(crate) fn type_facts(&self, interner: &Interner, ty: Type) -> TypeFacts {
        self.types.known(interner, ty)
    }

    /// Returns true if any function has an argument that is marked as secret.
    pub(crate) fn marks_any(&self) -> bool {
        self.marks_secrets.contains(&true)
    }

    /// Returns true if a function in the same part of the document has an argument that is marked
    /// as secret.
    pub(crate) fn marks_secrets(&self, op: Op) -> bool {
        self.marks_secrets[self.settings.part(op)]
    }
}

/// Returns true if an op calls a declaration. A function whose text was not understood is not a
/// declaration: its results are unknown.
fn calls_declared(ir: &Ir, op: Op) -> bool {
    let is_understood = |&it: &Op| !matches!(ir.op(it).form, Form::Broken | Form::Opaque);
    ir.op(op).kind == OpKind::FuncCall
        && flow::callee(ir, op).filter(is_understood).is_some_and(|it| flow::body(ir, it).is_none())
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
pub fn is_secret_argument(ir: &impl View, function: Op, index: usize, value: Value) -> bool {
    is_ciphertext_type(ir, value) || is_marked_argument(ir, function, index, value)
}

/// Returns true if an argument of a function is a ciphertext only by its attribute `secret.secret`.
pub(crate) fn is_marked_argument(ir: &impl View, function: Op, index: usize, value: Value) -> bool {
    let is_marked = |dict: Attr| match ir.interner().attr_data(dict) {
        AttrData::Dict(entries) => {
            entries.iter().any(|it| ir.interner().str(it.0) == "secret.secret")
        }
        _ => false,
    };
    !is_ciphertext_type(ir, value)
        && attributes::dictionary(ir, function, Side::Argument, index).is_some_and(is_marked)
}

/// Returns the fact of an argument of a region that no op feeds. For an argument of a function,
/// this is the fact of its kind, `fresh` if it is encrypted; otherwise it is a plaintext.
pub(crate) fn entry<F: Domain>(
    ir: &impl View,
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

impl SparseForward for Ciphertexts {
    type Fact = Fact;
    /// Constants instead of ranges of integers: HEIR folds a branch only if its condition is
    /// constant.
    type Base = ConstantFacts;

    fn calls(&self) -> Calls {
        Calls::JOINED
    }

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        function: Op,
        index: usize,
        value: Value,
        _: &[Fact],
    ) -> Fact {
        if ir.op(function).kind != OpKind::FuncFunc {
            return Ciphertext::Plain.into();
        }
        let given = self.entries.get(&(function, index)).copied();
        if given.is_some_and(|it| it.ciphertext == Ciphertext::Unknown) {
            return Fact::unknown();
        }
        let written = given.map_or(HeirNumbers::SAME, |it| it.written);
        let given = given.and_then(|it| Some((it.ciphertext.level()?, it.ciphertext.dimension()?)));
        let (level, dimension) = given.unwrap_or((Level::Used(0), Dimension::Known(2)));
        let dimension = self.sized(ir, value, dimension);
        let is_secret = given.is_some()
            || !self.marks_secrets(function)
            || is_secret_argument(ir, function, index, value);
        let ciphertext =
            if is_secret { Ciphertext::Encrypted { level, dimension } } else { Ciphertext::Plain };
        Fact { ciphertext, written }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        op: Op,
        result: usize,
        operands: &[Fact],
    ) -> Fact {
        let operands: Vec<Fact> = rules::known_operands(ir, op, operands);
        let kinds: Vec<Ciphertext> = operands.iter().map(|it| it.ciphertext).collect();
        let ciphertext = self.computed(ir, op, result, &kinds);
        let name = ir.op_name(op);
        if rules::encrypts(name) || matches!(ciphertext, Ciphertext::Bottom | Ciphertext::Unknown) {
            return ciphertext.into();
        }
        Fact { ciphertext, written: written(ir, op, ciphertext, &operands) }
    }

    fn carried(
        &self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        op: Op,
        taken: &Fact,
        joined: Fact,
    ) -> Fact {
        let (
            Ciphertext::Encrypted { level, dimension },
            Ciphertext::Encrypted { level: next_level, dimension: next_dimension },
        ) = (taken.ciphertext, joined.ciphertext)
        else {
            return joined;
        };
        let is_loop =
            matches!(ir.op(op).kind, OpKind::AffineFor | OpKind::ScfFor | OpKind::ScfWhile);
        if !is_loop || loops::rounds(ir, op) == Some(1) {
            return joined;
        }
        // A pinned level does not follow from the yielded values. The polynomials in HEIR's
        // annotation then depend on the order of its visits.
        let level_from = if level < next_level { taken.written } else { joined.written };
        let is_wider = dimension < next_dimension;
        let dimension_from = if is_wider { HeirNumbers::OPEN } else { joined.written };
        let written = HeirNumbers { level: level_from.level, dimension: dimension_from.dimension };
        Fact { ciphertext: Ciphertext::Encrypted { level, dimension }, written }
    }

    fn refine(
        &self,
        ir: &AnalysisContext<'_, ConstantFacts>,
        value: Value,
        mut fact: Fact,
    ) -> Fact {
        if let Some(&conflict) = self.conflicts.get(&value) {
            fact.written = fact.written.max(conflict);
        }
        if let Some((function, index)) = ir.entry_argument(value)
            && ir.op(function).kind == OpKind::FuncFunc
            && is_marked_argument(ir, function, index, value)
        {
            fact.written.dimension = HeirNumber::Open;
        }
        fact
    }
}

/// Returns the sources of the numbers in HEIR's annotation of a result, from those of the operands.
fn written(ir: &impl View, op: Op, result: Ciphertext, operands: &[Fact]) -> HeirNumbers {
    let relinearizes = rules::dimension(ir.op_name(op)) == Some(DimensionRule::Relinearize);
    let known = || operands.iter().filter(|it| it.ciphertext != Ciphertext::Unknown);
    let is_open =
        |number: fn(&Fact) -> HeirNumber| known().any(|it| number(it) == HeirNumber::Open);
    let is_fresh = |it: &Fact| it.written.level == HeirNumber::Fresh;
    let mut plain = known().filter(|it| it.ciphertext == Ciphertext::Plain);
    let mut out = if result == Ciphertext::Plain {
        let is_hidden = hides_secretness(ir, op) || known().any(is_fresh);
        if is_hidden { HeirNumbers::FRESH } else { HeirNumbers::SAME }
    } else if plain.any(is_fresh) {
        HeirNumbers::FRESH
    } else {
        let mut encrypted = known().filter(|it| it.ciphertext != Ciphertext::Plain);
        let has_no_level = encrypted.all(is_fresh);
        let has_no_dimension =
            !relinearizes && known().any(|it| it.written.dimension == HeirNumber::Fresh);
        let of = |is_fresh| if is_fresh { HeirNumber::Fresh } else { HeirNumber::Same };
        HeirNumbers { level: of(has_no_level), dimension: of(has_no_dimension) }
    };
    out.level.open_if(is_open(|it| it.written.level));
    out.dimension.open_if(!relinearizes && is_open(|it| it.written.dimension));
    out
}

/// Returns true if HEIR does not know whether the results of an op with plaintext operands are
/// secret. Its analysis does not look into regions. Ops of `linalg` have a region even where the
/// text does not show it.
pub(crate) fn hides_secretness(ir: &impl View, op: Op) -> bool {
    ir.op_name(op).starts_with("linalg.") || !ir.op(op).regions.is_empty()
}

impl Ciphertexts {
    /// Computes the kind, the level and the dimension of a result.
    fn computed(
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
        let is_declared = self.declared.contains(&op);
        // The solver does not follow this call, or this generic: its arguments do not match its
        // operands, or it has another terminator.
        if ir.op(op).kind == OpKind::FuncCall && !is_declared || name == "secret.generic" {
            return Ciphertext::Unknown;
        }
        if !catalogue::is_known(name) || is_declared && joined == Ciphertext::Plain {
            // A result of plaintexts only is a plaintext, unless its type states otherwise.
            let is_plain = joined == Ciphertext::Plain && !self.types.of(ir, value).is_ciphertext;
            return if is_plain { Ciphertext::Plain } else { Ciphertext::Unknown };
        }
        if rules::encrypts(name) {
            return Ciphertext::FRESH;
        }
        if rules::decrypts(name) {
            return Ciphertext::Plain;
        }
        let Ciphertext::Encrypted { level, dimension } = joined else { return joined };
        let dimension = dimension_after(ir, op, operands, dimension);
        let dimension = self.sized(ir, value, dimension);
        match self.level_after(ir, op, level, operands) {
            Some(level) => Ciphertext::Encrypted { level, dimension },
            None => Ciphertext::Unknown,
        }
    }
}

/// The effect of an op on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The op uses this number of levels.
    By(u32),
    /// The op uses all levels.
    ToTheLast,
    /// After the op, the levels that a bootstrap uses are used up.
    Bootstrapped,
}

/// The attribute with the coefficients of the polynomial that an op evaluates.
pub(crate) const COEFFICIENTS: &str = "coefficients";

/// Returns the number of levels to drop that an attribute states.
pub(crate) fn dropped(ir: &impl View, attr: Attr) -> Option<u32> {
    match ir.interner().attr_data(attr) {
        AttrData::Int { value, .. } => u32::try_from(*value).ok(),
        _ => None,
    }
}

/// Returns the number of coefficients that an attribute lists.
pub(crate) fn length(ir: &impl View, attr: Attr) -> Option<usize> {
    match ir.interner().attr_data(attr) {
        AttrData::Array(items) => Some(items.len()),
        AttrData::DenseArray { values, .. } => Some(values.len()),
        _ => None,
    }
}

impl Ciphertexts {
    /// Returns the effect of an op on the level of its operands; `None` if it is unknown.
    pub(crate) fn moved(&self, ir: &impl View, op: Op) -> Option<Moved> {
        let Some(rule) = rules::level(ir.op_name(op)) else { return Some(Moved::By(0)) };
        Some(Moved::By(match rule {
            LevelRule::DropAll => return Some(Moved::ToTheLast),
            LevelRule::Bootstrap => return Some(Moved::Bootstrapped),
            LevelRule::Drop(default, None) => default,
            LevelRule::Drop(default, Some(attribute)) => match ir.attr(op, attribute) {
                None => default,
                Some(attr) => dropped(ir, attr)?,
            },
            LevelRule::Chebyshev => {
                let coefficients = length(ir, ir.attr(op, COEFFICIENTS)?)?;
                let Some(degree) = coefficients.checked_sub(1) else { return Some(Moved::By(0)) };
                let is_openfhe = self.settings.of(op).is_some_and(|it| it.is_openfhe);
                let library = if is_openfhe { Library::OpenFhe } else { Library::Lattigo };
                rules::chebyshev(u32::try_from(degree).ok()?, library)?
            }
        }))
    }

    /// Returns the level after an op, from the largest level of its operands; `None` if it is
    /// unknown.
    fn level_after(
        &self,
        ir: &impl View,
        op: Op,
        mut level: Level,
        operands: &[Ciphertext],
    ) -> Option<Level> {
        match catalogue::entry(ir.op_name(op)).filter(|it| it.level.is_some()).map(|it| it.of) {
            Some(LevelSource::Operand(at)) => level = operands.get(at)?.level()?,
            Some(LevelSource::Inputs) => {
                level = operands.iter().take(2).filter_map(|it| it.level()).max()?;
            }
            None => {}
        }
        Some(match (self.moved(ir, op)?, level) {
            // A bootstrap also restores an operand without a level.
            (Moved::Bootstrapped, _) => {
                Level::Used(self.settings.of(op).map_or(0, |it| it.bootstrap_level))
            }
            (_, Level::Invalid) => Level::Invalid,
            (Moved::ToTheLast, _) | (Moved::By(0), Level::All) => Level::All,
            (Moved::By(drop), Level::Used(n)) => Level::Used(n.saturating_add(drop)),
            (Moved::By(_), Level::All) => Level::Invalid,
        })
    }
}

/// Returns the dimension after an op, from the largest dimension of its operands.
fn dimension_after(ir: &impl View, op: Op, operands: &[Ciphertext], most: Dimension) -> Dimension {
    let name = ir.op_name(op);
    let of = |it: &Ciphertext| it.dimension();
    match rules::dimension(name) {
        Some(DimensionRule::Product) => {
            operands.iter().filter_map(of).reduce(Dimension::times).unwrap_or(most)
        }
        Some(DimensionRule::Relinearize) => Dimension::Known(2),
        None if name.starts_with("linalg.") => {
            // A contraction with one encrypted input multiplies it with plaintexts.
            let encrypted = operands.iter().take(2).filter_map(of).count();
            let is_linear = rules::is_linear(name) || rules::contracts(name) && encrypted < 2;
            match most {
                _ if is_linear => most,
                Dimension::Known(2) | Dimension::Assumed => Dimension::Assumed,
                _ => Dimension::Unknown,
            }
        }
        None => most,
    }
}
