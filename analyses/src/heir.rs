//! HEIR's programs: what is known of ciphertexts in `secret.generic` bodies and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! | file | what |
//! |---|---|
//! | `scheme.rs` | what the module says of scheme, parameters and library |
//! | `rows.rs` | what each op does to levels and dimensions |
//! | `ciphertext.rs` | levels and dimensions by dataflow |
//! | `loops.rs` | what loops carry with another level than they take it |
//! | `clients.rs` | levels of what functions of the client get and give |
//! | `question.rs` | where to relinearize and to bootstrap, as a question to the optimizer |
//! | `unclear.rs` | what has no level in HEIR, as it does not know whether it is secret |
//! | `plaintext.rs` | the level that a plaintext is needed at |
//! | `params.rs`, `log2.rs`, `bits.rs` | noise models as functions on numbers |
//! | `base.rs` | the level that is left for a value, and what `mgmt.mgmt` says |
//! | `noise.rs`, `scale.rs` | noise in bits and scales by dataflow |
//! | `underflow.rs`, `chain.rs` | where levels run out, and how a value came to its level |
//! | `surplus.rs`, `annotation.rs`, `scale_rules.rs` | where relinearizations are missing, and annotations wrong |

mod annotation;
mod base;
mod bits;
mod chain;
mod ciphertext;
mod clients;
mod log2;
mod loops;
mod noise;
mod params;
mod plaintext;
mod question;
mod rows;
mod scale;
mod scale_rules;
mod scheme;
mod surplus;
mod unclear;
mod underflow;

pub(crate) use annotation::{Mismatch, level_mismatches, level_range};
pub(crate) use base::known;
pub(crate) use chain::{Of, chain};
pub use ciphertext::{Ciphertext, Ciphertexts, Dimension, Level};
pub(crate) use ciphertext::{is_ciphertext_type as is_secret_type, is_secret_argument};
pub use noise::HeirNoise;
pub use params::{ParamsError, SchemeParams};
pub(crate) use plaintext::values;
pub(crate) use question::{Placed, Question, question};
pub(crate) use rows::{decrypts, encrypts, is_bootstrap, multiplies};
pub use scale::Scales;
pub(crate) use scale_rules::{ScaleFault, scale_faults};
pub(crate) use scheme::is_mark;
pub use scheme::{Scheme, Setting};
pub(crate) use surplus::surpluses;
pub(crate) use underflow::{budget, switches, underflows, varying};

pub use crate::model::heir::{Model, Options};

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::FxHashSet;

use crate::integer::Integers;
use crate::sparse::{Input, Sparse};

/// What is known of the ciphertexts of a program.
#[derive(Debug)]
pub struct Heir {
    facts: Sparse<Ciphertexts>,
    /// The largest level of any ciphertext.
    largest: u32,
    /// What has no level in HEIR.
    unclear: FxHashSet<Value>,
}

