//! The solved facts of a HEIR program: levels and polynomials of its ciphertexts.

use std::sync::{Arc, OnceLock};

use noisy_syntax::{Def, Interner, Ir, Op, Type, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::{CiphertextAnalysis, LevelChange};
use crate::facts::fact::{
    Ciphertext, CiphertextFact, Dimension, Level, NumberSource, NumberSources,
};
use crate::facts::{changing_functions, clients, conflicts, plaintext};
use crate::ops::placed::PlacedOp;
use crate::options::{HeirOptions, NoiseModelName};
use crate::text::annotation::{self, WrittenNumber};
use crate::text::setting::{DocumentSettings, ModuleSetting, Scheme, SchemeFault};
use crate::text::types::TypeFacts;
use noisy_dataflow::sparse::{AnalysisInput, Domain, SparseSolver};
use noisy_integers::Integers;

/// The solved facts of the ciphertexts of a program.
#[derive(Debug)]
pub struct CiphertextFacts {
    pub(crate) facts: SparseSolver<CiphertextAnalysis>,
    /// For each part of the document, the largest level of any ciphertext, and true if no
    /// ciphertext of unknown level may have a larger one.
    pub(crate) largest_levels: Vec<(u32, bool)>,
    /// For the values that `mgmt.init` encodes, the level at which their other uses need them;
    /// computed at the first query.
    pub(crate) encoded_levels: OnceLock<FxHashMap<Value, Option<Level>>>,
    /// The functions that change dimensions, and those that change levels, each with an op that
    /// does; computed at the first query.
    pub(crate) changing_functions: [OnceLock<FxHashMap<Op, Op>>; 2],
    /// The remaining levels of each value.
    pub(crate) remaining_levels: Vec<Option<u32>>,
}

impl CiphertextFacts {
    /// Analyzes a program; `None` if it is not a HEIR program: no module names a scheme, no
    /// argument of a function is secret, and no op belongs to one of HEIR's dialects.
    pub fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let ciphertexts = CiphertextAnalysis::new(ir);
        let has_scheme = ciphertexts.settings.all().any(|it| it.scheme.is_some());
        if !has_scheme && !ciphertexts.has_any_secret_marks() && !has_heir_op(ir) {
            return None;
        }
        let input = AnalysisInput { ir, base: integers.constants() };
        let mut it = Self {
            largest_levels: vec![(0, true); ciphertexts.settings.n_parts()],
            facts: SparseSolver::new(&input, ciphertexts),
            encoded_levels: OnceLock::new(),
            changing_functions: Default::default(),
            remaining_levels: vec![None; ir.n_slots().1],
        };
        let values = plaintext::all_values(ir);
        // Levels of one client function follow from those of others; conflicts change no level.
        for round in 0.. {
            let entries = clients::entry_facts(ir, &it.facts);
            let has_other_conflicts = !it.find_conflicts(ir, &values).is_empty();
            let known = &mut it.facts.analysis;
            if known.entry_facts == entries && !has_other_conflicts {
                break;
            }
            known.entry_facts = entries;
            if round > MAX_CLIENTS {
                known.entry_facts.values_mut().for_each(|it| *it = CiphertextFact::unknown());
            }
            it.facts.solve(&input);
            if round > MAX_CLIENTS {
                break;
            }
        }
        for &value in &values {
            let Some(op) = ir.definition_site(value) else { continue };
            let (level, is_known) =
                &mut it.largest_levels[it.facts.analysis.settings.part_index(op)];
            match ciphertext(&it.facts, value) {
                Ciphertext::Encrypted { level: Level::Used(n), .. } => *level = n.max(*level),
                Ciphertext::Unknown => *is_known = false,
                _ => {}
            }
        }
        for value in values {
            it.remaining_levels[value.index()] = it.compute_remaining_levels(ir, value);
        }
        Some(it)
    }

    /// Updates the conflicts of some values, and returns the values whose conflict changed. *Cost.*
    /// The uses of these values.
    pub(crate) fn find_conflicts(&mut self, ir: &Ir, values: &[Value]) -> Vec<Value> {
        let before = &self.facts.analysis.conflicts;
        let of = |it: Value| ciphertext(&self.facts, it);
        let mut source = plaintext::cached_direct_demand(ir, &of);
        let mut changed = Vec::new();
        for &value in values {
            let is_there = is_current(ir, value);
            let now = is_there.then(|| conflicts::conflicting_numbers(ir, value, &of, &mut source));
            let now = now.filter(|it| it.has_unchecked());
            if before.get(&value).copied() != now {
                changed.push((value, now));
            }
        }
        drop(source);
        for &(value, now) in &changed {
            match now {
                Some(it) => self.facts.analysis.conflicts.insert(value, it),
                None => self.facts.analysis.conflicts.remove(&value),
            };
        }
        changed.into_iter().map(|it| it.0).collect()
    }

    /// Returns the remaining levels of a value: those that `mgmt.mgmt` or its type states, else the
    /// number of moduli minus the used levels.
    pub fn remaining_levels(&self, value: Value) -> Option<usize> {
        usize::try_from((*self.remaining_levels.get(value.index())?)?).ok()
    }

    /// Computes [`CiphertextFacts::remaining_levels`] from the text and the facts.
    pub(crate) fn compute_remaining_levels(&self, ir: &Ir, value: Value) -> Option<u32> {
        u32::try_from(self.remaining_levels_by_text(ir, value)?).ok()
    }

    fn remaining_levels_by_text(&self, ir: &Ir, value: Value) -> Option<usize> {
        match annotation::annotated_number(ir, value, "level") {
            WrittenNumber::Number(level) => return usize::try_from(level).ok(),
            WrittenNumber::Unreadable => return None,
            WrittenNumber::Absent => {}
        }
        if let Some(level) = self.level_by_type(ir, value) {
            return Some(level);
        }
        if let Def::Argument(block, _) = ir.value(value).def
            && let Some(from) = annotation::forwarded_operand(ir, block, value)
        {
            return self.remaining_levels_by_text(ir, from);
        }
        // The level of a plaintext depends on its uses, and edits of the uses do not update it.
        if self.ciphertext(value) == Ciphertext::Plain {
            return None;
        }
        let used = usize::try_from(self.level(ir, value)?).ok()?;
        annotation::scheme_and_params(self.setting_of_value(ir, value)?)?
            .1
            .max_level()
            .checked_sub(used)
    }

    /// Returns the number of levels for a value according to the options: those between bootstraps
    /// plus those that a bootstrap uses.
    pub(crate) fn level_budget(&self, ir: &Ir, options: HeirOptions, value: Value) -> Option<u32> {
        let taken = self.setting_of_value(ir, value).map_or(0, |it| it.bootstrap_level);
        Some(options.level_budget?.get().saturating_add(taken))
    }

    /// Returns the number of modulus switches that the parameters for a value allow.
    pub fn n_modulus_switches(&self, ir: &Ir, value: Value) -> Option<u32> {
        let setting = self.setting_of_value(ir, value)?;
        match &setting.params {
            Some(Ok(params)) if setting.scheme != Some(Scheme::Bfv) => {
                u32::try_from(params.max_level()).ok()
            }
            _ => None,
        }
    }

    /// Returns the setting of the first module that names a scheme.
    pub fn setting(&self) -> &ModuleSetting {
        self.facts.analysis.settings.first()
    }

    /// Returns the setting of the module around an op: the first module with attributes in the part
    /// of the document that contains the op.
    pub fn setting_of(&self, op: Op) -> Option<&ModuleSetting> {
        self.facts.analysis.settings.of(op)
    }

    pub(crate) fn settings(&self) -> &Arc<DocumentSettings> {
        &self.facts.analysis.settings
    }

    /// Returns the unusable attributes of modules, each with its module.
    pub fn scheme_faults(&self) -> Vec<(Op, &SchemeFault)> {
        self.settings().faults().collect()
    }

    /// Returns the setting of the module around the definition of a value.
    pub(crate) fn setting_of_value(&self, ir: &Ir, value: Value) -> Option<&ModuleSetting> {
        self.setting_of(ir.definition_site(value)?)
    }

    /// Returns the chosen noise model, else the model of average bounds for the scheme.
    pub fn noise_model(&self, chosen: Option<NoiseModelName>) -> Option<NoiseModelName> {
        let default = || {
            self.settings().all().find_map(|it| match it.scheme? {
                Scheme::Bgv => Some(NoiseModelName::BgvKpz21),
                Scheme::Bfv => Some(NoiseModelName::BfvKpz21),
                Scheme::Ckks => None,
            })
        };
        chosen.or_else(default)
    }

    /// Returns the largest number of levels that a value may use: those of the options, else those
    /// of the moduli; `None` without either.
    pub fn n_available_levels(&self, ir: &Ir, options: HeirOptions, value: Value) -> Option<u32> {
        self.level_budget(ir, options, value).or_else(|| self.n_modulus_switches(ir, value))
    }

    /// Returns the largest number of levels that a ciphertext of the program uses.
    pub(crate) fn largest_level(&self) -> u32 {
        self.largest_levels.iter().map(|it| it.0).max().unwrap_or(0)
    }

    /// Returns the index of the part of the document that contains a value.
    pub(crate) fn part_index(&self, ir: &Ir, value: Value) -> usize {
        ir.definition_site(value).map_or(0, |it| self.settings().part_index(it))
    }

    /// Returns the largest number of levels that a ciphertext uses in the part of the document that
    /// contains a value.
    pub fn largest_level_around(&self, ir: &Ir, value: Value) -> u32 {
        self.largest_levels.get(self.part_index(ir, value)).map_or(0, |it| it.0)
    }

    /// Returns the kind of a value, with its level and dimension if it is a ciphertext.
    pub fn ciphertext(&self, value: Value) -> Ciphertext {
        ciphertext(&self.facts, value)
    }

    /// Returns true if all conflicts are calls that pass other levels than their callees take. The
    /// facts are then correct for each call. *Cost.* The conflicts, with their uses.
    pub(crate) fn has_conflicts_in_calls_only(&self, ir: &Ir) -> bool {
        let of = |it: Value| self.ciphertext(it);
        let mut conflicts = self.facts.analysis.conflicts.keys();
        conflicts.all(|&it| conflicts::is_passed_at_other_level(ir, it, &of))
    }

    /// Returns the number of ops that the last update visited.
    pub fn n_visits(&self) -> usize {
        self.facts.n_visits()
    }

    /// Returns true if the level of a value is not checked (see `docs/heir-reference.md`).
    pub fn is_level_unchecked(&self, value: Value) -> bool {
        self.number_sources(value).level == NumberSource::Unchecked
    }

    /// Like [`CiphertextFacts::is_level_unchecked`], for the number of polynomials.
    pub fn is_dimension_unchecked(&self, value: Value) -> bool {
        self.number_sources(value).dimension == NumberSource::Unchecked
    }

    /// Returns the sources of the numbers in HEIR's annotation of a value.
    pub(crate) fn number_sources(&self, value: Value) -> NumberSources {
        self.facts.fact(value).map(|it| it.number_sources).unwrap_or_default()
    }

    /// Returns the fact of a value with the level that HEIR finds: unreached if HEIR finds none,
    /// unknown if the level is not checked.
    fn with_checked_level(&self, value: Value) -> Ciphertext {
        match self.number_sources(value).level {
            NumberSource::Fresh => Ciphertext::Bottom,
            NumberSource::Inferred => self.ciphertext(value),
            NumberSource::Unchecked => Ciphertext::Unknown,
        }
    }

    /// Returns the fact of a value, with an unknown dimension if it is not checked.
    fn with_checked_dimension(&self, value: Value) -> Ciphertext {
        match self.ciphertext(value) {
            Ciphertext::Encrypted { level, .. } if self.is_dimension_unchecked(value) => {
                Ciphertext::Encrypted { level, dimension: Dimension::Unknown }
            }
            it => it,
        }
    }

    /// Returns the functions whose results may have another number than their arguments, each with
    /// an op that changes it. The number is the one that the placed op resets.
    pub fn changing_functions(&self, ir: &Ir, placed: PlacedOp) -> &FxHashMap<Op, Op> {
        let at = usize::from(placed != PlacedOp::Relinearize);
        self.changing_functions[at].get_or_init(|| {
            changing_functions::changing_functions(ir, &|it| self.ciphertext(it), placed)
        })
    }

    /// Returns the level at which uses other than `mgmt.init` need a value that `mgmt.init`
    /// encodes.
    pub(crate) fn encoded_level(&self, ir: &Ir, value: Value) -> Option<Level> {
        let sources = self
            .encoded_levels
            .get_or_init(|| plaintext::levels_of_encoded(ir, &|it| self.with_checked_level(it)));
        sources.get(&value).copied().flatten()
    }

    /// Returns the effect of an op on the level of its operands; `None` if it is unknown.
    pub(crate) fn level_change(&self, ir: &Ir, op: Op) -> Option<LevelChange> {
        self.facts.analysis.level_change(ir, op)
    }

    /// Returns the used levels in HEIR's annotation of a value. Without a level, HEIR annotates
    /// that of a fresh ciphertext: for a ciphertext without a level, and for a plaintext that no op
    /// needs at a level. `None` if the level is not checked.
    pub fn annotated_level(&self, ir: &Ir, value: Value) -> Option<u32> {
        if let Some(level) = self.level(ir, value) {
            return Some(level);
        }
        match self.ciphertext(value) {
            _ if self.is_level_unchecked(value) => None,
            // HEIR reports an error if there is no level.
            Ciphertext::Encrypted { level, .. } => (level != Level::Invalid).then_some(0),
            Ciphertext::Plain => {
                let of = |it: Value| self.with_checked_level(it);
                let level =
                    plaintext::annotated_level(ir, value, &of, &|it| self.encoded_level(ir, it))?;
                self.used_levels(ir, value, level)
            }
            _ => None,
        }
    }

    /// Returns the dimension in HEIR's annotation of a value, also for a plaintext whose uses need
    /// no dimension.
    pub fn annotated_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        if let Some(dimension) = self.dimension(ir, value) {
            return Some(dimension);
        }
        match self.ciphertext(value) {
            _ if self.is_dimension_unchecked(value) => None,
            Ciphertext::Encrypted { dimension, .. } => {
                matches!(dimension, Dimension::Known(_)).then_some(2)
            }
            Ciphertext::Plain if self.is_encoded(ir, value) => {
                let of = |it: Value| self.with_checked_dimension(it);
                match plaintext::annotated_dimension(ir, value, &of)? {
                    Dimension::Known(n) => Some(n),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns true if a value is an encoded plaintext in a part of the document that marks
    /// secrets. In other parts, HEIR finds no ciphertexts.
    pub(crate) fn is_encoded(&self, ir: &Ir, value: Value) -> bool {
        let is_marked = |op: Op| self.facts.analysis.has_secret_marks_around(op);
        plaintext::is_init(ir, value) && ir.defining_op(value).is_some_and(is_marked)
    }

    /// Returns [`CiphertextFacts::annotated_dimension`], but `None` after lowering, because HEIR
    /// counts no op of a scheme as a product.
    pub(crate) fn comparable_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let is_lowered = self.is_lowered_type(&ir.interner, ir.value(value).ty);
        let is_found = self.number_sources(value).dimension != NumberSource::Fresh;
        if is_lowered || !is_found { None } else { self.annotated_dimension(ir, value) }
    }

    /// Returns the level of a ciphertext, or the level at which a plaintext is needed, in levels
    /// used; `None` if there is none, or it is unknown or not checked.
    pub fn level(&self, ir: &Ir, value: Value) -> Option<u32> {
        let source = self.number_sources(value).level;
        let of = |it: Value| self.with_checked_level(it);
        let wanted = || plaintext::encoded_level(ir, value, &of, &|it| self.encoded_level(ir, it));
        let level = self.checked(ir, value, source, Ciphertext::level, wanted)?;
        self.used_levels(ir, value, level).filter(|&it| it == 0 || source == NumberSource::Inferred)
    }

    /// Returns true if a type is that of a ciphertext of a scheme or a library, after lowering.
    pub(crate) fn is_lowered_type(&self, interner: &Interner, ty: Type) -> bool {
        self.facts.analysis.type_facts(interner, ty).is_lowered
    }

    /// Returns the facts that a type states.
    pub(crate) fn type_facts(&self, interner: &Interner, ty: Type) -> TypeFacts {
        self.facts.analysis.type_facts(interner, ty)
    }

    pub(crate) fn level_by_type(&self, ir: &Ir, value: Value) -> Option<usize> {
        self.facts.analysis.type_facts(&ir.interner, ir.value(value).ty).level
    }

    /// Returns the dimension of a ciphertext, or of the ciphertexts that a plaintext is combined
    /// with; `None` if it is unknown or not checked.
    pub fn dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let source = self.number_sources(value).dimension;
        let wanted =
            || plaintext::combined_dimension(ir, value, &|it| self.with_checked_dimension(it));
        match self.checked(ir, value, source, Ciphertext::dimension, wanted)? {
            Dimension::Assumed => Some(2),
            Dimension::Known(n) => (n == 2 || source == NumberSource::Inferred).then_some(n),
            Dimension::Unknown => None,
        }
    }

    /// Returns a number of a ciphertext, or the number that uses need of a plaintext; `None` if it
    /// is not checked.
    fn checked<T>(
        &self,
        ir: &Ir,
        value: Value,
        source: NumberSource,
        number: fn(Ciphertext) -> Option<T>,
        wanted: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        match self.ciphertext(value) {
            _ if source == NumberSource::Unchecked => None,
            Ciphertext::Plain if plaintext::is_encodable(ir, value) => wanted(),
            it => number(it),
        }
    }

    pub(crate) fn used_levels(&self, ir: &Ir, value: Value, level: Level) -> Option<u32> {
        match level {
            Level::Used(n) => Some(n),
            Level::All => {
                let &(largest, is_known) = self.largest_levels.get(self.part_index(ir, value))?;
                is_known.then_some(largest)
            }
            Level::Invalid => None,
        }
    }
}

/// The longest chain of client functions whose levels depend on each other; longer chains are
/// unknown.
const MAX_CLIENTS: usize = 16;

/// Returns the kind of a value, with its level and dimension.
fn ciphertext(facts: &SparseSolver<CiphertextAnalysis>, value: Value) -> Ciphertext {
    facts.fact(value).map(|it| it.ciphertext).unwrap_or_default()
}

/// Returns true if some op belongs to one of HEIR's dialects.
fn has_heir_op(ir: &Ir) -> bool {
    const DIALECTS: [&str; 10] = [
        "secret",
        "mgmt",
        "bgv",
        "ckks",
        "lwe",
        "openfhe",
        "lattigo",
        "kernel",
        "orion",
        "tensor_ext",
    ];
    let mut found = false;
    ir.walk(ir.root(), &mut |op| {
        let name = ir.op_name(op);
        found |= name.split_once('.').is_some_and(|it| DIALECTS.contains(&it.0));
    });
    found
}

/// Returns true if a value is still part of the program.
pub(crate) fn is_current(ir: &Ir, value: Value) -> bool {
    let is_it = |all: &[Value], at: u32| all.get(at as usize) == Some(&value);
    match ir.value(value).def {
        Def::Result(op, at) => ir.is_alive(op) && is_it(&ir.op(op).results, at),
        Def::Argument(block, at) => {
            let holder = ir.region(ir.block(block).region).parent;
            holder.is_some_and(|it| ir.is_alive(it)) && is_it(&ir.block(block).args, at)
        }
    }
}
