//! HEIR's programs: what is known of ciphertexts in `secret.generic` bodies and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! | file | what |
//! |---|---|
//! | `scheme.rs`, `types.rs` | what modules say of scheme, parameters and library, and types of ciphertexts |
//! | `catalogue.rs`, `rows.rs` | HEIR's ops, and what each does to levels and dimensions |
//! | `ciphertext.rs` | levels and dimensions by dataflow |
//! | `loops.rs` | what loops carry with another level than they take it |
//! | `clients.rs` | levels of what functions of the client get and give |
//! | `question.rs` | where to relinearize and to bootstrap, as a question to the optimizer |
//! | `movers.rs` | what ciphertexts come back from otherwise |
//! | `unclear.rs` | what has no level in HEIR, as it does not know whether it is secret |
//! | `wild.rs` | what may have other polynomials in HEIR |
//! | `plaintext.rs` | the level that a plaintext is needed at |
//! | `params.rs`, `log2.rs`, `bits.rs` | noise models as functions on numbers |
//! | `entries.rs` | the text of attributes and types, by tokens |
//! | `base.rs`, `places.rs` | the level that is left for a value, what `mgmt.mgmt` says, and where it stands |
//! | `noise.rs`, `scale.rs` | noise in bits and scales by dataflow |
//! | `underflow.rs`, `chain.rs` | where levels run out, and how a value came to its level |
//! | `surplus.rs`, `annotation.rs`, `scale_rules.rs`, `unreadable.rs` | where relinearizations are missing, and annotations wrong |
//! | `upkeep.rs`, `header.rs`, `solved.rs`, `sites.rs` | what edits change: of levels, of what stands on them, of what is reported |
//! | `quantities.rs`, `derivation.rs` | all that is known of a value, and how it came about, for an editor |
//! | `work.rs` | what ops are to the one who runs them |

mod annotation;
mod base;
mod bits;
mod catalogue;
mod chain;
mod ciphertext;
mod clients;
mod derivation;
mod entries;
mod header;
mod log2;
mod loops;
mod movers;
mod noise;
mod params;
mod places;
mod plaintext;
mod quantities;
mod question;
mod rows;
mod scale;
mod scale_rules;
mod scheme;
mod sites;
mod solved;
mod surplus;
mod types;
mod unclear;
mod underflow;
mod unreadable;
mod upkeep;
mod wild;
mod work;

pub(crate) use annotation::{Mismatch, Resized};
pub(crate) use base::{Annotation, Holder, annotation, known};
pub(crate) use catalogue::version;
pub(crate) use chain::{Of, chain};
pub use ciphertext::{Ciphertext, Dimension, Level};
pub(crate) use ciphertext::{Ciphertexts, is_secret_argument};
pub use derivation::{Step, Steps, derivation, effect};
pub use noise::HeirNoise;
pub(crate) use noise::NoiseBits;
pub use params::{ParamsError, SchemeParams};
pub(crate) use places::Places;
pub use quantities::{Quantities, Quantity};
pub(crate) use question::{Crossing, Drop, Placed, Question, Round, question};
pub(crate) use rows::{decrypts, encrypts, is_bootstrap, multiplies};
pub(crate) use scale::ScaleBits;
pub use scale::Scales;
pub(crate) use scale_rules::ScaleFault;
pub use scheme::{Scheme, Setting};
pub(crate) use scheme::{SchemeFault, is_mark};
pub(crate) use sites::{Sight, Sites, made_of, stands_on_linalg};
pub(crate) use solved::{Solved, Upkept};
pub(crate) use types::is_ciphertext_type as is_secret_type;
pub(crate) use underflow::{Recursion, Underflow, Unsettled, budget, switches};
pub(crate) use upkeep::Touched;
pub use work::Work;
pub(crate) use work::swaps_rows;

pub use crate::noise::model::heir::{Latency, Model, Options};

use std::sync::{Arc, OnceLock};

