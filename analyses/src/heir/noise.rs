//! Noise of ciphertexts in bits, under one of the models of `bits.rs`, by dataflow.
//!
//! *Facts.* A value is a plaintext or a ciphertext with noise; where paths meet, the larger counts. The level at which an op runs is
//! what `mgmt.mgmt` on it says, else what levels that are used leave of the moduli. A loop with a known trip count is iterated that
//! often; noise that goes on to grow in another one has no bound. *Source.* HEIR, `lib/Analysis/NoiseAnalysis`; an op that it gives no
//! rule passes on the noise of its first ciphertext operand.

use std::fmt;

use noisy_syntax::{Ir, Op, OpKind, Value};

use super::base::Base;
use super::bits::{Noise, NoiseModel};
use super::{Heir, Model, Scheme, Setting, base, ciphertext};
use crate::integers::Integers;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisContext, Domain, Input, Loops, Sparse, SparseForward};
use crate::view::View;

/// The number of the setting that has the parameters.
type Part = u32;

/// What is known of the noise of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Bits {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// No ciphertext goes into it.
    Plain,
    /// At most so much.
    AtMost(Noise, Part),
    /// It goes on to grow.
    Unbounded,
    /// Not known.
    Unknown,
}

impl Domain for Bits {
    fn unknown() -> Self {
        Bits::Unknown
    }
}

impl Lattice for Bits {
    fn bottom() -> Self {
        Bits::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        use Bits::{AtMost, Bottom, Plain, Unbounded, Unknown};
        let before = *self;
        *self = match (before, *other) {
            (Bottom, it) | (it, Bottom) => it,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Unbounded, _) | (_, Unbounded) => Unbounded,
            (Plain, it) | (it, Plain) => it,
            (AtMost(a, part), AtMost(b, _)) => AtMost(a.max(b), part),
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bits::Bottom => f.write_str("unreached"),
            Bits::Plain => f.write_str("plaintext"),
            Bits::AtMost(noise, _) => write!(f, "{:.2}", noise.value.bits()),
            Bits::Unbounded => f.write_str("unbounded"),
            Bits::Unknown => f.write_str("unknown"),
        }
    }
}

/// A model with the parameters of each setting that has some for it.
#[derive(Clone, Debug)]
struct Models(Vec<Option<NoiseModel>>);

impl Models {
    fn of(&self, part: Part) -> Option<&NoiseModel> {
        self.0.get(part as usize)?.as_ref()
    }
}

/// The noise of a program under one model.
#[derive(Debug)]
pub struct HeirNoise<'a> {
    model: Model,
    models: Models,
    base: Base<'a>,
    facts: Sparse<Analysis<'a>>,
}

impl<'a> HeirNoise<'a> {
    /// Analyzes a program; `None` if no module has parameters with a plaintext modulus for the scheme of the model.
    pub fn new(ir: &'a Ir, integers: &'a Integers, heir: &'a Heir, model: Model) -> Option<Self> {
        let scheme = if model.is_bfv() { Scheme::Bfv } else { Scheme::Bgv };
        let of = |setting: &Setting| {
            let params = setting.params.as_ref()?.as_ref().ok()?;
            (setting.scheme == Some(scheme)).then(|| NoiseModel::new(model, params))?
        };
        let models = Models(heir.settings().all().map(of).collect());
        if models.0.iter().all(Option::is_none) {
            return None;
        }
        let base = Base { ir, heir };
        let analysis = Analysis { models: models.clone(), base };
        let facts = Sparse::new(&Input { ir, base: integers }, analysis);
        Some(Self { model, models, base, facts })
    }

    /// The name of the model.
    pub fn name(&self) -> &'static str {
        self.model.name()
    }

    /// The noise of a ciphertext in bits, infinite if it has no bound; `None` for what is no ciphertext or not known.
    pub fn bits(&self, value: Value) -> Option<f64> {
        match self.facts.fact(value)? {
            Bits::AtMost(noise, part) => Some(self.models.of(*part)?.bits(*noise)),
            Bits::Unbounded => Some(f64::INFINITY),
            _ => None,
        }
    }

    /// The bits that there are for noise at the level of a value.
    pub fn budget(&self, value: Value) -> Option<f64> {
        let part = self.base.heir.settings().number(self.base.ir.definition_site(value)?);
        Some(self.models.of(part as Part)?.total_bits(self.base.level(value)?))
    }
}

/// The analysis.
#[derive(Debug)]
struct Analysis<'a> {
    models: Models,
    base: Base<'a>,
}

impl Analysis<'_> {
    fn model(&self, op: Op) -> Option<(&NoiseModel, Part)> {
        let part = self.base.heir.settings().number(op) as Part;
        Some((self.models.of(part)?, part))
    }
}