impl Heir {
    /// Analyzes a program; `None` for one that is not HEIR's: no module names a scheme, and no op is of a dialect of its.
    pub fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let setting = Setting::of(ir);
        if setting.scheme.is_none() && !has_heir_op(ir) {
            return None;
        }
        let scene = Input { ir, base: integers };
        let mut facts = Sparse::new(&scene, Ciphertexts::new(ir, setting));
        // Each round finds values of an outer loop that those of an inner one have made variant.
        for _ in 0..MOST_ROUNDS {
            let entries = clients::entries(ir, &facts);
            let variant = loops::variant(ir, &facts);
            let known = &facts.analysis;
            if entries == known.entries && variant.is_subset(&known.variant) {
                break;
            }
            facts.analysis.entries = entries;
            facts.analysis.variant.extend(variant);
            facts.solve(&scene);
        }
        let levels = plaintext::values(ir).into_iter().filter_map(|it| facts.fact(it)?.level());
        let used = levels.filter_map(|it| match it {
            Level::Used(n) => Some(n),
            _ => None,
        });
        let largest = used.max().unwrap_or(0);
        let of = |it: Value| facts.fact(it).copied().unwrap_or_default();
        let mut unclear = unclear::unclear(ir, &of);
        unclear.extend(loops::yielded(ir, &facts.analysis.variant));
        Some(Self { facts, largest, unclear })
    }

    /// What the module says of its scheme.
    pub fn setting(&self) -> &Setting {
        &self.facts.analysis.setting
    }

    /// The noise under each model of the scheme, if the module has parameters for them.
    pub fn noise<'a>(&'a self, ir: &'a Ir, integers: &'a Integers) -> Vec<HeirNoise<'a>> {
        let setting = self.setting();
        let models = match setting.scheme {
            Some(Scheme::Bgv) => &Model::BGV,
            Some(Scheme::Bfv) => &Model::BFV,
            _ => return Vec::new(),
        };
        let Some(Ok(params)) = &setting.params else { return Vec::new() };
        let of = |&model: &Model| HeirNoise::new(ir, integers, self, params, model);
        models.iter().filter_map(of).collect()
    }

    /// The noise under one model, by default the one of average bounds; `None` if that is not one of the scheme, or the module has no parameters.
    pub fn noise_under<'a>(
        &'a self,
        ir: &'a Ir,
        integers: &'a Integers,
        model: Option<Model>,
    ) -> Option<HeirNoise<'a>> {
        let setting = self.setting();
        let (models, default) = match setting.scheme? {
            Scheme::Bgv => (&Model::BGV, Model::BgvKpz21),
            Scheme::Bfv => (&Model::BFV, Model::BfvKpz21),
            Scheme::Ckks => return None,
        };
        let model = model.unwrap_or(default);
        let params = setting.params.as_ref()?.as_ref().ok()?;
        if !models.contains(&model) {
            return None;
        }
        HeirNoise::new(ir, integers, self, params, model)
    }

    /// The scales of CKKS ciphertexts, if the module has parameters for them.
    pub fn scales<'a>(&'a self, ir: &'a Ir, integers: &'a Integers) -> Option<Scales<'a>> {
        let setting = self.setting();
        let params = setting.params.as_ref().and_then(|it| it.as_ref().ok());
        let params = params.filter(|_| setting.scheme == Some(Scheme::Ckks))?;
        Scales::new(ir, integers, self, params)
    }

    /// The most levels that a ciphertext uses.
    pub fn levels(&self) -> u32 {
        self.largest
    }

    /// What is known of a value.
    pub fn ciphertext(&self, value: Value) -> Ciphertext {
        self.facts.fact(value).copied().unwrap_or_default()
    }

    /// What an op does to the level of its operands; `None` if it is not known.
    fn moved(&self, ir: &Ir, op: Op) -> Option<ciphertext::Moved> {
        self.facts.analysis.moved(ir, op)
    }

    /// The levels used that HEIR writes on a ciphertext; it writes on one without a level as if it were fresh.
    pub(crate) fn written(&self, ir: &Ir, value: Value) -> Option<u32> {
        self.ciphertext(value).level()?;
        Some(self.level(ir, value).unwrap_or(0))
    }

    /// The level of a ciphertext, or that at which a plaintext is needed, in levels used; `None` if there is none or it is not known.
    /// Also none where HEIR has none although it follows from the ops (`heir/unclear.rs`).
    pub fn level(&self, ir: &Ir, value: Value) -> Option<u32> {
        if self.unclear.contains(&value) {
            return None;
        }
        match self.ciphertext(value) {
            Ciphertext::Encrypted { level, .. } => self.number(level),
            Ciphertext::Plain => plaintext::needed(ir, value, &|op| {
                plaintext::ciphertexts(self, ir, op).filter_map(|it| self.number(it.0)).max()
            }),
            _ => None,
        }
    }

    /// The polynomials of a ciphertext, or of the ciphertexts that a plaintext meets; `None` if that is not known.
    pub fn dimension(&self, ir: &Ir, value: Value) -> Option<u32> {
        let number = |it| match it {
            Dimension::Assumed => Some(2),
            Dimension::Known(n) => Some(n),
            Dimension::Unknown => None,
        };
        match self.ciphertext(value) {
            Ciphertext::Encrypted { dimension, .. } => number(dimension),
            Ciphertext::Plain => plaintext::needed(ir, value, &|op| {
                plaintext::ciphertexts(self, ir, op).filter_map(|it| number(it.1)).max()
            }),
            _ => None,
        }
    }

    fn number(&self, level: Level) -> Option<u32> {
        match level {
            Level::Used(n) => Some(n),
            Level::All => Some(self.largest),
            Level::Invalid => None,
        }
    }
}

/// Rounds of looking for loops whose levels vary; loops nested deeper than this may keep a level that is not that of all iterations' ends.
const MOST_ROUNDS: usize = 16;

/// Whether some op is of a dialect that only HEIR has.
fn has_heir_op(ir: &Ir) -> bool {
    const DIALECTS: [&str; 7] = ["secret", "mgmt", "bgv", "ckks", "lwe", "openfhe", "lattigo"];
    let mut found = false;
    ir.walk(ir.root(), &mut |op| {
        let name = ir.op_name(op);
        found |= name.split_once('.').is_some_and(|it| DIALECTS.contains(&it.0));
    });
    found
}

#[cfg(test)]
mod tests;
