//! Scales of CKKS ciphertexts, as logarithms to base 2, by dataflow.
//!
//! *Facts.* A fresh ciphertext, and what a bootstrap gives, has the default scale of the parameters. A product has the sum of the scales of its operands, a modulus switch
//! takes off the rounded logarithm of the modulus of its level, `mgmt.init` and `mgmt.adjust_scale` have the scale that `mgmt.mgmt` on them says. Everything else
//! passes on the largest. *Source.* HEIR, `lib/Analysis/ScaleAnalysis`.

use std::fmt;

use noisy_syntax::{Ir, Op, OpKind, Value};

use super::base::{self, Base};
use super::params::SchemeParams;
use super::{Heir, ciphertext, rows};
use crate::integer::Integers;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisContext, Domain, Input, Loops, Sparse, SparseForward};
use crate::view::View;

/// What is known of the scale of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Scale {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// No scale is set: a plaintext that is not encoded.
    Plain,
    /// The logarithm to base 2.
    Log2(i64),
    /// Not known.
    Unknown,
}

impl Domain for Scale {
    fn unknown() -> Self {
        Scale::Unknown
    }
}

impl Lattice for Scale {
    fn bottom() -> Self {
        Scale::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = match (before, *other) {
            (Scale::Bottom, it) | (it, Scale::Bottom) => it,
            (Scale::Unknown, _) | (_, Scale::Unknown) => Scale::Unknown,
            (Scale::Plain, it) | (it, Scale::Plain) => it,
            (Scale::Log2(a), Scale::Log2(b)) => Scale::Log2(a.max(b)),
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Bottom => f.write_str("unreached"),
            Scale::Plain => f.write_str("plaintext"),
            Scale::Log2(bits) => write!(f, "{bits}"),
            Scale::Unknown => f.write_str("unknown"),
        }
    }
}

/// The scales of a program.
#[derive(Debug)]
pub struct Scales<'a> {
    facts: Sparse<Analysis<'a>>,
}

impl<'a> Scales<'a> {
    /// Analyzes a program; `None` if the parameters have no default scale.
    pub fn new(
        ir: &'a Ir,
        integers: &'a Integers,
        heir: &'a Heir,
        params: &'a SchemeParams,
    ) -> Option<Self> {
        let default = i64::from(params.log_default_scale?);
        let base = Base { ir, heir, params };
        let analysis = Analysis { default, base };
        Some(Self { facts: Sparse::new(&Input { ir, base: integers }, analysis) })
    }

    /// The logarithm to base 2 of the scale of a value; `None` if it has none or it is not known.
    pub fn log2(&self, value: Value) -> Option<i64> {
        match self.facts.fact(value)? {
            Scale::Log2(bits) => Some(*bits),
            _ => None,
        }
    }
}

/// The analysis.
#[derive(Debug)]
struct Analysis<'a> {
    default: i64,
    base: Base<'a>,
}

impl SparseForward for Analysis<'_> {
    type Fact = Scale;
    type Base = Integers;

    const LOOPS: Loops = Loops::Replayed;

    fn entry(
        &mut self,
        _: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        value: Value,
        _: &[Scale],
    ) -> Scale {
        let fresh = || {
            let annotated = base::annotated(self.base.ir, value, "scale").map(i64::from);
            Some(Scale::Log2(annotated.unwrap_or(self.default)))
        };
        ciphertext::entry(&self.base, op, value, Scale::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Scale],
    ) -> Scale {
        let name = ir.op_name(op);
        let value = ir.op(op).results[result];
        if matches!(name, "mgmt.init" | "mgmt.adjust_scale") {
            let annotated = base::annotated(self.base.ir, value, "scale");
            return annotated.map_or(Scale::Unknown, |it| Scale::Log2(it.into()));
        }
        if rows::encrypts(name) || rows::level(name) == Some(rows::LevelRule::Bootstrap) {
            return Scale::Log2(self.default);
        }
        if rows::decrypts(name) {
            return Scale::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall {
            return Scale::Unknown;
        }
        let operands: Vec<Scale> = base::known(ir, op, operands);
        for stop in [Scale::Bottom, Scale::Unknown] {
            if operands.contains(&stop) {
                return stop;
            }
        }
        let scales = operands.iter().filter_map(|it| match it {
            Scale::Log2(bits) => Some(*bits),
            _ => None,
        });
        if rows::multiplies(name) {
            let sum = scales.reduce(i64::saturating_add);
            return sum.map_or(Scale::Plain, Scale::Log2);
        }
        let Some(largest) = scales.max() else { return Scale::Plain };
        if name != "mgmt.modreduce" {
            return Scale::Log2(largest);
        }
        let from = ir.op(op).operands.first().and_then(|it| it.value);
        let level = from.and_then(|it| self.base.level(it));
        let modulus = level.and_then(|it| self.base.params.q.get(it));
        modulus.map_or(Scale::Unknown, |&q| Scale::Log2(largest - modulus_bits(q)))
    }

    fn unbounded(&self, fact: &Scale) -> Option<Scale> {
        match fact {
            // No modulus is that large.
            Scale::Log2(bits) => (*bits > 1 << 16).then_some(Scale::Unknown),
            Scale::Unknown => Some(Scale::Unknown),
            Scale::Bottom | Scale::Plain => None,
        }
    }
}

/// The logarithm to base 2 of a modulus, rounded.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a logarithm that is rounded to an integer"
)]
pub(super) fn modulus_bits(q: u64) -> i64 {
    (q as f64).log2().round() as i64
}
