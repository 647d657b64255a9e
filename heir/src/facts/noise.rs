//! The dataflow analysis of the noise of ciphertexts, under one of the models of
//! `noise/formulas.rs`.
//!
//! *Facts.* A value is a plaintext or a ciphertext with noise. Where paths meet, the larger noise
//! counts. The level at which an op runs is that in its `mgmt.mgmt`, else the number of moduli
//! minus the used levels. A loop with a known trip count is iterated that often; noise that
//! increases in each iteration of another loop has no bound. *Source.* HEIR,
//! `lib/Analysis/NoiseAnalysis`; the result of an op without a rule in HEIR has the noise of its
//! first ciphertext operand.

pub(crate) mod formulas;
mod log2;

use std::fmt;
use std::sync::Arc;

use noisy_syntax::{Ir, Op, OpKind, Value};

use crate::facts::ciphertext;
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::estimate::{Estimate, Measure};
use crate::facts::lower_layers::LowerLayers;
use crate::facts::noise::formulas::{ModelNoise, NoiseFormulas};
use crate::ops::rules;
use crate::options::NoiseModelName;
use crate::text::setting::{DocumentSettings, ModuleSetting, Scheme};
use noisy_dataflow::sparse::{AnalysisContext, LoopPolicy, SparseForward, SparseSolver};
use noisy_dataflow::view::ProgramView;

/// The index of the setting with the parameters of the model.
type SettingIndex = u32;

/// The fact about the noise of a value.
pub(crate) type NoiseFact = Estimate<NoiseBound>;

/// The noise of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoiseBound {
    /// The noise is at most this, under the parameters of a setting.
    AtMost(ModelNoise, SettingIndex),
    /// The noise has no bound.
    Unbounded,
}

impl NoiseFact {
    const UNBOUNDED: Self = Self::Known(NoiseBound::Unbounded);

    fn at_most(noise: ModelNoise, part: SettingIndex) -> Self {
        Self::Known(NoiseBound::AtMost(noise, part))
    }
}

impl Measure for NoiseBound {
    fn join(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::AtMost(a, part), Self::AtMost(b, _)) => Self::AtMost(a.max(b), part),
            _ => Self::Unbounded,
        })
    }
}

impl fmt::Display for NoiseBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(noise, _) => write!(f, "{:.2}", noise.value.bits()),
            Self::Unbounded => f.write_str("unbounded"),
        }
    }
}

/// A model for each setting that has parameters for it.
#[derive(Debug)]
struct ModelsBySetting {
    name: &'static str,
    by_setting: Vec<Option<NoiseFormulas>>,
    settings: Arc<DocumentSettings>,
}

impl ModelsBySetting {
    fn model(&self, part: SettingIndex) -> Option<&NoiseFormulas> {
        self.by_setting.get(part as usize)?.as_ref()
    }

    fn model_for(&self, op: Op) -> Option<(&NoiseFormulas, SettingIndex)> {
        let part = self.settings.setting_index(op) as SettingIndex;
        Some((self.model(part)?, part))
    }
}

/// The dataflow analysis of noise under one model.
#[derive(Debug)]
pub struct HeirNoiseAnalysis {
    models: ModelsBySetting,
}

impl HeirNoiseAnalysis {
    /// Creates the analysis of a program; `None` if no module has parameters with a plaintext
    /// modulus for the scheme of the model.
    pub fn new(heir: &CiphertextFacts, model: NoiseModelName) -> Option<Self> {
        let scheme = if model.is_bfv() { Scheme::Bfv } else { Scheme::Bgv };
        let of = |setting: &ModuleSetting| {
            let params = setting.params.as_ref()?.as_ref().ok()?;
            (setting.scheme == Some(scheme)).then(|| NoiseFormulas::new(model, params))?
        };
        let of: Vec<_> = heir.settings().all().map(of).collect();
        let settings = heir.settings().clone();
        let is_known = of.iter().any(Option::is_some);
        is_known.then(|| Self {
            models: ModelsBySetting { name: model.name(), by_setting: of, settings },
        })
    }
}

/// The noise facts of a program under one model.
#[derive(Clone, Copy, Debug)]
pub struct HeirNoise<'a> {
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
    facts: &'a SparseSolver<HeirNoiseAnalysis>,
}

impl<'a> HeirNoise<'a> {
    /// Wraps the solved facts.
    pub fn new(
        ir: &'a Ir,
        heir: &'a CiphertextFacts,
        facts: &'a SparseSolver<HeirNoiseAnalysis>,
    ) -> Self {
        Self { ir, heir, facts }
    }

    fn models(&self) -> &'a ModelsBySetting {
        &self.facts.analysis.models
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &'static str {
        self.models().name
    }

    /// Returns the noise of a ciphertext in bits, infinite if it has no bound; `None` for other
    /// values and if it is unknown.
    pub fn bits(&self, value: Value) -> Option<f64> {
        Some(match self.facts.fact(value)?.known()? {
            NoiseBound::AtMost(noise, part) => self.models().model(part)?.bits(noise),
            NoiseBound::Unbounded => f64::INFINITY,
        })
    }

    /// Returns the noise budget at the level of a value, in bits.
    pub fn budget(&self, value: Value) -> Option<f64> {
        let (model, _) = self.models().model_for(self.ir.definition_site(value)?)?;
        Some(model.total_bits(self.heir.remaining_levels(value)?))
    }

    /// Returns the noise and the budget of a value in bits, if the noise exceeds the budget.
    pub fn noise_over_budget(&self, value: Value) -> Option<(f64, f64)> {
        let (bits, budget) = (self.bits(value)?, self.budget(value)?);
        (bits > budget).then_some((bits, budget))
    }
}

