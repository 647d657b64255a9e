//! Excess noise: over the budget, growing in a loop without bound, or more than a contract allows.
//!
//! The checks that report this noise and the fixes that reduce it share this definition.

use noisy_syntax::{Op, OpKind, Value};
use rustc_hash::FxHashMap;

use super::Program;
use crate::facts::noise::contract::{self, Contract, ValueSide};
use crate::facts::noise::model::Bits;
use noisy_dataflow::flow;

/// A value with more noise than a contract allows, passed to a call or returned to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContractBreach {
    /// The call or the return.
    pub passing_op: Op,
    /// Index of its operand.
    pub operand: usize,
    pub value: Value,
    /// Its noise in bits, at most the budget: noise over the budget is reported where it first
    /// occurs.
    pub noise: Bits,
    /// The noise that the contract allows, in bits.
    pub bound: Bits,
    /// The function that states the contract.
    pub function: Op,
    /// The argument or the result of the signature; its index is `operand`.
    pub side: ValueSide,
}

impl Program {
    /// Returns the breaches of the contracts that `functions` state.
    pub(crate) fn breaches(&self, functions: impl IntoIterator<Item = Op>) -> Vec<ContractBreach> {
        let ir = self.ir();
        let mut out = Vec::new();
        for function in functions {
            for (side, operand, stated) in contract::all(ir, function) {
                let Contract::Bound(bound) = stated else { continue };
                let givers = match side {
                    ValueSide::Argument => self.calls(function),
                    ValueSide::Result => {
                        let regions = ir.op(function).regions.iter();
                        let ends = regions.flat_map(|it| flow::yield_ops(ir, it.1));
                        ends.filter(|&it| ir.op(it).kind == OpKind::FuncReturn).collect()
                    }
                };
                let breach = |giver: Op| {
                    let value = ir.op(giver).operands.get(operand)?.value?;
                    let is_given = self.noise_solver().is_live(ir, giver) && self.is_noisy(value);
                    let noise = self.noise(value).hi().filter(|_| is_given)?;
                    (noise > bound && noise <= self.model().budget).then_some(ContractBreach {
                        passing_op: giver,
                        operand,
                        value,
                        noise,
                        bound,
                        function,
                        side,
                    })
                };
                out.extend(givers.into_iter().filter_map(breach));
            }
        }
        out
    }

    /// Returns the calls of a function in textual order.
    fn calls(&self, function: Op) -> Vec<Op> {
        let ir = self.ir();
        let Some((name, _)) = ir.extra(function).symbol else { return Vec::new() };
        let users = ir.symbol_users(name).iter().copied();
        let mut out: Vec<Op> = users.filter(|&it| flow::callee(ir, it) == Some(function)).collect();
        out.sort_by_key(|&it| ir.start(it));
        out.dedup();
        out
    }

    /// Returns the number of excesses of each function that has any.
    pub fn excesses(&self) -> FxHashMap<Op, usize> {
        let ir = self.ir();
        let findings = &self.noise_solver().observer;
        let roots =
            findings.overflows(ir).into_iter().filter_map(|(value, _)| ir.definition_site(value));
        let loops = findings.growing(ir).into_iter().map(|it| it.0);
        let breaches = self.breaches(ir.functions()).into_iter().map(|it| it.passing_op);
        let mut out = FxHashMap::default();
        for function in roots.chain(loops).chain(breaches).filter_map(|op| ir.function_of(op)) {
            *out.entry(function).or_default() += 1;
        }
        out
    }
}
