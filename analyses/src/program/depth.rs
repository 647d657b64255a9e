//! Multiplicative depth: the largest number of multiplications on a path from a fresh ciphertext or
//! a bootstrap to a value.
//!
//! Multiplications are the ops whose growth in the noise model is `sum`, and HEIR's products. An op
//! that resets noise and a bootstrap of HEIR reset the depth. A loop with a known trip count has
//! the depth of the unrolled loop. If a loop with an unknown trip count multiplies, the depth has
//! no bound.

use std::fmt;
use std::sync::Arc;

use noisy_syntax::{Form, Op, OpKind, Value};

use crate::facts::noise::model::{GrowthKind, NoiseModel};
use crate::program::secretness::is_secret;
use noisy_dataflow::lattice::Chain;
use noisy_dataflow::sparse::{AnalysisContext, CallPolicy, Domain, LoopPolicy, SparseForward};
use noisy_dataflow::view::{HasInterner, ProgramView};
use noisy_integers::Integers;

/// A depth that reaches this number of multiplications in a recursion or a loop counts as
/// unbounded.
const MAX_DEPTH: u32 = 256;

/// The multiplicative depth of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// The value is unreachable.
    #[default]
    Bottom,
    /// The value does not depend on encrypted data.
    Public,
    /// An upper bound of the number of multiplications.
    AtMost(u32),
    /// No bound exists, as in a loop with an unknown trip count.
    Unbounded,
    Unknown,
}

impl Chain for Depth {}

impl Domain for Depth {
    fn unknown() -> Self {
        Depth::Unknown
    }

    fn widened(&self, next: Self) -> Self {
        match (self, next) {
            (Depth::AtMost(a), Depth::AtMost(b)) if *a < b => Depth::Unbounded,
            _ => next,
        }
    }
}

impl fmt::Display for Depth {
    /// `depth 3`, `no bound`, `public`, `unknown` or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Depth::Bottom => f.write_str("unreached"),
            Depth::Public => f.write_str("public"),
            Depth::AtMost(n) => write!(f, "depth {n}"),
            Depth::Unbounded => f.write_str("no bound"),
            Depth::Unknown => f.write_str("unknown"),
        }
    }
}

#[derive(Debug)]
pub struct DepthAnalysis {
    model: Arc<NoiseModel>,
}

impl DepthAnalysis {
    /// Creates the analysis for a noise model.
    pub fn new(model: impl Into<Arc<NoiseModel>>) -> Self {
        Self { model: model.into() }
    }
}

impl SparseForward for DepthAnalysis {
    type Fact = Depth;
    type Base = Integers;

    const LOOPS: LoopPolicy = LoopPolicy::Replayed;

    fn calls(&self) -> CallPolicy {
        CallPolicy::FOR_TRANSFORMS
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Depth],
    ) -> Depth {
        let data = ir.op(op);
        let operands = noisy_heir::facts_of_operands(ir, op, operands);
        if operands.contains(&Depth::Bottom) {
            return Depth::Bottom;
        }
        let name = ir.op_name(op);
        let rule = self.model.rule(name);
        let given = operands.iter().copied().max().unwrap_or(Depth::Public);
        let is_secret = data.results.get(result).is_some_and(|&it| is_secret(ir, &self.model, it));
        let is_noisy = |it: &Value| self.model.is_noisy(ir.interner(), ir.ty(*it));
        // The effect on noise is unknown for an op without a rule and for a call that is not
        // followed.
        let is_foreign = rule.is_none() && data.results.get(result).is_some_and(is_noisy);
        let is_opaque = data.kind == OpKind::FuncCall && (is_secret || given != Depth::Public);
        if data.form == Form::Broken || is_foreign || is_opaque {
            return Depth::Unknown;
        }
        let kind = rule.map(|it| it.kind());
        if noisy_heir::is_encryption(name) || kind == Some(GrowthKind::Fresh) {
            return Depth::AtMost(0);
        }
        if given == Depth::Public || noisy_heir::is_decryption(name) {
            return Depth::Public;
        }
        if noisy_heir::is_bootstrap(name) || kind == Some(GrowthKind::Reset) {
            return Depth::AtMost(0);
        }
        let multiplies = noisy_heir::is_scale_product(name) || kind == Some(GrowthKind::Sum);
        match given {
            Depth::AtMost(n) if multiplies => Depth::AtMost(n.saturating_add(1)),
            _ => given,
        }
    }

    fn entry_argument_fact(
        &mut self,
        _: &AnalysisContext<'_, Integers>,
        _: Op,
        _: usize,
        _: Value,
        operands: &[Depth],
    ) -> Depth {
        operands.iter().copied().max().unwrap_or(Depth::Public)
    }

    fn refine(&self, ir: &AnalysisContext<'_, Integers>, value: Value, fact: Depth) -> Depth {
        // A fresh ciphertext: the op encrypts public operands.
        let is_fresh = fact == Depth::Public && is_secret(ir, &self.model, value);
        if is_fresh { Depth::AtMost(0) } else { fact }
    }

    fn unbounded(&self, fact: &Depth) -> Option<Depth> {
        matches!(fact, Depth::AtMost(MAX_DEPTH..) | Depth::Unbounded).then_some(Depth::Unbounded)
    }
}
