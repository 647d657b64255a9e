//! Noise of ciphertexts in bits, under one of the models of `bits.rs`, by dataflow.
//!
//! *Facts.* A value is a plaintext or a ciphertext with noise; where paths meet, the larger counts. The level at which an op runs is what `mgmt.mgmt` on it says, else
//! what levels that are used leave of the moduli. A loop with a known trip count is iterated that often; noise that goes on to grow in another one has no bound.
//! *Source.* HEIR, `lib/Analysis/NoiseAnalysis`; an op that it gives no rule passes on the noise of its first ciphertext operand.

use std::fmt;

use noisy_syntax::{Ir, Op, OpKind, Value};

use super::Model;
use super::base::Base;
use super::bits::{Noise, NoiseModel};
use super::params::SchemeParams;
use super::{Heir, base, ciphertext};
use crate::integer::Integers;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisContext, Domain, Input, Loops, Sparse, SparseForward};
use crate::view::View;

/// What is known of the noise of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Bits {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// No ciphertext goes into it.
    Plain,
    /// At most so much.
    AtMost(Noise),
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
            (AtMost(a), AtMost(b)) => AtMost(a.max(b)),
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bits::Bottom => f.write_str("unreached"),
            Bits::Plain => f.write_str("plaintext"),
            Bits::AtMost(noise) => write!(f, "{:.2}", noise.value.bits()),
            Bits::Unbounded => f.write_str("unbounded"),
            Bits::Unknown => f.write_str("unknown"),
        }
    }
}

/// The noise of a program under one model.
#[derive(Debug)]
pub struct HeirNoise<'a> {
    model: NoiseModel,
    base: Base<'a>,
    facts: Sparse<Analysis<'a>>,
}

impl<'a> HeirNoise<'a> {
    /// Analyzes a program; `None` if the parameters have no plaintext modulus.
    pub fn new(
        ir: &'a Ir,
        integers: &'a Integers,
        heir: &'a Heir,
        params: &'a SchemeParams,
        model: Model,
    ) -> Option<Self> {
        let model = NoiseModel::new(model, params)?;
        let base = Base { ir, heir, params };
        let analysis = Analysis { model: model.clone(), base };
        let facts = Sparse::new(&Input { ir, base: integers }, analysis);
        Some(Self { model, base, facts })
    }

    /// The name of the model.
    pub fn name(&self) -> &'static str {
        self.model.model().name()
    }

    /// The noise of a ciphertext in bits, infinite if it has no bound; `None` for what is no ciphertext or not known.
    pub fn bits(&self, value: Value) -> Option<f64> {
        match self.facts.fact(value)? {
            Bits::AtMost(noise) => Some(self.model.bits(*noise)),
            Bits::Unbounded => Some(f64::INFINITY),
            _ => None,
        }
    }

    /// The bits that there are for noise at the level of a value.
    pub fn budget(&self, value: Value) -> Option<f64> {
        Some(self.model.total_bits(self.base.level(value)?))
    }
}

/// The analysis.
#[derive(Debug)]
struct Analysis<'a> {
    model: NoiseModel,
    base: Base<'a>,
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
        let fresh = || Some(Bits::AtMost(self.model.fresh(self.base.level(value)?)));
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
        if super::rows::encrypts(name) {
            return match self.base.level(value) {
                Some(level) => Bits::AtMost(self.model.fresh(level)),
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
            Bits::AtMost(noise) => Some(*noise),
            _ => None,
        };
        let Some(first) = operands.iter().find_map(noise) else { return Bits::Plain };
        let model = &self.model;
        let both = || {
            let mut all = operands.iter().map(|it| noise(it).unwrap_or_else(|| model.plaintext()));
            let a = all.next().unwrap_or(first);
            (a, all.next().unwrap_or_else(|| model.plaintext()))
        };
        let level = || self.base.level(value);
        Bits::AtMost(match name {
            "arith.addi" | "arith.subi" => {
                let (a, b) = both();
                model.add(a, b)
            }
            "arith.muli" => {
                let (a, b) = both();
                model.mul(a, b)
            }
            "mgmt.adjust_scale" => model.mul(first, model.plaintext()),
            "mgmt.modreduce" => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                match from.and_then(|it| self.base.level(it)) {
                    Some(level) => model.modulus_switch(first, level),
                    None => return Bits::Unknown,
                }
            }
            "mgmt.relinearize" | "tensor_ext.rotate" => match level() {
                Some(level) => model.switch_key(first, level),
                None => return Bits::Unknown,
            },
            _ => first,
        })
    }

    fn unbounded(&self, fact: &Bits) -> Option<Bits> {
        match fact {
            Bits::AtMost(noise) => {
                let most = self.model.total_bits(usize::MAX) + 1.0;
                (self.model.bits(*noise) > most).then_some(Bits::Unbounded)
            }
            Bits::Unbounded | Bits::Unknown => Some(*fact),
            Bits::Bottom | Bits::Plain => None,
        }
    }
}
