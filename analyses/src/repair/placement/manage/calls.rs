//! Calls in the placement of management ops: which callees preserve the number of polynomials or
//! the level.
//!
//! *Law.* A call of a function that multiplies returns two polynomials if the function returns two
//! for arguments with two, before or after its own placement. Recursive functions are not analyzed.
//! *Cost.* Each function is analyzed once.

use noisy_syntax::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::extract::Objective;
use super::placement_question;
use crate::program::Program;
use noisy_dataflow::flow;
use noisy_heir::{CiphertextFacts, PlacedOp};

/// The known effects of callees, for a placed op.
pub(super) struct CalleeEffects {
    placed: PlacedOp,
    /// For each analyzed function, `Ok` if it returns two polynomials, else the reason.
    effects: FxHashMap<Op, Result<(), String>>,
}

impl CalleeEffects {
    pub(super) fn of(placed: PlacedOp) -> Self {
        Self { placed, effects: FxHashMap::default() }
    }

    /// Returns the functions and the multiplying functions that they call, callees before callers
    /// except in recursions.
    pub(super) fn callees_first(
        &self,
        program: &Program,
        heir: &CiphertextFacts,
        functions: &[Op],
    ) -> Vec<Op> {
        let ir = program.ir();
        let changing_functions = heir.changing_functions(ir, self.placed);
        if changing_functions.is_empty() || self.placed != PlacedOp::Relinearize {
            return functions.to_vec();
        }
        let mut out = Vec::new();
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        // Each function with true if its callees are in `out`.
        let mut stack: Vec<(Op, bool)> = functions.iter().rev().map(|&it| (it, false)).collect();
        while let Some((function, is_done)) = stack.pop() {
            if is_done {
                out.push(function);
            } else if seen.insert(function) {
                stack.push((function, true));
                let Some(body) = flow::function_body(ir, function) else { continue };
                ir.walk(body, &mut |op| {
                    let callee =
                        flow::callee(ir, op).filter(|it| changing_functions.contains_key(it));
                    stack.extend(callee.map(|it| (it, false)));
                });
            }
        }
        out
    }

    /// Records that a function returns two polynomials, or the reason why it does not.
    pub(super) fn record(&mut self, program: &Program, function: Op, found: Result<(), String>) {
        let name = program.function_name(function);
        self.effects.insert(function, found.map_err(|why| format!("@{name} {why}")));
    }

    /// Records the effect of a function in which no op is placed. `broken` is its error.
    pub(super) fn record_unchanged(
        &mut self,
        program: &Program,
        heir: &CiphertextFacts,
        function: Op,
        broken: Option<String>,
    ) {
        if heir.changing_functions(program.ir(), self.placed).contains_key(&function) {
            let stands = || self.check_unchanged(program, heir, function);
            let found = broken.map_or_else(stands, |why| Err(format!("is broken: {why}")));
            self.record(program, function, found);
        }
    }

    /// Returns an error if a function without a new placement may return more than two polynomials.
    fn check_unchanged(
        &self,
        program: &Program,
        heir: &CiphertextFacts,
        function: Op,
    ) -> Result<(), String> {
        let crossing = |it: Op| self.check_crossing(program, heir, it);
        let question =
            placement_question(program, heir, function, self.placed, Objective::Count, &crossing);
        let question = question.map_err(|why| format!("cannot be analyzed: {why}"))?;
        let Some(value) = question.first_oversized() else { return Ok(()) };
        let name = program.ir().value_text(value);
        Err(format!(
            "computes {name} with more than 2 polynomials, and has no position to relinearize it"
        ))
    }

    /// Returns an error unless a call preserves the level or the number of polynomials of its
    /// argument.
    pub(super) fn check_crossing(
        &self,
        program: &Program,
        heir: &CiphertextFacts,
        callee: Op,
    ) -> Result<(), String> {
        let name = program.function_name(callee);
        if self.placed == PlacedOp::Relinearize {
            let known = self.effects.get(&callee).cloned();
            return known
                .unwrap_or_else(|| Err(format!("@{name} computes products and is recursive")));
        }
        let ir = program.ir();
        let by = heir.changing_functions(ir, self.placed).get(&callee).and_then(|&it| {
            let function = program.function_name(ir.function_of(it)?);
            let value = ir.value_text(*ir.op(it).results.first()?);
            Some(format!(" by {value} = {} in @{function}", ir.op_name(it)))
        });
        let by = by.unwrap_or_default();
        Err(format!("@{name} changes levels{by}, and bootstraps are not placed across such calls"))
    }
}
