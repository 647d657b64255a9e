//! The noise analysis: the rules of the model applied to every op, and where the noise first goes over the budget.
//!
//! *Facts* are [`Noise`] ranges. Arguments of functions are what the contract `{noisy.bound = N : i64}` on them says, else fresh if anybody may call
//! the function, and what each call passes, apart ([`crate::sparse::Context`]). The results of a call are what the callee returns in
//! that context, and at most what the contracts on its results say; without a body to look at only those count. The results of ops that the model does not know
//! are unknown, and those of broken ones.

mod findings;

pub use findings::{Findings, Growing, Root};

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};
use smallvec::SmallVec;

use crate::contract::{self, Contract, Side};
use crate::fact::Noise;
use crate::flow;
use crate::integer::Integers;
use crate::model::{Bits, Growth, NoiseModel, Rule, Rules};
use crate::sparse::{AnalysisContext, Calls, Domain, Loops, SparseForward};

/// The analysis.
#[derive(Debug)]
pub struct NoiseAnalysis {
    rules: Rules,
}

impl NoiseAnalysis {
    /// The analysis under a model.
    pub fn new(model: NoiseModel) -> Self {
        Self { rules: Rules::new(model) }
    }

    /// The model.
    pub fn model(&self) -> &NoiseModel {
        self.rules.model()
    }

    /// The rule of an op that was visited.
    fn known_rule(&self, ir: &Ir, op: Op) -> Option<Rule> {
        self.rules.known(ir, op)
    }
}

/// What a contract says of a value. That a bound exceeds the budget is told where it stands, and no value is a root because of it.
fn by_contract(stated: Contract) -> Noise {
    match stated {
        Contract::Bound(bound) => Noise::up_to(bound),
        Contract::Wrong => Noise::Unknown,
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

    const LOOPS: Loops = Loops::Replayed;

    fn calls(&self) -> Calls {
        Calls::Apart
    }

    fn carries(&self, ir: &Ir, value: Value) -> bool {
        self.model().is_noisy(&ir.interner, ir.value(value).ty)
    }

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        _: Value,
        _: &[Noise],
    ) -> Noise {
        let data = ir.op(op);
        let is_fresh = data.kind == OpKind::FuncFunc && data.form != Form::Broken;
        if is_fresh { Noise::up_to(self.model().fresh) } else { Noise::Unknown }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        result: usize,
        operands: &[Noise],
    ) -> Noise {
        let data = ir.op(op);
        if is_wrong(ir, op) {
            return Noise::Unknown;
        }
        if data.kind == OpKind::FuncCall {
            let stated = flow::callee(ir, op);
            let stated = stated.and_then(|it| contract::of(ir, it, Side::Result, result));
            return stated.map_or(Noise::Unknown, by_contract);
        }
        let Some(rule) = self.rules.of(ir, op) else { return Noise::Unknown };
        let model = self.model();
        if !model.is_carried(rule, result) {
            return Noise::up_to(0);
        }
        let Some(growth) = model.growth(ir, op, rule) else { return Noise::Unknown };
        let carried = operands.iter().enumerate();
        let carried = carried.filter(|it| model.is_carrier(ir, op, rule, it.0));
        let carriers: SmallVec<[Noise; 2]> = carried.map(|it| *it.1).collect();
        match growth {
            // Noise comes with operands; an op without any is not what the rule is about.
            Growth::Max(_) | Growth::Sum(_) if carriers.is_empty() => Noise::Unknown,
            growth => Noise::after(growth, &carriers),
        }
    }

    fn refine(&self, ir: &AnalysisContext<'_, Integers>, value: Value, fact: Noise) -> Noise {
        match ir.value(value).def {
            // A body is analyzed for what its contract says; that calls keep it is told at the calls.
            Def::Argument(block, index) => {
                let function = ir.region(ir.block(block).region).parent;
                let function = function.filter(|&it| ir.op(it).kind == OpKind::FuncFunc);
                let stated = function
                    .filter(|&it| ir.op(it).form != Form::Broken)
                    .filter(|&it| is_entry(ir, it, block))
                    .and_then(|it| contract::of(ir, it, Side::Argument, index as usize));
                stated.map_or(fact, by_contract)
            }
            Def::Result(op, index) if ir.op(op).kind == OpKind::FuncCall && !is_wrong(ir, op) => {
                let callee = flow::callee(ir, op);
                let stated =
                    callee.and_then(|it| contract::of(ir, it, Side::Result, index as usize));
                match stated {
                    // That the body keeps it is told at its returns.
                    Some(Contract::Bound(bound)) if fact.hi().is_none_or(|it| it > bound) => {
                        match fact {
                            Noise::Bottom => fact,
                            Noise::Range { lo, .. } => {
                                Noise::Range { lo: lo.min(bound), hi: bound }
                            }
                            Noise::Unknown => Noise::up_to(bound),
                        }
                    }
                    _ => fact,
                }
            }
            Def::Result(..) => fact,
        }
    }

    fn unbounded(&self, fact: &Noise) -> Option<Noise> {
        match *fact {
            Noise::Range { lo, hi } if hi > self.model().budget => {
                Some(Noise::Range { lo, hi: Bits::MAX })
            }
            _ => None,
        }
    }

    fn concerned(
        &self,
        ir: &AnalysisContext<'_, Integers>,
        moved: Value,
        enter: &mut dyn FnMut(Op),
    ) {
        Integers::decided_by(ir, moved, enter);
    }
}

/// Whether an op is not what it should be.
fn is_wrong(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    data.form == Form::Broken || (data.extra.is_some() && ir.has_problem(op))
}

/// Whether a block is where a function starts.
fn is_entry(ir: &Ir, function: Op, block: noisy_syntax::Block) -> bool {
    ir.op(function).regions.first().is_some_and(|it| flow::entry_block(ir, it.1) == block)
}
