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
use crate::facts::estimate::{Estimate, Measure};
use crate::facts::known::Heir;
use crate::facts::layers::Solved;
use crate::facts::noise::formulas::{Noise, NoiseModel};
use crate::ops::rules;
use crate::options::Model;
use crate::text::setting::{Scheme, Setting, Settings};
use noisy_dataflow::sparse::{AnalysisContext, Loops, Sparse, SparseForward};
use noisy_dataflow::view::View;

/// The index of the setting with the parameters of the model.
type Part = u32;

/// The fact about the noise of a value.
pub(crate) type Bits = Estimate<NoiseBound>;

/// The noise of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoiseBound {
    /// The noise is at most this, under the parameters of a setting.
    AtMost(Noise, Part),
    /// The noise has no bound.
    Unbounded,
}

impl Bits {
    const UNBOUNDED: Self = Self::Is(NoiseBound::Unbounded);

    fn at_most(noise: Noise, part: Part) -> Self {
        Self::Is(NoiseBound::AtMost(noise, part))
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
struct Models {
    name: &'static str,
    of: Vec<Option<NoiseModel>>,
    settings: Arc<Settings>,
}

impl Models {
    fn of(&self, part: Part) -> Option<&NoiseModel> {
        self.of.get(part as usize)?.as_ref()
    }

    fn around(&self, op: Op) -> Option<(&NoiseModel, Part)> {
        let part = self.settings.number(op) as Part;
        Some((self.of(part)?, part))
    }
}

/// The dataflow analysis of noise under one model.
#[derive(Debug)]
pub struct NoiseBits {
    models: Models,
}

impl NoiseBits {
    /// Creates the analysis of a program; `None` if no module has parameters with a plaintext
    /// modulus for the scheme of the model.
    pub fn new(heir: &Heir, model: Model) -> Option<Self> {
        let scheme = if model.is_bfv() { Scheme::Bfv } else { Scheme::Bgv };
        let of = |setting: &Setting| {
            let params = setting.params.as_ref()?.as_ref().ok()?;
            (setting.scheme == Some(scheme)).then(|| NoiseModel::new(model, params))?
        };
        let of: Vec<_> = heir.settings().all().map(of).collect();
        let settings = heir.settings().clone();
        let is_known = of.iter().any(Option::is_some);
        is_known.then(|| Self { models: Models { name: model.name(), of, settings } })
    }
}

/// The noise facts of a program under one model.
#[derive(Clone, Copy, Debug)]
pub struct HeirNoise<'a> {
    ir: &'a Ir,
    heir: &'a Heir,
    facts: &'a Sparse<NoiseBits>,
}

impl<'a> HeirNoise<'a> {
    /// Wraps the solved facts.
    pub fn new(ir: &'a Ir, heir: &'a Heir, facts: &'a Sparse<NoiseBits>) -> Self {
        Self { ir, heir, facts }
    }

    fn models(&self) -> &'a Models {
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
            NoiseBound::AtMost(noise, part) => self.models().of(part)?.bits(noise),
            NoiseBound::Unbounded => f64::INFINITY,
        })
    }

    /// Returns the noise budget at the level of a value, in bits.
    pub fn budget(&self, value: Value) -> Option<f64> {
        let (model, _) = self.models().around(self.ir.definition_site(value)?)?;
        Some(model.total_bits(self.heir.left(value)?))
    }

    /// Returns the noise and the budget of a value in bits, if the noise exceeds the budget.
    pub fn excess(&self, value: Value) -> Option<(f64, f64)> {
        let (bits, budget) = (self.bits(value)?, self.budget(value)?);
        (bits > budget).then_some((bits, budget))
    }
}

impl SparseForward for NoiseBits {
    type Fact = Bits;
    type Base = Solved;

