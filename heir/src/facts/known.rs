//! The solved facts of a HEIR program: levels and polynomials of its ciphertexts.

use std::sync::{Arc, OnceLock};

use noisy_syntax::{Def, Interner, Ir, Op, Type, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::{Ciphertexts, Moved};
use crate::facts::fact::{Ciphertext, Dimension, Fact, HeirNumber, HeirNumbers, Level};
use crate::facts::{changing_functions, clients, conflicts, plaintext};
use crate::ops::placed::Placed;
use crate::options::{Model, Options};
use crate::text::annotation::{self, Said};
use crate::text::setting::{Scheme, SchemeFault, Setting, Settings};
use crate::text::types::TypeFacts;
use noisy_dataflow::sparse::{Domain, Input, Sparse};
use noisy_integers::Integers;

/// The solved facts of the ciphertexts of a program.
#[derive(Debug)]
pub struct Heir {
    pub(crate) facts: Sparse<Ciphertexts>,
    /// For each part of the document, the largest level of any ciphertext, and true if no
    /// ciphertext of unknown level may have a larger one.
    pub(crate) largest: Vec<(u32, bool)>,
    /// For the values that `mgmt.init` encodes, the level at which their other uses need them;
    /// computed at the first query.
    pub(crate) sources: OnceLock<FxHashMap<Value, Option<Level>>>,
    /// The functions that change dimensions, and those that change levels, each with an op that
    /// does; computed at the first query.
    pub(crate) changing_functions: [OnceLock<FxHashMap<Op, Op>>; 2],
    /// The remaining levels of each value.
    pub(crate) left: Vec<Option<u32>>,
}

impl Heir {
    /// Analyzes a program; `None` if it is not a HEIR program: no module names a scheme, no
    /// argument of a function is secret, and no op belongs to one of HEIR's dialects.
    pub fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let ciphertexts = Ciphertexts::new(ir);
        let has_scheme = ciphertexts.settings.all().any(|it| it.scheme.is_some());
        if !has_scheme && !ciphertexts.marks_any() && !has_heir_op(ir) {
            return None;
        }
        let input = Input { ir, base: integers.constants() };
        let mut it = Self {
            largest: vec![(0, true); ciphertexts.settings.n_parts()],
            facts: Sparse::new(&input, ciphertexts),
            sources: OnceLock::new(),
            changing_functions: Default::default(),
            left: vec![None; ir.bounds().1],
        };
        let values = plaintext::values(ir);
        // Levels of one client function follow from those of others; conflicts change no level.
        for round in 0.. {
            let entries = clients::entries(ir, &it.facts);
            let has_other_conflicts = !it.find_conflicts(ir, &values).is_empty();
            let known = &mut it.facts.analysis;
            if known.entries == entries && !has_other_conflicts {
                break;
            }
            known.entries = entries;
            if round > MOST_CLIENTS {
                known.entries.values_mut().for_each(|it| *it = Fact::unknown());
            }
            it.facts.solve(&input);
            if round > MOST_CLIENTS {
                break;
            }
        }
        for &value in &values {
            let Some(op) = ir.definition_site(value) else { continue };
            let (level, is_known) = &mut it.largest[it.facts.analysis.settings.part(op)];
            match ciphertext(&it.facts, value) {
                Ciphertext::Encrypted { level: Level::Used(n), .. } => *level = n.max(*level),
                Ciphertext::Unknown => *is_known = false,
                _ => {}
            }
        }
        for value in values {
            it.left[value.index()] = it.find_left(ir, value);
        }
        Some(it)
    }

    /// Updates the conflicts of some values, and returns the values whose conflict changed. *Cost.*
    /// The uses of these values.
    pub(crate) fn find_conflicts(&mut self, ir: &Ir, values: &[Value]) -> Vec<Value> {
        let before = &self.facts.analysis.conflicts;
        let of = |it: Value| ciphertext(&self.facts, it);
        let mut source = plaintext::direct_once(ir, &of);
        let mut changed = Vec::new();
        for &value in values {
            let is_there = is_current(ir, value);
            let now = is_there.then(|| conflicts::conflict(ir, value, &of, &mut source));
            let now = now.filter(|it| it.has_open());
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
    pub fn left(&self, value: Value) -> Option<usize> {
        usize::try_from((*self.left.get(value.index())?)?).ok()
    }

    /// Computes [`Heir::left`] from the text and the facts.
    pub(crate) fn find_left(&self, ir: &Ir, value: Value) -> Option<u32> {
        u32::try_from(self.left_by_text(ir, value)?).ok()
    }

    fn left_by_text(&self, ir: &Ir, value: Value) -> Option<usize> {
        match annotation::annotated(ir, value, "level") {
            Said::Number(level) => return usize::try_from(level).ok(),
            Said::Unreadable => return None,
            Said::Nothing => {}
        }
        if let Some(level) = self.level_by_type(ir, value) {
            return Some(level);
        }
        if let Def::Argument(block, _) = ir.value(value).def
            && let Some(from) = annotation::forwarded(ir, block, value)
        {
            return self.left_by_text(ir, from);
        }
        // The level of a plaintext depends on its uses, and edits of the uses do not update it.
        if self.ciphertext(value) == Ciphertext::Plain {
            return None;
        }
        let used = usize::try_from(self.level(ir, value)?).ok()?;
        annotation::params(self.setting_for(ir, value)?)?.1.max_level().checked_sub(used)
    }

    /// Returns the number of levels for a value according to the options: those between bootstraps
    /// plus those that a bootstrap uses.
    pub(crate) fn budget(&self, ir: &Ir, options: Options, value: Value) -> Option<u32> {
        let taken = self.setting_for(ir, value).map_or(0, |it| it.bootstrap_level);
        Some(options.level_budget?.get().saturating_add(taken))
    }

    /// Returns the number of modulus switches that the parameters for a value allow.
    pub fn switches(&self, ir: &Ir, value: Value) -> Option<u32> {
        let setting = self.setting_for(ir, value)?;
        match &setting.params {
            Some(Ok(params)) if setting.scheme != Some(Scheme::Bfv) => {
                u32::try_from(params.max_level()).ok()
            }
            _ => None,
        }
    }

    /// Returns the setting of the first module that names a scheme.
    pub fn setting(&self) -> &Setting {
        self.facts.analysis.settings.first()
    }

    /// Returns the setting of the module around an op: the first module with attributes in the part
    /// of the document that contains the op.
    pub fn setting_of(&self, op: Op) -> Option<&Setting> {
        self.facts.analysis.settings.of(op)
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.facts.analysis.settings
    }

    /// Returns the unusable attributes of modules, each with its module.
    pub fn scheme_faults(&self) -> Vec<(Op, &SchemeFault)> {
        self.settings().faults().collect()
    }

    /// Returns the setting of the module around the definition of a value.
    pub(crate) fn setting_for(&self, ir: &Ir, value: Value) -> Option<&Setting> {
        self.setting_of(ir.definition_site(value)?)
    }

    /// Returns the chosen noise model, else the model of average bounds for the scheme.
    pub fn noise_model(&self, chosen: Option<Model>) -> Option<Model> {
        let default = || {
            self.settings().all().find_map(|it| match it.scheme? {
                Scheme::Bgv => Some(Model::BgvKpz21),
                Scheme::Bfv => Some(Model::BfvKpz21),
                Scheme::Ckks => None,
            })
        };
        chosen.or_else(default)
    }

    /// Returns the largest number of levels that a value may use: those of the options, else those
    /// of the moduli; `None` without either.
    pub fn available(&self, ir: &Ir, options: Options, value: Value) -> Option<u32> {
        self.budget(ir, options, value).or_else(|| self.switches(ir, value))
    }

    /// Returns the largest number of levels that a ciphertext of the program uses.
    pub(crate) fn levels(&self) -> u32 {
        self.largest.iter().map(|it| it.0).max().unwrap_or(0)
    }

    /// Returns the index of the part of the document that contains a value.
    pub(crate) fn part(&self, ir: &Ir, value: Value) -> usize {
        ir.definition_site(value).map_or(0, |it| self.settings().part(it))
    }

    /// Returns the largest number of levels that a ciphertext uses in the part of the document that
    /// contains a value.
    pub fn levels_around(&self, ir: &Ir, value: Value) -> u32 {
        self.largest.get(self.part(ir, value)).map_or(0, |it| it.0)
    }

    /// Returns the kind of a value, with its level and dimension if it is a ciphertext.
    pub fn ciphertext(&self, value: Value) -> Ciphertext {
        ciphertext(&self.facts, value)
    }

    /// Returns true if all conflicts are calls that pass other levels than their callees take. The
    /// facts are then correct for each call. *Cost.* The conflicts, with their uses.
    pub(crate) fn conflicts_in_calls_only(&self, ir: &Ir) -> bool {
        let of = |it: Value| self.ciphertext(it);
        let mut conflicts = self.facts.analysis.conflicts.keys();
        conflicts.all(|&it| conflicts::passes_other_level(ir, it, &of))
    }

    /// Returns the number of ops that the last update visited.
    pub fn n_visits(&self) -> usize {
        self.facts.n_visits()
    }

    /// Returns true if the level of a value is not checked (see `docs/heir-reference.md`).
    pub fn is_level_unchecked(&self, value: Value) -> bool {
        self.written_as(value).level == HeirNumber::Open
    }

    /// As [`Heir::is_level_unchecked`], of the number of polynomials.
    pub fn is_dimension_unchecked(&self, value: Value) -> bool {
        self.written_as(value).dimension == HeirNumber::Open
    }

    /// Returns the sources of the numbers in HEIR's annotation of a value.
    pub(crate) fn written_as(&self, value: Value) -> HeirNumbers {
        self.facts.fact(value).map(|it| it.written).unwrap_or_default()
    }

    /// Returns the fact of a value with the level that HEIR finds: unreached if HEIR finds none,
    /// unknown if the level is not checked.
    fn with_checked_level(&self, value: Value) -> Ciphertext {
        match self.written_as(value).level {
            HeirNumber::Fresh => Ciphertext::Bottom,
            HeirNumber::Same => self.ciphertext(value),
            HeirNumber::Open => Ciphertext::Unknown,
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
    pub fn changing_functions(&self, ir: &Ir, placed: Placed) -> &FxHashMap<Op, Op> {
        let at = usize::from(placed != Placed::Relinearize);
        self.changing_functions[at].get_or_init(|| {
            changing_functions::changing_functions(ir, &|it| self.ciphertext(it), placed)
        })
    }

    /// Returns the level at which uses other than `mgmt.init` need a value that `mgmt.init`
    /// encodes.
    pub(crate) fn source(&self, ir: &Ir, value: Value) -> Option<Level> {
        let sources =
            self.sources.get_or_init(|| plaintext::sources(ir, &|it| self.with_checked_level(it)));
        sources.get(&value).copied().flatten()
    }

    /// Returns the effect of an op on the level of its operands; `None` if it is unknown.
    pub(crate) fn moved(&self, ir: &Ir, op: Op) -> Option<Moved> {
        self.facts.analysis.moved(ir, op)
    }

    /// Returns the used levels in HEIR's annotation of a value. Without a level, HEIR annotates
    /// that of a fresh ciphertext: for a ciphertext without a level, and for a plaintext that no op
    /// needs at a level. `None` if the level is not checked.
    pub fn written(&self, ir: &Ir, value: Value) -> Option<u32> {
        if let Some(level) = self.level(ir, value) {
            return Some(level);
        }
        match self.ciphertext(value) {
            _ if self.is_level_unchecked(value) => None,
            // HEIR reports an error if there is no level.
            Ciphertext::Encrypted { level, .. } => (level != Level::Invalid).then_some(0),
            Ciphertext::Plain => {
                let of = |it: Value| self.with_checked_level(it);
                let level = plaintext::written(ir, value, &of, &|it| self.source(ir, it))?;
                self.number(ir, value, level)
            }
            _ => None,
        }
    }

    /// Returns the dimension in HEIR's annotation of a value, also for a plaintext whose uses need
    /// no dimension.
    pub fn written_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
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
                match plaintext::written_dimension(ir, value, &of)? {
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
        let is_marked = |op: Op| self.facts.analysis.marks_secrets(op);
        plaintext::is_init(ir, value) && ir.defining_op(value).is_some_and(is_marked)
    }

    /// Returns [`Heir::written_dimension`], but `None` after lowering, because HEIR counts no op of
    /// a scheme as a product.
    pub(crate) fn comparable_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let is_lowered = self.is_lowered_type(&ir.interner, ir.value(value).ty);
        let is_found = self.written_as(value).dimension != HeirNumber::Fresh;
        if is_lowered || !is_found { None } else { self.written_dimension(ir, value) }
    }

    /// Returns the level of a ciphertext, or the level at which a plaintext is needed, in levels
    /// used; `None` if there is none, or it is unknown or not checked.
    pub fn level(&self, ir: &Ir, value: Value) -> Option<u32> {
        let written = self.written_as(value).level;
        let of = |it: Value| self.with_checked_level(it);
        let wanted = || plaintext::level(ir, value, &of, &|it| self.source(ir, it));
        let level = self.checked(ir, value, written, Ciphertext::level, wanted)?;
        self.number(ir, value, level).filter(|&it| it == 0 || written == HeirNumber::Same)
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
        let written = self.written_as(value).dimension;
        let wanted = || plaintext::dimension(ir, value, &|it| self.with_checked_dimension(it));
        match self.checked(ir, value, written, Ciphertext::dimension, wanted)? {
            Dimension::Assumed => Some(2),
            Dimension::Known(n) => (n == 2 || written == HeirNumber::Same).then_some(n),
            Dimension::Unknown => None,
        }
    }

    /// A number of a ciphertext, or the one that is wanted of a plaintext; `None` if it is not
    /// checked.
    fn checked<T>(
        &self,
        ir: &Ir,
        value: Value,
        written: HeirNumber,
        number: fn(Ciphertext) -> Option<T>,
        wanted: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        match self.ciphertext(value) {
            _ if written == HeirNumber::Open => None,
            Ciphertext::Plain if plaintext::may_be_encoded(ir, value) => wanted(),
            it => number(it),
        }
    }

    pub(crate) fn number(&self, ir: &Ir, value: Value, level: Level) -> Option<u32> {
        match level {
            Level::Used(n) => Some(n),
            Level::All => {
                let &(largest, is_known) = self.largest.get(self.part(ir, value))?;
                is_known.then_some(largest)
            }
            Level::Invalid => None,
        }
    }
}

/// The longest chain of client functions whose levels depend on each other; longer chains are
/// unknown.
const MOST_CLIENTS: usize = 16;

/// Returns the kind of a value, with its level and dimension.
fn ciphertext(facts: &Sparse<Ciphertexts>, value: Value) -> Ciphertext {
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
