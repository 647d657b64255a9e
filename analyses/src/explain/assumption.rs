//! Explanations of the assumed noise of function arguments.

use noisy_syntax::{Def, Op, OpKind, Value};

use crate::facts::noise::contract::{self, Contract, ValueSide};
use crate::facts::noise::model::Bits;
use crate::program::Program;

/// The reason for the noise of an argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A contract on the argument.
    Contract(Contract),
    /// The function may be called from outside, so the argument is assumed to be fresh. This
    /// assumption is joined with the noise that calls in the document pass.
    Fresh {
        /// The calls in the document, in textual order.
        calls: Vec<Op>,
    },
    /// The function is private, and the argument has the noise that its calls pass.
    Passed {
        /// The calls, in textual order.
        calls: Vec<Op>,
    },
    /// The function is private, and no live code calls it.
    NeverCalled,
}

impl Assumption {
    /// Returns the text for hovers: `assumed fresh (12): public function`.
    pub fn text(&self, fresh: Bits) -> String {
        let callers = |n: usize| if n == 1 { "1 call".to_owned() } else { format!("{n} calls") };
        match self {
            Assumption::Contract(Contract::Bound(bound)) => format!("declared bound: {bound}"),
            Assumption::Contract(Contract::Invalid) => {
                "unknown: the declared bound is not valid".to_owned()
            }
            Assumption::Fresh { calls } if calls.is_empty() => {
                format!("assumed fresh ({fresh}): public function")
            }
            Assumption::Fresh { calls } => {
                format!(
                    "assumed fresh ({fresh}): public function, also called by {} in this file",
                    callers(calls.len())
                )
            }
            Assumption::Passed { calls } => {
                format!("noise passed by {}: private function", callers(calls.len()))
            }
            Assumption::NeverCalled => "never called: private function".to_owned(),
        }
    }
}

/// Explains the noise of an argument of a function; `None` for other values.
pub fn assumption(program: &Program, value: Value) -> Option<Assumption> {
    let ir = program.ir();
    let Def::Argument(block, index) = ir.value(value).def else { return None };
    let function = ir.region(ir.block(block).region).parent?;
    if ir.op(function).kind != OpKind::FuncFunc || !program.is_noisy(value) {
        return None;
    }
    if let Some(stated) = contract::of(ir, function, ValueSide::Argument, index as usize) {
        return Some(Assumption::Contract(stated));
    }
    let contexts = program.contexts(function);
    let mut calls: Vec<Op> = contexts.iter().flat_map(|it| it.calls()).collect();
    calls.sort_by_cached_key(|&it| ir.start(it));
    calls.dedup();
    let is_assumed = contexts.iter().any(|it| it.is_assumed);
    Some(match (is_assumed, calls.is_empty()) {
        (true, _) => Assumption::Fresh { calls },
        (false, false) => Assumption::Passed { calls },
        (false, true) => Assumption::NeverCalled,
    })
}
