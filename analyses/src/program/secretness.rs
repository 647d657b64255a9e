//! Secretness: the values that may depend on encrypted data. These are values of types that carry
//! noise, values of HEIR's secret types, arguments with the attribute `secret.secret`, and values
//! computed from them. The results of ops that decrypt (`secret.reveal`, `openfhe.decrypt`, ...)
//! are public. Only data flow counts, not control flow, as in HEIR's
//! `lib/Analysis/SecretnessAnalysis`: a secret condition does not make the selected value secret.

use std::fmt;
use std::sync::Arc;

use noisy_syntax::{Form, Op, OpKind, Value};

use crate::facts::noise::model::NoiseModel;
use noisy_dataflow::lattice::Chain;
use noisy_dataflow::sparse::{AnalysisContext, CallPolicy, Domain, SparseForward};
use noisy_dataflow::view::{HasInterner, ProgramView};
use noisy_integers::Integers;

/// The fact of a value: secret if it may depend on encrypted data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Secretness {
    /// The value is unreachable.
    #[default]
    Bottom,
    /// The value does not depend on encrypted data.
    Public,
    /// The value may depend on encrypted data.
    Secret,
}

impl Chain for Secretness {}

impl Domain for Secretness {
    fn unknown() -> Self {
        Secretness::Secret
    }
}

impl fmt::Display for Secretness {
    /// `public`, `secret` or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Secretness::Bottom => "unreached",
            Secretness::Public => "public",
            Secretness::Secret => "secret",
        })
    }
}

#[derive(Debug)]
pub struct SecretnessAnalysis {
    model: Arc<NoiseModel>,
}

impl SecretnessAnalysis {
    /// Creates the analysis. The model defines the types that carry noise.
    pub fn new(model: impl Into<Arc<NoiseModel>>) -> Self {
        Self { model: model.into() }
    }
}

/// Returns true if the type of a value, or its attribute if it is a function argument, is secret.
pub(crate) fn is_secret(
    cx: &AnalysisContext<'_, Integers>,
    model: &NoiseModel,
    value: Value,
) -> bool {
    if model.is_noisy(cx.interner(), cx.ty(value)) || noisy_heir::is_secret_type(cx, value) {
        return true;
    }
    cx.entry_argument(value).is_some_and(|(holder, index)| {
        cx.op(holder).kind == OpKind::FuncFunc
            && noisy_heir::is_secret_argument(cx, holder, index, value)
    })
}

impl SparseForward for SecretnessAnalysis {
    type Fact = Secretness;
    type Base = Integers;

    fn calls(&self) -> CallPolicy {
        CallPolicy::FOR_DISPLAY
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        operands: &[Secretness],
    ) -> Secretness {
        if ir.op(op).form == Form::Broken {
            return Secretness::Secret;
        }
        let operands = noisy_heir::facts_of_operands(ir, op, operands);
        if operands.contains(&Secretness::Bottom) {
            return Secretness::Bottom;
        }
        if noisy_heir::is_decryption(ir.op_name(op)) {
            return Secretness::Public;
        }
        operands.iter().copied().max().unwrap_or(Secretness::Public)
    }

    fn entry_argument_fact(
        &mut self,
        _: &AnalysisContext<'_, Integers>,
        _: Op,
        _: usize,
        _: Value,
        operands: &[Secretness],
    ) -> Secretness {
        operands.iter().copied().max().unwrap_or(Secretness::Public)
    }

    fn refine(
        &self,
        ir: &AnalysisContext<'_, Integers>,
        value: Value,
        fact: Secretness,
    ) -> Secretness {
        if is_secret(ir, &self.model, value) { Secretness::Secret } else { fact }
    }
}

#[cfg(test)]
mod tests {
    use crate::Document;

    /// The values of a program that are secret, by name.
    fn check(text: &str, expected: &str) {
        let document = Document::new(text);
        let ir = document.ir();
        let mut secret = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            let of = ir
                .op(op)
                .results
                .iter()
                .filter(|&&it| document.secretness(it) == super::Secretness::Secret);
            secret.extend(of.map(|&it| ir.value_text(it)));
        });
        assert_eq!(secret.join(" "), expected);
    }

    #[test]
    fn decrypted_values_are_public() {
        check(
            "func.func @f(%a: !secret.secret<i16>) {
  %0 = secret.generic(%a: !secret.secret<i16>) {
  ^body(%x: i16):
    %1 = arith.addi %x, %x : i16
    secret.yield %1 : i16
  } -> (!secret.secret<i16>)
  %2 = secret.reveal %0 : !secret.secret<i16> -> i16
  %3 = arith.addi %2, %2 : i16
  %4 = \"t.op\"(%0) : (!secret.secret<i16>) -> i16
  return
}
",
            "%0 %1 %4",
        );
    }

    #[test]
    fn results_of_broken_ops_may_be_secret() {
        check(
            "func.func @f(%a: i16) {\n  %0 = arith.addi %a, : i16\n  %1 = arith.addi %a, %a : i16\n  return\n}\n",
            "%0",
        );
    }
}