    const LOOPS: Loops = Loops::Replayed;

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, Solved>,
        op: Op,
        _: usize,
        value: Value,
        _: &[Bits],
    ) -> Bits {
        let Some((model, part)) = self.models.around(op) else { return Bits::Unknown };
        let known = ir.known(value);
        let fresh = || Some(Bits::at_most(model.fresh(known.left?), part));
        ciphertext::entry(ir, op, known.ciphertext, Bits::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Solved>,
        op: Op,
        result: usize,
        operands: &[Bits],
    ) -> Bits {
        let name = ir.op_name(op);
        let value = ir.op(op).results[result];
        let Some((model, part)) = self.models.around(op) else { return Bits::Unknown };
        if rules::encrypts(name) {
            let level = ir.known(value).left;
            return level.map(|it| NoiseBound::AtMost(model.fresh(it), part)).into();
        }
        if rules::decrypts(name) {
            return Bits::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall {
            return Bits::Unknown;
        }
        let operands: Vec<Bits> = rules::known_operands(ir, op, operands);
        if let Some(it) = Bits::undetermined(&operands) {
            return it;
        }
        if operands.contains(&Bits::UNBOUNDED) {
            return Bits::UNBOUNDED;
        }
        let noise = |it: &Bits| match it {
            Bits::Is(NoiseBound::AtMost(noise, _)) => Some(*noise),
            _ => None,
        };
        let Some(first) = operands.iter().find_map(noise) else { return Bits::Plain };
        let both = || {
            let mut all = operands.iter().map(|it| noise(it).unwrap_or_else(|| model.plaintext()));
            let a = all.next().unwrap_or(first);
            (a, all.next().unwrap_or_else(|| model.plaintext()))
        };
        let level = || ir.known(value).left;
        let after = match effect(name) {
            Effect::Add => {
                let (a, b) = both();
                model.add(a, b)
            }
            Effect::Multiply => {
                let (a, b) = both();
                model.mul(a, b)
            }
            Effect::MultiplyPlain => model.mul(first, model.plaintext()),
            Effect::SwitchModulus => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                match from.and_then(|it| ir.known(it).left) {
                    Some(level) => model.modulus_switch(first, level),
                    None => return Bits::Unknown,
                }
            }
            Effect::SwitchKey => match level() {
                Some(level) => model.switch_key(first, level),
                None => return Bits::Unknown,
            },
            Effect::None => first,
            Effect::Unknown => return Bits::Unknown,
        };
        Bits::at_most(after, part)
    }

    fn unbounded(&self, fact: &Bits) -> Option<Bits> {
        match fact {
            Bits::Is(NoiseBound::AtMost(noise, part)) => {
                let model = self.models.of(*part)?;
                let most = model.total_bits(usize::MAX) + 1.0;
                (model.bits(*noise) > most).then_some(Bits::UNBOUNDED)
            }
            &Bits::UNBOUNDED | Bits::Unknown => Some(*fact),
            Bits::Bottom | Bits::Plain => None,
        }
    }
}

/// The effect of an op on noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
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
fn effect(name: &str) -> Effect {
    let (dialect, op) = name.split_once('.').unwrap_or(("", name));
    match (dialect, op) {
        ("arith", "addi" | "subi")
        | ("bgv", "add" | "sub" | "add_plain" | "sub_plain")
        | ("lwe", "radd" | "rsub" | "radd_plain" | "rsub_plain") => Effect::Add,
        ("arith", "muli") | ("bgv", "mul" | "mul_plain") | ("lwe", "rmul" | "rmul_plain") => {
            Effect::Multiply
        }
        ("mgmt", "adjust_scale") => Effect::MultiplyPlain,
        ("mgmt", "modreduce") | ("bgv", "modulus_switch") => Effect::SwitchModulus,
        ("mgmt", "relinearize")
        | ("tensor_ext", "rotate")
        | ("bgv", "relinearize" | "rotate_cols" | "rotate_rows") => Effect::SwitchKey,
        ("bgv", "negate" | "level_reduce") | ("lwe", "rnegate") => Effect::None,
        ("bgv" | "ckks" | "lwe" | "openfhe" | "lattigo" | "linalg" | "kernel" | "orion", _)
        | ("mgmt", "bootstrap")
        | ("arith", "addf" | "subf" | "mulf" | "divf") => Effect::Unknown,
        _ => Effect::None,
    }
}
