//! The levels and polynomials of the ciphertexts of a program.

use std::sync::{Arc, OnceLock};

use noisy_syntax::{Def, Interner, Ir, Op, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::heir::facts::ciphertext::{Ciphertext, Ciphertexts, Dimension, Level, Moved};
use crate::heir::facts::unclear::Unclear;
use crate::heir::facts::{clients, loops, movers, plaintext, unclear, wild};
use crate::heir::ops::placed::Placed;
use crate::heir::options::{Model, Options};
use crate::heir::text::annotation::{self, Said};
use crate::heir::text::setting::{Scheme, SchemeFault, Setting, Settings};
use crate::integers::Integers;
use crate::sparse::{Input, Sparse};

/// What is known of the ciphertexts of a program.
#[derive(Debug)]
pub struct Heir {
    pub(crate) facts: Sparse<Ciphertexts>,
    /// The largest level of any ciphertext, by part of the document.
    pub(crate) largest_of_part: Vec<u32>,
    /// Whether it is that, by part: a ciphertext whose level is not known may have a larger one.
    pub(crate) is_largest_known: Vec<bool>,
    /// What has no level in HEIR, and what of that follows from what calls pass.
    pub(crate) unclear: FxHashSet<Value>,
    pub(crate) passed: FxHashSet<Value>,
    /// What has no polynomials in HEIR.
    pub(crate) dark: FxHashSet<Value>,
    /// What may have other polynomials in HEIR, and the functions in which it may count none.
    pub(crate) wild: FxHashSet<Value>,
    pub(crate) uncounted: FxHashSet<Op>,
    /// What loops that vary give to their next rounds, with the level that HEIR writes on it.
    pub(crate) yielded: FxHashMap<Value, Level>,
    /// The same of polynomials.
    pub(crate) yielded_dimensions: FxHashMap<Value, Dimension>,
    /// What plaintexts that are encoded are wanted at besides, found when somebody asks.
    pub(crate) sources: OnceLock<FxHashMap<Value, Option<Level>>>,
    /// Functions that give ciphertexts with other polynomials, and those that give them at other levels, with what does so; found when somebody asks.
    pub(crate) movers: [OnceLock<FxHashMap<Op, Op>>; 2],
    /// The levels that are left, by value.
    pub(crate) left: Vec<Option<u32>>,
}

impl Heir {
    /// Analyzes a program; `None` for one that is not HEIR's: no module names a scheme, no argument of a function is secret, and no op is
    /// of a dialect of its.
    pub fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let ciphertexts = Ciphertexts::new(ir);
        let has_scheme = ciphertexts.settings.all().any(|it| it.scheme.is_some());
        if !has_scheme && !ciphertexts.marks_any() && !has_heir_op(ir) {
            return None;
        }
        let input = Input { ir, base: integers.constants() };
        let mut facts = Sparse::new(&input, ciphertexts);
        // Each round finds values of an outer loop that those of an inner one have made variant.
        for round in 0..MOST_ROUNDS {
            let entries = clients::entries(ir, &facts);
            let of = |it: Value| facts.fact(it).copied().unwrap_or_default();
            let variant = loops::variant(ir, &|it| of(it).level());
            let resized = loops::variant(ir, &|it| of(it).dimension());
            let encoded = plaintext::encoded(ir, &facts);
            let lowered = plaintext::all_lowered(ir, &of);
            let known = &facts.analysis;
            // What rises and rises is wanted at levels that follow from one another: there is none for it.
            let settled = |known: &FxHashMap<Value, Level>, (value, level): (Value, Level)| {
                let level = match known.get(&value) {
                    Some(&before) if before < level && round >= MOST_ROUNDS / 2 => Level::Invalid,
                    Some(&before) => before.max(level),
                    None => level,
                };
                (value, level)
            };
            let encoded: FxHashMap<Value, Level> =
                encoded.into_iter().map(|it| settled(&known.encoded, it)).collect();
            let lowered: FxHashMap<Value, Level> =
                lowered.into_iter().map(|it| settled(&known.lowered, it)).collect();
            let is_new = |it: (&Value, &Level)| known.encoded.get(it.0) != Some(it.1);
            if entries == known.entries
                && variant.iter().all(|it| known.variant.get(it.0) == Some(it.1))
                && resized.iter().all(|it| known.resized.get(it.0) == Some(it.1))
                && !encoded.iter().any(is_new)
                && lowered.is_empty()
            {
                break;
            }
            facts.analysis.entries = entries;
            facts.analysis.variant.extend(variant);
            facts.analysis.resized.extend(resized);
            facts.analysis.encoded.extend(encoded);
            facts.analysis.lowered.extend(lowered);
            facts.solve(&input);
        }
        let settings = &facts.analysis.settings;
        let mut largest_of_part = vec![0; settings.n_parts()];
        let mut is_largest_known = vec![true; settings.n_parts()];
        let values = plaintext::values(ir);
        for &value in &values {
            let Some(op) = ir.definition_site(value) else { continue };
            let part = settings.part(op);
            match facts.fact(value).copied().unwrap_or_default() {
                Ciphertext::Encrypted { level: Level::Used(n), .. } => {
                    largest_of_part[part] = n.max(largest_of_part[part]);
                }
                Ciphertext::Unknown => is_largest_known[part] = false,
                _ => {}
            }
            let known = &facts.analysis;
            if known.encoded.get(&value) == Some(&Level::Invalid) {
                is_largest_known[part] = false;
            }
        }
        let of = |it: Value| facts.fact(it).copied().unwrap_or_default();
        let Unclear { levels: unclear, dimensions: dark, passed } = unclear::unclear(ir, &of);
        let yielded = loops::yielded(ir, &facts.analysis.variant, &|it| of(it).level());
        let yielded_dimensions =
            loops::yielded(ir, &facts.analysis.resized, &|it| of(it).dimension());
        let mut it = Self {
            facts,
            largest_of_part,
            is_largest_known,
            unclear,
            passed,
            dark,
            yielded,
            yielded_dimensions,
            wild: FxHashSet::default(),
            uncounted: wild::uncounted(ir),
            sources: OnceLock::new(),
            movers: Default::default(),
            left: vec![None; ir.bounds().1],
        };
        for value in values {
            it.left[value.index()] = it.find_left(ir, value);
        }
        let loops = it.facts.analysis.resized.keys().chain(it.yielded_dimensions.keys());
        it.wild = wild::wild(ir, &|value| it.ciphertext(value), loops.copied(), it.settings());
        Some(it)
    }

    /// How many levels are left for a value: what `mgmt.mgmt` or its type says of it, else what the levels that are used leave of the
    /// moduli. Of a plaintext only if its modulus is switched, too.
    pub(crate) fn left(&self, value: Value) -> Option<usize> {
        usize::try_from((*self.left.get(value.index())?)?).ok()
    }

    pub(crate) fn find_left(&self, ir: &Ir, value: Value) -> Option<u32> {
        let is_switched = || {
            let mut users = ir.value(value).uses.iter();
            users.any(|it| ir.op_name(it.0) == "mgmt.modreduce")
        };
        if self.ciphertext(value) == Ciphertext::Plain && !is_switched() {
            return None;
        }
        u32::try_from(self.left_by_text(ir, value)?).ok()
    }

    /// How many levels are left for a value: what `mgmt.mgmt` says of it, else what the levels that are used leave of the moduli.
    pub(crate) fn left_by_text(&self, ir: &Ir, value: Value) -> Option<usize> {
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
        let used = usize::try_from(self.level(ir, value)?).ok()?;
        annotation::params(self.setting_for(ir, value)?)?.1.max_level().checked_sub(used)
    }

    /// How many levels there are for a value by the settings: those between bootstraps and those that a bootstrap takes.
    pub(crate) fn budget(&self, ir: &Ir, options: Options, value: Value) -> Option<u32> {
        let taken = self.setting_for(ir, value).map_or(0, |it| it.bootstrap_level);
        Some(options.level_budget?.get().saturating_add(taken))
    }

    /// How often the moduli of the parameters for a value can be switched.
    pub(crate) fn switches(&self, ir: &Ir, value: Value) -> Option<u32> {
        let setting = self.setting_for(ir, value)?;
        match &setting.params {
            Some(Ok(params)) if setting.scheme != Some(Scheme::Bfv) => {
                u32::try_from(params.max_level()).ok()
            }
            _ => None,
        }
    }

    /// What the first module that names a scheme says of it.
    pub fn setting(&self) -> &Setting {
        self.facts.analysis.settings.first()
    }

    /// What the module around an op says of its scheme: the first with attributes of those that are in one part of the document with
    /// the op.
    pub(crate) fn setting_of(&self, op: Op) -> Option<&Setting> {
        self.facts.analysis.settings.of(op)
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.facts.analysis.settings
    }

    /// What cannot be used of what modules say of scheme, parameters and library, each with its module.
    pub(crate) fn scheme_faults(&self) -> Vec<(Op, &SchemeFault)> {
        self.settings().faults().collect()
    }

    /// As [`Heir::setting_of`], of what defines a value.
    pub(crate) fn setting_for(&self, ir: &Ir, value: Value) -> Option<&Setting> {
        self.setting_of(ir.definition_site(value)?)
    }

    /// The noise model that counts: one that is chosen, else the one of average bounds for the scheme.
    pub(crate) fn noise_model(&self, chosen: Option<Model>) -> Option<Model> {
        let default = || {
            self.settings().all().find_map(|it| match it.scheme? {
                Scheme::Bgv => Some(Model::BgvKpz21),
                Scheme::Bfv => Some(Model::BfvKpz21),
                Scheme::Ckks => None,
            })
        };
        chosen.or_else(default)
    }

    /// The most levels that a ciphertext may use where a value is defined: what the settings say, else what the moduli of the
    /// parameters bear; `None` if neither says.
    pub fn available(&self, ir: &Ir, options: Options, value: Value) -> Option<u32> {
        self.budget(ir, options, value).or_else(|| self.switches(ir, value))
    }

    /// The most levels that a ciphertext uses.
    pub(crate) fn levels(&self) -> u32 {
        self.largest_of_part.iter().copied().max().unwrap_or(0)
    }

    /// The number of the part of the document that a value is in.
    pub(crate) fn part(&self, ir: &Ir, value: Value) -> usize {
        ir.definition_site(value).map_or(0, |it| self.settings().part(it))
    }

    /// The most levels that a ciphertext uses in the part of the document that a value is in.
    pub(crate) fn levels_around(&self, ir: &Ir, value: Value) -> u32 {
        self.largest_of_part.get(self.part(ir, value)).copied().unwrap_or(0)
    }

    /// What is known of a value.
    pub fn ciphertext(&self, value: Value) -> Ciphertext {
        self.facts.fact(value).copied().unwrap_or_default()
    }

    /// What HEIR knows of a value: nothing reaches what has no level in it.
    pub(crate) fn clear(&self, value: Value) -> Ciphertext {
        if self.unclear.contains(&value) { Ciphertext::Bottom } else { self.ciphertext(value) }
    }

    /// The functions that may give a ciphertext with another number than they take, each with the op that does.
    pub(crate) fn movers(&self, ir: &Ir, placed: Placed) -> &FxHashMap<Op, Op> {
        let at = usize::from(placed != Placed::Relinearize);
        self.movers[at].get_or_init(|| movers::movers(ir, &|it| self.ciphertext(it), placed))
    }

    /// At which level something is wanted that is also encoded.
    pub(crate) fn source(&self, ir: &Ir, value: Value) -> Option<Level> {
        let sources = self.sources.get_or_init(|| plaintext::sources(ir, &|it| self.clear(it)));
        sources.get(&value).copied().flatten()
    }

    /// What an op does to the level of its operands; `None` if it is not known.
    pub(crate) fn moved(&self, ir: &Ir, op: Op) -> Option<Moved> {
        self.facts.analysis.moved(ir, op)
    }

    /// The levels used that HEIR writes on a value, also where none follows: on a ciphertext that it has no level for, and on a plaintext
    /// that no op wants at a level, as if it were fresh; on what a loop that varies gives to its next round what it takes.
    pub fn written(&self, ir: &Ir, value: Value) -> Option<u32> {
        if let Some(level) = self.level(ir, value) {
            return Some(level);
        }
        match self.ciphertext(value) {
            Ciphertext::Encrypted { level, .. } => match self.yielded.get(&value) {
                Some(&taken) => self.number(ir, value, taken),
                // HEIR ends with an error.
                None => (level != Level::Invalid).then_some(0),
            },
            Ciphertext::Plain => {
                let level =
                    plaintext::written(ir, value, &|it| self.clear(it), &|it| self.source(ir, it))?;
                self.number(ir, value, level)
            }
            _ => None,
        }
    }

    /// The polynomials that HEIR writes on a value, also where none follow, as [`Heir::written`].
    pub(crate) fn written_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        if let Some(dimension) = self.dimension(ir, value) {
            return Some(dimension);
        }
        match self.ciphertext(value) {
            Ciphertext::Encrypted { dimension, .. } => {
                let taken = self.yielded_dimensions.get(&value);
                match (taken.copied(), dimension) {
                    (Some(Dimension::Known(n)), _) => Some(n),
                    (Some(Dimension::Assumed), _) | (None, Dimension::Known(_)) => Some(2),
                    _ => None,
                }
            }
            Ciphertext::Plain if self.is_encoded(ir, value) => {
                match plaintext::written_dimension(ir, value, &|it| self.clear(it))? {
                    Dimension::Known(n) => Some(n),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a value may have other polynomials than are known.
    pub(crate) fn is_wild(&self, value: Value) -> bool {
        self.wild.contains(&value)
    }

    /// Whether a value is a plaintext that is encoded, and HEIR sees for what: where nothing is marked as secret, it sees no ciphertexts.
    pub(crate) fn is_encoded(&self, ir: &Ir, value: Value) -> bool {
        let is_marked = |op: Op| self.facts.analysis.marks_secrets(op);
        plaintext::is_init(ir, value) && ir.defining_op(value).is_some_and(is_marked)
    }

    /// As [`Heir::written_dimension`], where what HEIR writes is what follows: not where its analysis has no polynomials or others, and not
    /// after lowering, where it takes no op of a scheme for a product.
    pub(crate) fn comparable_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let is_lowered = self.is_lowered_type(&ir.interner, ir.value(value).ty);
        let is_known =
            !self.dark.contains(&value) && !self.unclear.contains(&value) && !self.is_wild(value);
        let is_counted = || {
            let function = ir.definition_site(value).and_then(|it| ir.function_of(it));
            function.is_none_or(|it| !self.uncounted.contains(&it))
        };
        if is_lowered || !is_known || !self.uncounted.is_empty() && !is_counted() {
            return None;
        }
        self.written_dimension(ir, value)
    }

    /// The level of a ciphertext, or that at which a plaintext is needed, in levels used; `None` if there is none or it is not known.
    /// Also none where HEIR writes another one, as if it had none (`heir/unclear.rs`).
    pub(crate) fn level(&self, ir: &Ir, value: Value) -> Option<u32> {
        let level = match self.ciphertext(value) {
            Ciphertext::Encrypted { level, .. } => level,
            Ciphertext::Plain if !plaintext::may_be_encoded(ir, value) => return None,
            Ciphertext::Plain => {
                plaintext::level(ir, value, &|it| self.clear(it), &|it| self.source(ir, it))?
            }
            _ => return None,
        };
        let level = self.number(ir, value, level)?;
        let is_written = level == 0 || !self.unclear.contains(&value);
        (is_written && !self.yielded.contains_key(&value)).then_some(level)
    }

    /// Whether a type is that of a ciphertext of a scheme or a library, after lowering.
    pub(crate) fn is_lowered_type(&self, interner: &Interner, ty: Type) -> bool {
        self.facts.analysis.type_facts(interner, ty).is_lowered
    }

    pub(crate) fn level_by_type(&self, ir: &Ir, value: Value) -> Option<usize> {
        self.facts.analysis.type_facts(&ir.interner, ir.value(value).ty).level
    }

    /// The polynomials of a ciphertext, or of the ciphertexts that a plaintext meets; `None` if that is not known.
    pub(crate) fn dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let dimension = match self.ciphertext(value) {
            Ciphertext::Encrypted { dimension, .. } => dimension,
            Ciphertext::Plain if !plaintext::may_be_encoded(ir, value) => return None,
            Ciphertext::Plain => plaintext::dimension(ir, value, &|it| self.ciphertext(it))?,
            _ => return None,
        };
        match dimension {
            Dimension::Assumed => Some(2),
            Dimension::Known(n) => {
                let is_written = n == 2 || !self.dark.contains(&value);
                (is_written && !self.yielded_dimensions.contains_key(&value)).then_some(n)
            }
            Dimension::Unknown => None,
        }
    }

    pub(crate) fn number(&self, ir: &Ir, value: Value, level: Level) -> Option<u32> {
        match level {
            Level::Used(n) => Some(n),
            Level::All => {
                let is_known = self.is_largest_known.get(self.part(ir, value)) == Some(&true);
                is_known.then(|| self.levels_around(ir, value))
            }
            Level::Invalid => None,
        }
    }
}

/// Rounds of looking for loops whose levels vary; loops nested deeper than this may keep a level that is not that of all iterations' ends.
const MOST_ROUNDS: usize = 16;

/// Whether some op is of a dialect that only HEIR has.
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