impl SparseForward for HeirNoiseAnalysis {
    type Fact = NoiseFact;
    type Base = LowerLayers;

    const LOOPS: LoopPolicy = LoopPolicy::Replayed;

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, LowerLayers>,
        op: Op,
        _: usize,
        value: Value,
        _: &[NoiseFact],
    ) -> NoiseFact {
        let Some((model, part)) = self.models.model_for(op) else { return NoiseFact::Unknown };
        let known = ir.base_facts(value);
        let fresh = || Some(NoiseFact::at_most(model.fresh(known.remaining_levels?), part));
        ciphertext::entry_fact(ir, op, known.ciphertext, NoiseFact::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, LowerLayers>,
        op: Op,
        result: usize,
        operands: &[NoiseFact],
    ) -> NoiseFact {
        let name = ir.op_name(op);
        let value = ir.op(op).results[result];
        let Some((model, part)) = self.models.model_for(op) else { return NoiseFact::Unknown };
        if rules::is_encryption(name) {
            let level = ir.base_facts(value).remaining_levels;
            return level.map(|it| NoiseBound::AtMost(model.fresh(it), part)).into();
        }
        if rules::is_decryption(name) {
            return NoiseFact::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall {
            return NoiseFact::Unknown;
        }
        let operands: Vec<NoiseFact> = rules::facts_of_operands(ir, op, operands);
        if let Some(it) = NoiseFact::bottom_or_unknown(&operands) {
            return it;
        }
        if operands.contains(&NoiseFact::UNBOUNDED) {
            return NoiseFact::UNBOUNDED;
        }
        let noise = |it: &NoiseFact| match it {
            NoiseFact::Known(NoiseBound::AtMost(noise, _)) => Some(*noise),
            _ => None,
        };
        let Some(first) = operands.iter().find_map(noise) else { return NoiseFact::Plain };
        let both = || {
            let mut all = operands.iter().map(|it| noise(it).unwrap_or_else(|| model.plaintext()));
            let a = all.next().unwrap_or(first);
            (a, all.next().unwrap_or_else(|| model.plaintext()))
        };
        let level = || ir.base_facts(value).remaining_levels;
        let after = match noise_effect(name) {
            NoiseEffect::Add => {
                let (a, b) = both();
                model.add(a, b)
            }
            NoiseEffect::Multiply => {
                let (a, b) = both();
                model.mul(a, b)
            }
            NoiseEffect::MultiplyPlain => model.mul(first, model.plaintext()),
            NoiseEffect::SwitchModulus => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                match from.and_then(|it| ir.base_facts(it).remaining_levels) {
                    Some(level) => model.modulus_switch(first, level),
                    None => return NoiseFact::Unknown,
                }
            }
            NoiseEffect::SwitchKey => match level() {
                Some(level) => model.switch_key(first, level),
                None => return NoiseFact::Unknown,
            },
            NoiseEffect::None => first,
            NoiseEffect::Unknown => return NoiseFact::Unknown,
        };
        NoiseFact::at_most(after, part)
    }

    fn unbounded(&self, fact: &NoiseFact) -> Option<NoiseFact> {
        match fact {
            NoiseFact::Known(NoiseBound::AtMost(noise, part)) => {
                let model = self.models.model(*part)?;
                let most = model.total_bits(usize::MAX) + 1.0;
                (model.bits(*noise) > most).then_some(NoiseFact::UNBOUNDED)
            }
            &NoiseFact::UNBOUNDED | NoiseFact::Unknown => Some(*fact),
            NoiseFact::Bottom | NoiseFact::Plain => None,
        }
    }
}

/// The effect of an op on noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoiseEffect {
    Add,
    Multiply,
    MultiplyPlain,
    SwitchModulus,
    SwitchKey,
    /// The result has the noise of the first ciphertext operand.
    None,
    Unknown,
}

/// Returns the effect of an op on noise, by its full name. The effect of an op that computes and
/// has no rule in HEIR's models is unknown.
fn noise_effect(name: &str) -> NoiseEffect {
    let (dialect, op) = name.split_once('.').unwrap_or(("", name));
    match (dialect, op) {
        ("arith", "addi" | "subi")
        | ("bgv", "add" | "sub" | "add_plain" | "sub_plain")
        | ("lwe", "radd" | "rsub" | "radd_plain" | "rsub_plain") => NoiseEffect::Add,
        ("arith", "muli") | ("bgv", "mul" | "mul_plain") | ("lwe", "rmul" | "rmul_plain") => {
            NoiseEffect::Multiply
        }
        ("mgmt", "adjust_scale") => NoiseEffect::MultiplyPlain,
        ("mgmt", "modreduce") | ("bgv", "modulus_switch") => NoiseEffect::SwitchModulus,
        ("mgmt", "relinearize")
        | ("tensor_ext", "rotate")
        | ("bgv", "relinearize" | "rotate_cols" | "rotate_rows") => NoiseEffect::SwitchKey,
        ("bgv", "negate" | "level_reduce") | ("lwe", "rnegate") => NoiseEffect::None,
        ("bgv" | "ckks" | "lwe" | "openfhe" | "lattigo" | "linalg" | "kernel" | "orion", _)
        | ("mgmt", "bootstrap")
        | ("arith", "addf" | "subf" | "mulf" | "divf") => NoiseEffect::Unknown,
        _ => NoiseEffect::None,
    }
}