use noisy_syntax::{Delta, Interner, Ir, Op, OpKind, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use self::upkeep::Upkeep;
use crate::integers::Integers;
use crate::sparse::{Input, Moved, Sparse};

/// What is known of the ciphertexts of a program.
#[derive(Debug)]
pub struct Heir {
    facts: Sparse<Ciphertexts>,
    /// The largest level of any ciphertext, by part of the document.
    largest_of_part: Vec<u32>,
    /// Whether it is that, by part: a ciphertext whose level is not known may have a larger one.
    is_largest_known: Vec<bool>,
    /// What has no level in HEIR, and what of that follows from what calls pass.
    unclear: FxHashSet<Value>,
    passed: FxHashSet<Value>,
    /// What has no polynomials in HEIR.
    dark: FxHashSet<Value>,
    /// What may have other polynomials in HEIR, and the functions in which it may count none.
    wild: FxHashSet<Value>,
    uncounted: FxHashSet<Op>,
    /// What loops that vary give to their next rounds, with the level that HEIR writes on it.
    yielded: FxHashMap<Value, Level>,
    /// The same of polynomials.
    yielded_dimensions: FxHashMap<Value, Dimension>,
    /// What plaintexts that are encoded are wanted at besides, found when somebody asks.
    sources: OnceLock<FxHashMap<Value, Option<Level>>>,
    /// Functions that give ciphertexts with other polynomials, and those that give them at other levels, with what does so; found when somebody asks.
    movers: [OnceLock<FxHashMap<Op, Op>>; 2],
    /// The levels that are left, by value.
    left: Vec<Option<u32>>,
    /// What edits need; `None` if each makes all anew.
    upkeep: Option<Upkeep>,
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
        let unclear::Unclear { levels: unclear, dimensions: dark, passed } =
            unclear::unclear(ir, &of);
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
            upkeep: None,
        };
        for value in values {
            it.left[value.index()] = it.find_left(ir, value);
        }
        it.wild = wild::wild(ir, &it);
        it.upkeep = Upkeep::new(ir, &it);
        Some(it)
    }

    /// Takes in an edit, which the integers have taken in; `None` if all must be made anew.
    fn update(&mut self, ir: &Ir, integers: &Integers, delta: &Delta) -> Option<Upkept> {
        let mut upkeep = self.upkeep.take()?;
        if upkeep.is_structural(ir, delta) {
            return None;
        }
        let is_module = |it: &&Op| ir.op(**it).kind == OpKind::BuiltinModule;
        let difference = match delta.changed.iter().find(is_module) {
            Some(_) => self.resettle(ir, &upkeep)?,
            None => scheme::Difference::default(),
        };
        for &op in &delta.changed {
            // Others may be called with, or by, what HEIR counts no polynomials of.
            if !self.uncounted.is_empty() && ir.op(op).kind == OpKind::FuncCall {
                return None;
            }
            self.facts.analysis.note_call(ir, op);
        }
        let mut functions = delta.changed.iter().filter(|&&it| ir.op(it).kind == OpKind::FuncFunc);
        if functions.any(|&it| self.facts.analysis.is_called_otherwise(ir, it)) {
            return None;
        }
        let input = Input { ir, base: integers.constants() };
        self.facts.update(&input, delta, integers.moved());
        let Moved::These(moved) = self.facts.moved() else { return None };
        let mut moved = moved.clone();
        // What a loop takes is also what it gives to its next round, which an op at its end says.
        let edited = delta.changed.iter().chain(&delta.removed);
        let holders = edited.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        let loops: FxHashSet<Op> =
            holders.filter(|&it| ir.is_alive(it) && loops::is_loop(ir, it)).collect();
        let carried = loops.into_iter().flat_map(|it| plaintext::defined(ir, it));
        self.left.resize(ir.bounds().1, None);
        moved.extend(carried.filter(|&it| self.find_left(ir, it) != self.left[it.index()]));
        moved.extend(upkeep.said_anew(ir, self, delta));
        let touched = Touched::new(ir, self, &moved, delta);
        upkeep.recount(ir, self, &touched.ops, &delta.removed)?;
        if !upkeep.is_regular(ir, self, &touched.ops) {
            return None;
        }
        let (largest, is_known) = upkeep.largest();
        let is_other = self.largest_of_part != [largest] || self.is_largest_known != [is_known];
        if is_other && upkeep.has_last() {
            return None;
        }
        self.largest_of_part = vec![largest];
        self.is_largest_known = vec![is_known];
        self.sources = OnceLock::new();
        self.movers = Default::default();
        let all = if difference.n_moduli { plaintext::values(ir) } else { Vec::new() };
        for &value in touched.values.iter().chain(&all) {
            self.left[value.index()] = self.find_left(ir, value);
        }
        self.upkeep = Some(upkeep);
        let has_other_params = difference.params || difference.n_moduli || difference.moves;
        Some(Upkept { values: touched.values, has_other_params })
    }

    /// Takes in what modules say now; `None` if levels hang on what is other.
    fn resettle(&mut self, ir: &Ir, upkeep: &Upkeep) -> Option<scheme::Difference> {
        let settings = scheme::Settings::new(ir);
        let difference = self.settings().difference(&settings)?;
        let says_so =
            self.facts.analysis.marks_any() || settings.all().any(|it| it.scheme.is_some());
        if !says_so || difference.moves && upkeep.hangs_on_library() {
            return None;
        }
        self.facts.analysis.settings = Arc::new(settings);
        Some(difference)
    }

    /// How many levels are left for a value: what `mgmt.mgmt` or its type says of it, else what the levels that are used leave of the
    /// moduli. Of a plaintext only if its modulus is switched, too.
    fn left(&self, value: Value) -> Option<usize> {
        usize::try_from((*self.left.get(value.index())?)?).ok()
    }

    fn find_left(&self, ir: &Ir, value: Value) -> Option<u32> {
        let is_switched = || {
            let mut users = ir.value(value).uses.iter();
            users.any(|it| ir.op_name(it.0) == "mgmt.modreduce")
        };
        if self.ciphertext(value) == Ciphertext::Plain && !is_switched() {
            return None;
        }
        u32::try_from(base::left(ir, self, value)?).ok()
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

    fn settings(&self) -> &Arc<scheme::Settings> {
        &self.facts.analysis.settings
    }

    /// What cannot be used of what modules say of scheme, parameters and library, each with its module.
    pub(crate) fn scheme_faults(&self) -> Vec<(Op, &SchemeFault)> {
        self.settings().faults().collect()
    }

    /// As [`Heir::setting_of`], of what defines a value.
    pub(super) fn setting_for(&self, ir: &Ir, value: Value) -> Option<&Setting> {
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
        budget(ir, self, options, value).or_else(|| switches(ir, self, value))
    }

    /// The most levels that a ciphertext uses.
    pub(crate) fn levels(&self) -> u32 {
        self.largest_of_part.iter().copied().max().unwrap_or(0)
    }

    /// The number of the part of the document that a value is in.
    fn part(&self, ir: &Ir, value: Value) -> usize {
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
    fn clear(&self, value: Value) -> Ciphertext {
        if self.unclear.contains(&value) { Ciphertext::Bottom } else { self.ciphertext(value) }
    }

    /// The functions that may give a ciphertext with another number than they take, each with the op that does.
    pub(crate) fn movers(&self, ir: &Ir, placed: Placed) -> &FxHashMap<Op, Op> {
        let at = usize::from(placed != Placed::Relinearize);
        self.movers[at].get_or_init(|| movers::movers(ir, self, placed))
    }

    /// At which level something is wanted that is also encoded.
    fn source(&self, ir: &Ir, value: Value) -> Option<Level> {
        let sources = self.sources.get_or_init(|| plaintext::sources(ir, &|it| self.clear(it)));
        sources.get(&value).copied().flatten()
    }

    /// What an op does to the level of its operands; `None` if it is not known.
    fn moved(&self, ir: &Ir, op: Op) -> Option<ciphertext::Moved> {
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
    fn is_wild(&self, value: Value) -> bool {
        self.wild.contains(&value)
    }

    /// Whether a value is a plaintext that is encoded, and HEIR sees for what: where nothing is marked as secret, it sees no ciphertexts.
    fn is_encoded(&self, ir: &Ir, value: Value) -> bool {
        let is_marked = |op: Op| self.facts.analysis.marks_secrets(op);
        plaintext::is_init(ir, value) && ir.defining_op(value).is_some_and(is_marked)
    }

    /// As [`Heir::written_dimension`], where what HEIR writes is what follows: not where its analysis has no polynomials or others, and not
    /// after lowering, where it takes no op of a scheme for a product.
    fn comparable_dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
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
    fn is_lowered_type(&self, interner: &Interner, ty: Type) -> bool {
        self.facts.analysis.type_facts(interner, ty).is_lowered
    }

    fn level_by_type(&self, ir: &Ir, value: Value) -> Option<usize> {
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

    fn number(&self, ir: &Ir, value: Value, level: Level) -> Option<u32> {
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

#[cfg(test)]
mod tests;