impl SparseForward for Analysis<'_> {
    type Fact = Bits;
    type Base = Integers;

    const LOOPS: Loops = Loops::Replayed;

    fn entry(
        &mut self,
        _: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        value: Value,
        _: &[Bits],
    ) -> Bits {
        let Some((model, part)) = self.model(op) else { return Bits::Unknown };
        let fresh = || Some(Bits::AtMost(model.fresh(self.base.level(value)?), part));
        ciphertext::entry(&self.base, op, value, Bits::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Bits],
    ) -> Bits {
        let name = ir.op_name(op);
        let value = ir.op(op).results[result];
        let Some((model, part)) = self.model(op) else { return Bits::Unknown };
        if super::rows::encrypts(name) {
            return match self.base.level(value) {
                Some(level) => Bits::AtMost(model.fresh(level), part),
                None => Bits::Unknown,
            };
        }
        if super::rows::decrypts(name) {
            return Bits::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall {
            return Bits::Unknown;
        }
        let operands: Vec<Bits> = base::known(ir, op, operands);
        for stop in [Bits::Bottom, Bits::Unknown, Bits::Unbounded] {
            if operands.contains(&stop) {
                return stop;
            }
        }
        let noise = |it: &Bits| match it {
            Bits::AtMost(noise, _) => Some(*noise),
            _ => None,
        };
        let Some(first) = operands.iter().find_map(noise) else { return Bits::Plain };
        let both = || {
            let mut all = operands.iter().map(|it| noise(it).unwrap_or_else(|| model.plaintext()));
            let a = all.next().unwrap_or(first);
            (a, all.next().unwrap_or_else(|| model.plaintext()))
        };
        let level = || self.base.level(value);
        let after = match work(name) {
            Work::Add => {
                let (a, b) = both();
                model.add(a, b)
            }
            Work::Multiply => {
                let (a, b) = both();
                model.mul(a, b)
            }
            Work::MultiplyPlain => model.mul(first, model.plaintext()),
            Work::SwitchModulus => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                match from.and_then(|it| self.base.level(it)) {
                    Some(level) => model.modulus_switch(first, level),
                    None => return Bits::Unknown,
                }
            }
            Work::SwitchKey => match level() {
                Some(level) => model.switch_key(first, level),
                None => return Bits::Unknown,
            },
            Work::None => first,
            Work::Unknown => return Bits::Unknown,
        };
        Bits::AtMost(after, part)
    }

    fn unbounded(&self, fact: &Bits) -> Option<Bits> {
        match fact {
            Bits::AtMost(noise, part) => {
                let model = self.models.of(*part)?;
                let most = model.total_bits(usize::MAX) + 1.0;
                (model.bits(*noise) > most).then_some(Bits::Unbounded)
            }
            Bits::Unbounded | Bits::Unknown => Some(*fact),
            Bits::Bottom | Bits::Plain => None,
        }
    }
}

/// What an op does to noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Add,
    Multiply,
    MultiplyPlain,
    SwitchModulus,
    SwitchKey,
    /// The noise is that of its first ciphertext.
    None,
    Unknown,
}

/// What an op does to noise, by its full name. Ops that neither HEIR's models nor their authors have a rule for, but that compute, are
/// not known.
fn work(name: &str) -> Work {
    let (dialect, op) = name.split_once('.').unwrap_or(("", name));
    match (dialect, op) {
        ("arith", "addi" | "subi")
        | ("bgv", "add" | "sub" | "add_plain" | "sub_plain")
        | ("lwe", "radd" | "rsub" | "radd_plain" | "rsub_plain") => Work::Add,
        ("arith", "muli") | ("bgv", "mul" | "mul_plain") | ("lwe", "rmul" | "rmul_plain") => {
            Work::Multiply
        }
        ("mgmt", "adjust_scale") => Work::MultiplyPlain,
        ("mgmt", "modreduce") | ("bgv", "modulus_switch") => Work::SwitchModulus,
        ("mgmt", "relinearize")
        | ("tensor_ext", "rotate")
        | ("bgv", "relinearize" | "rotate_cols" | "rotate_rows") => Work::SwitchKey,
        ("bgv", "negate" | "level_reduce") | ("lwe", "rnegate") => Work::None,
        ("bgv" | "ckks" | "lwe" | "openfhe" | "lattigo" | "linalg" | "kernel" | "orion", _)
        | ("mgmt", "bootstrap")
        | ("arith", "addf" | "subf" | "mulf" | "divf") => Work::Unknown,
        _ => Work::None,
    }
}
