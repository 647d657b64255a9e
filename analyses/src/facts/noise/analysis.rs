//! The noise analysis: the rules of the model applied to every op.
//!
//! *Facts* are upper bounds of [`Noise`]. An argument of a function has the noise that its contract
//! `{noisy.bound = N : i64}` states. Without a contract, it is fresh in the context of calls from
//! outside, and has the noise of the operand in the context of each call
//! ([`noisy_dataflow::sparse::CallContext`]). The results of a call have the noise that the callee
//! returns in that context, limited by the contracts on its results; without a body only the
//! contracts apply. The results of broken ops and of ops without a rule are unknown.

use std::sync::Arc;

use noisy_syntax::{Def, Form, Interner, Name, Op, OpKind, Type, Value};
use smallvec::SmallVec;

use super::contract::{self, Contract, ValueSide};
use super::fact::Noise;
use super::model::{Bits, Growth, GrowthRule, GrowthRuleCache, NoiseModel};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{AnalysisContext, CallPolicy, Domain, LoopPolicy, SparseForward};
use noisy_dataflow::view::ProgramView;
use noisy_integers::Integers;

#[derive(Debug)]
pub struct NoiseAnalysis {
    rules: GrowthRuleCache,
}

impl NoiseAnalysis {
    /// Creates the analysis for a noise model.
    pub fn new(model: impl Into<Arc<NoiseModel>>) -> Self {
        Self { rules: GrowthRuleCache::new(model.into()) }
    }

    #[inline]
    pub(crate) fn model(&self) -> &Arc<NoiseModel> {
        self.rules.model()
    }

    /// Returns the rule of the last visited op if the op has this name and a rule.
    #[inline]
    pub(super) fn last_rule(&self, name: Name) -> Option<GrowthRule> {
        self.rules.last(name)
    }
}

/// Returns the noise that a contract states. A bound over the budget is reported at the contract; a
/// value with that bound is not a root.
fn contract_noise(stated: Contract) -> Noise {
    match stated {
        Contract::Bound(bound) => Noise::AtMost(bound),
        Contract::Invalid => Noise::Unknown,
    }
}

impl Domain for Noise {
    fn unknown() -> Self {
        Noise::Unknown
    }
}

impl SparseForward for NoiseAnalysis {
    type Fact = Noise;
    type Base = Integers;

    const LOOPS: LoopPolicy = LoopPolicy::Replayed;

    fn calls(&self) -> CallPolicy {
        CallPolicy::FOR_TRANSFORMS
    }

    fn has_fact(&self, interner: &Interner, ty: Type) -> bool {
        self.model().is_noisy(interner, ty)
    }

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        _: Value,
        _: &[Noise],
    ) -> Noise {
        let data = ir.op(op);
        let is_fresh = data.kind == OpKind::FuncFunc && data.form != Form::Broken;
        if is_fresh { Noise::AtMost(self.model().fresh) } else { Noise::Unknown }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Noise],
    ) -> Noise {
        let data = ir.op(op);
        if is_malformed(ir, op) {
            return Noise::Unknown;
        }
        if data.kind == OpKind::FuncCall {
            let stated = flow::callee(ir, op);
            let stated = stated.and_then(|it| contract::of(ir, it, ValueSide::Result, result));
            return stated.map_or(Noise::Unknown, contract_noise);
        }
        let Some(rule) = self.rules.of(ir, op) else { return Noise::Unknown };
        let model = self.model();
        if !model.is_noisy_result(rule, result) {
            return Noise::AtMost(0);
        }
        let Some(growth) = model.growth(ir, op, rule) else { return Noise::Unknown };
        let is_carrier = |index: usize| model.is_carrier(ir, op, rule, index);
        let some: SmallVec<[Noise; 2]>;
        let carriers = if (0..operands.len()).all(is_carrier) {
            operands
        } else {
            some =
                (0..operands.len()).filter(|&it| is_carrier(it)).map(|it| operands[it]).collect();
            &some
        };
        match growth {
            // The rule does not apply to an op without operands that carry noise.
            Growth::Max(_) | Growth::Sum(_) if carriers.is_empty() => Noise::Unknown,
            growth => Noise::after(growth, carriers),
        }
    }

    #[inline]
    fn refine(&self, ir: &AnalysisContext<'_, Integers>, value: Value, fact: Noise) -> Noise {
        // A body is analyzed with the bounds of its contracts; calls are checked against them.
        if let Some((holder, index)) = ir.entry_argument(value) {
            let data = ir.op(holder);
            let is_stated = data.kind == OpKind::FuncFunc && data.form != Form::Broken;
            let stated = is_stated.then(|| contract::of(ir, holder, ValueSide::Argument, index));
            return stated.flatten().map_or(fact, contract_noise);
        }
        let Def::Result(op, index) = ir.def(value) else { return fact };
        if ir.op(op).kind != OpKind::FuncCall || is_malformed(ir, op) {
            return fact;
        }
        let callee = flow::callee(ir, op);
        match callee.and_then(|it| contract::of(ir, it, ValueSide::Result, index as usize)) {
            // The returns of the body are checked against the contract.
            Some(Contract::Bound(bound)) => fact.min(Noise::AtMost(bound)),
            _ => fact,
        }
    }

    fn unbounded(&self, fact: &Noise) -> Option<Noise> {
        fact.is_over(self.model().budget).then_some(Noise::AtMost(Bits::MAX))
    }
}

/// Returns true if an op is malformed.
#[inline]
fn is_malformed(ir: &impl ProgramView, op: Op) -> bool {
    let data = ir.op(op);
    data.form == Form::Broken || (data.extra.is_some() && ir.has_problem(op))
}
