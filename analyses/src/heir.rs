//! HEIR's programs: what is known of ciphertexts in `secret.generic` bodies and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! | file | what |
//! |---|---|
//! | `scheme.rs` | what the module says of scheme, parameters and library |
//! | `rows.rs` | what each op does to levels and dimensions |
//! | `ciphertext.rs` | levels and dimensions by dataflow |
//! | `loops.rs` | what loops carry with another level than they take it |
//! | `clients.rs` | levels of what functions of the client get and give |
//! | `plaintext.rs` | the level that a plaintext is needed at |
//! | `params.rs`, `log2.rs`, `bits.rs` | noise models as functions on numbers |
//! | `base.rs` | the level that is left for a value, and what `mgmt.mgmt` says |
//! | `noise.rs`, `scale.rs` | noise in bits and scales by dataflow |

mod base;
mod bits;
mod ciphertext;
mod clients;
mod log2;
mod loops;
mod noise;
mod params;
mod plaintext;
mod rows;
mod scale;
mod scheme;

pub use bits::Model;
pub use ciphertext::{Ciphertext, Ciphertexts, Dimension, Level};
pub use noise::HeirNoise;
pub use params::{ParamsError, SchemeParams};
pub use scale::Scales;
pub use scheme::{Scheme, Setting};

use noisy_syntax::{Ir, Value};

use crate::integer::Integers;
use crate::sparse::{AnalysisContext, Sparse};

/// What is known of the ciphertexts of a program.
#[derive(Debug)]
pub struct Heir {
    facts: Sparse<Ciphertexts>,
    /// The largest level of any ciphertext.
    largest: u32,
}

impl Heir {
    /// Analyzes a program; `None` for one that is not HEIR's: no module names a scheme, and no op is of a dialect of its.
    pub fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let setting = Setting::of(ir);
        if setting.scheme.is_none() && !has_heir_op(ir) {
            return None;
        }
        let scene = AnalysisContext { ir, base: integers };
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
        Some(Self { facts, largest })
    }

    /// What the module says of its scheme.
    pub fn setting(&self) -> &Setting {
        &self.facts.analysis.setting
    }

    /// The noise under each model of the scheme, if the module has parameters for them.
    pub fn noise<'a>(&'a self, ir: &Ir, integers: &'a Integers) -> Vec<HeirNoise<'a>> {
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

    /// The scales of CKKS ciphertexts, if the module has parameters for them.
    pub fn scales<'a>(&'a self, ir: &Ir, integers: &'a Integers) -> Option<Scales<'a>> {
        let setting = self.setting();
        let params = setting.params.as_ref().and_then(|it| it.as_ref().ok());
        let params = params.filter(|_| setting.scheme == Some(Scheme::Ckks))?;
        Scales::new(ir, integers, self, params)
    }

    /// What is known of a value.
    pub fn ciphertext(&self, value: Value) -> Ciphertext {
        self.facts.fact(value).copied().unwrap_or_default()
    }

    /// The level of a ciphertext, or that at which a plaintext is needed, in levels used; `None` if there is none or it is not known.
    pub fn level(&self, ir: &Ir, value: Value) -> Option<u32> {
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
